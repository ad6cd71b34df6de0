//! `list_hardware`: what this machine is made of.

use contract::counted;
use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use machine::MachineEnvironment;

use super::answer;
use crate::off_thread;

pub(crate) struct ListHardware;

impl Provider for ListHardware {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(list(call))
    }
}

async fn list(call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let hardware = off_thread(|| Ok(machine::hardware(&MachineEnvironment::here()))).await?;
    let summary = format!(
        "{}, {} GiB of memory, {}, {}.",
        counted(hardware.cpu.cores, "core"),
        hardware.ram_gb.total,
        counted(hardware.disks.len(), "disk"),
        counted(hardware.gpus.len(), "GPU"),
    );
    answer(call, &hardware, summary)
}
