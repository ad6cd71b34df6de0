//! Servers of 2026-07-28.

use std::time::Duration;

use serde_json::json;
use testkit::{Act, Peer, eventually};

use super::*;

#[tokio::test]
async fn a_request_is_one_post_and_its_result_keeps_its_bytes() {
    let peer = Peer::start(|heard| {
        vec![Act::json(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{ \"a\" : 1.50 }}}}",
            heard.field("id")
        ))]
    })
    .await;
    let client = modern(&peer);
    let options = RequestOptions {
        name: Some("Wetter für Köln"),
        headers: vec![
            ("Mcp-Param-City".to_owned(), "Köln".to_owned()),
            ("Mcp-Param-Unit".to_owned(), "C".to_owned()),
        ],
        ..RequestOptions::new(LONG)
    };
    let result = client.send_with(options, 7, "tools/call").finish().await.1;
    assert_eq!(result.unwrap(), "{ \"a\" : 1.50 }");
    let heard = &peer.heard()[0];
    for (name, value) in [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "=?base64?V2V0dGVyIGbDvHIgS8O2bG4=?="),
        ("mcp-param-city", "=?base64?S8O2bG4=?="),
        ("mcp-param-unit", "C"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("authorization", "Bearer secret"),
        ("mcp-session-id", ""),
    ] {
        assert_eq!(heard.header(name), value, "{name}");
    }
    assert_eq!(heard.path, "/mcp");
}

#[tokio::test]
async fn before_the_handshake_requests_are_modern() {
    let peer = Peer::start(|heard| vec![Act::json(answer_to(heard, &json!({})))]).await;
    let client = client(&peer, HttpTransport::Auto);
    client.ask(1, "server/discover").await.unwrap();
    client.ask(2, "initialize").await.unwrap();
    let heard = peer.heard();
    assert_eq!(heard[0].header("mcp-protocol-version"), "2026-07-28");
    assert_eq!(heard[0].header("mcp-method"), "server/discover");
    assert_eq!(heard[1].header("mcp-protocol-version"), "");
    assert_eq!(heard[1].header("mcp-method"), "");
}

#[tokio::test]
async fn messages_of_the_stream_come_before_the_response() {
    let peer = Peer::start(|heard| {
        let log = json!({ "jsonrpc": "2.0", "method": "notifications/message",
            "params": { "level": "info", "data": "hello" } });
        let changed = json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        let events = [
            event(progress(7, 1)),
            event(progress(8, 50)),
            ": still here\n\n".to_owned(),
            event(log),
            event("this is no message"),
            event(changed),
            event(question),
            event(progress(7, 2)),
            event(json!({ "jsonrpc": "2.0", "id": 8, "result": "another's" })),
            event(answer_to(heard, &json!({ "first": true }))),
            event(answer_to(heard, &json!({ "first": false }))),
        ];
        vec![stream(&events.concat())]
    })
    .await;
    let mut client = modern(&peer);
    for round in 1..=3 {
        let (happened, ended) = client.send(7, "tools/call").finish().await;
        assert_eq!(ended.unwrap(), "{\"first\":true}");
        assert!(
            matches!(happened[0], InterimMessage::Progress(mcp::Progress { progress: 1.0, .. })),
            "{happened:?}"
        );
        assert!(
            matches!(&happened[1], InterimMessage::Log(mcp::LogMessage { level, .. }) if level == "info")
        );
        assert!(matches!(
            happened[2],
            InterimMessage::Progress(mcp::Progress { progress: 2.0, .. })
        ));
        assert_eq!(happened.len(), 3);
        assert_eq!(client.events.recv().await, Some(ConnectionEvent::ListChanged(ListKind::Tools)));
        // A modern server's question is not answered, and the connection is used again.
        assert_eq!(peer.heard().len(), round);
    }
    assert_eq!(peer.connections(), 1);
    let discarded = client.transport.discarded();
    assert_eq!((discarded.malformed, discarded.unexpected), (3, 3));
    assert_eq!(discarded.samples[0].for_programs(), "this is no message");
}

#[tokio::test]
async fn dropping_a_request_closes_its_connection() {
    for acts in ["before the head", "in a body", "in a stream"] {
        let peer = Peer::start(move |_| match acts {
            "before the head" => vec![Act::Silence],
            "in a body" => vec![
                Act::say("HTTP/1.1 200 -\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{"),
                Act::Silence,
            ],
            _ => vec![Act::events(), Act::say(event(progress(7, 1))), Act::Silence],
        })
        .await;
        let client = modern(&peer);
        let mut pending = client.send(7, "tools/call");
        pending.until("it was asked", || peer.heard().len() == 1).await;
        assert_eq!(peer.closed(), 0, "{acts}");
        drop(pending);
        eventually("the server sees it", || async { (peer.closed() == 1).then_some(()) }).await;
        assert_eq!(peer.heard().len(), 1, "{acts}");
    }
}

#[tokio::test]
async fn a_long_request_goes_on_for_as_long_as_it_may() {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let events = std::sync::Mutex::new(Some(events));
    let peer = Peer::start(move |_| {
        vec![Act::events(), Act::Relay(events.lock().unwrap().take().unwrap()), Act::Close]
    })
    .await;
    let mut client = modern(&peer);
    let mut pending = client.send(3, "subscriptions/listen");
    let listening = tokio::spawn(async move { pending.finish().await.1 });
    for (method, expected) in [
        ("notifications/tools/list_changed", ConnectionEvent::ListChanged(ListKind::Tools)),
        ("notifications/prompts/list_changed", ConnectionEvent::ListChanged(ListKind::Prompts)),
        ("notifications/resources/list_changed", ConnectionEvent::ListChanged(ListKind::Resources)),
    ] {
        let message = json!({ "jsonrpc": "2.0", "method": method });
        sender.send(event(message).into_bytes()).unwrap();
        assert_eq!(client.events.recv().await, Some(expected));
    }
    drop(sender);
    assert!(matches!(listening.await.unwrap(), Err(RequestError::Lost(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_at_once_share_two_hundred_connections_at_most() {
    let peer = Peer::start(|heard| vec![Act::json(answer_to(heard, &heard.field("id")))]).await;
    let client = modern(&peer);
    for round in 0..5_u64 {
        let tasks: Vec<_> = (0..200_u64)
            .map(|number| {
                let id = round * 200 + number;
                let mut pending = client.send(id, "tools/call");
                tokio::spawn(async move { (id, pending.finish().await.1.unwrap()) })
            })
            .collect();
        for task in tasks {
            let (id, result) = task.await.unwrap();
            assert_eq!(result, id.to_string(), "nobody gets another's answer");
        }
    }
    assert!(peer.connections() <= 200, "{}", peer.connections());
    assert_eq!(peer.heard().len(), 1_000);
    client.transport.close().await;
    eventually("all are closed", || async { (peer.closed() == peer.connections()).then_some(()) })
        .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_request_gets_the_response_of_one_that_was_dropped() {
    let peer = Peer::start(|heard| {
        let id = heard.field("id").as_u64().unwrap();
        let answer = answer_to(heard, &json!(id));
        // All shapes of answers, some of them slow.
        match id % 4 {
            0 => vec![Act::json(answer)],
            1 => vec![stream(&event(answer))],
            2 => vec![stream(&(event(progress(id, 1)) + &event(answer)))],
            _ => {
                let text = format!(
                    "HTTP/1.1 200 -\r\nContent-Type: application/json\r\n\
                     Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{answer}\r\n0\r\n\r\n",
                    answer.len()
                );
                vec![Act::Drip(text.into_bytes(), Duration::from_micros(50))]
            }
        }
    })
    .await;
    let client = Arc::new(modern(&peer));
    let tasks: Vec<_> = (0..16_u64)
        .map(|task| {
            let client = client.clone();
            tokio::spawn(async move {
                for number in 0..60 {
                    let id = task * 1_000 + number;
                    let mut pending = client.send(id, "tools/call");
                    if number % 3 == 0 {
                        let timeout = Duration::from_micros(id % 7 * 300);
                        let _ = tokio::time::timeout(timeout, pending.finish()).await;
                        continue;
                    }
                    let ended = tokio::time::timeout(LONG * 2, pending.finish()).await;
                    assert_eq!(ended.unwrap().1.unwrap(), id.to_string());
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
}
