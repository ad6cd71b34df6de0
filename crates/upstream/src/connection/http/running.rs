//! The requests that are under way, for what is said about them beside their own answers.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::mpsc;

use super::{
    odd::Odd,
    said::{Opened, Said},
};
use crate::connection::{CALLS, Happening, Reply, RequestError, abandoned::Abandoned, questions};

/// How many notes may wait for who reads them; further ones are lost.
const MAX_NOTES: usize = 64;

/// Something that is said about a request.
#[derive(Debug)]
pub(super) enum Aside {
    /// A note.
    Note(Happening),
    /// A question.
    Question(Opened),
    /// Its end, where that comes this way. There is always room for it.
    End(Result<Reply, RequestError>),
}

/// The requests that are under way.
#[derive(Debug, Clone, Default)]
pub(super) struct Running(Arc<Mutex<Table>>);

#[derive(Debug, Default)]
struct Table {
    requests: BTreeMap<u64, Entry>,
    abandoned: Abandoned,
}

#[derive(Debug)]
struct Entry {
    /// Whether somebody called it who could be asked something back.
    called: bool,
    sender: mpsc::Sender<Aside>,
}

/// A request among them, until it is dropped.
pub(super) struct Place {
    id: u64,
    running: Running,
    pub(super) asides: mpsc::Receiver<Aside>,
}

impl Place {
    /// Nobody waits for it any more, and the server may still work on it.
    pub(super) fn abandon(&self) {
        let mut table = self.running.lock();
        if table.requests.get(&self.id).is_some_and(|entry| entry.called) {
            table.abandoned.add(self.id);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.running.lock().requests.remove(&self.id);
    }
}

impl Running {
    /// Puts a request among them.
    pub(super) fn enter(&self, id: u64, method: &str) -> Place {
        // One more, for the end.
        let (sender, asides) = mpsc::channel(MAX_NOTES + 1);
        let called = CALLS.contains(&method);
        self.lock().requests.insert(id, Entry { called, sender });
        Place { id, running: self.clone(), asides }
    }

    /// Hands on what is said beside all answers; what has to be sent back, if anything.
    pub(super) fn hand_on(&self, said: Said, oddities: &Odd) -> Option<bytes::Bytes> {
        match said {
            Said::Answer(id, outcome) => {
                let entry = id.and_then(|id| {
                    let mut table = self.lock();
                    table.abandoned.finish(id);
                    table.requests.remove(&id)
                });
                match entry {
                    Some(entry) => drop(entry.sender.try_send(Aside::End(outcome))),
                    None => oddities.unexpected(),
                }
                None
            }
            Said::Progress(id, note) => {
                if let Some(entry) = self.lock().requests.get(&id) {
                    try_note(&entry.sender, Aside::Note(note));
                }
                None
            }
            Said::Log(note) => {
                if let Some(sender) = self.only() {
                    try_note(&sender, Aside::Note(note));
                }
                None
            }
            Said::Answered(message) => Some(message),
            Said::Asked(opened) => {
                let id = opened.id.clone();
                // With several under way nobody knows whose question it is.
                let taken = self.only().is_some_and(|to| try_note(&to, Aside::Question(opened)));
                (!taken).then(|| questions::nobody(&id))
            }
            Said::Changed(_) => None,
        }
    }

    /// All of them end like this.
    pub(super) fn end(&self, error: &RequestError) {
        let all = std::mem::take(&mut self.lock().requests);
        for entry in all.into_values() {
            let _ = entry.sender.try_send(Aside::End(Err(error.clone())));
        }
    }

    /// The one that somebody called, where there is no other.
    fn only(&self) -> Option<mpsc::Sender<Aside>> {
        let mut table = self.lock();
        if table.abandoned.any() {
            return None;
        }
        let mut called = table.requests.values().filter(|entry| entry.called);
        let first = called.next()?;
        called.next().is_none().then(|| first.sender.clone())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends a note if there is room for the end after it.
fn try_note(sender: &mpsc::Sender<Aside>, note: Aside) -> bool {
    sender.capacity() > 1 && sender.try_send(note).is_ok()
}
