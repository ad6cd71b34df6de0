//! A call that cannot be recorded.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use contract::Limits;
use gate::{
    BoxFuture, Catalogue, Clock, Gate, GateParts, Journal, Provider, Recording, RunningCall,
    Timestamp, Tool, ToolError, ToolOutput,
};
use serde_json::json;
use store::{Durability, LocalBlobs, Sqlite};

use crate::fixture::call;

/// A clock that panics from some moment on.
struct BrokenClock(Arc<AtomicBool>);

impl Clock for BrokenClock {
    fn now(&self) -> Timestamp {
        assert!(!self.0.load(Ordering::SeqCst), "the clock is broken");
        Timestamp(1_000_000)
    }
}

/// A tool that breaks the clock.
struct BreaksClock(Arc<AtomicBool>);

impl Provider for BreaksClock {
    fn run<'a>(&'a self, _: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        self.0.store(true, Ordering::SeqCst);
        Box::pin(std::future::ready(Ok(ToolOutput::new(json!({})))))
    }
}

const CONTRACT: &str = "name: breaks
description: Breaks the clock.
version: \"1\"
stability: experimental
toolset: breaking
effects: none
input_schema: { type: object, additionalProperties: false }
output_schema: { type: object }
";

#[tokio::test]
async fn a_panic_while_recording_keeps_the_tool_and_the_request() {
    let (folder, broken) = (tempfile::tempdir().unwrap(), Arc::new(AtomicBool::new(false)));
    let contract = contract::read::trusted(CONTRACT).unwrap();
    let provider = Arc::new(BreaksClock(broken.clone()));
    let path = folder.path();
    let gate = Arc::new(Gate::new(GateParts {
        catalogue: Catalogue::new([Tool::new(contract, provider, &Limits::default()).unwrap()]),
        store: Arc::new(Sqlite::open(&path.join("toolgate.db"), Durability::Process).unwrap()),
        blobs: Arc::new(LocalBlobs::open(path, &[path.join("work")], Durability::Process).unwrap()),
        journal: Journal::open(&path.join("journal.jsonl"), 1 << 30, 1).unwrap(),
        clock: Arc::new(BrokenClock(broken)),
        max_concurrency: 1,
        settings: gate::GateSettings::default(),
    }));
    let call = call("breaks", json!({})).recording(Recording::Always);
    let request_id = call.request_id.clone();
    let outcome = gate.call(call).await;
    assert_eq!((&*outcome.tool, &outcome.request_id), ("breaks", &request_id));
    let failure = outcome.result.unwrap_err();
    assert_eq!((&*failure.code, failure.http_status), ("internal", 500));
    assert_eq!(failure.message, "the call could not be recorded");
    assert!(!gate.is_running());
}
