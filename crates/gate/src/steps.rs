//! The nine steps of a call. `Gate::cross` is their list; each is a file here, of the same name,
//! and yields a type that only it can make:
//!
//! 1. `find` the tool: [`find::FoundTool`]
//! 2. `admit` the caller: [`admit::AdmittedCall`]
//! 3. `check_input`: [`check_input::CheckedInput`]
//! 4. `claim_key`, the idempotency key: [`claim_key::ClaimedKey`]
//! 5. `take_release`, a result that a person has released: [`take_release::UnreleasedCall`]
//! 6. `approve`: [`approve::ApprovedCall`]
//! 7. `run` the provider: [`run::UncheckedOutput`]
//! 8. `check_output`: [`CheckedOutput`]
//! 9. `record`: [`Outcome`]
//!
//! Of these only `approve` gives an idempotency key back: when it ends the call, nothing has run,
//! and the same call with its approval needs the key. Whatever ends a call after that keeps it.

mod admit;
mod approve;
mod check_input;
mod check_output;
mod claim_key;
mod find;
mod job_record;
mod large_output;
mod record;
mod run;
mod schema_check;
mod take_release;

use std::{
    future::{Future, poll_fn},
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Instant,
};

use contract::{Contract, Limits, Stability, codes};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::OnceCell;

pub(crate) use check_output::CheckedOutput;
pub(crate) use find::find_tool;

use crate::{
    Call, CapturedText, Failure, Gate, JobId, Outcome, OutcomeFlags, Recording, RequestId,
    Timestamp, Tool, journal::JournalRoom, live_jobs::JobHandle, quarantine::QuarantineEntry,
};

/// The gate's bookkeeping of one call. When it is dropped before the call was recorded, the call
/// was cancelled, and is recorded as that.
pub(crate) struct CallState {
    gate: Arc<Gate>,
    call: Call,
    began: Instant,
    began_at: Timestamp,
    tool: Option<Arc<Tool>>,
    limits: Limits,
    input_sha256: Option<String>,
    /// The reason that the approval which the caller named is rejected.
    rejected_approval: Option<String>,
    /// The arguments of a job that waits for a person, as they will run.
    pending: Option<Box<RawValue>>,
    /// The arguments as they may be kept.
    input_kept: Option<Box<RawValue>>,
    job_id: Option<JobId>,
    live: Option<Arc<JobHandle>>,
    /// True if the job's row says `running` already.
    running_saved: bool,
    /// The folder of the call, if it asked for one.
    workspace: Arc<OnceCell<PathBuf>>,
    report: ToolReport,
    /// Everything unusual about the result.
    flags: OutcomeFlags,
    /// The artifact that the result has become.
    spilled: Option<String>,
    /// The disk space for the journal's line of this call.
    journal_room: JournalRoom,
    recorded: bool,
    /// True if the call counts among those that are running.
    counted: bool,
}

/// Everything that a provider reported beside its result.
#[derive(Default)]
struct ToolReport {
    stdout: CapturedText,
    stderr: CapturedText,
    exit_code: Option<i32>,
    summary: Option<String>,
    metrics: Map<String, Value>,
}

/// The end of a call before its output has passed.
pub(crate) enum CallRefusal {
    Failed(Box<Failure>),
    /// It was made before, and this is what came of it.
    Replayed(Box<Outcome>),
    /// A person has released the output of the same call.
    Released(Box<QuarantineEntry>),
}

impl From<Failure> for CallRefusal {
    fn from(failure: Failure) -> Self {
        CallRefusal::Failed(Box::new(failure))
    }
}

impl CallState {
    /// The contract of the tool, if it is deprecated.
    pub(crate) fn deprecated(&self) -> Option<Arc<Contract>> {
        let contract = &self.tool.as_ref()?.contract;
        (contract.stability == Stability::Deprecated).then(|| contract.clone())
    }

    pub(crate) fn begin(gate: Arc<Gate>, call: Call) -> Self {
        let job_id = match &call.recording {
            Recording::Job(id) | Recording::As(id) => Some(id.clone()),
            Recording::Always | Recording::WhenNeeded => None,
        };
        let live = job_id.as_ref().and_then(|id| gate.live.get(id)).map(JobHandle::of);
        Self {
            // Whoever can be watched is on record.
            running_saved: live.is_some() || matches!(&call.recording, Recording::Job(_)),
            live,
            job_id,
            began: Instant::now(),
            began_at: gate.clock.now(),
            gate,
            counted: false,
            tool: None,
            limits: Limits::default(),
            input_sha256: None,
            input_kept: None,
            rejected_approval: None,
            pending: None,
            workspace: Arc::default(),
            report: ToolReport::default(),
            flags: OutcomeFlags::default(),
            spilled: None,
            journal_room: JournalRoom::default(),
            recorded: false,
            call,
        }
    }

    /// The identity of the call, for an outcome that could not be recorded.
    pub(crate) fn identity(&self) -> CallIdentity {
        CallIdentity {
            request_id: self.call.request_id.clone(),
            // Copied only where no tool was found.
            name: if self.tool.is_some() { String::new() } else { self.call.tool.clone() },
            tool: self.tool.clone(),
        }
    }

    /// True if a job is kept of this call.
    fn is_job(&self) -> bool {
        match self.call.recording {
            Recording::Always | Recording::Job(_) => true,
            Recording::As(_) => self.live.is_some(),
            Recording::WhenNeeded => self.call.idempotency_key.is_some(),
        }
    }

    /// The name that the job of this call has or would have.
    fn job_id(&mut self) -> JobId {
        let now = self.began_at;
        self.job_id.get_or_insert_with(|| JobId::new(now)).clone()
    }
}

/// The tool and the request of a call.
pub(crate) struct CallIdentity {
    request_id: RequestId,
    tool: Option<Arc<Tool>>,
    name: String,
}

impl CallIdentity {
    /// The outcome of a call that could not be recorded.
    pub(crate) fn unrecorded(self) -> Outcome {
        let tool = self.tool.as_ref().map_or(&self.name, |tool| &tool.contract.name);
        let failure = Failure::new(codes::INTERNAL, "the call could not be recorded");
        Outcome::refused(tool, self.request_id, failure)
    }
}

/// Polls a future a single time, on behalf of the task that waits for it.
pub async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}
