//! `hello`: a greeting, to see that the line works.

use gate::{RunningCall, ToolError, ToolOutput};
use serde_json::json;

#[allow(clippy::unnecessary_wraps)] // The shape of every tool.
pub(crate) fn run(call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let name = call.text("name");
    let mut answer = ToolOutput::new(json!({ "greeting": format!("Hello, {name}!") }));
    answer.summary = Some(format!("Greeted {name}."));
    Ok(answer)
}
