//! Parameters that have not the form that their method wants.

use testkit::mcp::meta;

use super::*;

/// Sends parameters as they are written, as a client of each era would: `META` stands for what
/// a modern one says of itself. The answers, the modern one first.
async fn both(world: &World, session: &str, method: &str, params: &str) -> (Answer, Answer) {
    let said = format!(r#""_meta":{}"#, meta(&json!({})));
    let body = |params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#)
    };
    let legacy = body(&params.replace("META,", "").replace("META", ""));
    let in_session = post(world, &[("mcp-session-id", session)], legacy).await;
    let name = if params.contains(r#""echo_json""#) { "echo_json" } else { "hello" };
    let headers = [MODERN, ("mcp-method", method), ("mcp-name", name)];
    let alone = post(world, &headers, body(&params.replace("META", &said)));
    (alone.await, in_session)
}

#[tokio::test]
async fn parameters_of_the_wrong_form_are_refused_in_both_eras() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let arrays = "[".repeat(100_000) + &"]".repeat(100_000);
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let call = |arguments: &str| format!(r#"{{META,"name":"echo_json","arguments":{arguments}}}"#);
    for (method, params, words) in [
        ("tools/call", "null".to_owned(), "params"),
        ("tools/call", "5".into(), "params"),
        ("tools/call", "\"name\"".into(), "params"),
        ("tools/list", "true".into(), "params"),
        ("tools/call", "{META}".into(), "params must have `name`"),
        ("tools/call", r#"{META,"name":null}"#.into(), "`name` must be a text"),
        ("tools/call", r#"{META,"name":["hello"]}"#.into(), "`name` must be a text"),
        ("tools/call", r#"{META,"name":"hello","name":"hello"}"#.into(), "duplicate field"),
        (
            "tools/call",
            r#"{META,"name":"hello","arguments":{},"arguments":{}}"#.into(),
            "duplicate",
        ),
        ("tools/call", call("[]"), "`arguments` must be an object"),
        ("tools/call", call("\"x\""), "`arguments` must be an object"),
        ("tools/call", call(r#"{"message":"a","message":"b"}"#), "key `message` appears twice"),
        ("tools/call", call(r#"{"message":{"n":1,"\u006e":2}}"#), "key `n` appears twice"),
        ("tools/call", call(r#"{"message":"a","n":1E400}"#), "number out of range"),
        ("tools/call", call(r#"{"message":"a","n":-1E400}"#), "number out of range"),
        ("tools/call", call(r#"{"message":"\ud800"}"#), "`arguments`"),
        ("tools/call", call(&format!(r#"{{"message":{arrays}}}"#)), "recursion limit exceeded"),
        ("tools/call", call(&objects), "recursion limit exceeded"),
        ("tools/list", r#"{META,"cursor":5}"#.into(), "`cursor` must be a text"),
        ("tools/list", r#"{META,"cursor":"1","cursor":"2"}"#.into(), "duplicate field"),
        ("resources/read", "{META}".into(), "params must have `uri`"),
        ("resources/read", r#"{META,"uri":5}"#.into(), "`uri` must be a text"),
        ("completion/complete", "{META}".into(), "params must have `ref`"),
        ("completion/complete", r#"{META,"ref":[],"argument":{}}"#.into(), "`ref` must be"),
    ] {
        let (alone, in_session) = both(&world, &session, method, &params).await;
        refused(&alone, (400, -32602), words);
        refused(&in_session, (200, -32602), words);
        assert_eq!(alone.json()["id"], 1);
    }
    lives(&world).await;
}

#[tokio::test]
#[ignore = "an array is taken for an object: its first entry for `_meta`, its second for `name`"]
async fn parameters_by_position_are_refused_in_both_eras() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let (date, call) = (r#"["2026-07-28",{}]"#, r#""hello",{"name":"x"}"#);
    for params in [format!("[null,{call}]"), format!("[{date},{call}]"), format!("[{{}},{call}]")] {
        let (alone, in_session) = both(&world, &session, "tools/call", &params).await;
        refused(&alone, (400, -32602), "params");
        refused(&in_session, (200, -32602), "params");
    }
    let (alone, in_session) = both(&world, &session, "tools/list", "[]").await;
    refused(&alone, (400, -32602), "params");
    refused(&in_session, (200, -32602), "params");
    // The same one level below.
    let params = format!(r#"{{"_meta":{date}}}"#);
    let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{params}}}"#);
    let answer = post(&world, &[MODERN, ("mcp-method", "tools/list")], body).await;
    refused(&answer, (400, -32602), "_meta");
    let mut said = meta(&json!([{}]));
    let body = modern("tools/list", json!({ "_meta": said })).1.to_string();
    let answer = post(&world, &[MODERN, ("mcp-method", "tools/list")], body).await;
    refused(&answer, (400, -32602), "capabilities");
    said["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let listen = json!({ "_meta": said, "notifications": [true] });
    let answer = Modern::new(&world).with("accept", "application/json");
    refused(&answer.send("subscriptions/listen", listen).await, (400, -32602), "notifications");
}

#[tokio::test]
async fn what_a_modern_client_says_of_itself_must_have_its_form() {
    let world = start("").await;
    let date = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
    let can = r#""io.modelcontextprotocol/clientCapabilities""#;
    let with = |more: &str| format!(r#"{{{date},{can}:{{}},{more}}}"#);
    let missing = "params._meta must have `io.modelcontextprotocol/";
    for (said, words) in [
        ("null".to_owned(), missing),
        ("{}".into(), missing),
        ("\"2026-07-28\"".into(), "_meta"),
        ("5".into(), "_meta"),
        (format!("{{{date}}}"), missing),
        (format!("{{{can}:{{}}}}"), missing),
        (format!("{{{date},{date},{can}:{{}}}}"), "duplicate field"),
        (
            format!(r#"{{"io.modelcontextprotocol/protocolVersion":5,{can}:{{}}}}"#),
            "must be a text",
        ),
        (format!("{{{date},{can}:null}}"), missing),
        (format!("{{{date},{can}:true}}"), "capabilities"),
        (format!(r#"{{{date},{can}:"all"}}"#), "capabilities"),
        (format!(r#"{{{date},{can}:{{"elicitation":true}}}}"#), "capabilities"),
        (format!(r#"{{{date},{can}:{{"extensions":"tasks"}}}}"#), "capabilities"),
        (with(r#""progressToken":{}"#), "progressToken must be"),
        (with(r#""progressToken":[1]"#), "progressToken must be"),
        (with(r#""progressToken":true"#), "progressToken must be"),
        (with(r#""progressToken":1E400"#), "progressToken must be"),
        (with(r#""io.modelcontextprotocol/logLevel":"loud""#), "the level is one of"),
        (with(r#""io.modelcontextprotocol/logLevel":5"#), "`level` must be a text"),
    ] {
        let params = format!(r#"{{"_meta":{said},"name":"hello","arguments":{{"name":"x"}}}}"#);
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let headers = [MODERN, ("mcp-method", "tools/call"), ("mcp-name", "hello")];
        refused(&post(&world, &headers, body).await, (400, -32602), words);
    }
    // More than we know is no mistake.
    let said = with(r#""progressToken":null,"traceparent":[1],"x":1E400"#);
    let body =
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{said}}}}}"#);
    let answer = post(&world, &[MODERN, ("mcp-method", "tools/list")], body).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn an_initialize_must_have_its_form() {
    let world = start("").await;
    for (params, words) in [
        ("null", "params"),
        ("{}", "params must have `protocolVersion`"),
        (r#"{"protocolVersion":null}"#, "params must have `protocolVersion`"),
        (r#"{"protocolVersion":20251125}"#, "`protocolVersion` must be a text"),
        (r#"{"protocolVersion":"2025-11-25","protocolVersion":"2025-06-18"}"#, "duplicate field"),
        (r#"{"protocolVersion":"2025-11-25","capabilities":5}"#, "capabilities"),
        (r#"{"protocolVersion":"2025-11-25","capabilities":"all"}"#, "capabilities"),
        (r#"{"protocolVersion":"2025-11-25","capabilities":{"elicitation":1}}"#, "capabilities"),
        (r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{},"roots":{}}}"#, "roots"),
    ] {
        let body = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{params}}}"#);
        let answer = post(&world, &[], body).await;
        refused(&answer, (400, -32602), words);
        assert!(!answer.headers.contains_key("mcp-session-id"));
    }
    // One that forgets the id tells, and nobody is told.
    let told =
        r#"{"jsonrpc":"2.0","method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
    refused(&post(&world, &[], told).await, (400, -32600), "Mcp-Session-Id is missing");
    let metrics = world.get("/metrics").await.text();
    assert!(metrics.contains("toolgate_mcp_sessions 0\n"), "{metrics}");
}

#[tokio::test]
async fn a_cursor_that_is_not_of_this_listing_is_refused() {
    let settings = "mcp: { page_size: 1 }\n";
    let script = "cat > /dev/null; echo '{\"answer\":1}'";
    let mut world = with_commands(settings, &[("first", script)]).await;
    let legacy = Legacy::open(&world).await.session;
    let cursor = Modern::new(&world).ask("tools/list", json!({})).await["result"]["nextCursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let (page, digest) = cursor.split_once('.').unwrap();
    assert_eq!(page, "1");
    let unknown = "the cursor is not known";
    for cursor in [
        String::new(),
        ".".into(),
        "1".into(),
        "x".repeat(100_000),
        format!("x.{digest}"),
        format!("-1.{digest}"),
        format!("99999999999999999999.{digest}"),
        format!("18446744073709551615.{digest}"),
        format!("1000.{digest}"),
        "1.000000000000".into(),
        format!("1.{digest}0"),
        digest.into(),
    ] {
        let params = json!({ "cursor": cursor });
        let answer = Modern::new(&world).send("tools/list", params.clone()).await;
        refused(&answer, (200, -32602), unknown);
        let body = request(1, "tools/list", &params).to_string();
        let answer = post(&world, &[("mcp-session-id", &legacy)], body).await;
        refused(&answer, (200, -32602), unknown);
        let answer = Modern::new(&world).send("resources/list", params).await;
        refused(&answer, (200, -32602), unknown);
    }
    let params = json!({ "cursor": cursor });
    assert_eq!(Modern::new(&world).send("tools/list", params.clone()).await.status, 200);
    // Nor is it of another toolset.
    let other = Modern::new(&world).at("/mcp/autosage").send("tools/list", params.clone()).await;
    refused(&other, (200, -32602), unknown);
    // After the tools have changed it is one of an old listing.
    assert_eq!(world.stop().await, 0);
    command(&world, "second", script, "");
    world.run().await;
    refused(&Modern::new(&world).send("tools/list", params).await, (200, -32602), unknown);
}
