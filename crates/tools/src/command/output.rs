//! Reads a command's stdout as a result or an error.

use contract::{LargeOutput, StdoutForm, codes};
use gate::{CapturedText, OutputPayload, RunningCall, ToolError, ToolOutput};
use serde_json::{Map, Value, json};

/// The keys of the shape of `POST /v1/tools/execute`.
const TOOL_RESULT_KEYS: [&str; 9] = [
    "status",
    "solver",
    "summary",
    "stdout",
    "stderr",
    "exit_code",
    "artifacts",
    "metrics",
    "output",
];

/// The answer of a command that exited with 0.
pub(super) fn read(
    call: &RunningCall,
    stdout: &guard::process::CapturedOutput,
    stderr: CapturedText,
) -> Result<ToolOutput, ToolError> {
    let bytes = &stdout.bytes;
    let is_text = call.contract.output == StdoutForm::Text;
    let payload = if !is_text && bytes.iter().all(u8::is_ascii_whitespace) {
        OutputPayload::Missing
    } else if stdout.dropped > 0 {
        let reason = format!(
            "the command printed {} bytes, more than {}",
            bytes.len() as u64 + stdout.dropped,
            match call.contract.large_output {
                LargeOutput::Refuse => "max_output_bytes",
                LargeOutput::Artifact => "max_artifact_bytes",
            }
        );
        OutputPayload::Unreadable { text: String::from_utf8_lossy(bytes).into_owned(), reason }
    } else if is_text {
        text(bytes)
    } else {
        match contract::json::parse(bytes) {
            Ok(value) => OutputPayload::Json(value),
            Err(error) => OutputPayload::Unreadable {
                text: String::from_utf8_lossy(bytes).into_owned(),
                reason: format!("the command's stdout is not JSON: {error}"),
            },
        }
    };
    match payload {
        OutputPayload::Json(Value::Object(whole)) if !is_text && is_wrapped(call, &whole) => {
            unwrap(whole, stderr)
        }
        payload => Ok(ToolOutput { output: payload, stderr, ..ToolOutput::default() }),
    }
}

/// The result of a command that prints a text.
fn text(bytes: &[u8]) -> OutputPayload {
    match std::str::from_utf8(bytes) {
        Ok(text) => OutputPayload::Json(json!({ "text": text })),
        Err(error) => OutputPayload::Unreadable {
            text: String::from_utf8_lossy(bytes).into_owned(),
            reason: format!(
                "the command's stdout is not UTF-8 text: byte {} is wrong",
                error.valid_up_to() + 1
            ),
        },
    }
}

/// True if the object is a result in its envelope and not the result itself. A tool
/// whose own result has a `status` is never unwrapped.
fn is_wrapped(call: &RunningCall, whole: &Map<String, Value>) -> bool {
    let own_status = call.contract.output_schema.pointer("/properties/status").is_some();
    !own_status
        && matches!(whole.get("status").and_then(Value::as_str), Some("ok" | "error"))
        && whole.keys().all(|key| TOOL_RESULT_KEYS.contains(&key.as_str()))
}

fn unwrap(mut whole: Map<String, Value>, stderr: CapturedText) -> Result<ToolOutput, ToolError> {
    let mut text = |key: &str| match whole.remove(key) {
        Some(Value::String(text)) => text,
        _ => String::new(),
    };
    let failed = text("status") == "error";
    let summary = text("summary");
    let stdout = CapturedText { text: text("stdout"), dropped: 0 };
    let said = text("stderr");
    let stderr = if said.is_empty() { stderr } else { CapturedText { text: said, dropped: 0 } };
    let metrics = match whole.remove("metrics") {
        Some(Value::Object(metrics)) => metrics,
        _ => Map::new(),
    };
    if failed {
        let code = metrics.get("error_code").and_then(Value::as_str);
        let exit_code = whole.get("exit_code").and_then(Value::as_i64);
        return Err(ToolError {
            code: code.unwrap_or(codes::INTERNAL.code).to_owned(),
            message: if summary.is_empty() { "the command failed".into() } else { summary },
            stdout,
            stderr,
            exit_code: exit_code.and_then(|code| i32::try_from(code).ok()),
            metrics,
            ..ToolError::default()
        });
    }
    Ok(ToolOutput {
        output: whole.remove("output").map_or(OutputPayload::Missing, OutputPayload::Json),
        summary: (!summary.is_empty()).then_some(summary),
        stdout,
        stderr,
        metrics,
    })
}

/// The failure of a command that did not exit with 0: the one it names, or that.
pub(super) fn failure(
    stdout: &guard::process::CapturedOutput,
    stderr: CapturedText,
    exit_code: i32,
    message: String,
) -> ToolError {
    let named = contract::json::parse(&stdout.bytes).ok().and_then(|whole| {
        let error = whole.get("error")?;
        let code = error.get("code")?.as_str()?.to_owned();
        let text = error.get("message").and_then(Value::as_str).unwrap_or(&message).to_owned();
        Some((code, text, error.get("details").cloned()))
    });
    let mut error = match named {
        Some((code, text, details)) => {
            let mut error = ToolError::new(&code, text);
            error.details = details;
            error
        }
        None => {
            let mut error = ToolError::new(codes::INTERNAL.code, message);
            error.stdout = super::captured(stdout);
            error
        }
    };
    error.stderr = stderr;
    error.exit_code = Some(exit_code);
    error
}
