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
    ConnectionEvent, ConnectionLimits, Endpoint, HttpTransport, InterimMessage, RequestError,
    RequestOptions, ResponseFuture, Transport,
};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);
const MAX_BYTES: usize = 100_000;

/// A client of a server, and the events of its connection.
struct TestClient {
    transport: Arc<dyn Transport>,
    events: mpsc::Receiver<ConnectionEvent>,
}

fn client(peer: &Peer, transport: HttpTransport) -> TestClient {
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
    TestClient { transport: open(&endpoint, &limits, sender).unwrap(), events }
}

/// A client of a modern server.
fn modern(peer: &Peer) -> TestClient {
    let client = client(peer, HttpTransport::Auto);
    client.transport.set_version(ProtocolVersion::V2026_07_28);
    client
}

/// A client of a legacy server that has responded to `initialize`.
async fn legacy(peer: &Peer) -> TestClient {
    let client = client(peer, HttpTransport::Auto);
    client.ask(1, "initialize").await.unwrap();
    client.transport.set_version(ProtocolVersion::V2025_11_25);
    let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    client.transport.notify(Bytes::from(ready.to_string())).await.unwrap();
    client
}

impl TestClient {
    fn send(&self, id: u64, method: &'static str) -> SentRequest {
        self.send_within(LONG, id, method)
    }

    fn send_within(&self, timeout: Duration, id: u64, method: &'static str) -> SentRequest {
        self.send_with(RequestOptions::new(timeout), id, method)
    }

    fn send_with(&self, options: RequestOptions<'_>, id: u64, method: &'static str) -> SentRequest {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": {} });
        let (sender, interim) = mpsc::channel(64);
        let options = RequestOptions { interim: Some(sender), ..options };
        let message = Bytes::from(message.to_string());
        SentRequest { response: self.transport.send(id, method, message, options), interim }
    }

    /// Sends a request and waits for its response. Nobody here can be asked.
    async fn ask(&self, id: u64, method: &'static str) -> Result<String, RequestError> {
        self.send(id, method).finish().await.1
    }

    async fn call(&self) -> Result<String, RequestError> {
        self.ask(7, "tools/call").await
    }

    /// Calls a tool that has little time.
    async fn call_within(&self, timeout: Duration, id: u64) -> Result<String, RequestError> {
        self.send_within(timeout, id, "tools/call").finish().await.1
    }
}

/// A request that was sent: its response, and the messages before it.
struct SentRequest {
    response: ResponseFuture,
    interim: mpsc::Receiver<InterimMessage>,
}

impl SentRequest {
    /// The next message before the response.
    async fn message(&mut self) -> InterimMessage {
        tokio::select! {
            biased;
            Some(message) = self.interim.recv() => message,
            response = &mut self.response => {
                let message = self.interim.try_recv();
                let message = message.unwrap_or_else(|_| panic!("{response:?}"));
                self.response = Box::pin(std::future::ready(response));
                message
            }
        }
    }

    /// The response, and the messages before it. Input requests are dropped.
    async fn finish(&mut self) -> (Vec<InterimMessage>, Result<String, RequestError>) {
        let mut messages = Vec::new();
        let response = loop {
            tokio::select! {
                biased;
                Some(message) = self.interim.recv() => match message {
                    InterimMessage::InputRequest(asked) => drop(asked),
                    other => messages.push(other),
                },
                response = &mut self.response => break response,
            }
        };
        while let Ok(message) = self.interim.try_recv() {
            messages.push(message);
        }
        (messages, response.map(|response| response.json().to_owned()))
    }

    /// Goes on with the request, which must not end, until something is the case.
    async fn until(&mut self, what: &str, holds: impl Fn() -> bool) {
        tokio::select! {
            ended = self.finish() => panic!("{what}: {:?}", ended.1),
            () = testkit::eventually(what, || async { holds().then_some(()) }) => {}
        }
    }
}

/// The answer to a request, as JSON text.
fn answer_to(heard: &PeerRequest, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": heard.field("id"), "result": result }).to_string()
}

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

/// The responses of a legacy server to the messages that all sessions begin with; none to any other.
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

/// The notifications of this method that the server got.
fn notifications(peer: &Peer, method: &str) -> Vec<Value> {
    let heard = peer.heard();
    let all = heard.iter().filter(|one| one.field("method") == method);
    all.map(|one| serde_json::from_str(&one.body).unwrap()).collect()
}

/// Our responses to the server's requests.
fn replies(peer: &Peer) -> Vec<Value> {
    let heard = peer.heard();
    let posts = heard.iter().filter(|one| one.method == "POST" && one.field("method").is_null());
    posts.map(|one| serde_json::from_str(&one.body).unwrap()).collect()
}
