//! Quarantined answers on a terminal.

use gate::{
    quarantine::{QuarantineEntry, QuarantineSummary},
    visible_text::visible_line,
};
use serde_json::Value;

use super::marked;
use crate::printer::Printer;

/// How much of what is wrong a line of the list has, in characters.
const MAX_PROBLEM: usize = 80;

/// A line for each.
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
                shortened(&entry.reason),
            ]
        })
        .collect();
    printer.table(&["ENTRY", "STATUS", "TOOL", "CALLER", "KEPT", "PROBLEM"], &rows);
}

/// All of it, for the person who decides.
pub fn one(entry: &QuarantineEntry, printer: &Printer) {
    let summary = &entry.summary;
    // Some of it is in the words of others.
    let say = |name: &str, text: &str| {
        printer.data(format!("{name:<10} {}", visible_line(text)));
    };
    say("entry", &summary.id);
    say("status", summary.state.word());
    say("tool", &summary.tool);
    say("caller", &summary.caller);
    say("request", &summary.request_id);
    if let Some(job) = &summary.job_id {
        say("job", job);
    }
    say("arguments", &format!("sha256 {}", summary.input_sha256));
    say("kept", &summary.created_at.to_string());
    if let (Some(by), Some(at)) = (&summary.decided_by, summary.decided_at) {
        say("decided by", &format!("{by}, {at}"));
    }
    if let Some(reason) = &summary.decision_reason {
        say("reason", reason);
    }
    if let Some(until) = summary.expires_at {
        say("good until", &until.to_string());
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
    printer.data("\nanswer");
    let payload: Value = serde_json::from_str(entry.payload.get()).unwrap_or_default();
    for line in marked::lines(&payload, &summary.violations) {
        printer.data(line);
    }
}

fn shortened(text: &str) -> String {
    let mut shown: String = visible_line(text).chars().take(MAX_PROBLEM + 1).collect();
    if shown.chars().count() > MAX_PROBLEM {
        shown.pop();
        shown.push('…');
    }
    shown
}
