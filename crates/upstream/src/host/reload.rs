//! A new configuration for a running host: what has changed is started anew, what has not goes on with its connection and
//! its process.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    ConfiguredUpstream, Host, HostConfig, HostRules, supervisor,
    upstream::{DownCause, Upstream, UpstreamState},
};
use crate::settings::{Overlay, UpstreamSettings};

/// The least time that an upstream runs on after it was removed: a call that found its tool before may not have come to it.
const RETIRE_GRACE: Duration = Duration::from_secs(1);
/// The time between two looks whether a removed upstream still runs calls.
const RETIRE_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// A configuration whose upstreams run, and which is not in force yet.
pub struct HostReload {
    upstreams: Vec<ReloadedUpstream>,
    rules: Arc<HostRules>,
    changes: UpstreamChanges,
}

struct ReloadedUpstream {
    upstream: Arc<Upstream>,
    /// The overlays from now on of one that goes on.
    overlays: Option<BTreeMap<String, Overlay>>,
}

/// The upstreams that a reload changes, by id.
#[derive(Debug, Clone, Default)]
pub struct UpstreamChanges {
    pub added: Vec<String>,
    pub removed: Vec<String>,
    /// Those that are started anew, because their settings have changed.
    pub restarted: Vec<String>,
    /// Those whose program goes on in the sandbox that it was started in, while a new start would give it another.
    pub with_old_sandbox: Vec<String>,
}

impl HostReload {
    /// Waits until the first attempt to reach every upstream has ended.
    pub async fn settled(&self) {
        for ReloadedUpstream { upstream, .. } in &self.upstreams {
            upstream.settled().await;
        }
    }
}

impl Host {
    /// Starts the upstreams of a configuration that do not run yet. What is served stays as it is until
    /// [`Host::finish_reload`].
    pub async fn begin_reload(&self, config: HostConfig) -> HostReload {
        let before = self.upstreams();
        let mut changes = UpstreamChanges::default();
        let is_gone = |id: &&String| !config.upstreams.iter().any(|one| one.id == **id);
        changes.removed = before.iter().map(|one| &one.id).filter(is_gone).cloned().collect();
        let rules = Arc::new(config.rules);
        let mut tasks = self.tasks.lock().await;
        // Supervisors of upstreams that were removed before.
        while tasks.try_join_next().is_some() {}
        let mut upstreams = Vec::new();
        for configured in config.upstreams {
            let id = configured.id.clone();
            let running = before.iter().find(|one| one.id == id);
            if let Some(same) = running.filter(|one| one.is_configured_as(&configured)) {
                if same.target != configured.target {
                    changes.with_old_sandbox.push(id);
                }
                let (upstream, overlays) = (same.clone(), Some(configured.overlays));
                upstreams.push(ReloadedUpstream { upstream, overlays });
                continue;
            }
            match running {
                Some(_) => changes.restarted.push(id),
                None => changes.added.push(id),
            }
            let upstream =
                supervisor::start(configured, &rules, &self.shared, &self.stop, &mut tasks);
            upstreams.push(ReloadedUpstream { upstream, overlays: None });
        }
        HostReload { upstreams, rules, changes }
    }

    /// Puts a configuration in force. Upstreams that are not in it stop when their calls have ended. Schemas are compiled:
    /// this is no work for a thread that serves others.
    pub fn finish_reload(&self, reload: HostReload) -> UpstreamChanges {
        let mut now = Vec::new();
        for ReloadedUpstream { upstream, overlays } in reload.upstreams {
            if let Some(overlays) = overlays {
                upstream.rules.store(reload.rules.clone());
                upstream.set_overlays(overlays);
                upstream.admit_again();
            }
            now.push(upstream);
        }
        let before = self.upstreams.swap(Arc::new(now));
        let now = self.upstreams();
        self.shared.changes.send_modify(|count| *count += 1);
        for retired in before.iter().filter(|old| !now.iter().any(|one| Arc::ptr_eq(one, old))) {
            tokio::spawn(retire(retired.clone()));
        }
        reload.changes
    }
}

/// Stops an upstream when its calls have ended. Each has a timeout of its own.
async fn retire(upstream: Arc<Upstream>) {
    tokio::time::sleep(RETIRE_GRACE).await;
    while upstream.is_busy() {
        tokio::time::sleep(RETIRE_CHECK_INTERVAL).await;
    }
    upstream.stop.cancel();
    let error = "its settings were changed or removed".to_owned();
    upstream.set_state(UpstreamState::Down { error, cause: DownCause::Settings });
    tracing::info!(upstream = upstream.id, "stopped: its settings were changed or removed");
}

impl Upstream {
    /// True if this configuration would start it as it was started: then its connection goes on. Overlays need none.
    fn is_configured_as(&self, configured: &ConfiguredUpstream) -> bool {
        let was_resolved =
            !matches!(self.state(), UpstreamState::Down { cause: DownCause::Settings, .. });
        was_resolved
            && configured.unresolved.is_none()
            && self.target.is_at(&configured.target)
            && comparable(&self.settings) == comparable(&configured.settings)
    }
}

/// Settings in a form that can be compared, without overlays.
fn comparable(settings: &UpstreamSettings) -> (Value, bool) {
    let mut settings = settings.clone();
    settings.tools.clear();
    let always = settings.output_schemas == crate::settings::SchemaRequirement::Always;
    // Settings can always be printed: that is how they are shown.
    (serde_json::to_value(&settings).unwrap_or_default(), always)
}
