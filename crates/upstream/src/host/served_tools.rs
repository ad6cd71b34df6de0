//! The tools of an upstream that are served: admitted again whenever its listings, the lock or an overlay change.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, MutexGuard, PoisonError},
};

use contract::{Contract, codes};
use gate::{Tool, WithheldTool};

use super::{
    HostRules,
    status::Remark,
    upstream::{Upstream, UpstreamState},
};
use crate::{
    admission::{self, AdmissionRules, AdmittedTool, Rejection, RejectionReason},
    listings::ServerListings,
    lock::PinnedListings,
    methods::{self, UpstreamMethod},
    names,
    relay::Relay,
    settings::Overlay,
};

/// The listings of an upstream, and what came of their admission.
#[derive(Default)]
pub(super) struct ServedTools {
    pub listings: Option<Arc<ServerListings>>,
    pub tools: Vec<Arc<Tool>>,
    /// The providers of the tools, in the same order.
    relays: Vec<Arc<Relay>>,
    /// The indices of the tools, by the names that they are served under.
    pub index: HashMap<String, usize>,
    /// The methods that are no tool calls.
    methods: Vec<(UpstreamMethod, Arc<Tool>)>,
    pub rejected: Vec<Rejection>,
    pub remarks: Vec<Remark>,
}

impl Upstream {
    /// The tools that are served.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.served.load().tools.clone()
    }

    /// The methods that are no tool calls, as tools that are in no listing.
    pub fn methods(&self) -> Vec<Arc<Tool>> {
        self.served.load().methods.iter().map(|(_, tool)| tool.clone()).collect()
    }

    pub(super) fn method(&self, wanted: UpstreamMethod) -> Option<Arc<Tool>> {
        let served = self.served.load();
        let found = served.methods.iter().find(|(method, _)| *method == wanted);
        found.map(|(_, tool)| tool.clone())
    }

    /// The name on the server of a tool that is served under this name.
    pub fn own_name(&self, served_as: &str) -> Option<String> {
        let served = self.served.load();
        let index = served.index.get(served_as)?;
        Some(served.relays[*index].own_name().to_owned())
    }

    /// The tools that are not served, with the reason.
    pub fn rejected(&self) -> Vec<Rejection> {
        self.served.load().rejected.clone()
    }

    /// The tools that are not served, for callers, by the names that they would be served under.
    pub(crate) fn withheld(&self) -> HashMap<String, WithheldTool> {
        let served = self.served.load();
        let is_served = |one: &Rejection| served.index.contains_key(&one.served_as);
        let withheld = served.rejected.iter().filter(|one| !is_served(one)).map(|one| {
            let code = match one.reason {
                RejectionReason::Changed | RejectionReason::NotPinned => codes::CONTRACT_CHANGED,
                _ => codes::NOT_ALLOWED,
            };
            let withheld = WithheldTool {
                toolset: self.id.clone(),
                code,
                // Nothing of the server's own text: a model may read this.
                message: format!(
                    "Tool not allowed: {}.{}: {}",
                    self.id,
                    one.tool,
                    one.reason.text()
                ),
                reason: one.reason.word(),
            };
            (one.served_as.clone(), withheld)
        });
        withheld.collect()
    }

    /// Admits these listings; false if they are the same as before.
    pub(super) fn apply(self: &Arc<Self>, listings: ServerListings) -> bool {
        let admission = self.lock_admission();
        let before = self.listings();
        let listings = listings.filled_from(before.as_deref()).without_refused();
        if before.as_deref() == Some(&listings) {
            return false;
        }
        self.admit(Arc::new(listings), &admission);
        true
    }

    /// Admits the listings again: the lock or an overlay has changed.
    pub(super) fn admit_again(self: &Arc<Self>) {
        let admission = self.lock_admission();
        // One that is idle is not asked: it serves what is pinned.
        let idle = self.state() == UpstreamState::Idle;
        let pinned = if idle { self.pinned_listings().map(Arc::new) } else { None };
        if let Some(listings) = pinned.or_else(|| self.listings()) {
            self.admit(listings, &admission);
        }
    }

    fn lock_admission(&self) -> MutexGuard<'_, ()> {
        self.admission.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the overlays for the next admission.
    pub(super) fn set_overlays(&self, overlays: BTreeMap<String, Overlay>) {
        self.overlays.store(Arc::new(overlays));
    }

    fn admit(self: &Arc<Self>, listings: Arc<ServerListings>, _admission: &MutexGuard<'_, ()>) {
        let before = self.served.load();
        let shared = self.rules.load_full();
        let lock = shared.lock.as_ref();
        let pinned: Option<&PinnedListings> = lock.and_then(|lock| lock.upstreams.get(&self.id));
        let nothing = PinnedListings::default();
        let rules = AdmissionRules {
            id: &self.id,
            settings: &self.settings,
            overlays: &self.overlays.load(),
            allowlist: shared.allowlist.as_ref(),
            // A lock without this upstream has pinned nothing of it.
            pinned: pinned.or(lock.map(|_| &nothing)),
            taken: &shared.taken,
        };
        let admission = admission::admit(&rules, listings.version(), &listings.tools);
        let mut served = ServedTools { rejected: admission.rejected, ..ServedTools::default() };
        for error in listings.unread.values() {
            let message = format!("{error}; trying again later");
            served.remarks.push(Remark { tool: String::new(), message });
        }
        let refused = listings.refused.iter();
        let refused = refused.map(|why| Remark { tool: String::new(), message: why.clone() });
        served.remarks.extend(refused);
        for admitted in admission.admitted {
            let texts = admitted.findings.iter().map(admission::describe_finding);
            let changes = admitted.tolerated.iter();
            let changes =
                changes.map(|one| format!("{} {} since it was pinned", one.part, one.text));
            let tool = &admitted.own_name;
            let remark = |message| Remark { tool: tool.clone(), message };
            served.remarks.extend(texts.chain(changes).map(remark));
            match self.tool(admitted, &before, &shared) {
                Ok((tool, relay)) => {
                    served.index.insert(tool.contract.name.clone(), served.tools.len());
                    served.tools.push(tool);
                    served.relays.push(relay);
                }
                Err(rejection) => served.rejected.push(rejection),
            }
        }
        let rejected = served.rejected.iter();
        let rejected = rejected.flat_map(|one| names::all(&self.id, &one.tool, &one.served_as));
        let relays = served.tools.iter().zip(&served.relays);
        let served_names = relays
            .flat_map(|(tool, relay)| names::all(&self.id, relay.own_name(), &tool.contract.name));
        let methods = UpstreamMethod::ALL.iter().map(|method| method.tool_name(&self.id));
        let known: Vec<_> = served_names.chain(rejected).chain(methods).collect();
        for message in shared.policy.unmatched(&self.id, &known) {
            tracing::warn!(upstream = self.id, "{message}");
            served.remarks.push(Remark { tool: String::new(), message });
        }
        served.methods = self.method_tools(&before, &shared);
        self.announce_rejected(&before.rejected, &served.rejected);
        served.listings = Some(listings);
        self.served.store(Arc::new(served));
        self.shared.changes.send_modify(|count| *count += 1);
    }

    /// The methods as tools; each is the one of before where nothing has changed.
    fn method_tools(
        self: &Arc<Self>,
        before: &ServedTools,
        rules: &HostRules,
    ) -> Vec<(UpstreamMethod, Arc<Tool>)> {
        let tools = UpstreamMethod::ALL.into_iter().filter_map(|method| {
            let known = before.methods.iter().find(|(known, _)| *known == method);
            let tool = methods::admitted(&self.id, &self.settings, method).and_then(|admitted| {
                let relay = Arc::new(Relay::of_method(self, &admitted, method));
                let AdmittedTool { mut contract, input, output, .. } = admitted;
                rules.policy.apply(&mut contract, &[]);
                if let Some((_, tool)) = known.filter(|(_, tool)| is_same(tool, &contract, rules)) {
                    return Ok(tool.clone());
                }
                Tool::enforcing(contract, relay, &rules.defaults, input, output).map(Arc::new)
            });
            // Without it there is no such request: never one that is not checked.
            let tool = tool.inspect_err(|error| {
                tracing::error!(upstream = self.id, method = method.as_str(), %error, "cannot be served");
            });
            Some((method, tool.ok()?))
        });
        tools.collect()
    }

    /// An admitted tool with its provider; the one of before where nothing has changed.
    fn tool(
        self: &Arc<Self>,
        admitted: AdmittedTool,
        before: &ServedTools,
        rules: &HostRules,
    ) -> Result<(Arc<Tool>, Arc<Relay>), Rejection> {
        let mut contract = admitted.contract.clone();
        let names = names::all(&self.id, &admitted.own_name, &contract.name);
        rules.policy.apply(&mut contract, &names);
        let known = before.index.get(&contract.name);
        if let Some(&index) = known {
            let (tool, relay) = (&before.tools[index], &before.relays[index]);
            if relay.is_for(&admitted)
                && tool.mode == admitted.mode
                && tool.input.source() == admitted.input.source()
                && tool.output.source() == admitted.output.source()
                && is_same(tool, &contract, rules)
            {
                return Ok((tool.clone(), relay.clone()));
            }
        }
        let name = admitted.own_name.clone();
        let relay = Arc::new(Relay::new(self, &admitted));
        let AdmittedTool { input, output, mode, .. } = admitted;
        let tool = Tool::enforcing(contract, relay.clone(), &rules.defaults, input, output)
            .map_err(|error| Rejection::unusable(&self.id, &name, &error))?;
        let tool = match known {
            Some(&index) => tool.continuing(&before.tools[index]),
            None => tool,
        };
        Ok((Arc::new(tool.with_mode(mode)), relay))
    }
}

/// True if a tool has this contract and the limits of these rules.
fn is_same(tool: &Tool, contract: &Contract, rules: &HostRules) -> bool {
    tool.limits == rules.defaults.with(&contract.limits)
        && tool.contract.to_value() == contract.to_value()
}
