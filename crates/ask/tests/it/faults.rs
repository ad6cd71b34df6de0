//! Models and endpoints that do everything wrong.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Act, Peer};

use crate::hall::{FETCH, Hall, Plan, QUESTION, events, in_turn, saying, told};

/// What the model says twice is no plan, and ends the run with this reason.
async fn blocked(text: &str, code: &str, reason: &str) {
    let (hall, peer) = Hall::of(&[text]).await;
    let outcome = hall.ask(QUESTION).await;
    let answer = told(&outcome);
    assert_eq!(answer["type"], "blocked", "{answer}");
    assert_eq!(answer["code"], code, "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains(reason), "{answer}");
    assert_eq!(hall.calls.count(), 0);
    let asked = if code == "tool_not_allowed" { 1 } else { 2 };
    assert_eq!(peer.heard().len(), asked, "{text:.60}");
}

#[tokio::test]
async fn what_is_no_plan_is_refused_after_one_repair() {
    let rejected = "planner_rejected";
    blocked("I would use fetch_policy_entry.", rejected, "not exactly one JSON object").await;
    blocked(&format!("Sure! {FETCH}"), rejected, "not exactly one JSON object").await;
    blocked(&format!("```json\n{FETCH}\n```"), rejected, "not exactly one").await;
    blocked(&format!("{FETCH}\n{FETCH}"), rejected, "not exactly one").await;
    blocked(&FETCH[..40], rejected, "not exactly one").await;
    blocked("", rejected, "not exactly one").await;
    blocked(&format!("[{FETCH}]"), rejected, "must be an object").await;
    blocked("42", rejected, "must be an object").await;
    blocked(&FETCH.replace("\"mcp-policy-kb\"", "7"), rejected, "`server` must be a string").await;
    blocked(
        &FETCH.replace("{\"policy_id\":\"policy-002\"}", "\"policy-002\""),
        "plan_invalid",
        "args must be an object",
    )
    .await;
    blocked(&FETCH.replace("\"policy-002\"", "2"), "plan_invalid", "got 'integer'").await;
    blocked(
        &FETCH.replace("policy-002", "policy-001"),
        "plan_invalid",
        "'policy-001', which is not in the question",
    )
    .await;
    blocked(
        &FETCH.replace("fetch_policy_entry", "fetch_everything"),
        "plan_invalid",
        "Unknown tool 'fetch_everything' on server 'mcp-policy-kb'",
    )
    .await;
    blocked(
        &FETCH.replace("mcp-policy-kb", "mcp-evil"),
        "plan_invalid",
        "Unknown server: mcp-evil",
    )
    .await;
    let answer = r#"{"type":"final_answer","tool":"mcp-policy-kb.nothing","needs_more_info":true}"#;
    blocked(answer, "plan_invalid", "Unknown tool 'mcp-policy-kb.nothing'").await;
    let answer = r#"{"type":"final_answer","answer":"30 days","needs_more_info":false}"#;
    blocked(answer, "plan_invalid", "requires needs_more_info=true").await;
}

#[tokio::test]
async fn what_may_not_be_called_is_not_repaired() {
    let delete = r#"{"type":"call_tool","server":"mcp-sharepoint","tool":"delete_sharepoint_doc","args":{"doc_id":"policy-002"}}"#;
    blocked(delete, "tool_not_allowed", "Tool not allowed: mcp-sharepoint.delete_sharepoint_doc")
        .await;
    blocked(
        &delete.replace("delete_sharepoint_doc", "append_note"),
        "tool_not_allowed",
        "Tool not allowed",
    )
    .await;
    let withheld = FETCH.replace("fetch_policy_entry", "delete_policy_entry");
    blocked(&withheld, "tool_not_allowed", "Tool not allowed: mcp-policy-kb.delete_policy_entry")
        .await;
    let payroll =
        FETCH.replace("mcp-policy-kb", "mcp-payroll").replace("fetch_policy_entry", "get_salary");
    blocked(&payroll, "tool_not_allowed", "Server not allowed: mcp-payroll").await;
}

#[tokio::test]
async fn a_model_that_is_told_what_was_wrong_may_mend_it() {
    let (hall, peer) = Hall::of(&["Let me think.", FETCH]).await;
    let outcome = hall.ask(QUESTION).await;
    assert_eq!(told(&outcome)["type"], "tool_result");
    assert_eq!(hall.calls.count(), 1);
    let again = peer.heard()[1].field("messages")[1]["content"].as_str().unwrap().to_owned();
    assert!(
        again.contains("Let me think.") && again.contains("not exactly one JSON object"),
        "{again}"
    );
    assert!(events(&outcome).contains(&"planner_repair"));
}

#[tokio::test]
async fn endpoints_that_fail_end_the_run_with_a_reason() {
    let check = async |acts: fn() -> Vec<Act>, code: &str, status: u16, reason: &str| {
        let (hall, _) = Hall::saying(move |_| acts()).await;
        let began = Instant::now();
        let outcome = hall.ask(QUESTION).await;
        let answer = told(&outcome);
        assert_eq!(answer["code"], code, "{answer}");
        assert_eq!(outcome.response.http_status(), status, "{answer}");
        assert!(answer["reason"].as_str().unwrap().contains(reason), "{answer}");
        assert_eq!(hall.calls.count(), 0);
        assert!(began.elapsed() < Duration::from_secs(20));
        answer
    };
    let busy = check(
        || vec![Act::answer(429, "Retry-After: 7\r\n", "slow down")],
        "model_busy",
        503,
        "status 429",
    )
    .await;
    assert_eq!(busy["retry_after"], 7);
    check(|| vec![Act::answer(500, "", "oh")], "model_error", 502, "status 500").await;
    check(|| vec![Act::answer(401, "", "who?")], "model_error", 502, "status 401").await;
    check(|| vec![Act::Silence], "timeout", 504, "llm.stall_timeout_ms").await;
    check(
        || {
            vec![
                Act::events(),
                Act::say("data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\n"),
                Act::Silence,
            ]
        },
        "timeout",
        504,
        "sent nothing",
    )
    .await;
    check(|| vec![Act::Reset], "model_error", 502, "Planner failed").await;
    check(|| vec![Act::json(json!({ "choices": 7 }))], "model_error", 502, "cannot be read").await;
    check(|| vec![Act::json("[]")], "model_error", 502, "cannot be read").await;
    check(|| vec![Act::json(json!({ "choices": [] }))], "model_error", 502, "empty").await;
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_told() {
    let peer = Peer::start(|_| vec![Act::Close]).await;
    let mut plan = Plan::new(&peer);
    plan.llm.base_url = Some("http://127.0.0.1:1/v1".into());
    let answer = told(&plan.build().ask(QUESTION).await);
    assert_eq!(answer["code"], "model_error");
    assert!(answer["reason"].as_str().unwrap().contains("could not be reached"), "{answer}");
    let mut plan = Plan::new(&peer);
    plan.llm.base_url = None;
    let outcome = plan.build().ask(QUESTION).await;
    assert_eq!(
        (told(&outcome)["code"].clone(), outcome.response.http_status()),
        (json!("no_model"), 503)
    );
}

#[tokio::test]
async fn answers_without_an_end_are_cut_off() {
    let event = format!(
        "data: {}\n\n",
        json!({ "choices": [{ "delta": { "content": "{\"type\": ".repeat(100) } }] })
    );
    let event = event.into_bytes();
    let (hall, peer) =
        Hall::saying(move |_| vec![Act::events(), Act::Endless(event.clone())]).await;
    let began = Instant::now();
    let answer = told(&hall.ask(QUESTION).await);
    assert_eq!(answer["code"], "planner_rejected", "{answer}");
    assert!(answer["reason"].as_str().unwrap().contains("ask.max_answer_bytes"), "{answer}");
    assert_eq!(peer.heard().len(), 2);
    assert!(began.elapsed() < Duration::from_secs(10));

    let huge = format!("{}{}", FETCH, " ".repeat(10_000_000));
    let (hall, _) = Hall::of(&[&huge]).await;
    let answer = told(&hall.ask(QUESTION).await);
    assert_eq!(answer["type"], "blocked");
    assert!(answer.to_string().len() < 10_000, "{}", answer.to_string().len());
    assert_eq!(hall.calls.count(), 0);

    let cut =
        json!({ "choices": [{ "message": { "content": FETCH }, "finish_reason": "length" }] });
    let (hall, _) = Hall::saying(move |_| vec![Act::json(&cut)]).await;
    let answer = told(&hall.ask(QUESTION).await);
    assert!(answer["reason"].as_str().unwrap().contains("ask.max_plan_tokens"), "{answer}");
}

#[tokio::test]
async fn an_endpoint_that_knows_no_schemas_is_asked_without() {
    let check = async |known: &'static str, requests: usize| {
        let (hall, peer) = Hall::saying(move |heard| {
            let format = heard.field("response_format");
            let kind = format["type"].as_str().unwrap_or("none").to_owned();
            if kind == known {
                return vec![saying(FETCH)];
            }
            vec![Act::answer(400, "", r#"{"error":"unknown field response_format"}"#)]
        })
        .await;
        // What it was told twice it keeps.
        for all in [requests, 2 * requests, 2 * requests + 1] {
            assert_eq!(told(&hall.ask(QUESTION).await)["type"], "tool_result");
            assert_eq!(peer.heard().len(), all, "{known}");
        }
    };
    check("json_schema", 1).await;
    check("json_object", 2).await;
    check("none", 3).await;
}

#[tokio::test]
async fn a_failure_is_not_taken_for_a_refusal_of_schemas() {
    let next = in_turn(&[FETCH]);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let (hall, peer) =
        Hall::saying(move |heard| match count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) {
            0 => vec![Act::answer(500, "", "")],
            _ => next(heard),
        })
        .await;
    assert_eq!(told(&hall.ask(QUESTION).await)["type"], "tool_result");
    assert_eq!(told(&hall.ask(QUESTION).await)["type"], "tool_result");
    assert_eq!(peer.heard()[2].field("response_format")["type"], "json_schema");
}

#[tokio::test]
async fn the_model_that_outcome_is_named_whatever_was_asked_for() {
    let (hall, peer) = Hall::of(&[FETCH]).await;
    let outcome = hall.ask(QUESTION).await;
    assert_eq!(peer.heard()[0].field("model"), "small");
    assert_eq!(outcome.trace.meta["model"], "small-v1");
}
