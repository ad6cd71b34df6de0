//! Legacy MCP over HTTP: a session begins with `initialize` and ends with DELETE, with
//! silence, or when others need its place.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, Uri},
    response::Response as HttpResponse,
};
use bytes::Bytes;
use gate::Door;
use mcp::{
    Message, ProtocolVersion, Request, RpcError, code, header,
    params::{Params, RequestMeta},
};
use tokio_util::sync::CancellationToken;

use super::{
    HttpHead, SESSION_ID, accepted, empty, failed, finished, not_allowed,
    streaming::{self, ResponseMode},
};
use crate::{
    App,
    http::{body, identity},
    mcp::{
        batch::{self, Batch},
        context::{McpContext, MessageSender, joined},
        dispatch::{self, Dispatched},
        initialize,
        session::Session,
        subscriptions,
    },
};

/// Takes a notification, or the response to a request of ours.
pub(super) fn no_request(head: &HttpHead, message: &Message<'_>) -> HttpResponse {
    match find(head).and_then(|session| initialize::no_request(&session, message)) {
        Ok(()) => accepted(),
        Err(error) => failed(None, &error),
    }
}

/// `initialize`.
fn begin(head: &HttpHead, request: &Request<'_>) -> HttpResponse {
    let (caller, scope) = (&head.caller, &head.scope);
    match initialize::begin(&head.app, caller, scope, request.params, Arc::default()) {
        Err(error) => failed(Some(&request.id), &error),
        Ok((session, result)) => {
            head.app.mcp.sessions.insert(&session);
            let mut response = finished(&request.id, &Ok(result), 200);
            if let Ok(id) = HeaderValue::from_str(&session.id) {
                response.headers_mut().insert(SESSION_ID, id);
            }
            response
        }
    }
}

fn gone() -> RpcError {
    RpcError::new(code::INVALID_REQUEST, 404, "Session not found: send `initialize` again")
}

/// The session that a request belongs to.
fn find(head: &HttpHead) -> Result<Arc<Session>, RpcError> {
    let Some(id) = head.header(SESSION_ID.as_str()) else {
        let message = "Mcp-Session-Id is missing: send `initialize` first, or a request of \
                       2026-07-28 with its own _meta";
        return Err(RpcError::invalid_request(message));
    };
    let session = head.app.mcp.sessions.find(id).filter(|session| {
        // A session is its owner's, and leads where it led.
        session.caller == head.caller && session.scope == head.scope
    });
    let Some(session) = session else {
        return Err(gone());
    };
    if let Some(date) = head.version()?
        && ProtocolVersion::parse(date).is_none()
    {
        let message = format!("MCP-Protocol-Version `{}` is not known", RpcError::excerpt(date));
        return Err(RpcError::invalid_request(message));
    }
    Ok(session)
}

pub(super) async fn answer(
    head: HttpHead,
    request: Request<'_>,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> HttpResponse {
    if request.method == "initialize" {
        return begin(&head, &request);
    }
    let session = match find(&head) {
        Ok(session) => session,
        Err(error) => return failed(Some(&request.id), &error),
    };
    let id = request.id.clone();
    let can_stream = head.accepts_streams();
    let (messages, interim) = MessageSender::channel();
    let stop = CancellationToken::new();
    let open = match session.requests.begin(&id, &stop) {
        Ok(open) => open,
        Err(reason) => return failed(Some(&id), &RpcError::invalid_request(reason)),
    };
    // It may have ended between being found and being used.
    if session.is_over() {
        return failed(Some(&id), &gone());
    }
    let keep_alive = head.app.settings.mcp.keep_alive;
    let context = context(head, &session, stop, can_stream.then_some(messages));
    match dispatch::begin(context, &request.method, params, meta) {
        Dispatched::Ready(outcome) => finished(&id, &outcome, 200),
        Dispatched::Pending(mut work) => {
            let mode = ResponseMode { keep_alive, can_stream, modern: false };
            // A client that loses its connection has not cancelled its call.
            let work = match gate::poll_once(work.as_mut()).await {
                std::task::Poll::Ready(outcome) => Box::pin(std::future::ready(outcome)) as _,
                std::task::Poll::Pending => {
                    let session = session.clone();
                    let task = tokio::spawn(async move {
                        let _open = (open, session.stream());
                        work.await
                    });
                    Box::pin(async move { joined(task.await) }) as _
                }
            };
            streaming::respond(id, work, Some(interim), mode).await
        }
    }
}

fn context(
    head: HttpHead,
    session: &Arc<Session>,
    stop: CancellationToken,
    messages: Option<MessageSender>,
) -> McpContext {
    let HttpHead { app, caller, request_id, scope, .. } = head;
    McpContext {
        app,
        client: session.client(),
        scope,
        caller,
        request_id,
        door: Door::McpHttp,
        stop,
        messages,
        session: Some(session.clone()),
        subscription: None,
        headers: None,
    }
}

/// Several messages at once. Like any other legacy call they go on without a connection.
pub(super) async fn batch(head: HttpHead, bytes: Bytes) -> HttpResponse {
    let begun = if head.headers.contains_key(SESSION_ID) {
        find(&head).and_then(|session| {
            Batch::read(session.client.version, &bytes).map(|batch| (session, batch))
        })
    } else {
        Err(batch::not_supported())
    };
    let (session, batch) = match begun {
        Ok(begun) => begun,
        Err(error) => return failed(None, &error),
    };
    let context = context(head, &session, CancellationToken::new(), None);
    let answering = tokio::spawn(async move {
        let _busy = session.stream();
        batch.answer(context, session).await
    });
    match answering.await {
        Ok(Some(answers)) => body::json_response(200, answers),
        Ok(None) => accepted(),
        Err(_) => failed(None, &RpcError::internal("the batch ended without a response")),
    }
}

/// GET: a stream for notifications. A client has one; a new one ends the old one.
pub(super) async fn listen(
    State(app): State<Arc<App>>,
    Extension(context): Extension<identity::RequestContext>,
    uri: Uri,
    headers: HeaderMap,
) -> HttpResponse {
    let (head, session) = match of_session(app, context, &uri, headers) {
        Ok((head, session)) if head.accepts_streams() => (head, session),
        Ok(_) => {
            let error = RpcError::new(code::INVALID_REQUEST, 406, "accept text/event-stream");
            return failed(None, &error);
        }
        Err(response) => return *response,
    };
    let (sender, messages) = MessageSender::channel();
    let replaced = session.replace_stream();
    let (app, scope, listener) = (head.app.clone(), head.scope.clone(), session.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = subscriptions::notify(app, scope, listener, sender) => {}
            () = replaced.cancelled() => {}
        }
    });
    let keep_alive = head.app.settings.mcp.keep_alive;
    streaming::message_stream(messages, keep_alive, session.stream())
}

/// DELETE: the client needs its session no more.
pub(super) async fn end(
    State(app): State<Arc<App>>,
    Extension(context): Extension<identity::RequestContext>,
    uri: Uri,
    headers: HeaderMap,
) -> HttpResponse {
    match of_session(app, context, &uri, headers) {
        Ok((head, session)) => {
            head.app.mcp.sessions.remove(&session.id);
            empty(StatusCode::NO_CONTENT)
        }
        Err(response) => *response,
    }
}

/// The session of a request that has no body. Without one there is nothing here but POST.
fn of_session(
    app: Arc<App>,
    context: identity::RequestContext,
    uri: &Uri,
    headers: HeaderMap,
) -> Result<(HttpHead, Arc<Session>), Box<HttpResponse>> {
    let head = HttpHead::new(app, context, uri, headers)?;
    let modern =
        head.header(header::PROTOCOL_VERSION).and_then(ProtocolVersion::parse_modern).is_some();
    if modern || !head.headers.contains_key(SESSION_ID) {
        return Err(Box::new(not_allowed()));
    }
    let session = find(&head).map_err(|error| Box::new(failed(None, &error)))?;
    Ok((head, session))
}
