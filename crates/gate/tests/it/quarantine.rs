//! Outputs that are checked, quarantined and released.

mod large_outputs;
mod modes;
mod releases;

use std::{
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use contract::Limits;
use gate::{
    BoxFuture, Call, EnforcementMode, Outcome, OutputPayload, Provider, RunningCall, Tool,
    ToolError, ToolOutput,
    approvals::ApprovalSettings,
    quarantine::{
        QuarantineEntry, QuarantineFilter, QuarantineSettings, QuarantineState, ReleaseDecision,
        ReleaseResult,
    },
};
use serde_json::{Value, json};

use crate::fixture::{self, TestGate};

/// A tool that counts how often it ran.
struct Answering {
    runs: Arc<AtomicUsize>,
    answer: Arc<dyn Fn(&RunningCall) -> OutputPayload + Send + Sync>,
    /// A file that it leaves.
    leaves: Option<&'static str>,
}

impl Provider for Answering {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.runs.fetch_add(1, Ordering::SeqCst);
            if let Some(name) = self.leaves {
                call.write_artifact(name, b"mine".to_vec()).await?;
            }
            Ok(ToolOutput { output: (self.answer)(call), ..ToolOutput::default() })
        })
    }
}

fn contract(name: &str, addition: &str) -> String {
    format!(
        "name: {name}
description: Answers.
version: \"1\"
stability: experimental
toolset: answering
effects: none
{addition}
input_schema:
  type: object
  properties:
    n: {{ type: integer, default: 1 }}
  additionalProperties: false
output_schema:
  type: object
  properties:
    text: {{ type: string }}
  required: [text]
  additionalProperties: false
"
    )
}

pub const RELEASE_VALID: Duration = Duration::from_secs(10);

/// A gate with one tool, `one`.
pub struct QuarantineGate(TestGate);

impl Deref for QuarantineGate {
    type Target = TestGate;

    fn deref(&self) -> &TestGate {
        &self.0
    }
}

impl QuarantineGate {
    pub fn new(answer: impl Fn(&RunningCall) -> OutputPayload + Send + Sync + 'static) -> Self {
        Self::with("", EnforcementMode::Enforce, None, answer)
    }

    pub fn with(
        addition: &str,
        mode: EnforcementMode,
        leaves: Option<&'static str>,
        answer: impl Fn(&RunningCall) -> OutputPayload + Send + Sync + 'static,
    ) -> Self {
        let (addition, answer) = (addition.to_owned(), Arc::new(answer));
        let tools = move |runs: &Arc<AtomicUsize>| {
            let contract = contract::read::trusted(&contract("one", &addition)).unwrap();
            let provider = Answering { runs: runs.clone(), answer: answer.clone(), leaves };
            let tool = Tool::new(contract, Arc::new(provider), &Limits::default()).unwrap();
            vec![tool.with_mode(mode)]
        };
        let quarantine = QuarantineSettings { release_valid: RELEASE_VALID };
        Self(TestGate::new(tools, ApprovalSettings::default(), quarantine))
    }

    pub fn second_process(&self) -> Self {
        Self(self.0.second_process())
    }

    /// Makes a call whose answer is stopped; the id of the entry.
    pub async fn stopped(&self, call: Call) -> String {
        let failure = self.call(call).await.result.unwrap_err();
        assert_eq!(failure.code, "invalid_output", "{}", failure.message);
        failure.details.unwrap()["quarantine_id"].as_str().unwrap().to_owned()
    }

    pub async fn entry(&self, id: &str) -> QuarantineEntry {
        let now = self.gate.clock().now();
        self.gate.store().quarantined(id, now).await.unwrap().unwrap()
    }

    pub async fn state(&self, id: &str) -> QuarantineState {
        self.entry(id).await.summary.state
    }

    pub async fn entries(&self) -> usize {
        let filter = QuarantineFilter { limit: 1_000, ..QuarantineFilter::default() };
        self.gate.store().all_quarantined(filter, self.gate.clock().now()).await.unwrap().len()
    }

    pub async fn release(&self, id: &str) -> ReleaseResult {
        let decision = ReleaseDecision { by: "operator".into(), reason: Some("it is fine".into()) };
        self.gate.release(id, decision).await.unwrap()
    }
}

/// A call by `ada`.
pub fn call(input: Value) -> Call {
    fixture::call("one", input)
}

pub fn usual() -> Call {
    call(json!({}))
}

/// The result of a call, as a value.
pub fn output(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.result.as_ref().unwrap().json.get()).unwrap()
}

/// What `POST /v1/tools/execute` says of it.
pub fn executed(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.tool_result().get()).unwrap()
}
