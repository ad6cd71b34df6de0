//! `diff_baseline`: what changed on this machine since an earlier answer.

use std::sync::Arc;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use machine::{KeyPackages, MachineEnvironment};
use serde_json::json;

use super::answer;
use crate::off_thread;

pub(crate) struct DiffBaseline(pub(crate) Arc<KeyPackages>);

impl Provider for DiffBaseline {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(diff(self.0.clone(), call))
    }
}

async fn diff(key: Arc<KeyPackages>, call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let baseline = call.input.get("baseline").cloned().unwrap_or_default();
    let changes = off_thread(move || {
        machine::diff(&MachineEnvironment::here(), &key, &baseline)
            .map_err(|error| ToolError::new("invalid_baseline", error.to_string()))
    })
    .await?;
    let summary = format!(
        "{} added, {} removed, {} modified.",
        changes.added.len(),
        changes.removed.len(),
        changes.modified.len(),
    );
    answer(call, &json!({ "changes": changes }), summary)
}
