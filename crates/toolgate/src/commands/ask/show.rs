//! Prints a response for people.

use ask::{AskResponse, Plan, PlannedCall, quotation::Quote, summary::Summary};
use serde_json::Value;

use crate::printer::Printer;

/// Prints a response: the call, its result, the quotes.
pub fn response(response: &AskResponse, printer: &Printer) {
    if let Some(Plan::CallTool(PlannedCall { server, tool, args })) = response.plan() {
        let call = format!("{server}.{tool} {}", Value::Object(args.clone()));
        match response {
            AskResponse::Blocked(_) => printer.say(format!("planned: {call}")),
            _ => printer.data(call),
        }
    }
    match response {
        AskResponse::Blocked(blocked) => {
            printer.say(format!("blocked: {}", blocked.reason));
            if let Some(message) = &blocked.message {
                printer.say(message);
            }
        }
        AskResponse::FinalAnswer { answer, .. } => {
            printer.say("no tool was called; the question needs more:");
            printer.data(answer);
        }
        AskResponse::Plan { .. } => {}
        AskResponse::ToolResult { typed, note, .. } => {
            if let Some(typed) = typed {
                printer.json(&parsed(typed.get()));
            }
            if let Some(note) = note {
                printer.say(note);
            }
        }
        AskResponse::ToolResultWithSummary { typed, summary, .. } => {
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
            quote(bullet, printer);
        }
    }
    if summary.dropped > 0 {
        let bullets = if summary.dropped == 1 { "bullet" } else { "bullets" };
        printer.say(format!(
            "{} {bullets} of the model dropped: not a whole line, sentence or value of the result",
            summary.dropped
        ));
    }
    if summary.source_truncated {
        printer.say("the model saw only the beginning of the result (ask.max_source_characters)");
    }
}

fn quote(quote: &Quote, printer: &Printer) {
    let place = &quote.location;
    let evidence = quote.evidence.split_whitespace().collect::<Vec<_>>().join(" ");
    printer.data(format!("- {}", quote.claim));
    printer.data(format!("    \"{evidence}\"  {} {}..{}", place.pointer, place.start, place.end));
}
