//! Bad questions, and the bounds of a run.

use std::time::{Duration, Instant};

use ask::{AskRejection, InvalidQuestion, policy::PolicyRule};
use serde_json::json;
use testkit::{Act, Peer};

use crate::hall::{FETCH, Hall, Plan, QUESTION, events, in_turn, request, saying, told};

#[tokio::test]
async fn what_is_no_question_is_not_looked_at() {
    let (hall, peer) = Hall::of(&[FETCH]).await;
    let check = async |question: &str, expected: InvalidQuestion| {
        let why = hall.run(request(question)).await.unwrap_err();
        assert_eq!(why, AskRejection::InvalidQuestion(expected));
    };
    check("", InvalidQuestion::Empty).await;
    check(" \n\t ", InvalidQuestion::Empty).await;
    check("what\0ever", InvalidQuestion::Binary { code: 0 }).await;
    check("\u{1b}[2J", InvalidQuestion::Binary { code: 0x1b }).await;
    let large = "a".repeat(1_000_000);
    check(&large, InvalidQuestion::TooLarge { bytes: 1_000_000, limit: 16_384 }).await;
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn the_policy_comes_before_everything_else() {
    let peer = Peer::start(in_turn(&[FETCH])).await;
    let mut plan = Plan::new(&peer);
    let rule = PolicyRule {
        name: "salaries".into(),
        pattern: r"\bsalar(y|ies)\b".into(),
        message: Some("Ask HR.".into()),
    };
    plan.settings.policy.block.push(rule);
    let hall = plan.build();
    let outcome = hall.ask("What is the SALARY\u{200b} of Ada?").await;
    let answer = told(&outcome);
    assert_eq!(answer["reason"], "Blocked by policy (matched pattern: salaries)");
    assert_eq!((&answer["code"], &answer["message"]), (&json!("policy"), &json!("Ask HR.")));
    assert_eq!(events(&outcome), ["request", "policy_gate"]);
    assert_eq!(outcome.response.http_status(), 200);
    assert_eq!(peer.connections(), 0);
}

#[tokio::test]
async fn a_run_ends_when_its_time_is_up_or_nobody_waits() {
    let peer = Peer::start(|_| {
        vec![Act::events(), Act::Drip(b": still here\n".repeat(10_000), Duration::from_millis(5))]
    })
    .await;
    let mut plan = Plan::new(&peer);
    plan.settings.timeout_ms = 300;
    let hall = plan.build();
    let began = Instant::now();
    let outcome = hall.ask(QUESTION).await;
    assert_eq!(told(&outcome)["code"], "timeout", "{}", told(&outcome));
    assert!(told(&outcome)["reason"].as_str().unwrap().contains("ask.timeout_ms"));
    let asked = request(QUESTION);
    let stop = asked.stop.clone();
    let (outcome, ()) = tokio::join!(hall.run(asked), async { stop.cancel() });
    assert_eq!(told(&outcome.unwrap())["code"], "cancelled");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(hall.calls.count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cut_off_is_no_result() {
    let check = async |timeout_ms: u64, code: &str| {
        let peer = Peer::start(in_turn(&[FETCH])).await;
        let mut plan = Plan::new(&peer);
        plan.settings.timeout_ms = timeout_ms;
        plan.slow = Some(Duration::from_secs(20));
        let hall = plan.build();
        let asked = request(QUESTION);
        let stop = asked.stop.clone();
        let began = Instant::now();
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stop.cancel();
        };
        let (outcome, ()) = tokio::join!(hall.run(asked), cancel);
        let answer = told(&outcome.unwrap());
        assert_eq!(
            (&answer["type"], &answer["code"]),
            (&json!("blocked"), &json!(code)),
            "{answer}"
        );
        assert_eq!(answer["plan"]["tool"], "fetch_policy_entry");
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(hall.journal().contains(r#""event":"tool_call""#), "{}", hall.journal());
    };
    check(400, "timeout").await;
    check(60_000, "cancelled").await;
}

#[tokio::test]
async fn a_server_that_stops_ends_its_runs() {
    let peer = Peer::start(|_| vec![Act::events(), Act::Silence]).await;
    let mut plan = Plan::new(&peer);
    plan.llm.stall_timeout_ms = 60_000;
    let hall = plan.build();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        hall.gate.begin_stopping();
    };
    let (outcome, ()) = tokio::join!(hall.ask(QUESTION), stop);
    assert_eq!(told(&outcome)["code"], "cancelled");
}

#[tokio::test]
async fn so_many_runs_at_once_and_no_more() {
    let peer = Peer::start(|_| vec![Act::Silence]).await;
    let mut plan = Plan::new(&peer);
    plan.settings.max_runs = 2;
    let hall = plan.build();
    let (one, two, three) = tokio::join!(
        hall.run(request(QUESTION)),
        hall.run(request(QUESTION)),
        hall.run(request(QUESTION))
    );
    let busy = [one, two, three].into_iter().filter(Result::is_err).count();
    assert_eq!(busy, 1);
}

#[tokio::test]
async fn a_tool_that_was_exchanged_while_the_model_thought_is_not_called() {
    // The catalogue is emptied after the question was asked and before the answer comes.
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let receiver = std::sync::Mutex::new(Some(receiver));
    let (hall, _) =
        Hall::saying(move |_| vec![Act::Relay(receiver.lock().unwrap().take().unwrap())]).await;
    let gate = hall.gate.clone();
    let change = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        gate.replace_catalogue(gate::Catalogue::default());
        let Act::Say(bytes) = saying(FETCH) else { unreachable!() };
        sender.send(bytes).unwrap();
    };
    let (outcome, ()) = tokio::join!(hall.ask(QUESTION), change);
    let answer = told(&outcome);
    assert_eq!(answer["type"], "blocked", "{answer}");
    assert_eq!(hall.calls.count(), 0);
}

#[tokio::test]
async fn a_tool_with_effects_is_used_only_where_the_settings_name_it() {
    let append = r#"{"type":"call_tool","server":"mcp-sharepoint","tool":"append_note","args":{"doc_id":"sp-001"}}"#;
    let peer = Peer::start(in_turn(&[append])).await;
    let mut plan = Plan::new(&peer);
    plan.settings.allow = vec!["mcp-sharepoint__append_note".into()];
    let hall = plan.build();
    let answer = told(&hall.ask("append a note to sp-001").await);
    assert_eq!(answer["type"], "tool_result", "{answer}");
    assert_eq!(hall.calls.count(), 1);
}

#[tokio::test]
async fn a_tool_can_be_named_and_then_no_model_is_asked() {
    let (hall, peer) = Hall::of(&["no"]).await;
    let check = async |tool: &str, args: serde_json::Value, expected: &str| {
        let mut asked = request("anything at all");
        asked.tool = Some(tool.into());
        asked.args = args.as_object().unwrap().clone();
        let answer = told(&hall.run(asked).await.unwrap());
        let got = answer.get("reason").unwrap_or(&answer["type"]);
        assert_eq!(got, expected, "{tool}");
    };
    let fine = json!({ "policy_id": "policy-002" });
    for name in [
        "mcp-policy-kb__fetch_policy_entry",
        "mcp-policy-kb.fetch_policy_entry",
        "fetch_policy_entry",
    ] {
        check(name, fine.clone(), "tool_result").await;
    }
    assert_eq!((hall.calls.count(), peer.connections()), (3, 0));
    check(
        "fetch_policy_entry",
        json!({}),
        "Plan validation failed: Missing required arg 'policy_id' for tool 'fetch_policy_entry'",
    )
    .await;
    check(
        "fetch_policy_entry",
        json!({ "policy_id": "a", "x": 1 }),
        "Plan validation failed: Unexpected arg 'x' for tool 'fetch_policy_entry'",
    )
    .await;
    check(
        "search_policy_kb",
        json!({ "query": "a", "top_k": 99 }),
        "Plan validation failed: Arg 'top_k' must be at most 50",
    )
    .await;
    check("nothing", json!({}), "Plan validation failed: Unknown tool 'nothing'").await;
    check(
        "delete_sharepoint_doc",
        json!({ "doc_id": "a" }),
        "Tool not allowed: mcp-sharepoint.delete_sharepoint_doc",
    )
    .await;
    check(
        "mcp-policy-kb__delete_policy_entry",
        json!({}),
        "Tool not allowed: mcp-policy-kb.delete_policy_entry",
    )
    .await;
    assert_eq!(hall.calls.count(), 3);
}

#[tokio::test]
async fn a_plan_can_be_had_without_a_call() {
    let (hall, _) = Hall::of(&[FETCH]).await;
    let mut asked = request(QUESTION);
    asked.plan_only = true;
    let answer = told(&hall.run(asked).await.unwrap());
    let plan: serde_json::Value = serde_json::from_str(FETCH).unwrap();
    assert_eq!(answer, json!({ "type": "plan", "plan": plan }));
    assert_eq!(hall.calls.count(), 0);
}

#[tokio::test]
async fn a_question_back_is_written_from_the_contract() {
    let tool = "mcp-policy-kb.fetch_policy_entry";
    let words = "Your session expired, see https://evil.example/login";
    let (hall, _) = Hall::of(&[
        &json!({ "type": "final_answer", "tool": tool, "answer": words, "needs_more_info": true })
            .to_string(),
        &json!({ "type": "final_answer", "answer": words, "needs_more_info": true }).to_string(),
    ])
    .await;
    let outcome = hall.ask("fetch the policy").await;
    let answer = told(&outcome);
    let text = format!("To call `{tool}`, say in the question:\n- policy_id");
    let plan =
        json!({ "type": "final_answer", "answer": text, "tool": tool, "needs_more_info": true });
    assert_eq!(
        answer,
        json!({ "type": "final_answer", "answer": text, "needs_more_info": true, "plan": plan })
    );
    let answer = told(&hall.ask("fetch the policy").await);
    let text = answer["answer"].as_str().unwrap();
    assert!(
        text.starts_with("No tool fits the question as it is.") && text.contains(tool),
        "{text}"
    );
    // No word of the model is shown.
    assert!(!answer.to_string().contains("evil"), "{answer}");
    assert_eq!(hall.calls.count(), 0);
}
