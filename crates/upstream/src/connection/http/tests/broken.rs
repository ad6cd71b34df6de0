//! Servers that break off, stall, flood, and answer with what is no answer.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Act, Peer, PeerRequest};

use super::*;

const JSON: &str = "HTTP/1.1 200 -\r\nContent-Type: application/json\r\n";

async fn outcome(
    script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static,
) -> Result<String, RequestError> {
    let peer = Peer::start(script).await;
    modern(&peer).call().await
}

#[tokio::test]
async fn a_connection_that_is_cut_loses_the_request() {
    let cases: [&[&str]; 7] = [
        &[""],
        &["HTTP/1.1 20"],
        &[JSON, "Content-Length: 50\r\n\r\n"],
        &[JSON, "Content-Length: 50\r\n\r\n{\"jsonrpc\":\"2.0\""],
        &[
            "HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:",
        ],
        &[
            "HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":7",
        ],
        // A whole answer, and no end of its event.
        &[
            "HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\n\r\ndata: {\"jsonrpc\":\"2.0\",\"id\":7,\"result\":1}\n",
        ],
    ];
    for parts in cases {
        let text = parts.concat();
        let said = text.clone();
        let ended = outcome(move |_| vec![Act::say(said.clone()), Act::Close]).await;
        assert!(matches!(ended, Err(RequestError::Lost(_))), "{text}: {ended:?}");
    }
    let ended = outcome(|_| vec![Act::Reset]).await;
    assert!(matches!(ended, Err(RequestError::Lost(_))), "{ended:?}");
}

#[tokio::test]
async fn a_slow_server_is_waited_for_until_the_timeout() {
    let slow = outcome(|heard| {
        let body = answer_to(heard, &json!("slow"));
        let text = format!("{JSON}Content-Length: {}\r\n\r\n{body}", body.len());
        vec![Act::Drip(text.into_bytes(), Duration::from_millis(1))]
    });
    assert_eq!(slow.await.unwrap(), "\"slow\"");
    for stage in ["silence", "body", "events", "comments", "notes", "drip"] {
        let peer = Peer::start(move |_| match stage {
            "silence" => vec![Act::Silence],
            "body" => vec![Act::say(format!("{JSON}Content-Length: 5\r\n\r\n{{")), Act::Silence],
            "events" => vec![Act::events(), Act::Silence],
            "comments" => vec![Act::events(), Act::Endless(b": still here\n\n".repeat(100))],
            "notes" => {
                vec![Act::events(), Act::Endless(event(progress(7, 1)).repeat(100).into_bytes())]
            }
            _ => vec![Act::events(), Act::Drip(vec![b'x'; 100_000], Duration::from_millis(1))],
        })
        .await;
        let client = modern(&peer);
        let begun = Instant::now();
        let ended = client.call_within(SHORT, 7).await;
        assert!(matches!(ended, Err(RequestError::Timeout(300))), "{stage}: {ended:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{stage}: {:?}", begun.elapsed());
        testkit::eventually("the server sees it", || async { (peer.closed() == 1).then_some(()) })
            .await;
    }
}

#[tokio::test]
async fn a_response_above_the_limit_is_rejected() {
    for shape in ["announced", "chunked", "one event", "a line without an end", "a hundred MB"] {
        let ended = outcome(move |_| match shape {
            "announced" => vec![Act::say(format!("{JSON}Content-Length: 100001\r\n\r\n{{"))],
            "a hundred MB" => vec![Act::answer(
                200,
                "Content-Type: application/json\r\n",
                vec![b' '; 100_000_000],
            )],
            "chunked" => vec![
                Act::say(format!("{JSON}Transfer-Encoding: chunked\r\n\r\n")),
                Act::Endless([b"1000\r\n".as_slice(), &[b' '; 4096], b"\r\n"].concat()),
            ],
            "one event" => {
                vec![Act::events(), Act::Endless(b"data: xxxxxxxxxxxxxxxxxxxxx\n".to_vec())]
            }
            _ => vec![Act::events(), Act::Endless(vec![b'x'; 10_000])],
        })
        .await;
        assert!(matches!(ended, Err(RequestError::TooLarge(MAX_BYTES))), "{shape}: {ended:?}");
    }
}

/// A request may have a lower limit than its connection, and then no more than that is received.
#[tokio::test]
async fn a_response_above_the_limit_of_its_request_is_rejected() {
    for shape in ["announced", "chunked", "one event", "whole"] {
        let peer = Peer::start(move |heard: &PeerRequest| match shape {
            "announced" => vec![Act::say(format!("{JSON}Content-Length: 1001\r\n\r\n{{"))],
            "chunked" => vec![
                Act::say(format!("{JSON}Transfer-Encoding: chunked\r\n\r\n")),
                Act::Endless([b"100\r\n".as_slice(), &[b' '; 256], b"\r\n"].concat()),
            ],
            "one event" => vec![Act::events(), Act::Endless(b"data: xxxxxxxx\n".to_vec())],
            _ => vec![Act::json(answer_to(heard, &json!("x".repeat(1_000))))],
        })
        .await;
        let options = RequestOptions { max_response_bytes: 1_000, ..RequestOptions::new(LONG) };
        let client = modern(&peer);
        let ended = client.send_with(options, 7, "resources/read").finish().await.1;
        assert!(matches!(ended, Err(RequestError::TooLarge(1_000))), "{shape}: {ended:?}");
    }
}

#[tokio::test]
async fn a_response_at_the_limit_is_accepted() {
    let text = "x".repeat(MAX_BYTES - 100);
    let expected = format!("\"{text}\"");
    let body = json!(text);
    let plain = body.clone();
    let ended = outcome(move |heard| vec![Act::json(answer_to(heard, &plain))]).await;
    assert_eq!(ended.unwrap(), expected);
    let ended = outcome(move |heard| vec![stream(&event(answer_to(heard, &body)))]).await;
    assert_eq!(ended.unwrap(), expected);
}

#[tokio::test]
async fn a_body_that_is_not_a_response_is_told() {
    const JSON: &str = "Content-Type: application/json\r\n";
    let large = format!("A: {}\r\n", "x".repeat(70_000));
    for (word, status, head, body) in [
        ("text/html", 200, "Content-Type: text/html\r\n", "<html>Sign in</html>"),
        ("without a Content-Type", 200, "", "{}"),
        ("without a Content-Type", 202, "", ""),
        ("without a Content-Type", 204, "", ""),
        ("headers", 200, &large, ""),
        ("not a JSON-RPC message", 200, JSON, ""),
        ("not a JSON-RPC message", 200, JSON, "<html>"),
        ("not a JSON-RPC message", 200, JSON, r#"{"jsonrpc":"2.0","id":7}"#),
        ("not a JSON-RPC message", 200, JSON, r#"{"id":7,"result":{}}"#),
        ("not a JSON-RPC message", 200, JSON, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\0\"}"),
        ("not a JSON-RPC message", 200, JSON, r#"{"jsonrpc":"2.0","id":7,"result":{}} {}"#),
        ("another request", 200, JSON, r#"{"jsonrpc":"2.0","id":8,"result":{}}"#),
        ("another request", 200, JSON, r#"{"jsonrpc":"2.0","id":"7","result":{}}"#),
        ("another request", 200, JSON, r#"{"jsonrpc":"2.0","id":null,"result":{}}"#),
        ("no response to this request", 200, JSON, r#"{"jsonrpc":"2.0","method":"x"}"#),
        ("no response to this request", 200, JSON, "[]"),
    ] {
        let (said_head, said_body) = (head.to_owned(), body.to_owned());
        let ended = outcome(move |_| vec![Act::answer(status, &said_head, &said_body)]).await;
        let message = match &ended {
            Err(RequestError::Protocol(message)) if !word.starts_with("not a") => message,
            Err(RequestError::Malformed { text, reason }) if text == body => reason,
            _ => panic!("{body}: {ended:?}"),
        };
        assert!(message.contains(word), "{body}: {message}");
    }
}

#[tokio::test]
async fn a_response_that_is_not_utf8_is_malformed() {
    const BODY: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":\"\xff\"}";
    let event = [b"data: ", BODY, b"\n\n"].concat();
    for (head, body) in [
        ("Content-Type: application/json\r\n", BODY.to_vec()),
        ("Content-Type: text/event-stream\r\n", event),
    ] {
        let ended = outcome(move |_| vec![Act::answer(200, head, &body)]).await;
        assert!(matches!(ended, Err(RequestError::Malformed { .. })), "{ended:?}");
    }
}

#[tokio::test]
async fn the_response_in_a_batch_is_found() {
    let ended = outcome(|heard| {
        let batch = format!("[{}, {}]", progress(7, 1), answer_to(heard, &json!("found")));
        vec![Act::json(batch)]
    });
    assert_eq!(ended.await.unwrap(), "\"found\"");
    let ended = outcome(|heard| {
        vec![stream(&event(format!("[{}, {}]", progress(7, 1), answer_to(heard, &json!(1)))))]
    });
    assert_eq!(ended.await.unwrap(), "1");
}
