//! One upstream: what is known of it, and the way to it.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::{ArcSwap, ArcSwapOption};
use futures_util::FutureExt;
use guard::process::SandboxLevel;
use serde::Serialize;
use tokio::sync::{Notify, Semaphore, watch};

use super::{Configured, Shared, served::State};
use crate::{
    breaker::Breaker,
    connection::{Connection, Target},
    lock::Pinned,
    offer::Offer,
    parking::Parking,
    settings::{Overlay, Start, Upstream},
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
    pub(super) state: ArcSwap<State>,
    /// Held by who judges what is offered.
    pub(super) judging: Mutex<()>,
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
    pub(super) fn sandbox(&self) -> Option<SandboxLevel> {
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
}
