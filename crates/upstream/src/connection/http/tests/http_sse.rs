//! Servers of 2024-11-05: one stream for everything that they say.

use std::sync::{Arc, Mutex};

use serde_json::json;
use testkit::{Act, Peer, PeerRequest, eventually};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use super::*;

type Sender = Arc<Mutex<Option<UnboundedSender<Vec<u8>>>>>;

/// A server that names this endpoint, and says on its stream what the script makes of a message.
async fn server(
    endpoint: &'static str,
    script: impl Fn(&PeerRequest) -> String + Send + Sync + 'static,
) -> (Peer, Sender) {
    let stream: Sender = Arc::default();
    let sender = stream.clone();
    let peer = Peer::start(move |heard| match (heard.method.as_str(), heard.path.as_str()) {
        ("GET", "/mcp") => {
            let (sender, events) = unbounded_channel();
            let first = format!(": hello\n\nevent: endpoint\ndata: {endpoint}\n\n");
            sender.send(first.into_bytes()).unwrap();
            *stream.lock().unwrap() = Some(sender);
            vec![Act::events(), Act::Relay(events), Act::Close]
        }
        ("POST", "/messages?s=1") => {
            let said = script(heard);
            if let Some(stream) = &*stream.lock().unwrap() {
                let _ = stream.send(said.into_bytes());
            }
            vec![Act::answer(202, "", "Accepted")]
        }
        _ => vec![Act::answer(404, "Content-Type: text/plain\r\n", "Not Found")],
    })
    .await;
    (peer, sender)
}

fn echo(heard: &PeerRequest) -> String {
    if heard.field("id").is_null() {
        return String::new();
    }
    event(answer_to(heard, &json!(heard.field("method"))))
}

#[tokio::test]
async fn messages_are_posted_to_the_named_endpoint_and_responses_come_by_the_stream() {
    let (peer, _stream) = server("/messages?s=1", |heard| {
        event(progress(heard.field("id").as_u64().unwrap_or(0), 1)) + &echo(heard)
    })
    .await;
    let mut client = client(&peer, HttpTransport::HttpSse);
    assert_eq!(client.ask(1, "initialize").await.unwrap(), "\"initialize\"");
    client.transport.set_version(ProtocolVersion::V2024_11_05);
    let note =
        Bytes::from_static(b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    client.transport.notify(note).await.unwrap();
    let (happened, ended) = client.send(2, "tools/call").finish().await;
    assert_eq!((happened.len(), ended.unwrap()), (1, "\"tools/call\"".to_owned()));
    let heard = peer.heard();
    assert_eq!(heard[0].method, "GET");
    assert!(heard[1..].iter().all(|one| one.path == "/messages?s=1"));
    assert!(heard.iter().all(|one| one.header("authorization") == "Bearer secret"));
    client.transport.close().await;
    assert!(matches!(client.events.recv().await, Some(ConnectionEvent::Closed(_))));
}

#[tokio::test]
async fn a_server_that_rejects_streamable_http_is_connected_by_http_sse() {
    let (peer, _stream) = server("/messages?s=1", echo).await;
    let client = client(&peer, HttpTransport::Auto);
    assert!(matches!(client.ask(1, "server/discover").await, Err(RequestError::Protocol(_))));
    assert_eq!(client.ask(2, "initialize").await.unwrap(), "\"initialize\"");
    client.transport.set_version(ProtocolVersion::V2024_11_05);
    assert_eq!(client.call().await.unwrap(), "\"tools/call\"");
    client.transport.close().await;
    // Who wants the newer way alone gets no other.
    let client = super::client(&peer, HttpTransport::Streamable);
    assert!(matches!(client.ask(2, "initialize").await, Err(RequestError::Protocol(_))));
}

#[tokio::test]
async fn the_error_of_a_server_that_knows_neither_is_its_first() {
    let peer =
        Peer::start(|_| vec![Act::answer(405, "Content-Type: text/html\r\n", "<html>")]).await;
    let client = client(&peer, HttpTransport::Auto);
    let ended = client.ask(1, "initialize").await;
    assert!(matches!(&ended, Err(RequestError::Protocol(why)) if why.contains("405")), "{ended:?}");
    // The transport can be tried again.
    let ended = client.ask(2, "initialize").await;
    assert!(matches!(ended, Err(RequestError::Protocol(_))), "{ended:?}");
}

#[tokio::test]
async fn responses_may_come_in_any_order() {
    let held: Arc<Mutex<Vec<String>>> = Arc::default();
    let (peer, _stream) = server("/messages?s=1", move |heard| {
        let mut held = held.lock().unwrap();
        held.push(echo(heard));
        // The last one first, when there are twenty.
        if held.len() == 20 { held.drain(..).rev().collect() } else { String::new() }
    })
    .await;
    let client = client(&peer, HttpTransport::HttpSse);
    let tasks: Vec<_> = (0..20)
        .map(|id| {
            let mut pending = client.send(id, "tools/call");
            tokio::spawn(async move { pending.finish().await.1 })
        })
        .collect();
    for task in tasks {
        task.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_endpoint_of_another_origin_is_refused() {
    for endpoint in ["http://127.0.0.1:1/messages", "https://example.com/", "//example.com/m"] {
        let (peer, _stream) = server(endpoint, echo).await;
        let ended = client(&peer, HttpTransport::HttpSse).call().await;
        assert!(matches!(&ended, Err(RequestError::Protocol(_))), "{endpoint}: {ended:?}");
        assert_eq!(peer.heard().len(), 1, "{endpoint}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_loses_all_that_runs_and_closes_the_connection() {
    let (peer, stream) = server("/messages?s=1", |_| String::new()).await;
    let mut client = client(&peer, HttpTransport::HttpSse);
    let mut requests = [1, 2].map(|id| client.send(id, "tools/call"));
    for (number, pending) in requests.iter_mut().enumerate() {
        // The stream, and a message for each.
        pending.until("it was asked", || peer.heard().len() == number + 2).await;
    }
    *stream.lock().unwrap() = None;
    for pending in &mut requests {
        let ended = pending.finish().await.1;
        assert!(matches!(ended, Err(RequestError::Lost(_))), "{ended:?}");
    }
    assert!(matches!(client.events.recv().await, Some(ConnectionEvent::Closed(_))));
    assert!(matches!(client.call().await, Err(RequestError::NotSent(_))));
}

#[tokio::test]
async fn a_server_without_a_stream_or_an_endpoint_is_rejected() {
    let ended = async |act: fn() -> Vec<Act>| {
        let peer = Peer::start(move |_| act()).await;
        client(&peer, HttpTransport::HttpSse).call().await.unwrap_err()
    };
    let error = ended(|| vec![Act::json("{}")]).await;
    assert!(matches!(error, RequestError::Protocol(_)), "{error:?}");
    let error = ended(|| vec![Act::answer(404, "", "")]).await;
    assert!(matches!(error, RequestError::Protocol(_)), "{error:?}");
    let error = ended(|| vec![Act::events(), Act::Close]).await;
    assert!(matches!(error, RequestError::Protocol(_)), "{error:?}");
    let error = ended(|| vec![Act::events(), Act::Endless(vec![b'x'; 1_000])]).await;
    assert!(matches!(error, RequestError::TooLarge(_)), "{error:?}");
}

#[tokio::test]
async fn input_requests_and_cancellation_work_as_in_later_versions() {
    let (peer, _stream) = server("/messages?s=1", |heard| {
        match (heard.field("method").as_str(), heard.field("id").as_u64()) {
            (Some("tools/call"), Some(1)) => event(json!({ "jsonrpc": "2.0", "id": "q-1",
                "method": "roots/list" })),
            (None, _) => event(json!({ "jsonrpc": "2.0", "id": 1, "result": "answered" })),
            _ => String::new(),
        }
    })
    .await;
    let client = client(&peer, HttpTransport::HttpSse);
    let mut pending = client.send(1, "tools/call");
    let InterimMessage::InputRequest(asked) = pending.message().await else { panic!("not asked") };
    asked.respond(json!({ "roots": [] }));
    assert_eq!(pending.finish().await.1.unwrap(), "\"answered\"");
    assert_eq!(replies(&peer)[0]["result"], json!({ "roots": [] }));
    let ended = client.call_within(SHORT, 2).await;
    assert!(matches!(ended, Err(RequestError::Timeout(300))), "{ended:?}");
    let mut pending = client.send(3, "tools/call");
    assert!(tokio::time::timeout(SHORT, pending.message()).await.is_err());
    drop(pending);
    eventually("both are cancelled", || async {
        let all = notifications(&peer, "notifications/cancelled");
        let ids: Vec<_> = all.iter().map(|one| one["params"]["requestId"].clone()).collect();
        (ids == [2, 3].map(|id| json!(id))).then_some(())
    })
    .await;
}
