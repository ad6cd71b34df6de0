//! All the sessions of the HTTP door, bounded in number and in idle time.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use super::session::Session;

/// All the sessions of the HTTP door, bounded in number and in idle time.
pub(crate) struct Sessions {
    all: RwLock<HashMap<Box<str>, Arc<Session>>>,
    began: Instant,
    max: usize,
    idle: Duration,
}

impl Sessions {
    pub(crate) fn new(max: usize, idle: Duration) -> Self {
        Self { all: RwLock::default(), began: Instant::now(), max, idle }
    }

    fn now(&self) -> u64 {
        self.began.elapsed().as_secs()
    }

    /// Takes a session in. Where there is no room, the one goes that was idle for longest:
    /// clients that never say goodbye must not keep others out.
    pub(crate) fn insert(&self, session: &Arc<Session>) {
        session.last_used.store(self.now(), Relaxed);
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= self.max {
            let oldest = all
                .values()
                .min_by_key(|one| (one.is_busy(), one.last_used.load(Relaxed)))
                .map(|one| one.id.clone());
            let Some(gone) = oldest.and_then(|id| all.remove(&id)) else { break };
            gone.end();
        }
        all.insert(session.id.clone(), session.clone());
    }

    /// The session of that name, used now.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let session = all.get(id)?;
        session.last_used.store(self.now(), Relaxed);
        Some(session.clone())
    }

    /// Ends a session.
    pub(crate) fn remove(&self, id: &str) {
        let gone = self.all.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(gone) = gone {
            gone.end();
        }
    }

    /// Ends the sessions that have been idle for too long.
    pub(crate) fn sweep(&self) {
        let (now, idle) = (self.now(), self.idle.as_secs().max(1));
        let old = |session: &Session| {
            now.saturating_sub(session.last_used.load(Relaxed)) >= idle && !session.is_busy()
        };
        let any = {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            all.values().any(|session| old(session))
        };
        if !any {
            return;
        }
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, session| {
            let keep = !old(session);
            if !keep {
                session.end();
            }
            keep
        });
        // A table that was large once would stay so.
        all.shrink_to_fit();
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.all.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}
