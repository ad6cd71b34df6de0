//! The legacy era over HTTP: a session begins with `initialize` and ends with DELETE, with
//! silence, or when others need its place.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode, Uri},
    response::Response,
};
use gate::Door;
use tokio_util::sync::CancellationToken;

use super::{
    Knock, SESSION, VERSION, accepted, empty, failed, finished, not_allowed,
    stream::{self, Manner},
};
use crate::{
    App,
    http::{identity, response},
    mcp::{
        batch::{self, Batch},
        context::{Context, Outbox, joined},
        dispatch::{self, Work},
        initialize,
        params::{Meta, Params},
        rpc::{Id, Message, Request, RpcError, shown},
        session::Session,
        subscriptions,
        version::Version,
    },
};

/// Something that a client tells us, or answers.
pub(super) fn told(knock: &Knock, message: &Message<'_>) -> Response {
    match find(knock) {
        Ok(session) => {
            initialize::told(&session, message);
            accepted()
        }
        Err(error) => failed(None, &error),
    }
}

/// `initialize`.
fn begin(knock: &Knock, request: &Request<'_>) -> Response {
    let (caller, scope) = (&knock.caller, &knock.scope);
    match initialize::begin(&knock.app, caller, scope, request.params, Arc::default()) {
        Err(error) => failed(Some(&request.id), &error),
        Ok((session, result)) => {
            knock.app.mcp.sessions.insert(&session);
            let mut response = finished(&request.id, &Ok(result), 200);
            response::set(&mut response, SESSION, &session.id);
            response
        }
    }
}

fn gone() -> RpcError {
    RpcError::new(-32600, 404, "Session not found: send `initialize` again")
}

/// The session that a request belongs to.
fn find(knock: &Knock) -> Result<Arc<Session>, RpcError> {
    let Some(id) = knock.header(SESSION.as_str()) else {
        let message = "Mcp-Session-Id is missing: send `initialize` first, or a request of \
                       2026-07-28 with its own _meta";
        return Err(RpcError::invalid_request(message));
    };
    let session = knock.app.mcp.sessions.find(id).filter(|session| {
        // A session is its owner's, and leads where it led.
        session.caller == knock.caller && session.scope == knock.scope
    });
    let Some(session) = session else {
        return Err(gone());
    };
    if let Some(date) = knock.version()?
        && Version::parse(date).is_none()
    {
        let message = format!("MCP-Protocol-Version `{}` is not known", shown(date));
        return Err(RpcError::invalid_request(message));
    }
    Ok(session)
}

pub(super) async fn answer(
    knock: Knock,
    request: Request<'_>,
    params: &Params<'_>,
    meta: &Meta<'_>,
) -> Response {
    if &*request.method == "initialize" {
        return begin(&knock, &request);
    }
    let session = match find(&knock) {
        Ok(session) => session,
        Err(error) => return failed(Some(&request.id), &error),
    };
    let id = request.id.clone();
    let can_stream = knock.accepts_streams();
    let (outbox, interim) = Outbox::channel();
    let stop = CancellationToken::new();
    let open = match session.requests.begin(&id, &stop) {
        Ok(open) => open,
        Err(reason) => return failed(Some(&id), &RpcError::invalid_request(reason)),
    };
    // It may have ended between being found and being used.
    if session.over.is_cancelled() {
        return failed(Some(&id), &gone());
    }
    let keep_alive = knock.app.settings.mcp.keep_alive;
    let context = context(knock, &session, stop, can_stream.then_some(outbox));
    match dispatch::begin(context, &request.method, params, meta, None) {
        Work::Now(reply) => finished(&id, &reply, 200),
        Work::Later(mut work) => {
            let manner = Manner { keep_alive, can_stream, modern: false };
            // A client that loses its connection has not cancelled its call.
            let work = match gate::poll_once(work.as_mut()).await {
                std::task::Poll::Ready(reply) => Box::pin(std::future::ready(reply)) as _,
                std::task::Poll::Pending => {
                    let session = session.clone();
                    let task = tokio::spawn(async move {
                        let _open = (open, session.stream());
                        work.await
                    });
                    Box::pin(async move { joined(task.await) }) as _
                }
            };
            stream::respond(id, work, Some(interim), manner).await
        }
    }
}

fn context(
    knock: Knock,
    session: &Arc<Session>,
    stop: CancellationToken,
    outbox: Option<Outbox>,
) -> Context {
    let Knock { app, caller, request_id, scope, .. } = knock;
    Context {
        app,
        client: session.client(),
        scope,
        caller,
        request_id,
        door: Door::McpHttp,
        stop,
        outbox,
        session: Some(session.clone()),
        subscription: None,
    }
}

/// Several messages at once. Like any other call of this era they go on without a connection.
pub(super) async fn batch(knock: Knock, bytes: &[u8]) -> Response {
    let begun = if knock.headers.contains_key(SESSION) {
        find(&knock).and_then(|session| {
            Batch::read(session.client.version, bytes).map(|batch| (session, batch))
        })
    } else {
        Err(batch::refusal())
    };
    let (session, batch) = match begun {
        Ok(begun) => begun,
        Err(error) => return failed(None, &error),
    };
    let context = context(knock, &session, CancellationToken::new(), None);
    let answering = tokio::spawn(async move {
        let _busy = session.stream();
        batch.answer(context, session).await
    });
    match answering.await {
        Ok(Some(answers)) => response::printed(200, answers),
        Ok(None) => accepted(),
        Err(_) => failed(None, &RpcError::internal("the batch was lost")),
    }
}

/// GET: a stream for what the server has to say of its own accord. A client has one; a new
/// one ends the old one.
pub(super) async fn listen(
    State(app): State<Arc<App>>,
    Extension(context): Extension<identity::RequestContext>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    let (knock, session) = match of_session(app, context, &uri, headers) {
        Ok((knock, session)) if knock.accepts_streams() => (knock, session),
        Ok(_) => {
            let error = RpcError::new(-32600, 406, "accept text/event-stream");
            return failed(None, &error);
        }
        Err(response) => return *response,
    };
    let (outbox, messages) = Outbox::channel();
    let replaced = session.replace_stream();
    let (app, told) = (knock.app.clone(), session.clone());
    tokio::spawn(async move {
        tokio::select! {
            () = subscriptions::tell(app, told, outbox) => {}
            () = replaced.cancelled() => {}
        }
    });
    let keep_alive = knock.app.settings.mcp.keep_alive;
    stream::of_messages(messages, keep_alive, session.stream())
}

/// DELETE: the client needs its session no more.
pub(super) async fn end(
    State(app): State<Arc<App>>,
    Extension(context): Extension<identity::RequestContext>,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    match of_session(app, context, &uri, headers) {
        Ok((knock, session)) => {
            knock.app.mcp.sessions.remove(&session.id);
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
) -> Result<(Knock, Arc<Session>), Box<Response>> {
    let knock = Knock::new(app, context, uri, headers)?;
    let modern = knock.header(VERSION) == Some(Version::V2026_07_28.date());
    if modern || !knock.headers.contains_key(SESSION) {
        return Err(Box::new(not_allowed()));
    }
    let session = find(&knock).map_err(|error| Box::new(failed(None::<&Id>, &error)))?;
    Ok((knock, session))
}
