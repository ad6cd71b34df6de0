//! `adam-sys-audit`: what this machine is, what runs on it, and what changed.
//!
//! The facts come from `machine`, anew at every call: an audit that remembers would report the
//! past. Looking takes a millisecond or two, but a disk or a driver may hang, so it is done on a
//! thread of its own.

mod diff_baseline;
mod list_hardware;
mod list_software;

use std::sync::Arc;

use contract::codes;
pub(crate) use diff_baseline::DiffBaseline;
use gate::{RunningCall, ToolError, ToolOutput};
pub(crate) use list_hardware::ListHardware;
pub(crate) use list_software::ListSoftware;
use machine::KeyPackages;
use serde::Serialize;

use crate::{json_size::printed, settings::SysAuditSettings};

/// The packages that the operator wants to see.
pub(crate) fn key_packages(settings: &SysAuditSettings) -> Arc<KeyPackages> {
    Arc::new(KeyPackages::new(&settings.key_packages))
}

/// An answer with a line for people, if it is one that the call has room for.
fn answer(
    call: &RunningCall,
    facts: &impl Serialize,
    summary: String,
) -> Result<ToolOutput, ToolError> {
    let failed =
        |error: serde_json::Error| ToolError::internal("the audit failed", error.to_string());
    let max = call.limits.max_output_bytes;
    let bytes = printed(facts).map_err(failed)?;
    if bytes > max {
        let message = format!("the result has {bytes} bytes, more than {max} (max_output_bytes)");
        return Err(ToolError::new(codes::TOO_LARGE.code, message));
    }
    let output = serde_json::to_value(facts).map_err(failed)?;
    let mut answer = ToolOutput::new(output);
    answer.summary = Some(summary);
    Ok(answer)
}
