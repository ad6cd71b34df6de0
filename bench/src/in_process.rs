//! The gate without HTTP: validate in, run echo, validate out, journal.

use std::{path::Path, sync::Arc, time::Instant};

use contract::Limits;
use gate::{
    Call, Caller, Catalogue, Door, Gate, GateParts, Journal, RequestId, SystemClock, Timestamp,
    Tool,
};
use serde_json::{Value, json};
use store::{Durability, LocalBlobs, Sqlite};

const CALLS: u32 = 200_000;

/// A gate on a folder that is thrown away.
pub fn gate(folder: &Path, settings: &tools::ToolSettings) -> anyhow::Result<Arc<Gate>> {
    let mut tools = Vec::new();
    for built_in in tools::built_in(settings) {
        let contract = contract::read::trusted(built_in.contract).map_err(anyhow::Error::msg)?;
        tools.push(Tool::new(contract, built_in.provider, &Limits::default())?);
    }
    Ok(Arc::new(Gate::new(GateParts {
        catalogue: Catalogue::new(tools),
        store: Arc::new(Sqlite::open(&folder.join("toolgate.db"), Durability::Process)?),
        blobs: Arc::new(LocalBlobs::open(folder, &[folder.join("work")], Durability::Process)?),
        journal: Journal::open(&folder.join("journal.jsonl"), 1 << 30, 1)?,
        clock: Arc::new(SystemClock),
        max_concurrency: 64,
        settings: gate::GateSettings::default(),
    })))
}

/// Microseconds a call.
pub fn report() -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let gate = gate(folder.path(), &tools::ToolSettings::default())?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let begin = Instant::now();
        runtime.block_on(async {
            for _ in 0..CALLS {
                let outcome =
                    gate.call(call("echo_json", json!({ "message": "hello", "n": 2 }))).await;
                assert_eq!(outcome.http_status(), 200);
            }
        });
        best = best.min(begin.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS));
    }
    println!("the gate in process, journal on: {best:.2} µs a call");
    Ok(())
}

/// A call as a door makes it.
pub fn call(tool: &str, input: Value) -> Call {
    Call::new(tool, input, Door::Rest, Caller::local(), RequestId::new(Timestamp(0)))
}
