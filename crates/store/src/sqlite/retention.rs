//! Retention: the rows that have to go.

use gate::{JobId, JobRetention, RecordRetention};
use rusqlite::{Connection, params};

const FINISHED: &str = "state NOT IN ('queued', 'running', 'waiting_approval', 'waiting_input')";

pub(super) fn overdue(
    connection: &Connection,
    policy: &JobRetention,
) -> rusqlite::Result<Vec<JobId>> {
    let limit = i64::try_from(policy.limit).unwrap_or(i64::MAX);
    // Names sort by time, so the oldest come first without a look at their times.
    let too_old =
        format!("SELECT id FROM jobs WHERE {FINISHED} AND finished_at < ?1 ORDER BY id LIMIT ?2");
    let ids = select(connection, &too_old, params![policy.before.0, limit])?;
    if !ids.is_empty() {
        return Ok(ids);
    }
    let too_many = format!(
        "SELECT id FROM jobs WHERE {FINISHED} ORDER BY id
         LIMIT min(?2, max(0, (SELECT count(*) FROM jobs) - ?1))"
    );
    let ids = select(connection, &too_many, params![whole(policy.max_jobs), limit])?;
    if !ids.is_empty() {
        return Ok(ids);
    }
    // Newest first, adding up; what lies beyond the sum has to go.
    let too_large = format!(
        "SELECT id FROM (
             SELECT id, state, sum(artifact_bytes) OVER (ORDER BY id DESC) AS total
             FROM jobs WHERE artifact_bytes > 0
         ) WHERE total > ?1 AND {FINISHED} ORDER BY id LIMIT ?2"
    );
    let ids = select(connection, &too_large, params![whole(policy.max_artifact_bytes), limit])?;
    if !ids.is_empty() {
        return Ok(ids);
    }
    // Whoever keeps most gives back, so that nobody loses records to another's.
    let too_much = format!(
        "WITH finished AS (SELECT id, caller,
                 ifnull(octet_length(input), 0) + ifnull(octet_length(result), 0) AS bytes
             FROM jobs WHERE {FINISHED}),
         callers AS (SELECT caller, sum(bytes) AS bytes FROM finished GROUP BY caller)
         SELECT id FROM (
             SELECT id, bytes, sum(bytes) OVER (ORDER BY id) AS so_far FROM finished
             WHERE caller = (SELECT caller FROM callers ORDER BY bytes DESC LIMIT 1)
         ) WHERE so_far - bytes < (SELECT sum(bytes) FROM callers) - ?1 ORDER BY id LIMIT ?2"
    );
    select(connection, &too_much, params![whole(policy.max_bytes), limit])
}

/// As SQLite counts.
fn whole(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn select(
    connection: &Connection,
    query: &str,
    parameters: impl rusqlite::Params,
) -> rusqlite::Result<Vec<JobId>> {
    connection
        .prepare_cached(query)?
        .query_map(parameters, |row| row.get::<_, String>(0))?
        .filter_map(|id| id.map(|id| JobId::parse(&id)).transpose())
        .collect()
}

pub(super) fn forget(
    connection: &Connection,
    ids: &[JobId],
    stays: RecordRetention,
) -> rusqlite::Result<()> {
    let mut job = connection.prepare_cached("DELETE FROM jobs WHERE id = ?1")?;
    for id in ids {
        job.execute([id.as_str()])?;
    }
    connection
        .prepare_cached("DELETE FROM idempotency_keys WHERE created_at < ?1")?
        .execute([stays.before.0])?;
    // What still waits, or may still be used, is not old.
    connection
        .prepare_cached(
            "DELETE FROM approvals WHERE (created_at < ?1 AND expires_at < ?1)
                 OR (state NOT IN ('waiting', 'approved') AND expires_at < ?2 AND id IN (
                     SELECT id FROM approvals ORDER BY id DESC LIMIT -1 OFFSET ?3))",
        )?
        .execute(params![stays.before.0, stays.now.0, whole(stays.max_approvals)])?;
    connection
        .prepare_cached(
            "DELETE FROM quarantine WHERE (created_at < ?1
                 OR id IN (SELECT id FROM quarantine ORDER BY id DESC LIMIT -1 OFFSET ?2)
                 OR id IN (SELECT id FROM (
                     SELECT id, sum(octet_length(payload)) OVER (ORDER BY id DESC) AS bytes
                     FROM quarantine) WHERE bytes > ?4))
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
