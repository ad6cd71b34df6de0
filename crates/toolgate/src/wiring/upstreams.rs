//! From settings to the host of upstreams, and from what they offer to the catalogue.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use contract::{Diagnostic, Document};
use gate::{Catalogue, EnforcementMode, Gate, Tool};
use serde_json::json;
use upstream::{
    Configured, Host, Plan,
    lock::{self, Lock},
    settings::{Allowed, Allowlist, Overlay, Star, Start},
};

use super::{overlays, policy, target};
use crate::settings::{AllowlistSetting, Loaded, SettingsError, mlx_host};

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
    fn means(
        self,
        id: &str,
        overlays: &BTreeMap<String, Overlay>,
        taken: &HashSet<String>,
    ) -> bool {
        match self {
            Which::All => true,
            Which::One(one) => one == id,
            Which::Of(tool) => {
                // `id.tool` is how listings write it. No tool of an upstream is called so, but to say what it is
                // called the upstream has to be asked.
                let is_below = |rest: &str| {
                    rest.starts_with("__") || rest.starts_with('.') && !taken.contains(tool)
                };
                tool == id
                    || tool.strip_prefix(id).is_some_and(is_below)
                    || overlays.values().any(|overlay| overlay.chosen_name() == Some(tool))
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
    for (id, own) in &settings.upstreams {
        let overlays = overlays::of_upstream(loaded, id)?;
        if !which.means(id, &overlays, &taken) {
            continue;
        }
        // One that cannot be started is down, and the others are not.
        let (target, unresolved) = match target::of(loaded, id, own) {
            Ok(target) => (target, None),
            Err(unresolved) => (target::unknown(loaded, own), Some(unresolved.to_string())),
        };
        let settings = own.clone();
        upstreams.push(Configured { id: id.clone(), settings, target, unresolved, overlays });
    }
    let lock_file = loaded.path(&settings.lock);
    let lock_seen = lock::stamp(&lock_file);
    let policy = settings.policy.clone();
    Ok(Plan {
        upstreams,
        latest,
        allowlist: allowlist(loaded)?,
        lock: Lock::read(&lock_file)?,
        lock_file,
        lock_seen,
        taken,
        defaults: settings.limits.defaults(),
        adjust: Arc::new(move |contract| policy::adjust(contract, &policy)),
        spawner: guard::process::Spawner::of_this_program(),
        capabilities: json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
    })
}

/// The same for a look at what upstreams offer now: one that is started lazily is started too, because
/// until then it offers what the lock says.
pub fn plan_to_look(
    loaded: &Loaded,
    which: Which<'_>,
    fixed: &[Arc<Tool>],
) -> anyhow::Result<Plan> {
    let mut plan = plan(loaded, which, fixed)?;
    for upstream in &mut plan.upstreams {
        upstream.settings.start = Start::Eager;
    }
    Ok(plan)
}

/// What keeps upstreams from being reached that can be told without trying, each in its place. It is
/// no reason not to start: one that is down keeps no other from being served.
pub fn mistakes(loaded: &Loaded) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (id, own) in loaded.settings.upstreams.iter().filter(|(_, own)| own.enabled) {
        if let Err(unresolved) = target::of(loaded, id, own) {
            // The line may hold what is left of a secret.
            let told = unresolved.places().map(|(place, words)| {
                let key = place.trim_start_matches('/').replace('/', ".");
                loaded.warning(&place, format!("{key}: {words}")).secret()
            });
            found.extend(told);
        }
    }
    found
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
    modes: HashMap<String, EnforcementMode>,
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

/// The allowlist. One that is named and cannot be read is an error and never "everything".
fn allowlist(loaded: &Loaded) -> anyhow::Result<Option<Allowlist>> {
    let file = match &loaded.settings.allowlist {
        None => return Ok(None),
        Some(AllowlistSetting::Here(list)) => return Ok(Some(list.clone())),
        Some(AllowlistSetting::File(file)) => loaded.path(file),
    };
    let mut list: Allowlist = read_document(&file).map_err(|error| {
        SettingsError::new("/allowlist", format!("`{}`: {error:#}", file.display()))
    })?;
    if let Some(id) = list.keys().find(|id| !loaded.settings.upstreams.contains_key(*id)) {
        let message = format!("`{}`: there is no upstream `{id}`", file.display());
        return Err(SettingsError::new("/allowlist", message).into());
    }
    if mlx_host::is_remote(&loaded.settings) {
        list.entry(mlx_host::MLXCTL.into()).or_insert(Allowed::All(Star::Star));
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
