//! What a careless or hostile MCP client sends over HTTP: each gets its refusal, and everybody
//! else goes on.

mod batches;
pub mod parameters;
mod sessions;
mod streams;

use serde_json::{Value, json};
use testkit::{
    Answer, Raw, World, eventually,
    mcp::{ACCEPT, JSON, Legacy, Modern, frame, meta, request},
    peak_bytes,
};

use crate::{command, start};

const MODERN: (&str, &str) = ("mcp-protocol-version", "2026-07-28");

/// Posts these bytes to `/mcp`.
async fn post(world: &World, headers: &[(&str, &str)], body: impl Into<Vec<u8>>) -> Answer {
    let headers = [&[JSON, ACCEPT], headers].concat();
    world.send("POST", "/mcp", &headers, Some(body.into())).await
}

/// The same on a connection of its own, whose answer nobody waits for yet.
async fn post_by_hand(world: &World, headers: &[(&str, &str)], body: &Value) -> Raw {
    let headers = [&[JSON, ACCEPT], headers].concat();
    world.sent(frame("POST", "/mcp", &headers, &body.to_string())).await
}

/// The answer is an error of JSON-RPC with this status and code, and says the words.
fn refused(answer: &Answer, (status, code): (u16, i64), words: &str) {
    let context = format!("{} {:.500}", answer.status, answer.text());
    assert_eq!(answer.header("content-type"), "application/json", "{context}");
    let json = answer.json();
    assert_eq!((answer.status, json["error"]["code"].as_i64()), (status, Some(code)), "{context}");
    assert_eq!(json["jsonrpc"], "2.0", "{context}");
    assert!(json.get("id").is_some() && json.get("result").is_none(), "{context}");
    assert!(json["error"]["message"].as_str().unwrap().contains(words), "no `{words}`: {context}");
}

/// A request of the modern protocol version, with the headers that belong to it.
fn modern(method: &str, mut params: Value) -> (Vec<(&'static str, &str)>, Value) {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(&json!({}));
    }
    (vec![MODERN, ("mcp-method", method)], request(1, method, &params))
}

/// Both protocol versions still answer.
async fn lives(world: &World) {
    let hello = json!({ "name": "Ada" });
    let modern = Modern::new(world).call("hello", &hello).await;
    assert_eq!(modern["structuredContent"]["greeting"], "Hello, Ada!");
    let legacy = Legacy::open(world).await.call("hello", &hello).await;
    assert_eq!(legacy["structuredContent"]["greeting"], "Hello, Ada!");
}

/// A folder with the tool `sleeper`, which writes down its process and sleeps; and no server yet.
pub fn with_sleeper(settings: &str) -> World {
    let world = World::new(crate::BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    // Beside the settings a command makes no new file.
    std::fs::create_dir(world.folder().join("state")).unwrap();
    let file = world.folder().join("state/process").display().to_string();
    let script = format!("cat > /dev/null; echo $$ > {file}.new; mv {file}.new {file}; ");
    command(&world, "sleeper", &(script + "exec sleep 600"), "");
    world
}

/// The process of the sleeper, once it sleeps.
pub async fn asleep(world: &World) -> String {
    let file = world.folder().join("state/process");
    let process = eventually("the tool runs", async || {
        let text = std::fs::read_to_string(&file).ok()?;
        is_alive(text.trim()).then(|| text.trim().to_owned())
    })
    .await;
    std::fs::remove_file(file).unwrap();
    process
}

/// Waits until the server has so many sessions.
async fn session_count(world: &World, expected: usize) {
    let line = format!("toolgate_mcp_sessions {expected}\n");
    eventually("idle sessions are forgotten", async || {
        world.get("/metrics").await.text().contains(&line)
    })
    .await;
}

pub fn is_alive(process: &str) -> bool {
    std::path::Path::new("/proc").join(process).exists()
}

/// Waits until the process is no more.
pub async fn gone(process: &str) {
    eventually("the tool is gone", async || !is_alive(process)).await;
}

/// A call of the sleeper, for each protocol version.
fn sleeps(id: i64) -> Value {
    request(id, "tools/call", &json!({ "name": "sleeper", "arguments": {} }))
}

fn sleeps_modern(meta: &Value) -> (Vec<(&'static str, &'static str)>, Value) {
    let params = json!({ "name": "sleeper", "arguments": {}, "_meta": meta });
    let (mut headers, body) = modern("tools/call", params);
    headers.push(("mcp-name", "sleeper"));
    (headers, body)
}

/// Texts that are not JSON, for every transport.
pub const NO_JSON: &[&[u8]] = &[
    b"{",
    b"ping",
    b"NaN",
    b"\0",
    b"Content-Length: 52",
    br#"{"jsonrpc":"2.0","id":1,"method":"pi"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0"}"#,
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\0ng\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xc3\x28\"}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"\xc3\"}}",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"more\":\"\xff\"}",
    b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}",
    b"\xff\xfe{}",
    b"{\0\"\0i\0d\0\"\0:\0{\0}\0}\0",
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00",
];

/// JSON that is not a message, for every transport.
pub const NO_MESSAGE: &[&[u8]] = &[
    b"null",
    b"5",
    b"\"ping\"",
    b"true",
    b"{}",
    br#"{"id":1,"method":"ping"}"#,
    br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
    br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":1}"#,
    br#"{"jsonrpc":"2.0","result":{}}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":5}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":null}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
    br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
    br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
    br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":1E400,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}"#,
    br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
];

/// The same with texts that are too long to be written down: a name, and how deep they are nested.
pub fn long_cases() -> [(String, i64); 2] {
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "i".repeat(1_024));
    let deep = r#"{"jsonrpc":"2.0","id":"#.to_owned() + &"[".repeat(100_000);
    [(long, -32600), (deep, -32700)]
}

#[tokio::test]
async fn a_body_that_is_no_message_is_refused() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let in_session = [("mcp-session-id", &*session)];
    let ways: [&[(&str, &str)]; 3] =
        [&[], &in_session, &[MODERN, ("mcp-method", "ping"), ("mcp-name", "ping")]];
    for headers in ways {
        for body in [NO_JSON, &[b"", b" \r\n\t"]].concat() {
            refused(&post(&world, headers, body).await, (400, -32700), "");
        }
        for body in NO_MESSAGE {
            refused(&post(&world, headers, *body).await, (400, -32600), "");
        }
        for (body, code) in long_cases() {
            refused(&post(&world, headers, body).await, (400, code), "");
        }
    }
    lives(&world).await;
}

#[tokio::test]
async fn an_id_comes_back_as_it_was_written() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let longest = format!("\"{}\"", "i".repeat(1_022));
    let hello = r#""name":"hello","arguments":{"name":"x"}"#;
    for id in [
        "0",
        "-1",
        "9007199254740993",
        "123456789012345678901234567890",
        "\"\"",
        "\"1\"",
        "\"é😀\"",
        r#""\u00e9\u0000\n\"""#,
        "\"</script>\"",
        &*longest,
    ] {
        let expected = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},");
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
        let answer = post(&world, &[("mcp-session-id", &session)], ping).await;
        assert_eq!((answer.status, answer.text()), (200, format!("{expected}\"result\":{{}}}}")));
        let meta = meta(&json!({}));
        let params = format!(r#"{{"_meta":{meta},{hello}}}"#);
        let call =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
        let headers = [MODERN, ("mcp-method", "tools/call"), ("mcp-name", "hello")];
        let answer = post(&world, &headers, call).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert!(answer.text().starts_with(&expected), "{}", answer.text());
    }
}

#[tokio::test]
async fn seventeen_megabytes_are_refused_and_not_kept() {
    let world = start("").await;
    let text = "x".repeat(17 * 1_024 * 1_024);
    let params = json!({ "name": "hello", "arguments": { "name": text } });
    let body = request(1, "tools/call", &params).to_string();
    let session = Legacy::open(&world).await.session;
    for _ in 0..5 {
        for headers in [[MODERN], [("mcp-session-id", &*session)]] {
            let answer = post(&world, &headers, body.clone()).await;
            refused(&answer, (413, -32600), "more than 2000000 bytes (server.max_body_bytes)");
        }
    }
    let most = peak_bytes(world.pid());
    assert!(most < 100 * 1_024 * 1_024, "the server took {most} bytes");
    lives(&world).await;
}

#[tokio::test]
async fn a_message_that_stops_in_the_middle_is_answered_or_let_go() {
    let world = start("server: { body_timeout_ms: 200 }").await;
    let whole = request(1, "ping", &json!({})).to_string();
    let headers = [JSON, ACCEPT];
    let bytes = frame("POST", "/mcp", &headers, &whole);
    // Whoever stalls is told so.
    let answer = world.sent(&bytes[..bytes.len() - 9]).await.answer().await;
    refused(&answer, (400, -32700), "the message is incomplete");
    let chunked = "POST /mcp HTTP/1.1\r\nhost: 127.0.0.1\r\ntransfer-encoding: chunked\r\n\
                   content-type: application/json\r\n\r\n5\r\n{\"jso\r\nzz\r\n";
    let answer = world.sent(chunked).await.answer().await;
    refused(&answer, (400, -32700), "the message is incomplete");
    // Whoever hangs up is forgotten, wherever that is.
    for length in (0..bytes.len()).step_by(7) {
        drop(world.sent(&bytes[..length]).await);
    }
    lives(&world).await;
}

#[tokio::test]
async fn the_kind_of_a_body_and_of_an_answer_must_be_ours() {
    let world = start("").await;
    let (headers, body) = modern("tools/list", json!({}));
    for kind in [None, Some("text/plain"), Some(""), Some("application/jsonp"), Some("text/json")] {
        let kind: Vec<_> = kind.map(|kind| ("content-type", kind)).into_iter().collect();
        let headers = [&headers[..], &kind].concat();
        let body = Some(body.to_string().into_bytes());
        let answer = world.send("POST", "/mcp", &headers, body).await;
        refused(&answer, (415, -32600), "Content-Type must be application/json");
    }
    for kind in ["application/json; charset=utf-8", "APPLICATION/JSON"] {
        let headers = [&headers[..], &[("content-type", kind)]].concat();
        let body = Some(body.to_string().into_bytes());
        assert_eq!(world.send("POST", "/mcp", &headers, body).await.status, 200, "{kind}");
    }
    // Who takes no streams is answered in one piece, where that is possible.
    let session = Legacy::open(&world).await.session;
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    for accept in ["application/json", "text/html", "", "nonsense;;;q=é"] {
        let alone = Modern::new(&world).with("accept", "application/json");
        let answer = alone.send("subscriptions/listen", listen.clone()).await;
        refused(&answer, (406, -32600), "accept text/event-stream");
        let bytes = frame("GET", "/mcp", &[("mcp-session-id", &session), ("accept", accept)], "");
        let answer = world.sent(bytes).await.answer().await;
        refused(&answer, (406, -32600), "accept text/event-stream");
        let progress = json!({ "progressToken": 1 });
        let params = json!({ "name": "hello", "arguments": { "name": "x" }, "_meta": progress });
        let call = request(1, "tools/call", &params).to_string();
        let headers = [JSON, ("mcp-session-id", &session), ("accept", accept)];
        let mut raw = world.sent(frame("POST", "/mcp", &headers, &call)).await;
        let answer = raw.answer().await;
        assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    }
}

#[tokio::test]
async fn an_endpoint_has_its_methods_and_its_toolsets() {
    let world = start("").await;
    for path in ["/mcp", "/mcp/autosage"] {
        for (method, allowed) in [("GET", true), ("DELETE", true), ("PUT", false)] {
            let answer = world.send(method, path, &[ACCEPT], None).await;
            assert_eq!(answer.status, 405, "{method} {path}");
            assert!(answer.header("allow").contains("POST"), "{method} {path}");
            if allowed {
                refused(&answer, (405, -32600), "this endpoint takes POST");
            }
            // The modern protocol version has nothing but POST, whatever a client says.
            let headers = [ACCEPT, MODERN, ("mcp-session-id", "0")];
            assert_eq!(world.send(method, path, &headers, None).await.status, 405);
        }
    }
    let (headers, body) = modern("tools/list", json!({}));
    let headers = [&headers[..], &[JSON]].concat();
    for path in ["/mcp/nope", "/mcp/AUTOSAGE", "/mcp/autosage%00", "/mcp/%F0%9F%98%80"] {
        for method in ["POST", "GET", "DELETE"] {
            let answer = world.send(method, path, &headers, Some(body.to_string().into())).await;
            refused(&answer, (404, -32600), "there is no toolset");
        }
    }
    // A URL library would not send this one.
    let answer = world.sent(frame("POST", "/mcp/%FF", &[JSON, ACCEPT], "{}")).await.answer().await;
    refused(&answer, (404, -32600), "there is no toolset");
    for path in ["/mcp/", "/mcp/autosage/", "/mcp/autosage/tools", "/MCP"] {
        let answer = world.send("POST", path, &headers, Some(body.to_string().into())).await;
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_version_that_nobody_speaks_is_refused() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let of_session = ("mcp-session-id", &*session);
    let ping = request(1, "ping", &json!({})).to_string();
    for version in ["2026-07-29", "1999-01-01", "2025-11-25 ", "draft", "2025-11-25,2025-06-18"] {
        let headers = [of_session, ("mcp-protocol-version", version.trim_end())];
        let answer = post(&world, &headers, ping.clone()).await;
        if version == "2025-11-25 " {
            assert_eq!(answer.status, 200, "white space around a value is none of it");
            continue;
        }
        refused(&answer, (400, -32600), "is not known");
        let get = world.send("GET", "/mcp", &[&[ACCEPT], &headers[..]].concat(), None).await;
        refused(&get, (400, -32600), "is not known");
    }
    // Bytes that are not text, and two headers.
    for versions in [&["é"][..], &["2025-11-25", "1999-01-01"]] {
        let mut headers = vec![JSON, ACCEPT, of_session];
        headers.extend(versions.iter().map(|version| ("mcp-protocol-version", *version)));
        let answer = world.sent(frame("POST", "/mcp", &headers, &ping)).await.answer().await;
        refused(&answer, (400, -32600), "");
    }
    // A request of the modern protocol version needs no session, and is not taken for one of it.
    let headers = [of_session, MODERN, ("mcp-method", "ping")];
    refused(&post(&world, &headers, ping.clone()).await, (400, -32602), "protocolVersion");
    // The body says one that is none, or an old one where there is only the new.
    for version in ["2027-01-01", "2025-11-25", "", "é"] {
        let mut meta = meta(&json!({}));
        meta["io.modelcontextprotocol/protocolVersion"] = json!(version);
        let body = request(1, "tools/list", &json!({ "_meta": meta })).to_string();
        let shown = if version == "é" { "=?base64?w6k=?=" } else { version };
        let headers = [("mcp-protocol-version", shown), ("mcp-method", "tools/list")];
        let answer = post(&world, &headers, body.clone()).await;
        refused(&answer, (400, -32022), "Unsupported protocol version");
        let data = &answer.json()["error"]["data"];
        assert_eq!(data, &json!({ "supported": ["2026-07-28"], "requested": version }));
        // And the head says another.
        refused(&post(&world, &[MODERN], body).await, (400, -32020), "mcp-protocol-version");
    }
    // `initialize` is answered with what we speak.
    for version in ["2027-01-01", "2026-07-28", "x"] {
        let opened = Legacy::open_at(&world, "/mcp", version, &json!({})).await.opened;
        assert_eq!(opened["result"]["protocolVersion"], "2025-11-25", "{version}");
    }
}

#[tokio::test]
async fn what_the_head_repeats_must_be_what_the_body_says() {
    let world = start("").await;
    let hello =
        || json!({ "name": "hello", "arguments": { "name": "x" }, "_meta": meta(&json!({})) });
    let (version, method, name) =
        ("mcp-protocol-version", ("mcp-method", "tools/call"), ("mcp-name", "hello"));
    let right = (version, "2026-07-28");
    for (headers, words) in [
        (&[method, name][..], "mcp-protocol-version is missing"),
        (&[(version, "2025-11-25"), method, name], "the body says `2026-07-28`"),
        (&[(version, "2027-01-01"), method, name], "the body says `2026-07-28`"),
        (&[right, right, method, name], "mcp-protocol-version is there twice"),
        (&[right, name], "mcp-method is missing"),
        (&[right, ("mcp-method", "tools/list"), name], "the body says `tools/call`"),
        (&[right, ("mcp-method", "TOOLS/CALL"), name], "the body says `tools/call`"),
        (&[right, method], "mcp-name is missing"),
        (&[right, method, ("mcp-name", "")], "the body says `hello`"),
        (&[right, method, ("mcp-name", "echo_json")], "the body says `hello`"),
        (&[right, method, ("mcp-name", "é")], "characters that no header has"),
        (&[right, method, name, ("mcp-name", "echo_json")], "mcp-name is there twice"),
        (&[right, method, ("mcp-name", "=?base64?aGVsbG8?=")], "not Base64"),
        (&[right, method, ("mcp-name", "=?base64?//8=?=")], "not Base64"),
        (&[right, method, ("mcp-name", "=?base64?ZWNobw==?=")], "the body says `hello`"),
    ] {
        let headers = [&[JSON, ACCEPT], headers].concat();
        let body = request(1, "tools/call", &hello()).to_string();
        let answer = world.sent(frame("POST", "/mcp", &headers, &body)).await.answer().await;
        refused(&answer, (400, -32020), words);
    }
    let encoded = Modern::new(&world).with("mcp-name", "=?base64?aGVsbG8=?=");
    assert_eq!(encoded.send("tools/call", hello()).await.status, 200);
    let uri = json!({ "uri": "toolgate://contracts/hello" });
    let other = Modern::new(&world).with("mcp-name", "toolgate://contracts/echo_json");
    refused(&other.send("resources/read", uri).await, (400, -32020), "mcp-name");
    lives(&world).await;
}
