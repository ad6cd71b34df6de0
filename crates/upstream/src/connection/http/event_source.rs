//! An event stream, read as messages, and resumed where it broke off (legacy).

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use guard::net::{
    NetError, NetErrorReason, ResponseBody,
    event_stream::{EventStreamParser, EventTooLarge, ServerSentEvent},
};
use tokio::time::Instant;

use super::{
    client::{McpHttpClient, is_event_stream},
    rejection,
};
use crate::connection::RequestError;

/// An event stream that is being read.
pub(super) struct EventSource {
    body: ResponseBody,
    parser: EventStreamParser,
    max_bytes: usize,
    /// True if any event has come.
    pub(super) has_events: bool,
}

impl EventSource {
    pub(super) fn new(body: ResponseBody, max_bytes: usize) -> Self {
        Self { body, parser: EventStreamParser::new(max_bytes), max_bytes, has_events: false }
    }

    /// The next message; nothing at the end of the stream. Cancel-safe.
    pub(super) async fn message(&mut self) -> Result<Option<Bytes>, StreamError> {
        while let Some(event) = self.event().await? {
            if event.name.is_none() {
                return Ok(Some(event.data));
            }
        }
        Ok(None)
    }

    /// The next event; nothing at the end of the stream. Cancel-safe.
    pub(super) async fn event(&mut self) -> Result<Option<ServerSentEvent>, StreamError> {
        loop {
            match self.parser.next_event() {
                Ok(Some(event)) => {
                    self.has_events = true;
                    return Ok(Some(event));
                }
                Ok(None) => {}
                Err(EventTooLarge) => return Err(StreamError::TooLarge(self.max_bytes)),
            }
            match self.body.chunk().await.map_err(StreamError::Net)? {
                Some(piece) => self.parser.push(piece),
                None => return Ok(None),
            }
        }
    }

    /// Sets how long it may take from now on; nothing is for ever.
    pub(super) fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.body.set_timeout(timeout);
    }

    /// The id of the last event, and how long to wait before the stream is resumed.
    pub(super) fn resume_point(&self) -> (Option<&str>, Option<Duration>) {
        (self.parser.last_id(), self.parser.retry())
    }

    /// Lets go of the rest.
    pub(super) fn leave(self) {
        self.body.leave();
    }
}

/// A stream that broke off before the response.
pub(super) struct BrokenStream {
    pub(super) last_event_id: String,
    /// The time to wait.
    pub(super) wait: Duration,
    /// The deadline of the request, if its time runs.
    pub(super) deadline: Option<Instant>,
    /// The timeout of the request.
    pub(super) timeout: Duration,
    /// The largest event, in bytes.
    pub(super) max_bytes: usize,
}

/// Waits, and asks for what comes after the last event.
pub(super) async fn resume(
    client: Arc<McpHttpClient>,
    broken: BrokenStream,
) -> Result<EventSource, RequestError> {
    let BrokenStream { last_event_id, wait, deadline, timeout, max_bytes } = broken;
    if let Some(deadline) = deadline
        && Instant::now() + wait >= deadline
    {
        tokio::time::sleep_until(deadline).await;
        return Err(RequestError::timeout(timeout));
    }
    tokio::time::sleep(wait).await;
    let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
    let response = client.get(Some(&last_event_id), left.unwrap_or(timeout)).await;
    let response = response.map_err(|error| rejection::network_error(error, timeout, max_bytes))?;
    if is_event_stream(&response) {
        let mut source = EventSource::new(response.body, max_bytes);
        source.parser.resume_after(&last_event_id, wait);
        return Ok(source);
    }
    let status = response.status.as_u16();
    response.body.leave();
    Err(RequestError::Lost(format!(
        "the stream ended before the response and cannot be resumed (status {status})"
    )))
}

/// The reason why a stream ended before its time.
#[derive(Debug)]
pub(super) enum StreamError {
    /// An event is too large.
    TooLarge(usize),
    /// The connection failed, or took too long.
    Net(NetError),
}

impl StreamError {
    /// Says whether the connection was cut, so that the stream may be resumed.
    pub(super) fn is_cut(&self) -> bool {
        matches!(self, Self::Net(error) if error.reason == NetErrorReason::Network)
    }

    pub(super) fn into_error(self, timeout: Duration) -> RequestError {
        match self {
            Self::TooLarge(max_bytes) => RequestError::TooLarge(max_bytes),
            Self::Net(error) => rejection::network_error(error, timeout, 0),
        }
    }
}

impl std::fmt::Display for StreamError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge(max_bytes) => {
                write!(formatter, "an event has more than {max_bytes} bytes (max_message_bytes)")
            }
            Self::Net(error) => write!(formatter, "{error}"),
        }
    }
}
