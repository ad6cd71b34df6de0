//! Prints quarantined results.

use gate::{
    quarantine::{QuarantineEntry, QuarantineSummary},
    visible_text::visible_line,
};
use serde_json::Value;

use super::annotated;
use crate::printer::{Printer, shortened};

/// The most characters of the problem in a line of the list.
const MAX_PROBLEM: usize = 80;

/// Prints a line for each.
pub fn list(entries: &[QuarantineSummary], printer: &Printer) {
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            vec![
                entry.id.clone(),
                entry.state.word().to_owned(),
                entry.tool.clone(),
                visible_line(&entry.caller),
                entry.created_at.to_string(),
                shortened(&entry.reason, MAX_PROBLEM),
            ]
        })
        .collect();
    printer.table(&["ENTRY", "STATUS", "TOOL", "CALLER", "STORED", "PROBLEM"], &rows);
}

/// Prints everything about an entry.
pub fn one(entry: &QuarantineEntry, printer: &Printer) {
    let summary = &entry.summary;
    let say = |name: &str, text: &str| printer.field(name, text);
    say("entry", &summary.id);
    say("status", summary.state.word());
    say("tool", &summary.tool);
    say("caller", &summary.caller);
    say("request", &summary.request_id);
    if let Some(job) = &summary.job_id {
        say("job", job);
    }
    say("arguments", &format!("sha256 {}", summary.input_sha256));
    say("stored", &summary.created_at.to_string());
    if let (Some(by), Some(at)) = (&summary.decided_by, summary.decided_at) {
        say("decided by", &format!("{by}, {at}"));
    }
    if let Some(reason) = &summary.decision_reason {
        say("reason", reason);
    }
    if let Some(until) = summary.expires_at {
        say("expires", &until.to_string());
    }
    if let Some(at) = summary.delivered_at {
        say("delivered", &at.to_string());
    }
    if summary.violations.is_empty() {
        say("problem", &summary.reason);
    } else {
        printer.data("\nviolations");
        for violation in &summary.violations {
            let place = if violation.pointer.is_empty() { "(all)" } else { &violation.pointer };
            let line = format!("{place}  {} ({})", violation.message, violation.keyword);
            printer.data(format!("  {}", visible_line(&line)));
        }
    }
    printer.data("\nresult");
    let payload: Value = serde_json::from_str(entry.payload.get()).unwrap_or_default();
    for line in annotated::lines(&payload, &summary.violations) {
        printer.data(line);
    }
}
