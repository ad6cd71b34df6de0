//! The headers of a modern request, compared with its body.

use std::borrow::Cow;

use axum::http::HeaderMap;
use gate::Tool;
use mcp::{RpcError, code, header, params::Params};
use serde_json::{Map, Value};

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
    let decoded = header::decode(text);
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

/// The revision, the method and the name.
pub(super) fn check(
    headers: &HeaderMap,
    version: &str,
    method: &str,
    params: &Params<'_>,
) -> Result<(), RpcError> {
    must_equal(headers, header::PROTOCOL_VERSION, version)?;
    must_equal(headers, header::METHOD, method)?;
    let named = match method {
        "tools/call" | "prompts/get" => params.name,
        "resources/read" => params.uri,
        // Only where it is there: intermediaries route tasks by it.
        "tasks/get" | "tasks/update" | "tasks/cancel" if headers.contains_key(header::NAME) => {
            params.task_id
        }
        _ => None,
    };
    // A name that is missing or no text is the method's to refuse.
    match named.and_then(|raw| serde_json::from_str::<Box<str>>(raw.get()).ok()) {
        Some(name) => must_equal(headers, header::NAME, &name),
        None => Ok(()),
    }
}

/// The arguments that a tool has repeated.
pub(super) fn check_mirrors(
    headers: &HeaderMap,
    tool: &Tool,
    arguments: &Map<String, Value>,
) -> Result<(), RpcError> {
    for mirror in &tool.parameter_headers {
        let name = &mirror.header;
        match (mirror.value(arguments), value(headers, name)?) {
            (None, None) => {}
            (None, Some(_)) => {
                return Err(mismatch(&format!("{name} is there and the argument is not")));
            }
            (Some(_), None) => return Err(mismatch(&format!("{name} is missing"))),
            (Some(argument), Some(head)) => {
                if !is_same(argument, &head) {
                    return Err(mismatch(&format!("{name} is not what the argument is")));
                }
            }
        }
    }
    Ok(())
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
    use axum::http::HeaderValue;

    use super::*;

    fn head(name: &'static str, text: &str) -> HeaderMap {
        HeaderMap::from_iter([(
            axum::http::HeaderName::from_static(name),
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
