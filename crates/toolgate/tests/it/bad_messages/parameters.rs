//! Parameters that have not the form that their method wants.

use serde_json::{Value, json};
use testkit::{
    Answer, World,
    mcp::{Legacy, Modern, cancelled, meta, request, with_tasks},
};

use super::{MODERN, lives, modern, post, refused};
use crate::{command, start, with_commands};

/// Sends parameters as they are written, as a client of each protocol version would: `META` stands for what
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
async fn parameters_of_the_wrong_form_are_refused_in_both_versions() {
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
        ("tools/call", r#"{META,"name":null}"#.into(), "`name` must be a string"),
        ("tools/call", r#"{META,"name":["hello"]}"#.into(), "`name` must be a string"),
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
        ("tools/list", r#"{META,"cursor":5}"#.into(), "`cursor` must be a string"),
        ("tools/list", r#"{META,"cursor":"1","cursor":"2"}"#.into(), "duplicate field"),
        ("resources/read", "{META}".into(), "params must have `uri`"),
        ("resources/read", r#"{META,"uri":5}"#.into(), "`uri` must be a string"),
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
async fn parameters_by_position_are_refused_in_both_versions() {
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
    let with = |more: &str| format!("{{{date},{can}:{{}},{more}}}");
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
            "must be a string",
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
        (with(r#""io.modelcontextprotocol/logLevel":5"#), "`level` must be a string"),
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
        (r#"{"protocolVersion":20251125}"#, "`protocolVersion` must be a string"),
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

#[tokio::test]
async fn a_task_that_is_none_is_not_there() {
    let world = start("").await;
    let client = Modern::new(&world).able(with_tasks()).with("mcp-name", "");
    let unknown = format!("job_{}", "0".repeat(26));
    let long = "j".repeat(10_000);
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        for id in ["", "job_", "../../etc/passwd", "job_%00", "é", &unknown, &long] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let mut client = Modern::new(&world).able(client.capabilities.clone());
            // Where the name is repeated, it must be the same.
            client.headers.push(("mcp-name".into(), encoded(id)));
            refused(&client.send(method, params).await, (200, -32602), "Task not found");
        }
        for (params, words) in [
            (json!({}), "params must have `taskId`"),
            (json!({ "taskId": 5 }), "`taskId` must be a string"),
            (json!({ "taskId": [unknown] }), "`taskId` must be a string"),
        ] {
            refused(&client.send(method, params).await, (400, -32602), words);
        }
        let params = json!({ "taskId": unknown });
        let other = client.send(method, params.clone()).await;
        refused(&other, (400, -32020), "mcp-name");
        // Whoever does not know tasks has none.
        let answer = Modern::new(&world).send(method, params).await;
        refused(&answer, (400, -32021), "");
    }
}

/// As a header has it: Base64, with what is around it.
fn encoded(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut all = String::new();
    for three in text.as_bytes().chunks(3) {
        let byte = |place: usize| u32::from(three.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * place) & 63) as usize];
            all.push(if place > three.len() { '=' } else { char::from(letter) });
        }
    }
    format!("=?base64?{all}?=")
}

#[tokio::test]
async fn a_resource_that_is_none_is_not_there() {
    let world = start("").await;
    let legacy = Legacy::open(&world).await;
    let note = json!({ "text": "x", "filename": "a.txt" });
    let written = Modern::new(&world).call("write_text_artifact", &note).await;
    let uri = written["content"].as_array().unwrap().last().unwrap()["uri"].as_str().unwrap();
    let folder = uri.strip_suffix("a.txt").unwrap();
    for uri in [
        String::new(),
        "toolgate://".into(),
        "toolgate://jobs".into(),
        "toolgate://jobs/".into(),
        "toolgate://jobs/job_1".into(),
        "toolgate://contracts/nothing".into(),
        "toolgate://jobs/../../state.key".into(),
        "toolgate://contracts/..%2fhello".into(),
        "toolgate://contracts/hello/".into(),
        "TOOLGATE://contracts/hello".into(),
        "file:///etc/passwd".into(),
        "http://127.0.0.1/".into(),
        folder.into(),
        format!("{folder}b.txt"),
        format!("{folder}../a.txt"),
        format!("{folder}..%2fa.txt"),
        format!("{folder}%2e%2e%2f%2e%2e%2ftoolgate.db"),
        format!("{folder}a.txt%00"),
        format!("{folder}%FF"),
        format!("{uri}?x"),
        format!("{uri}#x"),
        format!("toolgate://contracts/{}", "x".repeat(100_000)),
    ] {
        let params = json!({ "uri": uri });
        let client = Modern::new(&world).with("mcp-name", &encoded(&uri));
        let long = uri.len() > 10_000;
        // A head has its own limits.
        if !long {
            let answer = client.send("resources/read", params.clone()).await;
            refused(&answer, (200, -32602), "Resource not found");
            assert_eq!(answer.json()["error"]["data"]["uri"], uri);
        }
        let answer = legacy.ask("resources/read", &params).await;
        assert_eq!(answer["error"]["code"], -32002, "{uri:.100}");
        let shown = answer["error"]["data"]["uri"].as_str().unwrap();
        assert!(uri.starts_with(shown) && shown.len() <= 1_024);
    }
    let read = legacy.ask("resources/read", &json!({ "uri": uri })).await;
    assert_eq!(read["result"]["contents"][0]["text"], "x");
}

#[tokio::test]
async fn an_argument_that_the_head_repeats_must_be_the_same() {
    let world = crate::bad_state::fixture().await;
    let (tool, name) = ("test_custom_header", "mcp-param-value");
    let call = json!({ "name": tool, "arguments": { "value": "right" } });
    for (head, words) in [
        (None, "mcp-param-value is missing"),
        (Some("wrong"), "not what the argument is"),
        (Some(""), "not what the argument is"),
        (Some("RIGHT"), "not what the argument is"),
        (Some("=?base64?d3Jvbmc=?="), "not what the argument is"),
        (Some("=?base64?!?="), "not Base64"),
    ] {
        let mut client = Modern::new(&world);
        client.headers.extend(head.map(|head| (name.to_owned(), head.to_owned())));
        let answer = client.send("tools/call", call.clone()).await.json();
        let message = answer["error"]["message"].as_str().unwrap().to_lowercase();
        assert_eq!(answer["error"]["code"], -32020, "{answer}");
        assert!(message.contains(&words.to_lowercase()), "{answer}");
    }
    let client = Modern::new(&world).with(name, "right");
    let none = json!({ "name": tool, "arguments": {} });
    assert_eq!(client.ask("tools/call", none).await["error"]["code"], -32020);
    assert_eq!(client.ask("tools/call", call).await["result"]["isError"], false);
}

/// Damages a text in a few places, another way each time.
pub fn damage(good: &[u8], random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    const JUNK: [&[u8]; 12] =
        [b"\"", b"{", b"}", b"[", b"]", b",", b"\\", b"\xff", b"\0", b"1E400", b"null", b"\n"];
    let mut bytes = good.to_vec();
    for _ in 0..=random(3) {
        let place = random(bytes.len().max(1));
        match random(4) {
            0 => bytes.truncate(place),
            1 if place < bytes.len() => drop(bytes.remove(place)),
            2 if place < bytes.len() => bytes[place] ^= 1 << random(8),
            _ => {
                let junk = JUNK[random(JUNK.len())];
                bytes.splice(place..place, junk.iter().copied());
            }
        }
    }
    bytes
}

/// Numbers below a bound, from a fixed seed, so that a failure can be repeated.
pub fn numbers() -> impl FnMut(usize) -> usize {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    }
}

/// Messages of every kind that are over at once.
pub fn good_messages() -> Vec<String> {
    let hello =
        json!({ "name": "hello", "arguments": { "name": "Ada" }, "_meta": meta(&json!({})) });
    [
        request(1, "tools/call", &hello),
        request("two", "tools/call", &json!({ "name": "hello", "arguments": { "name": "x" } })),
        request(
            3,
            "tools/list",
            &json!({ "_meta": meta(&json!({ "elicitation": {} })), "cursor": "1.0" }),
        ),
        request(4, "resources/read", &json!({ "uri": "toolgate://contracts/hello" })),
        request(5, "resources/subscribe", &json!({ "uri": "toolgate://jobs/job_1" })),
        request(6, "logging/setLevel", &json!({ "level": "debug" })),
        request(7, "server/discover", &json!({ "_meta": meta(&json!({})) })),
        request(
            8,
            "completion/complete",
            &json!({ "ref": { "type": "ref/resource" }, "argument": {} }),
        ),
        request(9, "tasks/get", &json!({ "taskId": "job_1", "_meta": meta(&json!({})) })),
        request(10, "initialize", &json!({ "protocolVersion": "2025-11-25", "capabilities": {} })),
        cancelled(&json!(1)),
        json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": "accept" } }),
        json!([request(1, "ping", &json!({})), request(2, "ping", &json!({}))]),
    ]
    .iter()
    .map(Value::to_string)
    .collect()
}

#[tokio::test]
async fn whatever_is_damaged_gets_an_answer() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let old = Legacy::open_at(&world, "/mcp", "2025-03-26", &json!({})).await.session;
    let (mut random, good) = (numbers(), good_messages());
    for number in 0..1_500 {
        let body = damage(good[random(good.len())].as_bytes(), &mut random);
        let headers = match number % 3 {
            0 => vec![("mcp-session-id", &*session)],
            1 => vec![("mcp-session-id", &*old)],
            _ => vec![MODERN, ("mcp-method", "tools/call"), ("mcp-name", "hello")],
        };
        let answer = post(&world, &headers, body.clone()).await;
        let shown = String::from_utf8_lossy(&body);
        match answer.status {
            202 => assert_eq!(answer.body, b"", "{shown}"),
            200 | 400 | 404 => {
                let answer = answer.json();
                let first = answer.get(0).unwrap_or(&answer);
                assert_eq!(first["jsonrpc"], "2.0", "{shown}");
                assert_ne!(first.get("result").is_some(), first.get("error").is_some(), "{shown}");
            }
            status => panic!("{status} {}: {shown}", answer.text()),
        }
    }
    lives(&world).await;
}
