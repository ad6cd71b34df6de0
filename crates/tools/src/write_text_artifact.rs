//! `write_text_artifact`: leaves a text as a file of the job.

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use serde_json::json;

pub(crate) struct WriteTextArtifact;

impl Provider for WriteTextArtifact {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(write(call))
    }
}

async fn write(call: &RunningCall) -> Result<ToolOutput, ToolError> {
    let (text, name) = (call.text("text"), call.text("filename"));
    guard::files::plain_name(name)
        .map_err(|error| ToolError::invalid_input(format!("filename {error}.")))?;
    let (bytes, max) = (text.len() as u64, call.limits.max_artifact_bytes);
    if bytes > max {
        return Err(ToolError::invalid_input(format!(
            "text exceeds max artifact size limit ({max} bytes)."
        )));
    }
    call.write_artifact(name, text.as_bytes().to_vec()).await?;
    let mut answer = ToolOutput::new(json!({ "filename": name, "bytes": bytes }));
    answer.summary = Some(format!("Wrote text artifact {name} ({bytes} bytes)."));
    answer.metrics.insert("artifact_bytes".into(), json!(bytes));
    Ok(answer)
}
