//! The store: the gate's interface to its state.

use serde::Serialize;

use crate::{
    BoxFuture, Job, JobId, JobState, Timestamp,
    approvals::{
        Approval, ApprovalDecision, ApprovalFilter, ApprovalId, ApprovalLookup, ApprovalMatch,
        ApprovalSettings, DecisionResult, DueApprovals, RequestedApproval,
    },
    quarantine::{
        QuarantineEntry, QuarantineFilter, QuarantineSummary, ReleaseDecision, ReleaseResult,
        ReleasedPayload, RepeatedCall,
    },
};

/// An error of the store.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The disk is full.
    #[error("the disk is full")]
    Full,
    /// The store cannot be written.
    #[error("the data folder cannot be written")]
    ReadOnly,
    /// Part of what was kept cannot be read any more.
    #[error("the database is damaged; stop the server and put a backup in its place")]
    Damaged,
    /// It is somebody else's.
    #[error(
        "it is the database of another program; move it away and put ours in its place, or choose an empty folder \
         with --data-dir"
    )]
    NotOurs,
    /// Something else than a file has its name. What is written beside a link would not be beside the file.
    #[error(
        "it is not a regular file; put the file itself in this place, or choose the folder that it is in with \
         --data-dir"
    )]
    NotRegular,
    /// The file that is open is not the one at the path.
    #[error("the database was moved or removed; stop the server and put it back")]
    Moved,
    /// A later version of this program has written it.
    #[error("the database was written by a newer version of Toolgate; start that version")]
    Newer,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// Anything else, in the words of the store.
    #[error("the store failed: {0}")]
    Other(String),
}

/// The storage of jobs, idempotency keys, approvals and quarantine. What it has acknowledged
/// survives the death of the process.
pub trait Store: Send + Sync {
    /// Writes the job as it is now, over what was there before.
    fn save(&self, job: Job) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Writes a job that is over and was never written before.
    fn record(&self, job: Job) -> BoxFuture<'_, Result<(), StoreError>> {
        self.save(job)
    }

    /// Writes the job without anybody waiting for it.
    fn save_later(&self, job: Job);

    /// Turns a job that is queued, or waits for an approval, into a running one and hands it out
    /// as it was, with its arguments; nothing if it waits no more.
    fn start(&self, id: &JobId, at: Timestamp) -> BoxFuture<'_, Result<Option<Job>, StoreError>>;

    /// Turns a job that is queued, or waits for an approval, into a cancelled one, and its
    /// approval with it, which is handed out; nothing if the job waits no more.
    fn cancel_queued(
        &self,
        id: &JobId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Vec<Approval>>, StoreError>>;

    /// The job of that name.
    fn job(&self, id: &JobId) -> BoxFuture<'_, Result<Option<Job>, StoreError>>;

    /// Jobs, newest first, without their arguments and results.
    fn jobs(&self, filter: JobFilter) -> BoxFuture<'_, Result<Vec<Job>, StoreError>>;

    /// After a start: whatever was running is interrupted, if nobody else may be running it;
    /// what is queued comes back, oldest first.
    fn recover(&self, at: Timestamp, alone: bool) -> BoxFuture<'_, Result<Recovery, StoreError>>;

    /// Takes an idempotency key for a call and writes the job that will carry its outcome,
    /// both or neither; or finds who has the key.
    fn claim(
        &self,
        claim: IdempotencyClaim,
        job: Job,
    ) -> BoxFuture<'_, Result<ClaimResult, StoreError>>;

    /// Gives back the key of a call that did not run.
    fn release(
        &self,
        claim: IdempotencyClaim,
        job: &JobId,
    ) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Uses up the approval of a call, or finds how things stand. An approval that the caller
    /// names and that is for other arguments of the same caller is cancelled.
    fn use_approval(
        &self,
        lookup: ApprovalLookup,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<ApprovalMatch, StoreError>>;

    /// Asks for an approval, unless the same call waits already, was refused a while ago, or as
    /// many wait as may.
    fn request_approval(
        &self,
        approval: Approval,
        settings: ApprovalSettings,
    ) -> BoxFuture<'_, Result<RequestedApproval, StoreError>>;

    /// Decides a request that waits; the decision is good until then.
    fn decide_approval(
        &self,
        id: ApprovalId,
        decision: ApprovalDecision,
        at: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<DecisionResult, StoreError>>;

    /// The approval of that name.
    fn approval(
        &self,
        id: &ApprovalId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Approval>, StoreError>>;

    /// Approvals, newest first, without arguments and previews that are large.
    fn approvals(
        &self,
        filter: ApprovalFilter,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Approval>, StoreError>>;

    /// The approvals and jobs that have become due.
    fn due(&self, at: Timestamp) -> BoxFuture<'_, Result<DueApprovals, StoreError>>;

    /// Writes down which approvals are over.
    fn expire_approvals(&self, at: Timestamp) -> BoxFuture<'_, Result<Vec<Approval>, StoreError>>;

    /// Keeps an output that broke its contract.
    fn quarantine(&self, entry: QuarantineEntry) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The kept output of that name.
    fn quarantined(
        &self,
        id: &str,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineEntry>, StoreError>>;

    /// Kept outputs, newest first.
    fn all_quarantined(
        &self,
        filter: QuarantineFilter,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<QuarantineSummary>, StoreError>>;

    /// Releases a kept output to the caller of its call, until then.
    fn release_quarantined(
        &self,
        id: &str,
        decision: ReleaseDecision,
        at: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<ReleaseResult, StoreError>>;

    /// Marks a kept output as one that its contract has been made wide enough for.
    fn adopt_quarantined(
        &self,
        id: &str,
        decision: ReleaseDecision,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineSummary>, StoreError>>;

    /// Hands out the released output of a call, once.
    fn take_released(
        &self,
        call: RepeatedCall,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineEntry>, StoreError>>;

    /// The hashes of the arguments whose outputs are released and were not handed out. Asked for
    /// twice a second on the path of a call, so it answers at once: a store that is far away
    /// says what it has last heard.
    fn released(&self, at: Timestamp) -> Result<Vec<String>, StoreError>;

    /// The released output of a job.
    fn released_of_job(
        &self,
        job: &JobId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<ReleasedPayload>, StoreError>>;

    /// Finished jobs that have to go, oldest first: those that ended before the time, and the oldest of the callers who
    /// keep most, until all together keep no more than the limits ([`crate::retention::Surplus`]).
    fn overdue(&self, policy: JobRetention) -> BoxFuture<'_, Result<Vec<JobId>, StoreError>>;

    /// Forgets these jobs.
    fn forget_jobs(&self, ids: Vec<JobId>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Forgets the keys, approvals and quarantined outputs that do not stay.
    fn forget(&self, stays: RecordRetention) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Checks that the store can be written right now.
    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// Only in this state.
    pub state: Option<JobState>,
    /// Only of this tool.
    pub tool: Option<String>,
    /// Only older than this one.
    pub cursor: Option<JobId>,
    /// At most so many.
    pub limit: usize,
}

/// A job that can run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedJob {
    pub id: JobId,
    pub caller: String,
}

/// The jobs and approvals that a start has found.
#[derive(Debug, Default)]
pub struct Recovery {
    /// Jobs that were running when the process died.
    pub interrupted: Vec<InterruptedJob>,
    /// Approvals that were asked for by jobs that are over.
    pub cancelled: Vec<Approval>,
    /// Jobs that still wait, oldest first.
    pub queued: Vec<QueuedJob>,
    /// Jobs that wait for a person's approval.
    pub waiting: Vec<JobId>,
}

/// A job that was running when the process died.
#[derive(Debug, Serialize)]
pub struct InterruptedJob {
    #[serde(rename = "job_id")]
    pub id: JobId,
    pub request_id: String,
    pub caller: String,
    pub tool: String,
    /// Not known of jobs that an older version kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_sha256: Option<String>,
}

/// A caller's key for one call.
#[derive(Debug, Clone)]
pub struct IdempotencyClaim {
    pub caller: String,
    /// For which tool.
    pub tool: String,
    pub key: String,
    /// The hash of the arguments.
    pub input_sha256: String,
}

#[derive(Debug)]
pub enum ClaimResult {
    /// The key is new: go on.
    New,
    /// The key was used for the same call: its job.
    Known(JobId),
    /// The key was used for other arguments.
    Conflict,
}

/// The retention of keys, quarantine and approvals.
#[derive(Debug, Clone, Copy)]
pub struct RecordRetention {
    /// The time of now.
    pub now: Timestamp,
    /// The time before which everything goes.
    pub before: Timestamp,
    /// The newest in quarantine, with no more bytes than this.
    pub max_bytes: u64,
    /// The newest so many in quarantine.
    pub max_quarantined: u64,
    /// The newest so many approvals. Those that still say something stay however many.
    pub max_approvals: u64,
}

/// The retention of finished jobs.
#[derive(Debug, Clone, Copy)]
pub struct JobRetention {
    /// Those that ended before.
    pub before: Timestamp,
    /// So many of all callers.
    pub max_jobs: u64,
    /// So many bytes of artifacts.
    pub max_artifact_bytes: u64,
    /// So many bytes of arguments and results.
    pub max_bytes: u64,
    /// At most so many at a time.
    pub limit: usize,
}
