//! What of an upstream is served: judged anew whenever it lists something else, and when the lock or an
//! overlay has changed.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, MutexGuard, PoisonError},
};

use contract::{Contract, codes};
use gate::{RunningCall, Tool, WithheldTool};

use super::member::{Member, Phase};
use crate::{
    admission::{self, Admitted, Reason, Rejected, Rules},
    lock::Pinned,
    offer::Offer,
    relay::Relay,
    settings::{Mode, Overlay},
};

/// What is known of what it offers.
#[derive(Default)]
pub(super) struct State {
    pub offer: Option<Arc<Offer>>,
    pub tools: Vec<Arc<Tool>>,
    /// Who runs each of them, in the same order.
    relays: Vec<Arc<Relay>>,
    /// Where each of them is, by the name that it is served under.
    index: HashMap<String, usize>,
    pub rejected: Vec<Rejected>,
    /// What a person should look at, by tool.
    pub remarks: Vec<(String, String)>,
}

impl Member {
    /// How long a call of a tool may take unless its caller says otherwise, in milliseconds.
    pub(crate) fn time_of(&self, contract: &Contract) -> u64 {
        self.shared.defaults.with(&contract.limits).timeout_ms
    }

    /// Whether it may run this call: what it serves now under that name is what the call was checked
    /// against, or takes these arguments as well and asks for no other leave. What comes back is held against
    /// what the caller was promised in any case.
    pub(crate) fn serves(&self, call: &RunningCall) -> bool {
        let state = self.state.load();
        let Some(&place) = state.index.get(&call.contract.name) else { return false };
        let now = &state.tools[place];
        Arc::ptr_eq(&now.contract, &call.contract)
            || (now.contract.approval, now.contract.effects)
                == (call.contract.approval, call.contract.effects)
                && now.input.is_valid(&call.input)
    }

    /// Everything of it that may be called.
    pub fn tools(&self) -> Vec<Arc<Tool>> {
        self.state().tools.clone()
    }

    /// What the server itself calls a tool that is served under this name.
    pub fn own_name(&self, served: &str) -> Option<String> {
        let state = self.state();
        let place = state.index.get(served)?;
        Some(state.relays[*place].own_name().to_owned())
    }

    /// What of it may not be called, and why.
    pub fn rejected(&self) -> Vec<Rejected> {
        self.state().rejected.clone()
    }

    /// What of it may not be called, for whoever calls it.
    pub(crate) fn withheld(&self) -> HashMap<String, WithheldTool> {
        let state = self.state();
        let served =
            |one: &Rejected| state.tools.iter().any(|tool| tool.contract.name == one.served_as);
        let withheld = state.rejected.iter().filter(|one| !served(one)).map(|one| {
            let code = match one.reason {
                Reason::Changed | Reason::NotPinned => codes::CONTRACT_CHANGED,
                _ => codes::NOT_ALLOWED,
            };
            let withheld = WithheldTool {
                toolset: self.id.clone(),
                code,
                // Not in the server's own words: a model may read this.
                message: format!(
                    "Tool not allowed: {}.{}: {}",
                    self.id,
                    one.tool,
                    one.reason.told()
                ),
                reason: one.reason.word(),
            };
            (one.served_as.clone(), withheld)
        });
        withheld.collect()
    }

    /// Takes what it offers now; whether that changes what is served.
    pub(super) fn take(self: &Arc<Self>, offer: Offer) -> bool {
        let judging = self.judging();
        let before = self.offer();
        let offer = offer.after(before.as_deref());
        if before.as_deref() == Some(&offer) {
            return false;
        }
        self.judge(Arc::new(offer), &judging);
        true
    }

    /// Judges again what it offers: the lock or an overlay has changed.
    pub(super) fn judge_again(self: &Arc<Self>) {
        let judging = self.judging();
        // One that nobody uses is not asked: what it offers then is what is pinned.
        let pinned = if self.phase() == Phase::Idle { self.pinned().map(Arc::new) } else { None };
        if let Some(offer) = pinned.or_else(|| self.offer()) {
            self.judge(offer, &judging);
        }
    }

    fn judging(&self) -> MutexGuard<'_, ()> {
        self.judging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the operator adds to its tools when they are judged next.
    pub(super) fn set_overlays(&self, overlays: BTreeMap<String, Overlay>) {
        self.overlays.store(Arc::new(overlays));
    }

    fn judge(self: &Arc<Self>, offer: Arc<Offer>, _judging: &MutexGuard<'_, ()>) {
        let before = self.state();
        let lock = self.shared.lock.load();
        let pinned: Option<&Pinned> = lock.as_ref().and_then(|lock| lock.upstreams.get(&self.id));
        let nothing = Pinned::default();
        let rules = Rules {
            id: &self.id,
            settings: &self.settings,
            overlays: &self.overlays.load(),
            allowlist: self.shared.allowlist.as_ref(),
            // A lock that does not know this upstream has pinned nothing of it.
            pinned: pinned.or(lock.as_ref().map(|_| &nothing)),
            taken: &self.shared.taken,
        };
        let admission = admission::judge(&rules, offer.version(), &offer.tools);
        let mut state = State { rejected: admission.rejected, ..State::default() };
        for why in offer.unread.values() {
            state.remarks.push((String::new(), format!("{why}; it is asked again later")));
        }
        for admitted in admission.admitted {
            for finding in &admitted.findings {
                state.remarks.push((admitted.own_name.clone(), admission::in_words(finding)));
            }
            for change in &admitted.tolerated {
                let text = format!("{} {} since it was pinned", change.part, change.text);
                state.remarks.push((admitted.own_name.clone(), text));
            }
            match self.tool(admitted, &before) {
                Ok((tool, relay)) => {
                    state.index.insert(tool.contract.name.clone(), state.tools.len());
                    state.tools.push(tool);
                    state.relays.push(relay);
                }
                Err(rejected) => state.rejected.push(rejected),
            }
        }
        state.offer = Some(offer);
        self.state.store(Arc::new(state));
        self.shared.changes.send_modify(|count| *count += 1);
    }

    /// An admitted tool, ready to be called; the one of before where it is the same.
    fn tool(
        self: &Arc<Self>,
        admitted: Admitted,
        before: &State,
    ) -> Result<(Arc<Tool>, Arc<Relay>), Rejected> {
        let mut contract = admitted.contract.clone();
        (self.shared.adjust)(&mut contract);
        let mode = mode(admitted.mode);
        if let Some(&place) = before.index.get(&contract.name) {
            let (tool, relay) = (&before.tools[place], &before.relays[place]);
            if relay.is_for(&admitted)
                && tool.mode == mode
                && tool.input.source() == admitted.input.source()
                && tool.output.source() == admitted.output.source()
                && tool.contract.to_value() == contract.to_value()
            {
                return Ok((tool.clone(), relay.clone()));
            }
        }
        let name = admitted.own_name.clone();
        let relay = Arc::new(Relay::new(self, &admitted));
        let Admitted { input, output, .. } = admitted;
        Tool::enforcing(contract, relay.clone(), &self.shared.defaults, input, output)
            .map(|tool| (Arc::new(tool.with_mode(mode)), relay))
            .map_err(|error| Rejected::unusable(&self.id, &name, &error))
    }
}

fn mode(mode: Mode) -> gate::EnforcementMode {
    match mode {
        Mode::Enforce => gate::EnforcementMode::Enforce,
        Mode::Warn => gate::EnforcementMode::Warn,
        Mode::Off => gate::EnforcementMode::Off,
    }
}
