//! The plan of a model, read strictly and judged by code.

mod arguments;
mod check;
mod clarification;
mod read;

pub use check::check;
pub use clarification::clarify;
pub use read::read;

pub(crate) use arguments::question_integers;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::BlockedCode;

/// The plan of a model: one call, or a question back.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Plan {
    CallTool(PlannedCall),
    /// The person is asked for what is missing.
    FinalAnswer {
        /// The question to the person, written from the contract. Empty until the plan was checked.
        #[serde(skip_serializing_if = "String::is_empty")]
        answer: String,
        /// The tool that would be called, as `server.tool`.
        #[serde(skip_serializing_if = "Option::is_none")]
        tool: Option<String>,
        /// Always true.
        needs_more_info: bool,
    },
}

/// One call, as a model or a caller plans it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PlannedCall {
    /// The toolset.
    pub server: String,
    /// The tool, by the name that it has there.
    pub tool: String,
    pub args: Map<String, Value>,
}

/// The reason for which a plan is refused. The texts are for the person, and for the model that gets one more try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlanRefusal {
    /// It has not the form of a plan.
    #[error("Planner output rejected: {0}")]
    Rejected(String),
    /// It does not fit the catalogue, the schema or the question.
    #[error("Plan validation failed: {0}")]
    Invalid(String),
    /// This tool may not be called, or nothing of this server.
    #[error("{what}")]
    NotAllowed {
        /// Which of them.
        what: String,
        /// Why not, for the person.
        why: &'static str,
    },
}

impl PlanRefusal {
    /// Its code, and its name in the trace.
    pub(crate) fn code_and_event(&self) -> (BlockedCode, &'static str) {
        match self {
            PlanRefusal::Rejected(_) => (BlockedCode::PlannerRejected, "planner_rejected"),
            PlanRefusal::Invalid(_) => (BlockedCode::PlanInvalid, "plan_validation_failed"),
            PlanRefusal::NotAllowed { .. } => (BlockedCode::ToolNotAllowed, "tool_not_allowed"),
        }
    }
}

/// The name that a model gives where no tool fits.
pub(crate) const NO_TOOL: &str = "none";

/// The most characters of a made-up name that are repeated.
const MAX_SHOWN_CHARACTERS: usize = 64;

/// A name as it may be repeated: short, and on one line.
pub(crate) fn shown(name: &str) -> String {
    on_one_line(name, MAX_SHOWN_CHARACTERS)
}

fn on_one_line(text: &str, max_characters: usize) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    text.chars().take(max_characters).map(plain).collect()
}
