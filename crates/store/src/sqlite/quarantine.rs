//! Quarantined outputs as rows.

use gate::{
    Timestamp,
    quarantine::{QuarantineEntry, QuarantineFilter, QuarantineState, QuarantineSummary},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

use super::unreadable;

pub(super) fn save(connection: &Connection, entry: &QuarantineEntry) -> rusqlite::Result<()> {
    let summary = &entry.summary;
    connection
        .prepare_cached(
            "INSERT INTO quarantine (id, state, tool, caller, input_sha256, request_id, job,
                 created_at, whole, reason, violations, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
        )?
        .execute(params![
            summary.id,
            summary.state.word(),
            summary.tool,
            summary.caller,
            summary.input_sha256,
            summary.request_id,
            summary.job_id,
            summary.created_at.0,
            summary.whole,
            summary.reason,
            serde_json::to_string(&summary.violations).unwrap_or_default(),
            entry.payload.get(),
        ])?;
    Ok(())
}

pub(super) const COLUMNS: &str = "id, state, tool, caller, input_sha256, request_id, job,
    created_at, whole, decided_at, decided_by, decision_reason, expires_at, delivered_at, reason,
    violations";

pub(super) fn find(
    connection: &Connection,
    id: &str,
    at: Timestamp,
) -> rusqlite::Result<Option<QuarantineEntry>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS}, payload FROM quarantine WHERE id = ?1"))?
        .query_row([id], |row| read_whole(row, at))
        .optional()
}

/// The same without its payload.
pub(super) fn find_summary(
    connection: &Connection,
    id: &str,
    at: Timestamp,
) -> rusqlite::Result<Option<QuarantineSummary>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM quarantine WHERE id = ?1"))?
        .query_row([id], |row| read(row, at))
        .optional()
}

pub(super) fn list(
    connection: &Connection,
    filter: &QuarantineFilter,
    at: Timestamp,
) -> rusqlite::Result<Vec<QuarantineSummary>> {
    // What is NULL does not filter; a release that is over is none.
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM quarantine
             WHERE (?1 IS NULL OR id < ?1) AND (?2 IS NULL OR tool = ?2)
                 AND (?3 IS NULL OR caller = ?3)
                 AND (?4 IS NULL OR ?4 = CASE WHEN state = 'released'
                     AND coalesce(expires_at, 0) <= ?5 THEN 'held' ELSE state END)
             ORDER BY id DESC LIMIT ?6"
        ))?
        .query_map(
            params![
                filter.cursor,
                filter.tool,
                filter.caller,
                filter.state.map(QuarantineState::word),
                at.0,
                i64::try_from(filter.limit).unwrap_or(i64::MAX),
            ],
            |row| read(row, at),
        )?
        .collect()
}

/// A row that ends with its payload.
pub(super) fn read_whole(row: &Row<'_>, at: Timestamp) -> rusqlite::Result<QuarantineEntry> {
    let payload: String = row.get(16)?;
    let payload = RawValue::from_string(payload).map_err(|_| unreadable(16, "JSON text"))?;
    Ok(QuarantineEntry { summary: read(row, at)?, payload })
}

fn read(row: &Row<'_>, at: Timestamp) -> rusqlite::Result<QuarantineSummary> {
    let time = |index: usize| row.get::<_, Option<i64>>(index).map(|time| time.map(Timestamp));
    let violations: String = row.get(15)?;
    let summary = QuarantineSummary {
        id: row.get(0)?,
        state: QuarantineState::parse(&row.get::<_, String>(1)?)
            .ok_or_else(|| unreadable(1, "state"))?,
        tool: row.get(2)?,
        caller: row.get(3)?,
        input_sha256: row.get(4)?,
        request_id: row.get(5)?,
        job_id: row.get(6)?,
        created_at: Timestamp(row.get(7)?),
        whole: row.get(8)?,
        decided_at: time(9)?,
        decided_by: row.get(10)?,
        decision_reason: row.get(11)?,
        expires_at: time(12)?,
        delivered_at: time(13)?,
        reason: row.get(14)?,
        violations: serde_json::from_str(&violations).unwrap_or_default(),
    };
    Ok(summary.at(at))
}
