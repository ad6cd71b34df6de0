//! The modern era over HTTP: every request stands alone, and a closed connection is a
//! cancelled call.

use axum::response::Response;
use contract::render::mcp::Era;
use gate::Door;
use tokio_util::sync::CancellationToken;

use super::{
    Knock, SESSION, VERSION, accepted, failed, finished, head,
    stream::{self, Manner},
};
use crate::mcp::{
    call,
    context::{Context, Outbox},
    dispatch::{self, Work},
    params::{self, Meta, Params},
    rpc::{Message, Request, RpcError},
    version::Version,
};

/// Whether the head says that this is the modern era. A revision that nobody here knows is
/// not one of the old ones.
pub(super) fn says_head(knock: &Knock) -> bool {
    match knock.header(VERSION).map(Version::parse) {
        None => false,
        Some(Some(version)) => version.era() == Era::Modern,
        Some(None) => !knock.headers.contains_key(SESSION),
    }
}

/// Whether a request is one of the modern era: it says so in itself, or in its head.
pub(super) fn is_meant(knock: &Knock, request: &Request<'_>, meta: &Meta<'_>) -> bool {
    let opens = &*request.method == "initialize";
    let known = || knock.header(VERSION).is_some_and(|date| Version::parse(date).is_some());
    meta.protocol_version.is_some() || (says_head(knock) && (!opens || known()))
}

/// There is nothing that a client could tell us here; a closed stream cancels.
pub(super) fn told(message: &Message<'_>) -> Response {
    match message {
        Message::Response { id, .. } => {
            let error = RpcError::invalid_request("in this revision the server asks nothing");
            failed(Some(id), &error)
        }
        _ => accepted(),
    }
}

pub(super) async fn answer(
    knock: Knock,
    request: Request<'_>,
    params: &Params<'_>,
    meta: &Meta<'_>,
) -> Response {
    let can_stream = knock.accepts_streams();
    match begin(knock, &request, params, meta, can_stream) {
        Err(error) => failed(Some(&request.id), &error),
        Ok((Work::Now(reply), _, _)) => {
            let status = reply.as_ref().err().map_or(200, |error| error.status);
            finished(&request.id, &reply, status)
        }
        Ok((Work::Later(work), interim, keep_alive)) => {
            let manner = Manner { keep_alive, can_stream, modern: true };
            stream::respond(request.id, work, interim, manner).await
        }
    }
}

type Begun = (Work, Option<stream::Interim>, std::time::Duration);

fn begin(
    knock: Knock,
    request: &Request<'_>,
    params: &Params<'_>,
    meta: &Meta<'_>,
    can_stream: bool,
) -> Result<Begun, RpcError> {
    if let Some(version) = meta.protocol_version {
        let version = params::text(version, "protocolVersion")?;
        head::check(&knock.headers, &version, &request.method, params)?;
    }
    let client = meta.client()?;
    let listens = &*request.method == "subscriptions/listen";
    let chatty = listens || client.log_level.is_some() || meta.progress_token.is_some();
    let (outbox, interim) = if chatty && can_stream {
        let (outbox, interim) = Outbox::channel();
        (Some(outbox), Some(interim))
    } else {
        (None, None)
    };
    let Knock { app, caller, request_id, scope, headers } = knock;
    let keep_alive = app.settings.mcp.keep_alive;
    let context = Context {
        app,
        client,
        scope,
        caller,
        request_id,
        door: Door::McpHttp,
        stop: CancellationToken::new(),
        outbox,
        session: None,
        subscription: listens.then(|| request.id.value()),
    };
    let check = |asked: &call::Asked| match call::mirrors(asked) {
        Some((tool, arguments)) => head::check_mirrors(&headers, tool, arguments),
        None => Ok(()),
    };
    let work = dispatch::begin(context, &request.method, params, meta, Some(&check));
    Ok((work, interim, keep_alive))
}
