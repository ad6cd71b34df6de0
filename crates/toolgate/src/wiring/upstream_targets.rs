//! The target of an upstream, from its settings.

use std::{collections::BTreeMap, fmt};

use upstream::{
    connection::{Endpoint, HttpTransport, Program, Target},
    settings::{TransportSetting, UpstreamSettings},
    variables,
};

use crate::settings::LoadedSettings;

/// Environment variables that every program gets. The rest of our environment is not passed on.
const PASSED_VARIABLES: &[&str] = &[
    "HOME",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PATH",
    "SHELL",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
];

/// All problems of the settings that name a target.
#[derive(Debug)]
pub struct UnresolvedTarget {
    id: String,
    /// The keys below the upstream, and the problem there.
    problems: Vec<(Vec<String>, String)>,
}

impl UnresolvedTarget {
    /// Each problem with its JSON pointer in the settings.
    pub fn problems(&self) -> impl Iterator<Item = (String, &str)> {
        let pointer = |keys: &[String]| format!("/upstreams/{}/{}", self.id, keys.join("/"));
        self.problems.iter().map(move |(keys, message)| (pointer(keys), message.as_str()))
    }
}

impl fmt::Display for UnresolvedTarget {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (keys, message)) in self.problems.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(formatter, "{between}upstreams.{}.{}: {message}", self.id, keys.join("."))?;
        }
        Ok(())
    }
}

impl std::error::Error for UnresolvedTarget {}

/// Replaces variables, and collects the problems.
#[derive(Default)]
struct VariableExpansion {
    problems: Vec<(Vec<String>, String)>,
}

impl VariableExpansion {
    fn expand(&mut self, keys: &[&str], text: &str) -> String {
        match variables::expand(text, |name| std::env::var(name).ok()) {
            Ok(filled) => filled,
            Err(error) => {
                self.problem(keys, error.to_string());
                String::new()
            }
        }
    }

    fn problem(&mut self, keys: &[&str], message: String) {
        self.problems.push((keys.iter().map(|key| (*key).to_owned()).collect(), message));
    }
}

/// The target of an upstream, with all variables replaced.
pub fn of(
    loaded: &LoadedSettings,
    id: &str,
    settings: &UpstreamSettings,
) -> Result<Target, UnresolvedTarget> {
    let mut expansion = VariableExpansion::default();
    let target = match &settings.url {
        Some(url) => endpoint(loaded, settings, url, &mut expansion).map(Target::Endpoint),
        None => Some(Target::Program(program(loaded, settings, &mut expansion))),
    };
    match target {
        Some(target) if expansion.problems.is_empty() => Ok(target),
        _ => Err(UnresolvedTarget { id: id.to_owned(), problems: expansion.problems }),
    }
}

/// The target of an upstream whose settings cannot be resolved, to be shown in listings. No variable is replaced.
pub fn placeholder(loaded: &LoadedSettings, settings: &UpstreamSettings) -> Target {
    // A URL may hold a secret before its host and after its path.
    let address = |url: &String| {
        let url = url.split(['?', '#']).next().unwrap_or_default();
        url.rsplit('@').next().unwrap_or_default().to_owned()
    };
    let command = settings.command.clone().or(settings.url.as_ref().map(address));
    Target::Program(Program {
        command: command.unwrap_or_default(),
        args: Vec::new(),
        env: Vec::new(),
        cwd: loaded.path("."),
        limits: settings.resource_limits(),
        sandbox: None,
    })
}

fn endpoint(
    loaded: &LoadedSettings,
    settings: &UpstreamSettings,
    url: &str,
    expansion: &mut VariableExpansion,
) -> Option<Endpoint> {
    let before = expansion.problems.len();
    let url = expansion.expand(&["url"], url);
    let filled = expansion.problems.len() == before;
    let url = guard::net::Url::parse(&url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
    if url.is_none() && filled {
        expansion.problem(&["url"], "this is not an http or https URL".to_owned());
    }
    let headers = settings.headers.iter();
    let headers =
        headers.map(|(name, value)| (name.clone(), expansion.expand(&["headers", name], value)));
    let headers = headers.collect();
    let transport = match settings.transport {
        Some(TransportSetting::StreamableHttp) => HttpTransport::Streamable,
        Some(TransportSetting::Sse) => HttpTransport::HttpSse,
        // A URL with `stdio` is an error of the settings, which is reported there.
        Some(TransportSetting::Http | TransportSetting::Stdio) | None => HttpTransport::Auto,
    };
    let extra_ca = settings.extra_ca.iter().map(|file| loaded.path(file)).collect();
    Some(Endpoint { url: url?, headers, transport, extra_ca })
}

fn program(
    loaded: &LoadedSettings,
    settings: &UpstreamSettings,
    expansion: &mut VariableExpansion,
) -> Program {
    let command = match &settings.command {
        Some(command) => expansion.expand(&["command"], command),
        None => {
            expansion.problem(&["command"], "needs a `command` or a `url`".to_owned());
            String::new()
        }
    };
    let args = settings.args.iter().enumerate();
    let args = args.map(|(at, arg)| expansion.expand(&["args", &at.to_string()], arg)).collect();
    let mut env: BTreeMap<String, String> = PASSED_VARIABLES
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    for (name, value) in &settings.env {
        env.insert(name.clone(), expansion.expand(&["env", name], value));
    }
    let cwd = match &settings.cwd {
        Some(cwd) => loaded.path(&expansion.expand(&["cwd"], cwd)),
        None => loaded.path("."),
    };
    Program {
        command,
        args,
        env: env.into_iter().collect(),
        cwd,
        limits: settings.resource_limits(),
        sandbox: settings.sandbox.as_ref().map(|sandbox| sandbox_of(loaded, sandbox)),
    }
}

fn sandbox_of(
    loaded: &LoadedSettings,
    sandbox: &upstream::settings::SandboxSettings,
) -> guard::process::ProcessSandbox {
    let paths = |all: &[String]| all.iter().map(|path| loaded.path(path)).collect();
    guard::process::ProcessSandbox {
        read: paths(&sandbox.read),
        write: paths(&sandbox.write),
        required: !sandbox.optional,
    }
}
