//! An answer, for people.

use ask::{Answer, Plan, grounding::Grounded, summary::Summary};
use serde_json::Value;

use crate::printer::Printer;

/// Prints what came of a question: what was called, what it answered, what that says.
pub fn answer(answer: &Answer, printer: &Printer) {
    if let Some(Plan::CallTool { server, tool, args }) = answer.plan() {
        let call = format!("{server}.{tool} {}", Value::Object(args.clone()));
        match answer {
            Answer::Blocked { .. } => printer.say(format!("planned: {call}")),
            _ => printer.data(call),
        }
    }
    match answer {
        Answer::Blocked { reason, message, .. } => {
            printer.say(format!("blocked: {reason}"));
            if let Some(message) = message {
                printer.say(message);
            }
        }
        Answer::FinalAnswer { answer, .. } => {
            printer.say("nothing was called; the model asks:");
            printer.data(answer);
        }
        Answer::Plan { .. } => {}
        Answer::ToolResult { typed, note, .. } => {
            if let Some(typed) = typed {
                printer.json(&parsed(typed.get()));
            }
            if let Some(note) = note {
                printer.say(note);
            }
        }
        Answer::ToolResultWithSummary { typed, summary, .. } => {
            printer.json(&parsed(typed.get()));
            bullets(summary, printer);
        }
    }
}

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_default()
}

fn bullets(summary: &Summary, printer: &Printer) {
    let lists = [
        ("", &summary.bullets),
        ("Risks", &summary.risks),
        ("Recommendations", &summary.recommendations),
    ];
    for (title, list) in lists {
        if list.is_empty() {
            continue;
        }
        printer.data(title);
        for bullet in list {
            one(bullet, printer);
        }
    }
    if summary.dropped > 0 {
        let (claims, them) = match summary.dropped {
            1 => ("claim is", "it"),
            _ => ("claims are", "them"),
        };
        printer.say(format!(
            "{} {claims} left out: the result does not bear {them} out",
            summary.dropped
        ));
    }
    if summary.source_truncated {
        printer.say("the summary is of the beginning of the result (ask.max_source_characters)");
    }
}

fn one(bullet: &Grounded, printer: &Printer) {
    let place = &bullet.location;
    let quote = bullet.evidence.split_whitespace().collect::<Vec<_>>().join(" ");
    printer.data(format!("- {}", bullet.claim));
    printer.data(format!("    \"{quote}\"  {} {}..{}", place.pointer, place.start, place.end));
}
