//! `web.fetch` by the rows of seed 000, and against everything that a server and a page can do.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use testkit::{
    Answer, Hostile, Reply, Upstream, World, forget_peak, peak_bytes, resident_bytes, threads,
};
use tokio::task::JoinSet;

use crate::fetch_security::{cases, settings, text, word};

async fn read(world: &World, arguments: Value) -> Answer {
    world.call("web.fetch", &arguments).await
}

async fn open(server: &Hostile, more: &str) -> World {
    crate::start(&settings(server, &[], more)).await
}

/// A server that may fetch from this port.
async fn open_to(port: u16) -> World {
    let hosts = format!("allow_private_hosts: [ \"127.0.0.1:{port}\" ]");
    crate::start(&format!("tools: {{ web_fetch: {{ {hosts} }} }}\n")).await
}

/// The code, the status and the finer reason of a failure.
fn failure(answer: &Answer) -> (String, u16, String) {
    let body = answer.json();
    assert_eq!(body["ok"], json!(false), "{}", answer.text());
    (text(&body["code"]).into(), answer.status, text(&body["details"]["reason"]).into())
}

fn result(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["result"].clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_page_can_be() {
    let server = Hostile::start();
    let world = open(&server, ", connect_timeout_ms: 1000, total_timeout_ms: 5000").await;
    for case in cases(&["document", "charset", "wire", "type"]) {
        // The schema wants a URL without blanks.
        let path = &text(&case["path"]).replace(' ', "%20");
        if path.starts_with("/tls") {
            continue;
        }
        let (began, answer) =
            (Instant::now(), read(&world, json!({ "url": server.url(path) })).await);
        let (body, expected) = (answer.json(), &case["expect"]);
        let shown: String = answer.text().chars().take(300).collect();
        let context = format!("{} ({}): {shown}", case["id"], case["what"]);
        let allowed = text(&expected["verdict"]) == "allow";
        if allowed {
            assert_eq!(body["ok"], json!(true), "{context}");
        } else if text(&expected["verdict"]) == "error" {
            assert_eq!(body["ok"], json!(false), "{context}");
            let wanted = text(&expected["code"]);
            let (code, status) = match wanted {
                "parse" => ("parse_failed", 422),
                "timeout" => ("timeout", 504),
                _ => ("fetch_failed", 502),
            };
            assert_eq!((text(&body["code"]), answer.status), (code, status), "{context}");
            if code == "fetch_failed" && !wanted.is_empty() {
                assert_eq!(word(text(&body["details"]["reason"])), wanted, "{context}");
            }
        }
        if let (true, Some(part)) = (allowed, case["contains"].as_str()) {
            assert!(text(&body["result"]["clean_text"]).contains(part), "{context}");
        }
        if let Some(part) = case["not_contains"].as_str() {
            assert!(!answer.text().contains(part), "{context}");
        }
        let seconds = case["max_seconds"].as_u64().unwrap_or(20) + 10;
        assert!(began.elapsed() < Duration::from_secs(seconds), "{context}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rows_of_seed_000() {
    let server = Hostile::start();
    let world = open(&server, "").await;
    let refused = async |url: &str, reason: &str| {
        let answer = read(&world, json!({ "url": url })).await;
        let expected = ("fetch_failed".to_owned(), 502, reason.to_owned());
        assert_eq!(failure(&answer), expected, "{url}: {}", answer.text());
    };
    // H10: the schema says `format: uri`.
    let answer = read(&world, json!({ "url": "notaurl" })).await;
    assert_eq!((answer.status, answer.json()["code"].clone()), (400, json!("invalid_input")));
    // H11, H12
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f.1",
        "localhost",
        "[::1]",
        "169.254.169.254",
        "[::ffff:127.0.0.1]",
        "[64:ff9b::7f00:1]",
        "10.0.0.1",
        "100.64.0.1",
        "198.18.0.1",
        "0.0.0.0",
    ] {
        refused(&format!("http://{host}/"), "private_addr").await;
    }
    refused("http://user:pw@x.com/", "credentials").await;
    refused("ftp://example.com/", "bad_scheme").await;
    // H16
    for kind in ["nonsense", "application/pdf", "image/png"] {
        refused(&server.url(&format!("/type?ct={kind}")), "bad_type").await;
    }
    // H19, H20
    refused(&server.url("/redir?to=http://127.0.0.1/private"), "private_addr").await;
    refused(&server.url("/hops/6"), "redirect_limit").await;
    refused(&server.url("/status/404"), "http_status").await;
    // H17
    let small = open(&server, ", max_bytes: 4").await;
    for path in ["/size?n=10", "/chunked?n=10"] {
        let answer = read(&small, json!({ "url": server.url(path) })).await;
        assert_eq!(failure(&answer).2, "too_large", "{}", answer.text());
    }
    // H18: the fragment is not a part of where it is.
    let page =
        result(&read(&world, json!({ "url": format!("{}#frag", server.url("/hops/1")) })).await);
    assert!(!text(&page["final_url"]).contains('#'), "{page}");
    assert_eq!(page["title"], "Hello page");
    assert!(page.get("raw_html").is_none() && page.get("next_start").is_none(), "{page}");
    // H22
    let answer = read(&world, json!({ "url": server.url("/doc/images") })).await;
    assert_eq!((failure(&answer).0, answer.status), ("parse_failed".into(), 422));
    // H23
    let impatient = open(&server, ", total_timeout_ms: 500").await;
    let answer = read(&impatient, json!({ "url": server.url("/hang") })).await;
    assert_eq!((failure(&answer).0, answer.status), ("timeout".into(), 504));
    // H24
    let short = open(&server, ", max_text_chars: 5, max_raw_html_chars: 10").await;
    let wanted = json!({ "url": server.url("/ok"), "include_raw_html": true });
    let page = result(&read(&short, wanted).await);
    assert_eq!(page["clean_text"], "Hello");
    assert_eq!(page["raw_html"], "<!doctype ");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_long_text_comes_in_parts() {
    let server = Hostile::start();
    let world = open(&server, "").await;
    let url = server.url("/ok");
    let whole = result(&read(&world, json!({ "url": url })).await);
    let (mut start, mut text_of_parts) = (0, String::new());
    loop {
        let part = json!({ "url": url, "start": start, "max_chars": 100 });
        let part = result(&read(&world, part).await);
        text_of_parts.push_str(text(&part["clean_text"]));
        match part["next_start"].as_u64() {
            Some(next) => start = next,
            None => break,
        }
    }
    assert_eq!(text_of_parts, text(&whole["clean_text"]));
    let beyond = read(&world, json!({ "url": url, "start": 1_000_000 })).await;
    assert_eq!(failure(&beyond).0, "parse_failed");
    assert!(beyond.text().contains("the text ends before `start`"), "{}", beyond.text());
    // A part may be a blank, and a number may be written in another way.
    for start in [json!(5), json!(5.0)] {
        let part =
            result(&read(&world, json!({ "url": url, "start": start, "max_chars": 1.0 })).await);
        assert_eq!((&part["clean_text"], &part["next_start"]), (&json!(" "), &json!(6)), "{start}");
    }
    // Who takes few bytes gets as much as fits into them, and nothing is quarantined.
    for (max_output_bytes, status) in [(400, "ok"), (100, "error")] {
        let limited = json!({
            "tool": "web.fetch", "input": { "url": url },
            "context": { "limits": { "max_output_bytes": max_output_bytes } },
        });
        let answer = world.execute(&limited).await.json();
        assert_eq!(answer["status"], status, "{answer}");
        assert_ne!(answer["metrics"]["error_code"], "invalid_output", "{answer}");
        let next = answer["output"]["next_start"].as_u64();
        assert!(status == "error" || next.is_some_and(|next| next > 100), "{answer}");
    }
    // What is cut says so, asked for or not.
    let short = open(&server, ", max_text_chars: 5").await;
    let cut = result(&read(&short, json!({ "url": url })).await);
    assert_eq!((&cut["clean_text"], &cut["next_start"]), (&json!("Hello"), &json!(5)));
    for bad in [json!({ "start": -1 }), json!({ "max_chars": 0 }), json!({ "format": "pdf" })] {
        let mut arguments = json!({ "url": url });
        arguments.as_object_mut().unwrap().extend(bad.as_object().unwrap().clone());
        assert_eq!(read(&world, arguments.clone()).await.status, 400, "{arguments}");
    }
    let markdown = result(&read(&world, json!({ "url": url, "format": "markdown" })).await);
    assert!(text(&markdown["clean_text"]).starts_with("# Hello page\n\n"), "{markdown}");
}

/// Whoever does not say what it sends may still have sent a page, or nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_without_a_type() {
    let server = Hostile::start();
    let world = open(&server, "").await;
    let page = result(&read(&world, json!({ "url": server.url("/type?ct=") })).await);
    assert_eq!(page["title"], "Hello page", "{page}");
    let binary = read(&world, json!({ "url": server.url("/sniff?ct=&body=pdf") })).await;
    assert_eq!(failure(&binary).2, "bad_type");
    let nothing = Upstream::saying(Reply::Bytes(b"HTTP/1.1 204 X\r\n\r\n".to_vec()));
    let world = open_to(nothing.port()).await;
    let empty = read(&world, json!({ "url": nothing.url() })).await;
    assert_eq!((failure(&empty).0, empty.status), ("parse_failed".into(), 422));
}

/// What is deep becomes very long when every line of it is indented: not here.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn json_does_not_grow_without_bounds() {
    let deep = format!("{}{}0{}", "[".repeat(120), "1,".repeat(2_500_000), "]".repeat(120));
    let upstream = Upstream::saying(Reply::json(200, &deep));
    let world = open_to(upstream.port()).await;
    forget_peak(world.pid());
    let before = resident_bytes(world.pid());
    let page = result(&read(&world, json!({ "url": upstream.url(), "max_chars": 100 })).await);
    assert!(text(&page["clean_text"]).starts_with("[[[[["), "{page}");
    let growth = peak_bytes(world.pid()).saturating_sub(before) >> 20;
    assert!(growth <= 100, "{growth} MiB more");
}

/// A page takes many times its size while it is read: however many callers there are, few are read
/// at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn few_pages_are_read_at_once() {
    const CALLS: u64 = 48;
    let page = "<p>A paragraph with <b>some</b> words in it, again and again.</p>".repeat(1_000);
    let upstream = Upstream::saying(Reply::new(200, "text/html", page));
    let world = Arc::new(open_to(upstream.port()).await);
    let arguments = json!({ "url": upstream.url(), "max_chars": 10 });
    result(&read(&world, arguments.clone()).await);
    let before = threads(world.pid());
    let mut calls = JoinSet::new();
    for _ in 0..CALLS {
        let (world, arguments) = (world.clone(), arguments.clone());
        calls.spawn(async move { result(&read(&world, arguments).await) });
    }
    let mut most = before;
    while !calls.is_empty() {
        // Looked at whenever a call ends, and in between.
        let ended = tokio::time::timeout(Duration::from_millis(10), calls.join_next()).await;
        if let Ok(Some(ended)) = ended {
            ended.unwrap();
        }
        most = most.max(threads(world.pid()));
    }
    // Beside the readers there are those who write things down.
    let cores = std::thread::available_parallelism().unwrap().get() as u64;
    assert!(most <= before + cores + CALLS / 3, "{before} threads became {most}");
}
