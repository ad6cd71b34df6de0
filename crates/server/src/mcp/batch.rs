//! Several messages at once: part of 2025-03-26 and of no version since.

use std::sync::Arc;

use bytes::Bytes;
use mcp::{Message, ProtocolVersion, Request, RpcError};
use tokio_util::sync::CancellationToken;

use super::{
    context::McpContext,
    dispatch::{self, Dispatched},
    initialize,
    session::Session,
};

/// The largest size of the responses to one batch, in bytes; what comes after that is refused.
const MAX_RESPONSE_BYTES: usize = 8 * 1_024 * 1_024;

/// The largest number of messages in a batch.
const MAX_MESSAGES: usize = 100;

/// The client's protocol version has no batches.
pub(crate) fn not_supported() -> RpcError {
    RpcError::invalid_request("one message at a time; batches are part of 2025-03-26 only")
}

/// A batch that can be answered: its messages.
pub(crate) struct Batch(Vec<Bytes>);

impl Batch {
    /// Reads a batch, where the client's protocol version has them.
    pub(crate) fn read(version: ProtocolVersion, bytes: &Bytes) -> Result<Self, RpcError> {
        if !version.has_batches() {
            return Err(not_supported());
        }
        let (messages, more) = mcp::split_batch(bytes, MAX_MESSAGES)?;
        if messages.is_empty() || more {
            let message = format!("a batch has 1 to {MAX_MESSAGES} messages");
            return Err(RpcError::invalid_request(message));
        }
        Ok(Self(messages))
    }

    /// Answers one message after the other; nothing where none of them wants a response. What
    /// comes after the end of the session, or after too large responses, is not done at all.
    pub(crate) async fn answer(
        self,
        context: McpContext,
        session: Arc<Session>,
    ) -> Option<Vec<u8>> {
        let mut responses = Vec::new();
        for message in &self.0 {
            let response = match Message::read(message) {
                Ok(Message::Request(request)) if responses.len() > MAX_RESPONSE_BYTES => {
                    let message =
                        format!("the responses have more than {MAX_RESPONSE_BYTES} bytes");
                    let error = RpcError::internal(message);
                    Some(mcp::encode_error(Some(&request.id), &error))
                }
                Ok(Message::Request(request)) => answer(&context, &session, &request).await,
                Ok(message) => {
                    let refused = initialize::no_request(&session, &message).err();
                    refused.map(|error| mcp::encode_error(None, &error))
                }
                Err(malformed) => Some(mcp::encode_error(malformed.id.as_ref(), &malformed.error)),
            };
            if let Some(response) = response {
                responses.push(if responses.is_empty() { b'[' } else { b',' });
                responses.extend_from_slice(&response);
            }
        }
        (!responses.is_empty()).then(|| {
            responses.push(b']');
            responses
        })
    }
}

async fn answer(context: &McpContext, session: &Session, request: &Request<'_>) -> Option<Vec<u8>> {
    let refused = |reason: &str| {
        Some(mcp::encode_error(Some(&request.id), &RpcError::invalid_request(reason)))
    };
    let stop = CancellationToken::new();
    let open = match session.requests.begin(&request.id, &stop) {
        Ok(open) => open,
        Err(reason) => return refused(reason),
    };
    if session.is_over() {
        return refused("the session is over");
    }
    let context = McpContext { stop, ..context.clone() };
    let outcome = match dispatch::read(request) {
        Ok((params, meta)) => match dispatch::begin(context, &request.method, &params, &meta) {
            Dispatched::Ready(outcome) => outcome,
            Dispatched::Pending(work) => work.await,
        },
        Err(error) => Err(error),
    };
    (!open.was_cancelled()).then(|| mcp::encode_response(&request.id, &outcome))
}
