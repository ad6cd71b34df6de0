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

    /// Takes a session in. Where there is no room, another one goes: clients that never say
    /// goodbye must not keep others out.
    pub(crate) fn insert(&self, session: &Arc<Session>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= self.max {
            let Some(gone) = least_missed(&all).and_then(|id| all.remove(&id)) else { break };
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

/// Of the caller who has most, the session that was idle for longest.
fn least_missed(all: &HashMap<Box<str>, Arc<Session>>) -> Option<Box<str>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for session in all.values() {
        *counts.entry(session.caller.name()).or_default() += 1;
    }
    let (caller, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let theirs = all.values().filter(|session| session.caller.name() == caller);
    theirs.min_by_key(|one| (one.is_busy(), one.idle().0)).map(|one| one.id.clone())
}
