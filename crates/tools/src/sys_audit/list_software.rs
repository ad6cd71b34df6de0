//! `list_software`: what runs on this machine.

use std::sync::Arc;

use contract::counted;
use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use machine::{KeyPackages, MachineEnvironment, Selection};

use super::answer;
use crate::off_thread;

pub(crate) struct ListSoftware(pub(crate) Arc<KeyPackages>);

impl Provider for ListSoftware {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(list(self.0.clone(), call))
    }
}

async fn list(key: Arc<KeyPackages>, call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let all = call.input.get("all").and_then(serde_json::Value::as_bool).unwrap_or(false);
    let software = off_thread(move || {
        let selection = if all { Selection::all() } else { Selection::key(&key) };
        Ok(machine::software(&MachineEnvironment::here(), &selection))
    })
    .await?;
    let summary = format!(
        "{}, kernel {}, Python {}, {}.",
        software.os_version,
        software.kernel,
        software.python_version,
        counted(software.packages.len(), if all { "package" } else { "key package" }),
    );
    answer(call, &software, summary)
}
