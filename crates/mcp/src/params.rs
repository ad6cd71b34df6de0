//! The parameters of requests, taken apart without being copied, and the keys of `_meta`.

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    ProtocolVersion, RpcError, code,
    message::{is_object, present},
    unreadable,
};

/// The version of a modern request.
pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The name and version of a client (modern).
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
/// The capabilities of a client (modern).
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The least level of log messages that a client wants (modern).
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
/// The name and version of a server, in the `_meta` of its results (modern).
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
/// The `subscriptions/listen` request that a notification belongs to (modern).
pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
/// The token under which a client wants to get progress.
pub const PROGRESS_TOKEN: &str = "progressToken";

/// The parameters of any request, not looked into.
#[derive(Default, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub struct Params<'a> {
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
    #[serde(borrow, default)]
    pub context: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub capabilities: Option<&'a RawValue>,
}

impl<'a> Params<'a> {
    /// Reads the parameters of a request.
    pub fn read(json: Option<&'a str>) -> Result<Self, RpcError> {
        json.map_or_else(|| Ok(Self::default()), |json| fields(json, "params"))
    }

    /// Reads their `_meta`.
    pub fn meta(&self) -> Result<RequestMeta<'a>, RpcError> {
        self.meta.map_or_else(|| Ok(RequestMeta::default()), |raw| fields(raw.get(), "_meta"))
    }
}

/// The `_meta` of a request, not looked into. `toolgate/approval` is our own key.
#[derive(Default, Deserialize)]
#[allow(missing_docs, reason = "the names are those of the protocol")]
pub struct RequestMeta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    pub protocol_version: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/clientCapabilities")]
    pub client_capabilities: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "io.modelcontextprotocol/logLevel")]
    pub log_level: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "progressToken")]
    pub progress_token: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "toolgate/approval")]
    pub approval: Option<&'a RawValue>,
}

impl RequestMeta<'_> {
    /// The token under which the client wants to get progress.
    pub fn progress_token(&self) -> Result<Option<Value>, RpcError> {
        let Some(raw) = self.progress_token else { return Ok(None) };
        match serde_json::from_str(raw.get()) {
            Ok(token @ (Value::String(_) | Value::Number(_))) => Ok(Some(token)),
            _ => Err(RpcError::invalid_params("progressToken must be a string or a number")),
        }
    }

    /// The modern version of the request, and its client's capabilities. What is missing is named.
    pub fn version_and_capabilities(&self) -> Result<(ProtocolVersion, &RawValue), RpcError> {
        let missing =
            |key: &str| RpcError::invalid_params(format!("params._meta must have `{key}`"));
        let date = self.protocol_version.ok_or_else(|| missing(PROTOCOL_VERSION))?;
        let date = string(date, "protocolVersion")?;
        let capabilities = self.client_capabilities.ok_or_else(|| missing(CLIENT_CAPABILITIES))?;
        match ProtocolVersion::parse_modern(&date) {
            Some(version) => Ok((version, capabilities)),
            None => {
                let details = json!({
                    "supported": ProtocolVersion::MODERN,
                    "requested": RpcError::excerpt(&date),
                });
                let message = "Unsupported protocol version";
                Err(RpcError::new(code::UNSUPPORTED_VERSION, 400, message).data(details))
            }
        }
    }
}

/// A string that must be there.
pub fn required(raw: Option<&RawValue>, name: &str) -> Result<Box<str>, RpcError> {
    string(raw.ok_or_else(|| RpcError::invalid_params(format!("params must have `{name}`")))?, name)
}

pub fn string(raw: &RawValue, name: &str) -> Result<Box<str>, RpcError> {
    serde_json::from_str(raw.get())
        .map_err(|_| RpcError::invalid_params(format!("`{name}` must be a string")))
}

/// The fields of an object.
pub fn fields<'a, T: Deserialize<'a>>(json: &'a str, name: &str) -> Result<T, RpcError> {
    if !is_object(json) {
        return Err(RpcError::invalid_params(format!("{name} must be an object")));
    }
    serde_json::from_str(json)
        .map_err(|error| RpcError::invalid_params(format!("{name}: {}", unreadable(&error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names that serde reads are literals; the constants are what is written.
    #[test]
    fn meta_is_read_by_the_keys_that_are_written() {
        let text = json!({ "_meta": {
            PROTOCOL_VERSION: "2026-07-28",
            CLIENT_CAPABILITIES: { "roots": {} },
            LOG_LEVEL: "info",
            PROGRESS_TOKEN: 7,
        } })
        .to_string();
        let meta = Params::read(Some(&text)).unwrap().meta().unwrap();
        let (version, capabilities) = meta.version_and_capabilities().unwrap();
        assert_eq!(
            (version, capabilities.get()),
            (ProtocolVersion::V2026_07_28, r#"{"roots":{}}"#)
        );
        assert_eq!(meta.log_level.map(RawValue::get), Some("\"info\""));
        assert_eq!(meta.progress_token().unwrap(), Some(json!(7)));
    }

    #[test]
    fn what_is_missing_or_unknown_is_named() {
        let refused = |meta: &str| {
            let text = format!(r#"{{"_meta":{meta}}}"#);
            let meta = Params::read(Some(&text)).unwrap().meta().unwrap();
            meta.version_and_capabilities().unwrap_err()
        };
        assert!(refused("{}").message.contains(PROTOCOL_VERSION));
        let alone = format!(r#"{{"{PROTOCOL_VERSION}":"2026-07-28"}}"#);
        assert!(refused(&alone).message.contains(CLIENT_CAPABILITIES));
        let old = format!(r#"{{"{PROTOCOL_VERSION}":"2025-11-25","{CLIENT_CAPABILITIES}":{{}}}}"#);
        let error = refused(&old);
        assert_eq!((error.code, error.status), (code::UNSUPPORTED_VERSION, 400));
        assert_eq!(error.data.unwrap()["supported"], json!(["2026-07-28"]));
    }
}
