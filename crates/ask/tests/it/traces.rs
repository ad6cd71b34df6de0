//! Traces: the record of a run.

use std::sync::Arc;

use ask::{AskRequest, Trace};
use serde_json::json;

use crate::fixture::{FETCH, Fixture, QUESTION, Setup, events, request};

/// The events of every run up to the first reply of the model.
const BEGIN: [&str; 7] = [
    "request",
    "policy_gate",
    "tools_discovered",
    "allowlist",
    "planner_tools",
    "planner_prompt",
    "planner_raw",
];

#[tokio::test]
async fn every_gate_leaves_an_event_in_order() {
    let fixture = Fixture::replying(&[FETCH]).await;
    let (response, outcome) = fixture.ask(QUESTION).await;
    let rest = [
        "planner_plan",
        "plan_validated",
        "tool_call",
        "tool_result_raw",
        "typed_payload",
        "summarize_decision",
    ];
    assert_eq!(events(&outcome), [&BEGIN[..], &rest].concat());
    let trace = &outcome.trace;
    assert!(trace.events.windows(2).all(|two| two[0].ts_ms <= two[1].ts_ms));
    assert_eq!(trace.final_output, response);
    // The model that replied is named, whatever was asked for.
    assert_eq!(fixture.model.heard()[0].field("model"), "small");
    assert_eq!(trace.meta["model"], "small-v1");
    assert_eq!(trace.file_name(), format!("{}.json", trace.trace_id));
    assert!(trace.trace_id.starts_with("trace_") && trace.trace_id.len() == 32);
    let value = serde_json::to_value(trace).unwrap();
    let keys: Vec<_> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["trace_id", "meta", "events", "final_output"]);
    assert_eq!(serde_json::from_value::<Trace>(value.clone()).unwrap(), *trace);
    // The journal knows that somebody asked, and not what.
    let journal = fixture.journal();
    assert!(journal.contains(r#""event":"ask""#) && journal.contains(&trace.trace_id), "{journal}");
    assert!(!journal.contains("log retention"), "{journal}");
}

#[tokio::test]
async fn payloads_are_cut_and_secrets_are_not_written_down() {
    let key = "sk-a-secret-of-the-test-0123456789";
    let content = format!("{}password: hunter22 {key} {}", "a ".repeat(50), "b ".repeat(5_000));
    let mut setup = Setup::replying(&[FETCH]).await.with_content(content);
    setup.settings.max_payload_characters = 500;
    let question = format!("what does policy-002 say? my token is ghp_{}", "x".repeat(30));
    let (response, outcome) = setup.build().ask(&question).await;
    let text = serde_json::to_string(&outcome.trace).unwrap();
    assert!(!text.contains(key) && !text.contains("hunter22") && !text.contains("ghp_x"), "{text}");
    assert!(text.contains("[redacted]") && text.contains("…[TRUNCATED]…"), "{text}");
    for event in &outcome.trace.events {
        assert!(event.payload.to_string().len() < 1_200, "{event:?}");
    }
    assert!(text.len() < 20_000, "{}", text.len());
    // Who asked gets everything.
    assert!(response.to_string().contains("hunter22"));
}

#[tokio::test]
async fn a_run_that_is_blocked_has_a_trace_too() {
    let fixture = Fixture::replying(&["no", "never"]).await;
    let (_, outcome) = fixture.ask(QUESTION).await;
    let rejected = "planner_rejected";
    let rest = [rejected, "planner_repair", "planner_prompt", "planner_raw", rejected];
    assert_eq!(events(&outcome), [&BEGIN[..], &rest].concat());
    assert_eq!(outcome.trace.final_output["raw"], "never");
    for (tool, rest) in [
        ("nothing", &["plan_validation_failed"][..]),
        ("fetch_policy_entry", &["plan_given", "plan_validation_failed"]),
    ] {
        let request = AskRequest { tool: Some(tool.into()), ..request(QUESTION) };
        let (_, outcome) = fixture.run(request).await;
        assert_eq!(&events(&outcome)[4..], rest, "{tool}");
    }
}

#[tokio::test]
async fn what_a_contract_marks_as_secret_is_in_no_trace() {
    let secret = "policy-of-the-crown-jewels-77";
    let content = "The vault opens at noon on Fridays";
    let has_secret = |text: &str| text.contains(secret) || text.contains(content);
    let plan = FETCH.replace("policy-002", secret);
    let wrong = plan.replace("\"args\":{", "\"args\":{\"x\":1,");
    for plan in [plan, wrong] {
        let mut setup = Setup::replying(&[&plan]).await;
        setup.is_secret = true;
        setup.result =
            Arc::new(move |input| json!({ "policy_id": input["policy_id"], "content": content }));
        let fixture = setup.build();
        // By the caller's own words, and by a model's.
        let args = serde_json::from_value(json!({ "policy_id": secret })).unwrap();
        let tool = Some("fetch_policy_entry".into());
        let (response, outcome) =
            fixture.run(AskRequest { tool, args, ..request("show it") }).await;
        assert_eq!(response["typed"]["content"], content);
        let text = serde_json::to_string(&outcome.trace).unwrap();
        assert!(!has_secret(&text), "{text}");
        let (_, outcome) = fixture.ask(&format!("what does {secret} say?")).await;
        for event in &outcome.trace.events {
            // The question is what it is, and what the model wrote is written down as it is.
            let is_quoted =
                ["request", "planner_prompt", "planner_raw"].contains(&event.name.as_str());
            assert!(is_quoted || !has_secret(&event.payload.to_string()), "{event:?}");
        }
        let output = outcome.trace.final_output.to_string();
        assert!(!has_secret(&output), "{output}");
    }
}
