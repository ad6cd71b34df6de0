//! The question to a person in front of a client.

use serde_json::{Value, json};

use crate::{Approval, ApprovalId, Question, Tool, approvals::Verdict, trim};

/// How much of the arguments and of what the call would do is shown, in bytes each.
const MAX_SHOWN_BYTES: u64 = 8_192;

/// The name of the question, which is good for this one request.
pub(super) fn name(id: &ApprovalId) -> String {
    format!("approve_{id}")
}

/// What the person reads and fills in.
pub(super) fn form(tool: &Tool, approval: &Approval) -> Question {
    let contract = &tool.contract;
    let mut message = format!(
        "Allow one call of `{}` (toolset {}, effects: {})?\n\nArguments:\n{}",
        contract.name,
        contract.toolset,
        contract.effects.word(),
        arguments(approval),
    );
    if let Some(preview) = &approval.preview {
        let mut shown = preview.clone();
        message.push_str("\n\nWhat it would do:\n");
        let dropped = trim::text(&mut shown, MAX_SHOWN_BYTES);
        message.push_str(&shown);
        if dropped > 0 {
            message.push_str(&format!("\n… and {dropped} more bytes"));
        }
    }
    let schema = json!({
        "type": "object",
        "properties": {
            "approve": {
                "type": "boolean",
                "title": "Approve this call",
                "description": "Yes lets exactly this call run, once.",
                "default": false,
            },
            "reason": {
                "type": "string",
                "title": "Reason",
                "description": "What the agent is told, if you refuse.",
                "maxLength": 500,
            },
        },
        "required": ["approve"],
    });
    Question::form(&message, &schema)
}

/// The arguments as they may be shown.
fn arguments(approval: &Approval) -> String {
    let Some(input) = &approval.input else { return "(not shown: they hold secrets)".into() };
    let value: Value = serde_json::from_str(input.get()).unwrap_or_default();
    let mut text = serde_json::to_string_pretty(&value).unwrap_or_default();
    let dropped = trim::text(&mut text, MAX_SHOWN_BYTES);
    if dropped > 0 {
        text.push_str(&format!("\n… and {dropped} more bytes"));
    }
    text
}

/// What the person replied. Only an explicit yes is one.
pub(super) fn verdict(reply: &Value, caller: &str) -> Verdict {
    let content = reply.get("content");
    let approve = reply.get("action").and_then(Value::as_str) == Some("accept")
        && content.and_then(|content| content.get("approve")) == Some(&Value::Bool(true));
    let reason = content
        .and_then(|content| content.get("reason"))
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|words| !words.is_empty())
        .map(str::to_owned);
    Verdict { approve, by: format!("the person in front of `{caller}`"), reason }
}
