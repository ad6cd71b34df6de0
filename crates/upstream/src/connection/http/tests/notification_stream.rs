//! The notification stream of legacy servers.

use std::sync::Mutex;

use serde_json::json;
use testkit::{Act, Peer, PeerRequest, eventually};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::*;

/// A legacy server with a stream beside requests, and what feeds it.
async fn server(
    script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static,
) -> (Peer, UnboundedSender<Vec<u8>>) {
    let (sender, events): (_, UnboundedReceiver<Vec<u8>>) = unbounded_channel();
    let events = Mutex::new(Some(events));
    let peer = Peer::start(move |heard| match heard.method.as_str() {
        "GET" => match events.lock().unwrap().take() {
            Some(events) => vec![Act::events(), Act::Relay(events), Act::Close],
            None => vec![Act::answer(405, "", "")],
        },
        _ => opening(heard).unwrap_or_else(|| script(heard)),
    })
    .await;
    (peer, sender)
}

/// All lists count as changed when a stream begins: nobody knows what was sent before.
async fn began(client: &mut TestClient) {
    for expected in [
        ConnectionEvent::ListChanged(ListKind::Tools),
        ConnectionEvent::ListChanged(ListKind::Prompts),
        ConnectionEvent::ListChanged(ListKind::Resources),
    ] {
        assert_eq!(client.events.recv().await, Some(expected));
    }
}

async fn listened(peer: &Peer) {
    eventually("it is listened to", || async {
        peer.heard().iter().any(|one| one.method == "GET").then_some(())
    })
    .await;
}

fn changed(what: &str) -> Vec<u8> {
    event(json!({ "jsonrpc": "2.0", "method": format!("notifications/{what}/list_changed") }))
        .into_bytes()
}

fn question() -> Vec<u8> {
    event(json!({ "jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create", "params": {} }))
        .into_bytes()
}

#[tokio::test]
async fn changed_lists_are_connection_events() {
    let (peer, sender) = server(|_| vec![]).await;
    let mut client = legacy(&peer).await;
    began(&mut client).await;
    for (what, expected) in [
        ("tools", ConnectionEvent::ListChanged(ListKind::Tools)),
        ("prompts", ConnectionEvent::ListChanged(ListKind::Prompts)),
        ("resources", ConnectionEvent::ListChanged(ListKind::Resources)),
    ] {
        sender.send(b"data: no message\n\n: a comment\n\n".to_vec()).unwrap();
        sender.send(changed(what)).unwrap();
        assert_eq!(client.events.recv().await, Some(expected));
    }
    let heard = peer.heard();
    let get = heard.iter().find(|one| one.method == "GET").unwrap();
    assert_eq!(get.header("accept"), "text/event-stream");
    assert_eq!(get.header("mcp-session-id"), "s-1");
    assert_eq!(get.header("mcp-protocol-version"), "2025-11-25");
    assert_eq!(get.header("content-type"), "");
    client.transport.close().await;
    eventually("the stream is closed", || async { sender.send(vec![]).err().map(|_| ()) }).await;
}

#[tokio::test]
async fn a_server_without_the_stream_is_not_asked_again() {
    for status in [405, 404, 400, 501] {
        let peer = Peer::start(move |heard| match heard.method.as_str() {
            "GET" => vec![Act::answer(status, "", "")],
            _ => opening(heard).unwrap_or_else(|| vec![Act::json(answer_to(heard, &json!(1)))]),
        })
        .await;
        let mut client = legacy(&peer).await;
        listened(&peer).await;
        client.call().await.unwrap();
        assert!(client.events.try_recv().is_err(), "{status}");
        assert_eq!(peer.heard().iter().filter(|one| one.method == "GET").count(), 1);
    }
}

#[tokio::test]
async fn a_stream_that_ends_is_resumed_after_the_last_event() {
    let peer = Peer::start(|heard| match (heard.method.as_str(), heard.header("last-event-id")) {
        ("GET", "") => {
            let text = format!("id: a\nretry: 50\n{}", String::from_utf8_lossy(&changed("tools")));
            vec![stream(&text)]
        }
        ("GET", "a") => vec![Act::answer(503, "", "")],
        ("GET", _) => vec![Act::Silence],
        _ => opening(heard).unwrap(),
    })
    .await;
    let mut client = legacy(&peer).await;
    began(&mut client).await;
    assert_eq!(client.events.recv().await, Some(ConnectionEvent::ListChanged(ListKind::Tools)));
    eventually("it was asked again, although that failed", || async {
        let heard = peer.heard();
        let again = heard.iter().filter(|one| one.header("last-event-id") == "a").count();
        (again >= 2).then_some(())
    })
    .await;
}

#[tokio::test]
async fn an_input_request_there_belongs_to_the_only_request_that_runs() {
    let (peer, sender) = server(|_| vec![Act::events(), Act::Silence]).await;
    let client = legacy(&peer).await;
    listened(&peer).await;
    let mut pending = client.send(7, "tools/call");
    assert!(tokio::time::timeout(SHORT, pending.message()).await.is_err());
    sender.send(event(progress(7, 1)).into_bytes()).unwrap();
    assert!(matches!(pending.message().await, InterimMessage::Progress(mcp::Progress { .. })));
    sender.send(question()).unwrap();
    let InterimMessage::InputRequest(asked) = pending.message().await else { panic!("not asked") };
    asked.respond(json!({ "action": "decline" }));
    let replied = tokio::select! {
        happened = pending.message() => panic!("{happened:?}"),
        replied = eventually("it is answered", || async { replies(&peer).pop() }) => replied,
    };
    assert_eq!(replied["result"], json!({ "action": "decline" }));
}

#[tokio::test]
async fn an_input_request_beside_none_or_several_requests_is_declined() {
    let (peer, sender) = server(|_| vec![Act::Silence]).await;
    let client = legacy(&peer).await;
    listened(&peer).await;
    sender.send(question()).unwrap();
    let reply = eventually("it is answered", || async { replies(&peer).pop() }).await;
    assert_eq!(reply["error"]["code"], -32601);
    let methods = [(7, "tools/call"), (8, "tools/call"), (9, "tools/list")];
    let mut requests = methods.map(|(id, method)| client.send(id, method));
    for request in &mut requests {
        assert!(tokio::time::timeout(SHORT, request.message()).await.is_err());
    }
    sender.send(question()).unwrap();
    eventually("it is answered", || async { (replies(&peer).len() == 2).then_some(()) }).await;
    drop(requests);
    // With one that ends before it takes the question.
    let mut pending = client.send(10, "tools/call");
    assert!(tokio::time::timeout(SHORT, pending.message()).await.is_err());
    sender.send(question()).unwrap();
    tokio::time::sleep(SHORT).await;
    drop(pending);
    eventually("it is answered", || async { (replies(&peer).len() == 3).then_some(()) }).await;
}

#[tokio::test]
async fn dropping_the_transport_ends_the_stream() {
    let (peer, sender) = server(|_| vec![]).await;
    let client = legacy(&peer).await;
    listened(&peer).await;
    drop(client);
    eventually("the stream is closed", || async { sender.send(vec![]).err().map(|_| ()) }).await;
}
