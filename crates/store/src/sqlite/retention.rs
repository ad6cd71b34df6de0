//! Retention: the rows that have to go. Whoever holds most of a thing gives back first.

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
    for (size, among, max) in [
        ("1", "true", policy.max_jobs),
        ("artifact_bytes", "artifact_bytes > 0", policy.max_artifact_bytes),
        (RECORD_BYTES, FINISHED, policy.max_bytes),
    ] {
        let ids = beyond(connection, (size, among), max, limit)?;
        if !ids.is_empty() {
            return Ok(ids);
        }
    }
    Ok(Vec::new())
}

/// The bytes of a job's record that its caller decides on.
const RECORD_BYTES: &str = "ifnull(octet_length(input), 0) + ifnull(octet_length(result), 0)";

/// The finished jobs that have to go so that the sizes of all come to no more than this: always the oldest of
/// whoever has most, so that nobody loses anything to another's.
fn beyond(
    connection: &Connection,
    (size, among): (&str, &str),
    max: u64,
    limit: i64,
) -> rusqlite::Result<Vec<JobId>> {
    let sum = format!("SELECT ifnull(sum({size}), 0) FROM jobs WHERE {among}");
    let sum: i64 = connection.prepare_cached(&sum)?.query_row([], |row| row.get(0))?;
    let excess = sum.saturating_sub(whole(max));
    if excess <= 0 {
        return Ok(Vec::new());
    }
    // `held` is what the caller has, once whatever of it is older is gone.
    let query = format!(
        "SELECT id FROM (
             SELECT id, held, size, sum(size) OVER (ORDER BY held DESC, id) AS so_far FROM (
                 SELECT id, state, {size} AS size,
                     sum({size}) OVER (PARTITION BY caller ORDER BY id DESC) AS held
                 FROM jobs WHERE {among}
             ) WHERE {FINISHED}
         ) WHERE so_far - size < ?1 ORDER BY held DESC, id LIMIT ?2"
    );
    select(connection, &query, params![excess, limit])
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
