//! The transport against servers that a test has written, over real sockets.

mod broken;
mod http_sse;
mod legacy;
mod modern;
mod notification_stream;
mod rejected;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use guard::net::Url;
use mcp::{ListKind, ProtocolVersion};
use serde_json::{Value, json};
use testkit::{Act, Peer, PeerRequest};
use tokio::sync::mpsc;

use super::open;
use crate::connection::{
    ConnectionEvent, ConnectionLimits, EncodedRequest, Endpoint, HttpTransport, PendingRequest,
    RequestError, RequestEvent, Transport,
};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);
const MAX_BYTES: usize = 100_000;

/// A transport to a server, and what it tells beside requests.
struct TestTransport {
    transport: Arc<dyn Transport>,
    events: mpsc::Receiver<ConnectionEvent>,
}

fn line(peer: &Peer, transport: HttpTransport) -> TestTransport {
    let endpoint = Endpoint {
        url: Url::parse(&peer.url("/mcp")).unwrap(),
        headers: vec![("Authorization".to_owned(), "Bearer secret".to_owned())],
        transport,
        extra_ca: Vec::new(),
    };
    let limits = ConnectionLimits {
        max_message_bytes: MAX_BYTES,
        connect_timeout: Duration::from_secs(10),
        ..ConnectionLimits::default()
    };
    let (sender, events) = mpsc::channel(8);
    TestTransport { transport: open(&endpoint, &limits, sender).unwrap(), events }
}

/// A transport to a server of the modern era.
fn modern(peer: &Peer) -> TestTransport {
    let line = line(peer, HttpTransport::Auto);
    line.transport.set_version(ProtocolVersion::V2026_07_28);
    line
}

/// A transport to a server of the legacy era that has answered `initialize`.
async fn legacy(peer: &Peer) -> TestTransport {
    let line = line(peer, HttpTransport::Auto);
    ask(&line, 1, "initialize").await.unwrap();
    line.transport.set_version(ProtocolVersion::V2025_11_25);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    line.transport.notify(Bytes::from(ready.to_string())).await.unwrap();
    line
}

fn request(id: u64, method: &'static str) -> EncodedRequest {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
    EncodedRequest {
        id,
        method,
        name: None,
        body: Bytes::from(body.to_string()),
        headers: Vec::new(),
        timeout: LONG,
    }
}

/// A call of a tool with little time.
fn hurried(id: u64) -> EncodedRequest {
    EncodedRequest { timeout: SHORT, ..request(id, "tools/call") }
}

/// The result of a request, and what happened before.
async fn whole(
    pending: &mut dyn PendingRequest,
) -> (Vec<RequestEvent>, Result<String, RequestError>) {
    let mut happened = Vec::new();
    loop {
        match pending.next().await {
            RequestEvent::Done(ended) => {
                return (happened, ended.map(|reply| reply.json().to_owned()));
            }
            // Nobody here can be asked.
            RequestEvent::InputRequest(asked) => drop(asked),
            other => happened.push(other),
        }
    }
}

async fn send(line: &TestTransport, request: EncodedRequest) -> Result<String, RequestError> {
    whole(&mut *line.transport.send(request)).await.1
}

async fn ask(line: &TestTransport, id: u64, method: &'static str) -> Result<String, RequestError> {
    send(line, request(id, method)).await
}

async fn call(line: &TestTransport) -> Result<String, RequestError> {
    ask(line, 7, "tools/call").await
}

/// Goes on with a request, which must not end, until something is the case.
async fn until(pending: &mut dyn PendingRequest, what: &str, holds: impl Fn() -> bool) {
    tokio::select! {
        ended = whole(pending) => panic!("{what}: {:?}", ended.1),
        () = testkit::eventually(what, || async { holds().then_some(()) }) => {}
    }
}

/// The answer to a request, as JSON text.
fn answer_to(heard: &PeerRequest, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": heard.field("id"), "result": result }).to_string()
}

/// A message as an event.
fn event(message: impl std::fmt::Display) -> String {
    format!("event: message\ndata: {message}\n\n")
}

fn progress(token: u64, progress: u64) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/progress",
        "params": { "progressToken": token, "progress": progress },
    })
}

/// A whole stream of events.
fn stream(events: &str) -> Act {
    Act::answer(200, "Content-Type: text/event-stream; charset=utf-8\r\n", events)
}

/// What a legacy server does with what all sessions begin with; nothing where it is something else.
fn opening(heard: &PeerRequest) -> Option<Vec<Act>> {
    match (heard.method.as_str(), heard.field("method").as_str()) {
        ("POST", Some("initialize")) => {
            let body = answer_to(heard, &json!({ "protocolVersion": "2025-11-25" }));
            let lines = "Content-Type: application/json\r\nMcp-Session-Id: s-1\r\n";
            Some(vec![Act::answer(200, lines, body)])
        }
        ("GET", _) => Some(vec![Act::answer(405, "", "")]),
        ("DELETE", _) => Some(vec![Act::answer(204, "", "")]),
        ("POST", Some(method)) if method.starts_with("notifications/") => {
            Some(vec![Act::answer(202, "", "")])
        }
        // An answer of ours to a question.
        ("POST", None) => Some(vec![Act::answer(202, "", "")]),
        _ => None,
    }
}

/// What the server was told beside requests and answers of ours, by method.
fn told(peer: &Peer, method: &str) -> Vec<Value> {
    let heard = peer.heard();
    let all = heard.iter().filter(|one| one.field("method") == method);
    all.map(|one| serde_json::from_str(&one.body).unwrap()).collect()
}

/// What we answered to the server's questions.
fn replies(peer: &Peer) -> Vec<Value> {
    let heard = peer.heard();
    let posts = heard.iter().filter(|one| one.method == "POST" && one.field("method").is_null());
    posts.map(|one| serde_json::from_str(&one.body).unwrap()).collect()
}
