//! Connections: time, reuse, encryption, the end of them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use guard::net::{
    BodyAction, BodyFilter, HttpClient, HttpClientSettings, HttpRequest, RequestLimits,
};
use testkit::{Authority, Hostile, eventually};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

use super::{ScriptedResolver, direct, get, local, reaching, send, word};

#[tokio::test]
async fn a_request_ends_in_time_whatever_the_server_does() {
    let server = Hostile::start();
    let client = direct(&server);
    for path in ["/hang", "/slow_headers", "/slow_body", "/sse", "/flood_100"] {
        let total = Duration::from_millis(300);
        let limits = RequestLimits { total, ..RequestLimits::default() };
        let started = Instant::now();
        let request = HttpRequest::get(server.url(path)).within(limits);
        let result = send(&client, request).await;
        let expected = if path == "/flood_100" { "header_limit" } else { "timeout" };
        assert_eq!(word(&result), expected, "{path}");
        assert!(started.elapsed() < Duration::from_secs(2), "{path}");
    }
}

#[tokio::test]
async fn silence_is_not_waited_for_as_long_as_the_whole() {
    let server = Hostile::start();
    let settings = HttpClientSettings {
        idle_timeout: Duration::from_millis(100),
        connect_timeout: Duration::from_millis(100),
        ..reaching([local(server.port)])
    };
    for path in ["/hang", "/slow_body", "/slow_headers"] {
        assert_eq!(
            word(&get(&HttpClient::new(&settings), &server.url(path)).await),
            "timeout",
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_caller_who_goes_leaves_no_connection() {
    // In every state that a request can be in the connection ends with its caller.
    let piece = "10\r\n0123456789abcdef\r\n";
    let head = "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n";
    for sent in [
        "",
        "HTTP/1.1 103 X\r\n\r\n",
        "HTTP/1.1 200 X\r\nX-A: b\r\n",
        head,
        &[head, piece].concat(),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let client = HttpClient::new(&reaching([local(port)]));
        let stop = CancellationToken::new();
        let server = async {
            let (mut stream, client) = listener.accept().await.unwrap();
            let mut bytes = vec![0; 4_096];
            assert!(stream.read(&mut bytes).await.unwrap() > 0);
            stream.write_all(sent.as_bytes()).await.unwrap();
            let all_is_read = async || unread_bytes(client.port(), port) == Some(0);
            eventually("the client has read all", all_is_read).await;
            stop.cancel();
            // The end of it, or a reset: both say that nobody is there.
            let ended = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut bytes)).await;
            assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{sent:?}: {ended:?}");
        };
        let request = HttpRequest::get(format!("http://127.0.0.1:{port}/"));
        let (result, ()) = tokio::join!(client.send(request, &stop), server);
        assert_eq!(word(&result), "cancelled", "{sent:?}");
    }
}

/// The bytes between two ports of this machine that the first has not yet read, as the kernel counts
/// them; nothing once that connection is gone.
fn unread_bytes(reader: u16, writer: u16) -> Option<u64> {
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let queues = |own: u16, other: u16| {
        let ports = [own, other].map(|port| format!(":{port:04X}"));
        table.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().collect();
            let is_it = fields[1].ends_with(&ports[0]) && fields[2].ends_with(&ports[1]);
            let (sending, receiving) = fields[4].split_once(':')?;
            let number = |text| u64::from_str_radix(text, 16).unwrap();
            is_it.then(|| (number(sending), number(receiving)))
        })
    };
    Some(queues(reader, writer)?.1 + queues(writer, reader)?.0)
}

#[tokio::test]
async fn a_protocol_is_not_changed_on_the_word_of_a_server() {
    let switching = "HTTP/1.1 101 X\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhello";
    let upstream = testkit::Upstream::saying(testkit::Reply::Bytes(switching.into()));
    let client = HttpClient::new(&reaching([local(upstream.port())]));
    let result = get(&client, &upstream.url()).await;
    assert!(result.as_ref().map_or(true, |answer| answer.body.is_empty()), "{result:?}");
    assert!(!result.is_ok_and(|answer| answer.status.is_success()));
}

#[tokio::test]
async fn a_caller_who_goes_is_not_kept() {
    let server = Hostile::start();
    let stop = CancellationToken::new();
    let client = direct(&server);
    let request = client.send(HttpRequest::get(server.url("/hang")), &stop);
    let (result, ()) = tokio::join!(request, async {
        eventually("it connects", async || server.connections() > 0).await;
        stop.cancel();
    });
    assert_eq!(word(&result), "cancelled");
}

#[tokio::test]
async fn a_connection_that_the_server_closed_is_not_the_end() {
    let server = Hostile::start();
    let client = direct(&server);
    // Each redirect is answered without a word about closing, and the connection is closed then.
    for _ in 0..50 {
        assert_eq!(word(&get(&client, &server.url("/hops/5")).await), "ok");
    }
}

#[tokio::test]
async fn a_second_answer_is_nobodys() {
    let server = Hostile::start();
    let client = direct(&server);
    for _ in 0..30 {
        let response = get(&client, &server.url("/pipelined")).await.unwrap();
        assert!(!String::from_utf8_lossy(&response.body).contains("SECOND"));
    }
}

#[tokio::test]
async fn a_judge_decides_before_the_body_comes() {
    let server = Hostile::start();
    let client = direct(&server);
    for (choice, expected) in [(BodyAction::Skip, "ok"), (BodyAction::Refuse, "bad_type")] {
        let judge = BodyFilter::new(move |_, _| choice);
        let request = HttpRequest::get(server.url("/endless")).with_body_filter(judge);
        let result = send(&client, request).await;
        assert_eq!(word(&result), expected);
        assert!(result.is_err() || result.unwrap().body.is_empty());
    }
}

/// A client that trusts this authority and reaches these ports of the server.
fn trusting(authority: &Authority, ports: &[u16]) -> (HttpClient, tempfile::TempDir) {
    let (settings, folder) = trust(authority, ports);
    (HttpClient::new(&settings), folder)
}

fn trust(authority: &Authority, ports: &[u16]) -> (HttpClientSettings, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ca.pem");
    std::fs::write(&file, authority.pem()).unwrap();
    let hosts = ports.iter().flat_map(|port| [format!("localhost:{port}"), local(*port)]);
    let settings = HttpClientSettings {
        connect_timeout: Duration::from_secs(1),
        extra_ca: vec![file],
        ..reaching(hosts)
    };
    (settings, folder)
}

#[tokio::test]
async fn encryption_is_with_whom_it_says() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let good = server.listen_tls(&authority, &["localhost", "127.0.0.1"]);
    let misnamed = server.listen_tls(&authority, &["other.example"]);
    let stranger = server.listen_tls(&Authority::new(), &["localhost"]);
    let (client, _folder) = trusting(&authority, &[good, misnamed, stranger, server.port]);
    let at = |host: &str, port: u16, path: &str| format!("https://{host}:{port}{path}");
    for (host, port, expected) in [
        ("localhost", good, "ok"),
        ("localhost.", good, "ok"),
        ("127.0.0.1", good, "ok"),
        ("localhost", misnamed, "tls"),
        ("localhost", stranger, "tls"),
        ("localhost", server.port, "tls"),
    ] {
        let result = get(&client, &at(host, port, "/ok")).await;
        assert_eq!(word(&result), expected, "{host}:{port}");
    }
    let down = at("localhost", good, &format!("/redir?to={}", server.url("/ok")));
    assert_eq!(word(&get(&client, &down).await), "downgrade");
}

/// A file of the operator's that is of no use says so, and not that others cannot be trusted.
#[tokio::test]
async fn certificates_that_cannot_be_used_are_told() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let port = server.listen_tls(&authority, &["localhost"]);
    let (settings, folder) = trust(&authority, &[port]);
    std::fs::write(folder.path().join("empty.pem"), "no certificate\n").unwrap();
    for name in ["empty.pem", "missing.pem"] {
        let extra_ca = vec![folder.path().join(name)];
        let client = HttpClient::new(&HttpClientSettings { extra_ca, ..settings.clone() });
        let error = get(&client, &format!("https://localhost:{port}/ok")).await.unwrap_err();
        assert_eq!(error.reason.word(), "tls");
        assert!(error.message.contains("extra_ca"), "{error}");
        assert!(error.operator.unwrap().contains(name));
    }
}

#[tokio::test]
async fn http2_is_spoken_where_the_server_does() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let port = server.listen_http2(&authority, &["localhost"]);
    let (client, _folder) = trusting(&authority, &[port]);
    for _ in 0..3 {
        let response = get(&client, &format!("https://localhost:{port}/")).await.unwrap();
        assert_eq!(&response.body[..], b"HTTP/2.0");
    }
    assert_eq!(server.connections(), 1);
    let large = get(&client, &format!("https://localhost:{port}/headers")).await;
    assert!(large.is_err(), "{large:?}");
    let many = get(&client, &format!("https://localhost:{port}/many_headers")).await;
    assert_eq!(word(&many), "header_limit");
    assert!(many.unwrap_err().message.contains("65536 bytes or 200 lines"));
}

/// Passes bytes on in both directions until it is told to stop, and then keeps silent.
#[allow(clippy::disallowed_methods)] // To the server of the test.
async fn pass(mut from: TcpStream, to: u16, dead: CancellationToken) {
    let mut there = TcpStream::connect(("127.0.0.1", to)).await.unwrap();
    tokio::select! {
        _ = tokio::io::copy_bidirectional(&mut from, &mut there) => {}
        () = dead.cancelled() => std::future::pending().await,
    }
}

/// A shared connection that died without a word is found out, and the request made on another.
#[tokio::test]
async fn a_connection_that_died_in_silence_is_not_the_end() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let behind = server.listen_http2(&authority, &["localhost"]);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let dead = CancellationToken::new();
    let first = dead.clone();
    tokio::spawn(async move {
        let mut dies = first;
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(pass(stream, behind, std::mem::take(&mut dies)));
        }
    });
    let (settings, _folder) = trust(&authority, &[port]);
    let client =
        HttpClient::new(&HttpClientSettings { idle_timeout: Duration::from_secs(2), ..settings });
    let url = format!("https://localhost:{port}/");
    assert_eq!(word(&get(&client, &url).await), "ok");
    dead.cancel();
    let again = get(&client, &url).await;
    assert_eq!(word(&again), "ok", "{again:?}");
    assert_eq!(server.connections(), 2);
}

/// More hosts than connections may be kept for: all are fetched from, and few stay open.
#[tokio::test]
async fn not_every_connection_is_kept() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let open = Arc::new(AtomicUsize::new(0));
    let counter = open.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let open = counter.clone();
            tokio::spawn(async move {
                open.fetch_add(1, Ordering::SeqCst);
                let mut request = [0; 4_096];
                while let Ok(1..) = stream.read(&mut request).await {
                    let answer = b"HTTP/1.1 200 X\r\nContent-Length: 2\r\n\r\nok";
                    stream.write_all(answer).await.unwrap();
                }
                open.fetch_sub(1, Ordering::SeqCst);
            });
        }
    });
    let names: Vec<String> = (0..300).map(|number| format!("h{number}.test.example")).collect();
    let loopback: &[&[&str]] = &[&["127.0.0.1"]];
    let told: Vec<_> = names.iter().map(|name| (name.as_str(), loopback)).collect();
    let client = HttpClient::new(&HttpClientSettings {
        resolver: ScriptedResolver::new(&told),
        ..reaching(names.iter().map(|name| format!("{name}:{port}")))
    });
    for name in &names {
        assert_eq!(word(&get(&client, &format!("http://{name}:{port}/")).await), "ok");
    }
    let few_are_open = async || (200..=256).contains(&open.load(Ordering::SeqCst));
    eventually("all but the kept ones are closed", few_are_open).await;
}
