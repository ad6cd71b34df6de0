//! From settings to the host of upstreams, and from what they offer to the catalogue.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, bail};
use contract::Document;
use gate::{Catalogue, Gate, Mode, Tool};
use serde_json::json;
use upstream::{
    Configured, Host, Plan,
    connection::{Endpoint, HttpKind, Program, Target},
    lock::Lock,
    settings::{Allowlist, Transport, Upstream},
    variables,
};

use super::{overlays, policy};
use crate::settings::{AllowlistSetting, Loaded};

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
/// How long further changes are waited for before the catalogue is made anew: a hundred upstreams
/// that start together should not make it a hundred times.
const SETTLE: Duration = Duration::from_millis(20);

/// Which of the upstreams are meant.
#[derive(Debug, Clone, Copy)]
pub enum Which<'a> {
    /// All of them.
    All,
    /// The one of this id.
    One(&'a str),
    /// The one that a tool of this name belongs to; none where it belongs to none.
    Of(&'a str),
}

impl Which<'_> {
    fn means(self, id: &str) -> bool {
        match self {
            Which::All => true,
            Which::One(one) => one == id,
            Which::Of(tool) => {
                tool == id || tool.strip_prefix(id).is_some_and(|rest| rest.starts_with("__"))
            }
        }
    }
}

/// What a host of these upstreams is made of, beside tools that are served already.
pub fn plan(loaded: &Loaded, which: Which<'_>, fixed: &[Arc<Tool>]) -> anyhow::Result<Plan> {
    let taken = fixed.iter().map(|tool| tool.contract.name.clone()).collect::<HashSet<_>>();
    let settings = &loaded.settings;
    let mut upstreams = Vec::new();
    // What is written while we read counts as changed.
    let latest = overlays::follow(loaded);
    for (id, own) in settings.upstreams.iter().filter(|(id, _)| which.means(id)) {
        let target = target(loaded, id, own)?;
        let overlays = overlays::of_upstream(loaded, id)?;
        upstreams.push(Configured { id: id.clone(), settings: own.clone(), target, overlays });
    }
    let lock_file = loaded.path(&settings.lock);
    let policy = settings.policy.clone();
    Ok(Plan {
        upstreams,
        latest,
        allowlist: allowlist(loaded)?,
        lock: Lock::read(&lock_file)?,
        lock_file,
        taken,
        defaults: settings.limits.defaults(),
        adjust: Arc::new(move |contract| policy::adjust(contract, &policy)),
        spawner: guard::process::Spawner::of_this_program(),
        capabilities: json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
    })
}

/// Reaches all upstreams of a plan, and serves what they offer.
pub async fn start(gate: &Arc<Gate>, plan: Plan, fixed: Vec<Arc<Tool>>) -> Arc<Host> {
    let host = Host::start(plan);
    host.settled().await;
    attach(gate, &host, fixed);
    host
}

/// Serves what the host offers beside the tools that are always there, now and from now on.
fn attach(gate: &Arc<Gate>, host: &Arc<Host>, fixed: Vec<Arc<Tool>>) {
    if host.members().is_empty() {
        return;
    }
    let mut served = Served { fixed, modes: HashMap::new() };
    let mut changes = host.changes();
    changes.mark_unchanged();
    served.update(gate, host);
    let (gate, host) = (Arc::downgrade(gate), Arc::downgrade(host));
    tokio::spawn(async move {
        while changes.changed().await.is_ok() {
            tokio::time::sleep(SETTLE).await;
            changes.mark_unchanged();
            let (Some(gate), Some(host)) = (gate.upgrade(), host.upgrade()) else { return };
            served.update(&gate, &host);
        }
    });
}

/// What is served beside the upstreams, and how their tools were enforced when we last looked.
struct Served {
    fixed: Vec<Arc<Tool>>,
    modes: HashMap<String, Mode>,
}

impl Served {
    fn update(&mut self, gate: &Gate, host: &Host) {
        let tools = host.tools();
        for tool in &tools {
            let name = &tool.contract.name;
            let before = self.modes.insert(name.clone(), tool.mode).unwrap_or_default();
            if before != tool.mode {
                gate.mode_changed(name, before, tool.mode, "settings");
            }
        }
        let all = self.fixed.iter().cloned().chain(tools);
        gate.replace_catalogue(Catalogue::of(all, host.withheld()).with_away(host.away()));
    }
}

/// Where an upstream is, with every variable filled in.
pub fn target(loaded: &Loaded, id: &str, settings: &Upstream) -> anyhow::Result<Target> {
    let fill = |key: &str, text: &str| {
        variables::expand(text, |name| std::env::var(name).ok())
            .with_context(|| format!("upstreams.{id}.{key}"))
    };
    if let Some(url) = &settings.url {
        let url = fill("url", url)?;
        let url = guard::net::Url::parse(&url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
            .with_context(|| format!("upstreams.{id}.url: this is no http or https address"))?;
        let mut headers = Vec::new();
        for (name, value) in &settings.headers {
            headers.push((name.clone(), fill(&format!("headers.{name}"), value)?));
        }
        let kind = match settings.transport {
            Some(Transport::StreamableHttp) => HttpKind::Streamable,
            Some(Transport::Sse) => HttpKind::Sse,
            _ => HttpKind::Auto,
        };
        let extra_ca = settings.extra_ca.iter().map(|file| loaded.path(file)).collect();
        return Ok(Target::Endpoint(Endpoint { url, headers, kind, extra_ca }));
    }
    let Some(command) = &settings.command else {
        bail!("upstreams.{id}: has no command and no url")
    };
    let command = fill("command", command)?;
    let args = settings.args.iter().map(|arg| fill("args", arg)).collect::<Result<_, _>>()?;
    let mut env: BTreeMap<String, String> = PASSED_ON
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
        .collect();
    for (name, value) in &settings.env {
        env.insert(name.clone(), fill(&format!("env.{name}"), value)?);
    }
    let cwd = match &settings.cwd {
        Some(cwd) => loaded.path(&fill("cwd", cwd)?),
        None => loaded.path("."),
    };
    Ok(Target::Program(Program {
        command,
        args,
        env: env.into_iter().collect(),
        cwd,
        limits: settings.resource_limits(),
        sandbox: settings.sandbox.as_ref().map(|sandbox| sandbox_of(loaded, sandbox)),
    }))
}

fn sandbox_of(loaded: &Loaded, sandbox: &upstream::settings::Sandbox) -> guard::process::Sandbox {
    let paths = |all: &[String]| all.iter().map(|path| loaded.path(path)).collect();
    guard::process::Sandbox {
        read: paths(&sandbox.read),
        write: paths(&sandbox.write),
        required: !sandbox.optional,
    }
}

/// The allowlist. One that is named and cannot be read is an error and never "everything".
fn allowlist(loaded: &Loaded) -> anyhow::Result<Option<Allowlist>> {
    let file = match &loaded.settings.allowlist {
        None => return Ok(None),
        Some(AllowlistSetting::Here(list)) => return Ok(Some(list.clone())),
        Some(AllowlistSetting::File(file)) => loaded.path(file),
    };
    let list: Allowlist =
        read_document(&file).with_context(|| format!("allowlist: `{}`", file.display()))?;
    if let Some(id) = list.keys().find(|id| !loaded.settings.upstreams.contains_key(*id)) {
        bail!("allowlist: `{}`: there is no upstream `{id}`", file.display());
    }
    Ok(Some(list))
}

/// Reads a document that has to be of this type; the first mistake is told.
fn read_document<T: schemars::JsonSchema + serde::de::DeserializeOwned>(
    file: &Path,
) -> anyhow::Result<T> {
    let text = std::fs::read_to_string(file).context("cannot be read")?;
    let name = file.display().to_string();
    let document =
        Document::parse(&name, &text).map_err(|one| anyhow::anyhow!(one.message.clone()))?;
    document.check::<T>().map_err(|found| {
        let words: Vec<_> = found.iter().map(|one| one.message.clone()).collect();
        anyhow::anyhow!(words.join("; "))
    })
}
