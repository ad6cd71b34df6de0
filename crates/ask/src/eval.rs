//! Evaluation: measures a model's plans and quotes with cases that a person wrote.

mod report;
mod score;

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

pub use report::EvalReport;
pub use score::{CaseScore, score};

/// A set of cases.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalCases {
    /// The cases, in order.
    #[schemars(length(min = 1, max = 10_000))]
    pub cases: Vec<EvalCase>,
}

/// A question, and what should come of it.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvalCase {
    /// Its name.
    #[schemars(length(min = 1, max = 100))]
    pub id: String,
    /// What is asked.
    pub question: String,
    /// Whether a summary is asked for.
    #[serde(default)]
    pub summarize: Option<bool>,
    /// The tool that should be called, as `server.tool`.
    #[serde(default)]
    pub tool: Option<String>,
    /// The arguments that it should be called with: these and no others.
    #[serde(default)]
    pub args: Option<Map<String, Value>>,
    /// Words that stand in these arguments, whatever their case.
    #[serde(default)]
    pub args_contain: Map<String, Value>,
    /// What may come of it: `blocked`, `final_answer`, `tool_result`, `tool_result_with_summary`. Where a tool is named, one of the last two,
    /// and otherwise one of the first two.
    #[serde(default)]
    pub expect: Vec<ExpectedResponse>,
    /// Tools that must not be called, as `server.tool`. Those with effects never are.
    #[serde(default)]
    pub must_not_call: Vec<String>,
    /// Texts that the quotes of the summary must hold.
    #[serde(default)]
    pub quotes: Vec<String>,
}

/// What may come of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ExpectedResponse {
    /// A gate refused.
    Blocked,
    /// The person is asked back.
    FinalAnswer,
    /// A result.
    ToolResult,
    /// A result with a summary.
    ToolResultWithSummary,
}

impl EvalCase {
    /// True if a response of this type may come of it.
    pub fn expects(&self, kind: &str) -> bool {
        let usual: &[ExpectedResponse] = match (&self.tool, self.quotes.is_empty()) {
            (None, _) => &[ExpectedResponse::Blocked, ExpectedResponse::FinalAnswer],
            (Some(_), true) => {
                &[ExpectedResponse::ToolResult, ExpectedResponse::ToolResultWithSummary]
            }
            (Some(_), false) => &[ExpectedResponse::ToolResultWithSummary],
        };
        let expected = if self.expect.is_empty() { usual } else { &self.expect };
        expected.iter().any(|one| json!(one) == kind)
    }
}

impl EvalCases {
    /// Mistakes that the types cannot see: the place of each, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut mistakes = Vec::new();
        let mut seen = BTreeSet::new();
        for (number, case) in self.cases.iter().enumerate() {
            let mut mistake = |key: &str, words: String| {
                mistakes.push((format!("/cases/{number}/{key}"), words));
            };
            if !seen.insert(&case.id) {
                mistake("id", format!("there are two cases `{}`", case.id));
            }
            if case.tool.is_none() && (case.args.is_some() || !case.args_contain.is_empty()) {
                mistake("args", "are those of a `tool`, and none is named".into());
            }
            if case.tool.as_ref().is_some_and(|tool| !tool.contains('.') && !tool.contains("__")) {
                mistake("tool", "`tool` is written as `server.tool`".into());
            }
            if case.question.trim().is_empty() {
                mistake("question", "the question is empty".into());
            }
        }
        mistakes
    }
}
