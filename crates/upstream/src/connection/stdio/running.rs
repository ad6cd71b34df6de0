//! The requests that a child works on, by their numbers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::{mpsc, oneshot};

use crate::connection::{
    Asked, CALLS, Happening, Reply, RequestError, abandoned::Abandoned, patience::Patience,
};

/// How many notes wait for who follows a request. One that finds no room is lost, and a question that
/// finds none is answered as if nobody could be asked: a child is never waited for.
const MAX_NOTES: usize = 64;

/// How a request ends.
pub(super) type Outcome = Result<Reply, RequestError>;

/// All that run.
#[derive(Debug, Default)]
pub(super) struct Running {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    requests: BTreeMap<u64, Entry>,
    abandoned: Abandoned,
    /// Why there can be no more.
    over: Option<String>,
}

#[derive(Debug)]
struct Entry {
    method: &'static str,
    notes: mpsc::Sender<Happening>,
    end: oneshot::Sender<Outcome>,
    patience: Arc<Patience>,
}

/// The other side of a request.
pub(super) struct Followed {
    /// Ends before the outcome is there, and after everything that came before it.
    pub(super) notes: mpsc::Receiver<Happening>,
    pub(super) end: oneshot::Receiver<Outcome>,
    pub(super) patience: Arc<Patience>,
}

impl Running {
    /// Waits for the answer to a request from now on.
    pub(super) fn begin(&self, id: u64, method: &'static str) -> Result<Followed, RequestError> {
        let (sender, notes) = mpsc::channel(MAX_NOTES);
        let (end, ended) = oneshot::channel();
        let patience = Arc::new(Patience::default());
        let mut table = self.table();
        if let Some(why) = &table.over {
            return Err(RequestError::NotSent(why.clone()));
        }
        let entry = Entry { method, notes: sender, end, patience: Arc::clone(&patience) };
        table.requests.insert(id, entry);
        Ok(Followed { notes, end: ended, patience })
    }

    /// A request is over. Says whether anybody waited for it.
    pub(super) fn finish(&self, id: u64, outcome: impl FnOnce() -> Outcome) -> bool {
        let mut table = self.table();
        let Some(entry) = table.requests.remove(&id) else {
            table.abandoned.finish(id);
            return false;
        };
        drop(table);
        let _ = entry.end.send(outcome());
        true
    }

    /// Nobody waits for a request any more. Says whether it was still running.
    pub(super) fn forget(&self, id: u64) -> bool {
        let mut table = self.table();
        let Some(entry) = table.requests.remove(&id) else { return false };
        if entry.is_call() {
            table.abandoned.add(id);
        }
        true
    }

    /// Something happened to a request.
    pub(super) fn note(&self, id: u64, note: Happening) {
        if let Some(entry) = self.table().requests.get(&id) {
            let _ = entry.notes.try_send(note);
        }
    }

    /// A line of the log. It does not say which request it belongs to, so that only one that runs alone
    /// gets it: another caller must not read what is none of his.
    pub(super) fn log(&self, line: Happening) {
        if let Some(entry) = self.table().only_call() {
            let _ = entry.notes.try_send(line);
        }
    }

    /// A question: of the request with this number if the server says so, else of the one call that it
    /// works on; with several nobody knows whose it is. Where it reaches nobody it is dropped, which
    /// answers it.
    pub(super) fn ask(&self, token: Option<u64>, question: Asked) -> Option<Arc<Patience>> {
        let mut table = self.table();
        let entry = match token {
            Some(token) => table.requests.get(&token)?,
            None => table.only_call()?,
        };
        entry.notes.try_send(Happening::Asked(question)).ok()?;
        Some(Arc::clone(&entry.patience))
    }

    /// The connection is gone, and with it all requests.
    pub(super) fn end(&self, why: &str) {
        let mut table = self.table();
        table.over = Some(why.to_owned());
        let requests = std::mem::take(&mut table.requests);
        drop(table);
        for (_, entry) in requests {
            let _ = entry.end.send(Err(RequestError::Lost(why.to_owned())));
        }
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The call that the server works on, where there is no other.
    fn only_call(&mut self) -> Option<&Entry> {
        if self.abandoned.any() {
            return None;
        }
        let mut calls = self.requests.values().filter(|entry| entry.is_call());
        let first = calls.next()?;
        calls.next().is_none().then_some(first)
    }
}

impl Entry {
    fn is_call(&self) -> bool {
        CALLS.contains(&self.method)
    }
}
