//! A response as JSON, or as an event stream where messages come before it.

use std::{collections::VecDeque, time::Duration};

use axum::response::{Response as HttpResponse, sse::Event};
use bytes::Bytes;
use futures_util::{Stream, stream};
use gate::BoxFuture;
use mcp::Id;
use tokio::sync::mpsc;

use super::finished;
use crate::{http::event_stream, mcp::context::RpcResult};

/// The form in which a response may be sent.
#[derive(Clone, Copy)]
pub(super) struct ResponseMode {
    /// After so long a silence a comment shows the client that the connection lives.
    pub keep_alive: Duration,
    /// True if the client accepts an event stream.
    pub can_stream: bool,
    /// True if an error has an HTTP status of its own.
    pub modern: bool,
}

/// A response that is being worked on.
struct PendingResponse {
    id: Id,
    work: BoxFuture<'static, RpcResult>,
    interim: Option<mpsc::Receiver<Bytes>>,
}

/// The next part of a response.
enum ResponsePart {
    Interim(Bytes),
    Last(RpcResult),
}

impl PendingResponse {
    async fn next(&mut self) -> ResponsePart {
        let interim = async {
            match &mut self.interim {
                Some(interim) => match interim.recv().await {
                    Some(message) => message,
                    None => std::future::pending().await,
                },
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            message = interim => ResponsePart::Interim(message),
            outcome = &mut self.work => ResponsePart::Last(outcome),
        }
    }

    /// The messages that were sent before the response and are not written yet.
    fn rest(&mut self) -> VecDeque<Event> {
        let mut rest = VecDeque::new();
        while let Some(Ok(message)) = self.interim.as_mut().map(mpsc::Receiver::try_recv) {
            rest.push_back(event(&message));
        }
        rest
    }

    fn last(&self, outcome: &RpcResult) -> Event {
        event(&mcp::encode_response(&self.id, outcome))
    }

    /// The events from now on. Dropping the stream drops the work.
    fn into_events(self, first: Event) -> impl Stream<Item = Event> + Send + 'static {
        let state = (VecDeque::from([first]), Some(self));
        stream::unfold(state, async |(mut ready, mut pending)| {
            loop {
                if let Some(event) = ready.pop_front() {
                    return Some((event, (ready, pending)));
                }
                let mut open = pending.take()?;
                match open.next().await {
                    ResponsePart::Interim(message) => {
                        ready.push_back(event(&message));
                        pending = Some(open);
                    }
                    ResponsePart::Last(outcome) => {
                        ready = open.rest();
                        ready.push_back(open.last(&outcome));
                    }
                }
            }
        })
    }
}

/// Waits for the response. As soon as a message comes before it, or nothing for a while, it becomes an
/// event stream.
pub(super) async fn respond(
    id: Id,
    work: BoxFuture<'static, RpcResult>,
    interim: Option<mpsc::Receiver<Bytes>>,
    mode: ResponseMode,
) -> HttpResponse {
    let mut pending = PendingResponse { id, work, interim };
    loop {
        let part = tokio::time::timeout(mode.keep_alive, pending.next()).await;
        match part {
            Ok(ResponsePart::Last(outcome)) => {
                let mut events = pending.rest();
                if events.is_empty() || !mode.can_stream {
                    let failed = outcome.as_ref().err().filter(|_| mode.modern);
                    let status = failed.map_or(200, |error| error.status);
                    return finished(&pending.id, &outcome, status);
                }
                events.push_back(pending.last(&outcome));
                return event_stream::respond(stream::iter(events), mode.keep_alive);
            }
            // A client that does not take streams does without.
            Ok(ResponsePart::Interim(_)) | Err(_) if !mode.can_stream => {}
            Ok(ResponsePart::Interim(message)) => {
                return event_stream::respond(
                    pending.into_events(event(&message)),
                    mode.keep_alive,
                );
            }
            Err(_) => {
                return event_stream::respond(pending.into_events(heartbeat()), mode.keep_alive);
            }
        }
    }
}

/// Messages as they come, for as long as the sender and `guard` live.
pub(super) fn message_stream<G: Send + 'static>(
    messages: mpsc::Receiver<Bytes>,
    keep_alive: Duration,
    guard: G,
) -> HttpResponse {
    // A comment at once, so that the client knows that the stream is there.
    let state = (Some(heartbeat()), messages, guard);
    let events = stream::unfold(state, async |(first, mut messages, guard)| {
        let next = match first {
            Some(first) => first,
            None => event(&messages.recv().await?),
        };
        Some((next, (None, messages, guard)))
    });
    event_stream::respond(events, keep_alive)
}

fn heartbeat() -> Event {
    Event::default().comment(event_stream::HEARTBEAT)
}

fn event(message: &[u8]) -> Event {
    // Messages are printed JSON: text, without line breaks.
    Event::default().event("message").data(std::str::from_utf8(message).unwrap_or_default())
}
