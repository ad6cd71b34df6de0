//! Calls that nobody waits for any more, and that a server may still be working on. What it asks
//! meanwhile, without saying on whose behalf, may belong to one of them.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// For how long a server is taken to be working on a call that it was told to leave. It need not tell
/// when it has.
const PATIENCE: Duration = Duration::from_mins(1);
/// How many of them are remembered; of more than that the earliest are taken to be over.
const MOST: usize = 256;

/// Calls that were left, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Abandoned(BTreeMap<u64, Instant>);

impl Abandoned {
    /// Nobody waits for this one any more.
    pub(crate) fn add(&mut self, id: u64) {
        if self.0.len() >= MOST {
            self.0.pop_first();
        }
        self.0.insert(id, Instant::now());
    }

    /// The server is done with it. Says whether it was one of them.
    pub(crate) fn finish(&mut self, id: u64) -> bool {
        self.0.remove(&id).is_some()
    }

    /// Whether the server may be working on any.
    pub(crate) fn any(&mut self) -> bool {
        self.0.retain(|_, since| since.elapsed() < PATIENCE);
        !self.0.is_empty()
    }
}
