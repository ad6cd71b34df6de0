//! `list_hardware`: what this machine is made of.

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use machine::Places;

use super::{answer, count, look};

pub(crate) struct ListHardware;

impl Provider for ListHardware {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(list(call))
    }
}

async fn list(call: &Running) -> Result<Answer, ToolError> {
    let hardware = look(|| machine::hardware(&Places::here())).await?;
    let summary = format!(
        "{}, {} GiB of memory, {}, {}.",
        count(hardware.cpu.cores, "core"),
        hardware.ram_gb.total,
        count(hardware.disks.len(), "disk"),
        count(hardware.gpus.len(), "GPU"),
    );
    answer(call, &hardware, summary)
}
