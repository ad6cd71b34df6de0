//! A finished job as a line of a file.

use std::borrow::Cow;

use contract::LimitOverrides;
use gate::{ApprovalId, Artifact, Job, JobId, JobState, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// The fields of a line. What is written is borrowed from the job; what is read is borrowed from
/// the line where it can be.
#[derive(Serialize, Deserialize)]
struct SpooledJob<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    tool: Cow<'a, str>,
    #[serde(borrow)]
    state: Cow<'a, str>,
    #[serde(borrow)]
    caller: Cow<'a, str>,
    #[serde(borrow)]
    request_id: Cow<'a, str>,
    created_at: i64,
    started_at: Option<i64>,
    finished_at: Option<i64>,
    error_code: Option<Cow<'a, str>>,
    error_message: Option<Cow<'a, str>>,
    http_status: u16,
    summary: Option<Cow<'a, str>>,
    limits: LimitOverrides,
    artifacts: Cow<'a, [Artifact]>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    approval_id: Option<Cow<'a, str>>,
}

/// The line, with its end.
pub(super) fn print(job: &Job) -> Vec<u8> {
    let mut line = Vec::with_capacity(1_024);
    // Numbers, texts and printed JSON: nothing in it cannot be printed.
    let _ = serde_json::to_writer(
        &mut line,
        &SpooledJob {
            id: job.id.as_str().into(),
            tool: (&job.tool).into(),
            state: job.state.word().into(),
            caller: (&job.caller).into(),
            request_id: (&job.request_id).into(),
            created_at: job.created_at.0,
            started_at: job.started_at.map(|time| time.0),
            finished_at: job.finished_at.map(|time| time.0),
            error_code: job.error_code.as_ref().map(Into::into),
            error_message: job.error_message.as_ref().map(Into::into),
            http_status: job.http_status,
            summary: job.summary.as_ref().map(Into::into),
            limits: job.limits,
            artifacts: (&job.artifacts).into(),
            input: job.input.as_deref(),
            result: job.result.as_deref(),
            approval_id: job.approval_id.as_ref().map(|id| id.as_str().into()),
        },
    );
    line.push(b'\n');
    line
}

/// The job that a line spells.
pub(in crate::sqlite) fn read(line: &[u8]) -> Result<Job, String> {
    let read: SpooledJob<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    Ok(Job {
        id: JobId::parse(&read.id).ok_or("not a job id")?,
        tool: read.tool.into_owned(),
        state: JobState::parse(&read.state).ok_or("not a state")?,
        caller: read.caller.into_owned(),
        request_id: read.request_id.into_owned(),
        created_at: Timestamp(read.created_at),
        started_at: read.started_at.map(Timestamp),
        finished_at: read.finished_at.map(Timestamp),
        error_code: read.error_code.map(Cow::into_owned),
        error_message: read.error_message.map(Cow::into_owned),
        http_status: read.http_status,
        summary: read.summary.map(Cow::into_owned),
        limits: read.limits,
        artifacts: read.artifacts.into_owned(),
        input: read.input.map(ToOwned::to_owned),
        result: read.result.map(ToOwned::to_owned),
        approval_id: read.approval_id.and_then(|id| ApprovalId::parse(&id)),
        released: None,
        pending: None,
        input_sha256: None,
    })
}
