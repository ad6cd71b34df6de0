//! Tasks: jobs, as the tasks extension shows them.

use std::time::Duration;

use contract::codes;
use gate::{Job, JobId, JobState, LiveJob, Outcome, jobs::CancelResult};
use mcp::{
    RpcError, TASKS_EXTENSION, code,
    params::{self, Params},
};
use serde_json::{Map, Value, json};

use super::{
    call,
    context::{McpContext, RpcResult, joined, store_failed},
    input_requests, resources,
};

/// The interval at which to look whether a call that became a task is on record.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Waits for a call that may be recorded under this id, and hands out a task for it where it takes long.
pub(crate) async fn hand_out_if_slow(
    context: McpContext,
    id: &JobId,
    call: impl Future<Output = RpcResult> + Send + 'static,
) -> RpcResult {
    let mut call = tokio::spawn(call);
    let task_after = context.app.settings.mcp.task_after;
    // Until it is handed out, a client that goes away ends the call.
    let gone = context.stop.clone().drop_guard();
    if let Ok(outcome) = tokio::time::timeout(task_after, &mut call).await {
        return joined(outcome);
    }
    // It is not handed out before it is on record.
    let live = loop {
        if let Some(live) = context.app.gate.live(id) {
            break live;
        }
        tokio::select! {
            outcome = &mut call => return joined(outcome),
            () = tokio::time::sleep(POLL_INTERVAL) => {}
        }
    };
    // One that has ended with input requests has its own result.
    if !live.hand_out() {
        return joined(call.await);
    }
    let task = created(&context, id).await;
    if task.is_ok() {
        gone.disarm();
    }
    task
}

/// The answer to a call that became a task.
pub(crate) async fn created(context: &McpContext, id: &JobId) -> RpcResult {
    let job = find(context, id).await?;
    let live = context.app.gate.live(id);
    let asks = live.as_ref().is_some_and(|live| !live.questions().is_empty());
    let mut task = describe(context, &job, live.as_deref(), &ending(context, &job), asks);
    task.insert("resultType".into(), json!("task"));
    Ok(context.complete(task))
}

/// `tasks/get`.
pub(crate) async fn get(context: McpContext, id: JobId) -> RpcResult {
    // Whoever is live is asked before the record: a job that ends between the two is seen as
    // running once more, and not as running without a trace.
    let live = context.app.gate.live(&id);
    let job = find(&context, &id).await?;
    let ending = ending(&context, &job);
    let open = live.as_ref().map(|live| live.questions()).unwrap_or_default();
    let mut task = describe(&context, &job, live.as_deref(), &ending, !open.is_empty());
    match ending {
        TaskEnding::None => {
            if !open.is_empty() {
                input_requests::check(&open, context.client.capabilities)?;
                task.insert("inputRequests".into(), input_requests::as_json(&open));
            }
        }
        TaskEnding::Cancelled => {}
        TaskEnding::Failed(error) => {
            let mut told = json!({ "code": error.code, "message": error.message });
            if let Some(data) = error.data {
                told["data"] = data;
            }
            task.insert("error".into(), told);
        }
        TaskEnding::Completed(result) => {
            // As it was printed: however deep it is, it is not read again.
            let task = context.complete(task);
            let mut text = task.as_bytes().to_vec();
            text.pop();
            text.extend_from_slice(b",\"result\":");
            text.extend_from_slice(&result);
            text.push(b'}');
            return Ok(text.into());
        }
    }
    Ok(context.complete(task))
}

/// `tasks/update`: answers to what a task asks. Those that nobody asked for are dropped.
pub(crate) async fn update(
    context: McpContext,
    id: JobId,
    responses: Map<String, Value>,
) -> RpcResult {
    let job = find(&context, &id).await?;
    // Whoever may see a job may not speak for the one who asked for it.
    if job.caller != context.caller.name() {
        return Err(unknown());
    }
    context.app.jobs.answer(&id, responses);
    Ok(context.complete(Map::new()))
}

/// `tasks/cancel`. A task that is over stays as it ended.
pub(crate) async fn cancel(context: McpContext, id: JobId) -> RpcResult {
    find(&context, &id).await?;
    match context.app.jobs.cancel(&id).await {
        Ok(CancelResult::Unknown) => Err(unknown()),
        Ok(_) => Ok(context.complete(Map::new())),
        Err(error) => Err(store_failed(&error)),
    }
}

/// The error for a client without tasks that calls a tool which is only called as one.
pub(crate) fn required(context: &McpContext, tool: &str) -> RpcError {
    if context.client.is_modern() {
        return not_declared();
    }
    let message = format!("`{tool}` can only be called as a task");
    RpcError::new(code::METHOD_NOT_FOUND, 200, message)
}

/// Tasks are for clients that say that they know them.
pub(crate) fn not_declared() -> RpcError {
    input_requests::missing_capabilities(&json!({ "extensions": { TASKS_EXTENSION: {} } }))
}

/// The task that a request names.
pub(crate) fn named(params: &Params<'_>) -> Result<JobId, RpcError> {
    let id = params::required(params.task_id, "taskId")?;
    JobId::parse(&id).ok_or_else(unknown)
}

fn unknown() -> RpcError {
    RpcError::not_found("Task not found")
}

async fn find(context: &McpContext, id: &JobId) -> Result<Job, RpcError> {
    let found = context.app.gate.job(id).await;
    found
        .map_err(|error| store_failed(&error))?
        .filter(|job| resources::in_scope(&context.app, &context.scope, &job.tool))
        .ok_or_else(unknown)
}

/// The end of a job, in the words of tasks.
enum TaskEnding {
    None,
    Completed(Vec<u8>),
    Failed(RpcError),
    Cancelled,
}

/// Failures of a call that are not its tool's own.
const BROKEN: &[codes::StandardCode] =
    &[codes::INTERNAL, codes::INTERRUPTED, codes::UNAVAILABLE, codes::TOO_MANY_REQUESTS];

fn ending(context: &McpContext, job: &Job) -> TaskEnding {
    match job.state {
        JobState::Queued
        | JobState::Running
        | JobState::WaitingApproval
        | JobState::WaitingInput => TaskEnding::None,
        JobState::Cancelled => TaskEnding::Cancelled,
        JobState::Interrupted => TaskEnding::Failed(RpcError::internal(
            "the server stopped while the call ran; it may or may not have taken effect",
        )),
        JobState::Succeeded | JobState::Failed => {
            let request_id = context.request_id.clone();
            let Some(outcome) = Outcome::of_job(job, request_id) else {
                return TaskEnding::Failed(RpcError::internal("the result is no longer there"));
            };
            match &outcome.result {
                // What no contract has room for: the tool or the server broke down.
                Err(failure) if BROKEN.iter().any(|broken| broken.code == failure.code) => {
                    let data = json!({ "code": failure.code, "details": failure.details });
                    TaskEnding::Failed(RpcError::internal(failure.message.clone()).data(data))
                }
                _ => {
                    let tool = context.app.gate.catalogue().find(&job.tool).cloned();
                    let contract = tool.as_ref().map(|tool| &*tool.contract);
                    TaskEnding::Completed(call::render(context, contract, &outcome))
                }
            }
        }
    }
}

fn describe(
    context: &McpContext,
    job: &Job,
    live: Option<&LiveJob>,
    ending: &TaskEnding,
    asks: bool,
) -> Map<String, Value> {
    let status = match ending {
        TaskEnding::None if asks => "input_required",
        TaskEnding::None => "working",
        TaskEnding::Completed(_) => "completed",
        TaskEnding::Failed(_) => "failed",
        TaskEnding::Cancelled => "cancelled",
    };
    let settings = &context.app.settings.mcp;
    let milliseconds =
        |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let updated = job.finished_at.or(job.started_at).unwrap_or(job.created_at);
    let mut task = Map::new();
    task.insert("taskId".into(), json!(job.id));
    task.insert("status".into(), json!(status));
    let words = live.and_then(LiveJob::last_message).or_else(|| job.summary.clone());
    if let Some(words) = words {
        task.insert("statusMessage".into(), json!(words));
    }
    task.insert("createdAt".into(), json!(job.created_at));
    task.insert("lastUpdatedAt".into(), json!(updated));
    task.insert("ttlMs".into(), json!(milliseconds(settings.task_ttl)));
    task.insert("pollIntervalMs".into(), json!(milliseconds(settings.task_poll).max(1)));
    task
}
