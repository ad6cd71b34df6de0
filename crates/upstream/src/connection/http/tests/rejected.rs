//! Servers that refuse, lead away, or are not there.

use serde_json::json;
use testkit::{Act, Peer};

use super::*;

async fn refused(status: u16, head: &'static str, body: &'static str) -> RequestError {
    let peer = Peer::start(move |_| vec![Act::answer(status, head, body)]).await;
    modern(&peer).call().await.unwrap_err()
}

const JSON: &str = "Content-Type: application/json; charset=utf-8\r\n";

#[tokio::test]
async fn an_error_in_the_protocols_own_words_keeps_its_status() {
    for body in [
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32022,"message":"no","data":{"supported":["x"]}}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"no","data":{"supported":["x"]}}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32022,"message":"no","data":{"supported":["x"]}}}"#,
    ] {
        let RequestError::Rpc(error) = refused(400, JSON, body).await else { panic!("{body}") };
        assert_eq!((error.code, error.status), (-32022, 400));
        assert_eq!(error.data, Some(json!({ "supported": ["x"] })));
    }
    let body = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}}"#;
    assert!(
        matches!(refused(404, JSON, body).await, RequestError::Rpc(error) if error.status == 404)
    );
    let peer = Peer::start(move |_| vec![Act::json(body)]).await;
    let ended = modern(&peer).call().await;
    assert!(matches!(ended, Err(RequestError::Rpc(error)) if error.status == 200));
}

#[tokio::test]
async fn other_refusals_say_what_to_do() {
    for (status, head, body, words) in [
        (401, "WWW-Authenticate: Bearer realm=\"x\"\r\n", "", "`Bearer`"),
        (401, "", "", "`headers`"),
        (403, JSON, r#"{"error":"insufficient_scope"}"#, "denies access"),
        (404, "Content-Type: text/html\r\n", "<html>not here</html>", "check the path"),
        (405, "Allow: GET\r\n", "", "check the path"),
        (302, "Location: /login\r\n", "", "the server redirects (status"),
        (303, "Location: https://example.com/\r\n", "", "the server redirects (status"),
        (400, JSON, r#"{"error":"bad"}"#, "status 400): {\"error\":\"bad\"}"),
        (429, "Content-Type: text/plain\r\n", "slow\ndown", "status 429): slow down"),
        (307, "Location: http://example.com/\r\n", "", "redirects to another address"),
        (308, "Location: https://127.0.0.1:1/\r\n", "", "redirects to another address"),
        (307, "Location: /mcp\r\n", "", "redirects"),
        (600, "", "", "status 600"),
        (101, "Upgrade: x\r\nConnection: upgrade\r\n", "", "status 101"),
    ] {
        let error = refused(status, head, body).await;
        let message = error.to_string();
        assert!(message.contains(words), "{status}: {message}");
        assert!(!message.contains("secret") && !message.contains("<html>"), "{message}");
        assert!(matches!(error, RequestError::Protocol(_)) || status == 600, "{error:?}");
    }
    for status in [500, 502, 503] {
        let error = refused(status, "Content-Type: text/html\r\n", "<html>").await;
        assert!(matches!(error, RequestError::Lost(_)), "{error:?}");
    }
}

#[tokio::test]
async fn a_redirect_within_the_server_is_followed() {
    let peer = Peer::start(|heard| match heard.path.as_str() {
        "/mcp" => vec![Act::answer(307, "Location: /mcp/\r\n", "")],
        _ => vec![Act::json(answer_to(heard, &json!(heard.path)))],
    })
    .await;
    let client = modern(&peer);
    assert_eq!(client.call().await.unwrap(), "\"/mcp/\"");
    assert_eq!(peer.heard()[1].header("mcp-method"), "tools/call");
}

#[tokio::test]
async fn a_request_to_a_closed_port_is_not_sent() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut gone = Peer::start(|_| vec![]).await;
    gone.port = free.local_addr().unwrap().port();
    drop(free);
    let client = modern(&gone);
    assert!(matches!(client.call().await, Err(RequestError::NotSent(_))));
    assert!(client.transport.notify(Bytes::from_static(b"{}")).await.is_err());
}

#[tokio::test]
async fn only_repeatable_requests_are_sent_again_after_a_stale_connection() {
    // The second request of each connection is read and not answered.
    let peer = Peer::start(|heard| match heard.nth {
        0 => vec![Act::json(answer_to(heard, &json!(1)))],
        _ => vec![Act::Close],
    })
    .await;
    let client = modern(&peer);
    assert!(client.ask(1, "tools/list").await.is_ok());
    assert!(client.ask(2, "tools/list").await.is_ok());
    let ended = client.ask(3, "tools/call").await;
    assert!(matches!(ended, Err(RequestError::Lost(_))), "{ended:?}");
    let methods: Vec<_> = peer.heard().iter().map(|one| one.field("id")).collect();
    assert_eq!(methods, [1, 2, 2, 3].map(|id| json!(id)));
}
