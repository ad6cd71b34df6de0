//! The requests of one client that are not answered yet, so that it can lose interest in them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use super::rpc::Id;

/// How many requests of one client may be open at once.
const MAX_OPEN: usize = 256;

/// Requests by name.
#[derive(Debug, Default)]
pub(crate) struct Requests(Mutex<Opened>);

#[derive(Debug, Default)]
struct Opened {
    by_id: HashMap<Id, (u64, CancellationToken)>,
    /// Tells one request from a later one of the same name.
    last: u64,
    /// How many are under way, those that nobody waits for included.
    count: usize,
}

impl Requests {
    /// Remembers a request; refused where its name is taken or there are too many.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &Id,
        stop: &CancellationToken,
    ) -> Result<Open, &'static str> {
        let mut opened = self.lock();
        if opened.count >= MAX_OPEN {
            return Err("too many requests are open");
        }
        if opened.by_id.contains_key(id) {
            return Err("the id is that of a request which is not answered yet");
        }
        opened.last += 1;
        opened.count += 1;
        let number = opened.last;
        opened.by_id.insert(id.clone(), (number, stop.clone()));
        Ok(Open { requests: self.clone(), id: id.clone(), number })
    }

    /// The client has lost interest in a request.
    pub(crate) fn cancel(&self, id: &Id) {
        if let Some((_, stop)) = self.lock().by_id.remove(id) {
            stop.cancel();
        }
    }

    /// We come to an end: everything stops, and is answered as what it has come to.
    pub(crate) fn stop_all(&self) {
        for (_, stop) in self.lock().by_id.values() {
            stop.cancel();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().count == 0
    }

    fn lock(&self) -> MutexGuard<'_, Opened> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is not answered yet, until this is dropped.
pub(crate) struct Open {
    requests: Arc<Requests>,
    id: Id,
    number: u64,
}

impl Open {
    /// Whether the client has lost interest, and wants no answer.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.requests.lock().by_id.get(&self.id).is_none_or(|(number, _)| *number != self.number)
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let mut opened = self.requests.lock();
        opened.count -= 1;
        if opened.by_id.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            opened.by_id.remove(&self.id);
        }
    }
}
