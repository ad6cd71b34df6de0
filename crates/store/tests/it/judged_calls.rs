//! Calls whose answers are judged, through a whole gate on the embedded store and a clock that
//! stands still.

mod large;
mod modes;
mod released;

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use contract::{LimitOverrides, Limits};
use gate::{
    BoxFuture, Call, CallChannel, Caller, Catalogue, Door, EnforcementMode, Gate, GateParts,
    Journal, ManualClock, Outcome, OutputPayload, Provider, Recording, RequestId, RunningCall,
    Timestamp, Tool, ToolError, ToolOutput,
    quarantine::{
        QuarantineEntry, QuarantineFilter, QuarantineSettings, QuarantineState, ReleaseDecision,
        ReleaseResult,
    },
};
use serde_json::{Value, json};
use store::LocalBlobs;

use crate::direct;

/// What a tool answers.
type Says = Box<dyn Fn(&RunningCall) -> OutputPayload + Send + Sync>;

/// A tool that counts how often it ran.
struct Saying {
    runs: Arc<AtomicUsize>,
    says: Arc<Says>,
    /// A file that it leaves.
    leaves: Option<&'static str>,
}

impl Provider for Saying {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            self.runs.fetch_add(1, Ordering::SeqCst);
            if let Some(name) = self.leaves {
                call.write_artifact(name, b"mine".to_vec()).await?;
            }
            Ok(ToolOutput { output: (self.says)(call), ..ToolOutput::default() })
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

/// A gate with one tool, `one`, on a folder of its own.
pub struct Hall {
    pub gate: Arc<Gate>,
    pub clock: Arc<ManualClock>,
    runs: Arc<AtomicUsize>,
    says: Arc<Says>,
    folder: Arc<tempfile::TempDir>,
    addition: String,
    mode: EnforcementMode,
    leaves: Option<&'static str>,
}

impl Hall {
    pub fn new(says: impl Fn(&RunningCall) -> OutputPayload + Send + Sync + 'static) -> Self {
        Self::with("", EnforcementMode::Enforce, None, says)
    }

    pub fn with(
        addition: &str,
        mode: EnforcementMode,
        leaves: Option<&'static str>,
        says: impl Fn(&RunningCall) -> OutputPayload + Send + Sync + 'static,
    ) -> Self {
        let clock = Arc::new(ManualClock::default());
        clock.advance_ms(1_000_000);
        let (runs, folder) = (Arc::default(), Arc::new(tempfile::tempdir().unwrap()));
        let says: Arc<Says> = Arc::new(Box::new(says));
        let saying = Saying { runs: Arc::clone(&runs), says: says.clone(), leaves };
        let gate = gate(folder.path(), &clock, addition, mode, saying);
        Self { gate, clock, runs, says, folder, addition: addition.into(), mode, leaves }
    }

    /// The same folder, clock and tool in another process.
    pub fn beside(&self) -> Self {
        let saying =
            Saying { runs: self.runs.clone(), says: self.says.clone(), leaves: self.leaves };
        let gate = gate(self.folder.path(), &self.clock, &self.addition, self.mode, saying);
        Self {
            gate,
            clock: self.clock.clone(),
            runs: self.runs.clone(),
            says: self.says.clone(),
            folder: self.folder.clone(),
            addition: self.addition.clone(),
            mode: self.mode,
            leaves: self.leaves,
        }
    }

    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.path().join("journal.jsonl")).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub async fn call(&self, call: Call) -> Outcome {
        self.gate.call(call).await
    }

    /// Makes a call whose answer is stopped; the entry.
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

pub const RELEASE_VALID: Duration = Duration::from_secs(10);

fn gate(
    folder: &Path,
    clock: &Arc<ManualClock>,
    addition: &str,
    mode: EnforcementMode,
    saying: Saying,
) -> Arc<Gate> {
    let contract = contract::read::trusted(&contract("one", addition)).unwrap();
    let tool = Tool::new(contract, Arc::new(saying), &Limits::default()).unwrap().with_mode(mode);
    Arc::new(Gate::new(GateParts {
        catalogue: Catalogue::new([tool]),
        store: Arc::new(direct(folder)),
        blobs: Arc::new(LocalBlobs::open(folder, store::Durability::Process).unwrap()),
        journal: Journal::open(&folder.join("journal.jsonl"), 1 << 30, 1).unwrap(),
        clock: clock.clone(),
        max_concurrency: 256,
        ceilings: Limits::default_ceilings(),
        approvals: gate::approvals::ApprovalSettings::default(),
        quarantine: QuarantineSettings { release_valid: RELEASE_VALID },
    }))
}

/// A call by `ada`.
pub fn call(input: Value) -> Call {
    Call {
        tool: "one".into(),
        toolset: None,
        meant: None,
        input,
        limits: LimitOverrides::default(),
        caller: Caller::named("ada"),
        door: Door::Rest,
        request_id: RequestId::new(Timestamp(1)),
        recording: Recording::WhenNeeded,
        idempotency_key: None,
        approval: None,
        channel: CallChannel::default(),
        stop: tokio_util::sync::CancellationToken::new(),
    }
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
