//! Errors of JSON-RPC, with the HTTP status that goes with each.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use crate::message::{bounded_value, is_object, string};

/// The numbers of JSON-RPC and MCP.
pub mod code {
    /// The text is not JSON.
    pub const PARSE_ERROR: i64 = -32_700;
    /// The JSON is not a message, or one that cannot be taken here and now.
    pub const INVALID_REQUEST: i64 = -32_600;
    /// There is no such method.
    pub const METHOD_NOT_FOUND: i64 = -32_601;
    /// The parameters do not fit the method, or name something that does not exist.
    pub const INVALID_PARAMS: i64 = -32_602;
    /// The server failed.
    pub const INTERNAL_ERROR: i64 = -32_603;
    /// A resource does not exist (until 2025-11-25).
    pub const RESOURCE_NOT_FOUND: i64 = -32_002;
    /// A header differs from the body.
    pub const HEADER_MISMATCH: i64 = -32_020;
    /// The client lacks a capability that the request needs.
    pub const MISSING_CAPABILITY: i64 = -32_021;
    /// The protocol version is not supported; `data.supported` lists those that are.
    pub const UNSUPPORTED_VERSION: i64 = -32_022;
}

/// As much of the text of a peer's error as is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 4_096;
/// The largest `data` of a peer's error, in bytes of JSON. More is left out.
const MAX_DATA_BYTES: usize = 64 * 1_024;

/// An error of JSON-RPC.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    /// Its number, see [`code`].
    pub code: i64,
    /// The message for people.
    pub message: String,
    /// Details for programs.
    pub data: Option<Value>,
    /// The HTTP status that it goes out with or came with; 200 where nothing says otherwise.
    pub status: u16,
}

impl RpcError {
    /// An error with these three and no data.
    pub fn new(code: i64, status: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status }
    }

    /// The same with data.
    #[must_use]
    pub fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The text is not JSON.
    pub fn parse(message: impl Into<String>) -> Self {
        Self::new(code::PARSE_ERROR, 400, message)
    }

    /// The JSON is not a message, or one that cannot be taken here and now.
    pub fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_REQUEST, 400, message)
    }

    /// There is no such method.
    pub fn method_not_found(method: &str) -> Self {
        Self::new(
            code::METHOD_NOT_FOUND,
            404,
            format!("Method not found: {}", Self::excerpt(method)),
        )
    }

    /// The parameters do not have the form that the method wants.
    pub fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, 400, message)
    }

    /// The parameters have the right form and name something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(code::INVALID_PARAMS, 200, message)
    }

    /// The server failed.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(code::INTERNAL_ERROR, 200, message)
    }

    /// As much of a name that a peer made up as a message repeats.
    pub fn excerpt(name: &str) -> String {
        name.chars().take(64).collect()
    }

    /// The `error` of a peer's response, within bounds. A malformed one is kept as well as it can be.
    pub fn read(json: &str) -> Self {
        #[derive(Deserialize)]
        struct ErrorFields<'a> {
            code: Option<f64>,
            #[serde(borrow)]
            message: Option<&'a RawValue>,
            #[serde(borrow)]
            data: Option<&'a RawValue>,
        }
        const UNREADABLE: &str = "the peer sent an error that cannot be read";
        let bounded = |text: &str| text.chars().take(MAX_MESSAGE_CHARS).collect::<String>();
        let fields: Option<ErrorFields<'_>> =
            is_object(json).then(|| serde_json::from_str(json).ok()).flatten();
        let Some(fields) = fields else {
            return Self::internal(bounded(&string(json).unwrap_or(Cow::Borrowed(UNREADABLE))));
        };
        let message = fields.message.and_then(|raw| string(raw.get()));
        #[allow(
            clippy::cast_possible_truncation,
            reason = "a number out of range ends at its edge"
        )]
        let code = fields.code.map_or(code::INTERNAL_ERROR, |code| code as i64);
        let data = fields.data.and_then(|raw| bounded_value(raw.get(), MAX_DATA_BYTES));
        let message = bounded(&message.unwrap_or(Cow::Borrowed(UNREADABLE)));
        Self { data, ..Self::new(code, 200, message) }
    }
}

impl std::fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.message, self.code)
    }
}

impl std::error::Error for RpcError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_kept_as_well_as_they_can_be_read() {
        let whole = RpcError::read(r#"{"code":-32022,"message":"no","data":{"supported":["x"]}}"#);
        assert_eq!((whole.code, &*whole.message), (code::UNSUPPORTED_VERSION, "no"));
        assert_eq!(whole.data.unwrap()["supported"][0], "x");
        assert_eq!(RpcError::read(r#""boom""#).message, "boom");
        assert_eq!(RpcError::read("5").code, code::INTERNAL_ERROR);
        assert_eq!(RpcError::read("[1]").code, code::INTERNAL_ERROR);
        assert_eq!(RpcError::read(r#"{"message":"no code"}"#).message, "no code");
        assert_eq!(RpcError::read(r#"{"code":1E300,"message":1}"#).code, i64::MAX);
        let long = format!(r#"{{"code":1,"message":"{}"}}"#, "ä".repeat(10_000));
        assert_eq!(RpcError::read(&long).message.chars().count(), MAX_MESSAGE_CHARS);
        let large = format!(r#"{{"code":1,"message":"m","data":"{}"}}"#, "x".repeat(100_000));
        assert_eq!(RpcError::read(&large).data, None);
        let deep = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        let deep = format!(r#"{{"code":1,"message":"m","data":{deep}}}"#);
        assert_eq!(RpcError::read(&deep).data, None);
    }
}
