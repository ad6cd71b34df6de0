//! No caller takes all that there is from the others.

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{Answer, World, eventually};

use crate::{BINARY, command_that_waits};

const SETTINGS: &str = "contracts: [ ./contracts ]
server:
  max_concurrency: 10
  tokens: [ { name: greedy, token_env: GREEDY }, { name: modest, token_env: MODEST } ]
jobs: { max_queued: 20, max_running: 5 }
";
const GREEDY: &str = "greedy-0123456789abcdef0123456789abcdef";
const MODEST: &str = "modest-0123456789abcdef0123456789abcdef";

/// A server of two callers, and the file that lets its slow tool end.
async fn start() -> (Arc<World>, PathBuf) {
    let world = World::new(BINARY, SETTINGS).with_env("GREEDY", GREEDY).with_env("MODEST", MODEST);
    let done = command_that_waits(&world, "slow");
    (Arc::new(world.started().await), done)
}

async fn get(world: &World, path: &str) -> Answer {
    let token = format!("Bearer {MODEST}");
    world.send("GET", path, &[("authorization", &token)], None).await
}

async fn post(world: &World, token: &str, path: &str, body: Value) -> Answer {
    let token = format!("Bearer {token}");
    let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
    world.send("POST", path, &headers, Some(body.to_string().into_bytes())).await
}

fn hello() -> Value {
    json!({ "tool": "hello", "input": { "name": "Ada" } })
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_calls_of_one_caller_leave_places_for_another() {
    let (world, done) = start().await;
    let greedy = (0..12).map(|_| {
        let world = world.clone();
        tokio::spawn(async move {
            post(&world, GREEDY, "/v1/tools/execute", json!({ "tool": "slow" })).await.status
        })
    });
    let greedy: Vec<_> = greedy.collect();
    eventually("all are at work or refused", async || {
        let refused = greedy.iter().filter(|call| call.is_finished()).count();
        let metrics = get(&world, "/metrics").await.text();
        refused == 4 && metrics.contains("toolgate_calls_running 8")
    })
    .await;
    for _ in 0..3 {
        let answer = post(&world, MODEST, "/v1/tools/execute", hello()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let answer = post(&world, GREEDY, "/v1/tools/execute", hello()).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, "1"));
    std::fs::write(done, "").unwrap();
    let mut statuses = Vec::new();
    for call in greedy {
        statuses.push(call.await.unwrap());
    }
    statuses.sort_unstable();
    assert_eq!(statuses, [[200].repeat(8), [429].repeat(4)].concat());
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_of_one_caller_leave_places_and_workers_for_another() {
    let (world, done) = start().await;
    let mut last = None;
    for _ in 0..30 {
        let answer = post(&world, GREEDY, "/v1/jobs", json!({ "tool": "slow" })).await;
        if answer.status != 202 {
            last = Some(answer);
            break;
        }
    }
    let refused = last.unwrap();
    let error = refused.error();
    assert_eq!((refused.status, &error["code"]), (429, &"too_many_requests".into()));
    let message = "The queue is full for this caller: so many of its jobs wait that the rest of the 20 places \
                   (jobs.max_queued) is kept for others.";
    assert_eq!(error["message"], message);
    // The other's job is neither refused nor behind all of those.
    let answer = post(&world, MODEST, "/v1/jobs", hello()).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    let path = format!("/v1/jobs/{}", answer.json()["job_id"].as_str().unwrap());
    eventually("the modest job is done", async || {
        get(&world, &path).await.json()["status"] == "succeeded"
    })
    .await;
    std::fs::write(done, "").unwrap();
    eventually("the queue is empty", async || {
        get(&world, "/metrics").await.text().contains("toolgate_jobs_queued 0")
    })
    .await;
}

/// A server with ten places for connections.
async fn start_small() -> World {
    let settings = SETTINGS.replace(
        "server:\n",
        "server:\n  max_connections: 10\n  header_timeout_ms: 60000\n  body_timeout_ms: 60000\n",
    );
    let world = World::new(BINARY, &settings).with_env("GREEDY", GREEDY).with_env("MODEST", MODEST);
    std::fs::create_dir(world.folder().join("contracts")).unwrap();
    world.started().await
}

fn request(token: &str, line: &str, headers: &str, body: &str) -> String {
    format!(
        "{line} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n\
         content-type: application/json\r\n{headers}\r\n{body}"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn half_bodies_of_one_caller_leave_connections_for_another() {
    let world = start_small().await;
    let half = request(GREEDY, "POST /v1/jobs", "content-length: 40\r\n", "{");
    let mut waiting = Vec::new();
    for _ in 0..40 {
        waiting.push(world.sent(&half).await);
    }
    let begin = Instant::now();
    for _ in 0..3 {
        let answer = post(&world, MODEST, "/v1/tools/execute", hello()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn streams_of_one_caller_leave_connections_for_another() {
    let world = start_small().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true }, "_meta": meta } })
    .to_string();
    let headers = format!(
        "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: subscriptions/listen\r\ncontent-length: {}\r\n",
        body.len()
    );
    let listen = request(GREEDY, "POST /mcp", &headers, &body);
    let (mut streams, mut refused) = (Vec::new(), None);
    for _ in 0..20 {
        let mut raw = world.sent(&listen).await;
        let head = raw.head().await;
        if head.status == 200 {
            streams.push(raw);
        } else {
            refused = Some((raw, head));
        }
    }
    assert_eq!(streams.len(), 8);
    let (raw, head) = refused.unwrap();
    assert_eq!((head.status, head.header("retry-after")), (429, "1"));
    let text = String::from_utf8(raw.closed().await).unwrap();
    let message = "so many connections of this caller are at work that the rest of the 10 \
                   (server.max_connections) is kept for others; retry shortly";
    assert!(text.contains(message), "{text}");
    for _ in 0..3 {
        let answer = post(&world, MODEST, "/v1/tools/execute", hello()).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    // A connection counts for whoever uses it.
    let list = |token| request(token, "GET /v1/tools", "", "");
    let mut raw = world.sent(list(MODEST)).await;
    assert_eq!(raw.answer().await.status, 200);
    raw.send(list(GREEDY)).await.unwrap();
    assert_eq!(raw.answer().await.status, 429);
}
