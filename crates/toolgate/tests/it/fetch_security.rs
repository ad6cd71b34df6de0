//! `fetch_url` against everything that a URL, a server and a page can do to it.
//!
//! The table is `tests/cases/fetch_security.json`; what the server does for each path is in
//! `testkit::Hostile`. Cases that need another answer from DNS are in the tests of `guard`.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{Answer, Authority, Hostile, World, forget_peak, peak_bytes, resident_bytes};

const CASES: &str = include_str!("../cases/fetch_security.json");

pub fn cases(classes: &[&str]) -> Vec<Value> {
    let table: Value = serde_json::from_str(CASES).unwrap();
    let all = table["cases"].as_array().unwrap().iter();
    all.filter(|case| classes.contains(&text(&case["class"]))).cloned().collect()
}

pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

async fn fetch(world: &World, url: &str) -> Answer {
    let body = json!({ "args": { "url": url } }).to_string();
    world.post("/v1/tools/fetch_url", &body).await
}

/// The word of the table for a reason of ours: it knows one for all that goes wrong on the wire.
pub fn word(reason: &str) -> &str {
    match reason {
        "connect" | "tls" | "header_limit" => "network",
        other => other,
    }
}

/// Compares an answer with what the table expects.
fn judge(case: &Value, answer: &Answer) {
    let (body, expected) = (answer.json(), &case["expect"]);
    let shown: String = answer.text().chars().take(300).collect();
    let context = format!("{} ({}): {shown}", case["id"], case["what"]);
    match text(&expected["verdict"]) {
        "allow" => assert_eq!(body["ok"], json!(true), "{context}"),
        "deny" | "error" => {
            assert_eq!(body["ok"], json!(false), "{context}");
            if let Some(code) = expected["code"].as_str() {
                assert_eq!(word(text(&body["details"]["reason"])), code, "{context}");
            }
        }
        _ => assert!(answer.status < 500 || answer.status == 502, "{context}"),
    }
    if let Some(message) = case["contract"]["web-fetch"].as_str() {
        assert_eq!(body["error"], json!(message), "{context}");
    }
    if let Some(part) = case["contains"].as_str() {
        assert!(text(&body["result"]["content"]).contains(part), "{context}");
    }
    if let Some(part) = case["not_contains"].as_str() {
        assert!(!answer.text().contains(part), "{context}");
    }
}

pub fn settings(server: &Hostile, more_ports: &[u16], more: &str) -> String {
    let mut hosts = format!("\"127.0.0.1:{}\"", server.port);
    for port in more_ports {
        hosts += &format!(", \"127.0.0.1:{port}\", \"localhost:{port}\"");
    }
    format!("tools: {{ web_fetch: {{ allow_private_hosts: [ {hosts} ]{more} }} }}\n")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_can_do() {
    let server = Hostile::start();
    let stranger = server.listen_tls(&Authority::new(), &["localhost", "127.0.0.1"]);
    // Patience is tried by others; here it only has to end.
    let more = ", connect_timeout_ms: 1000, total_timeout_ms: 3000";
    let world = crate::start(&settings(&server, &[stranger], more)).await;
    fetch(&world, &server.url("/ok")).await;
    for case in cases(&["wire", "type", "charset"]) {
        let url = match text(&case["path"]) {
            "/tls_selfsigned" => format!("https://127.0.0.1:{stranger}/ok"),
            "/tls_plain" => format!("https://127.0.0.1:{}/ok", server.port),
            path => server.url(path),
        };
        forget_peak(world.pid());
        let (before, started) = (resident_bytes(world.pid()), Instant::now());
        let answer = fetch(&world, &url).await;
        let mut case = case;
        if case["id"] == "charset-30" {
            // The page itself is returned here, not what a reader sees of it.
            case["contains"] = json!("&amp;lt;script&amp;gt;");
        }
        judge(&case, &answer);
        assert!(started.elapsed() < Duration::from_secs(10), "{}", case["id"]);
        let growth = peak_bytes(world.pid()).saturating_sub(before) >> 20;
        let allowed = case["max_rss_growth_mb"].as_u64().unwrap_or(64);
        assert!(growth <= allowed, "{}: {growth} MiB more", case["id"]);
    }
}

/// Pages are returned as they are, however hard they are to read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_can_be() {
    let server = Hostile::start();
    let world = crate::start(&settings(&server, &[], "")).await;
    for case in cases(&["document"]) {
        let answer = fetch(&world, &server.url(text(&case["path"]))).await;
        assert_eq!(answer.status, 200, "{}: {}", case["id"], answer.text());
    }
}

/// Everything that can be said without DNS is refused before anything is opened: the listener that
/// many of these URLs mean, had it been reached, counts nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_url_can_be() {
    let mut worlds: Vec<(Value, World)> = Vec::new();
    let classes = ["literal", "name", "parse", "scheme", "port", "allowlist"];
    let mut count = 0;
    for case in cases(&classes) {
        if case["expect"]["verdict"] != "deny" || !case["dns"].is_null() {
            continue;
        }
        let allowed = case["allowlist"].clone();
        if !worlds.iter().any(|(list, _)| *list == allowed) {
            let list = if allowed.is_null() { json!([]) } else { allowed.clone() };
            let settings = format!("tools: {{ web_fetch: {{ allowed_domains: {list} }} }}\n");
            worlds.push((allowed.clone(), crate::start(&settings).await));
        }
        let (_, world) = worlds.iter().find(|(list, _)| *list == allowed).unwrap();
        judge(&case, &fetch(world, text(&case["url"])).await);
        count += 1;
    }
    assert!(count > 80, "{count}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_forbidden_listener_is_never_connected_to() {
    let (server, forbidden) = (Hostile::start(), Hostile::start());
    let world = crate::start(&settings(&server, &[], "")).await;
    let port = forbidden.port;
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0.0.0.0",
        "localhost",
        "localhost.",
        "LOCALHOST",
        "foo.localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[64:ff9b::7f00:1]",
        "[2002:7f00:1::]",
    ] {
        let url = format!("http://{host}:{port}/leak");
        for url in [url.clone(), server.url(&format!("/redir?to={url}"))] {
            let answer = fetch(&world, &url).await;
            assert_eq!(answer.json()["error"], "Disallowed domain", "{url}: {}", answer.text());
        }
    }
    assert_eq!(forbidden.connections(), 0);
    assert!(server.connections() > 0);
}

/// The rows of seed 001 that need a server.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_texts_of_seed_001() {
    let server = Hostile::start();
    let world = crate::start(&settings(&server, &[], "")).await;
    let check = async |url: &str, status: u16, error: &str| {
        let answer = fetch(&world, url).await;
        assert_eq!(answer.status, status, "{url}: {}", answer.text());
        let got = answer.json();
        assert!(text(&got["error"]).starts_with(error), "{url}: {}", answer.text());
    };
    let too_large = "Content size exceeds limit of 5 MB.";
    check(&server.url("/size?n=5242881"), 413, too_large).await;
    check(&server.url("/chunked?n=5242881"), 413, too_large).await;
    for encoding in ["gzip", "deflate", "br", "zstd", "gzip,gzip"] {
        check(&server.url(&format!("/bomb?enc={encoding}")), 413, too_large).await;
    }
    check(&server.url("/type?ct=application/octet-stream"), 415, "Disallowed content type").await;
    check(&server.url("/status/404"), 502, "Request failed with status code: 404").await;
    check(&server.url("/redir"), 502, "Request failed with status code: 302").await;
    check(&server.url("/close"), 502, "Network error: ").await;
    check("https://no-such-name.invalid/", 502, "Network error: ").await;
    check("ftp://x/", 403, "Disallowed protocol").await;
    check(&server.url("/redir?to=file:///etc/passwd"), 403, "Disallowed protocol").await;
    check(&server.url("/redir?to=http://127.0.0.1/"), 403, "Disallowed domain").await;
    check(&server.url("/hops/6"), 502, "Network error: more than 5 redirects").await;
    let body = json!({ "args": { "url": server.url("/hops/5") } }).to_string();
    let answer = world.post("/v1/tools/web-fetch", &body).await;
    let got = answer.json();
    assert_eq!((&got["tool"], &got["ok"]), (&json!("web-fetch"), &json!(true)), "{got}");
    let result = &got["result"];
    assert_eq!((&result["ok"], &result["status"]), (&json!(true), &json!(200)));
    assert_eq!(result["content_type"], "text/html; charset=utf-8");
    assert_eq!(result["bytes"], json!(text(&result["content"]).len()));
    let listed = ", allowed_domains: [ 127.0.0.1 ]";
    let listed = crate::start(&settings(&server, &[], listed)).await;
    let away = fetch(&listed, &server.url("/redir?to=https://evil.test/")).await.json();
    assert_eq!(
        (&away["error"], &away["details"]["reason"]),
        (&json!("Disallowed domain"), &json!("domain"))
    );
    assert_eq!(away["details"]["redirects"], 1);
    let impatient = crate::start(&settings(&server, &[], ", total_timeout_ms: 500")).await;
    let late = fetch(&impatient, &server.url("/hang")).await;
    assert_eq!(late.json()["error"], "Network error: not done within 0.5 s", "{}", late.text());
    let repeated = fetch(&world, &server.url("/hdr_repeat")).await.json();
    assert_eq!(repeated["result"]["headers"]["x-r"], "one, two");
    let latin = fetch(&world, &server.url("/hdr_latin1")).await.json();
    assert_eq!(latin["result"]["headers"]["x-l"], "café");
}

/// Two sites that trust each other's authority: one that the operator trusts too is fetched from.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tls_is_checked_against_the_authorities_of_the_operator() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let good = server.listen_tls(&authority, &["localhost"]);
    let misnamed = server.listen_tls(&authority, &["other.example"]);
    let more = ", extra_ca: [ ca.pem ]";
    let mut world = World::new(crate::BINARY, &settings(&server, &[good, misnamed], more));
    world.write("ca.pem", &authority.pem());
    world.run().await;
    let fetched = fetch(&world, &format!("https://localhost:{good}/ok")).await;
    assert_eq!(fetched.status, 200, "{}", fetched.text());
    let refused = fetch(&world, &format!("https://localhost:{misnamed}/ok")).await.json();
    assert_eq!(refused["details"]["reason"], "tls", "{refused}");
    let downgraded = format!("https://localhost:{good}/redir?to={}", server.url("/ok"));
    let downgraded = fetch(&world, &downgraded).await.json();
    assert_eq!(downgraded["error"], "Disallowed protocol", "{downgraded}");
    assert_eq!(downgraded["details"]["reason"], "downgrade");
}

/// People put keys into URLs. What is written down for the operator has none of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_secret_of_a_url_is_written_down() {
    const SECRET: &str = "s3cr3t";
    let server = Hostile::start();
    let mut world = crate::start(&settings(&server, &[], ", total_timeout_ms: 500")).await;
    for url in [
        format!("https://ada:{SECRET}@example.com/{SECRET}"),
        format!("http://ada:{SECRET}@exa mple.com/"),
        format!("ftp://{SECRET}@example.com/"),
        format!("http://127.0.0.1/{SECRET}?key={SECRET}"),
        format!("http://no-such-name.invalid/{SECRET}?key={SECRET}"),
        server.url(&format!("/close?key={SECRET}")),
        server.url(&format!("/hang?key={SECRET}")),
        server.url(&format!("/redir?to=http://ada:{SECRET}@example.com/&key={SECRET}")),
        server.url(&format!("/status/404?key={SECRET}")),
        server.url(&format!("/size?n=9999999&key={SECRET}")),
        server.url(&format!("/sniff?body=pdf&ct=text/html&key={SECRET}")),
    ] {
        for tool in ["fetch_url", "web.fetch"] {
            let body = json!({ "args": { "url": url } }).to_string();
            let answer = world.post(&format!("/v1/tools/{tool}"), &body).await;
            assert_eq!(answer.json()["ok"], json!(false), "{url}: {}", answer.text());
            assert!(!answer.text().contains(SECRET), "{url}: {}", answer.text());
        }
    }
    world.stop().await;
    let journal = world.read("data/journal.jsonl");
    assert!(journal.lines().count() >= 20, "{journal}");
    for (what, written) in [("log", world.stderr()), ("journal", journal)] {
        let line = written.lines().find(|line| line.contains(SECRET));
        assert_eq!(line, None, "the {what} has it");
    }
}
