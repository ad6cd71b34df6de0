//! Modern MCP over HTTP: every request stands alone, and a closed connection cancels the call.

use axum::response::Response as HttpResponse;
use gate::Door;
use mcp::{
    Message, ProtocolVersion, Request, RpcError, header,
    params::{Params, RequestMeta, string},
};
use tokio_util::sync::CancellationToken;

use super::{
    HttpHead, SESSION_ID, accepted, failed, finished, header_check,
    streaming::{self, InterimMessages, ResponseMode},
};
use crate::mcp::{
    call::ToolCall,
    client::Client,
    context::{McpContext, MessageSender},
    dispatch::{self, Dispatched},
};

/// Whether the header says that this is modern MCP. A version that is not known here is not one of the
/// old ones.
pub(super) fn says_header(head: &HttpHead) -> bool {
    match head.header(header::PROTOCOL_VERSION).map(ProtocolVersion::parse) {
        None => false,
        Some(Some(version)) => version.is_modern(),
        Some(None) => !head.headers.contains_key(SESSION_ID),
    }
}

/// Whether a request is a modern one: its `_meta` says so, or its header.
pub(super) fn is_meant(head: &HttpHead, request: &Request<'_>, meta: &RequestMeta<'_>) -> bool {
    let known = || {
        let date = head.header(header::PROTOCOL_VERSION);
        date.is_some_and(|date| ProtocolVersion::parse(date).is_some())
    };
    meta.protocol_version.is_some()
        || (says_header(head) && (request.method != "initialize" || known()))
}

/// Takes a message that is not a request. There is nothing to tell a server here; a closed stream
/// cancels.
pub(super) fn no_request(message: &Message<'_>) -> HttpResponse {
    match message {
        Message::Response { id, .. } => {
            let error =
                RpcError::invalid_request("in this protocol version the server asks nothing");
            failed(id.as_ref(), &error)
        }
        Message::Notification { .. } | Message::Request(_) => accepted(),
    }
}

pub(super) async fn answer(
    head: HttpHead,
    request: Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> HttpResponse {
    let can_stream = head.accepts_streams();
    let keep_alive = head.app.settings.mcp.keep_alive;
    match begin(head, &request, params, meta, can_stream) {
        Err(error) => failed(Some(&request.id), &error),
        Ok((Dispatched::Ready(outcome), _)) => {
            let status = outcome.as_ref().err().map_or(200, |error| error.status);
            finished(&request.id, &outcome, status)
        }
        Ok((Dispatched::Pending(work), interim)) => {
            let mode = ResponseMode { keep_alive, can_stream, modern: true };
            streaming::respond(request.id, work, interim, mode).await
        }
    }
}

fn begin(
    head: HttpHead,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
    can_stream: bool,
) -> Result<(Dispatched, Option<InterimMessages>), RpcError> {
    if let Some(version) = meta.protocol_version {
        let version = string(version, "protocolVersion")?;
        header_check::check(&head.headers, &version, &request.method, params)?;
    }
    let client = Client::modern(meta)?;
    let listens = request.method == "subscriptions/listen";
    let wants_messages = listens || client.log_level.is_some() || meta.progress_token.is_some();
    let (messages, interim) = if wants_messages && can_stream {
        let (messages, interim) = MessageSender::channel();
        (Some(messages), Some(interim))
    } else {
        (None, None)
    };
    let HttpHead { app, caller, request_id, scope, headers } = head;
    let context = McpContext {
        app,
        client,
        scope,
        caller,
        request_id,
        door: Door::McpHttp,
        stop: CancellationToken::new(),
        messages,
        session: None,
        subscription: listens.then(|| request.id.value()),
    };
    let check = |call: &ToolCall| match call.mirrored() {
        Some((tool, arguments)) => header_check::check_mirrors(&headers, tool, arguments),
        None => Ok(()),
    };
    let work = dispatch::begin(context, &request.method, params, meta, Some(&check));
    Ok((work, interim))
}
