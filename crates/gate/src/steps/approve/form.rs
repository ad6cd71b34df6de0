//! The form by which a client asks its person for an approval.

use serde_json::{Value, json};

use crate::{
    Approval, ApprovalId, InputRequest, Tool,
    approvals::{ApprovalDecision, MAX_REASON_CHARACTERS, shown_arguments},
    truncate,
};

/// The most that is shown of the arguments and of the preview, in bytes each.
const MAX_SHOWN_BYTES: usize = 8_192;

/// The prefix of the name of every such input request.
const PREFIX: &str = "approve_";

/// The name of the question, which is good for this one request.
pub(super) fn name(id: &ApprovalId) -> String {
    format!("{PREFIX}{id}")
}

/// The request that a question of this name is about.
pub(super) fn subject(name: &str) -> Option<ApprovalId> {
    ApprovalId::parse(name.strip_prefix(PREFIX)?)
}

/// The form that the person reads and fills in.
pub(super) fn form(tool: &Tool, approval: &Approval) -> InputRequest {
    let contract = &tool.contract;
    let mut message = format!(
        "Allow one call of `{}` (toolset {}, effects: {})?\n\nArguments:\n{}",
        contract.name,
        contract.toolset,
        contract.effects_text(),
        arguments(approval),
    );
    if let Some(preview) = &approval.preview {
        message.push_str("\n\nWhat it would do:\n");
        message.push_str(&truncate::shown(preview.clone(), MAX_SHOWN_BYTES as u64));
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
                "maxLength": MAX_REASON_CHARACTERS,
            },
        },
        "required": ["approve"],
    });
    InputRequest::form(&message, &schema)
}

/// The arguments as they may be shown.
fn arguments(approval: &Approval) -> String {
    let Some(input) = &approval.input else { return "(not shown: they hold secrets)".into() };
    let value: Value = serde_json::from_str(input.get()).unwrap_or_default();
    let whole = format!("all of it: toolgate approvals show {}", approval.id);
    shown_arguments(&value, MAX_SHOWN_BYTES, &whole).unwrap_or_else(|| {
        format!("({} bytes, too many values to be shown here; {whole})", input.get().len())
    })
}

/// The decision in a reply. Only an explicit yes is one.
pub(super) fn decision(reply: &Value, caller: &str) -> ApprovalDecision {
    let content = reply.get("content");
    let approve = reply.get("action").and_then(Value::as_str) == Some("accept")
        && content.and_then(|content| content.get("approve")) == Some(&Value::Bool(true));
    let reason = content
        .and_then(|content| content.get("reason"))
        .and_then(Value::as_str)
        .map(str::trim)
        .filter(|words| !words.is_empty())
        .map(str::to_owned);
    ApprovalDecision { approve, by: format!("the person in front of `{caller}`"), reason }
}
