//! The client for one service, against servers that break off, flood, stall and lead away.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use guard::net::{
    Bytes, HeaderName, HeaderValue, Method, NetError, NetErrorReason, ServiceClient,
    ServiceRequest, ServiceResponse, ServiceSettings, Url,
};
use testkit::{Act, Authority, Hostile, Peer, PeerRequest, eventually, free_port};
use tokio::{sync::Barrier, task::JoinSet};

const LONG: Duration = Duration::from_secs(30);
const SHORT: Duration = Duration::from_millis(300);

fn service(url: &str) -> ServiceClient {
    ServiceClient::new(&Url::parse(url).unwrap(), &[], &ServiceSettings::default()).unwrap()
}

async fn send(
    service: &ServiceClient,
    method: Method,
    timeout: Duration,
) -> Result<ServiceResponse, NetError> {
    let headers = service.headers().clone();
    let body = if method == Method::POST { Bytes::from_static(b"{}") } else { Bytes::new() };
    service.send(&ServiceRequest { method, headers: &headers, extra: &[], body, timeout }).await
}

async fn post(service: &ServiceClient, timeout: Duration) -> Result<String, NetError> {
    let answer = send(service, Method::POST, timeout).await?;
    let bytes = answer.body.read_all(1_000_000).await?;
    Ok(String::from_utf8(bytes.to_vec()).unwrap())
}

fn reason(result: Result<String, NetError>) -> NetErrorReason {
    result.unwrap_err().reason
}

#[tokio::test]
async fn one_connection_serves_one_request_after_the_other() {
    let peer = Peer::start(|heard| vec![Act::json(format!("{{\"n\":{}}}", heard.nth))]).await;
    let service = service(&peer.url("/mcp?a=b"));
    for n in 0..20 {
        assert_eq!(post(&service, LONG).await.unwrap(), format!("{{\"n\":{n}}}"));
    }
    assert_eq!(peer.connections(), 1);
    let heard = &peer.heard()[7];
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/mcp?a=b"));
    assert_eq!(heard.header("host"), format!("127.0.0.1:{}", peer.port));
    assert_eq!(heard.header("accept-encoding"), "identity");
    assert_eq!(heard.body, "{}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_at_once_have_a_connection_each_and_leave_it_to_the_next() {
    let peer = Peer::start(|_| vec![Act::json("{}")]).await;
    let service = service(&peer.url("/"));
    for _ in 0..5 {
        let all = Arc::new(Barrier::new(200));
        let requests = (0..200).map(|_| {
            let (service, all) = (service.clone(), all.clone());
            async move {
                all.wait().await;
                post(&service, LONG).await.unwrap()
            }
        });
        let answers = requests.collect::<JoinSet<_>>().join_all().await;
        assert!(answers.iter().all(|answer| answer == "{}"), "{answers:?}");
    }
    assert!(peer.connections() <= 200, "{} connections", peer.connections());
    assert_eq!(peer.heard().len(), 1_000);
}

#[tokio::test]
async fn no_more_unused_connections_are_kept_than_the_settings_say() {
    let peer = Peer::start(|_| vec![Act::json("{}")]).await;
    let settings = ServiceSettings { max_idle_connections: 3, ..ServiceSettings::default() };
    let service = ServiceClient::new(&Url::parse(&peer.url("/")).unwrap(), &[], &settings).unwrap();
    let mut answers = Vec::new();
    for _ in 0..10 {
        answers.push(send(&service, Method::POST, LONG).await.unwrap());
    }
    assert_eq!(peer.connections(), 10);
    for answer in answers {
        answer.body.read_all(100).await.unwrap();
    }
    eventually("the others are closed", async || peer.closed() == 7).await;
    post(&service, LONG).await.unwrap();
    assert_eq!(peer.connections(), 10);
    service.close();
    eventually("all are closed", async || peer.closed() == 10).await;
}

#[tokio::test]
async fn bodies_in_pieces_without_a_length_and_to_the_end_of_the_connection_are_read() {
    let peer = Peer::start(|heard| match heard.nth {
        0 => vec![
            Act::say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"),
            Act::Drip(b"4\r\ndefg\r\n0\r\n\r\n".to_vec(), Duration::from_millis(2)),
        ],
        1 => vec![Act::answer(204, "", "")],
        _ => vec![Act::say("HTTP/1.1 200 OK\r\n\r\nto the end"), Act::Close],
    })
    .await;
    let service = service(&peer.url("/"));
    assert_eq!(post(&service, LONG).await.unwrap(), "abcdefg");
    assert_eq!(post(&service, LONG).await.unwrap(), "");
    assert_eq!(post(&service, LONG).await.unwrap(), "to the end");
    assert_eq!(peer.connections(), 1);
    post(&service, LONG).await.unwrap();
    assert_eq!(peer.connections(), 2);
}

#[tokio::test]
async fn large_bodies_arrive_whole_and_larger_ones_are_refused_early() {
    let peer = Peer::start(|heard| match heard.path.as_str() {
        "/right" => vec![Act::answer(200, "", vec![b'x'; 1_000_000])],
        "/announced" => vec![Act::say("HTTP/1.1 200 -\r\nContent-Length: 100000000\r\n\r\nx")],
        _ => vec![
            Act::say("HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Act::Endless([b"10000\r\n".as_slice(), &[b'x'; 65_536], b"\r\n"].concat()),
        ],
    })
    .await;
    assert_eq!(post(&service(&peer.url("/right")), LONG).await.unwrap().len(), 1_000_000);
    for path in ["/announced", "/endless"] {
        assert_eq!(
            reason(post(&service(&peer.url(path)), LONG).await),
            NetErrorReason::TooLarge,
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_answer_that_never_ends_ends_with_the_time() {
    let peer = Peer::start(|_| {
        vec![
            Act::say("HTTP/1.1 200 -\r\nTransfer-Encoding: chunked\r\n\r\n"),
            Act::Endless(b"1\r\nx\r\n".to_vec()),
        ]
    })
    .await;
    let service = service(&peer.url("/"));
    let begun = Instant::now();
    let mut answer = send(&service, Method::POST, SHORT).await.unwrap();
    let error = loop {
        match answer.body.chunk().await {
            Ok(Some(_)) => {}
            Ok(None) => panic!("it has no end"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.reason, NetErrorReason::Timeout);
    assert!(begun.elapsed() < LONG, "{:?}", begun.elapsed());
}

#[tokio::test]
async fn silence_and_drips_end_with_the_time() {
    for acts in ["silence", "head", "drip", "body"] {
        let peer = Peer::start(move |_| match acts {
            "silence" => vec![Act::Silence],
            "head" => vec![Act::say("HTTP/1.1 200 OK\r\nContent-Le"), Act::Silence],
            "drip" => vec![Act::Drip(vec![b'x'; 100_000], Duration::from_millis(5))],
            _ => vec![Act::say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"), Act::Silence],
        })
        .await;
        let begun = Instant::now();
        let ended = post(&service(&peer.url("/")), SHORT).await;
        // A drip of what is no HTTP is seen as that.
        let expected =
            if acts == "drip" { NetErrorReason::Network } else { NetErrorReason::Timeout };
        assert_eq!(reason(ended), expected, "{acts}");
        assert!(begun.elapsed() < Duration::from_secs(20));
        eventually("the connection is closed", async || peer.closed() == 1).await;
    }
}

#[tokio::test]
async fn a_connection_that_breaks_off_is_an_error_wherever_it_does() {
    let cut = |text: &'static str| move |_: &PeerRequest| vec![Act::say(text), Act::Close];
    for text in [
        "",
        "HTTP/1.1 200 OK\r\nConte",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
        "not HTTP at all\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab",
    ] {
        let peer = Peer::start(cut(text)).await;
        let ended = post(&service(&peer.url("/")), LONG).await;
        assert_eq!(reason(ended), NetErrorReason::Network, "{text}");
        assert_eq!(peer.connections(), 1, "a POST is not sent twice: {text}");
    }
    let peer = Peer::start(|_| vec![Act::Reset]).await;
    assert_eq!(reason(post(&service(&peer.url("/")), LONG).await), NetErrorReason::Network);
}

#[tokio::test]
async fn a_connection_closed_while_nobody_used_it_is_replaced() {
    let peer = Peer::start(|_| vec![Act::json("{}"), Act::Close]).await;
    let service = service(&peer.url("/"));
    for n in 1..=10 {
        post(&service, LONG).await.unwrap();
        eventually("the connection is closed", async || peer.closed() == n).await;
    }
    assert_eq!((peer.connections(), peer.heard().len()), (10, 10));
}

#[tokio::test]
async fn a_post_on_a_connection_closed_at_that_moment_is_told_as_stale_and_a_get_is_repeated() {
    // The second request of each connection is read and not answered.
    let peer = Peer::start(|heard| match heard.nth {
        0 => vec![Act::json("{}")],
        _ => vec![Act::Close],
    })
    .await;
    let service = service(&peer.url("/"));
    post(&service, LONG).await.unwrap();
    assert_eq!(reason(post(&service, LONG).await), NetErrorReason::Stale);
    assert_eq!(peer.heard().len(), 2);
    post(&service, LONG).await.unwrap();
    let answer = send(&service, Method::GET, LONG).await.unwrap();
    assert_eq!(answer.status, 200);
    assert_eq!(peer.heard().len(), 5);
}

#[tokio::test]
async fn heads_that_flood_are_refused() {
    let peer = Peer::start(|heard| match heard.path.as_str() {
        "/informational" => vec![Act::Endless(b"HTTP/1.1 103 Early\r\nA: b\r\n\r\n".to_vec())],
        "/bytes" => vec![Act::say("HTTP/1.1 200 OK\r\nA: "), Act::Endless(vec![b'x'; 1_000])],
        _ => vec![Act::answer(200, &"A: b\r\n".repeat(150), "{}")],
    })
    .await;
    for path in ["/informational", "/bytes", "/lines"] {
        let ended = post(&service(&peer.url(path)), LONG).await;
        assert_eq!(reason(ended), NetErrorReason::HeaderLimit, "{path}");
    }
}

#[tokio::test]
async fn dropping_a_request_closes_its_connection() {
    let peer = Peer::start(|_| vec![Act::Silence]).await;
    let service = service(&peer.url("/"));
    let asking = tokio::spawn(async move { post(&service, LONG).await });
    eventually("it was asked", async || peer.heard().len() == 1).await;
    asking.abort();
    eventually("the server sees it", async || peer.closed() == 1).await;
}

#[tokio::test]
async fn redirects_are_followed_within_the_service_only() {
    let elsewhere = Peer::start(|_| vec![Act::json("{}")]).await;
    let other = elsewhere.url("/");
    let peer = Peer::start(move |heard| {
        let to = |status, place: &str| {
            vec![Act::answer(status, &format!("Location: {place}\r\n"), "moved")]
        };
        match heard.path.as_str() {
            "/here" => to(307, "/there/"),
            "/for-ever" => to(308, "/for-ever"),
            "/away" => to(307, &other),
            "/secure" => to(308, "https://127.0.0.1/"),
            "/found" => to(302, "/there/"),
            "/nowhere" => vec![Act::answer(307, "", "")],
            _ => vec![Act::json(format!("\"{} {}\"", heard.path, heard.body))],
        }
    })
    .await;
    let ask = async |path: &str| {
        let headers = [("authorization".to_owned(), "Bearer secret".to_owned())];
        let url = Url::parse(&peer.url(path)).unwrap();
        post(&ServiceClient::new(&url, &headers, &ServiceSettings::default()).unwrap(), LONG).await
    };
    assert_eq!(ask("/here").await.unwrap(), "\"/there/ {}\"");
    assert_eq!(peer.heard()[1].header("authorization"), "Bearer secret");
    assert_eq!(reason(ask("/for-ever").await), NetErrorReason::RedirectLimit);
    let away = ask("/away").await.unwrap_err();
    assert!(away.on_redirect() && away.reason.is_refusal(), "{away:?}");
    assert!(ask("/secure").await.unwrap_err().reason.is_refusal());
    // A redirect that would make another request of it is the answer.
    assert_eq!(ask("/found").await.unwrap(), "moved");
    assert_eq!(ask("/nowhere").await.unwrap(), "");
    assert_eq!(elsewhere.connections(), 0);
    // Those that were left are used again.
    assert!(peer.connections() <= 6 + 1, "{}", peer.connections());
}

#[tokio::test]
async fn another_address_of_the_service_shares_its_connections() {
    let peer = Peer::start(|heard| vec![Act::json(format!("\"{}\"", heard.path))]).await;
    let service = service(&peer.url("/sse"));
    assert_eq!(post(&service, LONG).await.unwrap(), "\"/sse\"");
    let other = service.at("/messages?session=1").unwrap();
    assert_eq!(post(&other, LONG).await.unwrap(), "\"/messages?session=1\"");
    assert_eq!(peer.connections(), 1);
    for away in ["http://127.0.0.1:1/", "https://127.0.0.1/", "//example.com/", "file:///etc"] {
        assert!(service.at(away).unwrap_err().reason.is_refusal(), "{away}");
    }
}

#[tokio::test]
async fn nobody_there_is_told_as_no_connection() {
    let port = free_port();
    let ended = post(&service(&format!("http://127.0.0.1:{port}/")), LONG).await;
    assert_eq!(reason(ended), NetErrorReason::Connect);
    let ended = post(&service("http://nobody.invalid/"), LONG).await;
    assert_eq!(reason(ended), NetErrorReason::NotResolved);
}

#[test]
fn headers_that_cannot_be_are_refused_and_secrets_are_not_told() {
    let url = Url::parse("http://127.0.0.1:1/path?token=hidden").unwrap();
    let make = |name: &str, value: &str| {
        let headers = [(name.to_owned(), value.to_owned())];
        ServiceClient::new(&url, &headers, &ServiceSettings::default())
    };
    for name in ["Host", "content-length", "Transfer-Encoding", "connection", "a b", ""] {
        let error = make(name, "secret").unwrap_err().to_string();
        assert!(!error.contains("secret"), "{error}");
    }
    let error = make("Authorization", "Bearer se\ncret").unwrap_err().to_string();
    assert!(error.contains("Authorization") && !error.contains("cret"), "{error}");
    let service = make("Authorization", "Bearer secret").unwrap();
    let shown = format!("{service:?} {:?}", service.headers());
    assert!(!shown.contains("secret") && !shown.contains("hidden"), "{shown}");
    let credentials = Url::parse("http://me:secret@127.0.0.1/").unwrap();
    let error = ServiceClient::new(&credentials, &[], &ServiceSettings::default()).unwrap_err();
    assert!(!error.to_string().contains("secret"), "{error}");
}

#[tokio::test]
async fn headers_of_one_request_are_sent_unless_they_are_about_framing() {
    let peer = Peer::start(|_| vec![Act::json("{}")]).await;
    let service = service(&peer.url("/"));
    let mut headers = service.headers().clone();
    headers.set(HeaderName::from_static("accept"), HeaderValue::from_static("application/json"));
    let extra = [
        (HeaderName::from_static("mcp-name"), HeaderValue::from_static("echo")),
        (HeaderName::from_static("content-length"), HeaderValue::from_static("99")),
        (HeaderName::from_static("transfer-encoding"), HeaderValue::from_static("chunked")),
    ];
    let request = ServiceRequest {
        method: Method::POST,
        headers: &headers,
        extra: &extra,
        body: Bytes::from_static(b"{}"),
        timeout: LONG,
    };
    service.send(&request).await.unwrap();
    let heard = &peer.heard()[0];
    assert_eq!(heard.header("mcp-name"), "echo");
    assert_eq!(heard.header("accept"), "application/json");
    assert_eq!(heard.header("content-length"), "2");
    assert_eq!(heard.header("transfer-encoding"), "");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_the_other_side_wants_it_all_share_one_connection() {
    let server = Hostile::start();
    let folder = tempfile::tempdir().unwrap();
    let authority = Authority::new();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let port = server.listen_http2(&authority, &["127.0.0.1"]);
    let settings = ServiceSettings { extra_ca: vec![file], ..ServiceSettings::default() };
    let url = Url::parse(&format!("https://127.0.0.1:{port}/")).unwrap();
    let service = ServiceClient::new(&url, &[], &settings).unwrap();
    let requests = (0..20).map(|_| {
        let service = service.clone();
        async move {
            let answer = send(&service, Method::GET, LONG).await.unwrap();
            assert_eq!(answer.status, 200);
            answer.body.read_all(1_000_000).await.unwrap();
        }
    });
    assert_eq!(requests.collect::<JoinSet<_>>().join_all().await.len(), 20);
    assert_eq!(server.connections(), 1);
}
