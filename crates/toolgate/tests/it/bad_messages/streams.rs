//! Streams: clients that do not read, that go away, that have nothing to hear for a long time.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{
    Raw, World, eventually,
    mcp::{ACCEPT, JSON, Legacy, Modern, frame, meta, request},
    resident_bytes,
};
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{MODERN, lives, modern, post, post_by_hand};
use crate::{bad_state::fixture, start};

/// Sends a request for a stream.
async fn listen(world: &World, headers: &[(&str, &str)], body: Option<&Value>) -> Raw {
    let (method, body) = body.map_or(("GET", String::new()), |body| ("POST", body.to_string()));
    let headers = [&[JSON, ACCEPT], headers].concat();
    let mut raw = world.sent(frame(method, "/mcp", &headers, &body)).await;
    assert_eq!(raw.head().await.status, 200);
    raw
}

/// A stream of the modern protocol version that hears of everything, under this id.
async fn subscribe(world: &World, id: &str) -> Raw {
    let all = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
    });
    let params = json!({ "_meta": meta(&json!({})), "notifications": all });
    let body = request(id, "subscriptions/listen", &params);
    listen(world, &[MODERN, ("mcp-method", "subscriptions/listen")], Some(&body)).await
}

/// Reads until these words have come, or the end.
async fn until(raw: &mut Raw, words: &str) -> String {
    let mut text = String::new();
    while !text.contains(words) {
        let more = raw.more().await;
        assert!(!more.is_empty(), "no `{words}` in `{text:.2000}`");
        text += &more;
    }
    text
}

#[tokio::test]
async fn a_door_to_one_toolset_tells_of_no_job_of_another() {
    let world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    let go = crate::command_that_waits(&world, "slow");
    let world = world.started().await;
    let id = world.submit(&json!({ "tool": "slow", "input": {} })).await;
    let uri = format!("toolgate://jobs/{id}");
    world.until_job_is(&id, "running").await;
    let params = json!({ "_meta": meta(&json!({})),
        "notifications": { "toolsListChanged": true, "resourceSubscriptions": [uri] } });
    let body = request("s", "subscriptions/listen", &params).to_string();
    let headers = [JSON, ACCEPT, MODERN, ("mcp-method", "subscriptions/listen")];
    let mut streams = Vec::new();
    for path in ["/mcp/commands", "/mcp/autosage"] {
        let mut raw = world.sent(frame("POST", path, &headers, &body)).await;
        assert_eq!(raw.head().await.status, 200);
        let first = until(&mut raw, "\n\n").await;
        assert_eq!(first.contains(&uri), path == "/mcp/commands", "{first}");
        streams.push(raw);
    }
    let legacy = Legacy::open_at(&world, "/mcp/autosage", "2025-11-25", &json!({})).await;
    legacy.ask("resources/subscribe", &json!({ "uri": uri })).await;
    let session = [("mcp-session-id", legacy.session.as_str())];
    let mut raw = world
        .sent(frame("GET", "/mcp/autosage", &[&[JSON, ACCEPT], &session[..]].concat(), ""))
        .await;
    assert_eq!(raw.head().await.status, 200);
    std::fs::write(go, "").unwrap();
    until(&mut streams[0], "notifications/resources/updated").await;
    world.until_job_is(&id, "succeeded").await;
    streams.push(raw);
    for raw in &mut streams[1..] {
        let more = tokio::time::timeout(Duration::from_millis(300), raw.more()).await;
        assert!(more.as_ref().is_ok_and(|more| !more.contains(&id)) || more.is_err(), "{more:?}");
    }
}

/// The end of a body in pieces.
const END: &str = "0\r\n\r\n";

/// How many connections the server has open, its own ends included.
fn connections(world: &World) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", world.pid()))
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .filter(|file| file.to_string_lossy().starts_with("socket:"))
        .count()
}

#[tokio::test]
async fn a_second_stream_of_a_session_ends_the_first() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let headers = [("mcp-session-id", &*session)];
    let mut streams = vec![listen(&world, &headers, None).await];
    for _ in 0..50 {
        let next = listen(&world, &headers, None).await;
        until(streams.last_mut().unwrap(), END).await;
        streams.push(next);
    }
    let mut last = streams.pop().unwrap();
    until(&mut last, ": still here").await;
    assert_eq!(world.send("DELETE", "/mcp", &headers, None).await.status, 204);
    until(&mut last, END).await;
}

#[tokio::test]
async fn hundreds_of_streams_opened_and_dropped_leave_nothing_open() {
    let world = start("").await;
    let session = Legacy::open(&world).await.session;
    let before = connections(&world);
    for _ in 0..10 {
        let mut streams = Vec::new();
        for _ in 0..30 {
            streams.push(subscribe(&world, "s").await);
        }
        streams.push(listen(&world, &[("mcp-session-id", &session)], None).await);
    }
    eventually("all are closed", async || connections(&world) <= before + 1).await;
    lives(&world).await;
}

#[tokio::test]
async fn clients_that_never_read_keep_nobody_from_being_answered() {
    let world = fixture().await;
    // Every message to them repeats their name.
    let name = "n".repeat(1_000);
    let session = Legacy::open(&world).await.session;
    let mut deaf = vec![listen(&world, &[("mcp-session-id", &session)], None).await];
    for _ in 0..3 {
        deaf.push(subscribe(&world, &name).await);
    }
    let mut hears = subscribe(&world, "h").await;
    let change = async || {
        let answer = Modern::new(&world).call("test_trigger_prompt_change", &json!({})).await;
        assert_eq!(answer["content"][0]["text"], "triggered", "{answer}");
    };
    change().await;
    until(&mut hears, "notifications/prompts/list_changed").await;
    let before = resident_bytes(world.pid());
    for _ in 0..3_000 {
        change().await;
    }
    until(&mut hears, "notifications/prompts/list_changed").await;
    let taken = resident_bytes(world.pid()).saturating_sub(before);
    assert!(taken < 20 * 1_024 * 1_024, "the server took {taken} bytes");
    drop(deaf);
}

/// Writes until the server takes no more; true if it never did.
async fn is_stuck(stream: &mut TcpStream, bytes: &[u8], times: usize) -> bool {
    for _ in 0..times {
        let written = tokio::time::timeout(Duration::from_secs(1), stream.write_all(bytes)).await;
        if written.is_err() {
            return true;
        }
    }
    false
}

#[tokio::test]
async fn a_client_that_asks_on_and_reads_nothing_is_let_go() {
    let world = start("server: { idle_timeout_ms: 1000, header_timeout_ms: 1000 }\n").await;
    let (headers, body) = modern("tools/list", json!({}));
    let headers = [&[JSON, ACCEPT], &headers[..]].concat();
    let bytes = frame("POST", "/mcp", &headers, &body.to_string());
    let others = connections(&world);
    let mut stream = TcpStream::connect(("127.0.0.1", world.port())).await.unwrap();
    let before = resident_bytes(world.pid());
    let stuck = is_stuck(&mut stream, &bytes.repeat(100), 1_000).await;
    let taken = resident_bytes(world.pid()).saturating_sub(before);
    assert!(taken < 20 * 1_024 * 1_024, "the server took {taken} bytes");
    assert!(stuck, "the server took everything and sent nothing");
    lives(&world).await;
    eventually("it is let go", async || connections(&world) <= others + 1).await;
}

#[tokio::test]
async fn a_client_that_does_not_take_its_answer_is_let_go() {
    // Long enough for the connections that are used here not to be idle for as long.
    let world = start("server: { idle_timeout_ms: 3000 }\n").await;
    let text = "x".repeat(1_900_000);
    let written = Modern::new(&world)
        .call("write_text_artifact", &json!({ "text": text, "filename": "a.txt" }))
        .await;
    let uri = written["content"].as_array().unwrap().last().unwrap()["uri"].as_str().unwrap();
    let (mut headers, body) = modern("resources/read", json!({ "uri": uri }));
    headers.push(("mcp-name", uri));
    let others = connections(&world);
    let mut deaf = Vec::new();
    for _ in 0..20 {
        // Three answers are more than a socket holds.
        let bytes =
            frame("POST", "/mcp", &[&[JSON, ACCEPT], &headers[..]].concat(), &body.to_string());
        let raw = world.sent(bytes.repeat(5)).await;
        deaf.push(raw);
    }
    lives(&world).await;
    eventually("all are let go", async || connections(&world) <= others + 1).await;
    let most = testkit::peak_bytes(world.pid());
    assert!(most < 300 * 1_024 * 1_024, "the server took {most} bytes");
}

/// Long before they have been silent for `idle_timeout_ms`, and nobody who reads is closed.
#[tokio::test]
async fn clients_that_do_not_read_share_a_bound() {
    const DEAF: usize = 60;
    let world = start("server: { max_unread_bytes: 30000000, max_body_bytes: 5000000 }\n").await;
    let text = "x".repeat(4_500_000);
    let written = Modern::new(&world)
        .call("write_text_artifact", &json!({ "text": text, "filename": "a.txt" }))
        .await;
    let uri = written["content"].as_array().unwrap().last().unwrap()["uri"].as_str().unwrap();
    let (mut headers, body) = modern("resources/read", json!({ "uri": uri }));
    headers.push(("mcp-name", uri));
    let bytes = frame("POST", "/mcp", &[&[JSON, ACCEPT], &headers[..]].concat(), &body.to_string());
    let others = connections(&world);
    let mut deaf = Vec::new();
    for number in 0..DEAF {
        deaf.push(world.sent(&bytes).await);
        if number % 10 > 0 {
            continue;
        }
        let read = Modern::new(&world).ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["result"]["contents"][0]["text"].as_str().map(str::len), Some(text.len()));
    }
    eventually("most are let go", async || connections(&world) <= others + 10).await;
    assert!(world.stderr().contains("server.max_unread_bytes"), "{}", world.stderr());
}

#[tokio::test]
async fn open_streams_do_not_keep_a_server_from_stopping() {
    let mut world = start("").await;
    let session = Legacy::open(&world).await.session;
    let mut heard = listen(&world, &[("mcp-session-id", &session)], None).await;
    let mut subscribed = subscribe(&world, "last").await;
    until(&mut subscribed, "acknowledged").await;
    let begun = Instant::now();
    assert_eq!(world.stop().await, 0);
    assert!(begun.elapsed() < Duration::from_secs(2), "it took {:?}", begun.elapsed());
    // Both are told that this is the end, and the one who asked gets an answer.
    until(&mut heard, END).await;
    let last = until(&mut subscribed, END).await;
    let data = last.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let answer: Value = serde_json::from_str(data).unwrap();
    assert_eq!(answer["id"], "last", "{answer}");
    let meta = &answer["result"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/subscriptionId"], "last", "{answer}");
}

#[tokio::test]
async fn streams_that_nobody_reads_do_not_keep_a_server_from_stopping() {
    let mut world = fixture().await;
    let mut deaf = Vec::new();
    for _ in 0..3 {
        deaf.push(subscribe(&world, &"n".repeat(1_000)).await);
    }
    for _ in 0..8_000 {
        Modern::new(&world).call("test_trigger_prompt_change", &json!({})).await;
    }
    let begun = Instant::now();
    assert_eq!(world.stop().await, 0);
    // Whoever answers calls may take one second for it (`drain_timeout`).
    assert!(begun.elapsed() < Duration::from_secs(3), "it took {:?}", begun.elapsed());
}

#[tokio::test]
async fn what_a_stream_watches_is_bounded_in_bytes() {
    let world = start("").await;
    let before = resident_bytes(world.pid());
    let mut streams = Vec::new();
    for number in 0..20 {
        let uri = |other: i32| format!("toolgate://jobs/{number}.{other}{}", "x".repeat(1_900));
        let uris: Vec<_> = (0..1_000).map(uri).collect();
        let wanted = json!({ "resourceSubscriptions": uris });
        let params = json!({ "_meta": meta(&json!({})), "notifications": wanted });
        let body = request(1, "subscriptions/listen", &params);
        let headers = [MODERN, ("mcp-method", "subscriptions/listen")];
        streams.push(post_by_hand(&world, &headers, &body).await);
    }
    for stream in &mut streams {
        stream.head().await;
    }
    let taken = resident_bytes(world.pid()).saturating_sub(before);
    assert!(taken < 40 * 1_024 * 1_024, "twenty streams took {taken} bytes");
}

#[tokio::test]
async fn a_session_outlives_the_stream_that_it_had_open() {
    let world = start("mcp: { session_idle_ms: 1000 }\n").await;
    let session = Legacy::open(&world).await.session;
    let headers = [("mcp-session-id", &*session)];
    let stream = listen(&world, &headers, None).await;
    // Others show when an idle one is forgotten: the second is opened when the first is gone.
    for _ in 0..2 {
        Legacy::open(&world).await;
        super::session_count(&world, 1).await;
    }
    // The client finds its connection gone, and comes back for a new one.
    drop(stream);
    let answer = post(&world, &headers, request(1, "ping", &json!({})).to_string()).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

#[tokio::test]
async fn a_stream_with_nothing_to_say_is_not_taken_for_a_client_that_does_not_read() {
    let world = start("server: { idle_timeout_ms: 500 }\n").await;
    let session = Legacy::open(&world).await.session;
    let mut heard = listen(&world, &[("mcp-session-id", &session)], None).await;
    let mut subscribed = subscribe(&world, "s").await;
    // Other connections show when an idle one is closed.
    for _ in 0..3 {
        world.connect().await.closed().await;
    }
    assert_eq!(
        world.send("DELETE", "/mcp", &[("mcp-session-id", &session)], None).await.status,
        204
    );
    until(&mut heard, END).await;
    until(&mut subscribed, "acknowledged").await;
    let end = tokio::time::timeout(Duration::from_millis(200), subscribed.more()).await;
    assert_ne!(end.as_deref(), Ok(""), "the stream was cut");
}
