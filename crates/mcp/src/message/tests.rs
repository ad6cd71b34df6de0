//! Tests of messages.

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
        let bytes = [br#"{"jsonrpc":"2.0","id":1,""#, field.as_bytes(), b"\":\"\xff\"}"].concat();
        assert_eq!(rejected(&bytes), (None, parse), "bytes that are not text");
    }
}

#[test]
fn a_result_is_a_slice_of_its_message() {
    let message = Bytes::from_static(
        br#" {"jsonrpc":"2.0","result":{"a":[1E400, "\u00e4"]} ,"id":12345678901,"x":{}}"#,
    );
    let Ok(Message::Response { id, result }) = Message::read(&message) else {
        panic!("not read");
    };
    assert_eq!(id.and_then(|id| id.number()), Some(12_345_678_901));
    let response = Response::read(&message, result).unwrap();
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
    let closed = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}{}}}"#, "]".repeat(1 << 20));
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
        let expected = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{expected}}}"#);
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

#[test]
fn a_string_is_printed_so_that_it_can_be_read_again() {
    let all: String =
        (0..0x250).filter_map(char::from_u32).chain("a\u{1f600}\u{2028}".chars()).collect();
    let mut printed = Vec::new();
    append_string(&mut printed, &all);
    assert_eq!(serde_json::from_slice::<String>(&printed).unwrap(), all);
    assert!(!printed.contains(&b'\n'), "messages are lines");
}
