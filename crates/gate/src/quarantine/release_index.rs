//! The released entries that a process knows of, so that calls need not ask the store.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use arc_swap::ArcSwap;

use crate::{Store, Timestamp};

/// After this time every process knows what any process has released. What it released itself
/// it knows at once.
pub const NOTICED_AFTER: Duration = Duration::from_millis(500);

/// The hashes of the arguments whose outputs are released. They may be fewer in the store: there
/// is decided who gets one.
#[derive(Debug)]
pub(crate) struct ReleaseIndex {
    born: Instant,
    /// The time at which the store was last read, in microseconds since `born`; the very first time is
    /// never.
    looked: AtomicU64,
    /// Held by whoever changes what is known, so that nobody who looked before another released
    /// something forgets it again.
    changing: Mutex<()>,
    any: AtomicBool,
    hashes: ArcSwap<HashSet<String>>,
}

impl ReleaseIndex {
    pub(crate) fn new() -> Self {
        Self {
            born: Instant::now(),
            looked: AtomicU64::new(0),
            changing: Mutex::default(),
            any: AtomicBool::new(false),
            hashes: ArcSwap::default(),
        }
    }

    /// True if others may have released something that is not known here. By the time of the
    /// call and not by a timer: whoever calls late enough is certain to get what was released.
    pub(crate) fn is_stale(&self, call: Instant) -> bool {
        let looked = self.looked.load(Ordering::Acquire);
        looked == 0 || self.micros(call).saturating_sub(looked) >= micros(NOTICED_AFTER)
    }

    /// Looks at the store, at most once in that time.
    pub(crate) fn look(&self, store: &dyn Store, call: Instant, now: Timestamp) {
        let _changing = self.change();
        if !self.is_stale(call) {
            return;
        }
        let began = self.micros(Instant::now());
        match store.released(now) {
            Ok(hashes) => {
                self.any.store(!hashes.is_empty(), Ordering::Release);
                self.hashes.store(Arc::new(hashes.into_iter().collect()));
            }
            // What is known stays known; the next look comes when it is due.
            Err(error) => tracing::warn!(%error, "released entries could not be looked for"),
        }
        self.looked.store(began.max(1), Ordering::Release);
    }

    /// This process has released the output to these arguments.
    pub(crate) fn add(&self, input_sha256: &str) {
        let _changing = self.change();
        let mut known = HashSet::clone(&self.hashes.load());
        known.insert(input_sha256.to_owned());
        self.hashes.store(Arc::new(known));
        self.any.store(true, Ordering::Release);
    }

    /// True if the output to these arguments may be released.
    pub(crate) fn may_have(&self, input_sha256: &str) -> bool {
        self.any.load(Ordering::Acquire) && self.hashes.load().contains(input_sha256)
    }

    fn change(&self) -> MutexGuard<'_, ()> {
        self.changing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn micros(&self, at: Instant) -> u64 {
        micros(at.saturating_duration_since(self.born))
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}
