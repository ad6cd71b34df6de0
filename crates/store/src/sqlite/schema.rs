//! The tables, and how they came to be what they are.

use std::time::Duration;

use rusqlite::Connection;

use super::Durability;

/// The time that a statement waits for another process, a `toolgate call` beside a server.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Every step from an empty file to today's tables. Steps are added, never changed.
const MIGRATIONS: &[&str] = &[
    "
    CREATE TABLE jobs (
        id TEXT NOT NULL PRIMARY KEY,
        tool TEXT NOT NULL,
        state TEXT NOT NULL,
        caller TEXT NOT NULL,
        request_id TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        started_at INTEGER,
        finished_at INTEGER,
        error_code TEXT,
        http_status INTEGER NOT NULL,
        summary TEXT,
        limits TEXT NOT NULL,
        input TEXT,
        artifacts TEXT,
        artifact_bytes INTEGER NOT NULL,
        result TEXT,
        -- The arguments as given, until the job runs; `input` is without secrets.
        pending TEXT,
        error_message TEXT
    ) STRICT, WITHOUT ROWID;
    -- Only the few that are not over: finished jobs cost nothing here.
    CREATE INDEX jobs_open ON jobs (state, id)
        WHERE state = 'queued' OR state = 'running' OR state = 'waiting_approval';
    CREATE INDEX jobs_with_artifacts ON jobs (id, artifact_bytes) WHERE artifact_bytes > 0;
    CREATE TABLE idempotency_keys (
        caller TEXT NOT NULL,
        tool TEXT NOT NULL,
        key TEXT NOT NULL,
        input_sha256 TEXT NOT NULL,
        job TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        PRIMARY KEY (caller, tool, key)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE quarantine (
        id TEXT NOT NULL PRIMARY KEY,
        tool TEXT NOT NULL,
        request_id TEXT NOT NULL,
        job TEXT,
        created_at INTEGER NOT NULL,
        reason TEXT NOT NULL,
        violations TEXT NOT NULL,
        payload TEXT NOT NULL
    ) STRICT;
    CREATE TABLE health (checked INTEGER NOT NULL) STRICT;
    INSERT INTO health VALUES (0);
",
    "
    DROP INDEX jobs_open;
    CREATE INDEX jobs_open ON jobs (state, id)
        WHERE state = 'queued' OR state = 'running' OR state = 'waiting_approval'
            OR state = 'waiting_input';
",
    "
    CREATE TABLE approvals (
        id TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL,
        tool TEXT NOT NULL,
        caller TEXT NOT NULL,
        door TEXT NOT NULL,
        request_id TEXT NOT NULL,
        -- The job that waits for it, which then has it in its own row too.
        job TEXT,
        input_sha256 TEXT NOT NULL,
        created_at INTEGER NOT NULL,
        expires_at INTEGER NOT NULL,
        decided_at INTEGER,
        decided_by TEXT,
        reason TEXT,
        -- What may be large comes last: nobody has to read past it.
        preview TEXT,
        input TEXT
    ) STRICT;
    CREATE INDEX approvals_of_calls ON approvals (input_sha256, caller);
    -- Looked at twice a second; only what is not over stands in it.
    CREATE INDEX approvals_open ON approvals (state, expires_at)
        WHERE state IN ('waiting', 'approved');
    CREATE INDEX approvals_of_jobs ON approvals (job) WHERE job IS NOT NULL;
    ALTER TABLE jobs ADD COLUMN approval TEXT;
",
    "
    CREATE TABLE quarantine_of_calls (
        id TEXT NOT NULL PRIMARY KEY,
        state TEXT NOT NULL,
        tool TEXT NOT NULL,
        -- Whose call it was, and with which arguments; empty where an older version kept it.
        caller TEXT NOT NULL,
        input_sha256 TEXT NOT NULL,
        request_id TEXT NOT NULL,
        job TEXT,
        created_at INTEGER NOT NULL,
        whole INTEGER NOT NULL,
        decided_at INTEGER,
        decided_by TEXT,
        decision_reason TEXT,
        expires_at INTEGER,
        delivered_at INTEGER,
        reason TEXT NOT NULL,
        violations TEXT NOT NULL,
        -- What may be large comes last: nobody has to read past it.
        payload TEXT NOT NULL
    ) STRICT;
    INSERT INTO quarantine_of_calls (id, state, tool, caller, input_sha256, request_id, job,
            created_at, whole, reason, violations, payload)
        SELECT id, 'held', tool, '', '', request_id, job, created_at,
            payload NOT LIKE '% more bytes were not kept]\"', reason, violations, payload
        FROM quarantine;
    DROP TABLE quarantine;
    ALTER TABLE quarantine_of_calls RENAME TO quarantine;
    -- Only the few that wait for their callers stand in it.
    CREATE INDEX quarantine_released ON quarantine (input_sha256, expires_at)
        WHERE state = 'released';
    CREATE INDEX quarantine_of_jobs ON quarantine (job)
        WHERE state IN ('released', 'delivered');
",
    "
    CREATE INDEX IF NOT EXISTS jobs_of_callers ON jobs (caller, id);
",
    "
    -- It was for retention, and made every recorded call dearer than it made the sweeps cheaper.
    DROP INDEX jobs_of_callers;
",
    // `MARK`.
    "
    PRAGMA application_id = 1416061300;
",
    "
    -- Of jobs that are not over: the journal tells it of those that were interrupted.
    ALTER TABLE jobs ADD COLUMN input_sha256 TEXT;
",
];

/// The version of the tables: the number of steps.
#[allow(clippy::cast_possible_truncation, reason = "there are a handful")]
pub const SCHEMA_VERSION: u32 = MIGRATIONS.len() as u32;
/// What our databases are known by, in their header: `Tgat`.
const MARK: i64 = 0x5467_6174;
/// The first version that has it. Older ones are known by these tables.
const MARKED_SINCE: i64 = 7;
const FIRST_TABLES: &[&str] = &["jobs", "idempotency_keys", "quarantine", "health"];
/// The tables of today.
const TABLES: &[&str] = &["jobs", "idempotency_keys", "quarantine", "health", "approvals"];

pub(super) fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    let is_new = number(connection, "page_count")? == 0;
    if is_new {
        // So that pages can be given back. It cannot be chosen later.
        connection.pragma_update(None, "auto_vacuum", "INCREMENTAL")?;
    }
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // NORMAL writes the log before the acknowledgement and flushes it now and then;
    // FULL flushes it every time.
    let synchronous = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    // What is taken out of a row, such as the secrets of a call that waited, stays on no free page.
    connection.pragma_update(None, "secure_delete", "ON")?;
    // The writer decides when to fold the log into the file, off the callers' path.
    connection.pragma_update(None, "wal_autocheckpoint", 0)?;
    connection.set_prepared_statement_cache_capacity(32);
    migrate(connection)?;
    if is_new {
        // A file without tables is taken for a new one, whatever the log beside it holds.
        super::fold::fold_all(connection)?;
    }
    Ok(())
}

/// True if it is new, or a database of ours.
pub(super) fn is_ours(connection: &Connection) -> rusqlite::Result<bool> {
    // Another process may be making it: all of this is read at one moment.
    let transaction = connection.unchecked_transaction()?;
    let (mark, version) =
        (number(&transaction, "application_id")?, number(&transaction, "user_version")?);
    let entries: i64 =
        transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    if mark != 0 {
        return Ok(mark == MARK);
    }
    if entries == 0 {
        return Ok(version == 0);
    }
    Ok((1..MARKED_SINCE).contains(&version) && has_tables(&transaction, FIRST_TABLES)?)
}

/// True if all tables of today are there.
pub(super) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    has_tables(connection, TABLES)
}

fn has_tables(connection: &Connection, names: &[&str]) -> rusqlite::Result<bool> {
    let mut table = connection
        .prepare("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?1")?;
    for name in names {
        if table.query_row([name], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// A number that a pragma tells.
pub(super) fn number(connection: &Connection, pragma: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, pragma, |row| row.get(0))
}

/// True if the tables are the result of steps that are not known here.
pub(super) fn is_newer(connection: &Connection) -> rusqlite::Result<bool> {
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(version > SCHEMA_VERSION)
}

pub(super) fn migrate(connection: &Connection) -> rusqlite::Result<()> {
    let transaction =
        rusqlite::Transaction::new_unchecked(connection, rusqlite::TransactionBehavior::Immediate)?;
    let version: u32 = transaction.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    for (step, migration) in (1..).zip(MIGRATIONS) {
        if step > version {
            transaction.execute_batch(migration)?;
            transaction.pragma_update(None, "user_version", step)?;
        }
    }
    transaction.commit()
}
