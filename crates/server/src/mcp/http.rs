//! MCP over HTTP: one endpoint for both eras.

mod head;
mod legacy;
mod modern;
mod stream;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Request, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri, header},
    response::Response,
    routing::{any, post},
};
use bytes::Bytes;
use gate::{Caller, Failure, RequestId};

use super::{
    batch,
    context::Scope,
    dispatch,
    rpc::{self, Id, Message, RpcError},
};
use crate::{
    App,
    http::{body, body::BodyError, identity, response},
};

/// Where MCP is answered; a toolset has its name behind it.
pub(crate) const PATH: &str = "/mcp";

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: &str = "mcp-protocol-version";

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

/// A request before it is known what it says.
pub(super) struct Knock {
    app: Arc<App>,
    caller: Caller,
    request_id: RequestId,
    scope: Scope,
    headers: HeaderMap,
}

impl Knock {
    fn new(
        app: Arc<App>,
        context: identity::RequestContext,
        uri: &Uri,
        headers: HeaderMap,
    ) -> Result<Self, Box<Response>> {
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
                let message = format!("there is no toolset `{}`", rpc::shown(name));
                let error = RpcError::new(-32600, 404, message);
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

    /// The revision that the head names.
    fn version(&self) -> Result<Option<&str>, RpcError> {
        let mut values = self.headers.get_all(VERSION).iter();
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

/// Answers a message.
pub(crate) async fn receive(
    app: Arc<App>,
    context: identity::RequestContext,
    request: Request,
) -> Response {
    let (head, body) = request.into_parts();
    let knock = match Knock::new(app, context, &head.uri, head.headers) {
        Ok(knock) => knock,
        Err(response) => return *response,
    };
    let settings = &knock.app.settings;
    let read = body::read(&knock.headers, body, settings.max_body_bytes, settings.body_timeout);
    let bytes = match read.await {
        Ok(bytes) => bytes,
        Err(error) => return unread(error, settings.max_body_bytes),
    };
    if !is_json(&knock.headers) {
        let error = RpcError::new(-32600, 415, "Content-Type must be application/json");
        return failed(None, &error);
    }
    if batch::is_one(&bytes) {
        return legacy::batch(knock, &bytes).await;
    }
    let message = match rpc::parse(&bytes) {
        Ok(message) => message,
        Err(malformed) => return failed(malformed.0.as_ref(), &malformed.1),
    };
    match message {
        Message::Request(request) => answer(knock, request).await,
        Message::Notification { .. } | Message::Response { .. } if modern::says_head(&knock) => {
            modern::told(&message)
        }
        other => legacy::told(&knock, &other),
    }
}

async fn answer(knock: Knock, request: rpc::Request<'_>) -> Response {
    let (params, meta) = match dispatch::read(&request) {
        Ok(read) => read,
        // Whoever is meant would not understand it either.
        Err(error) => {
            let status = if knock.headers.contains_key(SESSION) { 200 } else { error.status };
            return failed(Some(&request.id), &RpcError { status, ..error });
        }
    };
    if modern::is_meant(&knock, &request, &meta) {
        modern::answer(knock, request, &params, &meta).await
    } else {
        legacy::answer(knock, request, &params, &meta).await
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| {
        let kind = kind.split(';').next().unwrap_or_default().trim();
        kind.eq_ignore_ascii_case("application/json")
    })
}

fn unread(error: BodyError, max_bytes: usize) -> Response {
    let error = match error {
        BodyError::TooLarge => RpcError::new(
            -32600,
            413,
            format!("the message has more than {max_bytes} bytes (server.max_body_bytes)"),
        ),
        BodyError::Incomplete => RpcError::parse("the message did not arrive whole"),
    };
    failed(None, &error)
}

/// An error, with the HTTP status that goes with it.
fn failed(id: Option<&Id>, error: &RpcError) -> Response {
    response::printed(error.status, rpc::error(id, error))
}

/// Refusals of requests whose sender was not accepted.
pub(crate) fn refusals() -> Router {
    let refuse =
        async |Extension(rejected): Extension<identity::RejectedRequest>| refuse(&rejected.failure);
    let router = Router::new().route(PATH, any(refuse)).route("/mcp/", any(refuse));
    router.route("/mcp/{*path}", any(refuse))
}

fn refuse(failure: &Failure) -> Response {
    let error = RpcError::new(-32600, failure.http_status, failure.message.clone())
        .data(serde_json::json!({ "code": failure.code }));
    failed(None, &error)
}

/// Taken, and nothing to say about it.
fn accepted() -> Response {
    empty(StatusCode::ACCEPTED)
}

fn empty(status: StatusCode) -> Response {
    let mut response = Response::default();
    *response.status_mut() = status;
    response
}

/// The method is none of this endpoint's.
fn not_allowed() -> Response {
    let error = RpcError::new(-32600, 405, "this endpoint takes POST");
    let mut response = failed(None, &error);
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static("POST"));
    response
}

/// An answer that is there.
fn finished(id: &Id, reply: &super::context::Reply, status: u16) -> Response {
    response::printed(status, Bytes::from(rpc::answer(id, reply)))
}
