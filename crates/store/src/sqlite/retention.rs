//! Retention: the rows that have to go. Whoever holds most of a thing gives back first.

use std::collections::HashMap;

use gate::{
    JobId, JobRetention, RecordRetention,
    retention::{KeptJobs, Surplus},
};
use rusqlite::{Connection, Row, params};

const FINISHED: &str = "state NOT IN ('queued', 'running', 'waiting_approval', 'waiting_input')";
/// The bytes of a job's record that its caller decides on.
const RECORD_BYTES: &str = "ifnull(octet_length(input), 0) + ifnull(octet_length(result), 0)";

pub(super) fn overdue(
    connection: &Connection,
    policy: &JobRetention,
) -> rusqlite::Result<Vec<JobId>> {
    let mut surplus = Surplus::of(&kept(connection)?, policy);
    // Names sort by time: a job that was made later has not ended before.
    let newest_old = JobId::new(policy.before);
    let query = format!(
        "SELECT id, caller, finished_at, artifact_bytes, {RECORD_BYTES} FROM jobs
         WHERE {FINISHED} ORDER BY id"
    );
    let mut statement = connection.prepare_cached(&query)?;
    let mut rows = statement.query([])?;
    let mut overdue = Vec::new();
    while overdue.len() < policy.limit
        && let Some(row) = rows.next()?
    {
        let id: String = row.get(0)?;
        let is_young = id.as_str() > newest_old.as_str();
        if is_young && surplus.is_settled() {
            break;
        }
        let finished_at: Option<i64> = row.get(2)?;
        let is_old = finished_at.is_some_and(|at| at < policy.before.0);
        let size = KeptJobs { jobs: 1, artifact_bytes: size(row, 3)?, record_bytes: size(row, 4)? };
        // An old one counts for what its caller has to give back, too.
        let is_surplus = surplus.take(row.get_ref(1)?.as_str()?, size, is_old);
        if is_old || is_surplus {
            overdue.extend(JobId::parse(&id));
        }
    }
    Ok(overdue)
}

/// The sizes of all that each caller has, so that nobody loses anything to what another keeps.
fn kept(connection: &Connection) -> rusqlite::Result<HashMap<String, KeptJobs>> {
    let query = format!(
        "SELECT caller, count(*), sum(artifact_bytes), sum(iif({FINISHED}, {RECORD_BYTES}, 0))
         FROM jobs GROUP BY caller"
    );
    connection
        .prepare_cached(&query)?
        .query_map([], |row| {
            let kept = KeptJobs {
                jobs: size(row, 1)?,
                artifact_bytes: size(row, 2)?,
                record_bytes: size(row, 3)?,
            };
            Ok((row.get(0)?, kept))
        })?
        .collect()
}

/// A number of a row that is never below zero.
fn size(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get(column).map(i64::cast_unsigned)
}

/// As SQLite counts.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn forget_jobs(connection: &Connection, ids: &[JobId]) -> rusqlite::Result<()> {
    let mut job = connection.prepare_cached("DELETE FROM jobs WHERE id = ?1")?;
    for id in ids {
        job.execute([id.as_str()])?;
    }
    Ok(())
}

pub(super) fn forget(connection: &Connection, stays: RecordRetention) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM idempotency_keys WHERE created_at < ?1")?
        .execute([stays.before.0])?;
    // What still waits, or may still be used, is not old.
    connection
        .prepare_cached(
            "DELETE FROM approvals WHERE (created_at < ?1 AND expires_at < ?1)
                 OR (state NOT IN ('waiting', 'approved') AND expires_at < ?2 AND id IN (
                     SELECT id FROM (SELECT id,
                         row_number() OVER (PARTITION BY caller ORDER BY id DESC) AS held
                         FROM approvals)
                     ORDER BY held DESC, id
                     LIMIT max(0, (SELECT count(*) FROM approvals) - ?3)))",
        )?
        .execute(params![stays.before.0, stays.now.0, whole(stays.max_approvals)])?;
    connection
        .prepare_cached(
            "WITH entries AS (SELECT id, caller, octet_length(payload) AS size FROM quarantine),
             -- What the caller has, once whatever of it is older is gone.
             callers AS (SELECT id, size,
                 row_number() OVER (PARTITION BY caller ORDER BY id DESC) AS held,
                 sum(size) OVER (PARTITION BY caller ORDER BY id DESC) AS held_bytes
                 FROM entries),
             too_many AS (SELECT id FROM callers ORDER BY held DESC, id
                 LIMIT max(0, (SELECT count(*) FROM quarantine) - ?2)),
             too_large AS (SELECT id FROM (
                 SELECT id, size, sum(size) OVER (ORDER BY held_bytes DESC, id) AS so_far
                 FROM callers)
                 WHERE so_far - size < (SELECT sum(size) FROM entries) - ?4)
             DELETE FROM quarantine WHERE (created_at < ?1
                 OR id IN (SELECT id FROM too_many) OR id IN (SELECT id FROM too_large))
                 -- What was promised to a caller stays.
                 AND NOT (state = 'released' AND expires_at > ?3)",
        )?
        .execute(params![
            stays.before.0,
            whole(stays.max_quarantined),
            stays.now.0,
            whole(stays.max_bytes)
        ])?;
    Ok(())
}
