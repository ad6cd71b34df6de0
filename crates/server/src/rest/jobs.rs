//! `/v1/jobs`: calls that run by themselves, and calls that were kept.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::codes;
use gate::{Call, Door, Failure, Job, JobFilter, JobId, JobState, jobs::CancelResult};
use serde_json::{Value, json};

use crate::{
    App,
    http::identity::RequestContext,
    rest::{
        self, execute,
        page::PageQuery,
        path::PathName,
        response::{self, ErrorResponse},
    },
};

/// The time that a sync request may wait, in milliseconds.
const MAX_WAIT_MS: u64 = 120_000;
/// The time that it waits where it does not say.
const DEFAULT_WAIT_MS: u64 = 5_000;

/// Accepts a job; in the mode `sync` waits for it for a while.
pub(crate) async fn submit(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    let request = execute::parse(&app, request, &["tool", "tool_name"]).await;
    let mut request = request.map_err(|refused| response::failure(&refused.1))?;
    let wait = read_mode(&app, &mut request)?;
    let tool = app.gate.catalogue().find(&request.tool).cloned();
    let mut response = accept(&app, request.into_call(Door::Jobs, context), wait).await?;
    if let Some(tool) = tool {
        response::deprecation(&mut response, &tool.contract);
    }
    Ok(response)
}

/// Queues a job, and waits for it for that time.
async fn accept(app: &App, call: Call, wait: Option<Duration>) -> Result<Response, ErrorResponse> {
    let (id, live) = app.jobs.submit(call).await?;
    if let Some(wait) = wait {
        let _ = tokio::time::timeout(wait, live.over()).await;
        if let Some(job) = app.gate.job(&id).await? {
            let status = if job.state.is_final() { 200 } else { 202 };
            let body = json!({ "job_id": id, "status": job.state, "job": job });
            return Ok(response::json(status, &body));
        }
    }
    Ok(response::json(202, &json!({ "job_id": id, "status": JobState::Queued })))
}

/// The time to wait, if at all. Also reads the older spelling of the limits.
fn read_mode(
    app: &App,
    request: &mut execute::Execution,
) -> Result<Option<Duration>, Box<Failure>> {
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if let Some(limits) = request.rest.remove("limits") {
        request.limits = execute::read_limits(Some(&limits), &app.gate)?;
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

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ErrorResponse> {
    let page = PageQuery::read(&uri)?;
    let filter = JobFilter {
        state: page.status(&JobState::ALL, JobState::word)?,
        tool: page.field("tool"),
        cursor: page.cursor(JobId::parse, "a job id")?,
        limit: page.lookahead(),
    };
    let jobs = app.gate.store().jobs(filter).await?;
    Ok(page.render("jobs", jobs, |job| job.id.clone()))
}

pub(crate) async fn one(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
) -> Result<Response, ErrorResponse> {
    Ok(response::json(200, &find(&app, &id).await?))
}

pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
) -> Result<Response, ErrorResponse> {
    let known = JobId::parse(&id).ok_or_else(|| unknown(&id))?;
    match app.jobs.cancel(&known).await? {
        CancelResult::Unknown => Err(unknown(&id)),
        CancelResult::Done(job) => Ok(response::json(200, &job)),
        CancelResult::Stopping(job) => Ok(response::json(202, &job)),
        CancelResult::TooLate(job) => {
            let message = format!("Job already ended: {} is {}.", job.id, job.state.word());
            let details = Some(json!({ "status": job.state }));
            Err(response::error(codes::CONFLICT, &message, details).into())
        }
    }
}

/// The job of that id, or the response that there is none.
pub(crate) async fn find(app: &App, id: &str) -> Result<Job, ErrorResponse> {
    let known = JobId::parse(id).ok_or_else(|| unknown(id))?;
    app.gate.job(&known).await?.ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> ErrorResponse {
    rest::not_found("Job not found: {id}.", "job_id", id).into()
}
