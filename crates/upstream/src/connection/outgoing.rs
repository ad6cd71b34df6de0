//! Messages to a server, put together as text.

use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};

/// What a server is told that asks something which nobody here can be asked.
pub(crate) const UNKNOWN_METHOD: i64 = -32_601;

/// A request whose parameters get a `_meta` of these fields, each the text of a name and its value; none
/// where there are no fields. `params` is the text of a JSON object without a `_meta`, and is copied as
/// it is.
pub(crate) fn request(id: u64, method: &str, params: &str, meta: &[&str]) -> Bytes {
    let known: usize = meta.iter().map(|field| field.len() + 1).sum();
    let mut text = Vec::with_capacity(params.len() + method.len() + known + 80);
    text.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    text.extend_from_slice(id.to_string().as_bytes());
    text.extend_from_slice(b",\"method\":");
    print(&mut text, method);
    text.extend_from_slice(b",\"params\":");
    match params.trim_ascii_start().strip_prefix('{') {
        Some(rest) if !meta.is_empty() => {
            text.extend_from_slice(b"{\"_meta\":{");
            for (place, field) in meta.iter().enumerate() {
                if place > 0 {
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
    text.into()
}

/// Something that we tell.
pub(crate) fn notification(method: &str, params: Option<&Value>) -> Bytes {
    let mut text = b"{\"jsonrpc\":\"2.0\",\"method\":".to_vec();
    print(&mut text, method);
    if let Some(params) = params {
        text.extend_from_slice(b",\"params\":");
        print(&mut text, params);
    }
    text.push(b'}');
    text.into()
}

/// Nobody waits for this request any more.
pub(crate) fn cancelled(id: u64, reason: &str) -> Bytes {
    let params = json!({ "requestId": id, "reason": reason });
    notification("notifications/cancelled", Some(&params))
}

/// The answer to a request of the server's. `id` is the text that it gave.
pub(crate) fn result(id: &str, result: &Value) -> Bytes {
    answer(id, b",\"result\":", result)
}

/// The answer to a request of the server's that nobody can serve.
pub(crate) fn error(id: &str, code: i64, message: &str) -> Bytes {
    answer(id, b",\"error\":", &json!({ "code": code, "message": message }))
}

fn answer(id: &str, field: &[u8], value: &Value) -> Bytes {
    let mut text = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
    text.extend_from_slice(id.as_bytes());
    text.extend_from_slice(field);
    print(&mut text, value);
    text.push(b'}');
    text.into()
}

/// Appends a value as JSON text.
fn print<T: Serialize + ?Sized>(text: &mut Vec<u8>, value: &T) {
    // Texts and values that came from JSON: there is nothing in it that cannot be printed.
    let _ = serde_json::to_writer(text, value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_request_says_comes_before_its_parameters() {
        for (params, expected) in [
            ("{}", r#"{"_meta":{"a":1,"b":2}}"#),
            (" { } ", r#"{"_meta":{"a":1,"b":2} } "#),
            (r#"{"x":"}"}"#, r#"{"_meta":{"a":1,"b":2},"x":"}"}"#),
        ] {
            let message = request(1, "m", params, &[r#""a":1"#, r#""b":2"#]);
            let expected =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{expected}}}"#);
            assert_eq!(std::str::from_utf8(&message).unwrap(), expected);
        }
    }

    #[test]
    fn messages_are_one_line_of_json() {
        for (message, expected) in [
            (
                request(3, "tools/call", r#"{"a":1}"#, &[]),
                r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"a":1}}"#,
            ),
            (notification("x/y", None), r#"{"jsonrpc":"2.0","method":"x/y"}"#),
            (
                cancelled(3, "no\none"),
                r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no\none"}}"#,
            ),
            (result("\"a\"", &json!({})), r#"{"jsonrpc":"2.0","id":"a","result":{}}"#),
            (
                error("1", UNKNOWN_METHOD, "no"),
                r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
            ),
        ] {
            assert_eq!(std::str::from_utf8(&message).unwrap(), expected);
        }
    }
}
