//! One request for a person's word, and the word.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::ApprovalLookup;
use crate::{JobId, Timestamp, id};

/// The name of an approval: `apr_` and a ULID.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ApprovalId(Box<str>);

impl ApprovalId {
    const PREFIX: &str = "apr_";

    pub fn new(time: Timestamp) -> Self {
        Self(id::prefixed(Self::PREFIX, time).into())
    }

    /// The name, if it has the form of one.
    pub fn parse(text: &str) -> Option<Self> {
        id::is_prefixed(Self::PREFIX, text).then(|| Self(text.into()))
    }

    /// The whole name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ApprovalId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl Serialize for ApprovalId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalState {
    /// A person was asked.
    Waiting,
    /// A person said yes; the call has not been made.
    Approved,
    /// A person said no.
    Refused,
    /// The call was made.
    Used,
    /// Nobody decided, or nobody called, in time.
    Expired,
    /// The caller went on to other arguments, or the job was cancelled.
    Cancelled,
}

impl ApprovalState {
    /// Every state.
    pub const ALL: [ApprovalState; 6] = [
        ApprovalState::Waiting,
        ApprovalState::Approved,
        ApprovalState::Refused,
        ApprovalState::Used,
        ApprovalState::Expired,
        ApprovalState::Cancelled,
    ];

    pub fn word(self) -> &'static str {
        match self {
            ApprovalState::Waiting => "waiting",
            ApprovalState::Approved => "approved",
            ApprovalState::Refused => "refused",
            ApprovalState::Used => "used",
            ApprovalState::Expired => "expired",
            ApprovalState::Cancelled => "cancelled",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }
}

impl Serialize for ApprovalState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A request for a person's word, and the word.
#[derive(Debug, Clone, Serialize)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// Its state.
    #[serde(rename = "status")]
    pub state: ApprovalState,
    /// The tool that would be called.
    pub tool: String,
    /// The caller.
    pub caller: String,
    /// The door that it came in by.
    pub door: String,
    /// The request that asked.
    pub request_id: String,
    /// The job that waits for it.
    pub job_id: Option<JobId>,
    /// The hash of the arguments that it is for.
    pub input_sha256: String,
    /// The arguments, without secrets.
    pub input: Option<Box<RawValue>>,
    /// The preview of the call, by the tool itself.
    pub preview: Option<String>,
    /// The time at which it was asked for.
    pub created_at: Timestamp,
    /// Until when it waits, or until when the decision is good.
    pub expires_at: Timestamp,
    /// The time of the decision.
    pub decided_at: Option<Timestamp>,
    /// The person who decided.
    pub decided_by: Option<String>,
    /// Why, in the person's words.
    pub reason: Option<String>,
}

impl Approval {
    /// The same as it stands at this time: what is over is over, whether or not anybody has
    /// written it down.
    #[must_use]
    pub fn at(mut self, now: Timestamp) -> Self {
        if self.is_open() && self.expires_at <= now {
            self.state = ApprovalState::Expired;
        }
        self
    }

    /// True if it is for this very call. One that a job waits for is that job's.
    pub fn is_for(&self, lookup: &ApprovalLookup) -> bool {
        self.caller == lookup.caller
            && self.tool == lookup.tool
            && self.input_sha256 == lookup.input_sha256
            && (self.job_id.is_none() || self.job_id == lookup.job_id)
    }

    /// True if the call may still come to run with it.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ApprovalState::Waiting | ApprovalState::Approved)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_reads_back_and_nothing_else_does() {
        let id = ApprovalId::new(Timestamp(1_000));
        assert_eq!(ApprovalId::parse(id.as_str()), Some(id));
        for wrong in ["apr_1", "", "job_01ARZ3NDEKTSV4RRFFQ69G5FAV", "apr_' OR 1=1 --"] {
            assert_eq!(ApprovalId::parse(wrong), None, "{wrong}");
        }
    }
}
