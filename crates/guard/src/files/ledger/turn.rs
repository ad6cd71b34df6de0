//! Writers of one process take turns. The lock of a file has no queue: whoever tries it again and again may never get it.

use std::{
    sync::{Condvar, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::sync::CancellationToken;

use super::LedgerError;

/// The time after which a waiting writer looks whether it was cancelled.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

#[derive(Default)]
pub(super) struct WriterTurn {
    is_taken: Mutex<bool>,
    freed: Condvar,
}

/// The turn of a writer, until it is dropped.
pub(super) struct TurnGuard<'a>(&'a WriterTurn);

impl WriterTurn {
    /// Waits for a turn; none where the deadline came first.
    pub(super) fn take(
        &self,
        deadline: Instant,
        stop: &CancellationToken,
    ) -> Result<Option<TurnGuard<'_>>, LedgerError> {
        let mut is_taken = self.is_taken.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if stop.is_cancelled() {
                return Err(LedgerError::Cancelled);
            }
            if !*is_taken {
                *is_taken = true;
                return Ok(Some(TurnGuard(self)));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            let waited = self.freed.wait_timeout(is_taken, left.min(LOOK_AGAIN));
            is_taken = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        *self.0.is_taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.freed.notify_one();
    }
}
