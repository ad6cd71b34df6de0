//! The configuration of the host of upstreams, from the settings; and the catalogue, from the tools that they serve.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::Path,
    sync::Arc,
    time::Duration,
};

use anyhow::Context;
use contract::{Diagnostic, Document};
use gate::{Catalogue, EnforcementMode, Gate, UpstreamEvent};
use serde_json::json;
use upstream::{
    ConfiguredUpstream, Host, HostConfig, HostObserver,
    lock::{ContractLock, FileStamp},
    settings::{AllowedTools, Allowlist, Overlay, SchemaRequirement, Star, StartMode},
};

use super::{FixedTools, overlays, policy, upstream_targets};
use crate::{
    files,
    settings::{AllowlistSetting, LoadedSettings, PolicyPreset, SettingsError, mlx_host},
};
use gate::secrets::MIN_SECRET_BYTES;

/// The time in which further changes are collected before the catalogue is made again: a hundred upstreams that start
/// together should not make it a hundred times.
const CHANGE_DEBOUNCE: Duration = Duration::from_millis(20);

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
    // Made first: a write from now on counts as a change.
    let overlay_source = overlays::follow(loaded);
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
    let lock_stamp = FileStamp::of(&lock_file);
    Ok(HostConfig {
        upstreams,
        overlay_source,
        allowlist: allowlist(loaded)?,
        lock: ContractLock::read(&lock_file)?,
        lock_file,
        lock_stamp,
        taken,
        defaults: settings.limits.defaults(),
        policy: Arc::new(policy::UpstreamPolicy::new(settings)),
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
pub async fn with_host<T>(config: HostConfig, work: impl AsyncFnOnce(&Arc<Host>) -> T) -> T {
    with_starting_host(config, async |host| {
        host.settled().await;
        work(host).await
    })
    .await
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
pub fn keep_catalogue(gate: &Arc<Gate>, host: &Arc<Host>, fixed: FixedTools, start_wait: Duration) {
    if host.upstreams().is_empty() {
        return;
    }
    let mut updater = CatalogueUpdater { fixed, modes: HashMap::new() };
    let mut changes = host.changes();
    changes.mark_unchanged();
    updater.update(gate, host);
    let starting = (!host.is_settled()).then(|| (gate.clone(), host.clone()));
    if starting.is_some() {
        gate.begin_starting();
    }
    let (gate, host) = (Arc::downgrade(gate), Arc::downgrade(host));
    tokio::spawn(async move {
        if let Some((gate, host)) = starting {
            let served = async {
                while changes.changed().await.is_ok() {
                    updater.update(&gate, &host);
                }
            };
            tokio::select! {
                _ = tokio::time::timeout(start_wait, host.settled()) => {}
                () = served => {}
            }
            updater.update(&gate, &host);
            gate.end_starting();
        }
        while changes.changed().await.is_ok() {
            tokio::time::sleep(CHANGE_DEBOUNCE).await;
            changes.mark_unchanged();
            let (Some(gate), Some(host)) = (gate.upgrade(), host.upgrade()) else { return };
            updater.update(&gate, &host);
        }
    });
}

/// The fixed tools, and the modes of the upstream tools at the last update.
struct CatalogueUpdater {
    fixed: FixedTools,
    modes: HashMap<String, EnforcementMode>,
}

impl CatalogueUpdater {
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
    let mut list: Allowlist = read_document(&file).map_err(|error| {
        SettingsError::new("/allowlist", format!("`{}`: {error:#}", file.display()))
    })?;
    if let Some(id) = list.keys().find(|id| !loaded.settings.upstreams.contains_key(*id)) {
        let message = format!("`{}`: there is no upstream `{id}`", file.display());
        return Err(SettingsError::new("/allowlist", message).into());
    }
    if mlx_host::is_remote(&loaded.settings) {
        list.entry(mlx_host::MLXCTL.into()).or_insert(AllowedTools::All(Star::Star));
    }
    Ok(Some(list))
}

/// Reads a document of this type.
fn read_document<T: schemars::JsonSchema + serde::de::DeserializeOwned + 'static>(
    file: &Path,
) -> anyhow::Result<T> {
    let text = files::read_document_text(file).context("cannot be read")?;
    let name = file.display().to_string();
    let document =
        Document::parse(&name, &text).map_err(|one| anyhow::anyhow!(one.message.clone()))?;
    document.check::<T>().map_err(|found| {
        let messages: Vec<_> = found.iter().map(|one| one.message.clone()).collect();
        anyhow::anyhow!(messages.join("; "))
    })
}
