//! Decisions about quarantined outputs, and their delivery.

use gate::{
    JobId, Timestamp,
    quarantine::{
        MAX_RELEASED, QuarantineEntry, QuarantineState, QuarantineSummary, ReleaseDecision,
        ReleaseError, ReleaseResult, ReleasedPayload, RepeatedCall,
    },
};
use rusqlite::{Connection, OptionalExtension, params};
use serde_json::value::RawValue;

use super::{
    quarantine::{COLUMNS, find_summary, read_whole},
    unreadable,
};

pub(super) fn release(
    connection: &Connection,
    id: &str,
    decision: &ReleaseDecision,
    at: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<ReleaseResult> {
    let Some(entry) = find_summary(connection, id, at)? else { return Ok(ReleaseResult::Unknown) };
    if let Some(why) = hindrance(connection, &entry, at)? {
        return Ok(ReleaseResult::Refused(Box::new(entry), why));
    }
    connection
        .prepare_cached(
            "UPDATE quarantine SET state = 'released', decided_at = ?2, decided_by = ?3,
                 decision_reason = ?4, expires_at = ?5, delivered_at = NULL
             WHERE id = ?1",
        )?
        .execute(params![id, at.0, decision.by, decision.reason, until.0])?;
    let entry = QuarantineSummary {
        state: QuarantineState::Released,
        decided_at: Some(at),
        decided_by: Some(decision.by.clone()),
        decision_reason: decision.reason.clone(),
        expires_at: Some(until),
        delivered_at: None,
        ..entry
    };
    Ok(ReleaseResult::Done(Box::new(entry)))
}

/// The reason that an entry cannot be released.
fn hindrance(
    connection: &Connection,
    entry: &QuarantineSummary,
    at: Timestamp,
) -> rusqlite::Result<Option<ReleaseError>> {
    Ok(match entry.state {
        QuarantineState::Released => Some(ReleaseError::Already),
        QuarantineState::Passed => Some(ReleaseError::Passed),
        QuarantineState::Adopted => Some(ReleaseError::Adopted),
        QuarantineState::Held | QuarantineState::Delivered if !entry.whole => {
            Some(ReleaseError::Cut)
        }
        QuarantineState::Held | QuarantineState::Delivered if entry.input_sha256.is_empty() => {
            Some(ReleaseError::NobodysCall)
        }
        QuarantineState::Held | QuarantineState::Delivered => {
            (open(connection, at)?.len() >= MAX_RELEASED).then_some(ReleaseError::Full)
        }
    })
}

pub(super) fn adopt(
    connection: &Connection,
    id: &str,
    decision: &ReleaseDecision,
    at: Timestamp,
) -> rusqlite::Result<Option<QuarantineSummary>> {
    connection
        .prepare_cached(
            "UPDATE quarantine SET state = 'adopted', decided_at = ?2, decided_by = ?3,
                 decision_reason = ?4, expires_at = NULL
             WHERE id = ?1",
        )?
        .execute(params![id, at.0, decision.by, decision.reason])?;
    find_summary(connection, id, at)
}

/// Hands out the oldest output that is released for the call. Its state is part of the condition:
/// of two who come at once one changes the row.
pub(super) fn take(
    connection: &Connection,
    call: &RepeatedCall,
    at: Timestamp,
) -> rusqlite::Result<Option<QuarantineEntry>> {
    connection
        .prepare_cached(&format!(
            "UPDATE quarantine SET state = 'delivered', delivered_at = ?4
             WHERE id = (SELECT id FROM quarantine
                     WHERE state = 'released' AND input_sha256 = ?3 AND expires_at > ?4
                         AND caller = ?1 AND tool = ?2 AND whole
                     ORDER BY id LIMIT 1)
                 AND state = 'released'
             RETURNING {COLUMNS}, payload"
        ))?
        .query_row(params![call.caller, call.tool, call.input_sha256, at.0], |row| {
            read_whole(row, at)
        })
        .optional()
}

/// The hashes of the arguments whose outputs wait for their callers.
pub(super) fn open(connection: &Connection, at: Timestamp) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare_cached(
            "SELECT input_sha256 FROM quarantine WHERE state = 'released' AND expires_at > ?1
             LIMIT ?2",
        )?
        .query_map(params![at.0, i64::try_from(MAX_RELEASED).unwrap_or(i64::MAX)], |row| {
            row.get(0)
        })?
        .collect()
}

pub(super) fn of_job(
    connection: &Connection,
    job: &JobId,
    at: Timestamp,
) -> rusqlite::Result<Option<ReleasedPayload>> {
    connection
        .prepare_cached(
            "SELECT id, decided_at, payload FROM quarantine
             WHERE job = ?1 AND state IN ('released', 'delivered')
                 AND (state = 'delivered' OR expires_at > ?2)
             ORDER BY id DESC LIMIT 1",
        )?
        .query_row(params![job.as_str(), at.0], |row| {
            let payload: String = row.get(2)?;
            Ok(ReleasedPayload {
                quarantine_id: row.get(0)?,
                released_at: Timestamp(row.get::<_, Option<i64>>(1)?.unwrap_or_default()),
                payload: RawValue::from_string(payload).map_err(|_| unreadable(2, "JSON text"))?,
            })
        })
        .optional()
}
