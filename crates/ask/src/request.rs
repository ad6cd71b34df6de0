//! What is asked.

use contract::invisible::has_no_shape;
use gate::{Caller, Recording, RequestId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::Settings;

/// What is asked, as a door has read it.
#[derive(Debug)]
pub struct Request {
    /// The question, in a person's words.
    pub question: String,
    /// The tool that is meant; then no planner is asked.
    pub tool: Option<String>,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// Whether the result is summarized; as the settings say where this is left out.
    pub summarize: Option<bool>,
    /// Whether the run ends with the plan.
    pub plan_only: bool,
    /// Who asks.
    pub caller: Caller,
    /// The name of the request.
    pub request_id: RequestId,
    /// Whether a job is kept of the call.
    pub recording: Recording,
    /// Fires when nobody wants the answer any more.
    pub stop: CancellationToken,
}

/// Why a question is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoQuestion {
    /// There is nothing in it.
    #[error("the question is empty")]
    Empty,
    /// It is a book.
    #[error("the question has {bytes} bytes; at most {limit} are allowed (ask.max_question_bytes)")]
    TooLarge {
        /// How large it is.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// It is something else than text.
    #[error("the question holds a control character (U+{code:04X}) and is no text")]
    Binary {
        /// The character.
        code: u32,
    },
}

impl Request {
    /// The question, if it is one.
    pub fn question(&self, settings: &Settings) -> Result<&str, NoQuestion> {
        let limit = settings.max_question_bytes;
        if self.question.len() > limit {
            return Err(NoQuestion::TooLarge { bytes: self.question.len(), limit });
        }
        let is_no_text = |one: &char| one.is_control() && !matches!(one, '\n' | '\r' | '\t');
        if let Some(one) = self.question.chars().find(is_no_text) {
            return Err(NoQuestion::Binary { code: u32::from(one) });
        }
        let is_blank = |one: char| one.is_whitespace() || has_no_shape(one);
        if self.question.chars().all(is_blank) {
            return Err(NoQuestion::Empty);
        }
        Ok(self.question.trim())
    }
}
