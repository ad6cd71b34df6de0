//! Sessions of the legacy protocol versions, and calls that somebody gives up.

use serde_json::json;
use testkit::{
    World, eventually,
    mcp::{ACCEPT, JSON, Legacy, cancelled, frame, meta, request, with_tasks},
    resident_bytes,
};

use super::{
    MODERN, asleep, gone, is_alive, lives, post, post_by_hand, refused, sleeps, sleeps_modern,
    with_sleeper,
};
use crate::{command, start};

/// A session that this caller opens at this path.
async fn open(world: &World, path: &str, headers: &[(&str, &str)]) -> String {
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {} });
    let body = request(0, "initialize", &params).to_string();
    let headers = [&[JSON, ACCEPT], headers].concat();
    let answer = world.send("POST", path, &headers, Some(body.into_bytes())).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.header("mcp-session-id").to_owned()
}

fn ping() -> String {
    request(1, "ping", &json!({})).to_string()
}

async fn count(world: &World) -> usize {
    let metrics = world.get("/metrics").await.text();
    let line = metrics.lines().find(|line| line.starts_with("toolgate_mcp_sessions ")).unwrap();
    line.split(' ').nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn nothing_is_answered_before_initialize() {
    let world = start("").await;
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned();
    let answered = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#.to_owned();
    let call = request(1, "tools/call", &json!({ "name": "hello" })).to_string();
    let list = request(1, "tools/list", &json!({})).to_string();
    for body in [ping(), call, list, told, answered, cancelled(&json!(1)).to_string()] {
        refused(&post(&world, &[], body.clone()).await, (400, -32600), "send `initialize` first");
        for session in ["0", "", "../..", &"a".repeat(48), &"a".repeat(10_000)] {
            let answer = post(&world, &[("mcp-session-id", session)], body.clone()).await;
            refused(&answer, (404, -32600), "Session not found");
        }
        // One that is no text is none.
        for session in ["é", "\u{1}", "a\tb"] {
            let headers = [JSON, ACCEPT, ("mcp-session-id", session)];
            let mut raw = world.sent(frame("POST", "/mcp", &headers, &body)).await;
            let status = raw.head().await.status;
            assert!([400, 404].contains(&status), "{session:?}: {status}");
        }
    }
    assert_eq!((count(&world).await, world.journal().len()), (0, 1));
}

#[tokio::test]
async fn a_session_leads_where_it_led_and_is_its_owners() {
    let settings =
        "server: { tokens: [ { name: ada, token_env: ADA }, { name: bob, token_env: BOB } ] }\n";
    let world = World::new(crate::BINARY, settings)
        .with_env("ADA", "the-secret-of-ada")
        .with_env("BOB", "the-secret-of-bob")
        .started()
        .await;
    let (ada, bob) = (
        ("authorization", "Bearer the-secret-of-ada"),
        ("authorization", "Bearer the-secret-of-bob"),
    );
    let (whole, part) =
        (open(&world, "/mcp", &[ada]).await, open(&world, "/mcp/autosage", &[ada]).await);
    for (caller, path, session, status) in [
        (ada, "/mcp", &whole, 200),
        (ada, "/mcp/autosage", &part, 200),
        (bob, "/mcp", &whole, 404),
        (bob, "/mcp/autosage", &part, 404),
        (ada, "/mcp/autosage", &whole, 404),
        (ada, "/mcp", &part, 404),
        (("authorization", "Bearer nobody"), "/mcp", &whole, 401),
        (("authorization", "Basic nobody"), "/mcp", &whole, 401),
    ] {
        let headers = [caller, ("mcp-session-id", session), JSON, ACCEPT];
        let body = Some(ping().into_bytes());
        let answer = world.send("POST", path, &headers, body).await;
        assert_eq!(answer.status, status, "{caller:?} {path}: {}", answer.text());
        if status == 200 {
            continue;
        }
        refused(&answer, (status, -32600), "");
        for method in ["GET", "DELETE"] {
            refused(&world.send(method, path, &headers, None).await, (status, -32600), "");
        }
    }
    // What the others tried has changed nothing. A session ends once.
    for (path, session) in [("/mcp", &whole), ("/mcp/autosage", &part)] {
        let headers = [ada, ("mcp-session-id", session)];
        assert_eq!(world.send("DELETE", path, &headers, None).await.status, 204);
        let again = world.send("DELETE", path, &headers, None).await;
        refused(&again, (404, -32600), "Session not found");
        let headers = [&headers[..], &[JSON, ACCEPT]].concat();
        let late = world.send("POST", path, &headers, Some(ping().into_bytes())).await;
        refused(&late, (404, -32600), "Session not found");
    }
}

#[tokio::test]
async fn an_id_that_is_taken_is_refused_until_it_is_free() {
    let world = with_sleeper("").started().await;
    let (one, other) = (Legacy::open(&world).await, Legacy::open(&world).await);
    let headers = [("mcp-session-id", &*one.session)];
    let mut raw = post_by_hand(&world, &headers, &sleeps(7)).await;
    let process = asleep(&world).await;
    for method in ["ping", "tools/list"] {
        let body = request(7, method, &json!({})).to_string();
        refused(&one.post(&body).await, (400, -32600), "its request has no response yet");
        // A text is no number, and another session has ids of its own.
        let text = request("7", method, &json!({})).to_string();
        assert_eq!((one.post(&text).await.status, other.post(&body).await.status), (200, 200));
    }
    refused(&one.post(&sleeps(7).to_string()).await, (400, -32600), "has no response yet");
    assert!(is_alive(&process));
    assert_eq!(one.post(&cancelled(&json!(7)).to_string()).await.status, 202);
    let answer = raw.answer().await.json();
    assert_eq!(answer["id"], 7, "{answer}");
    let again = request(7, "ping", &json!({})).to_string();
    eventually("the id is free", async || one.post(&again).await.status == 200).await;
}

#[tokio::test]
async fn a_cancelled_call_ends_with_its_process_and_no_other_does() {
    let world = with_sleeper("").started().await;
    let (one, other) = (Legacy::open(&world).await, Legacy::open(&world).await);
    // Nothing of this name runs, or ever will.
    for id in [json!(1), json!("1"), json!(99), json!(null), json!([]), json!({}), json!(1.5)] {
        assert_eq!(one.post(&cancelled(&id).to_string()).await.status, 202, "{id}");
    }
    for params in ["{}", "5", "[1]", "null"] {
        let body =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        assert_eq!(one.post(&body).await.status, 202, "{params}");
    }
    let headers = [("mcp-session-id", &*one.session)];
    let mut raw = post_by_hand(&world, &headers, &sleeps(1)).await;
    let process = asleep(&world).await;
    // Neither another session nor another id reaches it.
    assert_eq!(other.post(&cancelled(&json!(1)).to_string()).await.status, 202);
    assert_eq!(one.post(&cancelled(&json!("1")).to_string()).await.status, 202);
    let other = post(&world, &[MODERN], cancelled(&json!(1)).to_string()).await;
    assert_eq!(other.status, 202, "{}", other.text());
    assert!(is_alive(&process));
    assert_eq!(one.post(&cancelled(&json!(1)).to_string()).await.status, 202);
    assert_eq!(one.post(&cancelled(&json!(1)).to_string()).await.status, 202);
    gone(&process).await;
    let result = raw.answer().await.json()["result"].clone();
    assert_eq!(result["_meta"]["toolgate/error"]["code"], "cancelled", "{result}");
}

#[tokio::test]
async fn a_modern_client_that_hangs_up_has_cancelled_its_call() {
    let world = with_sleeper("").started().await;
    let mut watching = meta(&json!({}));
    watching["progressToken"] = json!("p");
    watching["io.modelcontextprotocol/logLevel"] = json!("debug");
    for meta in [meta(&json!({})), meta(&with_tasks()), watching] {
        let (headers, body) = sleeps_modern(&meta);
        let raw = post_by_hand(&world, &headers, &body).await;
        let process = asleep(&world).await;
        drop(raw);
        gone(&process).await;
    }
    lives(&world).await;
}

#[tokio::test]
#[ignore = "hyper does not notice the end of a connection behind bytes that it has not read"]
async fn a_modern_client_that_sent_more_before_it_hung_up_has_cancelled_its_call() {
    let world = with_sleeper("").started().await;
    for more in ["\r\n", "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"] {
        let (headers, body) = sleeps_modern(&meta(&json!({})));
        let mut raw = post_by_hand(&world, &headers, &body).await;
        raw.send(more).await.unwrap();
        let process = asleep(&world).await;
        drop(raw);
        gone(&process).await;
    }
}

#[tokio::test]
async fn a_legacy_client_that_hangs_up_has_not_cancelled_its_call() {
    let mut world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    std::fs::create_dir(world.folder().join("state")).unwrap();
    let folder = world.folder().join("state").display().to_string();
    let script = format!(
        "cat > /dev/null; touch {folder}/begun; while [ ! -e {folder}/go ]; do sleep 0.02; done; \
         touch {folder}/done; echo '{{\"answer\":1}}'"
    );
    command(&world, "sleeper", &script, "");
    world.run().await;
    let session = Legacy::open(&world).await.session;
    let file = |name: &str| world.has(&format!("state/{name}"));
    let headers = [("mcp-session-id", &*session)];
    let raw = post_by_hand(&world, &headers, &sleeps(1)).await;
    eventually("the call runs", async || file("begun")).await;
    drop(raw);
    // Its session goes on, and so does the call.
    assert_eq!(
        post(&world, &headers, request(2, "ping", &json!({})).to_string()).await.status,
        200
    );
    assert_eq!(post(&world, &headers, ping()).await.status, 400, "the id is still taken");
    std::fs::write(world.folder().join("state/go"), "").unwrap();
    eventually("the call has come to its end", async || file("done")).await;
    eventually("the id is free", async || post(&world, &headers, ping()).await.status == 200).await;
}

#[tokio::test]
async fn what_runs_in_a_session_ends_with_it() {
    let world = with_sleeper("").started().await;
    let session = Legacy::open(&world).await.session;
    let headers = [("mcp-session-id", &*session)];
    let mut raw = post_by_hand(&world, &headers, &sleeps(1)).await;
    let process = asleep(&world).await;
    let mut stream = world.sent(frame("GET", "/mcp", &[ACCEPT, headers[0]], "")).await;
    assert_eq!(stream.head().await.status, 200);
    assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
    gone(&process).await;
    let result = raw.answer().await.json()["result"].clone();
    assert_eq!(result["_meta"]["toolgate/error"]["code"], "cancelled", "{result}");
    // The last piece of the stream is its end; the connection is kept.
    let mut rest = String::new();
    while !rest.ends_with("0\r\n\r\n") {
        rest += &stream.more().await;
    }
    lives(&world).await;
}

#[tokio::test]
async fn thousands_of_sessions_that_nobody_ends_leave_nothing_behind() {
    const MANY: usize = 2_000;
    let world = start("mcp: { session_idle_ms: 1000 }\n").await;
    let abandon = async || {
        for number in 0..MANY {
            let session = open(&world, "/mcp", &[]).await;
            // Some are used, some watch something, some are ended as they should be.
            let headers = [("mcp-session-id", &*session)];
            let uri = json!({ "uri": format!("toolgate://jobs/{number}") });
            match number % 8 {
                0 => drop(post(&world, &headers, ping()).await),
                1 => {
                    let body = request(1, "resources/subscribe", &uri).to_string();
                    post(&world, &headers, body).await;
                }
                2 => drop(world.send("DELETE", "/mcp", &headers, None).await),
                _ => {}
            }
        }
        let most = count(&world).await;
        eventually("all are forgotten", async || count(&world).await == 0).await;
        (most, resident_bytes(world.pid()))
    };
    // The first round is what the server takes to get going.
    abandon().await;
    let (most, before) = abandon().await;
    assert!(most > 0);
    let (_, after) = abandon().await;
    assert!(after * 10 <= before * 11, "{before} bytes before, {after} bytes after");
    lives(&world).await;
}

#[tokio::test]
async fn there_are_never_more_sessions_than_the_settings_say() {
    let world = with_sleeper("mcp: { max_sessions: 10 }\n").started().await;
    // Two that are at work: a call, and a stream.
    let (calls, listens) = (Legacy::open(&world).await, Legacy::open(&world).await);
    let call = post_by_hand(&world, &[("mcp-session-id", &calls.session)], &sleeps(2)).await;
    let process = asleep(&world).await;
    let headers = [ACCEPT, ("mcp-session-id", &listens.session)];
    let mut stream = world.sent(frame("GET", "/mcp", &headers, "")).await;
    assert_eq!(stream.head().await.status, 200);
    for _ in 0..200 {
        let session = open(&world, "/mcp", &[]).await;
        assert_eq!(post(&world, &[("mcp-session-id", &session)], ping()).await.status, 200);
        assert!(count(&world).await <= 10);
    }
    assert!(is_alive(&process));
    assert_eq!((calls.post(&ping()).await.status, listens.post(&ping()).await.status), (200, 200));
    drop(call);
}

#[tokio::test]
async fn the_session_that_was_idle_for_longest_goes_first() {
    let world = start("mcp: { max_sessions: 10 }\n").await;
    let kept = open(&world, "/mcp", &[]).await;
    let mut sessions = Vec::new();
    for _ in 0..30 {
        sessions.push(open(&world, "/mcp", &[]).await);
        // Whoever goes on using its session keeps it.
        assert_eq!(post(&world, &[("mcp-session-id", &kept)], ping()).await.status, 200);
    }
    let mut statuses = Vec::new();
    for session in &sessions {
        statuses.push(post(&world, &[("mcp-session-id", session)], ping()).await.status);
    }
    assert_eq!(statuses, [vec![404; 21], vec![200; 9]].concat());
}

#[tokio::test]
async fn what_a_session_watches_is_bounded_in_bytes() {
    let world = start("").await;
    let legacy = Legacy::open(&world).await;
    let before = resident_bytes(world.pid());
    for number in 0..100 {
        let uri = format!("toolgate://jobs/{number}{}", "x".repeat(1_000_000));
        legacy.ask("resources/subscribe", &json!({ "uri": uri })).await;
    }
    let taken = resident_bytes(world.pid()).saturating_sub(before);
    assert!(taken < 50 * 1_024 * 1_024, "one session took {taken} bytes");
}
