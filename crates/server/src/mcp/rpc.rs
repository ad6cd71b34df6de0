//! JSON-RPC: messages taken apart and put together.

use std::fmt;

use serde::{Deserialize, Deserializer};
use serde_json::{Value, value::RawValue};

/// The longest name of a request that is remembered, in bytes.
const MAX_ID_BYTES: usize = 1_024;

/// What a message is.
pub(crate) enum Message<'a> {
    /// Somebody asks, and waits for an answer.
    Request(Request<'a>),
    /// Somebody tells.
    Notification { method: Box<str>, params: Option<&'a RawValue> },
    /// Somebody answers what we have asked.
    Response { id: Id, result: Result<&'a RawValue, &'a RawValue> },
}

/// A request, its parameters not yet looked at.
pub(crate) struct Request<'a> {
    pub id: Id,
    pub method: Box<str>,
    pub params: Option<&'a RawValue>,
}

/// The name of a request: a text or a whole number, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Id(Box<str>);

impl Id {
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        let digits = text.strip_prefix('-').unwrap_or(text);
        let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let valid = (whole || text.starts_with('"')) && text.len() <= MAX_ID_BYTES;
        valid.then(|| Self(text.into()))
    }

    /// The id of one of our own requests.
    pub(crate) fn number(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// As JSON text.
    pub(crate) fn json(&self) -> &str {
        &self.0
    }

    /// As a value.
    pub(crate) fn value(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// An error as JSON-RPC has it, and the HTTP status that goes with it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Option<Value>,
    pub status: u16,
}

impl RpcError {
    pub(crate) fn new(code: i32, status: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None, status }
    }

    pub(crate) fn data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// The text is no JSON.
    pub(crate) fn parse(message: impl Into<String>) -> Self {
        Self::new(-32700, 400, message)
    }

    /// The JSON is no message, or one that cannot be taken here and now.
    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, 400, message)
    }

    /// There is no such method.
    pub(crate) fn unknown_method(method: &str) -> Self {
        Self::new(-32601, 404, format!("Method not found: {}", shown(method)))
    }

    /// The parameters have not the form that the method wants.
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self::new(-32602, 400, message)
    }

    /// The parameters name something that is not there.
    pub(crate) fn unknown(message: impl Into<String>) -> Self {
        Self::new(-32602, 200, message)
    }

    /// What we keep cannot be read or written now. Why is the operator's business.
    pub(crate) fn unavailable(error: &dyn fmt::Display) -> Self {
        tracing::error!(%error, "the store failed");
        Self::internal("what the server keeps cannot be reached now")
    }

    /// We failed.
    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, 200, message)
    }
}

/// As much of a name that somebody made up as a message repeats.
pub(crate) fn shown(name: &str) -> String {
    name.chars().take(64).collect()
}

/// A message that is none, with its id where that could be read.
pub(crate) type Malformed = Box<(Option<Id>, RpcError)>;

/// The fields of any message, not looked into.
#[derive(Deserialize)]
struct Fields<'a> {
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

fn fields(bytes: &[u8]) -> Result<Fields<'_>, RpcError> {
    // A field that nobody looks at has to be text as well.
    let text = std::str::from_utf8(bytes)
        .map_err(|error| RpcError::parse(format!("The message is not UTF-8: {error}")))?;
    match serde_json::from_str(text) {
        Ok(fields) if is_object(text) => Ok(fields),
        Ok(_) => Err(RpcError::invalid_request("Not a JSON-RPC message: it is no object")),
        Err(error) if error.is_data() => {
            Err(RpcError::invalid_request(format!("Not a JSON-RPC message: {error}")))
        }
        Err(error) => Err(RpcError::parse(format!("The message is invalid JSON: {error}"))),
    }
}

/// Whether JSON is an object. Where fields are read by name, a list of them in order would be
/// taken as well.
pub(crate) fn is_object(json: &str) -> bool {
    json.trim_ascii_start().starts_with('{')
}

/// A field that is null is there all the same.
pub(crate) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The one message that the bytes spell.
pub(crate) fn parse(bytes: &[u8]) -> Result<Message<'_>, Malformed> {
    let fields: Fields<'_> = fields(bytes).map_err(|error| Box::new((None, error)))?;
    let id = fields.id.and_then(Id::read);
    let refuse = |message: &str| Box::new((id.clone(), RpcError::invalid_request(message)));
    if fields.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err(refuse("`jsonrpc` must be \"2.0\""));
    }
    if fields.id.is_some() && id.is_none() {
        return Err(refuse("`id` must be a text or a whole number"));
    }
    let method = match fields.method.map(RawValue::get).map(serde_json::from_str::<Box<str>>) {
        Some(Err(_)) => return Err(refuse("`method` must be a text")),
        Some(Ok(method)) => Some(method),
        None => None,
    };
    match (method, id, fields.result, fields.error) {
        (Some(method), Some(id), None, None) => {
            Ok(Message::Request(Request { id, method, params: fields.params }))
        }
        (Some(method), None, None, None) => {
            Ok(Message::Notification { method, params: fields.params })
        }
        (None, Some(id), Some(result), None) => Ok(Message::Response { id, result: Ok(result) }),
        (None, Some(id), None, Some(error)) => Ok(Message::Response { id, result: Err(error) }),
        (_, id, ..) => {
            let error =
                RpcError::invalid_request("Neither a request, a notification nor a response");
            Err(Box::new((id, error)))
        }
    }
}

/// The answer to a request.
pub(crate) fn result(id: &Id, result: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(result.len() + id.0.len() + 40);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id.0.as_bytes());
    text.extend_from_slice(b",\"result\":");
    text.extend_from_slice(result);
    text.push(b'}');
    text
}

/// The answer to a request that went wrong, or to something that could not be read at all.
pub(crate) fn error(id: Option<&Id>, error: &RpcError) -> Vec<u8> {
    let mut text = Vec::with_capacity(128);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id.map_or("null", Id::json).as_bytes());
    text.extend_from_slice(format!(",\"error\":{{\"code\":{},\"message\":", error.code).as_bytes());
    print(&mut text, &error.message);
    if let Some(data) = &error.data {
        text.extend_from_slice(b",\"data\":");
        print(&mut text, data);
    }
    text.extend_from_slice(b"}}");
    text
}

/// Whatever came of a request.
pub(crate) fn answer(id: &Id, reply: &Result<Vec<u8>, RpcError>) -> Vec<u8> {
    match reply {
        Ok(body) => result(id, body),
        Err(failed) => error(Some(id), failed),
    }
}

/// Something that we tell.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    message(None, method, params)
}

/// Something that we ask.
pub(crate) fn request(id: &Id, method: &str, params: &Value) -> Vec<u8> {
    message(Some(id), method, params)
}

fn message(id: Option<&Id>, method: &str, params: &Value) -> Vec<u8> {
    let mut text = Vec::with_capacity(160);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\"");
    if let Some(id) = id {
        text.extend_from_slice(b",\"id\":");
        text.extend_from_slice(id.0.as_bytes());
    }
    text.extend_from_slice(b",\"method\":");
    print(&mut text, method);
    text.extend_from_slice(b",\"params\":");
    print(&mut text, params);
    text.push(b'}');
    text
}

/// Appends a value as JSON text.
pub(crate) fn print<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Texts and values that came from JSON: there is nothing in it that cannot be printed.
    let _ = serde_json::to_writer(text, value);
}

/// Appends a text as JSON. JSON within a text is full of quotes, and to look for the next one after each
/// takes longer than to look at every byte.
pub(crate) fn print_text(text: &mut Vec<u8>, words: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    text.reserve(words.len() + words.len() / 4 + 2);
    text.push(b'"');
    for &byte in words.as_bytes() {
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

/// Appends a further field of an object.
pub(crate) fn print_field<T: serde::Serialize + ?Sized>(text: &mut Vec<u8>, name: &str, value: &T) {
    text.push(b',');
    print(text, name);
    text.push(b':');
    print(text, value);
}

impl fmt::Display for RpcError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.message, self.code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> (Option<String>, i32) {
        match parse(text.as_bytes()) {
            Ok(_) => (None, 0),
            Err(refused) => (refused.0.map(|id| id.json().to_owned()), refused.1.code),
        }
    }

    #[test]
    fn a_text_is_printed_so_that_it_can_be_read_again() {
        let all: String =
            (0..0x250).filter_map(char::from_u32).chain("a\u{1f600}\u{2028}".chars()).collect();
        let mut printed = Vec::new();
        print_text(&mut printed, &all);
        assert_eq!(serde_json::from_slice::<String>(&printed).unwrap(), all);
        assert!(!printed.contains(&b'\n'), "messages are lines");
    }

    #[test]
    fn messages_are_told_apart() {
        assert!(matches!(
            parse(br#"{"jsonrpc":"2.0","id":7,"method":"a\/b","params":{}}"#),
            Ok(Message::Request(Request { method, .. })) if &*method == "a/b"
        ));
        assert!(matches!(
            parse(br#"{"jsonrpc":"2.0","method":"x"}"#),
            Ok(Message::Notification { params: None, .. })
        ));
        assert!(matches!(
            parse(br#"{"jsonrpc":"2.0","id":"a","result":null}"#),
            Ok(Message::Response { result: Ok(_), .. })
        ));
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_id_that_it_had() {
        assert_eq!(code("{"), (None, -32700));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1E400,"method":"x"}"#).1, -32600);
        assert_eq!(code("[]"), (None, -32600));
        assert_eq!(code("1"), (None, -32600));
        assert_eq!(code(r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#), (Some("1".into()), -32600));
        for id in ["null", "1.5", "true", "{}", "[1]", "-"] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#);
            assert!(code(&text).1 < -32599, "{id}");
        }
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":5}"#), (Some("1".into()), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1}"#), (Some("1".into()), -32600));
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"x"}"#).1, -32600);
        assert_eq!(code("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\u{0}\"}").1, -32700);
    }

    #[test]
    fn bytes_that_are_no_text_are_no_json() {
        assert_eq!(
            parse(b"{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"x\"}")
                .err()
                .map(|e| e.1.code),
            Some(-32700)
        );
    }
}
