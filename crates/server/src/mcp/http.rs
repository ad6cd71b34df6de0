//! MCP over HTTP: one endpoint for both protocol versions. A modern request stands alone, and a closed
//! connection cancels it; `legacy` has the sessions.

mod legacy;
mod streaming;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::State,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::Response as HttpResponse,
    routing::{any, post},
};
use bytes::Bytes;
use gate::{Caller, Door, Failure, RequestId};
use mcp::{
    Id, Message, ProtocolVersion, Request, RpcError, code, header as mcp_header,
    params::{Params, RequestMeta, string},
};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use self::streaming::ResponseMode;
use super::{
    context::{Client, McpContext, MessageSender, RpcResult, Scope},
    dispatch::{self, Dispatched},
};
use crate::{
    App,
    http::{body, body::BodyError, identity},
};

/// The path of the endpoint; a toolset has its name behind it.
pub(crate) const PATH: &str = "/mcp";

const SESSION_ID: HeaderName = HeaderName::from_static(mcp_header::SESSION_ID);

pub(crate) fn routes() -> Router<Arc<App>> {
    let endpoint = || {
        let head = async || not_allowed();
        // The front hands messages to `receive` itself.
        let post = post(async |State(app), Extension(context), request| {
            receive(app, context, request).await
        });
        post.get(legacy::listen).head(head).delete(legacy::end)
    };
    Router::new().route(PATH, endpoint()).route("/mcp/{toolset}", endpoint())
}

/// Everything about a POST, GET or DELETE but its body.
pub(super) struct HttpHead {
    app: Arc<App>,
    caller: Caller,
    request_id: RequestId,
    scope: Scope,
    headers: HeaderMap,
}

impl HttpHead {
    fn new(
        app: Arc<App>,
        context: identity::RequestContext,
        uri: &Uri,
        headers: HeaderMap,
    ) -> Result<Self, Box<HttpResponse>> {
        // The name of a toolset is never encoded: what is, names none.
        let toolset = uri.path().strip_prefix(PATH).and_then(|rest| rest.strip_prefix('/'));
        let scope = match toolset {
            None => None,
            Some(name)
                if app.gate.catalogue().toolset(name).is_some() || app.library.knows(name) =>
            {
                Some(name.into())
            }
            Some(name) => {
                let message = format!("there is no toolset `{}`", RpcError::excerpt(name));
                let error = RpcError::new(code::INVALID_REQUEST, 404, message);
                return Err(Box::new(failed(None, &error)));
            }
        };
        let identity::RequestContext { caller, request_id, .. } = context;
        Ok(Self { app, caller, request_id, scope, headers })
    }

    /// The value of a header, if it can be read.
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The value of `MCP-Protocol-Version`.
    fn version(&self) -> Result<Option<&str>, RpcError> {
        let mut values = self.headers.get_all(mcp_header::PROTOCOL_VERSION).iter();
        let unreadable = || RpcError::invalid_request("MCP-Protocol-Version cannot be read");
        match (values.next(), values.next()) {
            (None, _) => Ok(None),
            (Some(value), None) => value.to_str().map(Some).map_err(|_| unreadable()),
            (Some(_), Some(_)) => Err(unreadable()),
        }
    }

    /// True if `MCP-Protocol-Version` names modern MCP. A version that is not known here is not one of
    /// the old ones.
    fn is_modern(&self) -> bool {
        match self.header(mcp_header::PROTOCOL_VERSION).map(ProtocolVersion::parse) {
            None => false,
            Some(Some(version)) => version.is_modern(),
            Some(None) => !self.headers.contains_key(SESSION_ID),
        }
    }

    fn accepts_streams(&self) -> bool {
        self.headers
            .get_all(header::ACCEPT)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .any(|kinds| kinds.contains("text/event-stream") || kinds.contains("*/*"))
    }
}

/// Answers a POST.
pub(crate) async fn receive(
    app: Arc<App>,
    context: identity::RequestContext,
    request: axum::extract::Request,
) -> HttpResponse {
    let (parts, body) = request.into_parts();
    let head = match HttpHead::new(app, context, &parts.uri, parts.headers) {
        Ok(head) => head,
        Err(response) => return *response,
    };
    let settings = &head.app.settings;
    let read = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout);
    let bytes = match read.await {
        Ok(bytes) => bytes,
        Err(error) => return body_failed(error, settings.max_body_bytes),
    };
    if !is_json(&head.headers) {
        let message = "Content-Type must be application/json";
        return failed(None, &RpcError::new(code::INVALID_REQUEST, 415, message));
    }
    if mcp::is_batch(&bytes) {
        return legacy::batch(head, bytes).await;
    }
    match Message::read(&bytes) {
        Err(malformed) => failed(malformed.id.as_ref(), &malformed.error),
        Ok(Message::Request(request)) => answer(head, request).await,
        Ok(message) if head.is_modern() => no_request(&message),
        Ok(message) => legacy::no_request(&head, &message),
    }
}

async fn answer(head: HttpHead, request: Request<'_>) -> HttpResponse {
    let (params, meta) = match dispatch::read(&request) {
        Ok(read) => read,
        // In either protocol version it cannot be read.
        Err(error) => {
            let status = if head.headers.contains_key(SESSION_ID) { 200 } else { error.status };
            return failed(Some(&request.id), &RpcError { status, ..error });
        }
    };
    if !is_modern(&head, &request, &meta) {
        return legacy::answer(head, request, &params, &meta).await;
    }
    let mode = ResponseMode {
        keep_alive: head.app.settings.mcp.keep_alive,
        can_stream: head.accepts_streams(),
        modern: true,
    };
    match begin(head, &request, &params, &meta, mode.can_stream) {
        Err(error) => failed(Some(&request.id), &error),
        Ok((Dispatched::Ready(outcome), _)) => {
            let status = outcome.as_ref().err().map_or(200, |error| error.status);
            finished(&request.id, &outcome, status)
        }
        Ok((Dispatched::Pending(work), interim)) => {
            streaming::respond(request.id, work, interim, mode).await
        }
    }
}

/// True if a request is a modern one: its `_meta` says so, or its header.
fn is_modern(head: &HttpHead, request: &Request<'_>, meta: &RequestMeta<'_>) -> bool {
    let is_known = || {
        let date = head.header(mcp_header::PROTOCOL_VERSION);
        date.is_some_and(|date| ProtocolVersion::parse(date).is_some())
    };
    meta.protocol_version.is_some()
        || (head.is_modern() && (request.method != "initialize" || is_known()))
}

/// Begins to answer a modern request; the messages that come before its response, if it wants any.
fn begin(
    head: HttpHead,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
    can_stream: bool,
) -> Result<(Dispatched, Option<mpsc::Receiver<Bytes>>), RpcError> {
    if let Some(version) = meta.protocol_version {
        let version = string(version, "protocolVersion")?;
        mcp_header::check(&head.headers, &version, &request.method, params)?;
    }
    let client = Client::modern(meta)?;
    let listens = request.method == "subscriptions/listen";
    let wants_messages = listens || client.log_level.is_some() || meta.progress_token.is_some();
    let channel = (wants_messages && can_stream).then(MessageSender::channel);
    let (messages, interim) = channel.unzip();
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
        headers: Some(headers),
    };
    Ok((dispatch::begin(context, &request.method, params, meta), interim))
}

/// Takes a modern message that is not a request. There is nothing to tell a server here; a closed stream
/// cancels.
fn no_request(message: &Message<'_>) -> HttpResponse {
    match message {
        Message::Response { id, .. } => {
            let error =
                RpcError::invalid_request("in this protocol version the server asks nothing");
            failed(id.as_ref(), &error)
        }
        Message::Notification { .. } | Message::Request(_) => accepted(),
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    })
}

fn body_failed(error: BodyError, max_bytes: usize) -> HttpResponse {
    let error = match error {
        BodyError::TooLarge => RpcError::new(
            code::INVALID_REQUEST,
            413,
            format!("the message has more than {max_bytes} bytes (server.max_body_bytes)"),
        ),
        BodyError::Incomplete => RpcError::parse("the message is incomplete"),
    };
    failed(None, &error)
}

/// An error, with the HTTP status that goes with it.
fn failed(id: Option<&Id>, error: &RpcError) -> HttpResponse {
    body::json_response(error.status, mcp::encode_error(id, error))
}

/// Refusals of requests whose sender was not accepted.
pub(crate) fn refusals() -> Router {
    let refuse =
        async |Extension(rejected): Extension<identity::RejectedRequest>| refuse(&rejected.failure);
    let router = Router::new().route(PATH, any(refuse)).route("/mcp/", any(refuse));
    router.route("/mcp/{*path}", any(refuse))
}

/// A failure before the endpoint was reached, in the shape of MCP.
fn refuse(failure: &Failure) -> HttpResponse {
    let error = RpcError::new(code::INVALID_REQUEST, failure.http_status, failure.message.clone())
        .data(serde_json::json!({ "code": failure.code }));
    failed(None, &error)
}

/// 202: accepted, without a body.
fn accepted() -> HttpResponse {
    empty(StatusCode::ACCEPTED)
}

fn empty(status: StatusCode) -> HttpResponse {
    let mut response = HttpResponse::default();
    *response.status_mut() = status;
    response
}

/// 405: the HTTP method is not one of this endpoint.
fn not_allowed() -> HttpResponse {
    let error = RpcError::new(code::INVALID_REQUEST, 405, "this endpoint takes POST");
    let mut response = failed(None, &error);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// A response that is there, as JSON.
fn finished(id: &Id, outcome: &RpcResult, status: u16) -> HttpResponse {
    body::json_response(status, Bytes::from(mcp::encode_response(id, outcome)))
}
