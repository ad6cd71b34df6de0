//! What is written down of a run.

use std::sync::Arc;

use ask::Trace;
use serde_json::json;
use testkit::Peer;

use crate::hall::{FETCH, Hall, Plan, QUESTION, events, in_turn, request, told};

#[tokio::test]
async fn every_gate_leaves_an_event_in_order() {
    let (hall, _) = Hall::of(&[FETCH]).await;
    let outcome = hall.ask(QUESTION).await;
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
    assert_eq!(events(&outcome), expected);
    let trace = &outcome.trace;
    assert!(trace.events.windows(2).all(|two| two[0].ts_ms <= two[1].ts_ms));
    assert_eq!(trace.final_output, told(&outcome));
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
    let outcome = hall.ask(&question).await;
    let text = serde_json::to_string(&outcome.trace).unwrap();
    assert!(!text.contains(key) && !text.contains("hunter22") && !text.contains("ghp_x"), "{text}");
    assert!(text.contains("[redacted]") && text.contains("…[TRUNCATED]…"), "{text}");
    for event in &outcome.trace.events {
        assert!(event.payload.to_string().len() < 1_200, "{event:?}");
    }
    assert!(text.len() < 20_000, "{}", text.len());
    // Who asked gets everything.
    assert!(told(&outcome).to_string().contains("hunter22"));
}

#[tokio::test]
async fn a_run_that_is_blocked_has_a_trace_too() {
    let (hall, _) = Hall::of(&["no", "never"]).await;
    let outcome = hall.ask(QUESTION).await;
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
    assert_eq!(events(&outcome), expected);
    assert_eq!(outcome.trace.final_output["raw"], "never");
    let mut asked = request(QUESTION);
    asked.tool = Some("nothing".into());
    let outcome = hall.run(asked).await.unwrap();
    assert_eq!(events(&outcome).last(), Some(&"plan_validation_failed"));
    let mut asked = request(QUESTION);
    asked.tool = Some("fetch_policy_entry".into());
    let outcome = hall.run(asked).await.unwrap();
    assert_eq!(events(&outcome)[4..], ["plan_given", "plan_validation_failed"]);
}

#[tokio::test]
async fn what_a_contract_marks_as_secret_is_in_no_trace() {
    let secret = "policy-of-the-crown-jewels-77";
    let content = "The vault opens at noon on Fridays";
    let plan = FETCH.replace("policy-002", secret);
    let wrong = plan.replace("\"args\":{", "\"args\":{\"x\":1,");
    for said in [plan.as_str(), wrong.as_str()] {
        let peer = Peer::start(in_turn(&[said])).await;
        let mut setup = Plan::new(&peer);
        setup.secret = true;
        setup.says =
            Arc::new(move |input| json!({ "policy_id": input["policy_id"], "content": content }));
        let hall = setup.build();
        // By the caller's own words, and by a model's.
        let mut given = request("show it");
        given.tool = Some("fetch_policy_entry".into());
        given.args = serde_json::from_value(json!({ "policy_id": secret })).unwrap();
        let outcome = hall.run(given).await.unwrap();
        assert_eq!(told(&outcome)["typed"]["content"], content);
        let text = serde_json::to_string(&outcome.trace).unwrap();
        assert!(!text.contains(secret) && !text.contains(content), "{text}");
        let outcome = hall.ask(&format!("what does {secret} say?")).await;
        for event in &outcome.trace.events {
            let says = event.payload.to_string();
            // The question is what it is, and what the model wrote is written down as it is.
            let is_said =
                ["request", "planner_prompt", "planner_raw"].contains(&event.name.as_str());
            assert!(is_said || !says.contains(secret) && !says.contains(content), "{event:?}");
        }
        let output = outcome.trace.final_output.to_string();
        assert!(!output.contains(secret) && !output.contains(content), "{output}");
    }
}
