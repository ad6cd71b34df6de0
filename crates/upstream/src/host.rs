//! The host: all upstreams, each kept by a task of its own, so that one that is dead, slow or hostile
//! never takes another one along.

mod keeper;
mod member;
mod report;
mod served;
mod shelf;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use arc_swap::ArcSwapOption;
use contract::{Contract, Limits, codes};
use gate::{Tool, WithheldTool};
use guard::process::Spawner;
use serde_json::Value;
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;

pub use member::{Member, Phase, Unreachable};
pub use report::Report;

use crate::{
    connection::Target,
    lock::{self, Lock},
    names,
    settings::{Allowlist, Overlay, Upstream},
};

/// How often it is looked whether the lock or an overlay was changed.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// One upstream, as the settings have it.
pub struct Configured {
    /// Its id.
    pub id: String,
    /// Its settings.
    pub settings: Upstream,
    /// Where it is.
    pub target: Target,
    /// Why that cannot be told: it is not tried then, and counts as down.
    pub unresolved: Option<String>,
    /// What the operator adds to its tools, by their own names.
    pub overlays: BTreeMap<String, Overlay>,
}

/// Changes a contract before it is served: the operator's policy.
pub type Adjust = Arc<dyn Fn(&mut Contract) + Send + Sync>;

/// What the operator adds to the tools of each upstream, by id; nothing unless that has changed since
/// it was last asked. May look at files.
pub type Latest =
    Arc<dyn Fn() -> Option<BTreeMap<String, BTreeMap<String, Overlay>>> + Send + Sync>;

/// What a host is made of.
pub struct Plan {
    /// The upstreams.
    pub upstreams: Vec<Configured>,
    /// What the operator adds to their tools from now on.
    pub latest: Latest,
    /// What may be called at all.
    pub allowlist: Option<Allowlist>,
    /// The file that pins contracts.
    pub lock_file: PathBuf,
    /// What it says now.
    pub lock: Option<Lock>,
    /// What told the file from others before it was read: what is written meanwhile counts as changed.
    pub lock_seen: Option<lock::Stamp>,
    /// Names of tools that are served already.
    pub taken: HashSet<String>,
    /// The limits of every call unless a contract has others.
    pub defaults: Limits,
    /// What the operator's policy makes of a contract.
    pub adjust: Adjust,
    /// What we tell upstreams that we can do for them (`clientCapabilities`).
    pub capabilities: Value,
    /// Starts children.
    pub spawner: Spawner,
}

/// What all members go by.
pub(crate) struct Shared {
    pub allowlist: Option<Allowlist>,
    pub lock_file: PathBuf,
    pub lock: ArcSwapOption<Lock>,
    pub taken: HashSet<String>,
    pub defaults: Limits,
    pub adjust: Adjust,
    pub capabilities: Value,
    pub spawner: Spawner,
    /// Counts how often what is offered has changed.
    pub changes: watch::Sender<u64>,
}

/// All upstreams.
pub struct Host {
    members: Vec<Arc<Member>>,
    shared: Arc<Shared>,
    stop: CancellationToken,
    tasks: tokio::sync::Mutex<JoinSet<()>>,
}

impl Host {
    /// Connects to all upstreams at once, and keeps them.
    pub fn start(plan: Plan) -> Arc<Self> {
        let shared = Arc::new(Shared {
            allowlist: plan.allowlist,
            lock_file: plan.lock_file,
            lock: ArcSwapOption::from_pointee(plan.lock),
            taken: plan.taken,
            defaults: plan.defaults,
            adjust: plan.adjust,
            capabilities: plan.capabilities,
            spawner: plan.spawner,
            changes: watch::Sender::new(0),
        });
        let stop = CancellationToken::new();
        let mut tasks = JoinSet::new();
        let mut members = Vec::new();
        for mut configured in plan.upstreams {
            let unresolved = configured.unresolved.take();
            let member = Arc::new(Member::new(configured, shared.clone()));
            match unresolved {
                _ if !member.settings.enabled => {}
                Some(error) => {
                    tracing::warn!(upstream = member.id, %error, "cannot be started");
                    member.set_phase(Phase::Down { error });
                }
                None => _ = tasks.spawn(keeper::keep(member.clone(), stop.clone())),
            }
            members.push(member);
        }
        if !members.is_empty() {
            let watched =
                keeper::watch_lock(members.clone(), shared.clone(), plan.lock_seen, stop.clone());
            tasks.spawn(watched);
            tasks.spawn(keeper::watch_overlays(members.clone(), plan.latest, stop.clone()));
        }
        Arc::new(Self { members, shared, stop, tasks: tasks.into() })
    }

    /// Waits until every upstream was reached or not, at its first attempt. Each has a time limit of
    /// its own for that.
    pub async fn settled(&self) {
        for member in &self.members {
            member.settled().await;
        }
    }

    /// All upstreams, by id.
    pub fn members(&self) -> &[Arc<Member>] {
        &self.members
    }

    /// The upstream of that id.
    pub fn member(&self, id: &str) -> Option<&Arc<Member>> {
        self.members.iter().find(|member| member.id == id)
    }

    /// Everything that may be called now.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.members.iter().flat_map(|member| member.tools()).collect()
    }

    /// What is known and may not be called, by the name that it would be served under.
    pub fn withheld(&self) -> HashMap<String, WithheldTool> {
        self.members.iter().flat_map(|member| member.withheld()).collect()
    }

    /// What is said of a tool of an upstream of which nothing is known yet, by how its name would begin.
    pub fn away(&self) -> Vec<(String, WithheldTool)> {
        let away = self.members.iter().filter(|member| member.is_away());
        let away = away.flat_map(|member| {
            let withheld = WithheldTool {
                toolset: member.id.clone(),
                code: codes::UNAVAILABLE,
                message: format!("the upstream `{}` is not there", member.id),
                reason: "away",
            };
            let chosen = member.settings.tools.values().filter_map(Overlay::chosen_name);
            let names =
                chosen.map(str::to_owned).chain([format!("{}{}", member.id, names::BETWEEN)]);
            names.map(|name| (name, withheld.clone())).collect::<Vec<_>>()
        });
        away.collect()
    }

    /// Tells when what is offered has changed.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// How every upstream is.
    pub fn reports(&self) -> Vec<Report> {
        self.members.iter().map(|member| member.report()).collect()
    }

    /// Ends all connections and all children.
    pub async fn stop(&self) {
        self.stop.cancel();
        let mut tasks = self.tasks.lock().await;
        while tasks.join_next().await.is_some() {}
    }
}

/// Whatever happens to us, nothing that we started goes on.
impl Drop for Host {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}
