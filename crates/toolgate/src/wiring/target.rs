//! From the settings of an upstream to where it is.

use std::{collections::BTreeMap, fmt};

use upstream::{
    connection::{Endpoint, HttpKind, Program, Target},
    settings::{Transport, Upstream},
    variables,
};

use crate::settings::Loaded;

/// Variables that programs need to find themselves and their files. Everything else of our environment
/// is ours.
const PASSED_ON: &[&str] = &[
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

/// Why it cannot be told where an upstream is: all of it, so that it is mended in one go.
#[derive(Debug)]
pub struct Unresolved {
    id: String,
    /// The keys, from the upstream on, and what is wrong there.
    problems: Vec<(Vec<String>, String)>,
}

impl Unresolved {
    /// The place of each problem in the settings, and what is wrong there.
    pub fn places(&self) -> impl Iterator<Item = (String, &str)> {
        let place = |keys: &[String]| format!("/upstreams/{}/{}", self.id, keys.join("/"));
        self.problems.iter().map(move |(keys, words)| (place(keys), words.as_str()))
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (keys, words)) in self.problems.iter().enumerate() {
            let between = if index == 0 { "" } else { "; " };
            write!(formatter, "{between}upstreams.{}.{}: {words}", self.id, keys.join("."))?;
        }
        Ok(())
    }
}

impl std::error::Error for Unresolved {}

/// Fills in variables, and notes where that fails.
#[derive(Default)]
struct Filling {
    problems: Vec<(Vec<String>, String)>,
}

impl Filling {
    fn fill(&mut self, keys: &[&str], text: &str) -> String {
        match variables::expand(text, |name| std::env::var(name).ok()) {
            Ok(filled) => filled,
            Err(error) => {
                self.say(keys, error.to_string());
                String::new()
            }
        }
    }

    fn say(&mut self, keys: &[&str], words: String) {
        self.problems.push((keys.iter().map(|key| (*key).to_owned()).collect(), words));
    }
}

/// Where an upstream is, with every variable filled in.
pub fn of(loaded: &Loaded, id: &str, settings: &Upstream) -> Result<Target, Unresolved> {
    let mut filling = Filling::default();
    let target = match &settings.url {
        Some(url) => endpoint(loaded, settings, url, &mut filling).map(Target::Endpoint),
        None => Some(Target::Program(program(loaded, settings, &mut filling))),
    };
    match target {
        Some(target) if filling.problems.is_empty() => Ok(target),
        _ => Err(Unresolved { id: id.to_owned(), problems: filling.problems }),
    }
}

/// What stands for an upstream that cannot be reached, in listings. Nothing is filled in.
pub fn unknown(loaded: &Loaded, settings: &Upstream) -> Target {
    // An address may hold a secret before its host and behind its path.
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
    loaded: &Loaded,
    settings: &Upstream,
    url: &str,
    filling: &mut Filling,
) -> Option<Endpoint> {
    let before = filling.problems.len();
    let url = filling.fill(&["url"], url);
    let filled = filling.problems.len() == before;
    let url = guard::net::Url::parse(&url)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some());
    if url.is_none() && filled {
        filling.say(&["url"], "this is no http or https address".to_owned());
    }
    let headers = settings.headers.iter();
    let headers =
        headers.map(|(name, value)| (name.clone(), filling.fill(&["headers", name], value)));
    let headers = headers.collect();
    let kind = match settings.transport {
        Some(Transport::StreamableHttp) => HttpKind::Streamable,
        Some(Transport::Sse) => HttpKind::Sse,
        _ => HttpKind::Auto,
    };
    let extra_ca = settings.extra_ca.iter().map(|file| loaded.path(file)).collect();
    Some(Endpoint { url: url?, headers, kind, extra_ca })
}

fn program(loaded: &Loaded, settings: &Upstream, filling: &mut Filling) -> Program {
    let command = match &settings.command {
        Some(command) => filling.fill(&["command"], command),
        None => {
            filling.say(&["command"], "it has no command and no url".to_owned());
            String::new()
        }
    };
    let args = settings.args.iter().enumerate();
    let args = args.map(|(at, arg)| filling.fill(&["args", &at.to_string()], arg)).collect();
    let mut env: BTreeMap<String, String> = PASSED_ON
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    for (name, value) in &settings.env {
        env.insert(name.clone(), filling.fill(&["env", name], value));
    }
    let cwd = match &settings.cwd {
        Some(cwd) => loaded.path(&filling.fill(&["cwd"], cwd)),
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
    loaded: &Loaded,
    sandbox: &upstream::settings::Sandbox,
) -> guard::process::ProcessSandbox {
    let paths = |all: &[String]| all.iter().map(|path| loaded.path(path)).collect();
    guard::process::ProcessSandbox {
        read: paths(&sandbox.read),
        write: paths(&sandbox.write),
        required: !sandbox.optional,
    }
}
