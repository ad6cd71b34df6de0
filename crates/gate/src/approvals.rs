//! A person's word on a call, before it runs.
//!
//! An approval belongs to one call: tool, arguments (by hash) and caller. It is asked for by the
//! gate, given or refused by whoever holds the operator's credential, used up by the one call
//! that it is for, and good for a while only. All of it is kept in the store, so that it
//! survives a restart and is used once however many processes there are.

mod approval;
mod decide;
mod shown_arguments;
mod watcher;

use std::time::Duration;

pub use approval::{Approval, ApprovalId, ApprovalState};
pub use decide::{ApprovalDecision, MAX_REASON_CHARACTERS};
pub(crate) use decide::{after, limit_reason};
pub(crate) use shown_arguments::shown_arguments;
pub(crate) use watcher::watch;

use crate::{JobId, QueuedJob};

#[derive(Debug, Clone, Copy)]
pub struct ApprovalSettings {
    /// The time that a request waits for a person.
    pub wait: Duration,
    /// The time that a decision is good, once made.
    pub valid: Duration,
    /// The most requests that may wait at once.
    pub max_waiting: u64,
    /// The most of them that may be of one caller.
    pub max_waiting_of_caller: u64,
}

impl Default for ApprovalSettings {
    fn default() -> Self {
        Self {
            wait: Duration::from_hours(24),
            valid: Duration::from_mins(15),
            max_waiting: 1_000,
            max_waiting_of_caller: 200,
        }
    }
}

/// The call that wants an approval.
#[derive(Debug, Clone)]
pub struct ApprovalLookup {
    pub caller: String,
    pub tool: String,
    /// The hash of the arguments.
    pub input_sha256: String,
    /// The job that the call is made for, if it is.
    pub job_id: Option<JobId>,
    /// The approval that the caller names.
    pub named: Option<ApprovalId>,
}

/// The approval that matches a call.
#[derive(Debug)]
pub enum ApprovalMatch {
    /// It was approved, and this has used the approval up.
    Used(Approval),
    /// A person has refused it.
    Refused(Approval),
    /// A person was asked and has not decided.
    Waiting(Approval),
    /// Nothing: it has to be asked for. The approval that the caller named, as it stands: used,
    /// expired, cancelled, or none of the caller's.
    Nothing(Option<Approval>),
    /// The approval that the caller named is for another call of its own. The caller has gone on
    /// to something else, so that one is cancelled now.
    Changed(Approval),
}

/// The result of requesting an approval.
#[derive(Debug)]
pub enum RequestedApproval {
    /// It waits now.
    New,
    /// The same call waits already, or was refused and that still stands.
    Known(Box<Approval>),
    /// As many wait as may.
    Full,
    /// As many of this caller's wait as may.
    FullForCaller,
}

#[derive(Debug)]
pub enum DecisionResult {
    /// There is no such request.
    Unknown,
    /// It is decided.
    Done(Approval),
    /// It does not wait any more; this is how it stands.
    TooLate(Approval),
}

/// The work of the watcher of approvals.
#[derive(Debug, Default)]
pub struct DueApprovals {
    /// Approvals that are over, or whose job is, and are not written down as that.
    pub overdue: bool,
    /// Jobs that wait no longer: their approval was decided, or is over.
    pub jobs: Vec<QueuedJob>,
}

#[derive(Debug, Clone, Default)]
pub struct ApprovalFilter {
    /// Only in this state.
    pub state: Option<ApprovalState>,
    /// Only those that come after this one.
    pub cursor: Option<ApprovalId>,
    /// The one that was asked for first comes first; otherwise the newest.
    pub oldest_first: bool,
    /// At most so many.
    pub limit: usize,
}
