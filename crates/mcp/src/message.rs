//! Messages of JSON-RPC, taken apart once and put together as text: nothing is built only to be printed.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use crate::{RpcError, unreadable};

/// The longest id of a peer's request, in bytes.
const MAX_ID_BYTES: usize = 1_024;

/// A message. What it carries is JSON text that has not been looked into.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request, which wants a response.
    Request(Request<'a>),
    /// A notification, which wants none.
    Notification {
        method: Cow<'a, str>,
        /// Its parameters.
        params: Option<&'a str>,
    },
    /// The response to a request of ours.
    Response {
        /// The id of the request; nothing where it is `null` or not an id.
        id: Option<Id>,
        /// The `result`, or the `error`.
        result: Result<&'a str, &'a str>,
    },
}

/// A request, in either direction.
#[derive(Debug, Clone)]
pub struct Request<'a> {
    pub id: Id,
    pub method: Cow<'a, str>,
    /// Its parameters: the text of a JSON value.
    pub params: Option<&'a str>,
}

/// The id of a request: a string or an integer, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Id {
    /// An integer that fits; all ids that we give.
    Number(u64),
    /// Any other id, as JSON text.
    Text(Box<str>),
}

impl Id {
    /// The id that this JSON text is, if it is one.
    pub fn read(json: &str) -> Option<Self> {
        if let Ok(number) = json.parse()
            && !json.starts_with('+')
        {
            return Some(Self::Number(number));
        }
        let digits = json.strip_prefix('-').unwrap_or(json);
        let integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let valid = (integer || json.starts_with('"')) && json.len() <= MAX_ID_BYTES;
        valid.then(|| Self::Text(json.into()))
    }

    /// The number, if it is one that we could have given.
    pub fn number(&self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(_) => None,
        }
    }

    /// The id as a JSON value.
    pub fn value(&self) -> Value {
        match self {
            Self::Number(number) => Value::from(*number),
            Self::Text(text) => serde_json::from_str(text).unwrap_or_default(),
        }
    }

    fn append(&self, text: &mut Vec<u8>) {
        match self {
            Self::Number(number) => append_json(text, number),
            Self::Text(id) => text.extend_from_slice(id.as_bytes()),
        }
    }
}

/// As JSON text.
impl fmt::Display for Id {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// The result of a request, in either direction: JSON text. One that came from a peer is a slice of the
/// message that carried it, neither parsed nor copied.
#[derive(Debug, Clone)]
pub struct Response(Bytes);

impl Response {
    /// The response that this message carries: its `result` as a slice of it, or its `error`.
    pub fn read(message: &Bytes, result: Result<&str, &str>) -> Result<Self, RpcError> {
        match result {
            Ok(result) => Ok(Self(message.slice_ref(result.as_bytes()))),
            Err(error) => Err(RpcError::read(error)),
        }
    }

    /// The result as JSON text.
    pub fn json(&self) -> &str {
        // Looked at when it was read, or printed by us.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// The result as bytes of JSON text.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Bytes> for Response {
    fn from(json: Bytes) -> Self {
        Self(json)
    }
}

impl From<Vec<u8>> for Response {
    fn from(json: Vec<u8>) -> Self {
        Self(json.into())
    }
}

/// Bytes that are not a message.
#[derive(Debug)]
pub struct MalformedMessage {
    /// The id, where that could be read.
    pub id: Option<Id>,
    /// The reason why they are not.
    pub error: RpcError,
}

/// The fields of any message, not looked into.
#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct MessageFields<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// Reads a field that is there although it is null.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// True if JSON text is an object. Where fields are read by name, serde would take a list of them in
/// order as well.
pub(crate) fn is_object(json: &str) -> bool {
    json.trim_ascii_start().starts_with('{')
}

/// The string that JSON text is, borrowed unless something in it is escaped.
pub(crate) fn string(json: &str) -> Option<Cow<'_, str>> {
    match serde_json::from_str::<&str>(json) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str(json).map(Cow::Owned).ok(),
    }
}

/// The value, unless it is larger than so many bytes of JSON or nested too deeply.
pub fn bounded_value(json: &str, max_bytes: usize) -> Option<Value> {
    if json.len() > max_bytes {
        return None;
    }
    serde_json::from_str(json).ok()
}

fn fields(bytes: &[u8]) -> Result<MessageFields<'_>, RpcError> {
    // A field that nobody looks at has to be text as well.
    let text = std::str::from_utf8(bytes)
        .map_err(|error| RpcError::parse(format!("The message is not UTF-8: {error}")))?;
    match serde_json::from_str(text) {
        Ok(fields) if is_object(text) => Ok(fields),
        Ok(_) => Err(RpcError::invalid_request("Not a JSON-RPC message: not an object")),
        Err(error) if error.is_data() => Err(RpcError::invalid_request(format!(
            "Not a JSON-RPC message: {}",
            unreadable(&error)
        ))),
        Err(error) => Err(RpcError::parse(format!("The message is invalid JSON: {error}"))),
    }
}

impl<'a> Message<'a> {
    pub fn read(bytes: &'a [u8]) -> Result<Self, Box<MalformedMessage>> {
        let fields =
            fields(bytes).map_err(|error| Box::new(MalformedMessage { id: None, error }))?;
        let id = fields.id.and_then(|raw| Id::read(raw.get()));
        let reject = |id: Option<Id>, message: &str| {
            let error = RpcError::invalid_request(message);
            Err(Box::new(MalformedMessage { id, error }))
        };
        if fields.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
            return reject(id, "`jsonrpc` must be \"2.0\"");
        }
        // Some servers write the other of the two as null.
        let error = fields.error.filter(|error| error.get() != "null");
        let result = fields.result.filter(|result| error.is_none() || result.get() != "null");
        let params = fields.params.map(RawValue::get);
        match (fields.method, fields.id, result, error) {
            (Some(method), given, None, None) => {
                if given.is_some() && id.is_none() {
                    return reject(None, "`id` must be a string or an integer");
                }
                let Some(method) = string(method.get()) else {
                    return reject(id, "`method` must be a string");
                };
                Ok(match id {
                    Some(id) => Self::Request(Request { id, method, params }),
                    None => Self::Notification { method, params },
                })
            }
            (None, Some(_), Some(result), None) => {
                Ok(Self::Response { id, result: Ok(result.get()) })
            }
            (None, Some(_), None, Some(error)) => {
                Ok(Self::Response { id, result: Err(error.get()) })
            }
            _ => reject(id, "Neither a request, a notification nor a response"),
        }
    }
}

/// True if the bytes begin like a batch: several messages in a list, which is part of 2025-03-26 alone.
pub fn is_batch(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
}

/// The first messages of a batch, as slices of it, and whether there are more than `max`.
pub fn split_batch(batch: &Bytes, max: usize) -> Result<(Vec<Bytes>, bool), RpcError> {
    let text = std::str::from_utf8(batch)
        .map_err(|error| RpcError::parse(format!("The batch is not UTF-8: {error}")))?;
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let read = deserializer.deserialize_seq(BatchVisitor { max });
    let read = read.and_then(|read| deserializer.end().map(|()| read));
    let (items, more) =
        read.map_err(|error| RpcError::parse(format!("The batch is invalid JSON: {error}")))?;
    Ok((items.iter().map(|item| batch.slice_ref(item.get().as_bytes())).collect(), more))
}

/// Reads the first items of a list and passes over the others.
struct BatchVisitor {
    max: usize,
}

impl<'de> Visitor<'de> for BatchVisitor {
    type Value = (Vec<&'de RawValue>, bool);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() < self.max
            && let Some(item) = list.next_element()?
        {
            items.push(item);
        }
        let mut more = false;
        while list.next_element::<IgnoredAny>()?.is_some() {
            more = true;
        }
        Ok((items, more))
    }
}

impl Request<'_> {
    /// The message. Its parameters get a `_meta` of these fields, each the text of a name and its value;
    /// none where there are no fields. The parameters, an object without a `_meta`, are copied as they are.
    pub fn encode(&self, meta: &[&str]) -> Vec<u8> {
        let params = self.params.unwrap_or("{}");
        let meta_bytes: usize = meta.iter().map(|field| field.len() + 1).sum();
        let mut text = Vec::with_capacity(params.len() + self.method.len() + meta_bytes + 80);
        text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        self.id.append(&mut text);
        text.extend_from_slice(b",\"method\":");
        append_json(&mut text, &*self.method);
        text.extend_from_slice(b",\"params\":");
        match params.trim_ascii_start().strip_prefix('{') {
            Some(rest) if !meta.is_empty() => {
                text.extend_from_slice(b"{\"_meta\":{");
                for (index, field) in meta.iter().enumerate() {
                    if index > 0 {
                        text.push(b',');
                    }
                    text.extend_from_slice(field.as_bytes());
                }
                text.push(b'}');
                if !rest.trim_ascii_start().starts_with('}') {
                    text.push(b',');
                }
                text.extend_from_slice(rest.as_bytes());
            }
            _ => text.extend_from_slice(params.as_bytes()),
        }
        text.push(b'}');
        text
    }
}

/// A notification as a message.
pub fn encode_notification(method: &str, params: Option<&Value>) -> Vec<u8> {
    let mut text = b"{\"jsonrpc\":\"2.0\",\"method\":".to_vec();
    append_json(&mut text, method);
    if let Some(params) = params {
        text.extend_from_slice(b",\"params\":");
        append_json(&mut text, params);
    }
    text.push(b'}');
    text
}

/// The response to a request as a message: its result, or its error.
pub fn encode_response(id: &Id, outcome: &Result<Response, RpcError>) -> Vec<u8> {
    let response = match outcome {
        Ok(response) => response,
        Err(error) => return encode_error(Some(id), error),
    };
    let mut text = Vec::with_capacity(response.0.len() + 64);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    id.append(&mut text);
    text.extend_from_slice(b",\"result\":");
    text.extend_from_slice(&response.0);
    text.push(b'}');
    text
}

/// The response to a request that failed, or to bytes whose id could not be read.
pub fn encode_error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let mut text = Vec::with_capacity(128);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    match id {
        Some(id) => id.append(&mut text),
        None => text.extend_from_slice(b"null"),
    }
    text.extend_from_slice(b",\"error\":{\"code\":");
    append_json(&mut text, &error.code);
    text.extend_from_slice(b",\"message\":");
    append_json(&mut text, &error.message);
    if let Some(data) = &error.data {
        text.extend_from_slice(b",\"data\":");
        append_json(&mut text, data);
    }
    text.extend_from_slice(b"}}");
    text
}

pub fn append_json<T: Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Strings and values that came from JSON: there is nothing in it that cannot be printed.
    let _ = serde_json::to_writer(text, value);
}

/// Appends a further field of an object.
pub fn append_field<T: Serialize + ?Sized>(text: &mut Vec<u8>, name: &str, value: &T) {
    text.push(b',');
    append_json(text, name);
    text.push(b':');
    append_json(text, value);
}

/// Appends a string. JSON within a string is full of quotes, and to search for the next one after each
/// takes longer than to look at every byte.
pub fn append_string(text: &mut Vec<u8>, string: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    text.reserve(string.len() + string.len() / 4 + 2);
    text.push(b'"');
    for &byte in string.as_bytes() {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            b'\n' => text.extend_from_slice(b"\\n"),
            0..0x20 => {
                let digits = [HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]];
                text.extend_from_slice(b"\\u00");
                text.extend_from_slice(&digits);
            }
            _ => text.push(byte),
        }
    }
    text.push(b'"');
}

#[cfg(test)]
mod tests;
