//! The activity of a connection: a few atomics, which the supervisor looks at.

use std::{
    io,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    response::Response,
};
use futures_util::task::AtomicWaker;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::tracked::{RequestBody, TrackedBody};
use crate::http::{places::ConnectionPlace, unread::UnreadFrame};

/// Between requests.
pub(super) const IDLE: u8 = 0;
/// Nothing has come in yet.
pub(super) const NEW: u8 = 4;
/// A request has begun to come in.
pub(super) const HEAD: u8 = 1;
/// A request is being answered.
pub(super) const BUSY: u8 = 2;
/// A long answer is being sent.
pub(super) const SENDING: u8 = 3;
/// The rest of a request's body is waited for.
pub(super) const BODY: u8 = 5;

/// True if there is no whole request to answer: such a connection may be ended to make room.
pub(super) fn has_no_request(phase: u8) -> bool {
    matches!(phase, IDLE | NEW | HEAD | BODY)
}

/// The activity of a connection, and since which tick.
#[derive(Debug)]
pub(super) struct ConnectionActivity {
    pub(super) phase: AtomicU8,
    pub(super) since: AtomicU64,
    /// The microseconds from the start of the server to when it became one without a request.
    pub(super) silent_since: AtomicU64,
    started: Instant,
    /// True if the client has left no room for what it is sent.
    pub(super) blocked: AtomicBool,
    /// Its place among `max_connections`, once it has made a request.
    place: Mutex<Option<ConnectionPlace>>,
    /// The tick at which the client closed its side before it had its response; 0 if it did not.
    pub(super) half_closed: AtomicU64,
    /// Woken when such a client has its response.
    reader: AtomicWaker,
    pub(super) unread: UnreadFrame,
    clock: Arc<AtomicU64>,
}

impl ConnectionActivity {
    /// The note of a new connection.
    pub(super) fn new(started: Instant, unread: UnreadFrame, clock: Arc<AtomicU64>) -> Self {
        let activity = Self {
            phase: AtomicU8::new(NEW),
            since: AtomicU64::new(0),
            silent_since: AtomicU64::new(0),
            started,
            blocked: AtomicBool::new(false),
            place: Mutex::default(),
            half_closed: AtomicU64::new(0),
            reader: AtomicWaker::new(),
            unread,
            clock,
        };
        activity.enter(NEW);
        activity
    }

    pub(super) fn enter(&self, phase: u8) {
        self.phase.store(phase, Relaxed);
        self.touch();
        if has_no_request(phase) {
            self.note_silence();
        }
    }

    /// Notes when it was last known to do something: a tick is too long to tell who has been silent for longest.
    pub(super) fn note_silence(&self) {
        let now = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.silent_since.store(now, Relaxed);
    }

    /// Notes how an attempt to write ended.
    pub(super) fn wrote(&self, result: &Poll<io::Result<usize>>) {
        match result {
            Poll::Ready(_) => {
                self.blocked.store(false, Relaxed);
                self.touch();
            }
            Poll::Pending => self.blocked.store(true, Relaxed),
        }
    }

    /// Notes how an attempt to send what was written ended: encryption keeps some of it. A plain connection has nothing
    /// left to send.
    pub(super) fn flushed(&self, result: &Poll<io::Result<()>>) {
        let is_blocked = result.is_pending();
        if is_blocked != self.blocked.load(Relaxed) {
            self.blocked.store(is_blocked, Relaxed);
        }
    }

    fn touch(&self) {
        self.since.store(self.clock.load(Relaxed), Relaxed);
    }

    pub(super) fn place(&self) -> MutexGuard<'_, Option<ConnectionPlace>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn has_place_of(&self, caller: &str) -> bool {
        self.place().as_ref().is_some_and(|place| *place.caller == *caller)
    }

    pub(super) fn take_place(&self) -> Option<ConnectionPlace> {
        self.place().take()
    }

    /// Moves on, if the connection is still in that phase.
    pub(super) fn pass(&self, from: u8, to: u8) {
        let _ = self.phase.compare_exchange(from, to, Relaxed, Relaxed);
    }

    /// A request is being answered, until the guard is dropped.
    pub(super) fn busy(self: &Arc<Self>) -> BusyGuard {
        self.enter(BUSY);
        BusyGuard(self.clone())
    }

    /// Notes that the client has closed its side. True if it may still be waiting for a response: a client that has
    /// nothing more to send cannot be told from one that went away.
    pub(super) fn may_wait(&self, context: &Context<'_>) -> bool {
        self.reader.register(context.waker());
        let is_waiting = matches!(self.phase.load(Relaxed), BUSY | SENDING | BODY);
        if is_waiting && self.half_closed.load(Relaxed) == 0 {
            self.half_closed.store(self.clock.load(Relaxed).max(1), Relaxed);
        }
        is_waiting
    }
}

/// Ends the answering of a request, also one that was given up.
pub(super) struct BusyGuard(pub(super) Arc<ConnectionActivity>);

/// The largest response that the system takes at one go, in bytes.
pub(super) const SHORT_ANSWER_BYTES: u64 = 65_536;

impl BusyGuard {
    /// The body of the request, which tells whether it is waited for.
    pub(super) fn request_body(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            return Body::new(body);
        }
        Body::new(RequestBody { body, activity: self.0.clone() })
    }

    /// The answer; one that takes a while to send is part of the answering until it is sent.
    pub(super) fn until_sent(self, response: Response) -> Response {
        let short = response.body().size_hint().exact();
        if short.is_some_and(|bytes| bytes <= SHORT_ANSWER_BYTES) {
            return response;
        }
        self.0.enter(SENDING);
        response.map(|body| Body::new(TrackedBody { body, busy: self }))
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.enter(IDLE);
        self.0.unread.set(0);
        if self.0.half_closed.load(Relaxed) > 0 {
            self.0.reader.wake();
        }
    }
}
