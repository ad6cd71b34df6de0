//! What the services are asked, and by which settings.

use serde_json::{Value, json};
use testkit::{Authority, Hostile, Reply, Upstream, World};

use super::{KEY, asking, asking_at, asking_with, failure, search, settings, some_results};
use crate::BINARY;

#[tokio::test]
async fn litellm_is_asked_by_the_path_of_its_tool() {
    let upstream = Upstream::saying(some_results(30));
    let world = asking(&upstream).await;
    let answer = search(&world, &json!({ "query": " two words ", "max_results": 3 })).await;
    assert_eq!(answer.json()["result"]["results"].as_array().unwrap().len(), 3);
    let answer = search(&world, &json!({ "query": "x" })).await;
    assert_eq!(answer.json()["result"]["results"].as_array().unwrap().len(), 10);
    let asked = upstream.requests();
    assert_eq!((asked[0].method.as_str(), asked[0].path.as_str()), ("POST", "/v1/search/web"));
    let body: Value = serde_json::from_str(&asked[0].body).unwrap();
    assert_eq!(body, json!({ "query": "two words", "max_results": 3 }));
    assert_eq!(asked[0].header("authorization"), format!("Bearer {KEY}"));
    assert_eq!(asked[0].header("content-type"), "application/json");
    assert!(asked[0].header("user-agent").starts_with("Toolgate/"), "{asked:?}");
}

#[tokio::test]
async fn the_other_forms_of_the_path() {
    for (base, more, path, name) in [
        ("", ", search_tool: web, search_tool_in: body", "/v1/search", json!("web")),
        ("", "", "/v1/search", Value::Null),
        ("/", ", search_tool: web", "/v1/search/web", Value::Null),
        ("/v1", ", search_tool: web", "/v1/search/web", Value::Null),
        (" ", ", search_tool: web", "/v1/search/web", Value::Null),
        ("/proxy/v1/", ", search_tool: web", "/proxy/v1/search/web", Value::Null),
        ("", ", search_tool: \"a/b ?#%\"", "/v1/search/a%2Fb%20%3F%23%25", Value::Null),
    ] {
        let upstream = Upstream::saying(some_results(1));
        let base_url = format!("{}{base}", upstream.url());
        let world = asking_at(&base_url, "litellm", more).await;
        let answer = search(&world, &json!({ "query": "x", "max_results": 1 })).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        let asked = upstream.requests();
        assert_eq!(asked[0].path, path, "{base}{more}");
        let body: Value = serde_json::from_str(&asked[0].body).unwrap();
        assert_eq!(body["search_tool_name"], name, "{base}{more}");
    }
}

#[tokio::test]
async fn searxng_is_asked_for_json() {
    let body = json!({
        "query": "x", "number_of_results": 0, "answers": [], "unresponsive_engines": [],
        "results": [{
            "url": "https://example.org/a", "title": "A <b>title</b>", "content": "Some\ntext",
            "publishedDate": "2024-05-01T10:00:00", "engine": "duckduckgo", "score": 1.0,
        }],
    });
    let upstream = Upstream::saying(Reply::json(200, body));
    let world = asking_with(&upstream, "searxng", "").await;
    let answer = search(&world, &json!({ "query": "a&b=c ü#?" })).await;
    assert_eq!(
        answer.json()["result"],
        json!({ "results": [{
            "title": "A title", "url": "https://example.org/a", "snippet": "Some text",
            "date": "2024-05-01",
        }] })
    );
    let asked = &upstream.requests()[0];
    assert_eq!(asked.method, "GET");
    assert_eq!(asked.path, "/search?q=a%26b%3Dc+%C3%BC%23%3F&format=json");
    // Where JSON is off.
    upstream.say(Reply::new(403, "text/html", "<html>Forbidden</html>"));
    let (status, code, message, details) = failure(&search(&world, &json!({ "query": "x" })).await);
    assert_eq!((status, code.as_str()), (502, "upstream_failure"));
    assert_eq!(message, "HTTPStatusError status=403");
    assert_eq!(details, json!({ "reason": "http_status", "status": 403 }));
    // As many as the query may have characters, of the widest kind.
    upstream.say(some_results(1));
    let answer = search(&world, &json!({ "query": "😀".repeat(1_000) })).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
}

/// Whoever writes `http` for a service that wants `https`, or leaves out a part, is told.
#[tokio::test]
async fn a_service_that_leads_elsewhere_is_not_followed() {
    for to in
        ["https://127.0.0.1/search", "https://search.example/", "/other", "http://a:b@x.example/"]
    {
        let head = format!("HTTP/1.1 301 X\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
        let upstream = Upstream::saying(Reply::Bytes(head.into_bytes()));
        // Blanks around the address are no part of it.
        let base_url = format!(" {} ", upstream.url());
        let world = asking_at(&base_url, "searxng", "").await;
        let (_, code, message, _) = failure(&search(&world, &json!({ "query": "x" })).await);
        assert_eq!(code, "upstream_failure");
        assert!(message.contains("leads elsewhere"), "{to}: {message}");
        world
            .cli("doctor")
            .stdout_has("leads elsewhere")
            .stdout_has("set `tools.search.base_url` to where it leads");
        assert_eq!(upstream.requests().len(), 2, "{to}");
    }
}

#[tokio::test]
async fn without_a_service_the_answer_says_how_to_get_one() {
    let world = World::new(BINARY, "").started().await;
    let (status, code, message, details) = failure(&search(&world, &json!({ "query": "x" })).await);
    assert_eq!((status, code.as_str()), (502, "upstream_failure"));
    for part in ["no search service is configured", "`tools.search.provider`", "litellm", "searxng"]
    {
        assert!(message.contains(part), "{message}");
    }
    assert_eq!(details, json!({ "reason": "not_configured" }));
}

#[tokio::test]
async fn without_its_key_nobody_is_asked() {
    let upstream = Upstream::saying(some_results(1));
    for key in [None, Some(""), Some("  "), Some("a\nb"), Some("schl\u{1}ssel")] {
        let mut world = World::new(BINARY, &settings("litellm", &upstream.url(), ""));
        if let Some(key) = key {
            world = world.with_env("SEARCH_KEY", key);
        }
        world.run().await;
        let (_, code, message, _) = failure(&search(&world, &json!({ "query": "x" })).await);
        assert_eq!(code, "upstream_failure");
        assert!(message.contains("`SEARCH_KEY` (tools.search.api_key_env)"), "{message}");
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn the_key_is_nowhere_but_in_the_request() {
    // A proxy that does not know a key likes to repeat it.
    let upstream = Upstream::saying(Reply::json(401, json!({ "error": format!("key {KEY}") })));
    let mut world = asking(&upstream).await;
    let answer = world.execute(&json!({ "tool": "search.web", "input": { "query": "x" } })).await;
    assert!(!answer.text().contains(KEY), "{}", answer.text());
    assert_eq!(answer.json()["metrics"]["error_code"], "upstream_failure");
    for command in ["doctor --json", "config show"] {
        world.cli(command).stdout_lacks(KEY).stderr_lacks(KEY);
    }
    world.stop().await;
    assert!(!world.stderr().contains(KEY), "{}", world.stderr());
    let mut files = 0;
    for entry in std::fs::read_dir(world.folder().join("data")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
            assert!(!text.contains(KEY), "{}", path.display());
            files += 1;
        }
    }
    assert!(files > 2);
    assert!(upstream.requests().iter().all(|asked| asked.header("authorization").contains(KEY)));
}

#[tokio::test]
async fn limits_of_a_call_hold() {
    let upstream = Upstream::saying(some_results(25));
    let world = asking(&upstream).await;
    let long = json!({ "query": "x".repeat(1_001) });
    let (status, code, message, _) = failure(&search(&world, &long).await);
    assert_eq!((status, code.as_str()), (400, "invalid_query"));
    assert!(message.contains("1000 characters (tools.search.max_query_characters)"), "{message}");
    // Fewer results are an answer too.
    let few = json!({
        "tool": "search.web", "input": { "query": "x", "max_results": 25 },
        "context": { "limits": { "max_output_bytes": 300 } },
    });
    let answer = world.execute(&few).await.json();
    assert_eq!(answer["status"], "ok", "{answer}");
    assert_eq!(answer["output"]["results"].as_array().unwrap().len(), 3, "{answer}");
    // The limit of the call is the shorter one here.
    upstream.say(Reply::Stall(Vec::new()));
    let hasty = json!({
        "tool": "search.web", "input": { "query": "x" },
        "context": { "limits": { "timeout_ms": 200 } },
    });
    let answer = world.execute(&hasty).await.json();
    assert_eq!(answer["metrics"]["error_code"], "timeout", "{answer}");
}

#[tokio::test]
async fn a_service_may_close_its_connections_at_any_time() {
    let body = r#"{"results":[]}"#;
    let reply = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let upstream = Upstream::saying(Reply::Bytes(reply.into_bytes()));
    let world = asking(&upstream).await;
    for number in 0..50 {
        let answer = search(&world, &json!({ "query": "x" })).await;
        assert_eq!(answer.status, 200, "{number}: {}", answer.text());
    }
    assert_eq!(upstream.requests().len(), 50);
}

#[tokio::test]
async fn a_service_may_have_an_authority_of_its_own() {
    let (server, authority) = (Hostile::start(), Authority::new());
    let port = server.listen_tls(&authority, &["localhost"]);
    for (more, reason) in [("", "tls"), (", extra_ca: [ ca.pem ]", "http_status")] {
        let base_url = format!("https://localhost:{port}");
        let mut world =
            World::new(BINARY, &settings("litellm", &base_url, more)).with_env("SEARCH_KEY", KEY);
        world.write("ca.pem", &authority.pem());
        world.run().await;
        // It has no such path, which it can only say to those who trust it.
        let (_, code, message, details) = failure(&search(&world, &json!({ "query": "x" })).await);
        assert_eq!(
            (code.as_str(), &details["reason"]),
            ("upstream_failure", &json!(reason)),
            "{message}"
        );
    }
}
