//! Quarantined answers as rows.

use gate::{
    Timestamp,
    quarantine::{Entry, Summary},
};
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::value::RawValue;

pub(super) fn save(connection: &Connection, entry: &Entry) -> rusqlite::Result<()> {
    let summary = &entry.summary;
    connection
        .prepare_cached(
            "INSERT INTO quarantine
                 (id, tool, request_id, job, created_at, reason, violations, payload)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            summary.id,
            summary.tool,
            summary.request_id,
            summary.job_id,
            summary.created_at.0,
            summary.reason,
            serde_json::to_string(&summary.violations).unwrap_or_default(),
            entry.payload.get(),
        ])?;
    Ok(())
}

const COLUMNS: &str = "id, tool, request_id, job, created_at, reason, violations";

pub(super) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<Entry>> {
    connection
        .prepare_cached(&format!("SELECT {COLUMNS}, payload FROM quarantine WHERE id = ?1"))?
        .query_row([id], |row| {
            let payload: String = row.get(7)?;
            Ok(Entry {
                summary: read(row)?,
                payload: RawValue::from_string(payload).unwrap_or_default(),
            })
        })
        .optional()
}

pub(super) fn list(
    connection: &Connection,
    cursor: Option<&str>,
    limit: usize,
) -> rusqlite::Result<Vec<Summary>> {
    connection
        .prepare_cached(&format!(
            "SELECT {COLUMNS} FROM quarantine WHERE (?1 IS NULL OR id < ?1)
             ORDER BY id DESC LIMIT ?2"
        ))?
        .query_map(params![cursor, i64::try_from(limit).unwrap_or(i64::MAX)], read)?
        .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Summary> {
    let violations: String = row.get(6)?;
    Ok(Summary {
        id: row.get(0)?,
        tool: row.get(1)?,
        request_id: row.get(2)?,
        job_id: row.get(3)?,
        created_at: Timestamp(row.get(4)?),
        reason: row.get(5)?,
        violations: serde_json::from_str(&violations).unwrap_or_default(),
    })
}
