//! Tasks: jobs, as the tasks extension shows them.

use gate::{Job, JobId, JobState, LiveJob, Outcome, jobs::Cancelled};
use serde_json::{Map, Value, json};

use super::{
    client::{self, Params},
    context::{Context, Reply},
    questions, resources, result,
    rpc::RpcError,
};

/// The answer to a call that became a task.
pub(crate) async fn created(context: &Context, id: &JobId) -> Reply {
    let job = find(context, id).await?;
    let live = context.app.gate.live(id);
    let mut task = describe(context, &job, live.as_deref(), &ending(context, &job));
    task.insert("resultType".into(), json!("task"));
    Ok(context.complete(task))
}

/// `tasks/get`.
pub(crate) async fn get(context: Context, id: JobId) -> Reply {
    // Whoever is live is asked before the record: a job that ends between the two is seen as
    // running once more, and not as running without a trace.
    let live = context.app.gate.live(&id);
    let job = find(&context, &id).await?;
    let ending = ending(&context, &job);
    let mut task = describe(&context, &job, live.as_deref(), &ending);
    match ending {
        Ending::None => {
            let open = live.map(|live| live.questions()).unwrap_or_default();
            if !open.is_empty() {
                task.insert("inputRequests".into(), questions::input_requests(&open));
            }
        }
        Ending::Cancelled => {}
        Ending::Failed(error) => {
            task.insert("error".into(), json!({ "code": error.code, "message": error.message }));
        }
        Ending::Completed(result) => {
            // As it was printed: however deep it is, it is not read again.
            let mut text = context.complete(task);
            text.pop();
            text.extend_from_slice(b",\"result\":");
            text.extend_from_slice(&result);
            text.push(b'}');
            return Ok(text);
        }
    }
    Ok(context.complete(task))
}

/// `tasks/update`: answers to what a task asks. Those that nobody asked for are dropped.
pub(crate) async fn update(context: Context, id: JobId, replies: Map<String, Value>) -> Reply {
    if !context.app.jobs.answer(&id, replies) {
        find(&context, &id).await?;
    }
    Ok(context.complete(Map::new()))
}

/// `tasks/cancel`. A task that is over stays as it ended.
pub(crate) async fn cancel(context: Context, id: JobId) -> Reply {
    find(&context, &id).await?;
    match context.app.jobs.cancel(&id).await {
        Ok(Cancelled::Unknown) => Err(unknown()),
        Ok(_) => Ok(context.complete(Map::new())),
        Err(error) => Err(RpcError::internal(error.to_string())),
    }
}

/// Tasks are for clients that say that they know them.
pub(crate) fn not_declared() -> RpcError {
    questions::missing_capabilities(&json!({ "extensions": { client::TASKS: {} } }))
}

/// The task that a request names.
pub(crate) fn named(params: &Params<'_>) -> Result<JobId, RpcError> {
    let id = client::required(params.task_id, "taskId")?;
    JobId::parse(&id).ok_or_else(unknown)
}

fn unknown() -> RpcError {
    RpcError::unknown("Task not found")
}

async fn find(context: &Context, id: &JobId) -> Result<Job, RpcError> {
    let found = context.app.gate.store().job(id).await;
    found
        .map_err(|error| RpcError::internal(error.to_string()))?
        .filter(|job| resources::in_scope(context, &job.tool))
        .ok_or_else(unknown)
}

/// How a job ended, in the words of tasks.
enum Ending {
    None,
    Completed(Vec<u8>),
    Failed(RpcError),
    Cancelled,
}

fn ending(context: &Context, job: &Job) -> Ending {
    match job.state {
        JobState::Queued
        | JobState::Running
        | JobState::WaitingApproval
        | JobState::WaitingInput => Ending::None,
        JobState::Cancelled => Ending::Cancelled,
        JobState::Interrupted => Ending::Failed(RpcError::internal(
            "the server stopped while the call ran; it may or may not have taken effect",
        )),
        JobState::Succeeded | JobState::Failed => {
            let request_id = context.request_id.clone();
            let Some(outcome) = Outcome::of_job(job, request_id) else {
                return Ending::Failed(RpcError::internal("the result is no longer there"));
            };
            match &outcome.result {
                // What is nobody's contract: the tool or the server broke down.
                Err(failure) if failure.http_status == 500 || failure.http_status == 503 => {
                    Ending::Failed(RpcError::internal(failure.message.clone()))
                }
                _ => {
                    let tool = context.app.gate.catalogue().find(&job.tool).cloned();
                    let contract = tool.as_ref().map(|tool| &*tool.contract);
                    Ending::Completed(result::of_call(context, contract, &outcome))
                }
            }
        }
    }
}

fn describe(
    context: &Context,
    job: &Job,
    live: Option<&LiveJob>,
    ending: &Ending,
) -> Map<String, Value> {
    let asks = live.is_some_and(|live| !live.questions().is_empty());
    let status = match ending {
        Ending::None if asks => "input_required",
        Ending::None => "working",
        Ending::Completed(_) => "completed",
        Ending::Failed(_) => "failed",
        Ending::Cancelled => "cancelled",
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
