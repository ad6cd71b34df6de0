//! Services that answer what no service should.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Reply, Upstream, free_port};

use super::{asking, asking_at, asking_with, failure, search};

/// The failure that comes of a reply, and how long it took.
async fn check(reply: Reply, code: &str, reason: &str) {
    let upstream = Upstream::saying(reply);
    let world = asking(&upstream).await;
    let began = Instant::now();
    let answer = search(&world, &json!({ "query": "x" })).await;
    let (status, got, message, details) = failure(&answer);
    assert_eq!((got.as_str(), &details["reason"]), (code, &json!(reason)), "{message}");
    assert_eq!(status, if code == "timeout" { 504 } else { 502 });
    assert!(began.elapsed() < Duration::from_secs(5), "{message}");
    assert!(!message.contains("127.0.0.1"), "{message}");
}

fn head(more: &str) -> Vec<u8> {
    format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{more}\r\n").into_bytes()
}

#[tokio::test]
async fn silence_in_all_its_forms_is_a_timeout() {
    for reply in [
        Reply::Stall(Vec::new()),
        Reply::Stall(b"HTTP/1.1 200 OK\r\nContent-Ty".to_vec()),
        Reply::Stall(head("Content-Length: 1000\r\n")),
        Reply::Endless(head(""), b" ".to_vec(), Duration::from_millis(50)),
        Reply::Endless(
            b"HTTP/1.1 200 OK\r\n".to_vec(),
            b"X-A: b\r\n".to_vec(),
            Duration::from_millis(50),
        ),
    ] {
        check(reply, "timeout", "timeout").await;
    }
}

#[tokio::test]
async fn more_than_is_wanted_is_not_read() {
    let megabyte = b" ".repeat(1_000_000);
    check(
        Reply::Endless(head(""), megabyte.clone(), Duration::ZERO),
        "upstream_failure",
        "too_large",
    )
    .await;
    check(Reply::Bytes(head("Content-Length: 6000000\r\n")), "upstream_failure", "too_large").await;
    let chunk = [b"f4240\r\n".as_slice(), &megabyte, b"\r\n"].concat();
    let chunked = head("Transfer-Encoding: chunked\r\n");
    check(Reply::Endless(chunked, chunk, Duration::ZERO), "upstream_failure", "too_large").await;
}

#[tokio::test]
async fn what_is_no_answer_is_a_failure() {
    for body in [
        "",
        "5",
        "{}",
        "[]",
        "null",
        "<html>",
        "{\"results\":5}",
        "{\"results\":[1]}",
        "{\"results\":[{]}",
    ] {
        check(Reply::json(200, body), "upstream_failure", "bad_answer").await;
    }
    check(
        Reply::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
        "upstream_failure",
        "bad_answer",
    )
    .await;
    for status in [400, 401, 404, 429, 500, 503, 599] {
        check(Reply::json(status, "{\"results\":[]}"), "upstream_failure", "http_status").await;
    }
    for (bytes, reason) in [
        (b"".to_vec(), "network"),
        (b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(), "network"),
        (head("Content-Length: 1000\r\n"), "network"),
    ] {
        check(Reply::Bytes(bytes), "upstream_failure", reason).await;
    }
    let closed = format!("http://127.0.0.1:{}", free_port());
    let world = asking_at(&closed, "searxng", "").await;
    let (_, code, message, details) = failure(&search(&world, &json!({ "query": "x" })).await);
    assert_eq!((code.as_str(), &details["reason"]), ("upstream_failure", &json!("connect")));
    assert!(!message.contains("127.0.0.1"), "{message}");
}

#[tokio::test]
async fn a_key_is_not_carried_elsewhere() {
    let elsewhere = Upstream::saying(super::some_results(1));
    for status in [301, 302, 303, 307, 308] {
        let reply = format!(
            "HTTP/1.1 {status} -\r\nLocation: {}/v1/search/web\r\nContent-Length: 0\r\n\r\n",
            elsewhere.url()
        );
        let upstream = Upstream::saying(Reply::Bytes(reply.into_bytes()));
        let world = asking(&upstream).await;
        let (_, code, ..) = failure(&search(&world, &json!({ "query": "x" })).await);
        assert_eq!(code, "upstream_failure");
    }
    assert_eq!(elsewhere.requests().len(), 0);
}

#[tokio::test]
async fn results_that_mean_harm_are_made_harmless() {
    let long = "A".repeat(1_000_000);
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let body = format!(
        r#"{{"x":{deep},"results":[
            {{"title":"click","url":"javascript:alert(1)"}},
            {{"title":"click","url":"data:text/html,<script>alert(1)</script>"}},
            {{"title":"click","url":"https://bank.example@evil.example/"}},
            {{"title":5,"url":["https://a.example"],"snippet":{{}}}},
            {{"title":{deep},"url":"https://one.example/","snippet":null,"date":{{}}}},
            {{"title":"{long}","url":"https://two.example/","snippet":"{long}","date":"{long}"}},
            {{"title":"\u0000\u001b[31mred\u202egnp.exe\u200b","url":"https://three.example/\u202egnp","snippet":"a\r\nb\u2066c"}},
            {{"title":"<script>alert(1)</script><img src=x onerror=alert(1)>&lt;b&gt;","url":"  https://four.example/  ","snippet":"<p>one</p><p>two</p>","date":"Jan 1, 2025"}},
            {{"title":"again","url":"https://two.example/"}},
            "text", null, 5, []
        ]}}"#
    );
    let upstream = Upstream::saying(Reply::json(200, body));
    let world = asking_with(&upstream, "searxng", "").await;
    let answer = search(&world, &json!({ "query": "x", "max_results": 25 })).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let result = answer.json()["result"]["results"].clone();
    let results = result.as_array().unwrap();
    assert_eq!(results.len(), 4, "{result}");
    let empty = json!({ "title": "", "url": "https://one.example/", "snippet": "", "date": null });
    assert_eq!(results[0], empty);
    let characters = |value: &Value| value.as_str().unwrap().chars().count();
    assert_eq!(characters(&results[1]["title"]), 1_000);
    assert_eq!(characters(&results[1]["snippet"]), 10_000);
    assert_eq!(results[1]["date"], Value::Null);
    let three = json!({
        "title": "[31mredgnp.exe", "url": "https://three.example/%E2%80%AEgnp", "snippet": "a bc",
        "date": null,
    });
    assert_eq!(results[2], three);
    let four = json!({
        "title": "<b>", "url": "https://four.example/", "snippet": "one two", "date": "2025-01-01",
    });
    assert_eq!(results[3], four);
}
