//! A finished job as a line of a file.

use contract::LimitOverrides;
use gate::{ApprovalId, Artifact, Job, JobId, JobState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Written<'a> {
    id: &'a str,
    tool: &'a str,
    state: &'a str,
    caller: &'a str,
    request_id: &'a str,
    created_at: i64,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    error_code: Option<&'a str>,
    error_message: Option<&'a str>,
    http_status: u16,
    summary: Option<&'a str>,
    limits: &'a LimitOverrides,
    artifacts: &'a [Artifact],
    input: Option<&'a RawValue>,
    result: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_id: Option<&'a str>,
}

#[derive(Deserialize)]
struct Read {
    id: String,
    tool: String,
    state: String,
    caller: String,
    request_id: String,
    created_at: i64,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    error_code: Option<String>,
    error_message: Option<String>,
    http_status: u16,
    summary: Option<String>,
    limits: LimitOverrides,
    artifacts: Vec<Artifact>,
    input: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    #[serde(default)]
    approval_id: Option<String>,
}

/// The line, with its end.
pub(super) fn print(job: &Job) -> Vec<u8> {
    let mut line = Vec::with_capacity(1_024);
    // Numbers, texts and printed JSON: nothing in it cannot be printed.
    let _ = serde_json::to_writer(
        &mut line,
        &Written {
            id: job.id.as_str(),
            tool: &job.tool,
            state: job.state.word(),
            caller: &job.caller,
            request_id: &job.request_id,
            created_at: job.created_at.0,
            started_at: job.started_at.map(|time| time.0),
            finished_at: job.finished_at.map(|time| time.0),
            error_code: job.error_code.as_deref(),
            error_message: job.error_message.as_deref(),
            http_status: job.http_status,
            summary: job.summary.as_deref(),
            limits: &job.limits,
            artifacts: &job.artifacts,
            input: job.input.as_deref(),
            result: job.result.as_deref(),
            approval_id: job.approval_id.as_ref().map(ApprovalId::as_str),
        },
    );
    line.push(b'\n');
    line
}

/// The job that a line spells.
pub(super) fn read(line: &[u8]) -> Result<Job, String> {
    let read: Read = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    Ok(Job {
        id: JobId::parse(&read.id).ok_or("not a job id")?,
        tool: read.tool,
        state: JobState::parse(&read.state).ok_or("not a state")?,
        caller: read.caller,
        request_id: read.request_id,
        created_at: Timestamp(read.created_at),
        started_at: read.started_at.map(Timestamp),
        finished_at: read.finished_at.map(Timestamp),
        error_code: read.error_code,
        error_message: read.error_message,
        http_status: read.http_status,
        summary: read.summary,
        limits: read.limits,
        artifacts: read.artifacts,
        input: read.input,
        result: read.result,
        approval_id: read.approval_id.and_then(|id| ApprovalId::parse(&id)),
        released: None,
        pending: None,
    })
}
