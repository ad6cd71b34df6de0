//! The page from outside: what it says, and that nothing in a contract acts on it.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use contract::Limits;
use gate::{BoxFuture, Catalogue, Provider, RunningCall, Tool, ToolError, ToolOutput};
use serde_json::json;

use super::{file, page};
use crate::rest::path::PathName;

/// Nothing on the page calls a tool while it is made.
struct NeverCalled;

impl Provider for NeverCalled {
    fn run<'a>(&'a self, _: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        unreachable!("a page was made")
    }
}

fn rendered(contracts: &[&str], bearer: bool) -> String {
    let tools = contracts.iter().map(|text| {
        let contract = contract::read::trusted(text).unwrap();
        Tool::new(contract, Arc::new(NeverCalled), &Limits::default()).unwrap()
    });
    let facts = page::PageFacts {
        version: "1.2.3",
        bearer,
        ceilings: &Limits::default_ceilings(),
        openapi: &json!({ "paths": { "/healthz": { "get": { "summary": "How it is" } } } }),
    };
    page::render(&Catalogue::new(tools), &facts)
}

const SEARCH: &str = r#"
name: search.web
title: Web search
description: "Searches the web.\n\nUse `a|b` for either."
version: 1.2.0
stability: experimental
toolset: web
toolset_default: true
effects: write
approval: required
input_schema:
  type: object
  required: [query]
  properties:
    query: { type: string, minLength: 1, description: The words. }
    sites: { type: array, items: { type: object, properties: { host: { type: string } } } }
output_schema: { type: object, properties: { found: { type: integer } } }
errors: [{ code: search_failed, http_status: 502, description: The service failed. }]
limits: { timeout_ms: 10000 }
examples:
  - { title: No words, input: { query: "" }, error: invalid_input }
  - { title: One word, input: { query: "it's" }, output: { found: 1 } }
  - { title: A bad answer, input: { query: x }, bad_output: { found: never-shown } }
"#;

#[test]
fn a_tool_is_told_whole() {
    let page = rendered(&[SEARCH], false);
    for expected in [
        "<h1>Toolgate <span class=\"version\">1.2.3</span></h1>",
        "1 tool in 1 toolset",
        "<a href=\"openapi.json\">/openapi.json</a>",
        "<article class=\"tool\" id=\"tool-search.web\" data-find=\"search.web web search web write",
        "<a href=\"#tool-search.web\">Web search</a> <code>search.web</code>",
        "<li class=\"badge\">experimental</li>",
        "<li class=\"badge warn\">effects: write</li>",
        "<li class=\"badge warn\">approval: required</li>",
        "<p>Use <code>a|b</code> for either.</p>",
        "<td>The words. Not empty.</td>",
        "<code><span class=\"above\">sites[].</span>host</code>",
        "<code>search_failed</code></th><td>502</td>",
        "10 s <span class=\"badge\">set by the contract</span>",
        ", or else <code>search.web</code>.",
        "curl http://127.0.0.1:8000/v1/tools/search.web \\\n",
        "-d '{&quot;args&quot;:{&quot;query&quot;:&quot;it'\\''s&quot;}}'",
        "{&quot;tool&quot;:&quot;search.web&quot;,&quot;input&quot;:{",
        "<form method=\"post\" action=\"v1/tools/search.web\">",
        ">{\n  &quot;query&quot;: &quot;it's&quot;\n}</textarea>",
        "<code>payload_too_large</code>",
        "<a href=\"healthz\"><code>/healthz</code></a>",
    ] {
        assert!(page.contains(expected), "{expected} is missing from:\n{page}");
    }
    assert!(!page.contains("never-shown"));
    assert!(!page.contains("id=\"token\""));
    assert!(page.find("One word") < page.find("No words"), "the good call comes first");
}

#[test]
fn a_token_is_asked_for_where_the_server_wants_one() {
    let page = rendered(&[SEARCH], true);
    assert!(page.contains("<input id=\"token\" type=\"password\""));
    assert!(page.contains("Authorization: Bearer $TOOLGATE_TOKEN"));
    // A link shows no token: those that lead somewhere without one stay.
    assert!(page.contains("<a href=\"docs/openapi.json\">/openapi.json</a>"));
    assert!(page.contains("<a href=\"healthz\">"));
    assert!(!page.contains("href=\"v1/") && !page.contains("href=\"metrics\""));
}

#[test]
fn nothing_in_a_contract_acts_on_the_page() {
    const EVIL: &str =
        "</textarea></code><script>alert('1')</script><img src=x onerror=\"1\"> & `<b>`\u{202e}";
    let schema = json!({
        "type": "object",
        "required": [EVIL],
        "properties": {
            EVIL: { "type": "string", "pattern": EVIL, "description": EVIL, "default": EVIL },
            "nested": { "type": "object", "properties": { EVIL: { "enum": [EVIL, 1] } } },
        },
    });
    let contract = json!({
        "name": EVIL,
        "title": EVIL,
        "description": EVIL,
        "version": EVIL,
        "stability": "stable",
        "tags": [EVIL],
        "toolset": EVIL,
        "toolset_default": true,
        "effects": "none",
        "input_schema": schema,
        "output_schema": { "type": "object", "description": EVIL, "properties": {
            EVIL: { "const": EVIL, "description": EVIL },
        } },
        "errors": [{ "code": EVIL, "http_status": 500, "description": EVIL }],
        "examples": [
            { "title": EVIL, "notes": EVIL, "input": { EVIL: EVIL }, "output": { EVIL: EVIL } },
            { "title": EVIL, "input": {}, "error": EVIL },
        ],
    });
    let page = rendered(&[&contract.to_string(), SEARCH], false);
    assert_eq!(page.matches("<script").count(), 1, "only its own script is on the page");
    for markup in ["<img", "<b>", "onerror=\"", "<script>alert"] {
        assert!(!page.contains(markup), "{markup} got through");
    }
    assert!(page.contains("&lt;script&gt;alert('1')&lt;/script&gt;"));
    assert!(!page.contains('\u{202e}') && page.contains("⟨U+202E⟩"), "hidden characters are shown");
    for name in ["article", "textarea", "code", "table", "details", "section", "pre"] {
        let (open, close) = (format!("<{name}"), format!("</{name}>"));
        assert_eq!(page.matches(&open).count(), page.matches(&close).count(), "{name}");
    }
}

#[tokio::test]
async fn only_the_files_of_the_page_are_served() {
    let get = async |name: &str, headers: HeaderMap| file(PathName(name.to_owned()), headers).await;
    for (name, kind) in
        [("page.css", "text/css; charset=utf-8"), ("page.js", "text/javascript; charset=utf-8")]
    {
        let response = get(name, HeaderMap::new()).await;
        let head = response.headers();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(head[header::CONTENT_TYPE], kind);
        assert_eq!(head[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(head[header::CACHE_CONTROL], "no-cache");
        assert!(head.contains_key(header::CONTENT_SECURITY_POLICY));
        let known = HeaderMap::from_iter([(header::IF_NONE_MATCH, head[header::ETAG].clone())]);
        assert_eq!(get(name, known).await.status(), StatusCode::NOT_MODIFIED);
    }
    for name in ["", "page.html", "../docs.rs", "PAGE.CSS"] {
        let any = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static("*"))]);
        let response = get(name, any).await;
        assert_eq!(response.status(), StatusCode::NOT_FOUND, "{name}");
    }
}

/// A page that the policy forbids would not work, and nobody would notice.
#[test]
fn the_page_needs_nothing_that_its_policy_forbids() {
    let page = rendered(&[SEARCH], true);
    for forbidden in [" style=", " onclick=", "<style", "javascript:", "src=\"http", "<iframe"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    let script = include_str!("assets/page.js");
    for forbidden in
        ["innerHTML", "insertAdjacentHTML", "eval(", "document.write", "http:", "https:"]
    {
        assert!(!script.contains(forbidden), "{forbidden}");
    }
    for style in [include_str!("assets/frame.css"), include_str!("assets/parts.css")] {
        assert!(!style.contains("url(") && !style.contains("@import"));
    }
}
