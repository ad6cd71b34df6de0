//! Step 9 of 9: record what came of the call.

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use contract::codes;

use super::{CallRefusal, CallState, CheckedOutput};
use crate::{
    ApprovalId, Failure, InputRequests, Job, JobState, Outcome, OutputJson, Recording, StoreError,
    blobs::StoredArtifacts,
    journal::ToolCallEntry,
    outcome::{FAILED, milliseconds, usual_summary},
    quarantine::{QuarantineEntry, ReleasedPayload},
    truncate::{self, Truncations},
};

/// The time to wait before a job is saved again that could not be.
const SAVE_AGAIN: Duration = Duration::from_secs(1);

impl CallState {
    /// Ends the call: what it left is kept, the job is written, the journal has its line.
    pub(crate) async fn record(
        mut self: Box<Self>,
        result: Result<CheckedOutput, CallRefusal>,
    ) -> Outcome {
        let result = match result {
            Ok(conforming) => Ok(conforming.into_output()),
            Err(CallRefusal::Failed(failure)) => Err(*failure),
            Err(CallRefusal::Replayed(outcome)) => return self.replayed(*outcome),
            Err(CallRefusal::Released(entry)) => Ok(self.given(*entry)),
        };
        let (kept, result) = match result {
            Ok(output) => match self.keep_artifacts().await {
                Ok(kept) => (kept, Ok(output)),
                Err(failure) => (StoredArtifacts::default(), Err(failure)),
            },
            Err(failure) => (StoredArtifacts::default(), Err(failure)),
        };
        if result.is_err() {
            self.discard();
        }
        let is_job = self.live.is_some() || !kept.artifacts.is_empty();
        let mut outcome = self.outcome(result, kept, is_job);
        if let Some(questions) = self.questions(&outcome) {
            return self.wait_for_input(outcome, &questions).await;
        }
        if let Some(approval) = self.awaited(&outcome) {
            match self.wait_for_approval(approval).await {
                Ok(()) => {
                    self.write_down(&outcome);
                    self.recorded = true;
                    return outcome;
                }
                // A job that waits must be on record as that, or nobody would ever wake it.
                Err(failure) => {
                    outcome = self.outcome(Err(failure), StoredArtifacts::default(), is_job);
                }
            }
        }
        if is_job && let Err(failure) = self.save(&mut outcome).await {
            let job = self.job_id();
            let _ = self.gate.blobs.remove(&job).await;
            outcome = self.outcome(Err(failure), StoredArtifacts::default(), self.running_saved);
            if self.running_saved {
                self.save_when_possible(&outcome);
            }
        }
        self.write_down(&outcome);
        self.announce(state_of(&outcome));
        self.recorded = true;
        outcome
    }

    /// The input requests of a job that is known by its id. Any other call has
    /// ended.
    fn questions(&self, outcome: &Outcome) -> Option<Arc<InputRequests>> {
        let questions = outcome.result.as_ref().err()?.questions.clone()?;
        let live = self.live.as_ref().filter(|_| self.running_saved);
        let known = match self.call.recording {
            Recording::Job(_) => true,
            Recording::As(_) => live.is_some_and(|live| live.live().can_wait()),
            Recording::Always | Recording::WhenNeeded => false,
        };
        known.then_some(questions)
    }

    /// The job is not over: whoever watches it sees what it asks.
    async fn wait_for_input(
        mut self: Box<Self>,
        outcome: Outcome,
        questions: &InputRequests,
    ) -> Outcome {
        let job = self.job(JobState::WaitingInput);
        if let Err(error) = self.gate.store.save(job).await {
            // It waits all the same; only a restart would tell another story.
            tracing::error!(%error, tool = self.call.tool, "a waiting job could not be recorded");
        }
        if let Some(live) = &self.live {
            live.live().ask(questions.clone());
            live.live().state(JobState::WaitingInput);
        }
        self.write_down(&outcome);
        self.recorded = true;
        outcome
    }

    /// The approval that a job of the queue has to wait for. Any other call has ended.
    fn awaited(&self, outcome: &Outcome) -> Option<ApprovalId> {
        let queued = matches!(self.call.recording, Recording::Job(_));
        outcome.result.as_ref().err()?.approval.clone().filter(|_| queued)
    }

    /// The job is not over: it goes on when a person has decided, also after a restart.
    async fn wait_for_approval(&mut self, approval: ApprovalId) -> Result<(), Failure> {
        let mut job = self.job(JobState::WaitingApproval);
        job.pending = self.pending.take();
        job.summary = Some(format!("Waits for the approval {approval}."));
        job.approval_id = Some(approval);
        // Told before it is written: from then on the job may be woken, and runs.
        if let Some(live) = &self.live {
            live.live().state(JobState::WaitingApproval);
        }
        let (store, id) = (&self.gate.store, job.id.clone());
        store.save(job).await.map_err(|error| Failure::unavailable(&error))?;
        // Who cancelled the job while it ran could not know that it would come to wait.
        if self.call.stop.is_cancelled() {
            let cancelled = store.cancel_queued(&id, self.gate.clock.now()).await;
            if let Some(approvals) = cancelled.map_err(|error| Failure::unavailable(&error))? {
                for approval in &approvals {
                    self.gate.write_down("approval_cancelled", approval);
                }
                return Err(Failure::new(codes::CANCELLED, "the call was cancelled"));
            }
        }
        Ok(())
    }

    /// Makes a released output the result, marked as released.
    fn given(&mut self, entry: QuarantineEntry) -> OutputJson {
        self.report.summary = Some(ReleasedPayload::summary(&self.call.tool));
        self.flags.released = Some(entry.summary.id);
        OutputJson { json: entry.payload }
    }

    /// A replay is its own line in the journal and nothing more.
    fn replayed(mut self: Box<Self>, outcome: Outcome) -> Outcome {
        self.job_id.clone_from(&outcome.job_id);
        self.live = None;
        self.write_down(&outcome);
        self.recorded = true;
        outcome
    }

    async fn keep_artifacts(&mut self) -> Result<StoredArtifacts, Failure> {
        if self.workspace.get().is_none() {
            return Ok(StoredArtifacts::default());
        }
        let (job, spilled) = (self.job_id(), self.spilled.as_deref());
        let kept = self.gate.blobs.keep(&job, &self.limits, spilled).await;
        kept.map_err(|error| Failure::unavailable(&error))
    }

    fn discard(&mut self) {
        if self.workspace.get().is_some() {
            let job = self.job_id();
            self.gate.blobs.discard(&job);
        }
    }

    /// Everything within its limits, and what was cut told.
    fn outcome(
        &mut self,
        result: Result<OutputJson, Failure>,
        kept: StoredArtifacts,
        is_job: bool,
    ) -> Outcome {
        let printed = std::mem::take(&mut self.report);
        let mut flags = std::mem::take(&mut self.flags);
        if result.is_err() {
            (flags.spilled, flags.released) = (false, None);
        }
        let (mut stdout, mut stderr) = (printed.stdout.text, printed.stderr.text);
        let mut truncations = Truncations {
            stdout_bytes: printed.stdout.dropped
                + truncate::text(&mut stdout, self.limits.max_stdout_bytes),
            stderr_bytes: printed.stderr.dropped
                + truncate::text(&mut stderr, self.limits.max_stderr_bytes),
            summary: false,
            oversize_artifacts: kept.removed_oversize,
            artifact_count: kept.removed_count_cap,
            ignored: kept.ignored,
        };
        let own_summary = result.is_ok() && printed.summary.is_some();
        let words = match &result {
            Ok(_) => printed.summary.unwrap_or_else(|| usual_summary(&self.call.tool)),
            Err(failure) => {
                if stderr.is_empty() {
                    stderr = failure.stderr.map_or_else(|| failure.message.clone(), str::to_owned);
                }
                failure.summary.clone().unwrap_or_else(|| FAILED.into())
            }
        };
        let summary =
            truncate::summary(&words, self.limits.max_summary_characters, &mut truncations);
        let duration = self.began.elapsed();
        let job_id = is_job.then(|| self.job_id());
        Outcome {
            tool: self.call.tool.clone(),
            request_id: self.call.request_id.clone(),
            job_id,
            summary,
            own_summary,
            stdout,
            stderr,
            exit_code: match (&result, printed.exit_code) {
                (Ok(_), code) => code.unwrap_or(0),
                // A command that exits 0 and still fails has failed.
                (Err(_), Some(0) | None) => 1,
                (Err(_), Some(code)) => code,
            },
            artifacts: kept.artifacts,
            metrics: printed.metrics,
            flags,
            truncations,
            duration,
            replayed: false,
            deprecated: None,
            recorded: None,
            result,
        }
    }

    async fn save(&mut self, outcome: &mut Outcome) -> Result<(), Failure> {
        let job = self.finished(outcome);
        outcome.recorded.clone_from(&job.result);
        let store = &self.gate.store;
        let kept = [&job.input, &job.result].into_iter().flatten();
        self.gate.new_records.add_job(kept.map(|json| json.get().len()).sum());
        let saved = if self.running_saved { store.save(job) } else { store.record(job) };
        saved.await.map_err(|error| {
            tracing::error!(%error, tool = self.call.tool, "a job could not be recorded");
            Failure::unavailable(&error)
        })
    }

    /// The job says `running` to everybody. That it is over is written as soon as it can be.
    fn save_when_possible(&mut self, outcome: &Outcome) {
        let job = self.finished(outcome);
        let store = self.gate.store.clone();
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                while !matches!(store.save(job.clone()).await, Ok(()) | Err(StoreError::Closed)) {
                    tokio::time::sleep(SAVE_AGAIN).await;
                }
            })),
            // The runtime is on its way down: once is all there is.
            Err(_) => store.save_later(job),
        }
    }

    /// The job as it ended.
    fn finished(&mut self, outcome: &Outcome) -> Job {
        let mut job = self.job(state_of(outcome));
        job.finished_at = Some(self.gate.clock.now());
        if let Err(failure) = &outcome.result {
            job.error_code = Some(failure.code.to_string());
            job.error_message = Some(failure.message.clone());
        }
        job.summary = Some(outcome.summary.clone());
        job.artifacts.clone_from(&outcome.artifacts);
        job.http_status = outcome.http_status();
        job.result = Some(outcome.render());
        job
    }

    fn write_down(&mut self, outcome: &Outcome) {
        let mut room = std::mem::take(&mut self.journal_room);
        let output_bytes =
            outcome.result.as_ref().map_or(0, |output| output.json.get().len() as u64);
        let failure = outcome.result.as_ref().err();
        if let Some(tool) = &self.tool {
            let code = failure.map(|failure| &*failure.code);
            tool.metrics.observe(code, outcome.duration, output_bytes);
        }
        let note =
            failure.and_then(|failure| failure.operator.as_deref()).map(truncate::journal_note);
        let note = note.as_deref();
        if let Some(note) = note {
            tracing::warn!(tool = self.call.tool, request_id = %self.call.request_id, "{note}");
        }
        let values = self.tool.as_ref().is_some_and(|tool| tool.contract.journal_values);
        // A name that nobody has may be of any length.
        let tool = match &self.tool {
            Some(tool) => Cow::Borrowed(tool.contract.name.as_str()),
            None => self.call.tool.chars().take(64).collect(),
        };
        let entry = ToolCallEntry {
            time: self.began_at,
            event: "tool_call",
            request_id: self.call.request_id.as_str(),
            client_request_id: self.call.request_id.of_caller(),
            job_id: outcome.job_id.as_ref().map(crate::JobId::as_str),
            caller: self.call.caller.name(),
            door: self.call.door.word(),
            tool: &tool,
            input_sha256: self.input_sha256.as_deref(),
            input: self.input_kept.as_deref().filter(|_| values),
            code: outcome.code(),
            duration_ms: milliseconds(outcome.duration),
            output_bytes,
            warnings: &outcome.flags.warnings,
            spilled: outcome.flags.spilled,
            released: outcome.flags.released.as_deref(),
            note: note.or(outcome.replayed.then_some("replayed")),
        };
        self.gate.journal.call(&entry, &mut room);
        tracing::debug!(
            tool = &*tool, request_id = %self.call.request_id, code = outcome.code(),
            duration_ms = milliseconds(outcome.duration), "call"
        );
    }

    fn announce(&self, state: JobState) {
        if let Some(live) = &self.live
            && self.running_saved
        {
            let live = live.live();
            self.gate.live.remove(live.id());
            live.state(state);
        }
    }
}

/// A call that was dropped on its way was cancelled: whoever waited is gone, and the
/// record has to say so all the same.
impl Drop for CallState {
    fn drop(&mut self) {
        if self.counted {
            self.gate.metrics.running.fetch_sub(1, Ordering::Relaxed);
        }
        if !self.recorded {
            // Recording may be what has panicked: a second panic here would end the process.
            let _ = catch_unwind(AssertUnwindSafe(|| self.record_dropped()));
        }
    }
}

impl CallState {
    fn record_dropped(&mut self) {
        self.call.stop.cancel();
        self.discard();
        let failure = Failure::new(codes::CANCELLED, "the caller went away");
        let is_job = self.live.is_some();
        let outcome = self.outcome(Err(failure), StoredArtifacts::default(), is_job);
        if is_job || matches!(self.call.recording, Recording::Job(_)) {
            self.save_when_possible(&outcome);
        }
        self.write_down(&outcome);
        self.announce(JobState::Cancelled);
    }
}

fn state_of(outcome: &Outcome) -> JobState {
    match outcome.code() {
        "ok" => JobState::Succeeded,
        code if code == codes::CANCELLED.code => JobState::Cancelled,
        code if code == codes::INTERRUPTED.code => JobState::Interrupted,
        _ => JobState::Failed,
    }
}
