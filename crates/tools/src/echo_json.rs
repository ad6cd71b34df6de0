//! `echo_json`: says what it was told.

use gate::{RunningCall, ToolError, ToolOutput};
use serde_json::json;

use crate::integer;

pub(crate) fn run(call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let message = call.text("message").trim();
    if message.is_empty() {
        return Err(ToolError::invalid_input("message must be a non-empty string."));
    }
    let count = integer::argument(call, "n").unwrap_or(1);
    let bytes = (message.len() as u64).saturating_mul(count);
    if bytes > call.limits.max_output_bytes {
        return Err(ToolError::invalid_input("message is too long to be repeated that often."));
    }
    let mut answer = ToolOutput::new(json!({
        "message": message,
        "repeat": vec![message; usize::try_from(count).unwrap_or(1)],
    }));
    answer.summary = Some(format!("Echoed message {count} time(s)."));
    answer.metrics.insert("repeat_count".into(), json!(count));
    Ok(answer)
}
