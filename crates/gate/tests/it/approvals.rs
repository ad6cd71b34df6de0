//! Calls that a person must approve.

mod elicited;
mod jobs;
mod model;
mod previews;
mod store_failures;

use std::{
    ops::Deref,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use contract::Limits;
use gate::{
    ApprovalId, ApprovalState, BoxFuture, Call, Caller, Provider, RunningCall, Timestamp, Tool,
    ToolError, ToolOutput,
    approvals::{ApprovalDecision, ApprovalSettings, DecisionResult},
    quarantine::QuarantineSettings,
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::fixture::{TestGate, call};

/// How a tool shows what it would do.
#[derive(Clone, Copy, PartialEq)]
pub enum Preview {
    Nothing,
    Input,
    Panics,
    PanicsAtOnce,
    Hangs,
    Huge,
}

/// A tool that counts how often it ran.
struct Counting {
    runs: Arc<AtomicUsize>,
    preview: Preview,
}

impl Provider for Counting {
    fn run<'a>(&'a self, _: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async {
            let runs = self.runs.fetch_add(1, Ordering::SeqCst) + 1;
            Ok(ToolOutput::new(json!({ "runs": runs })))
        })
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        assert!(self.preview != Preview::PanicsAtOnce, "at once");
        Box::pin(async move {
            match self.preview {
                Preview::Nothing | Preview::PanicsAtOnce => None,
                Preview::Input => Some(format!("would write {}", call.input)),
                Preview::Panics => panic!("later"),
                Preview::Hangs => std::future::pending().await,
                Preview::Huge => Some("é".repeat(1_000_000)),
            }
        })
    }
}

fn contract(name: &str) -> String {
    format!(
        "name: {name}
description: Counts.
version: \"1\"
stability: experimental
toolset: counting
effects: write
approval: required
input_schema:
  type: object
  properties:
    path: {{ type: string, default: here }}
    number: {{ type: number }}
    key: {{ type: string, x-secret: true }}
    more: {{ type: object }}
  additionalProperties: false
output_schema: {{ type: object }}
"
    )
}

pub const SETTINGS: ApprovalSettings = ApprovalSettings {
    wait: Duration::from_secs(100),
    valid: Duration::from_secs(10),
    max_waiting: 5,
    max_waiting_of_caller: 5,
};

/// A gate with two tools that need an approval, `one` and `two`.
pub struct ApprovalGate(TestGate);

impl Deref for ApprovalGate {
    type Target = TestGate;

    fn deref(&self) -> &TestGate {
        &self.0
    }
}

impl ApprovalGate {
    pub fn new(preview: Preview) -> Self {
        let tools = move |runs: &Arc<AtomicUsize>| {
            let tool = |name: &str| {
                let contract = contract::read::trusted(&contract(name)).unwrap();
                let provider = Arc::new(Counting { runs: runs.clone(), preview });
                Tool::new(contract, provider, &Limits::default()).unwrap()
            };
            vec![tool("one"), tool("two")]
        };
        Self(TestGate::new(tools, SETTINGS, QuarantineSettings::default()))
    }

    pub fn second_process(&self) -> Self {
        Self(self.0.second_process())
    }

    pub fn database(&self) -> PathBuf {
        self.folder().join("toolgate.db")
    }

    /// The events about approvals, in their order.
    pub fn events(&self) -> Vec<String> {
        let lines = self.journal().into_iter();
        let names = lines.map(|line| line["event"].as_str().unwrap().to_owned());
        names.filter(|event| event.starts_with("approval_")).collect()
    }

    /// Whether the journal has this text anywhere.
    pub fn journal_has(&self, text: &str) -> bool {
        self.journal().iter().any(|line| line.to_string().contains(text))
    }

    /// Makes a call that has to wait; the id of its approval.
    pub async fn ask(&self, call: Call) -> ApprovalId {
        let outcome = self.call(call).await;
        let failure = outcome.result.unwrap_err();
        assert_eq!(failure.code, "approval_required", "{}", failure.message);
        let told = failure.details.unwrap()["approval_id"].as_str().unwrap().to_owned();
        assert_eq!(failure.approval.unwrap().as_str(), told);
        ApprovalId::parse(&told).unwrap()
    }

    pub async fn decide(&self, id: &ApprovalId, approve: bool) -> DecisionResult {
        let decision =
            ApprovalDecision { approve, by: "operator".into(), reason: Some("so it is".into()) };
        self.gate.decide(id, decision).await.unwrap()
    }

    pub async fn state(&self, id: &ApprovalId) -> ApprovalState {
        let found = self.gate.store().approval(id, self.gate.clock().now()).await;
        found.unwrap().unwrap().state
    }
}

pub fn with(call: Call, id: &ApprovalId) -> Call {
    call.approval(Some(id.clone()))
}

fn usual() -> Call {
    call("one", json!({ "path": "a" }))
}

#[tokio::test]
async fn one_approval_is_one_run() {
    let fixture = ApprovalGate::new(Preview::Input);
    let id = fixture.ask(usual()).await;
    assert_eq!(fixture.ask(usual()).await, id);
    assert_eq!(fixture.ask(with(usual(), &id)).await, id);
    assert!(matches!(fixture.decide(&id, true).await, DecisionResult::Done(_)));
    assert_eq!(fixture.code(with(usual(), &id)).await, "ok");
    // Used is used: a person is asked again.
    let replay = fixture.call(with(usual(), &id)).await.result.unwrap_err();
    assert_eq!(replay.code, "approval_required");
    assert!(replay.message.contains(&format!("the approval {id} was used already")));
    assert_ne!(replay.approval.as_ref(), Some(&id));
    assert_eq!(fixture.runs(), 1);
    let expected = ["requested", "approved", "used", "requested"];
    assert_eq!(fixture.events(), expected.map(|event| format!("approval_{event}")));
}

#[tokio::test]
async fn a_refusal_says_why_and_asks_nobody_again() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let id = fixture.ask(usual()).await;
    assert!(matches!(fixture.decide(&id, false).await, DecisionResult::Done(_)));
    let used = ApprovalId::new(Timestamp(1));
    for call in [usual(), with(usual(), &id), with(usual(), &used)] {
        let failure = fixture.call(call).await.result.unwrap_err();
        assert_eq!((&*failure.code, failure.http_status), ("not_allowed", 403));
        assert_eq!(failure.message, "a person refused this call: so it is");
        let told = failure.details.unwrap();
        assert_eq!((&told["reason"], &told["status"]), (&json!("so it is"), &json!("refused")));
    }
    assert_eq!(fixture.events(), ["approval_requested", "approval_refused"]);
    assert!(matches!(fixture.decide(&id, true).await, DecisionResult::TooLate(_)));
    // A no is good for as long as a yes.
    fixture.clock.advance_ms(10_000);
    assert_ne!(fixture.ask(usual()).await, id);
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn both_times_end_to_the_millisecond() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let id = fixture.ask(usual()).await;
    fixture.clock.advance_ms(99_999);
    assert_eq!(fixture.ask(with(usual(), &id)).await, id);
    fixture.clock.advance_ms(1);
    let failure = fixture.call(with(usual(), &id)).await.result.unwrap_err();
    assert!(failure.message.contains("policy.approval_wait_ms"), "{}", failure.message);
    let second = failure.approval.unwrap();
    assert!(matches!(fixture.decide(&id, true).await, DecisionResult::TooLate(_)));
    fixture.decide(&second, true).await;
    fixture.clock.advance_ms(10_000);
    let failure = fixture.call(with(usual(), &second)).await.result.unwrap_err();
    assert!(failure.message.contains("policy.approval_valid_ms"), "{}", failure.message);
    let third = failure.approval.unwrap();
    fixture.decide(&third, true).await;
    fixture.clock.advance_ms(9_999);
    assert_eq!(fixture.code(with(usual(), &third)).await, "ok");
    assert_eq!(fixture.runs(), 1);
}

#[tokio::test]
async fn what_is_bound_is_the_value_and_not_its_spelling() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let text = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let same = [
        (r#"{"number":1,"path":"here"}"#, r#"{"path":"here","number":1}"#),
        (r#"{"number":1}"#, r#"{"path":"here","number":1}"#),
        (r#"{"number":1e2}"#, r#"{"number":100.0}"#),
        (r#"{"path":"\u00e9"}"#, r#"{"path":"é"}"#),
        (r#"{"more":{"a":[1,{"b":2,"c":3}]}}"#, r#"{"more":{"a":[1,{"c":3,"b":2}]}}"#),
    ];
    for (asked, made) in same {
        let id = fixture.ask(call("one", text(asked))).await;
        fixture.decide(&id, true).await;
        assert_eq!(fixture.code(with(call("one", text(made)), &id)).await, "ok", "{asked} {made}");
    }
    assert_eq!(fixture.runs(), same.len());
    let others = [
        (r#"{"number":1}"#, r#"{"number":2}"#),
        (r#"{"number":9007199254740992}"#, r#"{"number":9007199254740993}"#),
        (r#"{"number":18446744073709551615}"#, r#"{"number":18446744073709551614}"#),
        // Two numbers of one value are printed in two ways, and a tool may see a difference.
        (r#"{"number":1}"#, r#"{"number":1.0}"#),
        (r#"{"number":0}"#, r#"{"number":-0.0}"#),
        ("{\"path\":\"\u{e9}\"}", "{\"path\":\"e\u{301}\"}"),
        (r#"{"path":"a"}"#, r#"{"path":"a "}"#),
        (r#"{"path":"a"}"#, r#"{"path":"a\u0000"}"#),
        (r#"{"more":{"a":[1,2]}}"#, r#"{"more":{"a":[2,1]}}"#),
        (r#"{"more":{"a":null}}"#, r#"{"more":{}}"#),
        (r#"{"key":"x"}"#, r#"{"key":"y"}"#),
        (r#"{"more":{"a":"1"}}"#, r#"{"more":{"a":1}}"#),
    ];
    for (asked, made) in others {
        let id = fixture.ask(call("one", text(asked))).await;
        fixture.decide(&id, true).await;
        let other = fixture.ask(with(call("one", text(made)), &id)).await;
        assert_ne!(other, id, "{asked} {made}");
        assert_eq!(fixture.state(&id).await, ApprovalState::Cancelled, "{asked} {made}");
        fixture.decide(&other, false).await;
        fixture.clock.advance_ms(10_000);
    }
    assert_eq!(fixture.runs(), same.len());
}

#[tokio::test]
async fn another_tool_another_caller_and_arguments_that_do_not_fit() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let id = fixture.ask(usual()).await;
    fixture.decide(&id, true).await;
    let eve = || usual().caller(Caller::named("eve"));
    let failure = fixture.call(with(eve(), &id)).await.result.unwrap_err();
    assert!(failure.message.contains("there is no such approval for this call"));
    // Eve learns nothing that she would not learn of one that nobody has.
    let nobodys = ApprovalId::new(Timestamp(1));
    let other = fixture.call(with(eve(), &nobodys)).await.result.unwrap_err();
    assert_eq!((failure.message, failure.details), (other.message, other.details));
    assert_eq!(fixture.state(&id).await, ApprovalState::Approved);
    // What is not valid is refused before anybody is asked, and costs nothing.
    let wrong = with(call("one", json!({ "path": 1 })), &id);
    assert_eq!(fixture.code(wrong).await, "invalid_input");
    assert_eq!(fixture.state(&id).await, ApprovalState::Approved);
    let other = with(call("two", json!({ "path": "a" })), &id);
    let failure = fixture.call(other).await.result.unwrap_err();
    assert_eq!(failure.code, "approval_required");
    let words = format!("the approval {id} is not for this call");
    assert!(failure.message.starts_with(&words), "{}", failure.message);
    assert_eq!(fixture.state(&id).await, ApprovalState::Cancelled);
    assert_eq!(fixture.code(with(usual(), &id)).await, "approval_required");
    assert!(matches!(fixture.decide(&id, true).await, DecisionResult::TooLate(_)));
    assert_eq!(fixture.runs(), 0);
    let expected = ["requested", "approved", "requested", "cancelled", "requested", "requested"];
    assert_eq!(fixture.events(), expected.map(|event| format!("approval_{event}")));
}

#[tokio::test]
async fn a_key_is_free_until_the_call_has_run() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let keyed = || usual().idempotency_key(Some("k".into()));
    let id = fixture.ask(keyed()).await;
    assert_eq!(fixture.ask(keyed()).await, id);
    fixture.decide(&id, true).await;
    let ran = fixture.call(with(keyed(), &id)).await;
    assert_eq!((ran.code(), ran.replayed), ("ok", false));
    // From now on the key has its outcome, and no further approval is asked for or used.
    for call in [with(keyed(), &id), keyed()] {
        let again = fixture.call(call).await;
        assert_eq!((again.code(), again.replayed), ("ok", true));
    }
    let second = fixture.ask(usual()).await;
    fixture.decide(&second, true).await;
    assert!(fixture.call(with(keyed(), &second)).await.replayed);
    assert_eq!(fixture.state(&second).await, ApprovalState::Approved);
    assert_eq!(fixture.runs(), 1);
    // A refusal gives the key back too.
    let other = || call("two", json!({})).idempotency_key(Some("r".into()));
    let third = fixture.ask(other()).await;
    fixture.decide(&third, false).await;
    assert_eq!(fixture.code(other()).await, "not_allowed");
    fixture.clock.advance_ms(10_000);
    fixture.ask(other()).await;
}

#[tokio::test]
async fn no_more_wait_than_the_settings_say() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let ask = |number: usize| call("one", json!({ "number": number }));
    for number in 0..5 {
        fixture.ask(ask(number)).await;
    }
    let failure = fixture.call(ask(5)).await.result.unwrap_err();
    assert_eq!((&*failure.code, failure.retry_after), ("too_many_requests", Some(60)));
    assert!(failure.message.contains("policy.max_waiting_approvals"), "{}", failure.message);
    // Those that wait can still be made again.
    fixture.ask(ask(0)).await;
    fixture.clock.advance_ms(100_000);
    fixture.ask(ask(5)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_calls_at_once_as_many_run_as_were_approved() {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let gates: Vec<_> = (0..4).map(|_| fixture.second_process()).collect();
    for round in 1..=5 {
        let id = fixture.ask(usual()).await;
        let decisions =
            (0..32).map(|number| {
                let (gate, id) = (gates[number % 4].gate.clone(), id.clone());
                let verdict =
                    ApprovalDecision { approve: true, by: "operator".into(), reason: None };
                async move {
                    matches!(gate.decide(&id, verdict).await.unwrap(), DecisionResult::Done(_))
                }
            });
        let done = decisions.collect::<JoinSet<_>>().join_all().await;
        assert_eq!(done.iter().filter(|done| **done).count(), 1);
        let calls = (0..64).map(|number| {
            let gate = gates[number % 4].gate.clone();
            let call = if number % 2 == 0 { usual() } else { with(usual(), &id) };
            async move { gate.call(call).await.code().to_owned() }
        });
        let mut codes = calls.collect::<JoinSet<_>>().join_all().await;
        codes.sort();
        assert_eq!((codes.pop().unwrap().as_str(), fixture.runs()), ("ok", round));
        assert!(codes.iter().all(|code| code == "approval_required"), "{codes:?}");
        // What the others have asked for in its place is refused, and forgotten.
        fixture.clock.advance_ms(200_000);
    }
}
