//! One upstream: its state, its connection and its slots.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use contract::Contract;
use futures_util::FutureExt;
use gate::{Catalogue, RunningCall};
use guard::process::{SandboxLevel, StartError};
use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{ConfiguredUpstream, HostRules, HostShared, served_tools::ServedTools};
use crate::{
    ServerText,
    circuit_breaker::CircuitBreaker,
    connection::{ConnectError, Connection, Target},
    listings::ServerListings,
    paused_calls::PausedCalls,
    settings::{Overlay, StartMode, UpstreamSettings},
    slots::UpstreamSlots,
};

pub struct Upstream {
    pub id: String,
    pub settings: UpstreamSettings,
    pub(crate) target: Target,
    pub(super) overlays: ArcSwap<BTreeMap<String, Overlay>>,
    pub(super) shared: Arc<HostShared>,
    /// A reload replaces them for an upstream that goes on.
    pub(super) rules: ArcSwap<HostRules>,
    connection: ArcSwapOption<Connection>,
    pub(super) served: ArcSwap<ServedTools>,
    /// Held while listings are admitted.
    pub(super) admission: Mutex<()>,
    /// Calls that wait for the connection listen here.
    state: watch::Sender<UpstreamState>,
    /// Wakes the supervisor of an idle upstream.
    pub(super) wake: Notify,
    /// The calls that run at once.
    pub(crate) slots: Arc<UpstreamSlots>,
    pub(crate) breaker: CircuitBreaker,
    pub(crate) paused_calls: Arc<PausedCalls>,
    pub(super) restarts: AtomicU32,
    /// The time of the last call, in milliseconds after `created`.
    last_used: AtomicU64,
    created: Instant,
    /// Ends the supervisor, and with it the connection.
    pub(super) stop: CancellationToken,
}

/// The state of an upstream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum UpstreamState {
    /// The settings turn it off.
    Disabled,
    /// It is being started, or was there a moment ago and is connected again.
    Starting,
    /// It is connected.
    Ready,
    /// It is not running; the next call starts it.
    Idle,
    /// It cannot be reached, and is tried again.
    Down {
        /// The reason.
        error: String,
        /// Its kind.
        #[serde(skip)]
        cause: DownCause,
    },
}

/// The kind of reason why an upstream cannot be reached. It decides what the operator does next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DownCause {
    /// Its settings cannot be used, such as a variable that is not set.
    Settings,
    ProgramNotFound,
    /// It was not ready within `connect_timeout_ms`.
    Timeout,
    /// Nothing can be reached at its address.
    Address,
    /// Any other; the error says more.
    Other,
}

impl From<&ConnectError> for DownCause {
    fn from(error: &ConnectError) -> Self {
        match error {
            ConnectError::Start(StartError::NotFound { .. }) => Self::ProgramNotFound,
            ConnectError::Address(_) => Self::Address,
            ConnectError::Timeout { .. } => Self::Timeout,
            ConnectError::Start(_) | ConnectError::Version { .. } | ConnectError::Handshake(_) => {
                Self::Other
            }
        }
    }
}

/// The reason why a call cannot be sent.
#[derive(Debug, Clone)]
pub struct Unreachable {
    /// For the caller.
    pub message: String,
    /// For the operator; may quote the server.
    pub detail: String,
    /// The time after which a retry makes sense.
    pub retry_after: Option<Duration>,
}

impl Upstream {
    pub(super) fn new(
        configured: ConfiguredUpstream,
        rules: Arc<HostRules>,
        shared: Arc<HostShared>,
        stop: CancellationToken,
    ) -> Self {
        let mut settings = configured.settings;
        // They are among the overlays, which may change while the connection stays.
        settings.tools.clear();
        let state =
            if settings.enabled { UpstreamState::Starting } else { UpstreamState::Disabled };
        Self {
            slots: UpstreamSlots::new(settings.max_concurrency),
            paused_calls: PausedCalls::new(settings.max_concurrency),
            breaker: CircuitBreaker::new(
                settings.breaker_failures,
                Duration::from_millis(settings.breaker_open_ms),
            ),
            id: configured.id,
            target: configured.target,
            overlays: ArcSwap::from_pointee(configured.overlays),
            settings,
            rules: ArcSwap::new(rules),
            shared,
            connection: ArcSwapOption::empty(),
            served: ArcSwap::default(),
            admission: Mutex::default(),
            state: watch::Sender::new(state),
            wake: Notify::new(),
            restarts: AtomicU32::new(0),
            last_used: AtomicU64::new(0),
            created: Instant::now(),
            stop,
        }
    }

    pub fn state(&self) -> UpstreamState {
        self.state.borrow().clone()
    }

    /// Makes it idle until the next call. Wake-ups of earlier calls are forgotten.
    pub(super) fn set_idle(&self) {
        let _ = self.wake.notified().now_or_never();
        self.set_state(UpstreamState::Idle);
    }

    pub(super) fn set_state(&self, state: UpstreamState) {
        self.state.send_replace(state);
    }

    /// Waits until the attempt to reach it has ended.
    pub(super) async fn settled(&self) {
        let mut state = self.state.subscribe();
        let _ = state.wait_for(|state| *state != UpstreamState::Starting).await;
    }

    /// True if the first call starts it.
    pub(super) fn is_lazy(&self) -> bool {
        self.settings.start == StartMode::Lazy && self.target.is_program()
    }

    pub(super) fn set_connection(&self, connection: Option<Connection>) {
        self.connection.store(connection.map(Arc::new));
    }

    /// The connection to it; waits while it is being made.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, Unreachable> {
        self.note_use();
        if let Some(connection) = self.connection.load_full() {
            return Ok(connection);
        }
        let mut state = self.state.subscribe();
        loop {
            if let Some(connection) = self.connection.load_full() {
                return Ok(connection);
            }
            let now = state.borrow_and_update().clone();
            match now {
                UpstreamState::Down { error, .. } => return Err(self.unreachable(&error)),
                UpstreamState::Disabled => return Err(self.unreachable("it is disabled")),
                UpstreamState::Idle => self.wake.notify_one(),
                UpstreamState::Starting | UpstreamState::Ready => {}
            }
            if state.changed().await.is_err() {
                return Err(self.unreachable("it is stopped"));
            }
        }
    }

    /// The timeout of a tool unless its caller gives another, in milliseconds.
    pub(crate) fn timeout_ms(&self, contract: &Contract) -> u64 {
        self.rules.load().defaults.with(&contract.limits).timeout_ms
    }

    /// True if it may run this call: the tool that it serves now under that name is the one that the call was checked
    /// against, or accepts these arguments as well, with the same effects and approval. The result is checked
    /// against the contract that the caller saw in any case.
    pub(crate) fn serves(&self, call: &RunningCall) -> bool {
        let served = self.served.load();
        let Some(&index) = served.index.get(&call.contract.name) else { return false };
        let now = &served.tools[index];
        Arc::ptr_eq(&now.contract, &call.contract)
            || (now.contract.approval, now.contract.effects)
                == (call.contract.approval, call.contract.effects)
                && !now.input.is_heavy(call.input.to_string().len() as u64)
                && now.input.is_valid(&call.input)
    }

    pub(crate) fn unreachable(&self, reason: &str) -> Unreachable {
        Unreachable {
            message: format!("the upstream `{}` cannot be reached", self.id),
            detail: format!("the upstream `{}`: {reason}", self.id),
            retry_after: Some(Duration::from_secs(1)),
        }
    }

    /// The end of what it printed on stderr.
    pub(super) fn stderr(&self) -> ServerText {
        self.connection.load().as_ref().map(|connection| connection.stderr()).unwrap_or_default()
    }

    /// The part of the sandbox that is in force; none where no sandbox is configured.
    pub(super) fn sandbox(&self) -> Option<SandboxLevel> {
        self.connection.load().as_ref()?.sandbox()
    }

    fn note_use(&self) {
        if self.is_lazy() {
            let now = u64::try_from(self.created.elapsed().as_millis()).unwrap_or(u64::MAX);
            self.last_used.store(now, Ordering::Relaxed);
        }
    }

    /// The time since the last call.
    pub(super) fn idle_time(&self) -> Duration {
        let last = Duration::from_millis(self.last_used.load(Ordering::Relaxed));
        self.created.elapsed().saturating_sub(last)
    }

    /// True while calls run.
    pub(super) fn is_busy(&self) -> bool {
        self.slots.is_busy()
    }

    /// Everything that it lists; while it was not reached, everything that is pinned of it.
    pub fn listings(&self) -> Option<Arc<ServerListings>> {
        self.served.load().listings.clone()
    }

    /// Everything that it has listed itself; none while it was not reached.
    pub fn own_listings(&self) -> Option<Arc<ServerListings>> {
        self.listings().filter(|listings| listings.from_server)
    }

    /// Everything that is pinned of it.
    pub(super) fn pinned_listings(&self) -> Option<ServerListings> {
        let rules = self.rules.load();
        let pinned = rules.lock.as_ref()?.upstreams.get(&self.id)?;
        Some(pinned.to_listings().without_refused())
    }

    /// The reason why the server is not ready, if the settings require this upstream and it does not serve.
    pub fn unready(&self, catalogue: &Catalogue) -> Option<String> {
        let id = &self.id;
        match self.state() {
            _ if !self.settings.required => None,
            UpstreamState::Ready => {
                let lists_some = self.listings().is_some_and(|listings| !listings.tools.is_empty());
                (lists_some && catalogue.toolset(id).is_none())
                    .then(|| format!("no tool of the upstream `{id}` is served"))
            }
            UpstreamState::Starting => Some(format!("the upstream `{id}` is being connected")),
            _ => Some(format!("the upstream `{id}` cannot be reached")),
        }
    }

    /// True if it is enabled and nothing is known of its tools.
    pub(super) fn was_never_reached(&self) -> bool {
        self.settings.enabled && self.served.load().listings.is_none()
    }
}
