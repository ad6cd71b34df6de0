//! The configuration of the host of upstreams, from the settings; and the catalogue, from the tools that they serve.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError},
    time::Duration,
};

use contract::{Diagnostic, Document};
use gate::{Catalogue, EnforcementMode, Gate, UpstreamEvent};
use serde_json::json;
use upstream::{
    ConfiguredUpstream, Host, HostConfig, HostObserver, HostReload, HostRules, Upstream,
    UpstreamChanges, UpstreamState,
    lock::{ContractLock, LockError},
    settings::{AllowedTools, Allowlist, Overlay, SchemaRequirement, Star, StartMode},
};

use super::{FixedTools, overlays, policy, upstream_targets};
use crate::{
    interrupts,
    printer::progress::ProgressLine,
    settings::{
        AllowlistSetting, FileErrors, LoadedSettings, PolicyPreset, SettingsError, mlx_host,
    },
};
use gate::secrets::MIN_SECRET_BYTES;

/// The time in which further changes are collected before the catalogue is made again: a hundred upstreams that start
/// together should not make it a hundred times.
const CHANGE_DEBOUNCE: Duration = Duration::from_millis(20);

/// The time between two looks which upstreams are still waited for.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// A selection of upstreams.
#[derive(Debug, Clone, Copy)]
pub enum UpstreamFilter<'a> {
    /// All of them.
    All,
    /// The one of this id.
    One(&'a str),
    /// Those of these ids.
    These(&'a [String]),
    /// The one that has a tool of this name; none if none has.
    OwnerOf(&'a str),
}

impl UpstreamFilter<'_> {
    fn includes(
        self,
        id: &str,
        overlays: &BTreeMap<String, Overlay>,
        taken: &HashSet<String>,
    ) -> bool {
        match self {
            UpstreamFilter::All => true,
            UpstreamFilter::One(one) => one == id,
            UpstreamFilter::These(ids) => ids.iter().any(|one| one == id),
            UpstreamFilter::OwnerOf(tool) => {
                // Listings write `id.tool`. No tool is served under that name, but only the upstream knows the right one.
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

/// The configuration of a host of these upstreams. `fixed` are the tools that are served already.
pub fn host_config(
    loaded: &LoadedSettings,
    filter: UpstreamFilter<'_>,
    fixed: &FixedTools,
) -> anyhow::Result<HostConfig> {
    let taken = fixed.taken();
    let settings = &loaded.settings;
    let mut upstreams = Vec::new();
    for (id, own) in &settings.upstreams {
        let overlays = overlays::of_upstream(loaded, id)?;
        if !filter.includes(id, &overlays, &taken) {
            continue;
        }
        // One that cannot be started is down; the others are not affected.
        let (target, unresolved) = match upstream_targets::of(loaded, id, own) {
            Ok(target) => (target, None),
            Err(unresolved) => {
                (upstream_targets::placeholder(loaded, own), Some(unresolved.to_string()))
            }
        };
        let mut settings = own.clone();
        if loaded.settings.policy.preset == PolicyPreset::Strict {
            settings.require_is_error = true;
            settings.output_schemas = SchemaRequirement::Always;
        }
        upstreams.push(ConfiguredUpstream {
            id: id.clone(),
            settings,
            target,
            unresolved,
            overlays,
        });
    }
    let lock_file = loaded.path(&settings.lock);
    loaded.sources.note(&lock_file);
    let rules = HostRules {
        allowlist: allowlist(loaded)?,
        lock: read_lock(&lock_file)?,
        taken,
        defaults: settings.limits.defaults(),
        policy: Arc::new(policy::UpstreamPolicy::new(settings)),
    };
    Ok(HostConfig {
        upstreams,
        rules,
        spawner: guard::process::Spawner::of_this_program(),
        observer: None,
        capabilities: json!({ "elicitation": { "form": {}, "url": {} }, "sampling": {}, "roots": {} }),
    })
}

/// The same with every upstream started at once, so that its listings are its own and not those of the lock.
pub fn eager_host_config(
    loaded: &LoadedSettings,
    filter: UpstreamFilter<'_>,
    fixed: &FixedTools,
) -> anyhow::Result<HostConfig> {
    let mut config = host_config(loaded, filter, fixed)?;
    for upstream in &mut config.upstreams {
        upstream.settings.start = StartMode::Eager;
    }
    Ok(config)
}

/// Mistakes that keep upstreams from being reached and are known without trying, each at its setting. The others are
/// served all the same.
pub fn mistakes(loaded: &LoadedSettings) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (id, own) in loaded.settings.upstreams.iter().filter(|(_, own)| own.enabled) {
        if let Err(unresolved) = upstream_targets::of(loaded, id, own) {
            // The line may hold part of a secret.
            let problems = unresolved.problems().map(|(pointer, message)| {
                let key = pointer.trim_start_matches('/').replace('/', ".");
                loaded.warning(&pointer, format!("{key}: {message}")).secret()
            });
            found.extend(problems);
        }
        found.extend(upstream_targets::short_secrets(own).map(|(header, variable)| {
            let message = format!(
                "the value of `{variable}` has fewer than {MIN_SECRET_BYTES} bytes: where the server repeats it, it is not hidden"
            );
            loaded.warning(&format!("/upstreams/{id}/headers/{header}"), message)
        }));
    }
    found
}

/// Writes down what happens to upstreams.
pub struct UpstreamRecorder(pub Arc<Gate>);

impl HostObserver for UpstreamRecorder {
    fn observe(&self, upstream: &str, event: UpstreamEvent<'_>) {
        self.0.upstream_event(upstream, event);
    }
}

/// Starts a host, does this work once every upstream was tried, and stops the host.
pub async fn with_host<T>(
    config: HostConfig,
    work: impl AsyncFnOnce(&Arc<Host>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    with_starting_host(config, async |host| {
        interrupts::or_stopped(connected(host)).await?;
        work(host).await
    })
    .await
}

/// Waits until every upstream was tried, and shows for which ones.
async fn connected(host: &Host) {
    let progress = ProgressLine::begin("connecting to upstreams");
    let show = async {
        loop {
            let all = host.upstreams();
            let is_waiting = |one: &&Arc<Upstream>| one.state() == UpstreamState::Starting;
            let waiting: Vec<&str> =
                all.iter().filter(is_waiting).map(|one| one.id.as_str()).collect();
            let (done, count) = (all.len() - waiting.len(), all.len());
            let waiting = waiting.join(", ");
            progress
                .set(format!("connecting to upstreams: {done} of {count}, waiting for {waiting}"));
            tokio::time::sleep(PROGRESS_INTERVAL).await;
        }
    };
    tokio::select! {
        biased;
        () = host.settled() => {}
        () = show => {}
    }
}

/// Starts a host, does this work, and stops the host.
pub async fn with_starting_host<T>(
    config: HostConfig,
    work: impl AsyncFnOnce(&Arc<Host>) -> T,
) -> T {
    let host = Host::start(config);
    let done = work(&host).await;
    host.stop().await;
    done
}

/// Keeps the catalogue up to date: the fixed tools and those of the host. The gate counts as starting until every
/// upstream was tried, at most so long.
pub fn keep_catalogue(
    gate: &Arc<Gate>,
    host: &Arc<Host>,
    fixed: FixedTools,
    start_wait: Duration,
) -> Arc<CatalogueKeeper> {
    let keeper = Arc::new(CatalogueKeeper(Mutex::new(KeptTools { fixed, modes: HashMap::new() })));
    let mut changes = host.changes();
    changes.mark_unchanged();
    keeper.lock().update(gate, host);
    let starting = (!host.is_settled()).then(|| (gate.clone(), host.clone()));
    if starting.is_some() {
        gate.begin_starting();
    }
    let (gate, host, updater) = (Arc::downgrade(gate), Arc::downgrade(host), keeper.clone());
    tokio::spawn(async move {
        if let Some((gate, host)) = starting {
            let served = async {
                while changes.changed().await.is_ok() {
                    updater.update(&gate, &host).await;
                }
            };
            tokio::select! {
                _ = tokio::time::timeout(start_wait, host.settled()) => {}
                () = served => {}
            }
            updater.update(&gate, &host).await;
            gate.end_starting();
        }
        while changes.changed().await.is_ok() {
            tokio::time::sleep(CHANGE_DEBOUNCE).await;
            changes.mark_unchanged();
            let (Some(gate), Some(host)) = (gate.upgrade(), host.upgrade()) else { return };
            updater.update(&gate, &host).await;
        }
    });
    keeper
}

/// Makes the catalogue of the fixed tools and those of the host.
pub struct CatalogueKeeper(Mutex<KeptTools>);

/// The fixed tools, and the modes of the upstream tools at the last update.
struct KeptTools {
    fixed: FixedTools,
    modes: HashMap<String, EnforcementMode>,
}

impl CatalogueKeeper {
    /// Waits while a reload makes the catalogue: it compiles schemas, and this thread serves others.
    async fn update(&self, gate: &Gate, host: &Host) {
        while !self.try_update(gate, host) {
            tokio::time::sleep(CHANGE_DEBOUNCE).await;
        }
    }

    /// False if somebody else makes the catalogue now.
    fn try_update(&self, gate: &Gate, host: &Host) -> bool {
        let mut kept = match self.0.try_lock() {
            Ok(kept) => kept,
            Err(TryLockError::Poisoned(kept)) => kept.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        kept.update(gate, host);
        true
    }

    /// Puts a configuration of the host and other fixed tools in force, in one catalogue.
    pub fn reload(
        &self,
        gate: &Gate,
        host: &Host,
        fixed: FixedTools,
        reload: HostReload,
    ) -> UpstreamChanges {
        // Nobody makes a catalogue of the one without the other.
        let mut kept = self.lock();
        let changes = host.finish_reload(reload);
        kept.fixed = fixed;
        kept.update(gate, host);
        changes
    }

    fn lock(&self) -> MutexGuard<'_, KeptTools> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KeptTools {
    fn update(&mut self, gate: &Gate, host: &Host) {
        let tools = host.tools();
        for tool in &tools {
            let name = &tool.contract.name;
            let before = self.modes.insert(name.clone(), tool.mode).unwrap_or_default();
            if before != tool.mode {
                gate.mode_changed(name, before, tool.mode, "settings");
            }
        }
        let all = self.fixed.tools.iter().cloned().chain(tools);
        let mut withheld = host.withheld();
        withheld.extend(self.fixed.absent.withheld());
        let catalogue = Catalogue::of(all, withheld).with_away(host.unreached());
        gate.replace_catalogue(catalogue.with_unlisted(host.methods()));
    }
}

/// The allowlist. A file that cannot be read is an error, and never means "everything".
fn allowlist(loaded: &LoadedSettings) -> anyhow::Result<Option<Allowlist>> {
    let file = match &loaded.settings.allowlist {
        None => return Ok(None),
        Some(AllowlistSetting::Here(list)) => return Ok(Some(list.clone())),
        Some(AllowlistSetting::File(file)) => loaded.path(file),
    };
    let shown = file.display().to_string();
    let text = loaded.sources.document_text(&file).map_err(|error| match error.downcast() {
        Ok(found @ FileErrors(_)) => anyhow::Error::new(found),
        Err(error) => {
            let message = format!("`{shown}` cannot be read: {error:#}");
            SettingsError::new("/allowlist", message).into()
        }
    })?;
    let document = Document::parse(&shown, &text).map_err(|found| FileErrors(vec![*found]))?;
    let mut list: Allowlist = document.check().map_err(FileErrors)?;
    let known = &loaded.settings.upstreams;
    let strange = list.keys().filter(|id| !known.contains_key(*id)).map(|id| {
        let found = document.key_error(
            &format!("/{}", contract::escape(id)),
            format!("there is no upstream `{id}`"),
        );
        match contract::nearest(id, known.keys().map(String::as_str)) {
            Some(near) => found.hint(format!("did you mean `{near}`?")),
            None => found,
        }
    });
    let strange: Vec<_> = strange.collect();
    if !strange.is_empty() {
        return Err(FileErrors(strange).into());
    }
    if mlx_host::is_remote(&loaded.settings) {
        list.entry(mlx_host::MLXCTL.into()).or_insert(AllowedTools::All(Star::Star));
    }
    Ok(Some(list))
}

/// Reads the lock. A mistake in it is shown in its place.
pub fn read_lock(file: &Path) -> anyhow::Result<Option<ContractLock>> {
    ContractLock::read(file).map_err(|error| match error {
        LockError::Malformed { place: Some(place), .. } => FileErrors(vec![*place]).into(),
        error => error.into(),
    })
}
