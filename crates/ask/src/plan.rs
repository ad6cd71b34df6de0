//! What a model wants to do, read strictly and judged by code.

mod arguments;
mod asking_back;
mod check;
mod read;

pub use check::check;
pub use read::{of, read};

use serde::Serialize;
use serde_json::{Map, Value};

/// What a model wants to do: one call, or a question back.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Plan {
    /// One call.
    CallTool {
        /// The toolset.
        server: String,
        /// The tool, by the name that it has there.
        tool: String,
        /// Its arguments.
        args: Map<String, Value>,
    },
    /// The person is asked for what is missing.
    FinalAnswer {
        /// What to tell the person.
        answer: String,
        /// Always true.
        needs_more_info: bool,
    },
}

/// Why a plan is none. The texts are for the person, and for the model that gets one more try.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It has not the form of a plan.
    #[error("Planner output rejected: {0}")]
    Rejected(String),
    /// It does not fit the catalogue, the schema or the question.
    #[error("Plan validation failed: {0}")]
    Invalid(String),
    /// Nothing of this server may be called.
    #[error("Server not allowed: {0}")]
    ServerNotAllowed(String),
    /// This tool may not be called.
    #[error("Tool not allowed: {server}.{tool}")]
    ToolNotAllowed {
        /// The toolset.
        server: String,
        /// The tool.
        tool: String,
        /// Why not.
        why: &'static str,
    },
}

impl Refused {
    /// What the trace calls it.
    pub(crate) fn event(&self) -> &'static str {
        match self {
            Refused::Rejected(_) => "planner_rejected",
            Refused::Invalid(_) => "plan_validation_failed",
            Refused::ServerNotAllowed(_) | Refused::ToolNotAllowed { .. } => "tool_not_allowed",
        }
    }

    /// What else the person should know.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Refused::ToolNotAllowed { why, .. } => Some((*why).to_owned()),
            Refused::ServerNotAllowed(_) => Some("nothing of it is on the allowlist".into()),
            Refused::Rejected(_) | Refused::Invalid(_) => None,
        }
    }
}

/// How long the question back to a person may be, in characters.
pub(crate) const MAX_ANSWER_CHARACTERS: usize = 400;

/// How much of a name that a model made up is repeated.
const MAX_SHOWN_CHARACTERS: usize = 64;

/// A name as it may be repeated: short, and on one line.
pub(crate) fn shown(name: &str) -> String {
    let plain = |one: char| if one.is_control() { ' ' } else { one };
    name.chars().take(MAX_SHOWN_CHARACTERS).map(plain).collect()
}
