//! `list_hardware`: what this machine is made of.

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use machine::MachineEnvironment;

use super::{answer, count, look};

pub(crate) struct ListHardware;

impl Provider for ListHardware {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(list(call))
    }
}

async fn list(call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let hardware = look(|| machine::hardware(&MachineEnvironment::here())).await?;
    let summary = format!(
        "{}, {} GiB of memory, {}, {}.",
        count(hardware.cpu.cores, "core"),
        hardware.ram_gb.total,
        count(hardware.disks.len(), "disk"),
        count(hardware.gpus.len(), "GPU"),
    );
    answer(call, &hardware, summary)
}
