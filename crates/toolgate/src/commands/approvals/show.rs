//! Prints approval requests.

use gate::{
    Approval, Timestamp,
    visible_text::{visible, visible_line},
};
use serde_json::Value;

use crate::printer::{Printer, shortened};

/// The most arguments of a call in a line of the list; of more their number is told.
const MAX_ARGUMENTS: usize = 12;
/// The most characters of each of them.
const MAX_ARGUMENT_CHARACTERS: usize = 40;

/// Prints a line for each.
pub fn list(approvals: &[Approval], now: Timestamp, printer: &Printer) {
    let rows: Vec<_> = approvals
        .iter()
        .map(|approval| {
            vec![
                approval.id.to_string(),
                approval.state.word().to_owned(),
                approval.tool.clone(),
                visible_line(&approval.caller),
                ago(now.0 - approval.created_at.0),
                arguments(approval),
            ]
        })
        .collect();
    printer.table(&["APPROVAL", "STATUS", "TOOL", "CALLER", "REQUESTED", "ARGUMENTS"], &rows);
    if rows.iter().any(|row| row.last().is_some_and(|arguments| arguments.contains(CUT))) {
        printer.say("arguments with … are cut; `toolgate approvals show ID` shows all of them");
    }
}

/// Stands where an argument is cut.
const CUT: char = '…';

/// The arguments on one line: every name is there, and each value is cut by itself.
fn arguments(approval: &Approval) -> String {
    let Some(input) = &approval.input else { return "(not stored)".into() };
    let Ok(Value::Object(fields)) = serde_json::from_str(input.get()) else {
        return shortened(input.get(), MAX_ARGUMENT_CHARACTERS);
    };
    if fields.len() > MAX_ARGUMENTS {
        return format!("{} arguments{CUT}", fields.len());
    }
    let shown = fields.iter().map(|(name, value)| {
        let text = value.to_string();
        let more = text.chars().count().saturating_sub(MAX_ARGUMENT_CHARACTERS);
        let more = if more > 0 { format!("(+{more})") } else { String::new() };
        let name = shortened(name, MAX_ARGUMENT_CHARACTERS);
        format!("{name}={}{more}", shortened(&text, MAX_ARGUMENT_CHARACTERS))
    });
    shown.collect::<Vec<_>>().join(" ")
}

/// Prints everything about a request.
pub fn one(approval: &Approval, printer: &Printer) {
    let say = |name: &str, text: &str| printer.field(name, text);
    say("approval", approval.id.as_str());
    say("status", approval.state.word());
    say("tool", &approval.tool);
    say("caller", &format!("{} ({})", approval.caller, approval.door));
    if let Some(job) = &approval.job_id {
        say("job", job.as_str());
    }
    say("requested", &approval.created_at.to_string());
    say("expires", &approval.expires_at.to_string());
    if let Some(by) = &approval.decided_by {
        say("decided by", by);
    }
    if let Some(reason) = &approval.reason {
        say("reason", reason);
    }
    printer.data("\narguments");
    match &approval.input {
        Some(input) => {
            let value: Value = serde_json::from_str(input.get()).unwrap_or_default();
            printer.data(visible(&serde_json::to_string_pretty(&value).unwrap_or_default()));
        }
        None => printer.data("(not stored)"),
    }
    if let Some(preview) = &approval.preview {
        printer.data(format!("\npreview, made when the call was requested\n{preview}"));
    }
}

/// A duration for people: `5 min ago`.
fn ago(milliseconds: i64) -> String {
    match milliseconds.max(0) / 1_000 {
        seconds @ 0..60 => format!("{seconds} s ago"),
        seconds @ 60..3_600 => format!("{} min ago", seconds / 60),
        seconds => format!("{} h ago", seconds / 3_600),
    }
}
