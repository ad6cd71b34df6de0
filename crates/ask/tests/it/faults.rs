//! Models and endpoints that do everything wrong.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::json;
use testkit::Act;

use crate::fixture::{FETCH, Fixture, QUESTION, Setup, events, has, in_turn, reply};

/// The reaction of an endpoint to every request.
type Script = fn() -> Vec<Act>;

/// Plans that are refused: after one repair, and at once where they plan what is forbidden. Replies that are no plan
/// at all are in the table of `plan::read`.
#[tokio::test]
async fn a_bad_plan_is_refused_with_its_reason() {
    let (rejected, invalid, forbidden) = ("planner_rejected", "plan_invalid", "tool_not_allowed");
    let other = |from: &str, to: &str| FETCH.replace(from, to);
    let back = r#"{"type":"final_answer","tool":"mcp-policy-kb.nothing","needs_more_info":true}"#;
    let delete = r#"{"type":"call_tool","server":"mcp-sharepoint","tool":"delete_sharepoint_doc","args":{"doc_id":"policy-002"}}"#;
    let payroll = other("mcp-policy-kb", "mcp-payroll").replace("fetch_policy_entry", "get_salary");
    for (plan, code, reason) in [
        ("I would use fetch_policy_entry.", rejected, "not exactly one JSON object"),
        (&other("{\"policy_id\":\"policy-002\"}", "7"), invalid, "args must be an object"),
        (&other("\"policy-002\"", "2"), invalid, "got 'integer'"),
        (&other("-002", "-001"), invalid, "'policy-001', which is not in the question"),
        (&other("_entry", ""), invalid, "Unknown tool 'fetch_policy' on server 'mcp-policy-kb'"),
        (&other("mcp-policy-kb", "mcp-evil"), invalid, "Unknown server: mcp-evil"),
        (back, invalid, "Unknown tool 'mcp-policy-kb.nothing'"),
        (delete, forbidden, "Tool not allowed: mcp-sharepoint.delete_sharepoint_doc"),
        (&delete.replace("delete_sharepoint_doc", "append_note"), forbidden, "Tool not allowed"),
        (&other("fetch_", "delete_"), forbidden, "not allowed: mcp-policy-kb.delete_policy_entry"),
        (&payroll, forbidden, "Server not allowed: mcp-payroll"),
    ] {
        let fixture = Fixture::replying(&[plan]).await;
        let (response, _) = fixture.ask(QUESTION).await;
        assert_eq!((&response["type"], &response["code"]), (&json!("blocked"), &json!(code)));
        has(&response, "reason", reason);
        let requests = if code == forbidden { 1 } else { 2 };
        assert_eq!((fixture.call_count(), fixture.model.heard().len()), (0, requests), "{plan}");
    }
}

#[tokio::test]
async fn a_model_that_is_told_what_was_wrong_may_mend_it() {
    let fixture = Fixture::replying(&["Let me think.", FETCH]).await;
    let (response, outcome) = fixture.ask(QUESTION).await;
    assert_eq!((&response["type"], fixture.call_count()), (&json!("tool_result"), 1));
    let again = fixture.message(1, 1);
    assert!(
        again.contains("Let me think.") && again.contains("not exactly one JSON object"),
        "{again}"
    );
    assert!(events(&outcome).contains(&"planner_repair"));
}

#[tokio::test]
async fn endpoints_that_fail_end_the_run_with_a_reason() {
    const BEGUN: &str = "data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n";
    const BUSY: Script = || vec![Act::answer(429, "Retry-After: 7\r\n", "slow down")];
    const HALTED: Script = || vec![Act::events(), Act::say(BEGUN), Act::Silence];
    let rows: [(Script, &str, u16, &str); 9] = [
        (BUSY, "model_busy", 503, "status 429"),
        (|| vec![Act::answer(500, "", "oh")], "model_error", 502, "status 500"),
        (|| vec![Act::answer(401, "", "who?")], "model_error", 502, "status 401"),
        (|| vec![Act::Silence], "timeout", 504, "llm.stall_timeout_ms"),
        (HALTED, "timeout", 504, "sent nothing"),
        (|| vec![Act::Reset], "model_error", 502, "Planner failed"),
        (|| vec![Act::json(r#"{"choices":7}"#)], "model_error", 502, "cannot be read"),
        (|| vec![Act::json("[]")], "model_error", 502, "cannot be read"),
        (|| vec![Act::json(r#"{"choices":[]}"#)], "model_error", 502, "empty"),
    ];
    for (script, code, status, reason) in rows {
        let fixture = Setup::scripted(move |_| script()).await.build();
        let began = Instant::now();
        let (response, outcome) = fixture.ask(QUESTION).await;
        assert_eq!((&response["code"], outcome.response.http_status()), (&json!(code), status));
        has(&response, "reason", reason);
        assert_eq!(response["retry_after"] == 7, status == 503, "{response}");
        assert_eq!(fixture.call_count(), 0);
        assert!(began.elapsed() < Duration::from_secs(20));
    }
}

#[tokio::test]
async fn replies_without_an_end_are_cut_off() {
    let event = json!({ "choices": [{ "delta": { "content": "{\"type\": ".repeat(100) } }] });
    let event = format!("data: {event}\n\n").into_bytes();
    let fixture =
        Setup::scripted(move |_| vec![Act::events(), Act::Endless(event.clone())]).await.build();
    let began = Instant::now();
    let (response, _) = fixture.ask(QUESTION).await;
    assert_eq!(response["code"], "planner_rejected", "{response}");
    has(&response, "reason", "ask.max_answer_bytes");
    assert_eq!(fixture.model.heard().len(), 2);
    assert!(began.elapsed() < Duration::from_secs(10));

    let huge = format!("{}{}", FETCH, " ".repeat(10_000_000));
    let fixture = Fixture::replying(&[&huge]).await;
    let (response, _) = fixture.ask(QUESTION).await;
    assert_eq!((&response["type"], fixture.call_count()), (&json!("blocked"), 0));
    assert!(response.to_string().len() < 10_000, "{}", response.to_string().len());

    let cut =
        json!({ "choices": [{ "message": { "content": FETCH }, "finish_reason": "length" }] });
    let fixture = Setup::scripted(move |_| vec![Act::json(&cut)]).await.build();
    has(&fixture.ask(QUESTION).await.0, "reason", "ask.max_plan_tokens");
}

#[tokio::test]
async fn an_endpoint_that_knows_no_schemas_is_asked_without() {
    for (known, requests) in [("json_schema", 1), ("json_object", 2), ("none", 3)] {
        let script = move |request: &testkit::PeerRequest| {
            let format = request.field("response_format");
            if format["type"].as_str().unwrap_or("none") == known {
                return vec![reply(FETCH)];
            }
            vec![Act::answer(400, "", r#"{"error":"unknown field response_format"}"#)]
        };
        let fixture = Setup::scripted(script).await.build();
        // A format that was refused twice is not tried again.
        for all in [requests, 2 * requests, 2 * requests + 1] {
            assert_eq!(fixture.ask(QUESTION).await.0["type"], "tool_result");
            assert_eq!(fixture.model.heard().len(), all, "{known}");
        }
    }
}

#[tokio::test]
async fn a_failure_is_not_taken_for_a_refusal_of_schemas() {
    let (next, count) = (in_turn(&[FETCH]), AtomicUsize::new(0));
    let script = move |request: &testkit::PeerRequest| match count.fetch_add(1, Ordering::SeqCst) {
        0 => vec![Act::answer(500, "", "")],
        _ => next(request),
    };
    let fixture = Setup::scripted(script).await.build();
    for _ in 0..2 {
        assert_eq!(fixture.ask(QUESTION).await.0["type"], "tool_result");
    }
    assert_eq!(fixture.model.heard()[2].field("response_format")["type"], "json_schema");
}
