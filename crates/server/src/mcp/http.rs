//! MCP over HTTP: one endpoint for both protocol versions.

mod header_check;
mod legacy;
mod modern;
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
use gate::{Caller, Failure, RequestId};
use mcp::{Id, Message, Request, RpcError, code, header as mcp_header};

use super::{
    context::{RpcResult, Scope},
    dispatch,
};
use crate::{
    App,
    http::{body, body::BodyError, identity, response},
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
        Ok(message) if modern::says_header(&head) => modern::no_request(&message),
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
    if modern::is_meant(&head, &request, &meta) {
        modern::answer(head, request, &params, &meta).await
    } else {
        legacy::answer(head, request, &params, &meta).await
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
    response::printed(error.status, mcp::encode_error(id, error))
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
    response::printed(status, Bytes::from(mcp::encode_response(id, outcome)))
}
