//! Idempotency keys as rows.

use gate::{ClaimResult, IdempotencyClaim, Job, JobId};
use rusqlite::{Connection, OptionalExtension, params};

use super::jobs;

pub(super) fn claim(
    connection: &Connection,
    claim: &IdempotencyClaim,
    job: &Job,
) -> rusqlite::Result<ClaimResult> {
    let new = connection
        .prepare_cached(
            "INSERT INTO idempotency_keys (caller, tool, key, input_sha256, job, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            claim.caller,
            claim.tool,
            claim.key,
            claim.input_sha256,
            job.id.as_str(),
            job.created_at.0,
        ])?;
    if new == 1 {
        if let Err(error) = jobs::save(connection, job) {
            // A key without a job would block the call for ever.
            connection.execute("DELETE FROM idempotency_keys WHERE job = ?1", [job.id.as_str()])?;
            return Err(error);
        }
        return Ok(ClaimResult::New);
    }
    let known: Option<(String, String)> = connection
        .prepare_cached(
            "SELECT input_sha256, job FROM idempotency_keys
             WHERE caller = ?1 AND tool = ?2 AND key = ?3",
        )?
        .query_row(params![claim.caller, claim.tool, claim.key], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    Ok(match known {
        Some((input, job)) if input == claim.input_sha256 => {
            JobId::parse(&job).map_or(ClaimResult::Conflict, ClaimResult::Known)
        }
        _ => ClaimResult::Conflict,
    })
}

/// Gives back the key of a call that did not run.
pub(super) fn release(
    connection: &Connection,
    claim: &IdempotencyClaim,
    job: &JobId,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "DELETE FROM idempotency_keys
             WHERE caller = ?1 AND tool = ?2 AND key = ?3 AND job = ?4",
        )?
        .execute(params![claim.caller, claim.tool, claim.key, job.as_str()])
        .map(|_| ())
}
