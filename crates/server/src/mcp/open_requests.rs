//! The requests of one client that have no response yet, so that it can cancel them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use mcp::Id;

/// The number of requests of one client that may be open at once.
const MAX_OPEN: usize = 256;

/// Requests by id.
#[derive(Debug, Default)]
pub(crate) struct OpenRequests(Mutex<OpenRequestTable>);

#[derive(Debug, Default)]
struct OpenRequestTable {
    by_id: HashMap<Id, (u64, CancellationToken)>,
    /// Tells one request from a later one of the same id.
    last: u64,
    /// The number of those that run, cancelled ones included.
    count: usize,
}

impl OpenRequests {
    /// Remembers a request; refused where its id is taken or there are too many.
    pub(crate) fn begin(
        self: &Arc<Self>,
        id: &Id,
        stop: &CancellationToken,
    ) -> Result<OpenRequest, &'static str> {
        let mut opened = self.lock();
        if opened.count >= MAX_OPEN {
            return Err("too many requests are open");
        }
        if opened.by_id.contains_key(id) {
            return Err("the id is in use: its request has no response yet");
        }
        opened.last += 1;
        opened.count += 1;
        let number = opened.last;
        opened.by_id.insert(id.clone(), (number, stop.clone()));
        Ok(OpenRequest { requests: self.clone(), id: id.clone(), number })
    }

    pub(crate) fn cancel(&self, id: &Id) {
        if let Some((_, stop)) = self.lock().by_id.remove(id) {
            stop.cancel();
        }
    }

    /// Cancels all requests; each gets its response.
    pub(crate) fn stop_all(&self) {
        for (_, stop) in self.lock().by_id.values() {
            stop.cancel();
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().count == 0
    }

    fn lock(&self) -> MutexGuard<'_, OpenRequestTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that has no response yet, until this is dropped.
pub(crate) struct OpenRequest {
    requests: Arc<OpenRequests>,
    id: Id,
    number: u64,
}

impl OpenRequest {
    /// True if the client has cancelled it, and wants no response.
    pub(crate) fn was_cancelled(&self) -> bool {
        self.requests.lock().by_id.get(&self.id).is_none_or(|(number, _)| *number != self.number)
    }
}

impl Drop for OpenRequest {
    fn drop(&mut self) {
        let mut opened = self.requests.lock();
        opened.count -= 1;
        if opened.by_id.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            opened.by_id.remove(&self.id);
        }
    }
}
