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
    "
    -- Of jobs that are not over: the journal tells it of those that were interrupted.
    ALTER TABLE jobs ADD COLUMN input_sha256 TEXT;
",
];

pub(super) fn prepare(connection: &Connection, durability: Durability) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
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
    migrate(connection)
}

/// True if the tables are the result of steps that are not known here.
pub(super) fn is_newer(connection: &Connection) -> rusqlite::Result<bool> {
    let version: u32 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    Ok(version as usize > MIGRATIONS.len())
}

fn migrate(connection: &Connection) -> rusqlite::Result<()> {
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
