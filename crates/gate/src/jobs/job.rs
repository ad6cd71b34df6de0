//! One recorded call.

use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::{Artifact, JobId, Timestamp, approvals::ApprovalId, quarantine::ReleasedPayload};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JobState {
    /// Accepted; will run.
    Queued,
    Running,
    /// Waits for a person to approve it.
    WaitingApproval,
    /// Waits for its caller to answer a question.
    WaitingInput,
    /// Ended well.
    Succeeded,
    /// Ended with an error.
    Failed,
    /// Stopped by its caller.
    Cancelled,
    /// The server stopped while it ran.
    Interrupted,
}

impl JobState {
    /// Every state.
    pub const ALL: [JobState; 8] = [
        JobState::Queued,
        JobState::Running,
        JobState::WaitingApproval,
        JobState::WaitingInput,
        JobState::Succeeded,
        JobState::Failed,
        JobState::Cancelled,
        JobState::Interrupted,
    ];

    pub fn word(self) -> &'static str {
        match self {
            JobState::Queued => "queued",
            JobState::Running => "running",
            JobState::WaitingApproval => "waiting_approval",
            JobState::WaitingInput => "waiting_input",
            JobState::Succeeded => "succeeded",
            JobState::Failed => "failed",
            JobState::Cancelled => "cancelled",
            JobState::Interrupted => "interrupted",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.word() == word)
    }

    /// True if nothing more will happen.
    pub fn is_final(self) -> bool {
        !matches!(
            self,
            JobState::Queued
                | JobState::Running
                | JobState::WaitingApproval
                | JobState::WaitingInput
        )
    }
}

impl Serialize for JobState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A recorded call.
#[derive(Debug, Clone, Serialize)]
pub struct Job {
    /// Its name.
    pub id: JobId,
    /// The tool that was called.
    pub tool: String,
    /// Its state.
    #[serde(rename = "status")]
    pub state: JobState,
    /// The caller.
    pub caller: String,
    /// The request that made it.
    pub request_id: String,
    /// The time at which it was accepted.
    pub created_at: Timestamp,
    /// The time at which it began to run.
    pub started_at: Option<Timestamp>,
    /// The time at which it ended.
    pub finished_at: Option<Timestamp>,
    /// The code of its failure.
    pub error_code: Option<String>,
    /// One line about how it ended.
    pub summary: Option<String>,
    /// The arguments, without secrets.
    pub input: Option<Box<RawValue>>,
    /// The files that it left.
    pub artifacts: Vec<Artifact>,
    /// The whole result, as `POST /v1/tools/execute` answers it.
    pub result: Option<Box<RawValue>>,
    /// The approval that it waits for, or was run with.
    pub approval_id: Option<ApprovalId>,
    /// The output that broke its contract and that a person has released.
    pub released: Option<Box<ReleasedPayload>>,
    /// The arguments as they were given, for as long as the job waits to run.
    #[serde(skip)]
    pub pending: Option<Box<RawValue>>,
    /// The message of the failure, for a replay under the same key.
    #[serde(skip)]
    pub error_message: Option<String>,
    /// The HTTP status that goes with the result.
    #[serde(skip)]
    pub http_status: u16,
    /// The hash of the arguments, of a job that is not over.
    #[serde(skip)]
    pub input_sha256: Option<String>,
    /// The limits that the request set.
    #[serde(skip)]
    pub limits: contract::LimitOverrides,
}
