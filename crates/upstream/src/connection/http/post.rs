//! One request, to the answer that is there or the stream that it comes by.

use std::sync::Arc;

use bytes::Bytes;
use guard::net::{NetError, NetErrorReason, ServiceResponse};

use super::{
    core::{Core, Manner},
    head,
    reading::Reading,
    refusal::{self, ContentType, Refusal, of_net},
    said::{self, Said},
};
use crate::connection::{
    Flight, HttpKind, Prepared, Reply, RequestError,
    incoming::{self, Incoming},
};

/// Requests that can be made twice without doing anything twice. Where a connection that was kept
/// was closed at the moment of its use, nobody knows whether the server has seen the request.
const REPEATABLE: [&str; 10] = [
    "server/discover",
    "ping",
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
];

/// What came of a request.
pub(super) enum Got {
    /// Its result.
    Whole(Reply),
    /// A stream of events that the answer comes by.
    Stream(Box<Reading>),
    /// The server does not know this way of HTTP, as far as can be seen. This is what it said.
    Unknown(RequestError),
    /// It went by another wire.
    Elsewhere(Box<dyn Flight>),
}

/// Sends a request.
pub(super) async fn send(core: Arc<Core>, request: Prepared) -> Result<Got, RequestError> {
    let manner = core.manner();
    let extra = head::of(&request, manner.era).map_err(RequestError::NotSent)?;
    let post = || core.post(&core.service, &manner, &extra, request.body.clone(), request.timeout);
    let answer = match post().await {
        Err(NetError { reason: NetErrorReason::Stale, .. })
            if REPEATABLE.contains(&request.method) =>
        {
            post().await
        }
        answer => answer,
    };
    let answer = answer.map_err(|error| of_net(error, request.timeout, core.max_bytes))?;
    if !answer.status.is_success() {
        return refused(&core, &manner, &request, answer).await;
    }
    if request.method == "initialize" {
        core.learn_session(&answer.headers);
    }
    match refusal::content_type(&answer.headers) {
        ContentType::Json => {
            let read = answer.body.read_all(core.max_bytes).await;
            let message = read.map_err(|error| of_net(error, request.timeout, core.max_bytes))?;
            whole(&message, request.id).map(Got::Whole)
        }
        ContentType::Events => Ok(Got::Stream(Box::new(Reading::new(answer.body, core.max_bytes)))),
        ContentType::Other => {
            let error = refusal::wrong_type(answer.status, &answer.headers);
            answer.body.leave();
            Err(error)
        }
    }
}

/// The result that a body holds.
fn whole(message: &Bytes, id: u64) -> Result<Reply, RequestError> {
    match incoming::read(message) {
        Ok(Incoming::Response { id: Some(given), outcome }) if given == id => {
            incoming::reply(message, outcome)
        }
        // Some cannot say whose error it is; it is nobody else's.
        Ok(Incoming::Response { id: None, outcome: Err(error) }) => Err(RequestError::Rpc(error)),
        Ok(Incoming::Response { .. }) => {
            Err(RequestError::Protocol("the server answered another request than this".to_owned()))
        }
        Ok(Incoming::Request { .. } | Incoming::Notification { .. }) => Err(unanswered()),
        Err(problem) => batch(message, id).unwrap_or_else(|| {
            Err(RequestError::Protocol(format!("the server's answer is no message: {problem}")))
        }),
    }
}

fn unanswered() -> RequestError {
    RequestError::Protocol("the server said something else than an answer".to_owned())
}

/// The result among several messages (2025-03-26). What else is said has no listener here.
fn batch(message: &Bytes, id: u64) -> Option<Result<Reply, RequestError>> {
    if !message.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let said = said::read(message).ok()?;
    let answer = said.into_iter().find_map(|one| match one {
        Said::Answer(given, outcome) if given == Some(id) => Some(outcome),
        _ => None,
    });
    Some(answer.unwrap_or_else(|| Err(unanswered())))
}

async fn refused(
    core: &Core,
    manner: &Manner,
    request: &Prepared,
    answer: ServiceResponse,
) -> Result<Got, RequestError> {
    let refusal = Refusal::read(answer).await;
    if manner.session && refusal.ends_session() {
        core.session_over();
        return Err(if refusal.never_took_it() {
            let message = "the server has ended the session, and has not taken the request";
            RequestError::NotSent(message.to_owned())
        } else {
            RequestError::Lost("the server has ended the session".to_owned())
        });
    }
    let may_switch = core.kind == HttpKind::Auto && request.method == "initialize";
    if may_switch && refusal.knows_no_streamable() {
        return Ok(Got::Unknown(refusal.into_error()));
    }
    Err(refusal.into_error())
}
