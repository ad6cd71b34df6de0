//! Redirects.

use std::sync::{
    Arc,
    atomic::{AtomicU16, AtomicUsize, Ordering},
};

use guard::net::{HeaderValue, HttpClient, HttpClientSettings, HttpRequest, Method, header};
use serde_json::Value;
use testkit::{Hostile, Reply, Upstream};

use super::{ScriptedResolver, cases, client, direct, get, reaching, send, word};

/// The names that the servers of these tests have, and their address.
const NAMES: [&str; 2] = ["start.test.example", "b.test.example"];
const LOOPBACK: &[&[&str]] = &[&["127.0.0.1"]];

/// The text with the port of the server behind every name that it serves.
fn with_port(text: &str, server: &Hostile) -> String {
    with_ports(text, server.port, server.port)
}

/// The text with ports: behind every name the one that serves it, and behind the address of this
/// machine that of a listener that must not be reached.
fn with_ports(text: &str, served: u16, forbidden: u16) -> String {
    let mut text = text.replace("http://127.0.0.1/", &format!("http://127.0.0.1:{forbidden}/"));
    for name in NAMES {
        text = text.replace(&format!("{name}/"), &format!("{name}:{served}/"));
    }
    text
}

fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// The answer to the request of this number: a hop of the case, or a page after the last.
fn scripted(hops: &[Value], number: usize, put: impl Fn(&str) -> String) -> Reply {
    let Some(hop) = hops.get(number) else { return Reply::new(200, "text/html", "<p>the end</p>") };
    let mut head = format!("HTTP/1.1 {} X\r\nConnection: close\r\n", hop["status"]);
    let mut add = |name: &str, value: &Value| {
        if let Some(value) = value.as_str() {
            head += &format!("{name}: {}\r\n", put(value));
        }
    };
    add("Location", &hop["location"]);
    add("Set-Cookie", &hop["set_cookie"]);
    for (name, value) in hop["headers"].as_object().into_iter().flatten() {
        add(name, value);
    }
    let body = put(hop["body"].as_str().unwrap_or_default());
    head += &format!("Content-Type: text/html\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    Reply::Bytes(head.into_bytes())
}

/// Every row as it is written, but for the port behind its names. What it forbids to connect to is
/// a listener here, which counts nobody.
#[tokio::test]
async fn every_case_of_a_redirect() {
    let mut count = 0;
    for case in cases(&["redirect"]) {
        let forbidden = Hostile::start();
        let hops = case["redirects"].as_array().unwrap().clone();
        let (port, script) = (Arc::new(AtomicU16::new(0)), hops.clone());
        let (asked, own, closed) = (AtomicUsize::new(0), port.clone(), forbidden.port);
        let served = Upstream::new(move |_| {
            let number = asked.fetch_add(1, Ordering::SeqCst);
            let own = own.load(Ordering::SeqCst);
            scripted(&script, number, |text| with_ports(text, own, closed))
        });
        port.store(served.port(), Ordering::SeqCst);
        let put = |text: &str| with_ports(text, served.port(), forbidden.port);
        let client = HttpClient::new(&HttpClientSettings {
            resolver: ScriptedResolver::new(&NAMES.map(|name| (name, LOOPBACK))),
            ..reaching(NAMES.map(|name| format!("{name}:{}", served.port())))
        });
        let result = get(&client, &put(case["url"].as_str().unwrap())).await;
        let expected = &case["expect"];
        match (expected["verdict"].as_str().unwrap(), expected["code"].as_str()) {
            ("allow", _) => {
                let response = result.unwrap_or_else(|error| panic!("{case}: {error}"));
                let led = hops.iter().filter(|hop| hop["status"] != 200).count();
                assert_eq!((response.status.as_u16(), response.redirects), (200, led), "{case}");
                assert_eq!(served.requests().len(), led + 1, "{case}");
                if let Some(url) = case["final_url"].as_str() {
                    assert_eq!(response.url.as_str(), put(url), "{case}");
                }
            }
            (_, Some("http_status")) => assert!(result.unwrap().status.is_redirection(), "{case}"),
            (_, Some(code)) => assert_eq!(word(&result), code, "{case}"),
            _ => assert!(result.is_err(), "{case}"),
        }
        assert!(!format!("{:?}", served.requests()).contains("sid=1"), "{case}");
        assert_eq!(forbidden.connections(), 0, "{case}");
        count += 1;
    }
    assert_eq!(count, 21);
}

#[tokio::test]
async fn what_the_caller_adds_is_not_carried_to_another_origin() {
    let server = Hostile::start();
    let client =
        client(&server, &NAMES, ScriptedResolver::new(&NAMES.map(|name| (name, LOOPBACK))));
    let ask = async |to: &str| {
        let to = escaped(&with_port(to, &server));
        let url = with_port(&format!("http://start.test.example/redir?to={to}"), &server);
        let mut request = HttpRequest::get(url);
        request.headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer secret"));
        request.headers.insert("x-key", HeaderValue::from_static("secret"));
        request.headers.insert(header::ACCEPT, HeaderValue::from_static("text/plain"));
        let response = send(&client, request).await.unwrap();
        String::from_utf8(response.body.to_vec()).unwrap()
    };
    let same = ask("/echo").await;
    assert!(same.contains("Bearer secret") && same.contains("x-key"), "{same}");
    let other = ask("http://b.test.example/echo").await;
    assert!(!other.contains("secret") && other.contains("accept: text/plain"), "{other}");
    // There and back again it is not picked up either.
    let back = escaped(&with_port("http://start.test.example/echo", &server));
    let there_and_back = ask(&format!("http://b.test.example/redir?to={back}")).await;
    assert!(!there_and_back.contains("secret"), "{there_and_back}");
}

#[tokio::test]
async fn a_body_goes_where_it_was_sent_and_nowhere_else() {
    let server = Hostile::start();
    let client =
        client(&server, &NAMES, ScriptedResolver::new(&NAMES.map(|name| (name, LOOPBACK))));
    let ask = async |status: u16, to: &str| {
        let to = escaped(&with_port(to, &server));
        let url = format!("http://start.test.example/redir?st={status}&to={to}");
        let request = HttpRequest::post_json(with_port(&url, &server), "{\"secret\":1}");
        send(&client, request).await.unwrap()
    };
    for (status, expected) in
        [(301, "GET "), (302, "GET "), (303, "GET "), (307, "POST "), (308, "POST ")]
    {
        let body = ask(status, "/echo").await.body;
        let text = String::from_utf8_lossy(&body);
        assert!(text.starts_with(expected), "{status}: {text}");
        assert_eq!(text.contains("content-type: application/json"), status > 303, "{text}");
    }
    let refused = ask(307, "http://b.test.example/echo").await;
    assert_eq!((refused.status.as_u16(), refused.redirects), (307, 0));
}

#[tokio::test]
async fn what_a_request_carries() {
    let server = Hostile::start();
    let response = get(&direct(&server), &server.url("/echo#fragment")).await.unwrap();
    assert_eq!(response.url.as_str(), server.url("/echo"));
    let text = String::from_utf8(response.body.to_vec()).unwrap();
    let mut names: Vec<_> = text
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    names.sort_unstable();
    assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
    assert!(text.starts_with("GET /echo HTTP/1.1\r\n"), "{text}");
    assert!(text.contains("user-agent: Toolgate/"), "{text}");
}

#[tokio::test]
async fn a_location_that_is_empty_or_double_leads_nowhere() {
    let server = Hostile::start();
    let client = direct(&server);
    let empty = get(&client, &server.url("/redir?to=")).await.unwrap();
    assert_eq!(empty.status.as_u16(), 302);
    let double = server.url(&format!("/redir?to=/a&more={}", escaped("Location: /b\r\n")));
    assert_eq!(word(&get(&client, &double).await), "network");
    let injected = server.url("/echo?x=a%0d%0aX-Injected:%201");
    let response = get(&client, &injected).await.unwrap();
    assert!(!String::from_utf8_lossy(&response.body).contains("\r\nX-Injected"));
}

#[tokio::test]
async fn methods_other_than_get_are_sent_as_they_are() {
    let server = Hostile::start();
    let mut request = HttpRequest::get(server.url("/echo"));
    request.method = Method::DELETE;
    let response = send(&direct(&server), request).await.unwrap();
    assert!(response.body.starts_with(b"DELETE /echo"));
}

#[tokio::test]
async fn a_refresh_is_not_followed_and_a_cookie_is_not_kept() {
    let (server, forbidden) = (Hostile::start(), Hostile::start());
    let client = direct(&server);
    let refresh = escaped(&format!("Refresh: 0; url={}\r\n", forbidden.url("/leak")));
    let response =
        get(&client, &server.url(&format!("/redir?st=200&more={refresh}"))).await.unwrap();
    assert_eq!((response.status.as_u16(), response.redirects), (200, 0));
    let cookie = escaped("Set-Cookie: sid=1; Path=/\r\n");
    let led = server.url(&format!("/redir?to=/echo&more={cookie}"));
    for url in [led, server.url("/echo")] {
        let response = get(&client, &url).await.unwrap();
        assert!(!String::from_utf8_lossy(&response.body).contains("sid=1"), "{url}");
    }
    assert_eq!(forbidden.connections(), 0);
}
