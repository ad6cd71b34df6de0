//! `read_file`: the text of a file.

use std::sync::Arc;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::FileError;
use serde_json::{Map, Value, json};

use super::{AgentFolder, failure};
use crate::{json_size::json_bytes, off_thread};

pub(crate) struct ReadFile(pub(crate) Arc<AgentFolder>);

impl Provider for ReadFile {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let (files, path) = (self.0.clone(), call.text("path").to_owned());
        let max_output_bytes = call.limits.max_output_bytes;
        Box::pin(off_thread(move || {
            let text = read(&files, &path).map_err(|error| failure::reading(&path, &error))?;
            if json_bytes(&text, max_output_bytes) > max_output_bytes {
                return Err(failure::too_large(format!(
                    "the result has more than {max_output_bytes} bytes (max_output_bytes)"
                )));
            }
            Ok(answer(&path, text))
        }))
    }
}

fn read(files: &AgentFolder, path: &str) -> Result<String, FileError> {
    files.tree.read_text(&files.path(path)?, files.settings.max_read_bytes)
}

/// The text is moved, not copied: it may be large.
fn answer(path: &str, text: String) -> ToolOutput {
    let bytes = text.len();
    let mut result = Map::new();
    result.insert("ok".into(), Value::Bool(true));
    result.insert("contents".into(), Value::String(text));
    let mut answer = ToolOutput::new(Value::Object(result));
    answer.summary = Some(format!("Read {path} ({bytes} bytes)."));
    answer.metrics.insert("bytes_read".into(), json!(bytes));
    answer
}
