//! The steps of the gate. Each is a file; each yields a type that only it can make.

mod admit;
mod approve;
mod claim;
mod find;
mod input;
mod job;
mod output;
mod record;
mod released;
mod run;
mod spill;

use std::{
    future::{Future, poll_fn},
    path::PathBuf,
    pin::Pin,
    sync::Arc,
    task::Poll,
    time::Instant,
};

use contract::Limits;
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::OnceCell;

pub(crate) use output::Conforming;

use crate::{
    Call, CapturedText, Failure, Gate, JobId, Outcome, OutcomeFlags, Recording, Timestamp, Tool,
    live::JobHandle, quarantine::QuarantineEntry,
};

/// A call on its way, with all that is known of it so far. When it is dropped before it
/// was recorded, it was cancelled, and is recorded as that.
pub(crate) struct CallState {
    gate: Arc<Gate>,
    call: Call,
    began: Instant,
    began_at: Timestamp,
    tool: Option<Arc<Tool>>,
    limits: Limits,
    input_sha256: Option<String>,
    /// Why the approval that the caller named is good for nothing.
    of_no_use: Option<String>,
    /// The arguments of a job that waits for a person, as they will run.
    pending: Option<Box<RawValue>>,
    /// The arguments as they may be kept.
    input_kept: Option<Box<RawValue>>,
    job_id: Option<JobId>,
    live: Option<Arc<JobHandle>>,
    /// Whether the job's row says `running` already.
    running_saved: bool,
    /// The folder of the call, if it asked for one.
    workspace: Arc<OnceCell<PathBuf>>,
    printed: ToolReport,
    /// What is out of the ordinary about the result.
    marks: OutcomeFlags,
    /// The artifact that the result has become.
    spilled: Option<String>,
    recorded: bool,
    /// Whether the call counts among those that are running.
    counted: bool,
}

/// What a provider said beside its result.
#[derive(Default)]
struct ToolReport {
    stdout: CapturedText,
    stderr: CapturedText,
    exit_code: Option<i32>,
    summary: Option<String>,
    metrics: Map<String, Value>,
}

/// Why a call ends before its result is judged good.
pub(crate) enum Refusal {
    /// It failed.
    Failed(Box<Failure>),
    /// It was made before, and this is what came of it.
    Replayed(Box<Outcome>),
    /// A person has released the answer that it got before.
    Released(Box<QuarantineEntry>),
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        Refusal::Failed(Box::new(failure))
    }
}

impl CallState {
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
            of_no_use: None,
            pending: None,
            workspace: Arc::default(),
            printed: ToolReport::default(),
            marks: OutcomeFlags::default(),
            spilled: None,
            recorded: false,
            call,
        }
    }

    /// Whether a job is kept of this call.
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

/// Polls a future a single time, on behalf of the task that waits for it.
pub async fn poll_once<F: Future + ?Sized>(mut future: Pin<&mut F>) -> Poll<F::Output> {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context))).await
}
