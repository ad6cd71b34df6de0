//! A whole gate on a folder of its own.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use gate::{
    Call, Caller, Catalogue, Door, Gate, GateParts, GateSettings, Journal, ManualClock, Outcome,
    RequestId, Timestamp, Tool, approvals::ApprovalSettings, quarantine::QuarantineSettings,
};
use serde_json::Value;
use store::{Durability, LocalBlobs, Sqlite};
use tempfile::TempDir;

/// Makes the tools of a gate; they count their runs here.
pub type MakeTools = Arc<dyn Fn(&Arc<AtomicUsize>) -> Vec<Tool> + Send + Sync>;

/// A gate, its folder and its clock.
pub struct TestGate {
    pub gate: Arc<Gate>,
    pub clock: Arc<ManualClock>,
    runs: Arc<AtomicUsize>,
    folder: Arc<TempDir>,
    tools: MakeTools,
    approvals: ApprovalSettings,
    quarantine: QuarantineSettings,
}

impl TestGate {
    pub fn new(
        tools: impl Fn(&Arc<AtomicUsize>) -> Vec<Tool> + Send + Sync + 'static,
        approvals: ApprovalSettings,
        quarantine: QuarantineSettings,
    ) -> Self {
        let clock = Arc::new(ManualClock::default());
        clock.advance_ms(1_000_000);
        let folder = Arc::new(tempfile::tempdir().unwrap());
        Self::open(Arc::new(tools), clock, Arc::default(), folder, approvals, quarantine)
    }

    /// The same folder, clock and count in another process.
    pub fn second_process(&self) -> Self {
        Self::open(
            self.tools.clone(),
            self.clock.clone(),
            self.runs.clone(),
            self.folder.clone(),
            self.approvals,
            self.quarantine,
        )
    }

    fn open(
        tools: MakeTools,
        clock: Arc<ManualClock>,
        runs: Arc<AtomicUsize>,
        folder: Arc<TempDir>,
        approvals: ApprovalSettings,
        quarantine: QuarantineSettings,
    ) -> Self {
        let path = folder.path();
        let store = Sqlite::open(&path.join("toolgate.db"), Durability::Process).unwrap();
        let gate = Arc::new(Gate::new(GateParts {
            catalogue: Catalogue::new(tools(&runs)),
            store: Arc::new(store),
            blobs: Arc::new(
                LocalBlobs::open(path, &[path.join("work")], Durability::Process).unwrap(),
            ),
            journal: Journal::open(&path.join("journal.jsonl"), 1 << 30, 1).unwrap(),
            clock: clock.clone(),
            max_concurrency: 256,
            settings: GateSettings { approvals, quarantine, ..GateSettings::default() },
        }));
        Self { gate, clock, runs, folder, tools, approvals, quarantine }
    }

    pub fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn journal(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder().join("journal.jsonl")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    pub async fn call(&self, call: Call) -> Outcome {
        self.gate.call(call).await
    }

    pub async fn code(&self, call: Call) -> String {
        self.call(call).await.code().to_owned()
    }
}

/// A call by `ada`.
pub fn call(tool: &str, input: Value) -> Call {
    Call::new(tool, input, Door::Rest, Caller::named("ada"), RequestId::new(Timestamp(1)))
}
