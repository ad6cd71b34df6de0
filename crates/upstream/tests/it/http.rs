//! Connections over HTTP, from the first question to the last answer.

use std::sync::{Arc, Mutex};

use guard::net::Url;
use mcp::{ListKind, ProtocolVersion};
use serde_json::{Value, json};
use testkit::{Act, Peer, PeerRequest, eventually, free_port};
use upstream::connection::{
    ConnectError, ConnectOptions, Connection, ConnectionEvent, Endpoint, HttpTransport,
    ProtocolChoice, Target, connect,
};

use crate::harness::{answer, closed, options, spawner, within};

async fn try_connect(peer: &Peer, options: ConnectOptions) -> Result<Connection, ConnectError> {
    let target = Target::Endpoint(Endpoint {
        url: Url::parse(&peer.url("/mcp")).unwrap(),
        headers: vec![("X-Key".to_owned(), "secret".to_owned())],
        transport: HttpTransport::Auto,
        extra_ca: Vec::new(),
    });
    within(connect(&target, &options, &spawner())).await
}

fn result(heard: &PeerRequest, result: &Value) -> Act {
    Act::json(json!({ "jsonrpc": "2.0", "id": heard.field("id"), "result": result }))
}

fn event(message: &Value) -> Vec<u8> {
    format!("event: message\ndata: {message}\n\n").into_bytes()
}

/// A modern server that notifies of changes when the sender says so.
fn modern(
    heard: &PeerRequest,
    events: &Mutex<Option<tokio::sync::mpsc::UnboundedReceiver<Vec<u8>>>>,
) -> Vec<Act> {
    match heard.header("mcp-method") {
        "server/discover" => vec![result(
            heard,
            &json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": { "listChanged": true } } }),
        )],
        "subscriptions/listen" => match events.lock().unwrap().take() {
            Some(events) => vec![Act::events(), Act::Relay(events), Act::Close],
            None => vec![Act::Silence],
        },
        "tools/list" => vec![result(heard, &json!({ "tools": [{ "name": "x" }], "ttlMs": 5 }))],
        _ => vec![result(heard, &json!({ "name": heard.header("mcp-name") }))],
    }
}

#[tokio::test]
async fn a_modern_server_is_connected_called_and_subscribed_to() {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let events = Mutex::new(Some(events));
    let peer = Peer::start(move |heard| modern(heard, &events)).await;
    let connection = try_connect(&peer, options()).await.unwrap();
    assert_eq!(connection.server().version, ProtocolVersion::V2026_07_28);
    assert_eq!(answer(&connection, "{}").await.unwrap(), json!({ "name": "x" }));
    let listing = within(connection.list("tools/list", "tools")).await.unwrap();
    assert_eq!((listing.items.len(), listing.ttl_ms), (1, Some(5)));
    let mut events = connection.events().unwrap();
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
    sender.send(event(&changed)).unwrap();
    assert_eq!(within(events.recv()).await, Some(ConnectionEvent::ListChanged(ListKind::Tools)));
    within(connection.close()).await;
    eventually("all is closed", async || peer.closed() == peer.connections()).await;
    assert!(peer.heard().iter().all(|one| one.header("x-key") == "secret"));
}

/// A legacy server, which responds to `server/discover` like this.
fn legacy(heard: &PeerRequest, first: &Act) -> Vec<Act> {
    match (heard.method.as_str(), heard.field("method").as_str()) {
        ("POST", Some("server/discover")) => match first {
            Act::Say(bytes) => vec![Act::Say(bytes.clone())],
            _ => vec![Act::Close],
        },
        ("POST", Some("initialize")) => {
            let version = heard.field("params")["protocolVersion"].clone();
            let body = json!({ "jsonrpc": "2.0", "id": heard.field("id"),
                "result": { "protocolVersion": version, "capabilities": {} } });
            let lines = "Content-Type: application/json\r\nMcp-Session-Id: s-1\r\n";
            vec![Act::answer(200, lines, body.to_string())]
        }
        ("POST", Some("notifications/initialized")) => vec![Act::answer(202, "", "")],
        ("GET", _) => vec![Act::answer(405, "", "")],
        ("DELETE", _) => vec![Act::answer(200, "", "")],
        _ if heard.header("mcp-session-id") == "s-1" => {
            vec![result(heard, &json!({ "legacy": 1 }))]
        }
        _ => vec![Act::answer(400, "", "")],
    }
}

#[tokio::test]
async fn a_legacy_server_is_initialized_whatever_it_makes_of_server_discover() {
    const JSON: &str = "Content-Type: application/json\r\n";
    let rpc = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
    for first in [
        Act::answer(400, JSON, rpc),
        Act::answer(400, "Content-Type: text/plain\r\n", "Bad Request"),
        Act::answer(404, "Content-Type: text/html\r\n", "<html>"),
        Act::answer(415, "", ""),
        Act::answer(500, "", ""),
        Act::answer(200, JSON, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
        Act::answer(200, JSON, rpc),
        Act::answer(202, "", ""),
        Act::Close,
    ] {
        let first = Arc::new(first);
        let peer = Peer::start(move |heard| legacy(heard, &first)).await;
        let connection = try_connect(&peer, options()).await.unwrap();
        assert_eq!(connection.server().version, ProtocolVersion::V2025_11_25);
        assert_eq!(answer(&connection, "{}").await.unwrap(), json!({ "legacy": 1 }));
        within(connection.close()).await;
        assert_eq!(peer.heard().iter().filter(|one| one.method == "DELETE").count(), 1);
    }
}

#[tokio::test]
async fn a_server_of_the_oldest_way_is_found_too() {
    let stream: Arc<Mutex<Option<tokio::sync::mpsc::UnboundedSender<Vec<u8>>>>> = Arc::default();
    let said = stream.clone();
    let peer = Peer::start(move |heard| match (heard.method.as_str(), heard.path.as_str()) {
        ("GET", "/mcp") => {
            let (sender, events) = tokio::sync::mpsc::unbounded_channel();
            sender.send(b"event: endpoint\ndata: /messages\n\n".to_vec()).unwrap();
            *said.lock().unwrap() = Some(sender);
            vec![Act::events(), Act::Relay(events), Act::Close]
        }
        ("POST", "/messages") => {
            let id = heard.field("id");
            if !id.is_null() {
                let message = json!({ "jsonrpc": "2.0", "id": id,
                    "result": { "protocolVersion": "2024-11-05", "capabilities": {} } });
                said.lock().unwrap().as_ref().unwrap().send(event(&message)).unwrap();
            }
            vec![Act::answer(202, "", "Accepted")]
        }
        _ => vec![Act::answer(405, "Content-Type: text/plain\r\n", "Method Not Allowed")],
    })
    .await;
    let connection = try_connect(&peer, options()).await.unwrap();
    assert_eq!(connection.server().version, ProtocolVersion::V2024_11_05);
    assert!(answer(&connection, "{}").await.is_ok());
    *stream.lock().unwrap() = None;
    assert!(closed(&connection).await.contains("closed the stream"));
}

#[tokio::test]
async fn the_error_of_an_address_says_what_to_do() {
    let error_of = async |act: fn() -> Vec<Act>| {
        let peer = Peer::start(move |_| act()).await;
        let error = try_connect(&peer, options()).await.err().unwrap();
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", cause.unwrap_or_default())
    };
    let text =
        error_of(|| vec![Act::answer(401, "WWW-Authenticate: Bearer x=\"y\"\r\n", "")]).await;
    assert!(text.contains("requires authorization (status 401, `Bearer`)"), "{text}");
    let text = error_of(|| vec![Act::answer(404, "", "")]).await;
    assert!(text.contains("check the path"), "{text}");
    let text = error_of(|| vec![Act::answer(200, "Content-Type: text/html\r\n", "<html>")]).await;
    assert!(text.contains("text/html"), "{text}");
    let mut gone = Peer::start(|_| vec![]).await;
    gone.port = free_port();
    let error = try_connect(&gone, options()).await.err().unwrap();
    assert!(matches!(error, ConnectError::Address(_)), "{error:?}");
}

#[tokio::test]
async fn a_session_that_ends_closes_the_connection() {
    let ended = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let now = ended.clone();
    let peer = Peer::start(move |heard| {
        if now.load(std::sync::atomic::Ordering::SeqCst) {
            return vec![Act::answer(404, "", "")];
        }
        legacy(heard, &Act::answer(404, "", ""))
    })
    .await;
    let options = ConnectOptions { protocol: ProtocolChoice::Legacy, ..options() };
    let connection = try_connect(&peer, options).await.unwrap();
    answer(&connection, "{}").await.unwrap();
    ended.store(true, std::sync::atomic::Ordering::SeqCst);
    assert!(answer(&connection, "{}").await.is_err());
    assert!(closed(&connection).await.contains("ended the session"));
}
