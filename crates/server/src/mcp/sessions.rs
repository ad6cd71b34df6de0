//! All the sessions of the HTTP door, bounded in number and in idle time.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use super::session::Session;

/// All the sessions of the HTTP door, bounded in number and in idle time.
pub(crate) struct Sessions {
    all: RwLock<HashMap<Box<str>, Arc<Session>>>,
    max: usize,
    idle: Duration,
}

impl Sessions {
    pub(crate) fn new(max: usize, idle: Duration) -> Self {
        Self { all: RwLock::default(), max, idle }
    }

    /// Takes a session in. Where there is no room, the one goes that was idle for longest, of
    /// the same caller if there is one: clients that never say goodbye must not keep others out.
    pub(crate) fn insert(&self, session: &Arc<Session>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= self.max {
            let oldest = all
                .values()
                .min_by_key(|one| (one.is_busy(), one.caller != session.caller, one.idle().0))
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
        session.touch();
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
        let old = |session: &Session| session.idle().1 >= self.idle && !session.is_busy();
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
