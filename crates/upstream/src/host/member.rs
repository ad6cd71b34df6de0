//! One upstream: what is known of it, and the way to it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use contract::{Contract, codes};
use futures_util::FutureExt;
use gate::{Running, Tool, Withheld};
use guard::process::Applied;
use serde::Serialize;
use tokio::sync::{Notify, Semaphore, watch};

use super::{Configured, Shared};
use crate::{
    admission::{self, Admitted, Reason, Rejected, Rules},
    breaker::Breaker,
    connection::{Connection, Target},
    lock::Pinned,
    offer::Offer,
    parking::Parking,
    relay::Relay,
    settings::{Mode, Overlay, Start, Upstream},
};

/// One upstream.
pub struct Member {
    /// Its id.
    pub id: String,
    /// Its settings.
    pub settings: Upstream,
    pub(crate) target: Target,
    pub(super) overlays: ArcSwap<BTreeMap<String, Overlay>>,
    pub(super) shared: Arc<Shared>,
    connection: ArcSwapOption<Connection>,
    state: ArcSwap<State>,
    /// Held by who judges what is offered.
    judging: Mutex<()>,
    /// How far it is; whoever waits for it listens here.
    phase: watch::Sender<Phase>,
    /// Tells its keeper that somebody wants it.
    pub(super) wanted: Notify,
    pub(crate) places: Arc<Semaphore>,
    pub(crate) breaker: Breaker,
    pub(crate) parking: Arc<Parking>,
    pub(super) restarts: AtomicU32,
    /// When it was last used, in milliseconds after `born`.
    last_used: AtomicU64,
    born: Instant,
}

/// How far an upstream is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum Phase {
    /// The settings turn it off.
    Disabled,
    /// It is being started, or was there a moment ago and is reached again.
    Starting,
    /// It answers.
    Ready,
    /// It is not running, and started when it is wanted.
    Idle,
    /// It cannot be reached, and is tried again.
    Down {
        /// Why.
        error: String,
    },
}

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

/// Why a call cannot be sent.
#[derive(Debug, Clone)]
pub struct Unreachable {
    /// For the caller.
    pub message: String,
    /// More of it, which may be in the server's own words, for whoever looks after it.
    pub why: String,
    /// After how long it may be different.
    pub retry_after: Option<Duration>,
}

impl Member {
    pub(super) fn new(configured: Configured, shared: Arc<Shared>) -> Self {
        let settings = configured.settings;
        let phase = if settings.enabled { Phase::Starting } else { Phase::Disabled };
        Self {
            places: Arc::new(Semaphore::new(settings.max_concurrency)),
            breaker: Breaker::new(
                settings.breaker_failures,
                Duration::from_millis(settings.breaker_open_ms),
            ),
            id: configured.id,
            target: configured.target,
            overlays: ArcSwap::from_pointee(configured.overlays),
            settings,
            shared,
            connection: ArcSwapOption::empty(),
            state: ArcSwap::default(),
            judging: Mutex::default(),
            phase: watch::Sender::new(phase),
            wanted: Notify::new(),
            parking: Arc::default(),
            restarts: AtomicU32::new(0),
            last_used: AtomicU64::new(0),
            born: Instant::now(),
        }
    }

    /// How far it is.
    pub fn phase(&self) -> Phase {
        self.phase.borrow().clone()
    }

    /// Nobody uses it: it waits until somebody wants it. Whoever wanted it before has had it.
    pub(super) fn rest(&self) {
        let _ = self.wanted.notified().now_or_never();
        self.set_phase(Phase::Idle);
    }

    pub(super) fn set_phase(&self, phase: Phase) {
        self.phase.send_replace(phase);
    }

    /// Waits until it was reached or not.
    pub(super) async fn settled(&self) {
        let mut phase = self.phase.subscribe();
        let _ = phase.wait_for(|phase| *phase != Phase::Starting).await;
    }

    /// Whether it is started by the first call.
    pub(super) fn is_lazy(&self) -> bool {
        self.settings.start == Start::Lazy && matches!(self.target, Target::Program(_))
    }

    pub(super) fn set_connection(&self, connection: Option<Connection>) {
        self.connection.store(connection.map(Arc::new));
    }

    /// The connection to it, waited for where it is being made.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Unreachable> {
        self.touch();
        if let Some(connection) = self.connection.load_full() {
            return Ok(connection);
        }
        let mut phase = self.phase.subscribe();
        loop {
            if let Some(connection) = self.connection.load_full() {
                return Ok(connection);
            }
            let now = phase.borrow_and_update().clone();
            match now {
                Phase::Down { error } => return Err(self.unreachable(&error)),
                Phase::Disabled => return Err(self.unreachable("it is turned off")),
                Phase::Idle => self.wanted.notify_one(),
                Phase::Starting | Phase::Ready => {}
            }
            if phase.changed().await.is_err() {
                return Err(self.unreachable("it is turned off"));
            }
        }
    }

    pub(crate) fn unreachable(&self, why: &str) -> Unreachable {
        Unreachable {
            message: format!("the upstream `{}` cannot be reached", self.id),
            why: format!("the upstream `{}`: {why}", self.id),
            retry_after: Some(Duration::from_secs(1)),
        }
    }

    /// The latest of what it printed for people.
    pub(super) fn last_words(&self) -> String {
        self.connection.load().as_ref().map(|connection| connection.stderr()).unwrap_or_default()
    }

    /// How much of a sandbox it runs in; nothing where none was asked for.
    pub(super) fn sandbox(&self) -> Option<Applied> {
        self.connection.load().as_ref()?.sandbox()
    }

    /// Notes that it is used.
    fn touch(&self) {
        if self.is_lazy() {
            let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.last_used.store(now, Ordering::Relaxed);
        }
    }

    /// For how long nobody has used it.
    pub(super) fn unused_for(&self) -> Duration {
        let last = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
        self.born.elapsed().saturating_sub(last)
    }

    /// Whether calls are running.
    pub(super) fn is_busy(&self) -> bool {
        self.places.available_permits() < self.settings.max_concurrency
    }

    pub(super) fn state(&self) -> Arc<State> {
        self.state.load_full()
    }

    /// How long a call of a tool may take unless its caller says otherwise, in milliseconds.
    pub(crate) fn time_of(&self, contract: &Contract) -> u64 {
        self.shared.defaults.with(&contract.limits).timeout_ms
    }

    /// Whether it may run this call: what it serves now under that name is what the call was checked
    /// against, or takes these arguments as well and asks for no other leave. What comes back is held against
    /// what the caller was promised in any case.
    pub(crate) fn serves(&self, call: &Running) -> bool {
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

    /// What it offers, as it came or, where it was not reached yet, as it was pinned.
    pub fn offer(&self) -> Option<Arc<Offer>> {
        self.state().offer.clone()
    }

    /// What it has listed itself; nothing where it was not reached.
    pub fn listed(&self) -> Option<Arc<Offer>> {
        self.offer().filter(|offer| offer.listed)
    }

    /// What is pinned of it.
    pub(super) fn pinned(&self) -> Option<Offer> {
        let lock = self.shared.lock.load();
        lock.as_ref()?.upstreams.get(&self.id).map(Pinned::to_offer)
    }

    /// Whether it should be there and was never reached.
    pub(super) fn is_away(&self) -> bool {
        self.settings.enabled && self.state.load().offer.is_none()
    }

    /// What of it may not be called, and why.
    pub fn rejected(&self) -> Vec<Rejected> {
        self.state().rejected.clone()
    }

    /// What of it may not be called, for whoever calls it.
    pub(crate) fn withheld(&self) -> HashMap<String, Withheld> {
        let state = self.state();
        let served =
            |one: &Rejected| state.tools.iter().any(|tool| tool.contract.name == one.served_as);
        let withheld = state.rejected.iter().filter(|one| !served(one)).map(|one| {
            let code = match one.reason {
                Reason::Changed | Reason::NotPinned => codes::CONTRACT_CHANGED,
                _ => codes::NOT_ALLOWED,
            };
            let withheld = Withheld {
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

fn mode(mode: Mode) -> gate::Mode {
    match mode {
        Mode::Enforce => gate::Mode::Enforce,
        Mode::Warn => gate::Mode::Warn,
        Mode::Off => gate::Mode::Off,
    }
}
