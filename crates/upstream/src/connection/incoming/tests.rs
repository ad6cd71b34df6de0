use super::*;

fn refused(text: &str) -> String {
    read(text.as_bytes()).expect_err(text)
}

fn failed(error: &str) -> RpcError {
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"error":{error}}}"#);
    match read(text.as_bytes()) {
        Ok(Incoming::Response { outcome: Err(error), .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_is_told_by_its_place() {
    let message = Bytes::from_static(
        br#" {"jsonrpc":"2.0","result":{"a":[1E400, "\u00e4"]} ,"id":12345678901,"x":{}}"#,
    );
    let Ok(Incoming::Response { id: Some(12_345_678_901), outcome }) = read(&message) else {
        panic!("not read");
    };
    let reply = reply(&message, outcome).unwrap();
    assert_eq!(reply.json(), r#"{"a":[1E400, "\u00e4"]}"#);
    assert!(message.as_ptr_range().contains(&reply.json().as_ptr()), "not a copy");
}

#[test]
fn an_id_that_is_not_ours_belongs_to_nothing() {
    for id in ["null", "\"1\"", "1.5", "-1", "{}", "99999999999999999999"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
        assert!(matches!(read(text.as_bytes()), Ok(Incoming::Response { id: None, .. })), "{id}");
    }
}

#[test]
fn requests_and_notifications_are_told_apart() {
    let text = br#"{"jsonrpc":"2.0","id":"a\"b","method":"roots\/list"}"#;
    let Ok(Incoming::Request { id, method, params: None }) = read(text) else {
        panic!("not read");
    };
    assert_eq!((&*id, &*method), (r#""a\"b""#, "roots/list"));
    assert!(matches!(
        read(br#"{"jsonrpc":"2.0","method":"notifications/x","params":{"a":1}}"#),
        Ok(Incoming::Notification { params: Some(_), .. })
    ));
}

#[test]
fn what_is_no_message_is_refused() {
    for text in [
        "",
        " ",
        "hello",
        "{",
        "[]",
        "1",
        "{}",
        r#"{"level":"info","msg":"listening"}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":null}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}} x"#,
    ] {
        assert!(!refused(text).is_empty());
    }
    assert!(read(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}").is_err());
}

#[test]
fn depth_is_no_danger() {
    let deep = "[".repeat(1 << 20);
    assert!(read(format!(r#"{{"jsonrpc":"2.0","id":1,"result":{deep}}}"#).as_bytes()).is_err());
    let even = format!("{deep}{}", "]".repeat(1 << 20));
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{even}}}"#);
    assert!(matches!(read(text.as_bytes()), Ok(Incoming::Response { outcome: Ok(_), .. })));
    let data = &even[(1 << 20) - 10_000..(1 << 20) + 10_000];
    assert_eq!(failed(&format!(r#"{{"code":1,"message":"m","data":{data}}}"#)).data, None);
}

#[test]
fn errors_are_kept_as_well_as_they_can_be_read() {
    let whole = failed(r#"{"code":-32022,"message":"no","data":{"supported":["x"]}}"#);
    assert_eq!((whole.code, &*whole.message), (-32_022, "no"));
    assert_eq!(whole.data.unwrap()["supported"][0], "x");
    assert_eq!(failed(r#""boom""#).message, "boom");
    assert_eq!(failed("5").code, INTERNAL_ERROR);
    assert_eq!(failed("[1]").code, INTERNAL_ERROR);
    assert_eq!(failed(r#"{"message":"no code"}"#).message, "no code");
    assert_eq!(failed(r#"{"code":1E300,"message":1}"#).code, i64::MAX);
    let long = failed(&format!(r#"{{"code":1,"message":"{}"}}"#, "ä".repeat(10_000)));
    assert_eq!(long.message.chars().count(), MAX_ERROR_CHARS);
    let large = failed(&format!(r#"{{"code":1,"message":"m","data":"{}"}}"#, "x".repeat(100_000)));
    assert_eq!(large.data, None);
}

#[test]
fn the_error_counts_where_a_server_writes_both() {
    let text = br#"{"jsonrpc":"2.0","id":1,"result":null,"error":{"code":1,"message":"m"}}"#;
    assert!(matches!(read(text), Ok(Incoming::Response { outcome: Err(_), .. })));
    let text = br#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#;
    assert!(matches!(read(text), Ok(Incoming::Response { outcome: Ok(_), .. })));
}

#[test]
fn a_batch_is_a_list_of_messages() {
    let message = Bytes::from_static(b" [ {\"a\":1}, {\"b\":2} ]");
    assert_eq!(batch(&message).unwrap(), [&b"{\"a\":1}"[..], b"{\"b\":2}"]);
    assert!(batch(&Bytes::from_static(b"{}")).is_none());
    assert!(batch(&Bytes::from_static(b"[")).is_none());
}

fn told(method: &str, params: &str) -> Notice {
    notice(method, Some(serde_json::from_str(params).unwrap()))
}

#[test]
fn notifications_that_mean_something_are_known() {
    let progress = r#"{"progressToken":7,"progress":1,"total":2.5,"message":"half"}"#;
    assert!(matches!(
        told("notifications/progress", progress),
        Notice::Progress { token: 7, note: Happening::Progress { total: Some(_), message: Some(text), .. } }
            if text == "half"
    ));
    let log = r#"{"level":"info","logger":"x","data":{"a":1}}"#;
    assert!(matches!(
        told("notifications/message", log),
        Notice::Log(Happening::Log { level, data }) if level == "info" && data["a"] == 1
    ));
    assert!(matches!(
        notice("notifications/tools/list_changed", None),
        Notice::Changed(Event::ToolsChanged)
    ));
    assert!(matches!(
        told("notifications/cancelled", r#"{"requestId":"a"}"#),
        Notice::Cancelled(id) if &*id == "\"a\""
    ));
}

#[test]
fn notifications_that_cannot_be_read_mean_nothing() {
    for params in ["{}", "[]", "1", r#"{"progressToken":"x","progress":1}"#, "[7,1,null,null]"] {
        assert!(matches!(told("notifications/progress", params), Notice::Other), "{params}");
    }
    assert!(matches!(notice("notifications/progress", None), Notice::Other));
    assert!(matches!(told("notifications/message", "{}"), Notice::Other));
    assert!(matches!(told("notifications/cancelled", r#"{"requestId":{}}"#), Notice::Other));
    assert!(matches!(told("notifications/whatever", "{}"), Notice::Other));
}
