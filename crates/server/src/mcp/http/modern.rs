//! The modern era over HTTP: every request stands alone, and a closed connection is a
//! cancelled call.

use axum::response::Response;
use gate::Door;
use tokio_util::sync::CancellationToken;

use super::{Knock, SESSION, accepted, failed, finished, head, request_of, stream};
use crate::mcp::{
    call,
    client::{Meta, Params},
    context::{Context, Outbox},
    dispatch::{self, Work},
    rpc::{Message, Request, RpcError},
    version::Version,
};
use contract::render::mcp::Era;

const VERSION: &str = "mcp-protocol-version";

/// Whether a message is one of the modern era: it says so in itself, or in its head.
pub(super) fn is_meant(knock: &Knock, message: &Message<'_>) -> bool {
    let raw = match message {
        Message::Request(request) => request.params,
        Message::Notification { params, .. } => *params,
        Message::Response { .. } => None,
    };
    let says = |meta: Meta<'_>| meta.protocol_version.is_some();
    if Params::read(raw).and_then(|params| params.meta()).is_ok_and(says) {
        return true;
    }
    let opens = matches!(message, Message::Request(request) if &*request.method == "initialize");
    match knock.header(VERSION).map(Version::parse) {
        None => false,
        Some(Some(version)) => version.era() == Era::Modern,
        // A revision that nobody here knows is not one of the old ones.
        Some(None) => !opens && !knock.headers.contains_key(SESSION),
    }
}

pub(super) async fn receive(knock: Knock, message: Message<'_>) -> Response {
    match request_of(message) {
        Ok(request) => answer(knock, request).await,
        Err(Message::Response { id, .. }) => {
            let error = RpcError::invalid_request("in this revision the server asks nothing");
            failed(Some(&id), &error)
        }
        // There is nothing that a client could tell us here; a closed stream cancels.
        Err(_) => accepted(),
    }
}

async fn answer(knock: Knock, request: Request<'_>) -> Response {
    let id = request.id.clone();
    let can_stream = knock.accepts_streams();
    match begin(knock, &request, can_stream) {
        Err(error) => failed(Some(&id), &error),
        Ok((Work::Now(reply), _, _)) => {
            let status = reply.as_ref().err().map_or(200, |error| error.status);
            finished(&id, &reply, status)
        }
        Ok((Work::Later(work), interim, keep_alive)) => {
            stream::respond(
                id,
                work,
                interim,
                stream::Manner { keep_alive, can_stream, modern: true },
            )
            .await
        }
    }
}

type Begun = (Work, Option<stream::Interim>, std::time::Duration);

fn begin(knock: Knock, request: &Request<'_>, can_stream: bool) -> Result<Begun, RpcError> {
    let params = Params::read(request.params)?;
    let meta = params.meta()?;
    if let Some(version) = meta.protocol_version {
        let version = crate::mcp::client::text(version, "protocolVersion")?;
        head::check(&knock.headers, &version, &request.method, &params)?;
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
    let work = dispatch::begin(context, &request.method, &params, Some(&check));
    Ok((work, interim, keep_alive))
}
