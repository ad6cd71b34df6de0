//! The beginning of a legacy session, and the messages of its client that are not requests.

use std::sync::Arc;

use gate::Caller;
use mcp::{
    ClientCapabilities, Id, Message, Notification, ProtocolVersion, RpcError,
    params::{Params, required},
};
use serde_json::{Value, json};

use super::{
    context::{self, Client, Scope},
    dispatch,
    open_requests::OpenRequests,
    session::Session,
};
use crate::App;

/// Opens a session for an `initialize` request; its response is returned with it.
pub(crate) fn begin(
    app: &Arc<App>,
    caller: &Caller,
    scope: &Scope,
    params: Option<&str>,
    requests: Arc<OpenRequests>,
) -> Result<(Arc<Session>, mcp::Response), RpcError> {
    let params = Params::read(params)?;
    let wanted = required(params.protocol_version, "protocolVersion")?;
    // A version that we do not speak is answered with one that we do; the client decides then.
    let version = ProtocolVersion::parse_legacy(&wanted).unwrap_or(ProtocolVersion::NEWEST_LEGACY);
    let capabilities = params.capabilities.map(ClientCapabilities::read).transpose()?;
    // Legacy clients have another kind of tasks.
    let capabilities = ClientCapabilities { tasks: false, ..capabilities.unwrap_or_default() };
    let client = Client::new(version, capabilities);
    let mut info: Value =
        serde_json::from_str(&context::server_info(app, scope)).unwrap_or_default();
    info["title"] = json!("Toolgate");
    let result = json!({
        "protocolVersion": version,
        "capabilities": dispatch::capabilities(&app.gate, &*context::library(app, scope), version),
        "serverInfo": info,
        "instructions": dispatch::INSTRUCTIONS,
    });
    let session = Session::new(client, caller.clone(), scope.clone(), requests);
    Ok((session, serde_json::to_vec(&result).unwrap_or_default().into()))
}

/// Takes a notification, or the response to a request of ours. Of notifications only a cancellation
/// changes anything.
pub(crate) fn no_request(session: &Session, message: &Message<'_>) -> Result<(), RpcError> {
    match message {
        Message::Response { id: Some(id), result } => {
            session.respond(id, input_response(*result));
            Ok(())
        }
        Message::Response { id: None, .. } => {
            Err(RpcError::invalid_request("`id` must be a string or an integer"))
        }
        Message::Notification { .. } | Message::Request(_) => {
            if let Some(id) = cancelled(message) {
                session.requests.cancel(&id);
            }
            Ok(())
        }
    }
}

/// The request that a client cancels.
pub(crate) fn cancelled(message: &Message<'_>) -> Option<Id> {
    match message {
        Message::Notification { method, params } => match Notification::read(method, *params) {
            Notification::Cancelled(id) => Some(id),
            _ => None,
        },
        _ => None,
    }
}

/// The response to an input request of ours.
fn input_response(result: Result<&str, &str>) -> Result<Value, String> {
    match result {
        Ok(json) => contract::json::parse(json.as_bytes()).map_err(|error| error.to_string()),
        Err(json) => Err(RpcError::read(json).message.chars().take(500).collect()),
    }
}
