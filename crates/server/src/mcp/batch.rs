//! Several messages at once: part of 2025-03-26 and of no revision since.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio_util::sync::CancellationToken;

use super::{
    context::Context,
    dispatch::{self, Work},
    initialize,
    rpc::{self, Message, Request, RpcError},
    session::Session,
    version::Version,
};

/// How much is answered to one batch, in bytes; what comes after it is refused.
const MAX_ANSWER_BYTES: usize = 8 * 1_024 * 1_024;

/// How many messages a batch may have.
const MAX_MESSAGES: usize = 100;

/// Whether the bytes begin like a batch.
pub(crate) fn is_one(bytes: &[u8]) -> bool {
    bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

pub(crate) fn refusal() -> RpcError {
    RpcError::invalid_request("one message at a time; batches are part of 2025-03-26 alone")
}

/// A batch that can be answered: its messages, each for itself.
pub(crate) struct Batch(Vec<Box<RawValue>>);

impl Batch {
    /// Reads a batch, where the client's revision has them.
    pub(crate) fn read(version: Version, bytes: &[u8]) -> Result<Self, RpcError> {
        if version != Version::V2025_03_26 {
            return Err(refusal());
        }
        let text = std::str::from_utf8(bytes)
            .map_err(|error| RpcError::parse(format!("The batch is not UTF-8: {error}")))?;
        let messages: Vec<Box<RawValue>> = serde_json::from_str(text)
            .map_err(|error| RpcError::parse(format!("The batch is invalid JSON: {error}")))?;
        if messages.is_empty() || messages.len() > MAX_MESSAGES {
            let message = format!("a batch has 1 to {MAX_MESSAGES} messages");
            return Err(RpcError::invalid_request(message));
        }
        Ok(Self(messages))
    }

    /// Answers one message after the other; nothing where none of them wants an answer. What
    /// comes after a session has ended, or after too much was answered, is not done at all.
    pub(crate) async fn answer(self, context: Context, session: Arc<Session>) -> Option<Vec<u8>> {
        let mut answers = Vec::new();
        for message in &self.0 {
            let answer = match rpc::parse(message.get().as_bytes()) {
                Ok(Message::Request(request)) if answers.len() > MAX_ANSWER_BYTES => {
                    let message = format!("the answers have more than {MAX_ANSWER_BYTES} bytes");
                    Some(rpc::error(Some(&request.id), &RpcError::internal(message)))
                }
                Ok(Message::Request(request)) => answer(&context, &session, &request).await,
                Ok(told) => {
                    initialize::told(&session, &told);
                    None
                }
                Err(malformed) => Some(rpc::error(malformed.0.as_ref(), &malformed.1)),
            };
            if let Some(answer) = answer {
                answers.push(if answers.is_empty() { b'[' } else { b',' });
                answers.extend_from_slice(&answer);
            }
        }
        (!answers.is_empty()).then(|| {
            answers.push(b']');
            answers
        })
    }
}

async fn answer(context: &Context, session: &Session, request: &Request<'_>) -> Option<Vec<u8>> {
    let stop = CancellationToken::new();
    let open = match session.requests.begin(&request.id, &stop) {
        Ok(open) => open,
        Err(reason) => {
            return Some(rpc::error(Some(&request.id), &RpcError::invalid_request(reason)));
        }
    };
    if session.over.is_cancelled() {
        let error = RpcError::invalid_request("the session is over");
        return Some(rpc::error(Some(&request.id), &error));
    }
    let context = Context { stop, ..context.clone() };
    let reply = match dispatch::read(request) {
        Ok((params, meta)) => {
            match dispatch::begin(context, &request.method, &params, &meta, None) {
                Work::Now(reply) => reply,
                Work::Later(later) => later.await,
            }
        }
        Err(error) => Err(error),
    };
    (!open.was_cancelled()).then(|| rpc::answer(&request.id, &reply))
}
