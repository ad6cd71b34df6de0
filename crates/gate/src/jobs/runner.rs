//! The runner of queued jobs.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::codes;
use serde_json::{Map, Value, value::RawValue};

use super::{
    JobsSettings,
    waiting::{WaitingJobs, Worker, Workers},
};
use crate::{
    Call, CallChannel, Caller, Door, Failure, Gate, InputCapabilities, InputRequests, Job, JobId,
    JobState, LiveJob, Recording, RequestId, shares::Shares,
};

/// The time to wait before a job is started that could not be written down as running.
const START_AGAIN: Duration = Duration::from_secs(1);

/// Runs the jobs of the queue.
pub(super) struct JobRunner {
    gate: Arc<Gate>,
    workers: Workers,
    /// Places for jobs that wait for an answer: they take no worker.
    waiting_room: Arc<Shares>,
    input_timeout: Duration,
}

/// Gives every job of the queue a worker.
pub(super) async fn work(runner: Arc<JobRunner>) {
    while let Some((id, worker)) = runner.workers.next().await {
        // What has not begun when the server stops is there when it starts again.
        if runner.gate.is_stopping() {
            return;
        }
        let runner = runner.clone();
        tokio::spawn(async move { runner.run(id, worker).await });
    }
}

impl JobRunner {
    pub(super) fn new(
        gate: Arc<Gate>,
        settings: JobsSettings,
        waiting: Arc<WaitingJobs>,
    ) -> Arc<Self> {
        let callers = gate.settings().callers.clone();
        Arc::new(Self {
            workers: Workers::new(settings.max_running, &callers, waiting),
            waiting_room: Shares::new(settings.max_queued, &callers),
            gate,
            input_timeout: settings.input_timeout,
        })
    }

    pub(super) fn share_among(&self, callers: &[Arc<str>]) {
        self.workers.share_among(callers);
        self.waiting_room.set_callers(callers);
    }

    /// A job waits for a worker no more.
    pub(super) fn count_out(&self, live: &LiveJob) {
        if live.set_queued(false) {
            self.gate.metrics.queued.fetch_sub(1, Ordering::Relaxed);
        }
    }

    async fn run(&self, id: JobId, worker: Worker) {
        let gate = &self.gate;
        let Some(mut job) = self.begin(&id).await else {
            self.not_ours(&id).await;
            return;
        };
        let Some(live) = gate.live.get(&id) else { return };
        // In this order: what waits for no worker and runs is not woken once more.
        live.state(JobState::Running);
        self.count_out(&live);
        let input = job.pending.take().map_or(Value::Null, |raw| value_of(&raw));
        let (mut replies, mut input_failure, mut worker) = (Map::new(), None, Some(worker));
        loop {
            let outcome = gate.call(call(&job, &input, replies, input_failure, &live)).await;
            if !matches!(&outcome.result, Err(failure) if failure.questions.is_some()) {
                return;
            }
            // Who waits for an answer keeps nobody else from working.
            drop(worker.take());
            (replies, input_failure) = match self.answers(&live, &job.caller).await {
                Ok(replies) => (replies, None),
                Err(failure) => (Map::new(), Some(failure)),
            };
            // What is given up needs no worker to end.
            if input_failure.is_none() {
                worker = tokio::select! {
                    worker = self.workers.again(&job.caller) => worker,
                    () = live.stop().cancelled() => None,
                };
                self.go_on(&live).await;
            }
        }
    }

    /// The job was cancelled while it waited, or another process has it: those who watch it
    /// here are told as much as is known. One that is there at the next start is left alone.
    pub(super) async fn not_ours(&self, id: &JobId) {
        if self.gate.is_stopping() {
            return;
        }
        let found = self.gate.store.job(id).await.ok().flatten();
        let state = found.map(|job| job.state).filter(|state| state.is_final());
        if let Some(live) = self.gate.live.remove(id) {
            self.count_out(&live);
            live.state(state.unwrap_or(JobState::Interrupted));
        }
    }

    /// The record says that the job runs again. Where it cannot be written, only the record
    /// is behind.
    pub(super) async fn go_on(&self, live: &LiveJob) {
        let (store, id) = (&self.gate.store, live.id());
        let written = match store.job(id).await {
            Ok(Some(job)) => store.save(Job { state: JobState::Running, ..job }).await,
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = written {
            tracing::error!(%error, job = %id, "a job that goes on could not be recorded");
        }
        live.state(JobState::Running);
    }

    /// The job, now running.
    async fn begin(&self, id: &JobId) -> Option<Job> {
        loop {
            match self.gate.store.start(id, self.gate.clock.now()).await {
                // None if it was cancelled while it waited.
                Ok(job) => return job,
                // It has been promised that it will run. A server that stops meanwhile finds
                // it queued when it starts again.
                Err(error) => {
                    tracing::error!(%error, job = %id, "a job could not be started yet");
                    tokio::time::sleep(START_AGAIN).await;
                }
            }
            if self.gate.is_stopping() {
                return None;
            }
        }
    }

    /// Waits for the answers; a job that gets none is given up.
    pub(super) async fn answers(
        &self,
        live: &LiveJob,
        caller: &str,
    ) -> Result<Map<String, Value>, Box<Failure>> {
        let input_failure = match self.waiting_room.try_take(caller) {
            None => Failure::busy(),
            Some(_place) => tokio::select! {
                replies = live.replies() => return Ok(replies),
                () = live.stop().cancelled() => {
                    Failure::new(codes::CANCELLED, "the call was cancelled")
                }
                () = self.gate.halt.cancelled() => {
                    Failure::new(codes::INTERRUPTED, "the server stopped while the call waited")
                }
                () = tokio::time::sleep(self.input_timeout) => Failure::new(
                    codes::TIMEOUT,
                    "nobody answered the tool's question in time (jobs.input_timeout_ms)",
                ),
            },
        };
        live.ask(InputRequests::new());
        Err(Box::new(input_failure))
    }
}

fn call(
    job: &Job,
    input: &Value,
    replies: Map<String, Value>,
    input_failure: Option<Box<Failure>>,
    live: &LiveJob,
) -> Call {
    let request_id = RequestId::recorded(&job.request_id);
    let channel = CallChannel {
        replies,
        // Whoever waits for a job can be asked whatever it wants to know.
        capabilities: InputCapabilities { elicitation: true, sampling: true, roots: true },
        // Whether it may run is the operator's to say.
        may_approve: false,
        notifications: None,
        input_failure,
    };
    let caller = Caller::named(&job.caller);
    Call::new(&job.tool, input.clone(), Door::Jobs, caller, request_id)
        .limits(job.limits)
        .recording(Recording::Job(job.id.clone()))
        .approval(job.approval_id.clone())
        .channel(channel)
        .stop(live.stop().clone())
}

fn value_of(raw: &RawValue) -> Value {
    serde_json::from_str(raw.get()).unwrap_or_default()
}
