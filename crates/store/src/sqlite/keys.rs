//! Idempotency keys as rows.

use gate::{Claim, Claimed, JobId};
use rusqlite::{Connection, OptionalExtension, params};

pub(super) fn claim(connection: &Connection, claim: &Claim) -> rusqlite::Result<Claimed> {
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
            claim.job.as_str(),
            claim.at.0,
        ])?;
    if new == 1 {
        return Ok(Claimed::New);
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
            JobId::parse(&job).map_or(Claimed::Conflict, Claimed::Known)
        }
        _ => Claimed::Conflict,
    })
}
