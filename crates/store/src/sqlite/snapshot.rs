//! A copy of the database at one moment, while a server goes on writing to it.
//!
//! - `VACUUM INTO` reads in one transaction: the copy is what was committed when it began, without free pages and without
//!   a log beside it. Writers do not wait for it.
//! - The files of the spool are opened before that, and read after it: a job that leaves the spool in between is in the
//!   database. Every job that was acknowledged before the copy began is in it.

use std::{
    fs::File,
    io::{self, BufRead, BufReader, Read},
    path::Path,
};

use gate::{Artifact, Job, JobId, StoreError};
use rusqlite::{Connection, OpenFlags};
use serde::Serialize;

use super::{failed, jobs, make_private, schema, spool};

/// The number of steps of SQLite between two looks whether the copy is to be stopped.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

/// A copy of a database that nobody else uses.
pub struct DatabaseCopy {
    connection: Connection,
}

/// The number of records in a database.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct RecordCounts {
    pub jobs: u64,
    pub approvals: u64,
    pub quarantined: u64,
}

impl DatabaseCopy {
    /// Copies a database with the jobs that are still in the spool. The tables of the copy are those of this version.
    /// It ends early once `is_stopped`.
    pub fn make(
        database: &Path,
        spool: &Path,
        copy: &Path,
        is_stopped: impl FnMut() -> bool + Send + 'static,
    ) -> Result<Self, StoreError> {
        let spooled = opened(spool).map_err(|error| spool::failed_io(&error))?;
        copy_into(database, copy, is_stopped)?;
        let connection = Connection::open(copy).map_err(|error| failed(&error))?;
        let made = schema::migrate(&connection).map_err(|error| failed(&error));
        made.and_then(|()| take_in(&connection, spooled))?;
        Ok(Self { connection })
    }

    /// Opens a copy that was made earlier, perhaps by another version.
    pub fn open(copy: &Path) -> Result<Self, StoreError> {
        let connection = Connection::open_with_flags(copy, OpenFlags::SQLITE_OPEN_READ_ONLY)
            .map_err(|error| failed(&error))?;
        if schema::is_newer(&connection).map_err(|error| failed(&error))? {
            return Err(StoreError::Newer);
        }
        Ok(Self { connection })
    }

    /// Counts the records.
    pub fn counts(&self) -> Result<RecordCounts, StoreError> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            let count = self.connection.query_row(&sql, [], |row| row.get::<_, i64>(0));
            count.map(i64::unsigned_abs).map_err(|error| failed(&error))
        };
        Ok(RecordCounts {
            jobs: count("jobs")?,
            approvals: count("approvals")?,
            quarantined: count("quarantine")?,
        })
    }

    /// Does something with each artifact of each job.
    pub fn each_artifact<E: From<StoreError>>(
        &self,
        mut work: impl FnMut(&JobId, &Artifact) -> Result<(), E>,
    ) -> Result<(), E> {
        let broken = |error: rusqlite::Error| E::from(failed(&error));
        let sql = "SELECT id, artifacts FROM jobs WHERE artifacts IS NOT NULL ORDER BY id";
        let mut statement = self.connection.prepare(sql).map_err(broken)?;
        let mut rows = statement.query([]).map_err(broken)?;
        while let Some(row) = rows.next().map_err(broken)? {
            let id: String = row.get(0).map_err(broken)?;
            let Some(id) = JobId::parse(&id) else { continue };
            let artifacts: String = row.get(1).map_err(broken)?;
            let artifacts: Vec<Artifact> = serde_json::from_str(&artifacts).unwrap_or_default();
            artifacts.iter().try_for_each(|artifact| work(&id, artifact))?;
        }
        Ok(())
    }
}

/// Copies what is committed, into a file for this user alone.
fn copy_into(
    database: &Path,
    copy: &Path,
    is_stopped: impl FnMut() -> bool + Send + 'static,
) -> Result<(), StoreError> {
    make_private(copy);
    // Where the file may not be written, SQLite only reads.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut source =
        Connection::open_with_flags(database, flags).map_err(|error| failed(&error))?;
    source.busy_timeout(schema::BUSY_TIMEOUT).map_err(|error| failed(&error))?;
    if schema::is_newer(&source).map_err(|error| failed(&error))? {
        return Err(StoreError::Newer);
    }
    let Some(copy) = copy.to_str() else {
        return Err(StoreError::Other("the path of the copy is not UTF-8".into()));
    };
    source
        .progress_handler(STEPS_BETWEEN_LOOKS, Some(is_stopped))
        .and_then(|()| source.execute("VACUUM INTO ?1", [copy]))
        .map(|_| ())
        .map_err(|error| failed(&error))
}

/// The files of a spool, opened: what is in them stays readable when they are taken in and removed.
fn opened(spool: &Path) -> io::Result<Vec<File>> {
    let files = match spool::files(spool) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        files => files?,
    };
    let mut opened = Vec::new();
    for file in files {
        match File::open(file) {
            // Its jobs are in the database by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            file => opened.push(file?),
        }
    }
    Ok(opened)
}

/// Adds the jobs of spool files. One that is cut short is being written now, or was never acknowledged.
fn take_in(connection: &Connection, spooled: Vec<File>) -> Result<(), StoreError> {
    let transaction = connection.unchecked_transaction().map_err(|error| failed(&error))?;
    for file in spooled {
        let mut lines = BufReader::new(file);
        loop {
            let mut line = Vec::new();
            let most = spool::MAX_JOB_BYTES as u64 + 1;
            let read = lines.by_ref().take(most).read_until(b'\n', &mut line);
            if read.map_err(|error| spool::failed_io(&error))? == 0 {
                break;
            }
            if let Ok(job) = spool::record_line::read(&line) {
                save(&transaction, &job)?;
            }
        }
    }
    transaction.commit().map_err(|error| failed(&error))
}

fn save(connection: &Connection, job: &Job) -> Result<(), StoreError> {
    jobs::save(connection, job).map_err(|error| failed(&error))
}
