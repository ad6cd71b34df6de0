//! What is written down of a run.

use std::sync::Arc;

use ask::Trace;
use serde_json::json;
use testkit::Peer;

use crate::hall::{FETCH, Hall, Plan, QUESTION, events, in_turn, request, told};

#[tokio::test]
async fn every_gate_leaves_an_event_in_order() {
    let (hall, _) = Hall::of(&[FETCH]).await;
    let answered = hall.ask(QUESTION).await;
    let expected = [
        "request",
        "policy_gate",
        "tools_discovered",
        "allowlist",
        "planner_tools",
        "planner_prompt",
        "planner_raw",
        "planner_plan",
        "plan_validated",
        "tool_call",
        "tool_result_raw",
        "typed_payload",
        "summarize_decision",
    ];
    assert_eq!(events(&answered), expected);
    let trace = &answered.trace;
    assert!(trace.events.windows(2).all(|two| two[0].ts_ms <= two[1].ts_ms));
    assert_eq!(trace.final_output, told(&answered));
    assert_eq!(trace.file_name(), format!("{}.json", trace.trace_id));
    assert!(trace.trace_id.starts_with("trace_") && trace.trace_id.len() == 32);
    let text = serde_json::to_string(trace).unwrap();
    assert_eq!(serde_json::from_str::<Trace>(&text).unwrap(), *trace);
    let keys: Vec<_> =
        serde_json::to_value(trace).unwrap().as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["trace_id", "meta", "events", "final_output"]);
    // The journal knows that somebody asked, and not what.
    let journal = hall.journal();
    assert!(journal.contains(r#""event":"ask""#) && journal.contains(&trace.trace_id), "{journal}");
    assert!(!journal.contains("log retention"), "{journal}");
}

#[tokio::test]
async fn payloads_are_cut_and_secrets_are_not_written_down() {
    let key = "sk-a-secret-of-the-test-0123456789";
    let peer = Peer::start(in_turn(&[FETCH])).await;
    let mut plan = Plan::new(&peer);
    plan.settings.max_payload_characters = 500;
    let content = format!("{}password: hunter22 {key} {}", "a ".repeat(50), "b ".repeat(5_000));
    plan.says = Arc::new(move |_| json!({ "policy_id": "policy-002", "content": content }));
    let hall = plan.build();
    let question = format!("what does policy-002 say? my token is ghp_{}", "x".repeat(30));
    let answered = hall.ask(&question).await;
    let text = serde_json::to_string(&answered.trace).unwrap();
    assert!(!text.contains(key) && !text.contains("hunter22") && !text.contains("ghp_x"), "{text}");
    assert!(text.contains("[redacted]") && text.contains("…[TRUNCATED]…"), "{text}");
    for event in &answered.trace.events {
        assert!(event.payload.to_string().len() < 1_200, "{event:?}");
    }
    assert!(text.len() < 20_000, "{}", text.len());
    // Who asked gets everything.
    assert!(told(&answered).to_string().contains("hunter22"));
}

#[tokio::test]
async fn a_run_that_is_blocked_has_a_trace_too() {
    let (hall, _) = Hall::of(&["no", "never"]).await;
    let answered = hall.ask(QUESTION).await;
    let expected = [
        "request",
        "policy_gate",
        "tools_discovered",
        "allowlist",
        "planner_tools",
        "planner_prompt",
        "planner_raw",
        "planner_rejected",
        "planner_repair",
        "planner_prompt",
        "planner_raw",
        "planner_rejected",
    ];
    assert_eq!(events(&answered), expected);
    assert_eq!(answered.trace.final_output["raw"], "never");
    let mut asked = request(QUESTION);
    asked.tool = Some("nothing".into());
    let answered = hall.run(asked).await.unwrap();
    assert_eq!(events(&answered).last(), Some(&"tool_not_allowed"));
}
