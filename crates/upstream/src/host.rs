//! The host: all upstreams, each supervised by a task of its own, so that one that is dead, slow or hostile never
//! takes another one along.

mod announcements;
mod prompts_and_resources;
mod reload;
mod served_tools;
mod status;
mod supervisor;
#[cfg(test)]
mod tests;
mod unserved_call;
mod upstream;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use arc_swap::ArcSwap;
use contract::{Contract, Limits, codes};
use gate::{Tool, UpstreamEvent, WithheldTool};
use guard::process::Spawner;
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

use prompts_and_resources::shared_resources;
pub use reload::{HostReload, UpstreamChanges};
use status::Remark;
pub use status::UpstreamStatus;
pub use supervisor::{error_chain, with_stderr};
pub use upstream::{DownCause, Unreachable, Upstream, UpstreamState};

use crate::{
    connection::Target,
    lock::ContractLock,
    names,
    settings::{Allowlist, Overlay, UpstreamSettings},
};

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

/// Whoever writes down what happens to upstreams. The log has it anyway.
pub trait HostObserver: Send + Sync {
    fn observe(&self, upstream: &str, event: UpstreamEvent<'_>);
}

/// The configuration of a host.
pub struct HostConfig {
    pub upstreams: Vec<ConfiguredUpstream>,
    /// What holds for all of them.
    pub rules: HostRules,
    /// The capabilities that upstreams are told (`clientCapabilities`).
    pub capabilities: Value,
    /// Starts children.
    pub spawner: Spawner,
    /// Is told what happens.
    pub observer: Option<Arc<dyn HostObserver>>,
}

/// The part of the configuration that all upstreams share and that a reload replaces.
pub struct HostRules {
    /// The tools that may be called at all.
    pub allowlist: Option<Allowlist>,
    /// The pinned contracts.
    pub lock: Option<ContractLock>,
    /// Names of tools that are served already.
    pub taken: HashSet<String>,
    /// The limits of every call unless a contract has others.
    pub defaults: Limits,
    /// The operator's policy.
    pub policy: Arc<dyn ToolPolicy>,
}

/// Everything that all upstreams share.
pub(crate) struct HostShared {
    pub capabilities: Value,
    pub spawner: Spawner,
    pub observer: Option<Arc<dyn HostObserver>>,
    /// Counts the changes of what is served.
    pub changes: watch::Sender<u64>,
}

/// All upstreams.
pub struct Host {
    upstreams: ArcSwap<Vec<Arc<Upstream>>>,
    shared: Arc<HostShared>,
    stop: CancellationToken,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

impl Host {
    /// Connects to all upstreams at once, and supervises them.
    pub fn start(config: HostConfig) -> Arc<Self> {
        let shared = Arc::new(HostShared {
            capabilities: config.capabilities,
            spawner: config.spawner,
            observer: config.observer,
            changes: watch::Sender::new(0),
        });
        let rules = Arc::new(config.rules);
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let started = config.upstreams.into_iter();
        let started =
            started.map(|one| supervisor::start(one, &rules, &shared, &stop, &mut tasks)).collect();
        Arc::new(Self {
            upstreams: ArcSwap::from_pointee(started),
            shared,
            stop,
            tasks: tasks.into(),
        })
    }

    /// Waits until the first attempt to reach every upstream has ended. Each has a timeout of its own.
    pub async fn settled(&self) {
        for upstream in self.upstreams().iter() {
            upstream.settled().await;
        }
    }

    /// True if no first attempt is under way.
    pub fn is_settled(&self) -> bool {
        self.upstreams().iter().all(|upstream| upstream.state() != UpstreamState::Starting)
    }

    /// The upstreams of now, by id.
    pub fn upstreams(&self) -> Arc<Vec<Arc<Upstream>>> {
        self.upstreams.load_full()
    }

    pub fn upstream(&self, id: &str) -> Option<Arc<Upstream>> {
        self.upstreams.load().iter().find(|upstream| upstream.id == id).cloned()
    }

    /// The tools that may be called now.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.upstreams().iter().flat_map(|upstream| upstream.tools()).collect()
    }

    /// The methods of upstreams that are no tool calls, as tools that are in no listing.
    pub fn methods(&self) -> Vec<Arc<Tool>> {
        self.upstreams().iter().flat_map(|upstream| upstream.methods()).collect()
    }

    /// The tools that are known and may not be called, by the names that they would be served under.
    pub fn withheld(&self) -> HashMap<String, WithheldTool> {
        self.upstreams().iter().flat_map(|upstream| upstream.withheld()).collect()
    }

    /// The response to a call of a tool of an upstream that was never reached, by the beginning of the name.
    pub fn unreached(&self) -> Vec<(String, WithheldTool)> {
        let upstreams = self.upstreams();
        let unreached = upstreams.iter().filter(|upstream| upstream.was_never_reached());
        let unreached = unreached.flat_map(|upstream| {
            let withheld = WithheldTool {
                toolset: upstream.id.clone(),
                code: codes::UNAVAILABLE,
                message: format!("the upstream `{}` cannot be reached", upstream.id),
                reason: "away",
            };
            let overlays = upstream.overlays.load();
            let chosen = overlays.values().filter_map(Overlay::chosen_name);
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
        let upstreams = self.upstreams();
        let mut all: Vec<_> = upstreams.iter().map(|upstream| upstream.status()).collect();
        for (both, message) in shared_resources(&upstreams) {
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
