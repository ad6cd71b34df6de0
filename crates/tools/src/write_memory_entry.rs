//! `write_memory_entry`: one more line in a memory file.

use std::{sync::Arc, time::Duration};

use contract::codes;
use gate::{BoxFuture, Clock, Provider, RunningCall, ToolError, ToolOutput};
use guard::files::{HourlyLimit, Ledger, LedgerError, PinnedFolder};
use serde_json::json;

use crate::settings::{MemoryFile, MemorySettings};

/// The time that an entry being written is waited for after the call was cancelled. The gate waits
/// a little longer for the answer.
const LAST_WAIT: Duration = Duration::from_millis(2_500);

/// Appends entries to memory files.
pub struct WriteMemoryEntry {
    ledgers: Vec<Arc<Ledger>>,
    max_entry_bytes: u64,
}

impl WriteMemoryEntry {
    /// The tool with these settings, counting the entries of an hour by this clock.
    pub fn new(settings: &MemorySettings, clock: &Arc<dyn Clock>) -> Self {
        let folder = PinnedFolder::from(&settings.dir);
        let ledger = |file: &MemoryFile| {
            let clock = clock.clone();
            let limit = HourlyLimit::new(
                settings.times_dir.clone(),
                settings.max_entries_per_hour,
                move || clock.now().0,
            );
            let ledger = Ledger::new(folder.clone(), file.name());
            Arc::new(ledger.expect("the names of memory files are plain").with_limit(limit))
        };
        Self {
            ledgers: settings.files.iter().map(ledger).collect(),
            max_entry_bytes: settings.max_entry_bytes,
        }
    }

    async fn write(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let (ledger, line) = self.read(call)?;
        let stop = call.stop.child_token();
        // Also where the call is dropped.
        let _cancels = stop.clone().drop_guard();
        let writer = ledger.clone();
        let appended = tokio::select! {
            biased;
            ended = tokio::task::spawn_blocking(move || writer.append(&line, &stop)) => ended.ok(),
            () = stopped_long_ago(call) => None,
        };
        let appended = appended.unwrap_or(Err(LedgerError::Unknown));
        let number = appended.map_err(|error| failed(ledger.name(), error))?;
        let mut answer = ToolOutput::new(json!({ "success": true, "line_number": number }));
        answer.summary = Some(format!("Appended line {number} to {}.", ledger.name()));
        Ok(answer)
    }

    /// The file of the entry, and the line that it becomes.
    fn read(&self, call: &RunningCall) -> Result<(&Arc<Ledger>, String), ToolError> {
        let file = call.text("file");
        let ledger = self.ledgers.iter().find(|ledger| ledger.name() == file);
        let ledger = ledger.ok_or_else(|| not_allowed(file))?;
        let text = call.input["entry"].to_string();
        let (bytes, max) = (text.len() as u64, self.max_entry_bytes);
        if bytes > max {
            let message = format!("Entry too large: {bytes} bytes (max {max})");
            return Err(ToolError::new(codes::TOO_LARGE.code, message));
        }
        Ok((ledger, line(text)))
    }

    /// The preview for the person who approves it.
    async fn foresee(&self, call: &RunningCall) -> Result<String, ToolError> {
        let (ledger, line) = self.read(call)?;
        let looked = ledger.clone();
        let next = tokio::task::spawn_blocking(move || looked.next_line())
            .await
            .unwrap_or(Err(LedgerError::Cancelled))
            .map_err(|error| failed(ledger.name(), error))?;
        Ok(format!("append to {} as line {next}:\n{line}", ledger.name()))
    }
}

impl Provider for WriteMemoryEntry {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.write(call))
    }

    fn preview<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Option<String>> {
        Box::pin(async {
            Some(self.foresee(call).await.unwrap_or_else(|error| {
                format!("as things stand this call would fail: {}", error.message)
            }))
        })
    }
}

/// Ready when an entry that was being written as its call stopped has had time to be finished. It is
/// waited for, because a caller who tries again would write it twice.
async fn stopped_long_ago(call: &RunningCall) {
    call.stop.cancelled().await;
    tokio::time::sleep(LAST_WAIT).await;
}

/// Compact JSON as one line. JSON escapes every line end that ASCII has; the three that Unicode adds
/// are escaped here, because some readers split at them.
fn line(text: String) -> String {
    if !text.contains(UNICODE_LINE_ENDS) {
        return text;
    }
    let mut line = String::with_capacity(text.len() + 64);
    for character in text.chars() {
        if UNICODE_LINE_ENDS.contains(&character) {
            line.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            line.push(character);
        }
    }
    line
}

/// Next line, line separator, paragraph separator.
const UNICODE_LINE_ENDS: [char; 3] = ['\u{85}', '\u{2028}', '\u{2029}'];

fn not_allowed(file: &str) -> ToolError {
    ToolError::new("file_not_allowed", format!("File not allowed: {file}"))
}

fn failed(file: &str, error: LedgerError) -> ToolError {
    match error {
        LedgerError::TooMany { max, retry_after_ms } => {
            let seconds = u32::try_from(retry_after_ms.div_ceil(1_000)).unwrap_or(u32::MAX);
            let message = format!(
                "Too many entries: {file} takes at most {max} an hour; try again in {seconds} s"
            );
            let mut error = ToolError::new(codes::RATE_LIMITED.code, message);
            error.retry_after = Some(seconds);
            error.details =
                Some(json!({ "max_entries_per_hour": max, "retry_after_seconds": seconds }));
            error
        }
        LedgerError::NotRegular(_) | LedgerError::Linked(_) => {
            let mut refused = not_allowed(file);
            refused.operator = Some(error.to_string());
            refused
        }
        LedgerError::Io(_) => {
            // What the system says may name folders, which are not the caller's business.
            let mut failed =
                ToolError::new(codes::UNAVAILABLE.code, "the entry could not be written");
            failed.operator = Some(format!("{file}: {error}"));
            failed
        }
        LedgerError::Cancelled => ToolError::new(
            codes::CANCELLED.code,
            "the call was cancelled; the entry is not written",
        ),
        LedgerError::Unknown => {
            let message = "the entry may have been written: look at the file before trying again";
            ToolError::new(codes::UNAVAILABLE.code, message)
        }
        error => {
            let message = format!("the entry could not be written: {error}");
            ToolError::new(codes::UNAVAILABLE.code, message)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn an_entry_is_one_compact_line_in_its_own_order() {
        for (entry, expected) in [
            (r#"{ "z": 1, "a": [1.5, -0, null] }"#, r#"{"z":1,"a":[1.5,-0.0,null]}"#),
            (r#"{"text":"a\nb\r\u000b\u0000c"}"#, r#"{"text":"a\nb\r\u000b\u0000c"}"#),
            (r#"{"text":"\u00fc\ud83d\ude00"}"#, r#"{"text":"ü😀"}"#),
            (r#"{"\u2028":"\u0085\u2029 ü"}"#, r#"{"\u2028":"\u0085\u2029 ü"}"#),
            (r#"{"n":18446744073709551615,"m":1e3}"#, r#"{"n":18446744073709551615,"m":1000.0}"#),
        ] {
            let value = contract::json::parse(entry.as_bytes()).unwrap();
            let line = line(value.to_string());
            assert_eq!(line, expected);
            assert_eq!(contract::json::parse(line.as_bytes()).unwrap(), value);
        }
    }
}
