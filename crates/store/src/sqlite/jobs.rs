//! Jobs as rows.

use gate::{
    Approval, ApprovalId, InterruptedJob, Job, JobFilter, JobId, JobState, QueuedJob, Recovery,
    Timestamp,
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::{approvals, unreadable};

pub(super) fn save(connection: &Connection, job: &Job) -> rusqlite::Result<()> {
    // What a job was accepted with stays; how it went is written over.
    let mut statement = connection.prepare_cached(
        "INSERT INTO jobs (id, tool, state, caller, request_id, created_at, started_at,
             finished_at, error_code, http_status, summary, limits, input, artifacts,
             artifact_bytes, result, pending, error_message, approval,
             input_sha256)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17,
             ?18, ?19, ?20)
         ON CONFLICT (id) DO UPDATE SET
             state = excluded.state, started_at = excluded.started_at,
             finished_at = excluded.finished_at, error_code = excluded.error_code,
             http_status = excluded.http_status, summary = excluded.summary,
             input = excluded.input, artifacts = excluded.artifacts,
             artifact_bytes = excluded.artifact_bytes, result = excluded.result,
             pending = excluded.pending, error_message = excluded.error_message,
             approval = excluded.approval,
             input_sha256 = coalesce(excluded.input_sha256, input_sha256)",
    )?;
    let artifact_bytes: u64 = job.artifacts.iter().map(|artifact| artifact.bytes).sum();
    statement.execute(params![
        job.id.as_str(),
        job.tool,
        job.state.word(),
        job.caller,
        job.request_id,
        job.created_at.0,
        job.started_at.map(|time| time.0),
        job.finished_at.map(|time| time.0),
        job.error_code,
        job.http_status,
        job.summary,
        if job.limits.is_empty() { String::new() } else { to_text(&job.limits) },
        job.input.as_deref().map(RawValue::get),
        (!job.artifacts.is_empty()).then(|| to_text(&job.artifacts)),
        i64::try_from(artifact_bytes).unwrap_or(i64::MAX),
        job.result.as_deref().map(RawValue::get),
        job.pending.as_deref().map(RawValue::get),
        job.error_message,
        job.approval_id.as_ref().map(ApprovalId::as_str),
        job.input_sha256,
    ])?;
    Ok(())
}

pub(super) fn start(
    connection: &Connection,
    id: &JobId,
    at: Timestamp,
) -> rusqlite::Result<Option<Job>> {
    let waits = |job: &Job| matches!(job.state, JobState::Queued | JobState::WaitingApproval);
    let job = find(connection, id)?.filter(waits);
    if job.is_some() {
        connection
            .prepare_cached(
                "UPDATE jobs SET state = 'running', started_at = ?2, pending = NULL,
                     summary = NULL
                 WHERE id = ?1",
            )?
            .execute(params![id.as_str(), at.0])?;
    }
    Ok(job)
}

pub(super) fn cancel_queued(
    connection: &Connection,
    id: &JobId,
    at: Timestamp,
) -> rusqlite::Result<Option<Vec<Approval>>> {
    let changed = connection
        .prepare_cached(
            "UPDATE jobs SET state = 'cancelled', finished_at = ?2, error_code = 'cancelled',
                 http_status = 409, pending = NULL, summary = NULL
             WHERE id = ?1 AND state IN ('queued', 'waiting_approval')",
        )?
        .execute(params![id.as_str(), at.0])?;
    (changed == 1).then(|| approvals::cancel_of_job(connection, id)).transpose()
}

pub(super) fn recover(
    connection: &Connection,
    at: Timestamp,
    alone: bool,
) -> rusqlite::Result<Recovery> {
    let (mut interrupted, mut cancelled) = (Vec::new(), Vec::new());
    if alone {
        interrupted = interrupt(connection, at)?;
        cancelled = approvals::cancel_orphaned(connection)?;
    }
    Ok(Recovery {
        interrupted,
        cancelled,
        queued: in_state(connection, "queued")?,
        waiting: in_state(connection, "waiting_approval")?.into_iter().map(|job| job.id).collect(),
    })
}

fn in_state(connection: &Connection, state: &'static str) -> rusqlite::Result<Vec<QueuedJob>> {
    // Spelt out: that is how the index of open jobs is found.
    connection
        .prepare(&format!("SELECT id, caller FROM jobs WHERE state = '{state}' ORDER BY id"))?
        .query_map([], read_queued)?
        .filter_map(Result::transpose)
        .collect()
}

/// Reads a row of a name and a caller.
pub(super) fn read_queued(row: &Row<'_>) -> rusqlite::Result<Option<QueuedJob>> {
    let caller = row.get(1)?;
    Ok(JobId::parse(&row.get::<_, String>(0)?).map(|id| QueuedJob { id, caller }))
}

const SELECT: &str = "SELECT id, tool, state, caller, request_id, created_at, started_at,
    finished_at, error_code, http_status, summary, limits, artifacts, input, result, pending,
    error_message, approval FROM jobs";

fn interrupt(connection: &Connection, at: Timestamp) -> rusqlite::Result<Vec<InterruptedJob>> {
    let mut interrupted = Vec::new();
    // One state at a time, spelt out: that is how the index of open jobs is found.
    for state in ["running", "waiting_input"] {
        let jobs = connection
            .prepare(&format!(
                "UPDATE jobs SET state = 'interrupted', finished_at = ?1,
                     error_code = 'interrupted', http_status = 500
                 WHERE state = '{state}'
                 RETURNING id, request_id, caller, tool, input_sha256"
            ))?
            .query_map([at.0], read_interrupted)?
            .filter_map(Result::transpose)
            .collect::<rusqlite::Result<Vec<_>>>()?;
        interrupted.extend(jobs);
    }
    Ok(interrupted)
}

fn read_interrupted(row: &Row<'_>) -> rusqlite::Result<Option<InterruptedJob>> {
    let Some(id) = JobId::parse(&row.get::<_, String>(0)?) else { return Ok(None) };
    let (request_id, caller, tool) = (row.get(1)?, row.get(2)?, row.get(3)?);
    Ok(Some(InterruptedJob { id, request_id, caller, tool, input_sha256: row.get(4)? }))
}

/// The same without what may be large.
const SELECT_SHORT: &str = "SELECT id, tool, state, caller, request_id, created_at, started_at,
    finished_at, error_code, http_status, summary, limits, artifacts, NULL, NULL, NULL, NULL,
    approval FROM jobs";

pub(super) fn find(connection: &Connection, id: &JobId) -> rusqlite::Result<Option<Job>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
        .query_row([id.as_str()], read)
        .optional()
}

pub(super) fn list(connection: &Connection, filter: &JobFilter) -> rusqlite::Result<Vec<Job>> {
    // One text for every filter: what is NULL does not filter.
    connection
        .prepare_cached(&format!(
            "{SELECT_SHORT} WHERE id < coalesce(?1, 'job_~') AND (?2 IS NULL OR state = ?2)
                 AND (?3 IS NULL OR tool = ?3)
             ORDER BY id DESC LIMIT ?4"
        ))?
        .query_map(
            params![
                filter.cursor.as_ref().map(JobId::as_str),
                filter.state.map(JobState::word),
                filter.tool,
                i64::try_from(filter.limit).unwrap_or(i64::MAX),
            ],
            read,
        )?
        .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Job> {
    let time = |index: usize| row.get::<_, Option<i64>>(index).map(|time| time.map(Timestamp));
    let raw = |index: usize| {
        let text: Option<String> = row.get(index)?;
        Ok::<_, rusqlite::Error>(text.and_then(|text| RawValue::from_string(text).ok()))
    };
    let limits: String = row.get(11)?;
    let artifacts: Option<String> = row.get(12)?;
    Ok(Job {
        id: JobId::parse(&row.get::<_, String>(0)?).ok_or_else(|| unreadable(0, "job id"))?,
        tool: row.get(1)?,
        state: JobState::parse(&row.get::<_, String>(2)?).ok_or_else(|| unreadable(2, "state"))?,
        caller: row.get(3)?,
        request_id: row.get(4)?,
        created_at: Timestamp(row.get(5)?),
        started_at: time(6)?,
        finished_at: time(7)?,
        error_code: row.get(8)?,
        http_status: row.get(9)?,
        summary: row.get(10)?,
        limits: from_text(&limits),
        artifacts: artifacts.map(|text| from_text(&text)).unwrap_or_default(),
        input: raw(13)?,
        result: raw(14)?,
        pending: raw(15)?,
        error_message: row.get(16)?,
        approval_id: row.get::<_, Option<String>>(17)?.and_then(|id| ApprovalId::parse(&id)),
        released: None,
        // Only a job that was running at a crash needs it, and is not read as a whole.
        input_sha256: None,
    })
}

fn to_text(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

fn from_text<T: serde::de::DeserializeOwned + Default>(text: &str) -> T {
    serde_json::from_str(text).unwrap_or_default()
}
