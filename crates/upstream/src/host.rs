//! The host: all upstreams, each supervised by a task of its own, so that one that is dead, slow or hostile never
//! takes another one along.

mod announcements;
mod prompts_and_resources;
mod served_tools;
mod status;
mod supervisor;
#[cfg(test)]
mod tests;
mod unserved_call;
mod upstream;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwapOption;
use contract::{Contract, Limits, codes};
use gate::{Tool, UpstreamEvent, WithheldTool};
use guard::process::Spawner;
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use prompts_and_resources::shared_resources;
use status::Remark;
pub use status::UpstreamStatus;
pub use supervisor::{error_chain, with_stderr};
pub use upstream::{DownCause, Unreachable, Upstream, UpstreamState};

use crate::{
    connection::Target,
    lock::{ContractLock, FileStamp},
    names,
    settings::{Allowlist, Overlay, UpstreamSettings},
};

/// The time between two looks at the files of the lock and the overlays.
pub const FILE_CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// One upstream of the settings.
pub struct ConfiguredUpstream {
    pub id: String,
    pub settings: UpstreamSettings,
    /// The program or the address.
    pub target: Target,
    /// The reason why the target is unknown: it is not tried then, and counts as down.
    pub unresolved: Option<String>,
    /// The overlays of its tools, by their own names.
    pub overlays: BTreeMap<String, Overlay>,
}

/// The operator's policy for the tools of upstreams.
pub trait ToolPolicy: Send + Sync {
    /// Changes the contract of a tool before it is served. The tool is known by all these names.
    fn apply(&self, contract: &mut Contract, names: &[String]);

    /// What is wrong with the rules about an upstream, all of whose tools have these names: a rule that matches none
    /// of them leaves a tool unguarded.
    fn unmatched(&self, upstream: &str, tools: &[String]) -> Vec<String>;
}

/// Reads the overlays of all upstreams, by id; none unless they have changed since the last time. May read files.
pub type OverlaySource =
    Arc<dyn Fn() -> Option<BTreeMap<String, BTreeMap<String, Overlay>>> + Send + Sync>;

/// Whoever writes down what happens to upstreams. The log has it anyway.
pub trait HostObserver: Send + Sync {
    fn observe(&self, upstream: &str, event: UpstreamEvent<'_>);
}

/// The configuration of a host.
pub struct HostConfig {
    pub upstreams: Vec<ConfiguredUpstream>,
    /// Reads changed overlays.
    pub overlay_source: OverlaySource,
    /// The tools that may be called at all.
    pub allowlist: Option<Allowlist>,
    /// The file that pins contracts.
    pub lock_file: PathBuf,
    /// The contents of that file.
    pub lock: Option<ContractLock>,
    /// The stamp of that file before it was read: a later write counts as a change.
    pub lock_stamp: Option<FileStamp>,
    /// Names of tools that are served already.
    pub taken: HashSet<String>,
    /// The limits of every call unless a contract has others.
    pub defaults: Limits,
    /// The operator's policy.
    pub policy: Arc<dyn ToolPolicy>,
    /// The capabilities that upstreams are told (`clientCapabilities`).
    pub capabilities: Value,
    /// Starts children.
    pub spawner: Spawner,
    /// Is told what happens.
    pub observer: Option<Arc<dyn HostObserver>>,
}

/// The part of the configuration that all upstreams share.
pub(crate) struct HostShared {
    pub allowlist: Option<Allowlist>,
    pub lock_file: PathBuf,
    pub lock: ArcSwapOption<ContractLock>,
    pub taken: HashSet<String>,
    pub defaults: Limits,
    pub policy: Arc<dyn ToolPolicy>,
    pub capabilities: Value,
    pub spawner: Spawner,
    pub observer: Option<Arc<dyn HostObserver>>,
    /// Counts the changes of what is served.
    pub changes: watch::Sender<u64>,
}

/// All upstreams.
pub struct Host {
    upstreams: Vec<Arc<Upstream>>,
    shared: Arc<HostShared>,
    stop: CancellationToken,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

impl Host {
    /// Connects to all upstreams at once, and supervises them.
    pub fn start(config: HostConfig) -> Arc<Self> {
        let shared = Arc::new(HostShared {
            allowlist: config.allowlist,
            lock_file: config.lock_file,
            lock: ArcSwapOption::from_pointee(config.lock),
            taken: config.taken,
            defaults: config.defaults,
            policy: config.policy,
            capabilities: config.capabilities,
            spawner: config.spawner,
            observer: config.observer,
            changes: watch::Sender::new(0),
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let mut upstreams = Vec::new();
        for mut configured in config.upstreams {
            let unresolved = configured.unresolved.take();
            let upstream = Arc::new(Upstream::new(configured, shared.clone()));
            match unresolved {
                _ if !upstream.settings.enabled => {}
                Some(error) => {
                    tracing::warn!(upstream = upstream.id, %error, "cannot start the upstream");
                    let cause = DownCause::Settings;
                    upstream.set_state(UpstreamState::Down { error, cause });
                }
                None => _ = tasks.spawn(supervisor::supervise(upstream.clone(), stop.clone())),
            }
            upstreams.push(upstream);
        }
        if !upstreams.is_empty() {
            let (all, stamp) = (upstreams.clone(), config.lock_stamp);
            tasks.spawn(supervisor::watch_lock(all, shared.clone(), stamp, stop.clone()));
            let (all, source) = (upstreams.clone(), config.overlay_source);
            tasks.spawn(supervisor::watch_overlays(all, source, stop.clone()));
        }
        Arc::new(Self { upstreams, shared, stop, tasks: tasks.into() })
    }

    /// Waits until the first attempt to reach every upstream has ended. Each has a timeout of its own.
    pub async fn settled(&self) {
        for upstream in &self.upstreams {
            upstream.settled().await;
        }
    }

    /// True if no first attempt is under way.
    pub fn is_settled(&self) -> bool {
        self.upstreams.iter().all(|upstream| upstream.state() != UpstreamState::Starting)
    }

    /// All upstreams, by id.
    pub fn upstreams(&self) -> &[Arc<Upstream>] {
        &self.upstreams
    }

    pub fn upstream(&self, id: &str) -> Option<&Arc<Upstream>> {
        self.upstreams.iter().find(|upstream| upstream.id == id)
    }

    /// The tools that may be called now.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.upstreams.iter().flat_map(|upstream| upstream.tools()).collect()
    }

    /// The methods of upstreams that are no tool calls, as tools that are in no listing.
    pub fn methods(&self) -> Vec<Arc<Tool>> {
        self.upstreams.iter().flat_map(|upstream| upstream.methods()).collect()
    }

    /// The tools that are known and may not be called, by the names that they would be served under.
    pub fn withheld(&self) -> HashMap<String, WithheldTool> {
        self.upstreams.iter().flat_map(|upstream| upstream.withheld()).collect()
    }

    /// The response to a call of a tool of an upstream that was never reached, by the beginning of the name.
    pub fn unreached(&self) -> Vec<(String, WithheldTool)> {
        let unreached = self.upstreams.iter().filter(|upstream| upstream.was_never_reached());
        let unreached = unreached.flat_map(|upstream| {
            let withheld = WithheldTool {
                toolset: upstream.id.clone(),
                code: codes::UNAVAILABLE,
                message: format!("the upstream `{}` cannot be reached", upstream.id),
                reason: "away",
            };
            let chosen = upstream.settings.tools.values().filter_map(Overlay::chosen_name);
            let names =
                chosen.map(str::to_owned).chain([format!("{}{}", upstream.id, names::SEPARATOR)]);
            names.map(|name| (name, withheld.clone())).collect::<Vec<_>>()
        });
        unreached.collect()
    }

    /// Counts the changes of what is served.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// The status of every upstream.
    pub fn statuses(&self) -> Vec<UpstreamStatus> {
        let mut all: Vec<_> = self.upstreams.iter().map(|upstream| upstream.status()).collect();
        for (both, message) in shared_resources(&self.upstreams) {
            for index in both {
                all[index].remarks.push(Remark { tool: String::new(), message: message.clone() });
            }
        }
        all
    }

    /// Ends all connections and all children.
    pub async fn stop(&self) {
        self.stop.cancel();
        let mut tasks = self.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
    }
}

/// Nothing that was started outlives the host.
impl Drop for Host {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
