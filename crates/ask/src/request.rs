//! A question, as a door has read it.

use contract::invisible::has_no_shape;
use gate::{Caller, Recording, RequestId};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use crate::AskSettings;

/// A question and what goes with it.
#[derive(Debug)]
pub struct AskRequest {
    /// The question, in a person's words.
    pub question: String,
    /// The tool to call; then no plan is made.
    pub tool: Option<String>,
    pub args: Map<String, Value>,
    /// True if the result is summarized; where this is left out, the settings decide.
    pub summarize: Option<bool>,
    /// True if the run ends with the plan.
    pub plan_only: bool,
    pub caller: Caller,
    pub request_id: RequestId,
    /// The choice of when a job is kept of the call.
    pub recording: Recording,
    /// Fires when nobody wants the answer any more.
    pub stop: CancellationToken,
}

/// The reason for which a text is not a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidQuestion {
    #[error("the question is empty")]
    Empty,
    /// It is larger than allowed.
    #[error("the question has {bytes} bytes; at most {limit} are allowed (ask.max_question_bytes)")]
    TooLarge { bytes: usize, limit: usize },
    /// It holds a control character.
    #[error("the question holds a control character (U+{code:04X}) and is no text")]
    Binary { code: u32 },
}

impl AskRequest {
    /// The question, if it is one.
    pub fn question(&self, settings: &AskSettings) -> Result<&str, InvalidQuestion> {
        let limit = settings.max_question_bytes;
        if self.question.len() > limit {
            return Err(InvalidQuestion::TooLarge { bytes: self.question.len(), limit });
        }
        let is_no_text = |one: &char| one.is_control() && !matches!(one, '\n' | '\r' | '\t');
        if let Some(one) = self.question.chars().find(is_no_text) {
            return Err(InvalidQuestion::Binary { code: u32::from(one) });
        }
        let is_blank = |one: char| one.is_whitespace() || has_no_shape(one);
        if self.question.chars().all(is_blank) {
            return Err(InvalidQuestion::Empty);
        }
        Ok(self.question.trim())
    }
}
