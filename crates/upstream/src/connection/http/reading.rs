//! A stream of events, read as messages.

use std::time::Duration;

use bytes::Bytes;
use guard::net::{NetError, NetErrorReason, ResponseBody};

use super::{
    events::{Event, Events, Kind},
    refusal,
};
use crate::connection::RequestError;

/// A stream of events that is being read.
pub(super) struct Reading {
    body: ResponseBody,
    events: Events,
    max_bytes: usize,
    /// Whether anything came that means something.
    pub(super) heard: bool,
}

impl Reading {
    pub(super) fn new(body: ResponseBody, max_bytes: usize) -> Self {
        Self { body, events: Events::new(max_bytes), max_bytes, heard: false }
    }

    /// The next message; nothing when the stream is over. Cancel-safe.
    pub(super) async fn message(&mut self) -> Result<Option<Bytes>, Broken> {
        while let Some(event) = self.event().await? {
            if event.kind == Kind::Message {
                return Ok(Some(event.data));
            }
        }
        Ok(None)
    }

    /// The next event; nothing when the stream is over. Cancel-safe.
    pub(super) async fn event(&mut self) -> Result<Option<Event>, Broken> {
        loop {
            match self.events.next() {
                Ok(Some(event)) => {
                    self.heard = true;
                    return Ok(Some(event));
                }
                Ok(None) => {}
                Err(_) => return Err(Broken::TooLarge(self.max_bytes)),
            }
            match self.body.chunk().await.map_err(Broken::Net)? {
                Some(piece) => self.events.push(piece),
                None => return Ok(None),
            }
        }
    }

    /// From now on it may take so long, or for ever.
    pub(super) fn set_patience(&mut self, patience: Option<Duration>) {
        self.body.set_timeout(patience);
    }

    /// By which the stream can be taken up again, and how long to wait before that.
    pub(super) fn place(&self) -> (Option<&str>, Option<Duration>) {
        (self.events.last_id(), self.events.retry())
    }

    /// It goes on after that event; so long is waited before it is taken up again.
    pub(super) fn begin_after(&mut self, id: &str, wait: Duration) {
        self.events.begin_after(id, wait);
    }

    /// Nothing more is wanted of it.
    pub(super) fn leave(self) {
        self.body.leave();
    }
}

/// Why a stream is over before its time.
#[derive(Debug)]
pub(super) enum Broken {
    /// An event is too large.
    TooLarge(usize),
    /// The connection failed, or took too long.
    Net(NetError),
}

impl Broken {
    /// Whether the connection was cut, so that the stream may be taken up again.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Self::Net(error) if error.reason == NetErrorReason::Network)
    }

    pub(super) fn into_error(self, timeout: Duration) -> RequestError {
        match self {
            Self::TooLarge(max_bytes) => RequestError::TooLarge(max_bytes),
            Self::Net(error) => refusal::of_net(error, timeout, 0),
        }
    }
}

impl std::fmt::Display for Broken {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(max_bytes) => {
                write!(formatter, "an event has more than {max_bytes} bytes (max_message_bytes)")
            }
            Self::Net(error) => write!(formatter, "{error}"),
        }
    }
}
