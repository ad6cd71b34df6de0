//! How long a request is waited for. While a server waits for the answer to a question, its time does
//! not run.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// The questions of one request.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    open: usize,
    answered: Option<Instant>,
}

/// A question that waits for its answer.
pub(crate) struct Open(Arc<Patience>);

impl Patience {
    /// Somebody is asked.
    pub(crate) fn open(self: &Arc<Self>) -> Open {
        self.state().open += 1;
        Open(Arc::clone(self))
    }

    /// Until when a request is waited for whose time has run out, if longer: it has all of its time
    /// again after each answer.
    pub(crate) fn extended(&self, now: Instant, timeout: Duration) -> Option<Instant> {
        let state = self.state();
        let since = if state.open > 0 { Some(now) } else { state.answered };
        since.map(|since| since + timeout).filter(|deadline| *deadline > now)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.open -= 1;
        state.answered = Some(Instant::now());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_does_not_run_while_somebody_is_asked() {
        const TIMEOUT: Duration = Duration::from_secs(10);
        let patience = Arc::new(Patience::default());
        let later = Instant::now() + Duration::from_secs(1_000);
        assert_eq!(patience.extended(later, TIMEOUT), None);
        let open = patience.open();
        assert_eq!(patience.extended(later, TIMEOUT), Some(later + TIMEOUT));
        drop(open);
        let soon = Instant::now() + Duration::from_secs(4);
        let extended = patience.extended(soon, TIMEOUT).unwrap();
        assert!(extended > soon && extended < soon + TIMEOUT);
        assert_eq!(patience.extended(later, TIMEOUT), None);
    }
}
