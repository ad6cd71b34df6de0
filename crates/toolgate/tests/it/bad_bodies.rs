//! Requests that are wrong before any tool is looked at: bodies, heads, routes.

use std::time::{Duration, Instant};

use testkit::{Answer, World, eventually, mcp::frame};

use crate::{BINARY, command, command_that_waits, start};

const EXECUTE: &str = "/v1/tools/execute";
const SIMPLE: &str = "/v1/tools/echo_json";
const JOBS: &str = "/v1/jobs";
const DOORS: [&str; 3] = [EXECUTE, SIMPLE, JOBS];

/// A body that no door reads.
const HUNDRED_MEGABYTES: usize = 100 * 1_024 * 1_024;

/// The refusal must be in the shape of its door, with this status and code, and say the words.
fn refused(path: &str, answer: &Answer, (status, code): (u16, &str), words: &str) {
    let context = format!("{path}: {} {:.500}", answer.status, answer.text());
    let got = match path.split('?').next().unwrap() {
        EXECUTE => answer.tool_result()["metrics"]["error_code"].clone(),
        path if path.starts_with("/v1/tools/") => answer.envelope()["code"].clone(),
        _ => answer.error()["code"].clone(),
    };
    assert_eq!((answer.status, got.as_str().unwrap()), (status, code), "{context}");
    assert!(answer.text().contains(words), "no `{words}` in {context}");
}

/// Posts the body and expects a refusal.
async fn check(
    world: &World,
    path: &str,
    body: impl Into<Vec<u8>>,
    expected: (u16, &str),
    words: &str,
) {
    let headers = [("content-type", "application/json")];
    let answer = world.send("POST", path, &headers, Some(body.into())).await;
    refused(path, &answer, expected, words);
}

async fn jobs(world: &World) -> usize {
    world.get(JOBS).await.json()["jobs"].as_array().unwrap().len()
}

async fn lives(world: &World) {
    let answer = world.post(SIMPLE, r#"{"args":{"message":"hi"}}"#).await;
    assert_eq!(answer.envelope()["result"]["message"], "hi");
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused_by_every_door() {
    let world = start("").await;
    let arrays = "[".repeat(100_000) + &"]".repeat(100_000);
    let objects = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let inside = format!(r#"{{"tool":"echo_json","input":{{"message":{arrays}}}}}"#);
    let cases: [(&[u8], &str); 19] = [
        (b"{", "EOF while parsing"),
        (b"not json", "line 1, column"),
        (b"{'args':{}}", "key must be a string"),
        (br#"{"tool":"echo_json","input":{"message":"he"#, "EOF while parsing a string"),
        (br#"{"args":{"message":"hi"}"#, "EOF while parsing an object"),
        (br#"{"args":{},}"#, "trailing comma"),
        (br#"{"args":{}} {"args":{}}"#, "trailing characters"),
        (br#"{"tool":"echo_json","tool":"hello"}"#, "key `tool` appears twice"),
        (br#"{"args":{"message":"a"},"args":{}}"#, "key `args` appears twice"),
        (br#"{"input":{"message":"a","message":"b"}}"#, "key `message` appears twice"),
        (br#"{"args":{"a":[{"n":1,"\u006e":2}]}}"#, "key `n` appears twice"),
        (br#"{"args":{"message":NaN}}"#, "line 1, column"),
        (br#"{"args":{"n":1e999}}"#, "number out of range"),
        (br#"{"args":{"message":"\ud800"}}"#, "line 1, column"),
        (b"{\"args\":{\"message\":\"\xff\xfe\"}}", "line 1, column"),
        (b"\xff\xfe{\x00}\x00", "line 1, column"),
        (arrays.as_bytes(), "recursion limit exceeded"),
        (objects.as_bytes(), "recursion limit exceeded"),
        (inside.as_bytes(), "recursion limit exceeded"),
    ];
    for (body, words) in cases {
        for door in DOORS {
            check(&world, door, body, (400, "invalid_request"), words).await;
        }
    }
    assert_eq!(jobs(&world).await, 0);
    lives(&world).await;
}

#[tokio::test]
async fn a_body_that_is_no_object_or_not_there_is_refused_by_every_door() {
    let world = start("").await;
    for body in ["null", "[]", "\"x\"", "5", "true"] {
        for door in DOORS {
            check(&world, door, body, (400, "invalid_request"), "must be an object").await;
        }
    }
    for (door, words) in [
        (EXECUTE, "Tool execution request is missing a JSON body."),
        (SIMPLE, "the request is missing a JSON body"),
        (JOBS, "missing a JSON body"),
    ] {
        check(&world, door, "", (400, "invalid_request"), words).await;
        let answer = world.send("POST", door, &[], None).await;
        refused(door, &answer, (400, "invalid_request"), words);
        // White space is something, and it is not JSON.
        check(&world, door, " \n", (400, "invalid_request"), "EOF while parsing").await;
    }
    let missing = world.send("POST", EXECUTE, &[], None).await.tool_result();
    assert_eq!((&missing["solver"], &missing["exit_code"]), (&"unknown".into(), &1.into()));
    assert_eq!(missing["stderr"], "Missing request body.");
    assert_eq!(jobs(&world).await, 0);
}

#[tokio::test]
async fn fields_of_the_wrong_type_and_unknown_keys_are_refused() {
    const NO_OBJECT: &[&str] = &["null", "5", "true", "[]", "\"x\""];
    const NO_TOOL: &[&str] = &["null", "5", "true", "[]", "{}", "\"\"", "\"  \""];
    const NO_WAIT: &[&str] = &["null", "0", "-1", "1.5", "\"5\"", "120001", "1e99"];
    let world = start("").await;
    for (door, body, wrong, words) in [
        (EXECUTE, r#"{"tool":_,"input":{}}"#, NO_TOOL, "tool must be a non-empty string."),
        (EXECUTE, r#"{"input":{}}"#, &[""], "Missing required field: tool."),
        (EXECUTE, r#"{"tool":"echo_json","input":_}"#, NO_OBJECT, "`input` must be an object"),
        (EXECUTE, r#"{"tool":"echo_json","context":_}"#, NO_OBJECT, "`context` must be an object"),
        (
            EXECUTE,
            r#"{"tool":"echo_json","context":{"limits":_}}"#,
            NO_OBJECT,
            "an object of limits",
        ),
        (EXECUTE, r#"{"tool":"echo_json","inputs":{}}"#, &[""], "did you mean `input`?"),
        (EXECUTE, r#"{"tool":"echo_json","args":{}}"#, &[""], "`/args` is not a known key"),
        (EXECUTE, r#"{"tool":"echo_json","mode":"sync"}"#, &[""], "`/mode` is not a known key"),
        (
            EXECUTE,
            r#"{"tool":"echo_json","context":{"limit":{}}}"#,
            &[""],
            "did you mean `limits`?",
        ),
        (SIMPLE, r#"{"args":_}"#, NO_OBJECT, "`args` must be an object"),
        (SIMPLE, r#"{"message":"hi"}"#, &[""], "`args`"),
        (SIMPLE, r#"{"args":{"message":"hi"},"input":{}}"#, &[""], "`args`"),
        (JOBS, "{}", &[""], "tool must be a non-empty string."),
        (
            JOBS,
            r#"{"tool":"echo_json","mode":_}"#,
            &["null", "5", "[]", "\"later\"", "\"\""],
            "`async` or `sync`",
        ),
        (JOBS, r#"{"tool":"echo_json","wait_ms":_}"#, NO_WAIT, "from 1 to 120000"),
        (JOBS, r#"{"tool":"echo_json","input":_}"#, NO_OBJECT, "`input` must be an object"),
        (JOBS, r#"{"tool":"echo_json","limits":_}"#, NO_OBJECT, "must be an object of limits"),
        (JOBS, r#"{"tool":"echo_json","context":_}"#, NO_OBJECT, "`context` must be an object"),
        (JOBS, r#"{"tool":"echo_json","wait":5}"#, &[""], "did you mean `wait_ms`?"),
        (JOBS, r#"{"tool":"echo_json","tool_name":"x"}"#, &[""], "`/tool_name` is not a known key"),
    ] {
        for wrong in wrong {
            let body = body.replace(":_", &format!(":{wrong}"));
            check(&world, door, body, (400, "invalid_request"), words).await;
        }
    }
    assert_eq!(jobs(&world).await, 0);
    for (door, body) in [
        (EXECUTE, r#"{"tool":"echo_jsom"}"#),
        (JOBS, r#"{"tool":"nope"}"#),
        ("/v1/tools/nope", "{}"),
        ("/v1/tools/%FF", "{}"),
        ("/v1/tools/..%2f..", "{}"),
        ("/v1/tools/%20", "{}"),
    ] {
        check(&world, door, body, (404, "unknown_tool"), "Unsupported tool").await;
        // The body is read first.
        let answer = world.raw("POST", door, &[("content-length", "0")]).await;
        refused(door, &answer, (400, "invalid_request"), "missing a JSON body");
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_with_the_agreed_words() {
    let world = start("server: { max_body_bytes: 64 }").await;
    let message = "a".repeat(800);
    let body = format!(r#"{{"tool":"echo_json","input":{{"message":"{message}"}}}}"#);
    for door in DOORS {
        check(&world, door, body.clone(), (413, "payload_too_large"), "payload_too_large").await;
    }
    let result = world.post(EXECUTE, &body).await.tool_result();
    assert_eq!(result["summary"], "Request body exceeds max size (64 bytes).");
    assert_eq!(
        (&result["stderr"], &result["solver"]),
        (&"payload_too_large".into(), &"unknown".into())
    );
    // To the byte: 64 pass, 65 do not.
    let fitting = |length: usize| {
        let frame = r#"{"args":{"message":""}}"#.len();
        format!(r#"{{"args":{{"message":"{}"}}}}"#, "a".repeat(length - frame))
    };
    assert_eq!(world.post(SIMPLE, &fitting(64)).await.status, 200);
    check(&world, SIMPLE, fitting(65), (413, "payload_too_large"), "64").await;
}

/// How a body of unknown or of known length is put on the wire.
#[derive(Clone, Copy)]
enum Framing {
    Length,
    Chunked,
}

impl Framing {
    const BOTH: [Framing; 2] = [Framing::Length, Framing::Chunked];

    /// The head of a request with a hundred megabytes.
    fn head(self, path: &str) -> String {
        let framing = match self {
            Framing::Length => format!("content-length: {HUNDRED_MEGABYTES}"),
            Framing::Chunked => "transfer-encoding: chunked".to_owned(),
        };
        format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n{framing}\r\n\r\n")
    }

    /// So many bytes of the body.
    fn piece(self, length: usize) -> Vec<u8> {
        let bytes = vec![b' '; length];
        match self {
            Framing::Length => bytes,
            Framing::Chunked => [format!("{length:x}\r\n").as_bytes(), &bytes, b"\r\n"].concat(),
        }
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_refused_before_they_are_read() {
    let world = start("").await;
    for door in DOORS {
        for framing in Framing::BOTH {
            let mut raw = world.sent(framing.head(door)).await;
            raw.send(framing.piece(3_000_000)).await.unwrap();
            // The rest is never sent.
            let answer = raw.answer().await;
            refused(door, &answer, (413, "payload_too_large"), "payload_too_large");
        }
    }
    lives(&world).await;
}

#[tokio::test]
async fn a_client_that_sends_a_hundred_megabytes_can_still_read_the_refusal() {
    let world = start("").await;
    check(&world, EXECUTE, vec![b' '; HUNDRED_MEGABYTES], (413, "payload_too_large"), "").await;
    for framing in Framing::BOTH {
        let mut raw = world.sent(framing.head(SIMPLE)).await;
        let megabyte = framing.piece(1_024 * 1_024);
        for _ in 0..100 {
            raw.send(&megabyte).await.unwrap();
        }
        refused(SIMPLE, &raw.answer().await, (413, "payload_too_large"), "payload_too_large");
    }
    let most = testkit::peak_bytes(world.pid());
    assert!(most < 100 * 1_024 * 1_024, "the server took {most} bytes");
    lives(&world).await;
}

#[tokio::test]
async fn a_client_that_stalls_in_the_body_is_answered_and_let_go() {
    let world = start("server: { body_timeout_ms: 200 }").await;
    for door in DOORS {
        for framing in ["content-length: 40", "transfer-encoding: chunked"] {
            let head = format!("POST {door} HTTP/1.1\r\nhost: 127.0.0.1\r\n{framing}\r\n\r\n");
            let half =
                if framing.ends_with("chunked") { "8\r\n{\"tool\":\r\n" } else { "{\"tool\":" };
            let mut raw = world.sent(head + half).await;
            let answer = raw.answer().await;
            refused(door, &answer, (400, "invalid_request"), "did not arrive whole");
            assert_eq!(raw.closed().await, b"");
        }
    }
    // One that hangs up in the middle gets no answer, and hurts nobody.
    let raw = world
        .sent("POST /v1/jobs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 40\r\n\r\n{")
        .await;
    drop(raw);
    lives(&world).await;
    assert_eq!(jobs(&world).await, 0);
}

#[tokio::test]
async fn a_client_that_stalls_in_the_head_is_let_go() {
    let world = start("server: { header_timeout_ms: 200 }").await;
    for half in ["P", "POST /v1/jobs HTTP/1.1\r\nhost: 127.0", "GET /healthz HTTP/1.1\r\n"] {
        let raw = world.sent(half).await;
        assert_eq!(raw.closed().await, b"");
    }
    // A byte now and then does not help.
    let mut raw = world.sent("GET /healthz HTTP/1.1\r\nx: ").await;
    let mut pause = tokio::time::interval(std::time::Duration::from_millis(20));
    let dripping = async {
        while raw.send("a").await.is_ok() {
            pause.tick().await;
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), dripping).await.unwrap();
    lives(&world).await;
}

#[tokio::test]
async fn who_says_nothing_keeps_nobody_out() {
    let world = start("server: { max_connections: 8, header_timeout_ms: 60000 }").await;
    let mut silent = Vec::new();
    // More than are accepted: those that came first make room.
    for _ in 0..60 {
        silent.push(world.sent("").await);
        assert_eq!(world.get("/healthz").await.status, 200);
    }
    lives(&world).await;
    // Nor does one that was answered once, and then says nothing.
    for _ in 0..20 {
        let mut raw = world.sent("GET /v1/tools HTTP/1.1\r\nhost: localhost\r\n\r\n").await;
        assert_eq!(raw.answer().await.status, 200);
        silent.push(raw);
    }
    lives(&world).await;
}

#[tokio::test]
async fn half_a_request_keeps_nobody_out() {
    let settings =
        "server: { max_connections: 8, header_timeout_ms: 60000, body_timeout_ms: 60000 }";
    let world = start(settings).await;
    let body = "POST /v1/jobs HTTP/1.1\r\nhost: localhost\r\ncontent-length: 40\r\n\r\n{";
    for half in ["GET / HT", body] {
        let mut waiting = Vec::new();
        for _ in 0..100 {
            waiting.push(world.sent(half).await);
        }
        let begin = Instant::now();
        for path in ["/healthz", "/readyz", "/v1/tools"] {
            let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n");
            assert_eq!(world.sent(request).await.answer().await.status, 200, "{half}");
        }
        // Those that came first made room, at once.
        assert!(begin.elapsed() < Duration::from_secs(5), "{half}: {:?}", begin.elapsed());
        assert_eq!(waiting.swap_remove(0).closed().await, b"", "{half}");
        // And the last of them may still end what it began.
        let mut last = waiting.pop().unwrap();
        let rest = if half == body { " ".repeat(38) + "}" } else { "TP/1.1\r\n\r\n".into() };
        last.send(rest).await.unwrap();
        assert_eq!(last.answer().await.status, 400, "{half}");
    }
    assert_eq!(jobs(&world).await, 0);
}

#[tokio::test]
async fn a_health_check_has_a_place_when_all_are_at_work() {
    let world = World::new(
        BINARY,
        "server: { max_connections: 2, header_timeout_ms: 500 }\ncontracts: [ contracts ]",
    );
    let (go, started) = (world.folder().join("go"), world.folder().join("started"));
    std::fs::create_dir(&started).unwrap();
    let script = format!(
        "cat > /dev/null; touch {}/$$; while [ ! -e {} ]; do sleep 0.02; done; echo '{{\"answer\":1}}'",
        started.display(),
        go.display()
    );
    command(&world, "waits", &script, "");
    let world = world.started().await;
    let call = async || world.post("/v1/tools/waits", r#"{"args":{"value":1}}"#).await.status;
    let calls = async { tokio::join!(call(), call()) };
    let meanwhile = async {
        // Looking takes no place of theirs: a request that did could be the one that has it.
        eventually("both run", async || started.read_dir().is_ok_and(|folder| folder.count() == 2))
            .await;
        world.get("/v1/tools").await.fails(429, "too_many_requests");
        // Nor do those that wait for a place keep it out.
        let mut more = Vec::new();
        for _ in 0..40 {
            more.push(world.sent("GET /v1/tools HTTP/1.1\r\nhost: localhost\r\n\r\n").await);
        }
        assert_eq!(world.get("/healthz").await.status, 200);
        assert_eq!(world.get("/readyz").await.status, 200);
        std::fs::write(&go, "").unwrap();
    };
    let (answered, ()) = tokio::join!(calls, meanwhile);
    assert_eq!(answered, (200, 200));
    lives(&world).await;
}

#[tokio::test]
async fn a_client_that_has_nothing_more_to_send_is_answered() {
    let world =
        World::new(BINARY, "server: { half_closed_timeout_ms: 60000 }\ncontracts: [ contracts ]");
    let go = command_that_waits(&world, "waits");
    let world = world.started().await;
    for (path, body) in [
        ("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#),
        ("/v1/tools/waits", r#"{"args":{"value":1}}"#),
    ] {
        let mut raw = world.sent(frame("POST", path, &[], body)).await;
        raw.half_close().await.unwrap();
        if path.ends_with("waits") {
            eventually("the call runs", async || {
                world.get("/metrics").await.text().contains("toolgate_calls_running 1")
            })
            .await;
            std::fs::write(&go, "").unwrap();
        }
        let answer = raw.answer().await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(raw.closed().await, b"");
    }
}

#[tokio::test]
async fn a_client_that_has_closed_its_side_is_not_waited_for_long() {
    let world =
        World::new(BINARY, "server: { half_closed_timeout_ms: 200 }\ncontracts: [ contracts ]");
    command_that_waits(&world, "waits");
    let world = world.started().await;
    let mut raw =
        world.sent(frame("POST", "/v1/tools/waits", &[], r#"{"args":{"value":1}}"#)).await;
    raw.half_close().await.unwrap();
    assert_eq!(raw.closed().await, b"");
    eventually("the call is cancelled", async || {
        world.journal().iter().any(|line| line["code"] == "cancelled")
    })
    .await;
    // Half a body is no request that could be answered.
    let mut raw = world
        .sent("POST /v1/tools/waits HTTP/1.1\r\nhost: localhost\r\ncontent-length: 40\r\n\r\n{")
        .await;
    raw.half_close().await.unwrap();
    raw.closed().await;
    lives(&world).await;
}

#[tokio::test]
async fn an_unknown_route_is_told_so() {
    let world = start("").await;
    for method in ["GET", "POST", "DELETE"] {
        for path in
            ["/v1", "/v1/tools/", "/v1/tools/a/b", "/v1/tools/execute/", "/v1/job", "/V1/jobs"]
        {
            let answer = world.raw(method, path, &[("content-length", "0")]).await;
            assert_eq!(answer.status, 404, "{method} {path}");
            let error = answer.error();
            assert_eq!(
                (&error["code"], &error["message"]),
                (&"not_found".into(), &"Unknown route.".into())
            );
        }
    }
}

#[tokio::test]
async fn a_wrong_method_is_told_which_ones_there_are() {
    let world = start("").await;
    for (method, path, allowed) in [
        ("GET", EXECUTE, "POST"),
        ("PUT", EXECUTE, "POST"),
        ("DELETE", SIMPLE, "GET,HEAD,POST"),
        ("POST", "/healthz", "GET,HEAD"),
        ("POST", "/v1/tools", "GET,HEAD"),
        ("DELETE", JOBS, "GET,HEAD,POST"),
        ("PATCH", "/v1/jobs/job_1", "DELETE,GET,HEAD"),
        ("DELETE", "/v1/jobs/job_1/artifacts/a", "GET,HEAD"),
        ("GET", "/v1/tools/autosage", "POST"),
    ] {
        let answer = world.send(method, path, &[], None).await;
        assert_eq!(answer.status, 405, "{method} {path}");
        assert_eq!(answer.error()["code"], "method_not_allowed");
        let mut given: Vec<_> = answer.header("allow").split(',').map(str::trim).collect();
        given.sort_unstable();
        assert_eq!(given.join(","), allowed, "{method} {path}");
    }
}

#[test]
fn a_tool_named_execute_is_refused_at_the_start() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]");
    command(&world, "execute", "echo '{\"answer\":1}'", "");
    let output = world.cli("serve --strict --listen 127.0.0.1:0").exits(2);
    output.stdout_is("").stderr_has_all(["the name `execute` is reserved", "execute.yaml:1"]);
}

#[tokio::test]
async fn a_target_of_another_host_is_refused() {
    let world = start("").await;
    let port = world.port();
    let (host, other) = (format!("127.0.0.1:{port}"), format!("localhost:{port}"));
    for (target, headers, status) in [
        (format!("http://{host}/v1/tools"), &[][..], 200),
        (format!("http://{other}/v1/tools"), &[("host", &*other)], 200),
        ("http://localhost/v1/tools".to_owned(), &[("host", "localhost:80")], 200),
        (format!("http://{other}/v1/tools"), &[], 400),
        ("http://evil.example/v1/tools".to_owned(), &[], 400),
        (format!("http://user@{host}/v1/tools"), &[], 400),
    ] {
        let answer = world.raw("GET", &target, headers).await;
        assert_eq!(answer.status, status, "{target} {headers:?}: {}", answer.text());
    }
}

#[tokio::test]
async fn a_foreign_host_or_origin_is_refused_at_every_door() {
    let world =
        start("server: { allowed_hosts: [Gate.example], allowed_origins: ['https://ui.example'] }")
            .await;
    let own_origin = format!("http://127.0.0.1:{}", world.port());
    let named = format!("http://localhost:{}", world.port());
    for (headers, refusal) in [
        (&[("host", "evil.example")][..], "Host"),
        (&[("host", "evil.example:8000")], "Host"),
        (&[("host", "127.0.0.1.evil.example")], "Host"),
        (&[("host", "localhost:port")], "Host"),
        (&[("host", "user@127.0.0.1")], "Host"),
        (&[("host", "")], "Host"),
        (&[("origin", "http://evil.example")], "Origin"),
        (&[("origin", "null")], "Origin"),
        (&[("origin", "http://127.0.0.1:1")], "Origin"),
        (&[("origin", "é")], "Origin"),
        (&[("origin", &*named)], "Origin"),
        (&[("origin", &*own_origin)], ""),
        (&[("origin", "https://ui.example")], ""),
        (&[("host", &named[7..]), ("origin", &*named)], ""),
        (&[("origin", &*own_origin), ("origin", "http://evil.example")], "Origin"),
        (&[("host", "[[::1]]")], "Host"),
        (&[("host", "::1")], "Host"),
        (&[("host", "[::1]:8000")], ""),
        (&[("host", "gate.example:80")], ""),
    ] {
        for (method, path) in [
            ("POST", EXECUTE),
            ("POST", SIMPLE),
            ("POST", JOBS),
            ("GET", JOBS),
            ("POST", "/mcp"),
            ("GET", "/mcp"),
            ("DELETE", "/mcp"),
            ("POST", "/mcp/autosage"),
        ] {
            let all =
                [headers, &[("content-length", "0"), ("accept", "text/event-stream")]].concat();
            let answer = world.raw(method, path, &all).await;
            let context = format!("{method} {path} {headers:?}: {}", answer.text());
            if refusal.is_empty() {
                assert_ne!(answer.status, 403, "{context}");
            } else if path.starts_with("/mcp") {
                assert_eq!(answer.status, 403, "{context}");
                assert_eq!(answer.json()["error"]["data"]["code"], "not_allowed", "{context}");
            } else {
                refused(path, &answer, (403, "not_allowed"), refusal);
            }
        }
    }
}

#[tokio::test]
async fn no_response_is_taken_for_another_type_than_it_has() {
    let world = start("").await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (method, path, body) in [
        ("GET", "/healthz", ""),
        ("GET", "/readyz", ""),
        ("GET", "/metrics", ""),
        ("GET", "/openapi.json", ""),
        ("GET", "/openapi.yaml", ""),
        ("GET", "/docs", ""),
        ("GET", "/v1/tools", ""),
        ("GET", "/v1/tools/hello", ""),
        ("GET", "/v1/nope", ""),
        ("GET", JOBS, ""),
        ("POST", SIMPLE, r#"{"args":{"message":"<script>"}}"#),
        ("POST", SIMPLE, "{}"),
        ("POST", EXECUTE, r#"{"tool":"echo_json","input":{"message":"<script>"}}"#),
        ("POST", "/mcp", list),
        ("POST", "/mcp", "<script>"),
    ] {
        let headers = [("accept", "application/json, text/event-stream")];
        let body = (!body.is_empty()).then(|| body.as_bytes().to_vec());
        let answer = world.send(method, path, &headers, body).await;
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{method} {path}");
    }
}

#[tokio::test]
async fn a_head_that_is_too_large_or_no_head_ends_only_its_connection() {
    let world = start("").await;
    let many = "x: y\r\n".repeat(5_000);
    for head in [
        format!("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\nx: {}\r\n\r\n", "a".repeat(1_000_000)),
        format!("GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n{many}\r\n"),
        format!("GET /{} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n", "a".repeat(1_000_000)),
        "no request at all\r\n\r\n".to_owned(),
        "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\na b: c\r\n\r\n".to_owned(),
        "\x16\x03\x01\x02\r\n\r\n".to_owned(),
    ] {
        let mut raw = world.connect().await;
        // It may be cut off while it still sends.
        let _ = raw.send(&head).await;
        let said = String::from_utf8_lossy(&raw.closed().await).into_owned();
        let refused = ["HTTP/1.1 400", "HTTP/1.1 414", "HTTP/1.1 431"];
        let told = refused.iter().any(|start| said.starts_with(start));
        assert!(told || (said.is_empty() && head.len() > 65_536), "{head:.60}: `{said}`");
        lives(&world).await;
    }
}

#[tokio::test]
async fn a_request_keeps_its_own_name_only_if_that_can_be_printed() {
    let world = start("").await;
    let longest = "r".repeat(128);
    let too_long = "r".repeat(129);
    for (given, kept) in [
        ("my-request.1", true),
        (&*longest, true),
        (&*too_long, false),
        ("two words", false),
        ("", false),
        ("é", false),
        ("a\tb", false),
    ] {
        for (method, path) in [("GET", "/healthz"), ("GET", "/nope"), ("POST", EXECUTE)] {
            let headers = [("x-request-id", given), ("content-length", "0")];
            let answer = world.raw(method, path, &headers).await;
            let name = answer.header("x-request-id");
            if kept {
                assert_eq!(name, given);
            } else {
                assert!(name.starts_with("req_") && name.len() == 30, "{given}: {name}");
            }
        }
    }
    // In the journal it stands beside our own: many requests may come by one name.
    let headers = [("x-request-id", "theirs"), ("content-type", "application/json")];
    let body = r#"{"args":{"message":"hi"}}"#.into();
    assert_eq!(world.send("POST", SIMPLE, &headers, Some(body)).await.status, 200);
    let line = world.journal().pop().unwrap();
    assert_eq!(line["client_request_id"], "theirs");
    assert!(line["request_id"].as_str().unwrap().starts_with("req_"));
}

#[tokio::test]
async fn an_idempotency_key_that_cannot_be_one_is_refused() {
    let world = start("").await;
    let too_long = "k".repeat(256);
    for key in ["", " ", "two words", "ключ", &too_long] {
        for (door, body) in [
            (EXECUTE, r#"{"tool":"echo_json","input":{"message":"a"}}"#),
            (SIMPLE, r#"{"args":{"message":"a"}}"#),
            (JOBS, r#"{"tool":"echo_json","input":{"message":"a"}}"#),
        ] {
            let headers = [("idempotency-key", key)];
            let answer = world.send("POST", door, &headers, Some(body.into())).await;
            let words = "Idempotency-Key must be 1 to 255 visible ASCII characters";
            refused(door, &answer, (400, "invalid_request"), words);
        }
    }
    assert_eq!(jobs(&world).await, 0);
}
