//! Messages of JSON-RPC, taken apart once and put together as text.

use std::{borrow::Cow, fmt};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use crate::{RpcError, json_text::append};

/// The longest id of a peer's request, in bytes.
const MAX_ID_BYTES: usize = 1_024;

/// A message. What it carries is JSON text that has not been looked into.
#[derive(Debug)]
pub enum Message<'a> {
    /// A request, which wants a response.
    Request(Request<'a>),
    /// A notification, which wants none.
    Notification {
        /// Its method.
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
    /// Its id.
    pub id: Id,
    /// Its method.
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
            Self::Number(number) => append(text, number),
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
    /// The result that stands in this message.
    pub fn within(message: &Bytes, result: &str) -> Self {
        Self(message.slice_ref(result.as_bytes()))
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
    /// Why they are not.
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

/// Whether JSON text is an object. Where fields are read by name, serde would take a list of them in
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
        Err(error) if error.is_data() => {
            Err(RpcError::invalid_request(format!("Not a JSON-RPC message: {error}")))
        }
        Err(error) => Err(RpcError::parse(format!("The message is invalid JSON: {error}"))),
    }
}

impl<'a> Message<'a> {
    /// Reads one message.
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

/// Whether the bytes begin like a batch: several messages in a list, which is part of 2025-03-26 alone.
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
        append(&mut text, &*self.method);
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
    append(&mut text, method);
    if let Some(params) = params {
        text.extend_from_slice(b",\"params\":");
        append(&mut text, params);
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
    append(&mut text, &error.code);
    text.extend_from_slice(b",\"message\":");
    append(&mut text, &error.message);
    if let Some(data) = &error.data {
        text.extend_from_slice(b",\"data\":");
        append(&mut text, data);
    }
    text.extend_from_slice(b"}}");
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::code;

    fn rejected(bytes: &[u8]) -> (Option<String>, i64) {
        match Message::read(bytes) {
            Ok(message) => panic!("{message:?}"),
            Err(malformed) => (malformed.id.map(|id| id.to_string()), malformed.error.code),
        }
    }

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(
            Message::read(br#"{"jsonrpc":"2.0","id":7,"method":"a\/b","params":{}}"#),
            Ok(Message::Request(Request { id: Id::Number(7), method, params: Some("{}") })) if method == "a/b"
        ));
        assert!(matches!(
            Message::read(br#"{"jsonrpc":"2.0","method":"x"}"#),
            Ok(Message::Notification { params: None, .. })
        ));
        assert!(matches!(
            Message::read(br#"{"jsonrpc":"2.0","id":"a","result":null}"#),
            Ok(Message::Response { id: Some(Id::Text(_)), result: Ok("null") })
        ));
        let text = br#"{"jsonrpc":"2.0","id":"a\"b","method":"roots\/list"}"#;
        let Ok(Message::Request(request)) = Message::read(text) else { panic!("not read") };
        assert_eq!((&*request.id.to_string(), &*request.method), (r#""a\"b""#, "roots/list"));
        assert_eq!(request.id.value(), json!("a\"b"));
    }

    #[test]
    fn what_is_not_a_message_is_rejected_with_its_id_and_the_exact_code() {
        let (parse, invalid) = (code::PARSE_ERROR, code::INVALID_REQUEST);
        let one = || Some("1".to_owned());
        for (text, id, code) in [
            ("", None, parse),
            (" ", None, parse),
            ("hello", None, parse),
            ("{", None, parse),
            ("[]", None, invalid),
            ("1", None, invalid),
            ("{}", None, invalid),
            (r#"{"level":"info","msg":"listening"}"#, None, invalid),
            (r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#, one(), invalid),
            (r#"{"jsonrpc":"2.0","id":1,"method":5}"#, one(), invalid),
            (r#"{"jsonrpc":"2.0","id":1}"#, one(), invalid),
            (r#"{"jsonrpc":"2.0","id":1,"error":null}"#, one(), invalid),
            (r#"{"jsonrpc":"2.0","result":{}}"#, None, invalid),
            (r#"{"jsonrpc":"2.0","id":1,"method":"x","result":{}}"#, one(), invalid),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#, None, invalid),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}} x"#, None, parse),
            ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{0}\"}", None, parse),
        ] {
            assert_eq!(rejected(text.as_bytes()), (id, code), "{text}");
        }
        for id in ["null", "1.5", "1E400", "true", "{}", "[1]"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            assert_eq!(rejected(text.as_bytes()), (None, invalid), "{id}");
        }
        for field in ["method", "x"] {
            let bytes =
                [br#"{"jsonrpc":"2.0","id":1,""#, field.as_bytes(), b"\":\"\xff\"}"].concat();
            assert_eq!(rejected(&bytes), (None, parse), "bytes that are not text");
        }
    }

    #[test]
    fn a_result_is_a_slice_of_its_message() {
        let message = Bytes::from_static(
            br#" {"jsonrpc":"2.0","result":{"a":[1E400, "\u00e4"]} ,"id":12345678901,"x":{}}"#,
        );
        let Ok(Message::Response { id, result: Ok(result) }) = Message::read(&message) else {
            panic!("not read");
        };
        assert_eq!(id.and_then(|id| id.number()), Some(12_345_678_901));
        let response = Response::within(&message, result);
        assert_eq!(response.json(), r#"{"a":[1E400, "\u00e4"]}"#);
        assert!(message.as_ptr_range().contains(&response.json().as_ptr()), "not a copy");
    }

    #[test]
    fn an_id_that_is_not_ours_belongs_to_nothing() {
        for id in ["null", "\"1\"", "1.5", "-1", "{}", "99999999999999999999"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
            let Ok(Message::Response { id: read, .. }) = Message::read(text.as_bytes()) else {
                panic!("{id}");
            };
            assert_eq!(read.and_then(|id| id.number()), None, "{id}");
        }
    }

    #[test]
    fn the_error_counts_where_a_server_writes_both() {
        let both = br#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#;
        assert!(matches!(Message::read(both), Ok(Message::Response { result: Err(_), .. })));
        let null = br#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#;
        assert!(matches!(Message::read(null), Ok(Message::Response { result: Ok("{}"), .. })));
    }

    #[test]
    fn depth_is_no_danger() {
        let deep = "[".repeat(1 << 20);
        let open = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#);
        assert!(Message::read(open.as_bytes()).is_err());
        let closed =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}{}}}"#, "]".repeat(1 << 20));
        assert!(matches!(
            Message::read(closed.as_bytes()),
            Ok(Message::Response { result: Ok(_), .. })
        ));
    }

    #[test]
    fn a_batch_is_a_list_of_messages() {
        let batch = Bytes::from_static(b" [ {\"a\":1}, {\"b\":2} ]");
        assert!(is_batch(&batch));
        let (items, more) = split_batch(&batch, 10).unwrap();
        assert_eq!((items, more), (vec![b"{\"a\":1}"[..].into(), b"{\"b\":2}"[..].into()], false));
        assert!(matches!(split_batch(&batch, 1), Ok((items, true)) if items.len() == 1));
        assert!(!is_batch(b"{}"));
        for broken in ["[", "{}", "[] x", "[1,]"] {
            assert!(split_batch(&Bytes::from_static(broken.as_bytes()), 10).is_err(), "{broken}");
        }
    }

    #[test]
    fn meta_comes_before_the_parameters() {
        for (params, expected) in [
            ("{}", r#"{"_meta":{"a":1,"b":2}}"#),
            (" { } ", r#"{"_meta":{"a":1,"b":2} } "#),
            (r#"{"x":"}"}"#, r#"{"_meta":{"a":1,"b":2},"x":"}"}"#),
        ] {
            let request = Request { id: Id::Number(1), method: "m".into(), params: Some(params) };
            let message = request.encode(&[r#""a":1"#, r#""b":2"#]);
            let expected =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{expected}}}"#);
            assert_eq!(String::from_utf8(message).unwrap(), expected);
        }
    }

    #[test]
    fn messages_are_one_line_of_json() {
        let text = Id::Text("\"a\"".into());
        let request =
            Request { id: text.clone(), method: "tools/call".into(), params: Some(r#"{"a":1}"#) };
        let ok = Ok(Response::from(b"{}".to_vec()));
        let failed = Err(RpcError::method_not_found("x\n").data(json!([1])));
        for (message, expected) in [
            (
                request.encode(&[]),
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"a":1}}"#,
            ),
            (encode_notification("x/y", None), r#"{"jsonrpc":"2.0","method":"x/y"}"#),
            (
                encode_notification("x/y", Some(&json!({ "a": "\n" }))),
                r#"{"jsonrpc":"2.0","method":"x/y","params":{"a":"\n"}}"#,
            ),
            (encode_response(&text, &ok), r#"{"jsonrpc":"2.0","id":"a","result":{}}"#),
            (
                encode_response(&Id::Number(7), &failed),
                r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"Method not found: x\n","data":[1]}}"#,
            ),
            (
                encode_error(None, &RpcError::parse("no")),
                r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}"#,
            ),
        ] {
            assert_eq!(std::str::from_utf8(&message).unwrap(), expected);
        }
    }
}
