//! `read_file`: the text of a file.

use std::sync::Arc;

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use guard::files::FileError;
use serde_json::{Map, Value, json};

use super::{AROUND_BYTES, Files, MAX_GROWTH, failure, off_thread};

pub(crate) struct ReadFile(pub(crate) Arc<Files>);

impl Provider for ReadFile {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
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

fn read(files: &Files, path: &str) -> Result<String, FileError> {
    files.tree.read_text(&files.path(path)?, files.settings.max_read_bytes)
}

/// The text is moved, not copied: it may be large.
fn answer(path: &str, text: String) -> Answer {
    let bytes = text.len();
    let mut result = Map::new();
    result.insert("ok".into(), Value::Bool(true));
    result.insert("contents".into(), Value::String(text));
    let mut answer = Answer::new(Value::Object(result));
    answer.summary = Some(format!("Read {path} ({bytes} bytes)."));
    answer.metrics.insert("bytes_read".into(), json!(bytes));
    answer
}

/// How large the result is as JSON; more than enough where that is sure to fit.
fn json_bytes(text: &str, limit: u64) -> u64 {
    let most = (text.len() as u64).saturating_mul(MAX_GROWTH).saturating_add(AROUND_BYTES);
    if most <= limit {
        return most;
    }
    let escaped = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
        0..=0x1f => MAX_GROWTH,
        _ => 1,
    };
    text.bytes().map(escaped).sum::<u64>() + AROUND_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_of_a_result_is_never_underestimated() {
        let every: String = (0..0x250_u32).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}", "Grüße 🦀", &every] {
            let Answer { output: gate::Payload::Json(value), .. } = answer("x", text.to_owned())
            else {
                panic!("no value");
            };
            let real = value.to_string().len() as u64;
            for limit in [0, real, u64::MAX] {
                let told = json_bytes(text, limit);
                assert!(told >= real, "{text:?}: {told} < {real}");
            }
            assert!(json_bytes(text, 0) <= real + AROUND_BYTES, "{text:?}");
        }
    }
}
