//! The HTTP headers of MCP. Those of a modern request repeat its body, and are compared with it.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use http::HeaderMap;
use serde_json::Value;

use crate::{RpcError, code, params::Params};

/// The protocol version of a request.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The session that a request belongs to (legacy).
pub const SESSION_ID: &str = "mcp-session-id";
/// The last event that was received of a stream that broke off (legacy).
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The method of a request (modern).
pub const METHOD: &str = "mcp-method";
/// The tool, prompt or resource that a request names (modern).
pub const NAME: &str = "mcp-name";

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A text as the value of a header: as it is where it can stand in one, and in Base64 otherwise.
pub fn encode(text: &str) -> Cow<'_, str> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    if printable && text.trim().len() == text.len() && !looks_encoded {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)))
    }
}

/// The text that a header stands for; nothing where it is not Base64 of a text.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

fn mismatch(message: &str) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, 400, format!("Header mismatch: {message}"))
}

/// The value of a header, decoded.
fn value<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<Cow<'a, str>>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let (Some(value), other) = (values.next(), values.next()) else { return Ok(None) };
    if other.is_some() {
        return Err(mismatch(&format!("{name} is there twice")));
    }
    let text = value
        .to_str()
        .map_err(|_| mismatch(&format!("{name} has characters that no header has")))?;
    let decoded = decode(text);
    decoded.map(Some).ok_or_else(|| mismatch(&format!("{name} is not Base64 of a text")))
}

fn must_equal(headers: &HeaderMap, name: &str, body: &str) -> Result<(), RpcError> {
    match value(headers, name)? {
        Some(head) if head == body => Ok(()),
        Some(head) => {
            let (head, body) = (RpcError::excerpt(&head), RpcError::excerpt(body));
            Err(mismatch(&format!("{name} is `{head}` and the body says `{body}`")))
        }
        None => Err(mismatch(&format!("{name} is missing"))),
    }
}

/// Compares the version, the method and the name of a modern request with its headers.
pub fn check(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    params: &Params<'_>,
) -> Result<(), RpcError> {
    must_equal(headers, PROTOCOL_VERSION, version)?;
    must_equal(headers, METHOD, method)?;
    let named = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        // Only where it is there: intermediaries route tasks by it.
        "tasks/get" | "tasks/update" | "tasks/cancel" if headers.contains_key(NAME) => {
            params.task_id
        }
        _ => None,
    };
    // A name that is missing or no text is the method's to refuse.
    match named.and_then(|raw| serde_json::from_str::<Box<str>>(raw.get()).ok()) {
        Some(name) => must_equal(headers, NAME, &name),
        None => Ok(()),
    }
}

/// Compares an argument with the header that repeats it.
pub fn check_argument(
    headers: &HeaderMap,
    name: &str,
    argument: Option<&Value>,
) -> Result<(), RpcError> {
    let problem = match (argument, value(headers, name)?) {
        (None, None) => return Ok(()),
        (Some(argument), Some(head)) if is_same(argument, &head) => return Ok(()),
        (None, Some(_)) => "is there and the argument is not",
        (Some(_), None) => "is missing",
        (Some(_), Some(_)) => "is not what the argument is",
    };
    Err(mismatch(&format!("{name} {problem}")))
}

fn is_same(argument: &Value, head: &str) -> bool {
    match argument {
        Value::String(text) => text == head,
        Value::Bool(yes) => head == if *yes { "true" } else { "false" },
        Value::Number(number) => number.as_i64().is_some_and(|number| is_same_number(number, head)),
        // Not an argument that has a header; the contract refuses it.
        _ => true,
    }
}

/// `42` and `42.0` are the same number. Beyond what every language can hold, none are.
fn is_same_number(number: i64, head: &str) -> bool {
    const SAFE: i64 = (1 << 53) - 1;
    let whole = head.strip_suffix(".0").unwrap_or(head);
    (-SAFE..=SAFE).contains(&number) && whole.parse() == Ok(number)
}

#[cfg(test)]
mod tests {
    use http::{HeaderName, HeaderValue};

    use super::*;

    #[test]
    fn texts_that_no_header_can_have_are_encoded_and_decoded() {
        for (text, value) in [
            ("echo", "echo"),
            ("two words", "two words"),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            (" echo", "=?base64?IGVjaG8=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?SGVsbG8=?=", "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?="),
            ("=?base64?x", "=?base64?x"),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
            ("", ""),
        ] {
            assert_eq!(encode(text), value, "{text}");
            assert_eq!(decode(value).as_deref(), Some(text), "{value}");
        }
        for broken in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }

    fn head(name: &'static str, text: &str) -> HeaderMap {
        HeaderMap::from_iter([(
            HeaderName::from_static(name),
            HeaderValue::from_str(text).unwrap(),
        )])
    }

    #[test]
    fn values_are_decoded_before_they_are_compared() {
        let same = |text: &str, body: &str| must_equal(&head("mcp-name", text), "mcp-name", body);
        assert_eq!(same("echo", "echo"), Ok(()));
        assert_eq!(same("=?base64?R3LDvMOfZQ==?=", "Grüße"), Ok(()));
        assert_eq!(same("=?base64?SGVsbG8", "=?base64?SGVsbG8"), Ok(()));
        for (text, body) in [
            ("Echo", "echo"),
            ("=?base64?SGVsbG8?=", "Hello"),
            ("=?base64?SGVs!!!bG8=?=", "Hello"),
            ("=?BASE64?SGVsbG8=?=", "Hello"),
        ] {
            assert_eq!(same(text, body).unwrap_err().code, -32020, "{text}");
        }
        assert_eq!(must_equal(&HeaderMap::new(), "mcp-name", "a").unwrap_err().status, 400);
    }

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(is_same(&Value::from(42), "42"));
        assert!(is_same(&Value::from(42), "42.0"));
        assert!(!is_same(&Value::from(42), "43"));
        assert!(!is_same(&Value::from(9_007_199_254_740_993_i64), "9007199254740992"));
        assert!(!is_same(&Value::from(9_007_199_254_740_993_i64), "9007199254740993"));
        assert!(is_same(&Value::from(true), "true"));
        assert!(!is_same(&Value::from(true), "True"));
    }
}
