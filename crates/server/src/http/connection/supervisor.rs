//! The supervisor of all connections, which looks at them at an interval.

use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use gate::Failure;
use tokio::{
    task::AbortHandle,
    time::{Duration, Instant},
};

use super::activity::{BUSY, ConnectionActivity, HEAD, IDLE, NEW, SENDING, has_no_request};
use crate::{
    App, ServerSettings,
    http::{
        places::ConnectionPlaces,
        unread::{UnreadFrame, UnreadResponses},
    },
};

/// The interval at which the supervisor looks.
pub(super) const TICK: Duration = Duration::from_millis(100);

/// After so many ticks a client that takes nothing is given up when the server stops.
pub(super) const STUCK_TICKS: u64 = 10;

/// After so many ticks a client that takes nothing may be given up for others that do.
pub(super) const UNREAD_TICKS: u64 = 2;

/// All the connections that are open.
#[derive(Debug)]
pub(super) struct ConnectionSupervisor {
    /// Every connection that has made a request has a place, health checks aside.
    pub(super) places: ConnectionPlaces,
    clock: Arc<AtomicU64>,
    started: Instant,
    unread: Arc<UnreadResponses>,
    /// The tick since which they take more than they may; 0 if they do not.
    full_since: AtomicU64,
    open: Mutex<Vec<(Arc<ConnectionActivity>, AbortHandle)>>,
}

impl ConnectionSupervisor {
    pub(super) fn new(app: &App) -> Self {
        Self {
            places: ConnectionPlaces::new(&app.settings),
            clock: Arc::default(),
            started: Instant::now(),
            unread: app.unread.clone(),
            full_since: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// The note of a new connection.
    pub(super) fn activity(&self) -> Arc<ConnectionActivity> {
        let unread = UnreadFrame::new(self.unread.clone());
        Arc::new(ConnectionActivity::new(self.started, unread, self.clock.clone()))
    }

    /// Takes a place for a connection that this caller uses, if there is one in time.
    pub(super) async fn take_place(
        &self,
        activity: &ConnectionActivity,
        caller: &str,
        wait: Duration,
    ) -> Result<(), Failure> {
        // That of another caller who used the connection.
        drop(activity.take_place());
        let place = match self.places.try_take(caller) {
            Some(place) => Some(place),
            None if self.end_for(caller) => Some(self.places.take(caller)),
            None if self.places.shares.is_within_share(caller) => {
                tokio::time::timeout(wait, self.places.wait(caller)).await.ok().flatten()
            }
            None => None,
        };
        *activity.place() = Some(place.ok_or_else(|| self.places.failure(caller))?);
        Ok(())
    }

    /// Ends a connection with a place and without a request, so that this caller can have the place: one of its own,
    /// or of somebody who holds more. True if there was one.
    fn end_for(&self, caller: &str) -> bool {
        let shares = &self.places.shares;
        let held = shares.held(caller);
        self.end_oldest(|activity| {
            let place = activity.place();
            place.as_ref().is_some_and(|place| {
                *place.caller == *caller
                    || held.is_none()
                    || shares.held(&place.caller).is_none_or(|others| Some(others) > held)
            })
        })
    }

    /// Makes room for one that has connected. Where all the others have requests to answer, those that wait for a place
    /// are told that there is none.
    pub(super) fn make_room(&self) {
        if !self.end_oldest(|_| true) {
            self.places.crowded.notify_waiters();
        }
    }

    /// Ends that of these connections which has been without a request for longest. True if there was one.
    fn end_oldest(&self, may_end: impl Fn(&ConnectionActivity) -> bool) -> bool {
        let open = self.lock();
        let silent = open.iter().filter(|(activity, task)| {
            has_no_request(activity.phase.load(Relaxed)) && !task.is_finished() && may_end(activity)
        });
        let oldest = silent.min_by_key(|(activity, _)| activity.silent_since.load(Relaxed));
        if let Some((activity, task)) = oldest {
            // The next one to make room ends another.
            activity.phase.store(BUSY, Relaxed);
            task.abort();
            drop(activity.take_place());
        }
        oldest.is_some()
    }

    /// Takes a connection into keeping.
    pub(super) fn supervise(&self, activity: Arc<ConnectionActivity>, task: AbortHandle) {
        self.lock().push((activity, task));
    }

    /// Looks at all connections once: those that are over are forgotten, those that took
    /// too long are ended.
    pub(super) fn tick(&self, settings: &ServerSettings) {
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let ticks = |time: Duration| {
            u64::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).max(1)
        };
        // For the head of a request to come in, of the first one from when the connection is accepted; between requests,
        // and for a client to take what it is sent; for a response to a client that has closed its side.
        let (head, idle) = (ticks(settings.header_timeout), ticks(settings.idle_timeout));
        let half_closed = ticks(settings.half_closed_timeout);
        self.lock().retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let too_long = match activity.phase.load(Relaxed) {
                NEW | HEAD => age > head,
                IDLE | SENDING => age > idle,
                _ => false,
            };
            let closed = activity.half_closed.load(Relaxed);
            let is_gone = closed > 0 && now.saturating_sub(closed) > half_closed;
            if too_long || is_gone {
                task.abort();
            }
            !task.is_finished()
        });
    }

    /// Where the responses that wait for their clients take more than they may, ends the connections whose clients
    /// have taken nothing for longest.
    pub(super) fn end_unread(&self) {
        if !self.unread.is_full() {
            self.full_since.store(0, Relaxed);
            return;
        }
        let now = self.clock.load(Relaxed);
        let _ = self.full_since.compare_exchange(0, now, Relaxed, Relaxed);
        // Nor may those who take a little now and then keep it full.
        let is_lasting = now.saturating_sub(self.full_since.load(Relaxed)) > STUCK_TICKS;
        let least_age = if is_lasting { 0 } else { UNREAD_TICKS };
        let open = self.lock();
        let since = |activity: &ConnectionActivity| activity.since.load(Relaxed);
        let mut deaf: Vec<_> = open
            .iter()
            .filter(|(activity, _)| {
                activity.blocked.load(Relaxed)
                    && activity.unread.bytes() > 0
                    && now.saturating_sub(since(activity)) >= least_age
            })
            .collect();
        deaf.sort_by_key(|(activity, _)| since(activity));
        let mut ended = 0_usize;
        for (activity, task) in deaf {
            if !self.unread.is_full() {
                break;
            }
            task.abort();
            ended += 1;
            // At once: ticks that were late come together.
            activity.unread.set(0);
        }
        if ended > 0 {
            let max_bytes = self.unread.max_bytes();
            tracing::warn!(
                connections = ended,
                "closed connections whose clients do not read their responses: more than {max_bytes} bytes \
                 wait (server.max_unread_bytes)"
            );
        }
    }

    /// Ends the connections that do nothing; tells how many are still at work.
    pub(super) fn end_idle(&self) -> usize {
        // One that moved a byte within the last two ticks may be in the middle of an answer.
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let mut open = self.lock();
        open.retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let idle = matches!(activity.phase.load(Relaxed), IDLE | NEW) && age > 2;
            // A client that takes nothing does not keep a server from stopping.
            let stuck = activity.blocked.load(Relaxed) && age > STUCK_TICKS;
            if idle || stuck {
                task.abort();
            }
            !task.is_finished()
        });
        open.len()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<ConnectionActivity>, AbortHandle)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
