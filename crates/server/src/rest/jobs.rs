//! `/v1/jobs`: calls that run by themselves, and calls that were kept.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::codes;
use gate::{Door, Failure, Job, JobFilter, JobId, JobState, jobs::CancelResult};
use serde_json::{Value, json};

use crate::{
    App,
    http::{identity::RequestContext, response},
    rest::{self, execute, path::PathName},
};

/// How long a sync request may wait, in milliseconds.
const MAX_WAIT_MS: u64 = 120_000;
/// How long it waits where it does not say.
const DEFAULT_WAIT_MS: u64 = 5_000;

/// Accepts a job; in the mode `sync` waits for it for a while.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Response {
    let mut request = match execute::parse(&app, request, &["tool", "tool_name"]).await {
        Ok(request) => request,
        Err(refused) => return response::failure(&refused.1),
    };
    let wait = match read_mode(&app, &mut request) {
        Ok(wait) => wait,
        Err(failure) => return response::failure(&failure),
    };
    let call = request.into_call(Door::Jobs, context);
    let (id, live) = match app.jobs.submit(call).await {
        Ok(submitted) => submitted,
        Err(failure) => return response::failure(&failure),
    };
    let Some(wait) = wait else {
        return response::json(202, &json!({ "job_id": id, "status": JobState::Queued }));
    };
    let _ = tokio::time::timeout(wait, live.over()).await;
    match app.gate.job(&id).await {
        Ok(Some(job)) => {
            let status = if job.state.is_final() { 200 } else { 202 };
            response::json(status, &json!({ "job_id": id, "status": job.state, "job": job }))
        }
        Ok(None) => response::json(202, &json!({ "job_id": id, "status": JobState::Queued })),
        Err(error) => rest::store_failed(&error),
    }
}

/// How long to wait, if at all, and the older spelling of the limits.
fn read_mode(
    app: &App,
    request: &mut execute::Execution,
) -> Result<Option<Duration>, Box<Failure>> {
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if let Some(limits) = request.rest.remove("limits") {
        request.limits = execute::read_limits(Some(&limits), app.gate.ceilings())?;
    }
    let wait = match request.rest.remove("wait_ms") {
        None => DEFAULT_WAIT_MS,
        Some(value) => contract::limits::whole_number(&value)
            .filter(|milliseconds| (1..=MAX_WAIT_MS).contains(milliseconds))
            .ok_or_else(|| {
                invalid(format!("wait_ms must be a whole number from 1 to {MAX_WAIT_MS}"))
            })?,
    };
    let mode = match request.rest.remove("mode") {
        None => "async".to_owned(),
        Some(Value::String(mode)) => mode,
        Some(_) => String::new(),
    };
    if let Some(key) = request.rest.keys().next() {
        let known = ["tool", "input", "context", "mode", "wait_ms", "limits"];
        let violation = contract::Violation::unknown_key("", key, known.into_iter());
        return Err(invalid(violation.to_string()));
    }
    match mode.as_str() {
        "async" => Ok(None),
        "sync" => Ok(Some(Duration::from_millis(wait))),
        _ => Err(invalid("mode must be `async` or `sync`".into())),
    }
}

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let query = rest::query(&uri);
    let limit = match rest::page_limit(query.get("limit")) {
        Ok(limit) => limit,
        Err(response) => return *response,
    };
    let state = match query.get("status").map(|word| word.trim().to_lowercase()) {
        None => None,
        Some(word) if word.is_empty() => None,
        Some(word) => match JobState::parse(&word) {
            Some(state) => Some(state),
            None => {
                let accepted = json!(JobState::ALL.map(JobState::word));
                return rest::bad_query("status", "Invalid status query value.", accepted);
            }
        },
    };
    let cursor = match query.get("cursor") {
        None => None,
        Some(cursor) => match JobId::parse(cursor) {
            Some(id) => Some(id),
            None => return rest::bad_query("cursor", "cursor must be a job id.", Value::Null),
        },
    };
    let tool = query.get("tool").cloned();
    // One more than asked for tells whether there is a next page.
    let filter = JobFilter { state, tool, cursor, limit: limit + 1 };
    match app.gate.store().jobs(filter).await {
        Ok(mut jobs) => {
            let more = jobs.len() > limit;
            jobs.truncate(limit);
            let next = jobs.last().filter(|_| more).map(|job| job.id.clone());
            response::json(200, &json!({ "jobs": jobs, "next_cursor": next }))
        }
        Err(error) => rest::store_failed(&error),
    }
}

pub(crate) async fn one(State(app): State<Arc<App>>, PathName(id): PathName<String>) -> Response {
    match find(&app, &id).await {
        Ok(job) => response::json(200, &job),
        Err(response) => *response,
    }
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
) -> Response {
    let Some(known) = JobId::parse(&id) else { return unknown(&id) };
    match app.jobs.cancel(&known).await {
        Ok(CancelResult::Unknown) => unknown(&id),
        Ok(CancelResult::Done(job)) => response::json(200, &job),
        Ok(CancelResult::Stopping(job)) => response::json(202, &job),
        Ok(CancelResult::TooLate(job)) => {
            let message = format!("Job already ended: {} is {}.", job.id, job.state.word());
            response::error(codes::CONFLICT, &message, Some(json!({ "status": job.state })))
        }
        Err(error) => rest::store_failed(&error),
    }
}

/// The job of that name, or the answer that there is none.
pub(crate) async fn find(app: &App, id: &str) -> Result<Job, Box<Response>> {
    let Some(known) = JobId::parse(id) else { return Err(Box::new(unknown(id))) };
    match app.gate.job(&known).await {
        Ok(Some(job)) => Ok(job),
        Ok(None) => Err(Box::new(unknown(id))),
        Err(error) => Err(Box::new(rest::store_failed(&error))),
    }
}

fn unknown(id: &str) -> Response {
    let shown: String = id.chars().take(64).collect();
    response::error(
        codes::NOT_FOUND,
        &format!("Job not found: {shown}."),
        Some(json!({ "job_id": shown })),
    )
}
