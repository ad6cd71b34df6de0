//! Servers of 2025-03-26 to 2025-11-25: sessions, questions, cancelling, streams that are taken up
//! again.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Act, Peer, PeerRequest, eventually};

use super::*;

/// A legacy server that does this to everything but what all sessions begin with.
async fn server(script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static) -> Peer {
    Peer::start(move |heard| opening(heard).unwrap_or_else(|| script(heard))).await
}

fn question(method: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": "q-1", "method": method, "params": { "message": "name?" } })
}

#[tokio::test]
async fn the_session_is_learned_and_named_ever_after_until_it_is_ended() {
    let peer = server(|heard| vec![Act::json(answer_to(heard, &json!({})))]).await;
    let client = legacy(&peer).await;
    let headers = vec![("Mcp-Param-City".to_owned(), "Köln".to_owned())];
    let options = RequestOptions { name: Some("x"), headers, ..RequestOptions::new(LONG) };
    client.send_with(options, 7, "tools/call").finish().await.1.unwrap();
    client.transport.close().await;
    let heard = peer.heard();
    assert_eq!(
        heard.iter().filter(|one| one.header("mcp-param-city") == "=?base64?S8O2bG4=?=").count(),
        1
    );
    assert_eq!(heard[0].header("mcp-session-id"), "");
    for method in ["notifications/initialized", "tools/call"] {
        let one = heard.iter().find(|one| one.field("method") == method).unwrap();
        assert_eq!(one.header("mcp-session-id"), "s-1", "{method}");
        assert_eq!(one.header("mcp-protocol-version"), "2025-11-25", "{method}");
        assert_eq!((one.header("mcp-method"), one.header("mcp-name")), ("", ""), "{method}");
    }
    let ended: Vec<_> = heard.iter().filter(|one| one.method == "DELETE").collect();
    assert_eq!(ended.len(), 1);
    assert_eq!(ended[0].header("mcp-session-id"), "s-1");
}

#[tokio::test]
async fn a_session_that_is_over_ends_the_connection() {
    const JSON: &str = "Content-Type: application/json\r\n";
    const UNKNOWN: &str = r#"{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"},"id":7}"#;
    const ANEW: &str = r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}"#;
    const GONE: &str =
        r#"{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}"#;
    for (status, head, body) in [(404, "", ""), (404, JSON, GONE), (400, JSON, ANEW)] {
        // Only the first two are what the protocol has for it: nothing came of the request.
        let proved = status == 404;
        let peer = server(move |_| vec![Act::answer(status, head, body)]).await;
        let mut client = legacy(&peer).await;
        let ended = client.call().await;
        match &ended {
            Err(RequestError::NotSent(_)) => assert!(proved, "{body}"),
            Err(RequestError::Lost(_)) => assert!(!proved, "{body}"),
            other => panic!("{body}: {other:?}"),
        }
        assert!(matches!(client.events.recv().await, Some(ConnectionEvent::Closed(_))), "{body}");
        // There is nothing left to be ended.
        client.transport.close().await;
        assert!(peer.heard().iter().all(|one| one.method != "DELETE"));
    }
    // Other errors with the same status do not end it.
    let peer = server(|_| vec![Act::answer(404, JSON, UNKNOWN)]).await;
    let mut client = legacy(&peer).await;
    assert!(matches!(client.call().await, Err(RequestError::Rpc(_))));
    assert!(client.events.try_recv().is_err());
}

#[tokio::test]
async fn an_input_request_is_passed_on_and_its_response_posted() {
    let peer = server(|heard| {
        let events = [
            event(json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" })),
            event(json!({ "jsonrpc": "2.0", "id": 2, "method": "unknown/method" })),
            event(question("elicitation/create")),
            event(answer_to(heard, &json!("done"))),
        ];
        vec![stream(&events.concat())]
    })
    .await;
    let client = legacy(&peer).await;
    let mut pending = client.send(7, "tools/call");
    let InterimMessage::InputRequest(asked) = pending.message().await else { panic!("not asked") };
    assert_eq!(asked.method, mcp::InputMethod::Elicitation);
    assert_eq!(asked.params["message"], "name?");
    asked.respond(json!({ "action": "accept" }));
    assert_eq!(pending.finish().await.1.unwrap(), "\"done\"");
    let replied = eventually("all were answered", || async {
        let replies = replies(&peer);
        (replies.len() == 3).then_some(replies)
    })
    .await;
    let reply = |id: Value| replied.iter().find(|reply| reply["id"] == id).unwrap();
    assert_eq!(reply(json!(1))["result"], json!({}));
    assert_eq!(reply(json!(2))["error"]["code"], -32601);
    assert_eq!(reply(json!("q-1"))["result"], json!({ "action": "accept" }));
}

/// A server that says much and takes nothing does not get as many connections of us.
#[tokio::test]
async fn a_server_that_accepts_no_messages_gets_few_connections() {
    let peer = Peer::start(|heard| {
        let is_reply = heard.method == "POST" && heard.field("method").is_null();
        if is_reply {
            return vec![Act::Silence];
        }
        opening(heard).unwrap_or_else(|| {
            let pings =
                (0..200).map(|id| event(json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })));
            vec![stream(&(pings.collect::<String>() + &event(answer_to(heard, &json!(1)))))]
        })
    })
    .await;
    let client = legacy(&peer).await;
    client.call().await.unwrap();
    eventually("it has what it gets", || async { (replies(&peer).len() == 16).then_some(()) })
        .await;
    tokio::time::sleep(SHORT).await;
    assert_eq!(replies(&peer).len(), 16);
}

#[tokio::test]
async fn a_dropped_input_request_is_declined() {
    let peer = server(|heard| {
        let events =
            event(question("sampling/createMessage")) + &event(answer_to(heard, &json!(1)));
        vec![stream(&events)]
    })
    .await;
    let client = legacy(&peer).await;
    client.call().await.unwrap();
    let replied = eventually("it was answered", || async { replies(&peer).pop() }).await;
    assert_eq!((&replied["id"], &replied["error"]["code"]), (&json!("q-1"), &json!(-32601)));
}

#[tokio::test]
async fn time_does_not_run_while_an_input_request_is_open() {
    let (sender, events) = tokio::sync::mpsc::unbounded_channel();
    let events = std::sync::Mutex::new(Some(events));
    let peer = server(move |_| {
        let first = Act::say(event(question("elicitation/create")));
        vec![Act::events(), first, Act::Relay(events.lock().unwrap().take().unwrap())]
    })
    .await;
    let client = legacy(&peer).await;
    let timeout = Duration::from_secs(2);
    let mut pending = client.send_within(timeout, 7, "tools/call");
    let InterimMessage::InputRequest(asked) = pending.message().await else { panic!("not asked") };
    let waited = tokio::time::timeout(timeout + SHORT, pending.message()).await;
    assert!(waited.is_err(), "{waited:?}");
    asked.respond(json!({}));
    let answer = json!({ "jsonrpc": "2.0", "id": 7, "result": "late" });
    sender.send(event(answer).into_bytes()).unwrap();
    assert_eq!(pending.finish().await.1.unwrap(), "\"late\"");
}

#[tokio::test]
async fn time_runs_again_after_an_input_request() {
    let peer =
        server(move |_| vec![Act::events(), Act::say(event(question("roots/list"))), Act::Silence])
            .await;
    let client = legacy(&peer).await;
    let begun = Instant::now();
    let ended = client.call_within(SHORT, 7).await;
    assert!(matches!(ended, Err(RequestError::Timeout(300))), "{ended:?}");
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn dropping_a_request_cancels_it() {
    let peer = server(|_| vec![Act::Silence]).await;
    let client = legacy(&peer).await;
    // One that was never begun is not cancelled either.
    drop(client.send(6, "tools/call"));
    let mut pending = client.send(7, "tools/call");
    assert!(tokio::time::timeout(SHORT, pending.message()).await.is_err());
    drop(pending);
    let cancelled = || async { notifications(&peer, "notifications/cancelled").pop() };
    let message = eventually("it is cancelled", cancelled).await;
    assert_eq!(message["params"]["requestId"], 7);
    assert!(matches!(client.call_within(SHORT, 8).await, Err(RequestError::Timeout(300))));
    eventually("the other one is too", || async {
        let all = notifications(&peer, "notifications/cancelled");
        (all.len() == 2 && all[1]["params"]["requestId"] == 8).then_some(())
    })
    .await;
    // What is over is not cancelled, and what opens a session cannot be.
    let peer = server(|heard| vec![Act::json(answer_to(heard, &json!({})))]).await;
    let client = legacy(&peer).await;
    client.call().await.unwrap();
    drop(client.send(9, "initialize"));
    client.transport.close().await;
    assert!(notifications(&peer, "notifications/cancelled").is_empty());
}

#[tokio::test]
async fn a_stream_that_ends_before_the_response_is_resumed() {
    // The answer comes by the third stream.
    let peer = Peer::start(|heard| {
        let from = heard.header("last-event-id");
        let part = |id: &str, more: &str| stream(&format!("id: {id}\nretry: 60\ndata:\n\n{more}"));
        match (heard.method.as_str(), from) {
            ("GET", "") => vec![Act::answer(405, "", "")],
            ("GET", "e-1") => vec![part("e-2", &event(progress(7, 1)))],
            ("GET", "e-2") => {
                vec![stream(&event(json!({ "jsonrpc": "2.0", "id": 7, "result": "at last" })))]
            }
            _ => opening(heard).unwrap_or_else(|| vec![part("e-1", "")]),
        }
    })
    .await;
    let client = legacy(&peer).await;
    let begun = Instant::now();
    let (happened, ended) = client.send(7, "tools/call").finish().await;
    assert_eq!(ended.unwrap(), "\"at last\"");
    assert_eq!(happened.len(), 1);
    assert!(begun.elapsed() >= Duration::from_millis(120), "it waits as long as the server says");
    let heard = peer.heard();
    let resumed: Vec<_> =
        heard.iter().filter(|one| !one.header("last-event-id").is_empty()).collect();
    assert_eq!(resumed.len(), 2);
    assert!(resumed.iter().all(|one| one.header("accept") == "text/event-stream"));
    assert!(resumed.iter().all(|one| one.header("mcp-session-id") == "s-1"));
}

#[tokio::test]
async fn a_stream_that_cannot_be_resumed_loses_the_request() {
    let peer = server(|_| vec![stream("id: e-1\nretry: 50\ndata:\n\n")]).await;
    let ended = legacy(&peer).await.call().await;
    assert!(matches!(&ended, Err(RequestError::Lost(why)) if why.contains("405")), "{ended:?}");
    let peer = server(|_| vec![stream("retry: 50\ndata:\n\n")]).await;
    let ended = legacy(&peer).await.call().await;
    assert!(matches!(ended, Err(RequestError::Lost(_))), "{ended:?}");
    // One that gives nothing, again and again.
    let peer = Peer::start(|heard| match heard.method.as_str() {
        "GET" if heard.header("last-event-id").is_empty() => vec![Act::answer(405, "", "")],
        "GET" => vec![stream("")],
        _ => opening(heard).unwrap_or_else(|| vec![stream("id: e-1\nretry: 50\ndata:\n\n")]),
    })
    .await;
    let ended = legacy(&peer).await.call().await;
    assert!(matches!(ended, Err(RequestError::Lost(_))), "{ended:?}");
    // One that wants us to wait for longer than there is time.
    let peer = server(|_| vec![stream("id: e-1\nretry: 60000\ndata:\n\n")]).await;
    let ended = legacy(&peer).await.call_within(SHORT, 7).await;
    assert!(matches!(ended, Err(RequestError::Timeout(300))), "{ended:?}");
}
