//! The queue of jobs that run by themselves. `runner` runs them.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::{
    runner::{self, JobRunner},
    waiting::WaitingJobs,
};
use crate::{
    Approval, Call, ClaimResult, Failure, Gate, IdempotencyClaim, Job, JobId, JobState, LiveJob,
    QueuedJob, StoreError, approvals, shares::Share, steps::find_tool,
};

/// The time that a cancelled job may take until its canceller is told "still stopping".
const CANCEL_WAIT: Duration = Duration::from_secs(5);

/// The bounds of the queue.
#[derive(Debug, Clone, Copy)]
pub struct JobsSettings {
    /// The most jobs that may wait.
    pub max_queued: usize,
    /// The number of jobs that run at once.
    pub max_running: usize,
    /// The time that a job waits for the answer to a question before it is cancelled.
    pub input_timeout: Duration,
}

/// The queue of jobs.
pub struct Jobs {
    gate: Arc<Gate>,
    waiting: Arc<WaitingJobs>,
    runner: Arc<JobRunner>,
    settings: JobsSettings,
    /// True if another process is the server of the data folder.
    visiting: bool,
}

/// The reason that a job was not accepted.
pub type SubmitError = Box<Failure>;

/// The result of cancelling.
pub enum CancelResult {
    /// There is no such job.
    Unknown,
    /// It had ended otherwise before.
    TooLate(Box<Job>),
    /// It is cancelled.
    Done(Box<Job>),
    /// It has been told to stop and has not stopped yet.
    Stopping(Box<Job>),
}

impl Jobs {
    /// Starts the workers of a process that is not the server of its data folder: whatever
    /// waits there is the server's.
    pub fn visiting(gate: Arc<Gate>, settings: JobsSettings) -> Arc<Self> {
        let jobs = Self::new(gate, settings, true);
        jobs.begin_work();
        jobs
    }

    fn new(gate: Arc<Gate>, settings: JobsSettings, visiting: bool) -> Arc<Self> {
        let waiting = WaitingJobs::new(settings.max_queued, &gate.settings().callers);
        let runner = JobRunner::new(gate.clone(), settings, waiting.clone());
        Arc::new(Self { gate, waiting, runner, settings, visiting })
    }

    /// Starts the workers. Jobs that were queued when the last process ended are queued
    /// again; those that were running are interrupted, if nobody else may be running them.
    pub async fn start(
        gate: Arc<Gate>,
        settings: JobsSettings,
        alone: bool,
    ) -> Result<Arc<Self>, StoreError> {
        let recovered = gate.store.recover(gate.clock.now(), alone).await?;
        for job in &recovered.interrupted {
            let fields = serde_json::json!(job);
            gate.journal.event(gate.clock.now(), "job_interrupted", fields);
        }
        for approval in &recovered.cancelled {
            gate.write_down("approval_cancelled", approval);
        }
        let jobs = Self::new(gate, settings, false);
        // There is room for every job that was accepted before, also where `max_queued` is smaller
        // by now.
        for job in recovered.queued {
            let place = jobs.waiting.places.take(&job.caller);
            jobs.enqueue(job, place);
        }
        for id in recovered.waiting {
            jobs.await_approval(id);
        }
        jobs.begin_work();
        Ok(jobs)
    }

    /// From now on these callers share the places of the queue and the workers.
    pub fn share_among(&self, callers: &[Arc<str>]) {
        self.waiting.places.set_callers(callers);
        self.runner.share_among(callers);
    }

    fn begin_work(self: &Arc<Self>) {
        tokio::spawn(runner::work(self.runner.clone()));
        tokio::spawn(approvals::watch(self.gate.clone(), Arc::downgrade(self)));
    }

    /// Accepts a job. Once this returns, the job survives the death of the process.
    pub async fn submit(
        self: &Arc<Self>,
        mut call: Call,
    ) -> Result<(JobId, Arc<LiveJob>), SubmitError> {
        if self.gate.is_stopping() {
            return Err(Box::new(Failure::unavailable(&"the server is shutting down")));
        }
        let tool = find_tool(&self.gate.catalogue(), &mut call)?;
        let queued = self.gate.metrics.queued.load(Ordering::Relaxed);
        if usize::try_from(queued).unwrap_or(0) >= self.settings.max_queued {
            return Err(Box::new(Failure::queue_full(self.settings.max_queued)));
        }
        let now = self.gate.clock.now();
        let pending = serde_json::value::to_raw_value(&call.input).ok();
        // Arguments that take long to check are kept once they are checked.
        let bytes = pending.as_ref().map_or(0, |input| input.get().len()) as u64;
        let matches = tool.input.has_secrets()
            && !tool.input.is_heavy(bytes)
            && tool.input.is_valid(&call.input);
        let (kept, mut input) = (tool.to_keep(&call.input, matches), call.input);
        tool.input.fill_defaults(&mut input);
        let input_sha256 = contract::canonical::sha256(&input);
        let job = Job {
            id: JobId::new(now),
            tool: call.tool,
            state: JobState::Queued,
            caller: call.caller.name().to_owned(),
            request_id: call.request_id.to_string(),
            created_at: now,
            started_at: None,
            finished_at: None,
            error_code: None,
            summary: None,
            input: kept,
            input_sha256: Some(input_sha256.clone()),
            artifacts: Vec::new(),
            result: None,
            approval_id: call.approval,
            released: None,
            pending,
            error_message: None,
            http_status: 200,
            limits: call.limits,
        };
        let claim = call.idempotency_key.map(|key| IdempotencyClaim {
            caller: job.caller.clone(),
            tool: job.tool.clone(),
            key,
            input_sha256,
        });
        // Written and queued, or neither: a submitter that goes away in between must not leave
        // a job behind that nobody runs.
        let jobs = self.clone();
        let accepted = tokio::spawn(async move { jobs.accept(job, claim).await });
        accepted.await.unwrap_or_else(|_| {
            Err(Box::new(Failure::unavailable(&"the job could not be accepted")))
        })
    }

    async fn accept(
        &self,
        job: Job,
        claim: Option<IdempotencyClaim>,
    ) -> Result<(JobId, Arc<LiveJob>), SubmitError> {
        let place = self.waiting.places.try_take(&job.caller);
        let place = place.ok_or_else(|| match self.gate.settings().callers.len() {
            0 | 1 => Failure::queue_full(self.settings.max_queued),
            _ => Failure::queue_share_full(self.settings.max_queued),
        })?;
        let queued = QueuedJob { id: job.id.clone(), caller: job.caller.clone() };
        match claim {
            None => {
                let saved = self.gate.store.save(job).await;
                saved.map_err(|error| Box::new(Failure::unavailable(&error)))?;
            }
            Some(claim) => {
                if let Some(known) = self.claim(claim, job).await? {
                    return Ok(known);
                }
            }
        }
        Ok((queued.id.clone(), self.enqueue(queued, place)))
    }

    /// The job that an earlier submission with the same key made.
    async fn claim(
        &self,
        claim: IdempotencyClaim,
        job: Job,
    ) -> Result<Option<(JobId, Arc<LiveJob>)>, SubmitError> {
        let claimed = self.gate.store.claim(claim, job).await;
        match claimed.map_err(|error| Box::new(Failure::unavailable(&error)))? {
            ClaimResult::New => Ok(None),
            ClaimResult::Known(id) => {
                let live = self.gate.live.get(&id).unwrap_or_else(|| {
                    // It is over: whoever waits for it need not wait.
                    let live = LiveJob::new(id.clone(), CancellationToken::new());
                    live.state(JobState::Succeeded);
                    live
                });
                Ok(Some((id, live)))
            }
            ClaimResult::Conflict => Err(Box::new(Failure::other_arguments())),
        }
    }

    fn enqueue(&self, job: QueuedJob, place: Share) -> Arc<LiveJob> {
        let live = LiveJob::new(job.id.clone(), CancellationToken::new());
        live.state(JobState::Queued);
        self.gate.live.insert(live.clone());
        self.count_in(&live);
        self.waiting.push(&job.caller, job.id, place);
        live
    }

    /// A job whose approval was decided goes on. A visitor takes only its own.
    pub(crate) fn resume(&self, job: QueuedJob) {
        let live = match self.gate.live.get(&job.id) {
            Some(live) => live,
            None if self.visiting => return,
            None => self.await_approval(job.id.clone()),
        };
        // Where the queue is full the job goes on waiting, and is resumed at a later look.
        let Some(place) = self.waiting.places.try_take(&job.caller) else { return };
        // One that was resumed already is in the queue until a worker has taken it.
        if live.awaits_approval() && self.count_in(&live) {
            self.waiting.push(&job.caller, job.id, place);
        }
    }

    /// A visitor's job that waited may have been ended by the server.
    pub(crate) async fn let_go(&self) {
        if !self.visiting {
            return;
        }
        for id in self.gate.live.ids() {
            let Some(live) = self.gate.live.get(&id).filter(|live| live.awaits_approval()) else {
                continue;
            };
            let ended = match self.gate.store.job(&id).await {
                Ok(job) => job.is_none_or(|job| job.state.is_final()),
                Err(_) => false,
            };
            // If it went on here meanwhile, whoever ran it has told.
            if ended && live.awaits_approval() && !live.is_queued() {
                self.runner.not_ours(&id).await;
            }
        }
    }

    /// A job that waits for a person can be watched and stopped.
    fn await_approval(&self, id: JobId) -> Arc<LiveJob> {
        let live = LiveJob::new(id, CancellationToken::new());
        live.state(JobState::WaitingApproval);
        self.gate.live.insert(live.clone());
        live
    }

    /// A job waits for a worker from now on; whether that is news.
    fn count_in(&self, live: &LiveJob) -> bool {
        let news = live.set_queued(true);
        if news {
            self.gate.metrics.queued.fetch_add(1, Ordering::Relaxed);
        }
        news
    }

    /// True if there is anything to look after: a visitor without jobs need not wake up the disk.
    pub(crate) fn looks_after_approvals(&self) -> bool {
        !self.visiting || self.gate.has_live_jobs()
    }

    /// Waits for the answers to what a job asks: all that was ever replied, or why the job is
    /// given up.
    pub async fn answers(
        &self,
        live: &LiveJob,
        caller: &str,
    ) -> Result<Map<String, Value>, Box<Failure>> {
        self.runner.answers(live, caller).await
    }

    /// The record says that a job which was answered runs again.
    pub async fn go_on(&self, live: &LiveJob) {
        self.runner.go_on(live).await;
    }

    /// Stops every job of this process, those that have not begun included.
    pub async fn cancel_all(&self) {
        let now = self.gate.clock.now();
        let ids = self.gate.live.ids();
        for live in ids.iter().filter_map(|id| self.gate.live.get(id)) {
            live.stop().cancel();
        }
        for id in ids {
            if let Ok(Some(approvals)) = self.gate.store.cancel_queued(&id, now).await {
                self.forget_queued(&id, &approvals);
            }
        }
    }

    /// A job that was queued is so no more, and these approvals were cancelled with it.
    fn forget_queued(&self, id: &JobId, approvals: &[Approval]) {
        // Whoever takes the job out of the list counts it out and tells those who watch.
        if let Some(live) = self.gate.live.remove(id) {
            self.runner.count_out(&live);
            live.stop().cancel();
            live.state(JobState::Cancelled);
        }
        let fields = serde_json::json!({ "job_id": id });
        self.gate.journal.event(self.gate.clock.now(), "job_cancelled", fields);
        for approval in approvals {
            self.gate.write_down("approval_cancelled", approval);
        }
    }

    /// Answers questions of a job that waits for input; false if it is not running at all.
    pub fn answer(&self, id: &JobId, replies: Map<String, Value>) -> bool {
        let live = self.gate.live.get(id);
        live.inspect(|live| live.answer(replies)).is_some()
    }

    /// Stops a job that is not over.
    pub async fn cancel(&self, id: &JobId) -> Result<CancelResult, StoreError> {
        let store = &self.gate.store;
        let live = self.gate.live.get(id);
        let now = self.gate.clock.now();
        if let Some(approvals) = store.cancel_queued(id, now).await? {
            self.forget_queued(id, &approvals);
        } else if let Some(live) = live {
            live.stop().cancel();
            // A job that ran a moment ago may have come to where it waits for a person.
            if let Some(approvals) = store.cancel_queued(id, now).await? {
                self.forget_queued(id, &approvals);
            }
            let _ = tokio::time::timeout(CANCEL_WAIT, live.over()).await;
        }
        Ok(match store.job(id).await? {
            None => CancelResult::Unknown,
            Some(job) if job.state == JobState::Cancelled => CancelResult::Done(Box::new(job)),
            Some(job) if job.state.is_final() => CancelResult::TooLate(Box::new(job)),
            Some(job) => CancelResult::Stopping(Box::new(job)),
        })
    }
}
