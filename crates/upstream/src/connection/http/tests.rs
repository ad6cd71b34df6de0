//! The wire against servers that a test has written, over real sockets.

mod broken;
mod legacy;
mod listening;
mod modern;
mod oldest;
mod refused;

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use guard::net::Url;
use serde_json::{Value, json};
use testkit::{Act, Heard, Peer};
use tokio::sync::mpsc;

use super::open;
use crate::connection::{
    Endpoint, Era, Event, Flight, Happening, HttpKind, Limits, Prepared, RequestError, Wire,
};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);
const MAX_BYTES: usize = 100_000;

/// A wire to a server, and what it tells beside requests.
struct Line {
    wire: Arc<dyn Wire>,
    events: mpsc::Receiver<Event>,
}

fn line(peer: &Peer, kind: HttpKind) -> Line {
    let endpoint = Endpoint {
        url: Url::parse(&peer.url("/mcp")).unwrap(),
        headers: vec![("Authorization".to_owned(), "Bearer secret".to_owned())],
        kind,
        extra_ca: Vec::new(),
    };
    let limits = Limits {
        max_message_bytes: MAX_BYTES,
        connect_timeout: Duration::from_secs(10),
        ..Limits::default()
    };
    let (sender, events) = mpsc::channel(8);
    Line { wire: open(&endpoint, &limits, sender).unwrap(), events }
}

/// A wire to a server of the modern era.
async fn modern(peer: &Peer) -> Line {
    let line = line(peer, HttpKind::Auto);
    line.wire.established(Era::Modern, "2026-07-28").await;
    line
}

/// A wire to a server of the legacy era that has answered `initialize`.
async fn legacy(peer: &Peer) -> Line {
    let line = line(peer, HttpKind::Auto);
    ask(&line, 1, "initialize").await.unwrap();
    line.wire.established(Era::Legacy, "2025-11-25").await;
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    line.wire.notify(Bytes::from(ready.to_string())).await.unwrap();
    line
}

fn request(id: u64, method: &'static str) -> Prepared {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
    Prepared {
        id,
        method,
        name: None,
        body: Bytes::from(body.to_string()),
        headers: Vec::new(),
        timeout: LONG,
    }
}

/// A call of a tool with little time.
fn hurried(id: u64) -> Prepared {
    Prepared { timeout: SHORT, ..request(id, "tools/call") }
}

/// The result of a request, and what happened before.
async fn whole(flight: &mut dyn Flight) -> (Vec<Happening>, Result<String, RequestError>) {
    let mut happened = Vec::new();
    loop {
        match flight.next().await {
            Happening::Done(ended) => {
                return (happened, ended.map(|reply| reply.json().to_owned()));
            }
            // Nobody here can be asked.
            Happening::Asked(asked) => drop(asked),
            other => happened.push(other),
        }
    }
}

async fn send(line: &Line, request: Prepared) -> Result<String, RequestError> {
    whole(&mut *line.wire.begin(request)).await.1
}

async fn ask(line: &Line, id: u64, method: &'static str) -> Result<String, RequestError> {
    send(line, request(id, method)).await
}

async fn call(line: &Line) -> Result<String, RequestError> {
    ask(line, 7, "tools/call").await
}

/// Goes on with a request, which must not end, until something is the case.
async fn until(flight: &mut dyn Flight, what: &str, holds: impl Fn() -> bool) {
    tokio::select! {
        ended = whole(flight) => panic!("{what}: {:?}", ended.1),
        () = testkit::eventually(what, || async { holds().then_some(()) }) => {}
    }
}

/// The answer to a request, as JSON text.
fn answer_to(heard: &Heard, result: &Value) -> String {
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
fn opening(heard: &Heard) -> Option<Vec<Act>> {
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
