//! An answer as JSON, or as a stream of events where something has to be said before it.

use std::{collections::VecDeque, convert::Infallible, time::Duration};

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::stream;
use gate::BoxFuture;
use tokio::sync::mpsc;

use super::finished;
use crate::mcp::{
    context::Reply,
    rpc::{self, Id},
};

/// Messages that come before an answer.
pub(super) type Interim = mpsc::Receiver<Bytes>;

/// How an answer may be given.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    /// After so long a silence the client is shown that the connection lives.
    pub keep_alive: Duration,
    pub can_stream: bool,
    /// Whether an error has a status of its own.
    pub modern: bool,
}

/// What happened first.
enum News {
    Message(Bytes),
    Answer(Reply),
    Silence,
}

/// An answer that is under way.
struct Pending {
    id: Id,
    work: BoxFuture<'static, Reply>,
    interim: Option<Interim>,
    keep_alive: Duration,
}

impl Pending {
    async fn news(&mut self) -> News {
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
            message = interim => News::Message(message),
            reply = &mut self.work => News::Answer(reply),
            () = tokio::time::sleep(self.keep_alive) => News::Silence,
        }
    }

    /// What was said before the answer and is not sent yet.
    fn rest(&mut self) -> VecDeque<Bytes> {
        let mut rest = VecDeque::new();
        while let Some(Ok(message)) = self.interim.as_mut().map(mpsc::Receiver::try_recv) {
            rest.push_back(message);
        }
        rest
    }
}

/// Waits for the answer. As soon as something is said before it, or nothing for a while, the
/// answer becomes a stream; dropping that drops the work.
pub(super) async fn respond(
    id: Id,
    work: BoxFuture<'static, Reply>,
    interim: Option<Interim>,
    manner: Manner,
) -> Response {
    let mut pending = Pending { id, work, interim, keep_alive: manner.keep_alive };
    loop {
        match pending.news().await {
            News::Answer(reply) => {
                let said = pending.rest();
                if said.is_empty() || !manner.can_stream {
                    let failed = reply.as_ref().err().filter(|_| manner.modern);
                    let status = failed.map_or(200, |error| error.status);
                    return finished(&pending.id, &reply, status);
                }
                let last = Bytes::from(rpc::answer(&pending.id, &reply));
                let all = said.into_iter().chain([last]);
                return events(Body::from(
                    all.flat_map(|message| event(&message)).collect::<Vec<u8>>(),
                ));
            }
            // Whoever cannot take it does without.
            News::Message(_) | News::Silence if !manner.can_stream => {}
            News::Message(message) => return stream_of(event(&message).into(), pending),
            News::Silence => return stream_of(Bytes::from_static(STILL_HERE), pending),
        }
    }
}

const STILL_HERE: &[u8] = b": still here\n\n";

fn stream_of(first: Bytes, pending: Pending) -> Response {
    let rest = stream::unfold((Some(first), Some(pending)), async |(first, pending)| {
        if let Some(first) = first {
            return Some((Ok::<_, Infallible>(first), (None, pending)));
        }
        let mut pending = pending?;
        Some(match pending.news().await {
            News::Message(message) => (Ok(event(&message).into()), (None, Some(pending))),
            News::Silence => (Ok(Bytes::from_static(STILL_HERE)), (None, Some(pending))),
            News::Answer(reply) => {
                let last = Bytes::from(rpc::answer(&pending.id, &reply));
                let all = pending.rest().into_iter().chain([last]);
                (
                    Ok(all.flat_map(|message| event(&message)).collect::<Vec<u8>>().into()),
                    (None, None),
                )
            }
        })
    });
    events(Body::from_stream(rest))
}

/// Messages as they come, for as long as somebody sends and `guard` lives.
pub(super) fn of_messages<G: Send + 'static>(
    messages: Interim,
    keep_alive: Duration,
    guard: G,
) -> Response {
    // Something at once, so that the client knows that the stream is there.
    let state = (Some(Bytes::from_static(STILL_HERE)), messages, keep_alive, guard);
    let all = stream::unfold(state, async |(first, mut messages, keep_alive, guard)| {
        let next = match first {
            Some(first) => first,
            None => match tokio::time::timeout(keep_alive, messages.recv()).await {
                Ok(Some(message)) => event(&message).into(),
                Ok(None) => return None,
                Err(_) => Bytes::from_static(STILL_HERE),
            },
        };
        Some((Ok::<_, Infallible>(next), (None, messages, keep_alive, guard)))
    });
    events(Body::from_stream(all))
}

/// A message as a server-sent event. Printed JSON has no line breaks of its own.
fn event(message: &[u8]) -> Vec<u8> {
    [b"event: message\ndata: ".as_slice(), message, b"\n\n"].concat()
}

fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that hold events back would turn a stream into a wait.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
