//! One output that did not pass.

use contract::Violation;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Timestamp, id};

/// The state of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineState {
    /// Nobody has it.
    Held,
    /// The tool is not held to its contract: the caller got the output, and this is a copy.
    Passed,
    /// A person has released it, and its caller has not come for it.
    Released,
    /// It was released, and its caller has it.
    Delivered,
    /// A person has made the contract wide enough for it.
    Adopted,
}

impl QuarantineState {
    /// Every state.
    pub const ALL: [QuarantineState; 5] = [
        QuarantineState::Held,
        QuarantineState::Passed,
        QuarantineState::Released,
        QuarantineState::Delivered,
        QuarantineState::Adopted,
    ];

    pub fn word(self) -> &'static str {
        match self {
            QuarantineState::Held => "held",
            QuarantineState::Passed => "passed",
            QuarantineState::Released => "released",
            QuarantineState::Delivered => "delivered",
            QuarantineState::Adopted => "adopted",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

impl Serialize for QuarantineState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// An output that did not pass, without the output.
#[derive(Debug, Clone, Serialize)]
pub struct QuarantineSummary {
    /// `q_` and a ULID.
    pub id: String,
    /// Its state.
    #[serde(rename = "status")]
    pub state: QuarantineState,
    /// The tool that answered.
    pub tool: String,
    /// The caller.
    pub caller: String,
    /// The request that it answered.
    pub request_id: String,
    /// The job of the call, where there is one.
    pub job_id: Option<String>,
    /// The hash of the arguments.
    pub input_sha256: String,
    /// When.
    pub created_at: Timestamp,
    /// The violations, in a sentence.
    pub reason: String,
    /// The violations, one by one.
    pub violations: Vec<StoredViolation>,
    /// True if all of the output was kept.
    pub whole: bool,
    /// The time of the last decision about it.
    pub decided_at: Option<Timestamp>,
    /// The person who decided.
    pub decided_by: Option<String>,
    /// Why, in the person's words.
    pub decision_reason: Option<String>,
    /// Until when the caller can come for it, or could.
    pub expires_at: Option<Timestamp>,
    /// The time at which the caller got it.
    pub delivered_at: Option<Timestamp>,
}

impl QuarantineSummary {
    const PREFIX: &str = "q_";

    /// A new name for an entry.
    pub(crate) fn new_id(time: Timestamp) -> String {
        id::prefixed(Self::PREFIX, time)
    }

    /// True if the text has the form of a name.
    pub fn is_id(text: &str) -> bool {
        id::is_prefixed(Self::PREFIX, text)
    }

    /// The same as it stands at this time: a release that nobody came for is over.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        if self.state == QuarantineState::Released
            && self.expires_at.is_none_or(|until| until <= now)
        {
            self.state = QuarantineState::Held;
        }
        self
    }
}

/// A violation as it is kept and read back.
#[derive(Debug, Clone, Serialize, serde::Deserialize)]
pub struct StoredViolation {
    /// JSON pointer into the payload.
    pub pointer: String,
    /// The schema keyword that refuses.
    pub keyword: String,
    /// The expectation that was broken.
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

/// An output that did not pass, and the output.
#[derive(Debug, Clone, Serialize)]
pub struct QuarantineEntry {
    /// All but the payload.
    #[serde(flatten)]
    pub summary: QuarantineSummary,
    /// The tool's output; a text where it was no JSON.
    pub payload: Box<RawValue>,
}

/// The released output of a job. It does not match its contract.
#[derive(Debug, Clone, Serialize)]
pub struct ReleasedPayload {
    /// The entry of the quarantine.
    pub quarantine_id: String,
    /// The time at which it was released.
    pub released_at: Timestamp,
    /// The tool's output.
    pub payload: Box<RawValue>,
}
