//! The events of a connection, beside all requests.

use std::sync::atomic::{AtomicBool, Ordering};

use mcp::ListKind;
use tokio::sync::{mpsc, mpsc::error::TrySendError};

/// An event of a connection, beside all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// A listing may have changed.
    ListChanged(ListKind),
    /// The connection is closed, and why.
    Closed(String),
}

/// Sends the events of a connection. One that finds no room is lost except `Closed`, which is always the
/// last: whoever gets any reads all listings again.
#[derive(Debug)]
pub(crate) struct ConnectionEventSender {
    events: mpsc::Sender<ConnectionEvent>,
    closed: AtomicBool,
}

impl ConnectionEventSender {
    pub(crate) fn new(events: mpsc::Sender<ConnectionEvent>) -> Self {
        Self { events, closed: AtomicBool::new(false) }
    }

    pub(crate) fn list_changed(&self, list: ListKind) {
        // One slot is kept for the last.
        if !self.is_closed() && self.events.capacity() > 1 {
            let _ = self.events.try_send(ConnectionEvent::ListChanged(list));
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Sends the last event, which is never lost.
    pub(crate) fn closed(&self, why: impl Into<String>) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let event = ConnectionEvent::Closed(why.into());
        if let Err(TrySendError::Full(event)) = self.events.try_send(event) {
            let events = self.events.clone();
            super::spawn(async move {
                let _ = events.send(event).await;
            });
        }
    }
}
