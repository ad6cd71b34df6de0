//! The parameters of requests, taken apart without being copied.

use contract::render::mcp::Era;
use gate::{ApprovalId, LogLevel};
use serde::Deserialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    client::{self, Client},
    rpc::{RpcError, is_object, present, shown},
    version::Version,
};

/// The parameters of any request, not looked into.
#[derive(Default, Deserialize)]
pub(crate) struct Params<'a> {
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub arguments: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputResponses")]
    pub input_responses: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState")]
    pub request_state: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub cursor: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub uri: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "taskId", deserialize_with = "present")]
    pub task_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub notifications: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "ref")]
    pub reference: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub argument: Option<&'a RawValue>,
    #[serde(borrow)]
    pub context: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestId")]
    pub request_id: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    pub(crate) fn read(raw: Option<&'a RawValue>) -> Result<Self, RpcError> {
        raw.map_or_else(|| Ok(Self::default()), |raw| fields(raw, "params"))
    }

    pub(crate) fn meta(&self) -> Result<Meta<'a>, RpcError> {
        self.meta.map_or_else(|| Ok(Meta::default()), |raw| fields(raw, "_meta"))
    }
}

/// What a request says about itself.
#[derive(Default, Deserialize)]
pub(crate) struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "toolgate/approval")]
    approval: Option<&'a RawValue>,
}

impl Meta<'_> {
    /// The token under which the client wants to hear of progress.
    pub(crate) fn progress_token(&self) -> Result<Option<Value>, RpcError> {
        let Some(raw) = self.progress_token else { return Ok(None) };
        match serde_json::from_str(raw.get()) {
            Ok(token @ (Value::String(_) | Value::Number(_))) => Ok(Some(token)),
            _ => Err(RpcError::malformed("progressToken must be a text or a number")),
        }
    }

    /// The approval that the client has for this call.
    pub(crate) fn approval(&self) -> Result<Option<ApprovalId>, RpcError> {
        let Some(raw) = self.approval else { return Ok(None) };
        let id = text(raw, "toolgate/approval")?;
        ApprovalId::parse(&id)
            .map(Some)
            .ok_or_else(|| RpcError::malformed("`toolgate/approval` must be the id of an approval"))
    }

    /// The client as this request of the modern era describes it. What is missing is named.
    pub(crate) fn client(&self) -> Result<Client, RpcError> {
        let missing = |key: &str| {
            RpcError::malformed(format!("params._meta must have `io.modelcontextprotocol/{key}`"))
        };
        let date = self.protocol_version.ok_or_else(|| missing("protocolVersion"))?;
        let date = text(date, "protocolVersion")?;
        let capabilities = self.client_capabilities.ok_or_else(|| missing("clientCapabilities"))?;
        let Some(version) = Version::parse(&date).filter(|one| one.era() == Era::Modern) else {
            return Err(unsupported(&date));
        };
        let (capabilities, tasks) = client::abilities(capabilities)?;
        let log_level = self.log_level.map(level).transpose()?;
        Ok(Client { version, capabilities, tasks, log_level })
    }
}

/// We do not speak that revision.
fn unsupported(date: &str) -> RpcError {
    RpcError::new(-32022, 400, "Unsupported protocol version")
        .data(json!({ "supported": Version::MODERN, "requested": shown(date) }))
}

/// A level of a log.
pub(crate) fn level(raw: &RawValue) -> Result<LogLevel, RpcError> {
    let word = text(raw, "level")?;
    LogLevel::parse(&word).ok_or_else(|| {
        let words: Vec<_> = LogLevel::ALL.iter().map(|level| level.word()).collect();
        RpcError::malformed(format!("the level is one of {}", words.join(", ")))
    })
}

/// A text that must be there.
pub(crate) fn required(raw: Option<&RawValue>, name: &str) -> Result<Box<str>, RpcError> {
    text(raw.ok_or_else(|| RpcError::malformed(format!("params must have `{name}`")))?, name)
}

pub(crate) fn text(raw: &RawValue, name: &str) -> Result<Box<str>, RpcError> {
    serde_json::from_str(raw.get())
        .map_err(|_| RpcError::malformed(format!("`{name}` must be a text")))
}

/// An object that may be there, read strictly.
pub(crate) fn object(raw: Option<&RawValue>, name: &str) -> Result<Map<String, Value>, RpcError> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    match contract::json::parse(raw.get().as_bytes()) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(RpcError::malformed(format!("`{name}` must be an object"))),
        Err(error) => Err(RpcError::malformed(format!("`{name}`: {error}"))),
    }
}

/// The fields of an object.
pub(crate) fn fields<'a, T: Deserialize<'a>>(raw: &'a RawValue, name: &str) -> Result<T, RpcError> {
    if !is_object(raw.get()) {
        return Err(RpcError::malformed(format!("{name} must be an object")));
    }
    serde_json::from_str(raw.get()).map_err(|error| RpcError::malformed(format!("{name}: {error}")))
}
