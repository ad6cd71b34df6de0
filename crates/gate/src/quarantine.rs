//! Where a result that broke its contract waits for a person.

use contract::Violation;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::Timestamp;

/// An answer that did not pass, without the answer.
#[derive(Debug, Clone, Serialize)]
pub struct Summary {
    /// `q_` and a ULID.
    pub id: String,
    /// The tool that answered.
    pub tool: String,
    /// The request that it answered.
    pub request_id: String,
    /// The job of the call, where there is one.
    pub job_id: Option<String>,
    /// When.
    pub created_at: Timestamp,
    /// What was wrong, in a sentence.
    pub reason: String,
    /// What was wrong, place by place.
    pub violations: Vec<StoredViolation>,
}

/// A violation as it is kept and read back.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub struct StoredViolation {
    /// JSON pointer into the payload.
    pub pointer: String,
    /// The schema keyword that refuses.
    pub keyword: String,
    /// What was expected.
    pub message: String,
}

impl From<&Violation> for StoredViolation {
    fn from(violation: &Violation) -> Self {
        Self {
            pointer: violation.pointer.clone(),
            keyword: violation.keyword.clone(),
            message: violation.message.clone(),
        }
    }
}

/// An answer that did not pass, and the answer.
#[derive(Debug, Clone, Serialize)]
pub struct Entry {
    /// All but the payload.
    #[serde(flatten)]
    pub summary: Summary,
    /// What the tool answered; a text where it was no JSON.
    pub payload: Box<RawValue>,
}
