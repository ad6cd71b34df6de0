//! The target of an upstream, from its settings.

use std::{collections::BTreeMap, fmt};

use upstream::{
    connection::{Endpoint, HttpTransport, Program, Target},
    settings::{TransportSetting, UpstreamSettings},
    variables,
};

use super::sandboxes;
use crate::settings::{LoadedSettings, operator_paths::ProgramOwner};

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

/// What every program gets of our environment.
pub fn passed_variables() -> impl Iterator<Item = (String, String)> {
    let names = PASSED_VARIABLES.iter();
    names.filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
}

/// The value of an environment variable that the settings name. It is hidden from now on wherever the words of a server
/// are kept, unless every program gets the variable: its value is nobody's secret.
pub fn secret_variable(name: &str) -> Option<String> {
    let value = guard::variables::get(name)?;
    if !PASSED_VARIABLES.contains(&name) {
        gate::secrets::hide([&value]);
    }
    Some(value)
}

/// Hides the value of a header, and the credentials of `Authorization` without their scheme, also where they stand in
/// the settings themselves.
pub fn hide_header(name: &str, value: &str) {
    let credentials = value.split_once(' ').map(|(_, credentials)| credentials);
    let credentials = credentials.filter(|_| name.eq_ignore_ascii_case("authorization"));
    gate::secrets::hide(credentials.into_iter().chain([value]));
}

/// The headers of an upstream whose value has a variable that is too short to be hidden, with the variable.
pub fn short_secrets(settings: &UpstreamSettings) -> impl Iterator<Item = (&str, String)> {
    settings.headers.iter().filter_map(|(header, text)| {
        let short = std::cell::RefCell::new(None);
        let look_up = |name: &str| {
            let value = guard::variables::get(name)?;
            if value.trim().len() < gate::secrets::MIN_SECRET_BYTES {
                short.replace(Some(name.to_owned()));
            }
            Some(value)
        };
        // A variable that is not set is told elsewhere.
        let _ = variables::expand(text, look_up);
        Some((header.as_str(), short.into_inner()?))
    })
}

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
        match variables::expand(text, secret_variable) {
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
        None => Some(Target::Program(program(loaded, id, settings, &mut expansion))),
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
    let headers = headers.map(|(name, value)| {
        let value = expansion.expand(&["headers", name], value);
        hide_header(name, &value);
        (name.clone(), value)
    });
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
    id: &str,
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
    let mut env: BTreeMap<String, String> = passed_variables().collect();
    for (name, value) in &settings.env {
        env.insert(name.clone(), expansion.expand(&["env", name], value));
    }
    let cwd = match &settings.cwd {
        Some(cwd) => loaded.path(&expansion.expand(&["cwd"], cwd)),
        None => loaded.path("."),
    };
    let owner = ProgramOwner::Upstream(id.to_owned());
    let place = |path: &str| loaded.path(path);
    Program {
        command,
        args,
        env: env.into_iter().collect(),
        cwd,
        limits: settings.resource_limits(),
        sandbox: sandboxes::of(loaded, &owner, &settings.sandbox, place, true),
    }
}
