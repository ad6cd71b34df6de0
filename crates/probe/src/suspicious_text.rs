//! The texts that models read.

use contract::Severity;
use serde_json::Value;
use workbench::suspicious::{self, SuspiciousText};

use super::{Check, ProbeFinding, report::shown_text, rules};

/// The check of a tool's texts.
pub(crate) fn of_tool(tool: &Value) -> Check {
    Check::of("texts", suspicious::tool(tool).iter().map(finding).collect())
}

/// The check of a server's instructions to models.
pub(crate) fn of_instructions(instructions: &str) -> Check {
    Check::of("instructions", suspicious::text(instructions).iter().map(finding).collect())
}

fn finding(found: &SuspiciousText) -> ProbeFinding {
    let rule = match found.severity {
        Severity::Error => &rules::TEXT_HARMFUL,
        Severity::Warning => &rules::TEXT_SUSPICIOUS,
    };
    let pointer = (!found.pointer.is_empty()).then(|| found.pointer.clone());
    let message = format!("{} ({}): `{}`", found.what, found.rule, shown_text(&found.shown));
    ProbeFinding::new(rule, message).at(pointer)
}
