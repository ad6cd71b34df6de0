//! The person in front of a client that is trusted to ask.

use gate::{ApprovalId, ApprovalState, Call, CallChannel, InputCapabilities};
use serde_json::{Map, Value, json};
use tokio::task::JoinSet;

use super::{ApprovalGate, Preview, call, usual};

fn channel(trusted: bool, capabilities: bool, replies: Value) -> CallChannel {
    let Value::Object(replies) = replies else { panic!() };
    let capabilities =
        InputCapabilities { elicitation: capabilities, sampling: false, roots: false };
    CallChannel { replies, capabilities, may_approve: trusted, ..CallChannel::default() }
}

fn at_client(call: Call, replies: Value) -> Call {
    call.channel(channel(true, true, replies))
}

/// The name of the question that a call ends with, and its form.
async fn asks(fixture: &ApprovalGate, call: Call) -> (String, Value) {
    let failure = fixture.call(call).await.result.unwrap_err();
    let questions = failure.questions.expect("a question");
    let (name, question) = questions.iter().next().unwrap();
    (name.clone(), question.params.clone())
}

/// A gate with a usual call that waits, and the name of its question.
async fn asked() -> (ApprovalGate, String) {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let (name, _) = asks(&fixture, at_client(usual(), json!({}))).await;
    (fixture, name)
}

fn reply(name: &str, reply: &Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), reply.clone())]))
}

fn yes() -> Value {
    json!({ "action": "accept", "content": { "approve": true } })
}

fn id(name: &str) -> ApprovalId {
    ApprovalId::parse(name.strip_prefix("approve_").unwrap()).unwrap()
}

#[tokio::test]
async fn a_yes_lets_the_call_run_once() {
    let fixture = ApprovalGate::new(Preview::Input);
    let (name, form) = asks(&fixture, at_client(usual(), json!({}))).await;
    let message = form["message"].as_str().unwrap();
    assert!(message.contains("Allow one call of `one` (toolset counting, effects: write)?"));
    assert!(message.contains("\"path\": \"a\"") && message.contains("would write"), "{message}");
    assert_eq!(form["requestedSchema"]["properties"]["approve"]["default"], false);
    assert_eq!(fixture.code(at_client(usual(), reply(&name, &yes()))).await, "ok");
    // The same reply is good for nothing more.
    let (other, _) = asks(&fixture, at_client(usual(), reply(&name, &yes()))).await;
    assert_ne!(other, name);
    assert_eq!(fixture.runs(), 1);
    let expected = ["requested", "approved", "used", "requested"];
    assert_eq!(fixture.events(), expected.map(|event| format!("approval_{event}")));
    assert!(fixture.journal_has("the person in front of `ada`"));
}

#[tokio::test]
async fn only_an_explicit_yes_is_one() {
    let no = [
        json!({ "action": "decline" }),
        json!({ "action": "cancel" }),
        json!({ "action": "decline", "content": { "approve": true } }),
        json!({ "action": "cancel", "content": { "approve": true } }),
        json!({ "action": "accept", "content": { "approve": false } }),
    ];
    for said in no {
        let (fixture, name) = asked().await;
        assert_eq!(fixture.code(at_client(usual(), reply(&name, &said))).await, "not_allowed");
        assert_eq!(fixture.state(&id(&name)).await, ApprovalState::Refused, "{said}");
        assert_eq!(fixture.runs(), 0);
    }
    let neither = [
        json!(true),
        json!({ "approve": true }),
        json!({ "action": "accept" }),
        json!({ "action": "accept", "content": {} }),
        json!({ "action": "accept", "content": { "approve": "true" } }),
        json!({ "action": "accept", "content": { "approve": 1 } }),
        json!({ "action": "accept", "content": [true] }),
        json!({ "action": "ACCEPT", "content": { "approve": true } }),
        json!({ "content": { "approve": true } }),
    ];
    for said in neither {
        let (fixture, name) = asked().await;
        // Asked again.
        assert_eq!(asks(&fixture, at_client(usual(), reply(&name, &said))).await.0, name, "{said}");
        assert_eq!(fixture.runs(), 0);
    }
}

#[tokio::test]
async fn a_refusal_carries_the_reason() {
    let (fixture, name) = asked().await;
    let said =
        json!({ "action": "accept", "content": { "approve": false, "reason": " not now " } });
    let failure = fixture.call(at_client(usual(), reply(&name, &said))).await.result.unwrap_err();
    assert_eq!(failure.message, "a person refused this call: not now");
    assert_eq!(failure.details.unwrap()["reason"], "not now");
}

#[tokio::test]
async fn who_is_not_trusted_or_cannot_ask_is_not_heard() {
    for (trusted, capabilities) in [(false, true), (true, false), (false, false)] {
        let fixture = ApprovalGate::new(Preview::Nothing);
        let make = |replies| usual().channel(channel(trusted, capabilities, replies));
        let waiting = fixture.ask(make(json!({}))).await;
        let said = reply(&format!("approve_{waiting}"), &yes());
        assert_eq!(fixture.ask(make(said)).await, waiting);
        assert_eq!(fixture.state(&waiting).await, ApprovalState::Waiting);
        assert_eq!(fixture.runs(), 0);
    }
}

#[tokio::test]
async fn nobody_answers_for_another_call() {
    let (fixture, mine) = asked().await;
    let other = call("one", json!({ "path": "other" }));
    let (name, _) = asks(&fixture, at_client(other, reply(&mine, &yes()))).await;
    assert_ne!(name, mine);
    let eve = usual().caller(gate::Caller::named("eve"));
    let (name, _) = asks(&fixture, at_client(eve, reply(&mine, &yes()))).await;
    assert_ne!(name, mine);
    assert_eq!(fixture.state(&id(&mine)).await, ApprovalState::Waiting);
    for forged in ["approve_", "approve_apr_x", "approve", "", "approve_apr_' OR 1=1 --"] {
        let (name, _) = asks(&fixture, at_client(usual(), reply(forged, &yes()))).await;
        assert_eq!(name, mine, "{forged}");
    }
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn a_no_here_is_a_no_whatever_the_operator_says_meanwhile() {
    for said in [json!({ "action": "decline" }), json!({ "action": "cancel" })] {
        let (fixture, name) = asked().await;
        fixture.decide(&id(&name), true).await;
        assert_eq!(fixture.code(at_client(usual(), reply(&name, &said))).await, "not_allowed");
        // Also for whoever tries again.
        assert_eq!(fixture.code(usual()).await, "not_allowed");
        assert_eq!(fixture.runs(), 0);
    }
    // And a yes here does not undo the operator's no.
    let (fixture, name) = asked().await;
    fixture.decide(&id(&name), false).await;
    assert_eq!(fixture.code(at_client(usual(), reply(&name, &yes()))).await, "not_allowed");
    assert_eq!(fixture.runs(), 0);
    // Two who say yes are one yes.
    let (fixture, name) = asked().await;
    fixture.decide(&id(&name), true).await;
    assert_eq!(fixture.code(at_client(usual(), reply(&name, &yes()))).await, "ok");
    let (other, _) = asks(&fixture, at_client(usual(), reply(&name, &yes()))).await;
    assert_ne!(other, name);
    assert_eq!(fixture.runs(), 1);
}

#[tokio::test]
async fn a_yes_that_comes_too_late_is_none() {
    let (fixture, name) = asked().await;
    fixture.clock.advance_ms(100_000);
    let (other, _) = asks(&fixture, at_client(usual(), reply(&name, &yes()))).await;
    assert_ne!(other, name);
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn the_form_shows_what_would_hide() {
    let fixture = ApprovalGate::new(Preview::Input);
    let input = json!({ "path": "a\u{202e}b\u{200b}c\u{1b}[2J\u{e0041}", "key": "hunter2" });
    let (_, form) = asks(&fixture, at_client(call("one", input), json!({}))).await;
    let message = form["message"].as_str().unwrap();
    // The tool's own preview is the tool's to keep clear of secrets.
    let (arguments, _) = message.split_once("What it would do").unwrap();
    assert!(!arguments.contains("hunter2"), "{arguments}");
    for hidden in ['\u{202e}', '\u{200b}', '\u{1b}', '\u{e0041}'] {
        assert!(!message.contains(hidden), "{hidden:?}");
    }
    assert!(message.contains("\\u{202e}"), "{message}");
}

#[tokio::test]
async fn of_many_replies_at_once_one_runs() {
    let (fixture, name) = asked().await;
    let replies = (0..32).map(|_| {
        let (gate, call) = (fixture.gate.clone(), at_client(usual(), reply(&name, &yes())));
        async move { gate.call(call).await.code() == "ok" }
    });
    let ran = replies.collect::<JoinSet<_>>().join_all().await;
    assert_eq!((ran.iter().filter(|ran| **ran).count(), fixture.runs()), (1, 1));
}
