//! The bounds of a run.

use std::time::{Duration, Instant};

use ask::{AskRequest, policy::PolicyRule};
use serde_json::{Value, json};
use testkit::Act;

use crate::fixture::{FETCH, Fixture, QUESTION, Setup, events, has, reply, request};

#[tokio::test]
async fn the_policy_comes_before_everything_else() {
    let mut setup = Setup::replying(&[FETCH]).await;
    setup.settings.policy.block.push(PolicyRule {
        name: "salaries".into(),
        pattern: r"\bsalar(y|ies)\b".into(),
        message: Some("Ask HR.".into()),
    });
    let fixture = setup.build();
    let (response, outcome) = fixture.ask("What is the SALARY\u{200b} of Ada?").await;
    let expected = json!({
        "type": "blocked",
        "reason": "Blocked by policy (matched pattern: salaries)",
        "code": "policy",
        "message": "Ask HR.",
    });
    assert_eq!(response, expected);
    assert_eq!(events(&outcome), ["request", "policy_gate"]);
    assert_eq!((outcome.response.http_status(), fixture.model.connections()), (200, 0));
}

#[tokio::test]
async fn a_run_ends_when_its_time_is_up_or_nobody_waits() {
    let drip = || Act::Drip(b": still here\n".repeat(10_000), Duration::from_millis(5));
    let mut setup = Setup::scripted(move |_| vec![Act::events(), drip()]).await;
    setup.settings.timeout_ms = 300;
    let fixture = setup.build();
    let began = Instant::now();
    let (response, _) = fixture.ask(QUESTION).await;
    assert_eq!(response["code"], "timeout", "{response}");
    has(&response, "reason", "ask.timeout_ms");
    let asked = request(QUESTION);
    let stop = asked.stop.clone();
    let ((response, _), ()) = tokio::join!(fixture.run(asked), async { stop.cancel() });
    assert_eq!(response["code"], "cancelled");
    assert!(began.elapsed() < Duration::from_secs(5));
    assert_eq!(fixture.call_count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cut_off_is_no_result() {
    for (timeout_ms, code) in [(400, "timeout"), (60_000, "cancelled")] {
        let mut setup = Setup::replying(&[FETCH]).await;
        setup.settings.timeout_ms = timeout_ms;
        setup.delay = Some(Duration::from_secs(20));
        let fixture = setup.build();
        let asked = request(QUESTION);
        let stop = asked.stop.clone();
        let began = Instant::now();
        let cancel = async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            stop.cancel();
        };
        let ((response, _), ()) = tokio::join!(fixture.run(asked), cancel);
        assert_eq!((&response["type"], &response["code"]), (&json!("blocked"), &json!(code)));
        assert_eq!(response["plan"]["tool"], "fetch_policy_entry");
        assert!(began.elapsed() < Duration::from_secs(10));
        assert!(fixture.journal().contains(r#""event":"tool_call""#), "{}", fixture.journal());
    }
}

#[tokio::test]
async fn a_server_that_stops_ends_its_runs() {
    let mut setup = Setup::scripted(|_| vec![Act::events(), Act::Silence]).await;
    setup.llm.stall_timeout_ms = 60_000;
    let fixture = setup.build();
    let stop = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        fixture.gate.begin_stopping();
    };
    let ((response, _), ()) = tokio::join!(fixture.ask(QUESTION), stop);
    assert_eq!(response["code"], "cancelled");
}

#[tokio::test]
async fn so_many_runs_at_once_and_no_more() {
    let mut setup = Setup::scripted(|_| vec![Act::Silence]).await;
    setup.settings.max_runs = 2;
    let fixture = setup.build();
    let run = || fixture.ask.run(request(QUESTION), &());
    let (one, two, three) = tokio::join!(run(), run(), run());
    let busy = [one, two, three].into_iter().filter(Result::is_err).count();
    assert_eq!(busy, 1);
}

#[tokio::test]
async fn questions_of_one_caller_leave_a_run_for_another() {
    let mut setup = Setup::scripted(|_| vec![Act::Silence]).await;
    setup.callers = ["ada", "bob"].map(Into::into).to_vec();
    let fixture = setup.build();
    let bobs = || ask::AskRequest { caller: gate::Caller::named("bob"), ..request(QUESTION) };
    let adas: Vec<_> = (0..8).filter_map(|_| fixture.ask.admit(&request(QUESTION)).ok()).collect();
    assert_eq!(adas.len(), 3);
    assert!(fixture.ask.metrics().contains("toolgate_ask_running 3"));
    let bob = fixture.ask.admit(&bobs()).unwrap_or_else(|why| panic!("{why}"));
    assert!(fixture.ask.admit(&bobs()).is_err());
    drop((adas, bob));
    assert!(fixture.ask.admit(&bobs()).is_ok());
}

#[tokio::test]
async fn a_tool_that_was_exchanged_while_the_model_thought_is_not_called() {
    // The catalogue is emptied after the question was asked and before the answer comes.
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    let receiver = std::sync::Mutex::new(Some(receiver));
    let relay =
        move |_: &testkit::PeerRequest| vec![Act::Relay(receiver.lock().unwrap().take().unwrap())];
    let fixture = Setup::scripted(relay).await.build();
    let change = async {
        tokio::time::sleep(Duration::from_millis(200)).await;
        fixture.gate.replace_catalogue(gate::Catalogue::default());
        let Act::Say(bytes) = reply(FETCH) else { unreachable!() };
        sender.send(bytes).unwrap();
    };
    let ((response, _), ()) = tokio::join!(fixture.ask(QUESTION), change);
    assert_eq!((&response["type"], fixture.call_count()), (&json!("blocked"), 0), "{response}");
}

#[tokio::test]
async fn a_tool_with_effects_is_used_only_where_the_settings_name_it() {
    let append = r#"{"type":"call_tool","server":"mcp-sharepoint","tool":"append_note","args":{"doc_id":"sp-001"}}"#;
    let mut setup = Setup::replying(&[append]).await;
    setup.settings.allow = vec!["mcp-sharepoint__append_note".into()];
    let fixture = setup.build();
    let (response, _) = fixture.ask("append a note to sp-001").await;
    assert_eq!((&response["type"], fixture.call_count()), (&json!("tool_result"), 1), "{response}");
}

#[tokio::test]
async fn a_tool_can_be_named_and_then_no_model_is_asked() {
    let fixture = Fixture::replying(&["no"]).await;
    let id = json!({ "policy_id": "policy-002" });
    for (tool, args, expected) in [
        ("mcp-policy-kb__fetch_policy_entry", id.clone(), "tool_result"),
        ("mcp-policy-kb.fetch_policy_entry", id.clone(), "tool_result"),
        ("fetch_policy_entry", id, "tool_result"),
        (
            "fetch_policy_entry",
            json!({}),
            "Plan validation failed: Missing required arg 'policy_id' for tool 'fetch_policy_entry'",
        ),
        (
            "fetch_policy_entry",
            json!({ "policy_id": "a", "x": 1 }),
            "Plan validation failed: Unexpected arg 'x' for tool 'fetch_policy_entry'",
        ),
        (
            "search_policy_kb",
            json!({ "query": "a", "top_k": 99 }),
            "Plan validation failed: Arg 'top_k' must be at most 50",
        ),
        ("nothing", json!({}), "Plan validation failed: Unknown tool 'nothing'"),
        (
            "delete_sharepoint_doc",
            json!({ "doc_id": "a" }),
            "Tool not allowed: mcp-sharepoint.delete_sharepoint_doc",
        ),
    ] {
        let args = args.as_object().unwrap().clone();
        let asked = AskRequest { tool: Some(tool.into()), args, ..request("anything at all") };
        let (response, _) = fixture.run(asked).await;
        let got = response.get("reason").unwrap_or(&response["type"]);
        assert_eq!(got, expected, "{tool}");
    }
    assert_eq!((fixture.call_count(), fixture.model.connections()), (3, 0));
}

#[tokio::test]
async fn a_plan_can_be_had_without_a_call() {
    let fixture = Fixture::replying(&[FETCH]).await;
    let (response, _) = fixture.run(AskRequest { plan_only: true, ..request(QUESTION) }).await;
    let plan: Value = serde_json::from_str(FETCH).unwrap();
    assert_eq!(response, json!({ "type": "plan", "plan": plan }));
    assert_eq!(fixture.call_count(), 0);
}
