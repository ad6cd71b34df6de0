//! `hello`: a greeting, to see that the line works.

use gate::{Answer, Running, ToolError};
use serde_json::json;

#[allow(clippy::unnecessary_wraps)] // The shape of every tool.
pub(crate) fn run(call: &Running) -> Result<Answer, ToolError> {
    let name = call.text("name");
    let mut answer = Answer::new(json!({ "greeting": format!("Hello, {name}!") }));
    answer.summary = Some(format!("Greeted {name}."));
    Ok(answer)
}
