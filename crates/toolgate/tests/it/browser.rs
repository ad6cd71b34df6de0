//! What a person with a browser finds.

use testkit::{Answer, World, mcp::frame};

const TOKEN: &str = "a-token-of-ada-0123456789";
const PAGE: (&str, &str) = ("accept", "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");

async fn with_tokens() -> World {
    let settings = "server: { tokens: [ { name: ada, token_env: ADA }, { name: bob, token_env: BOB } ] }\n\
        tools: { enable: [ autosage ] }\n";
    let world = World::new(crate::BINARY, settings).with_env("ADA", TOKEN);
    world.with_env("BOB", "a-token-of-bob-0123456789").started().await
}

/// Sends a form.
async fn submit(world: &World, form: &str, headers: &[(&str, &str)]) -> Answer {
    let headers: Vec<_> = headers.iter().copied().chain([FORM, PAGE]).collect();
    let mut raw = world.sent(frame("POST", "/docs/session", &headers, form)).await;
    raw.answer().await
}

/// The cookie that a browser sends after it has shown its token.
async fn session(world: &World) -> String {
    let answer = submit(world, &format!("token={TOKEN}"), &[]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "../docs"));
    let cookie = answer.header("set-cookie").to_owned();
    // Without a path it is for the folder of the form, `/docs`.
    assert!(cookie.ends_with("; Max-Age=43200; HttpOnly; SameSite=Strict"), "{cookie}");
    cookie.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn the_root_leads_to_the_documents() {
    let world = crate::start("tools: { enable: [ autosage ] }\n").await;
    let answer = world.raw("GET", "/", &[PAGE]).await;
    assert_eq!((answer.status, answer.header("location")), (303, "docs"));
    assert!(world.get("/").await.text().contains("<h1>Toolgate"));
}

#[tokio::test]
async fn a_browser_without_a_token_is_asked_for_one() {
    let world = with_tokens().await;
    for (path, location) in [
        ("/", Some("docs")),
        ("/docs", None),
        ("/openapi.json", Some("docs/openapi.json")),
        ("/openapi.yaml", Some("docs/openapi.yaml")),
        ("/docs/openapi.json", Some("../docs")),
        ("/docs/no-such-page", Some("../docs")),
    ] {
        let answer = world.raw("GET", path, &[PAGE]).await;
        assert_eq!(answer.header("cache-control"), "no-store", "{path}");
        let Some(location) = location else {
            assert_eq!(answer.status, 401);
            assert_eq!(answer.header("www-authenticate"), "Bearer");
            assert!(!answer.header("content-security-policy").contains("unsafe"));
            let page = answer.text();
            assert!(page.contains("<form method=\"post\" action=\"docs/session\">"), "{page}");
            assert!(!page.contains("<script") && !page.contains("style="), "{page}");
            continue;
        };
        assert_eq!((answer.status, answer.header("location")), (303, location), "{path}");
    }
    assert_eq!(world.raw("GET", "/docs/page.css", &[]).await.status, 200);
    // Programs, other routes, and whoever shows a wrong token get what they got before.
    for (path, header) in [
        ("/", ("accept", "*/*")),
        ("/docs", ("accept", "application/json")),
        ("/docs/page.js", ("accept", "*/*")),
        ("/v1/tools", PAGE),
        ("/metrics", PAGE),
        ("/mcp", PAGE),
        ("/docs", ("authorization", "Bearer wrong")),
        ("/", ("authorization", "Bearer wrong")),
    ] {
        let headers = [header, ("accept", "text/html")];
        let headers = if header.0 == "accept" { &headers[..1] } else { &headers };
        let answer = world.raw("GET", path, headers).await;
        assert_eq!(answer.status, 401, "{path} {header:?}");
        assert_eq!(answer.header("content-type"), "application/json", "{path} {header:?}");
    }
}

#[tokio::test]
async fn a_session_reads_the_documents_and_does_nothing_else() {
    let world = with_tokens().await;
    let cookie = session(&world).await;
    let cookie = ("cookie", &*cookie);
    for path in ["/docs", "/docs/page.js", "/docs/openapi.json", "/docs/openapi.yaml"] {
        assert_eq!(world.raw("GET", path, &[cookie]).await.status, 200, "{path}");
    }
    let page = world.raw("GET", "/docs", &[cookie]).await;
    assert_eq!(page.header("cross-origin-resource-policy"), "same-origin");
    let call = r#"{"args":{"message":"hi"}}"#;
    for (method, path, body) in [
        ("GET", "/v1/tools", ""),
        ("GET", "/v1/jobs", ""),
        ("GET", "/v1/approvals", ""),
        ("GET", "/metrics", ""),
        ("POST", "/v1/tools/echo_json", call),
        ("POST", "/mcp", "{}"),
        ("POST", "/docs", ""),
        ("DELETE", "/docs/page.css", ""),
    ] {
        let headers = [cookie, ("content-type", "application/json")];
        let mut raw = world.sent(frame(method, path, &headers, body)).await;
        assert_eq!(raw.answer().await.status, 401, "{method} {path}");
    }
    // It ends with its server's key, and is not another server's.
    let other = with_tokens().await;
    assert_eq!(other.raw("GET", "/docs", &[cookie]).await.status, 401);
    // The token is nowhere: neither in the journal nor in the log.
    assert!(!world.read("data/journal.jsonl").contains(TOKEN) && !world.stderr().contains(TOKEN));
}

#[tokio::test]
async fn a_session_is_given_to_who_shows_the_token_of_a_caller_here() {
    let world = with_tokens().await;
    let operator = world.read("data/operator.token").trim().to_owned();
    for (form, words) in [
        (String::new(), "Enter a token."),
        ("token=".into(), "Enter a token."),
        ("token=%20+".into(), "Enter a token."),
        ("token=%ff".into(), "Enter a token."),
        ("tokens=1&other".into(), "Enter a token."),
        ("token=wrong".into(), "No caller has this token."),
        (format!("token={operator}"), "which does not belong in a browser"),
    ] {
        let answer = submit(&world, &form, &[]).await;
        assert_eq!(answer.status, 401, "{form}");
        assert!(!answer.headers.contains_key("set-cookie"), "{form}");
        // It is shown one folder further down.
        let page = answer.text();
        assert!(page.contains(words) && page.contains("action=\"session\""), "{form}: {page}");
        assert!(!page.contains(&operator), "{page}");
    }
    let port = world.port();
    let form = format!("token={TOKEN}");
    for (name, value, status) in [
        ("origin", "https://evil.example", 403),
        ("origin", "http://127.0.0.1:1", 403),
        ("origin", "null", 403),
        ("origin", "http://127.0.0.1", 303),
        ("authorization", "Bearer wrong", 401),
    ] {
        let answer = submit(&world, &form, &[(name, value)]).await;
        assert_eq!(answer.status, status, "{name}: {value}");
        assert_eq!(answer.headers.contains_key("set-cookie"), status == 303, "{name}: {value}");
    }
    let named = format!(
        "POST /docs/session HTTP/1.1\r\nhost: evil.example:{port}\r\ncontent-length: 0\r\n\r\n"
    );
    assert_eq!(world.sent(named).await.answer().await.status, 403);
    let large = submit(&world, &format!("token={}", "x".repeat(10_000)), &[]).await;
    assert_eq!(large.status, 413);
    let encoded = submit(&world, &format!("a=b&token=+{}", TOKEN.replace('-', "%2D")), &[]).await;
    assert_eq!(encoded.status, 303);
}
