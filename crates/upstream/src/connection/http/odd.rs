//! What a server sends that cannot be used.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::connection::Oddities;

/// The count of it.
#[derive(Debug, Default)]
pub(super) struct Odd(Mutex<Oddities>);

impl Odd {
    /// An event that is no message.
    pub(super) fn garbage(&self, event: &[u8], why: &str) {
        tracing::debug!(why, "an event of a server is no message");
        self.lock().garbage(event);
    }

    /// An event that is longer than we take.
    pub(super) fn too_long(&self) {
        self.lock().too_long += 1;
    }

    /// An answer to nothing that we wait for.
    pub(super) fn unexpected(&self) {
        self.lock().unexpected += 1;
    }

    pub(super) fn so_far(&self) -> Oddities {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Oddities> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
