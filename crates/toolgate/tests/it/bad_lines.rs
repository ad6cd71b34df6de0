//! What a careless or hostile MCP client does on stdin and stdout: every line gets its answer,
//! and nothing is left behind.

use std::{
    io::Write,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    World, anonymous_bytes, eventually,
    mcp::{Piped, cancelled, meta, request, with_tasks},
    peak_bytes, resident_bytes, until,
};

use crate::{
    BINARY,
    bad_messages::{
        NO_JSON, NO_MESSAGE, asleep, gone, is_alive, long_cases,
        parameters::{damage, good_messages, numbers},
        with_sleeper,
    },
    command,
};

const MEGABYTE: u64 = 1_024 * 1_024;

fn world() -> World {
    World::new(BINARY, "")
}

/// A request of the modern protocol version.
fn modern(id: impl Into<Value>, method: &str, mut params: Value) -> Value {
    if params.get("_meta").is_none() {
        params["_meta"] = meta(&json!({}));
    }
    request(id, method, &params)
}

fn hello(id: impl Into<Value>) -> Value {
    modern(id, "tools/call", json!({ "name": "hello", "arguments": { "name": "Ada" } }))
}

fn sleeps(id: i64) -> Value {
    modern(id, "tools/call", json!({ "name": "sleeper" }))
}

fn code(answer: &Value) -> i64 {
    answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {answer}"))
}

/// The next request is answered, whichever protocol version it speaks.
fn lives(server: &mut Piped) {
    let greeting = "Hello, Ada!";
    server.tell(&hello("alive"));
    let answer = server.heard();
    assert_eq!(answer["id"], "alive", "{answer}");
    assert_eq!(answer["result"]["structuredContent"]["greeting"], greeting, "{answer}");
}

/// The exit code, within ten seconds.
async fn ends(server: &mut Piped) -> i32 {
    eventually("the server has ended", || std::future::ready(server.ended())).await
}

#[test]
fn a_line_that_is_no_message_is_answered_and_the_next_one_is_read() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    server.initialize(&json!({}));
    let deep = "[".repeat(100_000);
    let nested = r#"{"a":"#.repeat(100_000) + "1" + &"}".repeat(100_000);
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"hello","arguments":{arguments}}}}}"#
        )
    };
    let mut cases: Vec<(Vec<u8>, i64)> = Vec::new();
    cases.extend(NO_JSON.iter().map(|line| (line.to_vec(), -32700)));
    cases.extend(NO_MESSAGE.iter().map(|line| (line.to_vec(), -32600)));
    cases.extend(long_cases().map(|(line, code)| (line.into_bytes(), code)));
    for (line, code) in [
        (r#"{"jsonrpc":"1.0","id":"x","method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":["ping"]}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":"x","method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":"x","method":"tools/list","params":5}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":"x","method":"tools/call"}"#, -32602),
        (&call(&nested), -32602),
        (&call(r#"{"name":1E400}"#), -32602),
        ("[]", -32600),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, -32600),
        (r#"[[{"jsonrpc":"2.0","id":1,"method":"ping"}]]"#, -32600),
        (&deep, -32600),
        // A message by position is none, nor are parameters.
        (r#"["2.0",1,"ping"]"#, -32600),
        (r#"["2.0",1,"tools/call",{"name":"hello","arguments":{"name":"Ada"}}]"#, -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[null,"hello",{"name":"Ada"}]}"#,
            -32602,
        ),
    ] {
        cases.push((line.as_bytes().to_vec(), code));
    }
    for (line, expected) in cases {
        server.send([&line, &b"\n"[..]].concat());
        let answer = server.heard();
        let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
        assert_eq!(code(&answer), expected, "{shown}: {answer:.500}");
        // The id comes back where it can be read.
        if shown.contains(r#""id":"x""#) {
            assert_eq!(answer["id"], "x", "{shown}");
        }
        lives(&mut server);
    }
    // Nobody waits for an answer to these.
    for line in [
        "",
        " \t ",
        "\r",
        r#"{"jsonrpc":"2.0","method":"no/such"}"#,
        r#"{"jsonrpc":"2.0","method":"tools/call","params":5}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":"x","error":5}"#,
    ] {
        server.send(format!("{line}\n"));
        lives(&mut server);
    }
    assert_eq!(server.close(), (0, vec![]));
}

#[test]
fn a_batch_is_answered_in_the_revision_that_has_them() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    let params = json!({ "protocolVersion": "2025-03-26", "capabilities": {} });
    let opened = server.ask(0, "initialize", &params);
    assert_eq!(opened["result"]["protocolVersion"], "2025-03-26");
    server.tell(&json!([request(1, "ping", &json!({})), request(2, "ping", &json!({}))]));
    let answers = server.heard();
    assert_eq!(answers[0]["result"], json!({}), "{answers}");
}

#[test]
fn whatever_is_damaged_the_next_line_is_answered() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    let (mut random, good) = (numbers(), good_messages());
    for round in 0..100 {
        let mut lines = Vec::new();
        for _ in 0..30 {
            lines.extend(damage(good[random(good.len())].as_bytes(), &mut random));
            lines.push(b'\n');
        }
        let marker = format!("round {round}");
        lines.extend(format!("{}\n", hello(&*marker)).bytes());
        server.send(&lines);
        let shown = String::from_utf8_lossy(&lines);
        loop {
            let answer = server.heard();
            assert_eq!(answer["jsonrpc"], "2.0", "{answer}: {shown}");
            if answer["id"] == *marker {
                assert_eq!(answer["result"]["isError"], false, "{answer}: {shown}");
                break;
            }
        }
    }
    assert_eq!(server.close(), (0, vec![]));
}

#[test]
fn a_client_may_leave_so_many_requests_open_and_no_more() {
    const MOST: i64 = 256;
    let world = world();
    let mut server = Piped::start(&world, &[]);
    let all = json!({ "notifications": { "toolsListChanged": true } });
    for id in 0..MOST {
        server.tell(&modern(id, "subscriptions/listen", all.clone()));
        let said = server.heard();
        assert_eq!(said["method"], "notifications/subscriptions/acknowledged", "{said}");
    }
    for message in [modern(MOST, "subscriptions/listen", all), hello(MOST)] {
        server.tell(&message);
        let answer = server.heard();
        assert_eq!((&answer["id"], code(&answer)), (&json!(MOST), -32600), "{answer}");
    }
    // One that is given up makes room.
    server.tell(&cancelled(&json!(0)));
    // It counts until it has ended.
    until("there is room", || {
        server.tell(&hello(MOST));
        server.heard()["result"]["isError"] == false
    });
    // At the end each of them is answered.
    let (exit, said) = server.close();
    assert_eq!((exit, said.len()), (0, 255));
}

#[test]
fn a_line_of_seventeen_megabytes_is_refused_and_not_kept() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    let text = "x".repeat(17 * 1_024 * 1_024);
    let long = modern(1, "tools/call", json!({ "name": "hello", "arguments": { "name": text } }));
    for _ in 0..3 {
        server.tell(&long);
        let answer = server.heard();
        assert_eq!((&answer["id"], code(&answer)), (&json!(null), -32600));
        let words = "more than 2000000 bytes (server.max_body_bytes)";
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
        lives(&mut server);
    }
    let taken = anonymous_bytes(server.pid());
    assert!(taken < 30 * MEGABYTE, "the server took {taken} bytes");
    // One that never ends is forgotten with the rest.
    server.send(&text);
    assert_eq!(code(&server.heard()), -32600);
    assert_eq!(server.close(), (0, vec![]));
}

#[test]
fn however_the_bytes_come_the_messages_are_the_same() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    // With the line ends of another system.
    server.send(format!("{}\r\n\r\n", hello(1)));
    assert_eq!(server.heard()["id"], 1);
    // Several at once.
    let many: String = (0..50).map(|number| format!("{}\n", hello(number))).collect();
    server.send(many);
    for number in 0..50 {
        assert_eq!(server.heard()["id"], number);
    }
    // One in many pieces.
    for byte in format!("{}\n", hello("piece")).bytes() {
        server.send([byte]);
    }
    assert_eq!(server.heard()["id"], "piece");
    // Two, cut in the middle of a letter.
    let name = json!({ "name": "hello", "arguments": { "name": "Ä😀" } });
    let line = format!("{}\n", modern("letter", "tools/call", name)).repeat(2);
    let middle = line.find('😀').unwrap() + 2;
    server.send(&line.as_bytes()[..middle]);
    assert!(server.is_silent(Duration::from_millis(50)));
    server.send(&line.as_bytes()[middle..]);
    for _ in 0..2 {
        let answer = server.heard();
        assert_eq!(answer["result"]["structuredContent"]["greeting"], "Hello, Ä😀!", "{answer}");
    }
    // The last one needs no end.
    server.send(hello("last").to_string());
    let (exit, said) = server.close();
    assert_eq!((exit, said.len(), &said[0]["id"]), (0, 1, &json!("last")), "{said:?}");
}

#[test]
fn a_line_that_stops_in_the_middle_is_the_last() {
    let world = world();
    let whole = hello(1).to_string();
    for length in [1, 10, whole.len() / 2, whole.len() - 1] {
        let mut server = Piped::start(&world, &[]);
        lives(&mut server);
        server.send(&whole[..length]);
        let (exit, said) = server.close();
        let codes: Vec<i64> = said.iter().map(code).collect();
        assert_eq!((exit, codes), (0, vec![-32700]), "{length}");
    }
}

#[test]
fn a_legacy_client_begins_with_initialize_and_does_so_once() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    let call = json!({ "name": "hello", "arguments": { "name": "Ada" } });
    for (method, params) in [("tools/list", &json!({})), ("tools/call", &call)] {
        let answer = server.ask(1, method, params);
        assert_eq!((&answer["id"], code(&answer)), (&json!(1), -32600), "{answer}");
    }
    // What is older than any session.
    assert_eq!(server.ask(1, "ping", &json!({}))["result"], json!({}));
    for params in [json!(null), json!({}), json!({ "protocolVersion": 5 }), json!("x")] {
        assert_eq!(code(&server.ask(1, "initialize", &params)), -32602, "{params}");
    }
    // A modern one needs none, and has none.
    assert!(
        server.ask(1, "server/discover", &json!({ "_meta": meta(&json!({})) }))["result"]
            .is_object()
    );
    assert_eq!(code(&server.ask(1, "server/discover", &json!({}))), -32602);
    server.tell(&modern(1, "initialize", json!({})));
    assert_eq!(code(&server.heard()), -32601);
    lives(&mut server);
    assert!(server.initialize(&json!({}))["result"].is_object());
    assert_eq!(server.ask(1, "tools/call", &call)["result"]["isError"], false);
    let again = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    assert_eq!(code(&server.ask(1, "initialize", &again)), -32600);
    assert_eq!(server.ask(1, "tools/call", &call)["result"]["isError"], false);
}

#[test]
fn protocol_versions_may_take_turns() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    server.initialize(&json!({}));
    let call = json!({ "name": "hello", "arguments": { "name": "Ada" } });
    for number in 0..100 {
        let old = server.ask(number, "tools/call", &call);
        assert!(old["result"].get("resultType").is_none(), "{old}");
        server.tell(&modern(number, "tools/call", call.clone()));
        let new = server.heard();
        assert_eq!(new["result"]["resultType"], "complete", "{new}");
        assert_eq!(server.ask(number, "ping", &json!({}))["result"], json!({}));
        server.tell(&modern(number, "ping", json!({})));
        assert_eq!(code(&server.heard()), -32601);
        let mut wrong = meta(&json!({}));
        wrong["io.modelcontextprotocol/protocolVersion"] = json!("2025-11-25");
        assert_eq!(code(&server.ask(number, "tools/list", &json!({ "_meta": wrong }))), -32022);
    }
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_until_it_is_free() {
    let world = with_sleeper("");
    let mut server = Piped::start(&world, &[]);
    server.initialize(&json!({}));
    server.tell(&sleeps(7));
    let process = asleep(&world).await;
    for message in [request(7, "ping", &json!({})), hello(7), sleeps(7)] {
        server.tell(&message);
        let answer = server.heard();
        assert_eq!((&answer["id"], code(&answer)), (&json!(7), -32600), "{answer}");
    }
    assert!(is_alive(&process));
    server.tell(&cancelled(&json!(7)));
    gone(&process).await;
    server.tell(&hello(7));
    assert_eq!(server.heard()["result"]["isError"], false);
}

#[tokio::test]
async fn an_id_from_before_initialize_is_still_taken_after_it() {
    let world = with_sleeper("");
    let mut server = Piped::start(&world, &[]);
    server.tell(&sleeps(7));
    let _process = asleep(&world).await;
    server.initialize(&json!({}));
    let answer = server.ask(7, "ping", &json!({}));
    assert_eq!(code(&answer), -32600, "{answer}");
}

#[tokio::test]
async fn a_cancelled_call_ends_with_its_process_and_no_other_does() {
    let world = with_sleeper("");
    let mut server = Piped::start(&world, &[]);
    // Nothing of this name runs yet: it is not held against the one that comes.
    for id in [json!(1), json!("1"), json!(99), json!(null), json!([]), json!({}), json!(1E40)] {
        server.tell(&cancelled(&id));
    }
    server.tell(&sleeps(1));
    let process = asleep(&world).await;
    for id in [json!("1"), json!(2), json!(1.0)] {
        server.tell(&cancelled(&id));
    }
    lives(&mut server);
    assert!(is_alive(&process));
    server.tell(&cancelled(&json!(1)));
    server.tell(&cancelled(&json!(1)));
    gone(&process).await;
    // The same for one of the other protocol version, and for one from before it began.
    server.tell(&sleeps(1));
    let before = asleep(&world).await;
    server.initialize(&json!({}));
    server.tell(&request(3, "tools/call", &json!({ "name": "sleeper" })));
    let after = asleep(&world).await;
    server.tell(&cancelled(&json!(1)));
    gone(&before).await;
    server.tell(&cancelled(&json!(3)));
    gone(&after).await;
    // Who has lost interest is told nothing: the next answer is that to the next request.
    lives(&mut server);
}

#[tokio::test]
async fn what_runs_ends_with_its_client() {
    let world = with_sleeper("");
    for signal in [true, false] {
        let mut server = Piped::start(&world, &[]);
        server.tell(&sleeps(1));
        let first = asleep(&world).await;
        server.initialize(&json!({}));
        server.tell(&request(2, "tools/call", &json!({ "name": "sleeper" })));
        let second = asleep(&world).await;
        if signal {
            server.terminate();
        } else {
            drop(server.take_input());
        }
        assert_eq!(ends(&mut server).await, 0);
        assert!(!is_alive(&first) && !is_alive(&second));
    }
}

#[tokio::test]
async fn a_task_does_not_keep_the_server_from_ending() {
    let world = with_sleeper("mcp: { task_after_ms: 50 }\n");
    for signal in [true, false] {
        let mut server = Piped::start(&world, &[]);
        let tasks = meta(&with_tasks());
        server.tell(&modern(1, "tools/call", json!({ "name": "sleeper", "_meta": tasks })));
        assert_eq!(server.heard()["result"]["resultType"], "task");
        let process = asleep(&world).await;
        if signal {
            server.terminate();
        } else {
            drop(server.take_input());
        }
        assert_eq!(ends(&mut server).await, 0);
        assert!(!is_alive(&process));
    }
}

#[tokio::test]
async fn a_server_whose_stdout_is_closed_ends() {
    let world = with_sleeper("");
    let mut server = Piped::start_unheard(&world, &[]);
    server.tell(&sleeps(1));
    let process = asleep(&world).await;
    server.close_output();
    server.tell(&hello(2));
    assert_eq!(ends(&mut server).await, 0);
    gone(&process).await;
}

/// Sends requests from a thread of its own, for as long as the server takes them. Their
/// answers are ten times as long.
fn send_all(server: &mut Piped, count: i64) -> std::thread::JoinHandle<()> {
    let mut input = server.take_input();
    let echo = json!({ "name": "echo_json", "arguments": { "message": "x".repeat(100), "n": 20 } });
    std::thread::spawn(move || {
        for id in 0..count {
            let line = format!("{}\n", modern(id, "tools/call", echo.clone()));
            if input.write_all(line.as_bytes()).is_err() {
                return;
            }
        }
    })
}

/// Bytes that a full pipe has at least. It holds sixteen pages of 4096 bytes, and what does not fit into
/// the rest of a page begins the next one.
const FULL_PIPE_BYTES: u64 = 16 * 4_096 / 2;

/// Waits until the server has filled its output and neither reads nor writes any more.
async fn stalled(server: &Piped) {
    let moved = || std::fs::read_to_string(format!("/proc/{}/io", server.pid())).unwrap();
    let written = |io: &str| {
        io.lines().find_map(|line| line.strip_prefix("wchar: ")?.parse::<u64>().ok()).unwrap_or(0)
    };
    eventually("the server stalls", async || {
        let before = moved();
        tokio::time::sleep(Duration::from_millis(200)).await;
        moved() == before && written(&before) >= FULL_PIPE_BYTES
    })
    .await;
}

#[tokio::test]
async fn a_client_that_reads_late_gets_everything_and_costs_nothing_until_then() {
    const MANY: i64 = 10_000;
    let world = world();
    let mut other = Piped::start(&world, &[]);
    lives(&mut other);
    let usual = resident_bytes(other.pid());
    let mut server = Piped::start_unheard(&world, &[]);
    server.tell(&hello("first"));
    let sending = send_all(&mut server, MANY);
    stalled(&server).await;
    assert!(!sending.is_finished());
    let taken = resident_bytes(server.pid()).saturating_sub(usual);
    assert!(taken < 10 * MEGABYTE, "the server took {taken} bytes more than usual");
    server.listen();
    assert_eq!(server.heard()["id"], "first");
    let mut ids: Vec<i64> = (0..MANY).map(|_| server.heard()["id"].as_i64().unwrap()).collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(0..MANY));
    sending.join().unwrap();
}

#[tokio::test]
async fn a_server_whose_client_does_not_read_can_be_stopped() {
    let world = world();
    let mut server = Piped::start_unheard(&world, &[]);
    let sending = send_all(&mut server, 10_000);
    stalled(&server).await;
    assert!(!sending.is_finished());
    server.terminate();
    ends(&mut server).await;
}

#[tokio::test]
async fn answers_that_nobody_takes_are_bounded_in_bytes() {
    let world = world();
    let text = format!("text={}", "x".repeat(100_000));
    let result = world
        .cli(&["call", "write_text_artifact", "--json", "filename=a.txt", &text])
        .exits(0)
        .json();
    let path = result["artifacts"][0]["path"].as_str().unwrap();
    let uri = format!("toolgate://{}", path.trim_start_matches("/v1/"));
    // What a server takes that has started and been asked something: another one, because this one
    // is not heard when it is ready.
    let mut other = Piped::start(&world, &[]);
    other.initialize(&json!({}));
    let before = resident_bytes(other.pid());
    let mut server = Piped::start_unheard(&world, &[]);
    let mut input = server.take_input();
    std::thread::spawn(move || {
        for id in 0..2_000 {
            let read = modern(id, "resources/read", json!({ "uri": uri }));
            if input.write_all(format!("{read}\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    // Two hundred megabytes are asked for.
    stalled(&server).await;
    let most = peak_bytes(server.pid()).saturating_sub(before);
    assert!(most < 50 * MEGABYTE, "the server took {most} bytes");
}

/// The memory of a process in megabytes, once it has stayed the same for half a second, which is
/// twice as long as it takes to notice what is watched.
fn settled_megabytes(process: u32) -> u64 {
    let (mut last, mut since) = (0, Instant::now());
    until("the memory stays the same", || {
        let now = resident_bytes(process);
        if now != last {
            (last, since) = (now, Instant::now());
        }
        (since.elapsed() >= Duration::from_millis(500)).then_some(now / MEGABYTE)
    })
}

#[test]
fn what_is_no_longer_watched_is_forgotten() {
    let world = world();
    let mut server = Piped::start(&world, &[]);
    server.initialize(&json!({}));
    let mut taken = Vec::new();
    for round in 0..4 {
        let uri = |number: i32| format!("toolgate://jobs/{round}.{number}{}", "x".repeat(500_000));
        for method in ["resources/subscribe", "resources/unsubscribe"] {
            for number in 0..40 {
                server.ask(1, method, &json!({ "uri": uri(number) }));
            }
            taken.push(settled_megabytes(server.pid()));
        }
    }
    // After the last round as after the first.
    assert!(taken[7] < taken[1] + 20, "in megabytes, step by step: {taken:?}");
}

#[tokio::test]
async fn a_tool_that_prints_lines_does_not_break_ours() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    let script = r#"cat > /dev/null; printf '{\n  "answer":\r\n  "a\\nb\\u2028"\n}\n\n'"#;
    command(&world, "pretty", script, "");
    let mut server = Piped::start(&world, &[]);
    server.initialize(&json!({}));
    for _ in 0..3 {
        let answer = server.ask(1, "tools/call", &json!({ "name": "pretty" }));
        assert_eq!(answer["result"]["structuredContent"]["answer"], "a\nb\u{2028}", "{answer}");
        server.tell(&modern(1, "tools/call", json!({ "name": "pretty" })));
        let answer = server.heard();
        assert_eq!(answer["result"]["structuredContent"]["answer"], "a\nb\u{2028}", "{answer}");
    }
}
