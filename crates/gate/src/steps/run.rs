//! Step 7 of 9: run the provider, within the limits.

use std::{
    future::Future,
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
    time::Duration,
};

use contract::codes;
use futures_util::FutureExt;
use serde_json::{Map, Value};

use super::{CallRefusal, CallState, ToolReport, admit::Slot, approve::ApprovedCall, poll_once};
use crate::{
    CallChannel, Failure, InputRequests, OutputPayload, Recording, RunningCall, Tool, ToolError,
    ToolOutput, channel::MAX_INPUT_REQUESTS, live_jobs::JobHandle, secrets, truncate,
};

/// After this time a call is worth watching: its job is written down as running.
const WORTH_WATCHING: Duration = Duration::from_millis(100);
/// The longest message of a tool's failure, in bytes.
const MAX_MESSAGE_BYTES: u64 = 4_096;
/// The longest code that a contract can declare, in bytes.
const MAX_CODE_BYTES: u64 = 64;
/// The most that a tool may add to that or to its result, in bytes: details, metrics.
const MAX_ASIDE_BYTES: usize = 65_536;
/// The time that a provider may take to come to an end after it was told to.
pub(super) const GRACE: Duration = Duration::from_secs(3);

/// The output of a provider, before it is checked.
pub(crate) struct UncheckedOutput {
    tool: Arc<Tool>,
    payload: OutputPayload,
    /// The call's slot: checking a large output is work too.
    slot: Slot,
}

impl UncheckedOutput {
    pub(super) fn into_parts(self) -> (Arc<Tool>, OutputPayload, Slot) {
        (self.tool, self.payload, self.slot)
    }
}

/// The end of a provider's run.
enum RunResult {
    Answered(Result<ToolOutput, ToolError>),
    Panicked,
    TimedOut(Option<ToolError>),
    Stopped(Option<ToolError>),
}

impl CallState {
    pub(crate) async fn run(
        &mut self,
        approved: ApprovedCall,
    ) -> Result<UncheckedOutput, CallRefusal> {
        let (admitted, input) = approved.into_checked().into_parts();
        let (tool, slot) = admitted.into_parts();
        // What changes the world is written down before it does.
        if tool.contract.effects.changes_the_world() {
            if self.is_job() {
                self.save_running().await?;
            }
            self.write_down_start()?;
        }
        let channel = std::mem::take(&mut self.call.channel);
        let running = self.running(&tool, input, channel);
        let ending = self.watch(&tool, &running).await;
        let payload = self.judge(&tool, ending?)?;
        Ok(UncheckedOutput { tool, payload, slot })
    }

    /// The call as its provider sees it.
    pub(super) fn running(
        &mut self,
        tool: &Tool,
        input: Value,
        channel: CallChannel,
    ) -> RunningCall {
        RunningCall {
            input,
            contract: tool.contract.clone(),
            limits: self.limits,
            caller: self.call.caller.clone(),
            request_id: self.call.request_id.clone(),
            stop: self.call.stop.clone(),
            late: AtomicBool::new(false),
            job_id: self.job_id(),
            channel,
            live: self.watchable(),
            blobs: self.gate.blobs.clone(),
            workspace: self.workspace.clone(),
        }
    }

    /// The handle by which others watch this call, now or when it turns out to take long.
    fn watchable(&mut self) -> Option<Arc<JobHandle>> {
        if self.live.is_none()
            && let Recording::As(id) = &self.call.recording
        {
            return Some(JobHandle::new(id.clone(), self.call.stop.clone()));
        }
        self.live.clone()
    }

    /// Runs the provider until it answers, its time is up, or nobody waits any more.
    async fn watch(
        &mut self,
        tool: &Arc<Tool>,
        running: &RunningCall,
    ) -> Result<RunResult, CallRefusal> {
        let limit = Duration::from_millis(self.limits.timeout_ms);
        let mut answer = std::pin::pin!(run_provider(tool, running));
        // Most tools answer at once, and then no clock has to be set for them.
        if let Poll::Ready(answer) = poll_once(answer.as_mut()).await {
            return Ok(answer);
        }
        let (stop, halt) = (self.call.stop.clone(), self.gate.halt.clone());
        let stopped = async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = halt.cancelled() => {}
            }
        };
        let mut stopped = std::pin::pin!(stopped);
        let may_be_job = self.is_job() || matches!(self.call.recording, Recording::As(_));
        if may_be_job && !self.running_saved && limit > WORTH_WATCHING {
            tokio::select! {
                biased;
                answer = &mut answer => return Ok(answer),
                () = &mut stopped => return self.end(tool, running, answer, false).await,
                () = tokio::time::sleep(WORTH_WATCHING) => {
                    self.live.clone_from(&running.live);
                    self.save_running().await?;
                }
            }
        }
        let rest = limit.saturating_sub(self.began.elapsed());
        let timed_out = tokio::select! {
            biased;
            answer = &mut answer => return Ok(answer),
            () = &mut stopped => false,
            () = tokio::time::sleep(rest) => true,
        };
        self.end(tool, running, answer, timed_out).await
    }

    /// Tells the provider to come to an end. What it printed until now is worth having; what
    /// it answers now comes too late, unless it has changed the world: a caller who is told that it
    /// has not would have it done twice.
    async fn end(
        &self,
        tool: &Tool,
        running: &RunningCall,
        answer: Pin<&mut impl Future<Output = RunResult>>,
        timed_out: bool,
    ) -> Result<RunResult, CallRefusal> {
        running.late.store(timed_out, Ordering::Relaxed);
        running.stop.cancel();
        let last = match tokio::time::timeout(GRACE, answer).await {
            Ok(RunResult::Answered(Err(error))) => Some(error),
            Ok(done @ RunResult::Answered(Ok(_))) if tool.contract.effects.changes_the_world() => {
                return Ok(done);
            }
            _ => None,
        };
        Ok(if timed_out { RunResult::TimedOut(last) } else { RunResult::Stopped(last) })
    }

    fn judge(&mut self, tool: &Tool, ending: RunResult) -> Result<OutputPayload, Failure> {
        match ending {
            RunResult::Answered(Ok(answer)) => {
                self.report = ToolReport {
                    stdout: answer.stdout,
                    stderr: answer.stderr,
                    exit_code: Some(0),
                    summary: answer.summary,
                    metrics: short(answer.metrics),
                };
                Ok(answer.output)
            }
            RunResult::Answered(Err(ToolError {
                questions: Some(questions), operator, ..
            })) => {
                let failure = asked(*questions);
                Err(Failure { operator: operator.or(failure.operator), ..failure })
            }
            RunResult::Answered(Err(error)) => Err(self.declared(tool, error)),
            RunResult::Panicked => Err(Failure::new(codes::INTERNAL, "the tool failed")
                .operator("the tool's code panicked")),
            RunResult::TimedOut(last) => {
                let message = format!(
                    "the call took longer than its limit of {} ms (timeout_ms)",
                    self.limits.timeout_ms
                );
                Err(self.ended_early(tool, last, codes::TIMEOUT, &message))
            }
            RunResult::Stopped(last) => {
                let code =
                    if self.gate.is_stopping() { codes::INTERRUPTED } else { codes::CANCELLED };
                let message = match code {
                    codes::INTERRUPTED => "the server stopped while the call ran",
                    _ => "the call was cancelled",
                };
                Err(self.ended_early(tool, last, code, message))
            }
        }
    }

    fn ended_early(
        &mut self,
        tool: &Tool,
        last: Option<ToolError>,
        code: codes::StandardCode,
        message: &str,
    ) -> Failure {
        // Who changes the world says what has become of that; else nobody knows.
        let after = match &last {
            _ if !tool.contract.effects.changes_the_world() => None,
            None => Some("it may or may not have taken effect".to_owned()),
            Some(last) => Some(last.message.clone()).filter(|words| !words.is_empty()),
        };
        if let Some(last) = last {
            self.print(last);
        }
        let mut message = message.to_owned();
        if let Some(mut after) = after {
            truncate::text(&mut after, MAX_MESSAGE_BYTES);
            message = format!("{message}; {after}");
        }
        let mut failure = Failure::new(code, &*message);
        failure.summary = Some(format!("Tool execution failed: {message}."));
        if let Some(declared) = tool.contract.declared(code.code) {
            failure.http_status = declared.http_status;
        }
        failure
    }

    /// A tool's own failure, with the status that its contract gives it. A code that
    /// the contract does not declare is nobody's to rely on.
    fn declared(&mut self, tool: &Tool, mut error: ToolError) -> Failure {
        truncate::text(&mut error.message, MAX_MESSAGE_BYTES);
        truncate::text(&mut error.code, MAX_CODE_BYTES);
        error.details =
            error.details.filter(|details| truncate::is_short(details, MAX_ASIDE_BYTES));
        if error.code == codes::INVALID_INPUT.code {
            tool.contract.input_error().0.clone_into(&mut error.code);
        }
        let mut failure = Failure::new(codes::INTERNAL, std::mem::take(&mut error.message));
        failure.details = error.details.take();
        failure.operator = error.operator.take();
        failure.retry_after = error.retry_after;
        if let Some(declared) = tool.contract.declared(&error.code) {
            failure.code = declared.code.clone().into();
            failure.http_status = declared.http_status;
        } else if let Some(standard) = ANY_TOOL_MAY.iter().find(|one| one.code == error.code) {
            failure.code = standard.code.into();
            failure.http_status = standard.http_status;
        } else if error.code != codes::INTERNAL.code {
            failure.operator = Some(format!(
                "the tool answered with the undeclared code `{}`: {}",
                error.code, failure.message
            ));
            failure.message =
                "the tool failed with an error that its contract does not declare".into();
            failure.details = None;
        }
        // What a command printed takes the place of the message, so the summary has it.
        if error.exit_code.is_some() {
            let words = failure.message.trim_end_matches('.');
            failure.summary = Some(format!("Tool execution failed: {words}."));
        }
        self.print(error);
        failure
    }

    fn print(&mut self, error: ToolError) {
        self.report = ToolReport {
            stdout: error.stdout,
            stderr: error.stderr,
            exit_code: error.exit_code,
            summary: None,
            metrics: short(error.metrics),
        };
    }
}

/// Runs the provider so that its panic ends this call and not the connection.
async fn run_provider(tool: &Tool, running: &RunningCall) -> RunResult {
    match AssertUnwindSafe(async { tool.provider.run(running).await }).catch_unwind().await {
        Ok(mut answer) => {
            secrets::redact_answer(&mut answer);
            RunResult::Answered(answer)
        }
        Err(_) => RunResult::Panicked,
    }
}

/// The questions, unless they are more than a client should be troubled with.
fn asked(questions: InputRequests) -> Failure {
    let bytes: usize = questions.values().map(|one| one.params.to_string().len()).sum();
    if questions.len() > MAX_INPUT_REQUESTS || bytes > MAX_ASIDE_BYTES {
        return Failure::new(codes::INTERNAL, "the tool asks too much at once").operator(format!(
            "{} questions of {bytes} bytes; at most {MAX_INPUT_REQUESTS} of {MAX_ASIDE_BYTES}",
            questions.len()
        ));
    }
    Failure::asks(questions)
}

/// A tool's own numbers, or none where they are more than numbers.
fn short(metrics: Map<String, Value>) -> Map<String, Value> {
    if metrics.values().all(|value| truncate::is_short(value, MAX_ASIDE_BYTES / 64))
        && metrics.len() <= 64
    {
        metrics
    } else {
        Map::new()
    }
}

/// Codes that mean the same for every tool, so that no contract has to repeat them.
const ANY_TOOL_MAY: &[codes::StandardCode] = &[
    codes::INVALID_INPUT,
    codes::TIMEOUT,
    codes::CANCELLED,
    codes::UNAVAILABLE,
    codes::CONTRACT_CHANGED,
];
