//! How a client of the legacy era begins, and what it tells us afterwards.

use std::sync::Arc;

use contract::render::mcp::Era;
use gate::Caller;
use serde_json::{Value, json, value::RawValue};

use super::{
    client::{self, Client},
    context::{self, Scope},
    dispatch,
    params::{self, Params},
    requests::Requests,
    rpc::{Id, Message, RpcError},
    session::Session,
    version::Version,
};
use crate::App;

/// Makes a session of an `initialize`, and its answer.
pub(crate) fn begin(
    app: &Arc<App>,
    caller: &Caller,
    scope: &Scope,
    params: Option<&RawValue>,
    requests: Arc<Requests>,
) -> Result<(Arc<Session>, Vec<u8>), RpcError> {
    let params = Params::read(params)?;
    let asked = params::required(params.protocol_version, "protocolVersion")?;
    // What we do not speak is answered with what we do; the client decides then.
    let version = Version::parse(&asked)
        .filter(|version| version.era() == Era::Legacy)
        .unwrap_or(Version::NEWEST_LEGACY);
    let abilities = params.capabilities.map(client::abilities).transpose()?;
    let (capabilities, _) = abilities.unwrap_or_default();
    let client = Client { version, capabilities, tasks: false, log_level: None };
    let mut info: Value =
        serde_json::from_str(&context::server_info(app, scope)).unwrap_or_default();
    info["title"] = json!("Toolgate");
    let result = json!({
        "protocolVersion": version.date(),
        "capabilities": dispatch::capabilities(&*context::library(app, scope), Era::Legacy),
        "serverInfo": info,
        "instructions": dispatch::INSTRUCTIONS,
    });
    let session = Session::new(client, caller.clone(), scope.clone(), requests);
    Ok((session, serde_json::to_vec(&result).unwrap_or_default()))
}

/// Something that a client tells us, or answers. Of what it tells, only a lost interest changes
/// anything.
pub(crate) fn told(session: &Session, message: &Message<'_>) {
    match message {
        Message::Response { id, result } => session.answer(id, answer_of(*result)),
        _ => {
            if let Some(id) = cancelled(message) {
                session.requests.cancel(&id);
            }
        }
    }
}

/// The request that a client has lost interest in.
pub(crate) fn cancelled(message: &Message<'_>) -> Option<Id> {
    match message {
        Message::Notification { method, params } if &**method == "notifications/cancelled" => {
            Id::read(Params::read(*params).ok()?.request_id?)
        }
        _ => None,
    }
}

/// The answer to a question of ours.
fn answer_of(result: Result<&RawValue, &RawValue>) -> Result<Value, String> {
    let value = |raw: &RawValue| {
        contract::json::parse(raw.get().as_bytes()).map_err(|error| error.to_string())
    };
    match result {
        Ok(raw) => value(raw),
        Err(raw) => {
            let error = value(raw)?;
            let words = error["message"].as_str().unwrap_or("the client refused");
            Err(words.chars().take(500).collect())
        }
    }
}
