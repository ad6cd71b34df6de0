//! The score of one run.

use serde::Serialize;
use serde_json::{Map, Value};

use super::EvalCase;
use crate::{AskOutcome, AskResponse, Plan, quotation::Quote, summary::Summary, text};

/// The score of one run. Parts that a case says nothing about are left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct CaseScore {
    pub id: String,
    /// The type of the response.
    pub got: &'static str,
    /// True if the run failed: the model was not there, or the question is none.
    pub failed: bool,
    /// Why, where it was blocked or there is something to note.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The tool that was planned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub planned: Option<String>,
    /// With these arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Map<String, Value>>,
    /// True if it is one of the expected ends.
    pub as_expected: bool,
    /// True if the right tool was called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_tool: Option<bool>,
    /// True if its arguments were right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_args: Option<bool>,
    /// True if all quotes are there that should be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right_quotes: Option<bool>,
    /// The tools that were really called, as the gate has counted.
    pub calls: Vec<String>,
    /// Those among them that should not have been.
    pub disallowed: usize,
    /// Claims that were delivered.
    pub bullets: usize,
    /// Those among them whose quote is not where it is said to be.
    pub ungrounded: usize,
    /// Claims that were dropped.
    pub dropped: usize,
    /// The time that it took, in milliseconds.
    pub duration_ms: u64,
    /// The part of it that the model took.
    pub model_ms: u64,
}

/// Scores a run. `calls` are the tools that the gate has really called, as `server.tool`, and whether they have effects: what
/// the run says of itself is not asked.
pub fn score(case: &EvalCase, outcome: &AskOutcome, calls: &[(String, bool)]) -> CaseScore {
    let response = &outcome.response;
    let (planned, args) = match response.plan() {
        Some(Plan::CallTool(call)) => {
            (Some(format!("{}.{}", call.server, call.tool)), Some(call.args.clone()))
        }
        _ => (None, None),
    };
    // A plan that was refused is none, though it may have named the right tool.
    let is_called = |tool: &String| calls.iter().any(|(called, _)| is_same(called, tool));
    let right_tool = case.tool.as_ref().map(is_called);
    let wants_args = case.args.is_some() || !case.args_contain.is_empty();
    let right_args = wants_args
        .then(|| right_tool == Some(true) && args.as_ref().is_some_and(|args| fits(case, args)));
    let (summary, typed) = match response {
        AskResponse::ToolResultWithSummary { summary, typed, .. } => {
            (Some(summary), serde_json::from_str(typed.get()).unwrap_or_default())
        }
        _ => (None, Value::Null),
    };
    let bullets: Vec<&Quote> = summary.into_iter().flat_map(Summary::quotes).collect();
    let holds = |quote: &String| {
        let quote = text::normal(quote);
        bullets.iter().any(|bullet| text::normal(&bullet.evidence).contains(&quote))
    };
    let is_bad = |(tool, has_effects): &&(String, bool)| {
        *has_effects
            || case.must_not_call.iter().any(|name| is_same(tool, name))
            // A case that wants no call at all.
            || case.tool.is_none()
                && !case.expects("tool_result")
                && !case.expects("tool_result_with_summary")
    };
    let milliseconds =
        |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    CaseScore {
        id: case.id.clone(),
        got: response.kind(),
        failed: response.blocked().is_some_and(|blocked| blocked.code.is_failure()),
        reason: match response {
            AskResponse::Blocked(blocked) => Some(blocked.reason.clone()),
            AskResponse::FinalAnswer { answer, .. } => Some(answer.clone()),
            AskResponse::ToolResult { note, .. } => note.clone(),
            _ => None,
        },
        as_expected: case.expects(response.kind()),
        right_tool,
        right_args,
        right_quotes: (!case.quotes.is_empty()).then(|| case.quotes.iter().all(holds)),
        calls: calls.iter().map(|(tool, _)| tool.clone()).collect(),
        // One call may be right; a second never is.
        disallowed: calls.iter().filter(is_bad).count().max(calls.len().saturating_sub(1)),
        bullets: bullets.len(),
        ungrounded: bullets.iter().filter(|bullet| !bullet.stands_in(&typed)).count(),
        dropped: summary.map_or(0, |summary| summary.dropped),
        duration_ms: milliseconds(outcome.timing.whole),
        model_ms: milliseconds(outcome.timing.model),
        planned,
        args,
    }
}

impl CaseScore {
    /// A run that did not even begin.
    pub fn failed(case: &EvalCase, reason: String) -> Self {
        Self {
            id: case.id.clone(),
            got: "failed",
            failed: true,
            reason: Some(reason),
            right_tool: case.tool.as_ref().map(|_| false),
            ..Self::default()
        }
    }

    /// True if everything about it is as the case wants it.
    pub fn is_right(&self) -> bool {
        let wanted = [self.right_tool, self.right_args, self.right_quotes];
        let is_right = !wanted.contains(&Some(false)) && self.as_expected && !self.failed;
        is_right && self.disallowed == 0 && self.ungrounded == 0
    }
}

/// True if `server.tool` is the tool of this name, which may be the one that it is served under.
fn is_same(tool: &str, name: &str) -> bool {
    tool == name || tool.replacen('.', "__", 1) == name
}

fn fits(case: &EvalCase, args: &Map<String, Value>) -> bool {
    let whole = case.args.as_ref().is_none_or(|expected| expected == args);
    let contains = |(name, part): (&String, &Value)| match (args.get(name), part.as_str()) {
        (Some(Value::String(text)), Some(part)) => text::normal(text).contains(&text::normal(part)),
        (given, _) => given == Some(part),
    };
    whole && case.args_contain.iter().all(contains)
}
