//! The error of a call whose model failed. Nothing that the endpoint said is passed on to the caller.

use gate::{RunningCall, ToolError};
use llm::Error;
use serde_json::json;

const MODEL_ERROR: &str = "model_error";

/// The failure of a call whose model failed like this.
pub(super) fn of(error: &Error, call: &RunningCall) -> ToolError {
    let mut failure = match error {
        Error::Cancelled if call.is_late() => {
            let milliseconds = call.limits.timeout_ms;
            let message = format!("the model was not done within {milliseconds} ms (`timeout_ms`)");
            ToolError::new(contract::codes::TIMEOUT.code, message)
        }
        Error::Cancelled => {
            return ToolError::new(contract::codes::CANCELLED.code, error.to_string());
        }
        Error::Stalled { .. } => ToolError::new(contract::codes::TIMEOUT.code, error.to_string()),
        _ => ToolError::new(MODEL_ERROR, error.to_string()),
    };
    failure.details = Some(match error {
        Error::Status { status, .. } => json!({ "reason": error.word(), "status": status }),
        Error::Cancelled => json!({ "reason": "late" }),
        _ => json!({ "reason": error.word() }),
    });
    if let Error::Status { retry_after, .. } = error {
        failure.retry_after = *retry_after;
    }
    failure.operator = error.operator().map(|said| format!("{error}: {said}"));
    failure
}
