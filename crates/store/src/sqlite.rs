//! The embedded store.

mod approvals;
mod fold;
mod jobs;
mod keys;
mod quarantine;
mod releases;
mod retention;
mod schema;
mod snapshot;
mod spool;
mod writer;

use std::{
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use gate::{
    Approval, ApprovalId, BoxFuture, ClaimResult, IdempotencyClaim, Job, JobFilter, JobId,
    RecordRetention, Store, StoreError, Timestamp,
    approvals::{
        ApprovalDecision, ApprovalFilter, ApprovalLookup, ApprovalMatch, ApprovalSettings,
        DecisionResult, DueApprovals, RequestedApproval,
    },
    quarantine::{
        QuarantineEntry, QuarantineFilter, QuarantineSummary, ReleaseDecision, ReleaseResult,
        ReleasedPayload, RepeatedCall,
    },
};
use rusqlite::{Connection, OpenFlags};

pub use schema::SCHEMA_VERSION;
pub use snapshot::{DatabaseCopy, RecordCounts};
use spool::Spool;
use writer::BatchWriter;

/// The failures that an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The death of the process, at any moment.
    #[default]
    Process,
    /// Also a power failure: every batch is flushed to the disk.
    Power,
}

/// A column that has not what it must have.
fn unreadable(column: usize, what: &str) -> rusqlite::Error {
    let reason = format!("not a {what}").into();
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, reason)
}

/// The number of connections that read at once.
const MAX_READERS: usize = 4;

/// State in one SQLite file.
pub struct Sqlite {
    /// Before the writer: what it holds is written when it goes.
    spool: Option<Spool>,
    /// Before the writer, too: whoever closes the file last folds its log, and a reader cannot.
    readers: Arc<ReadConnections>,
    writer: BatchWriter,
    durability: Durability,
    /// What was at the path when it was opened.
    identity: Option<(u64, u64)>,
}

struct ReadConnections {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
    /// True once a damaged page was met.
    damaged: AtomicBool,
}

impl Sqlite {
    /// Opens the file, or makes it. Any number of processes may.
    pub fn open(path: &Path, durability: Durability) -> Result<Self, StoreError> {
        Self::require_regular(path)?;
        make_private(path);
        let broken = |error: rusqlite::Error| failed(&error);
        let connection = Connection::open(path).map_err(broken)?;
        if !schema::is_ours(&connection).map_err(broken)? {
            return Err(StoreError::NotOurs);
        }
        if schema::is_newer(&connection).map_err(broken)? {
            return Err(StoreError::Newer);
        }
        schema::prepare(&connection, durability).map_err(broken)?;
        if !schema::is_complete(&connection).map_err(broken)? {
            return Err(StoreError::Damaged);
        }
        Ok(Self {
            spool: None,
            writer: BatchWriter::start(connection, path, durability)?,
            readers: Arc::new(ReadConnections {
                path: path.to_owned(),
                idle: Mutex::default(),
                damaged: AtomicBool::new(false),
            }),
            durability,
            identity: identity(path),
        })
    }

    /// Refuses what is there and is not a regular file: of one behind a link, the log would lie elsewhere than beside the
    /// link, and opening a pipe would wait for ever.
    pub fn require_regular(path: &Path) -> Result<(), StoreError> {
        match path.symlink_metadata() {
            Ok(found) if !found.is_file() => Err(StoreError::NotRegular),
            _ => Ok(()),
        }
    }

    /// Takes in what the last server left in the spool, and lets finished jobs come together
    /// there from now on, unless they have to survive more than the death of the process.
    /// Only the holder of the data folder may.
    pub fn with_spool(
        mut self,
        folder: &Path,
        _held: &crate::DataFolderLock,
    ) -> Result<Self, StoreError> {
        let shared = &self.writer.shared;
        shared.is_alone.store(true, Ordering::Relaxed);
        spool::take_in_files(folder, shared)?;
        fold::cut_off(&shared.held(), shared);
        self.readers.clone().look_for_damage()?;
        if self.durability == Durability::Process {
            self.spool = Some(Spool::open(folder, self.writer.shared.clone())?);
        }
        Ok(self)
    }

    /// Reads every page: a damaged one may not be asked for in weeks.
    pub fn find_damage(&self) -> Result<(), StoreError> {
        self.readers.find_damage()
    }

    /// For a process that is not alone on the data folder: it may have to wait for others, and does so on a
    /// thread that nobody needs.
    #[must_use]
    pub fn beside_others(mut self) -> Self {
        self.writer.waits = true;
        self
    }

    /// Everything is in the database once this is done.
    async fn flush(&self) -> Result<(), StoreError> {
        let Some(spool) = &self.spool else { return Ok(()) };
        tokio::task::spawn_blocking(spool.flush()).await.map_err(|_| StoreError::Closed)?
    }

    /// Reads on a thread that may wait for the disk.
    fn read<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let readers = self.readers.clone();
        Box::pin(async move {
            tokio::task::spawn_blocking(move || readers.read(query))
                .await
                .map_err(|_| StoreError::Closed)?
        })
    }
}

impl ReadConnections {
    fn read<T>(
        &self,
        query: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self.take().map_err(|error| failed(&error))?;
        let result = query(&connection).map_err(|error| failed(&error));
        self.give_back(connection);
        if matches!(result, Err(StoreError::Damaged)) {
            self.damaged.store(true, Ordering::Relaxed);
        }
        result
    }

    /// Reads every page.
    fn find_damage(&self) -> Result<(), StoreError> {
        let found = self.read(|connection| {
            connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))
        })?;
        if found == "ok" {
            return Ok(());
        }
        tracing::error!(found, "a page of the database is damaged");
        self.damaged.store(true, Ordering::Relaxed);
        Err(StoreError::Damaged)
    }

    /// Does that once, on a thread of its own.
    fn look_for_damage(self: Arc<Self>) -> Result<(), StoreError> {
        let look = move || {
            if let Err(error) = self.find_damage() {
                tracing::error!("{error}");
            }
        };
        let thread = std::thread::Builder::new().name("store-check".into());
        thread.spawn(look).map(drop).map_err(|error| StoreError::Other(error.to_string()))
    }

    fn take(&self) -> rusqlite::Result<Connection> {
        if let Some(idle) = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop() {
            return Ok(idle);
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(&self.path, flags)?;
        connection.busy_timeout(schema::BUSY_TIMEOUT)?;
        Ok(connection)
    }

    fn give_back(&self, connection: Connection) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < MAX_READERS {
            idle.push(connection);
        }
    }
}

/// The device and inode of what lies at a path.
fn identity(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

/// The error in the terms of the gate.
fn failed(error: &rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::DiskFull) => StoreError::Full,
        Some(rusqlite::ErrorCode::ReadOnly) => StoreError::ReadOnly,
        Some(rusqlite::ErrorCode::DatabaseCorrupt) => StoreError::Damaged,
        _ => StoreError::Other(error.to_string()),
    }
}

/// Makes the file for this user alone, where there is none: results are kept in it. The files beside it get the same rights. Where
/// that cannot be done, opening it says why.
fn make_private(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt;
    let _ = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
}

impl Store for Sqlite {
    fn save(&self, job: Job) -> BoxFuture<'_, Result<(), StoreError>> {
        self.writer.write(move |connection| jobs::save(connection, &job))
    }

    fn record(&self, job: Job) -> BoxFuture<'_, Result<(), StoreError>> {
        let Some(spool) = &self.spool else { return self.save(job) };
        match spool.keep(job) {
            Ok(None) => Box::pin(std::future::ready(Ok(()))),
            Ok(Some(job)) => self.save(*job),
            Err(error) => Box::pin(std::future::ready(Err(error))),
        }
    }

    fn save_later(&self, job: Job) {
        self.writer.write_later(move |connection| jobs::save(connection, &job));
    }

    fn start(&self, id: &JobId, at: Timestamp) -> BoxFuture<'_, Result<Option<Job>, StoreError>> {
        let id = id.clone();
        self.writer.write(move |connection| jobs::start(connection, &id, at))
    }

    fn cancel_queued(
        &self,
        id: &JobId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Vec<Approval>>, StoreError>> {
        let id = id.clone();
        self.writer.write(move |connection| jobs::cancel_queued(connection, &id, at))
    }

    fn job(&self, id: &JobId) -> BoxFuture<'_, Result<Option<Job>, StoreError>> {
        // What is taken in is in the database before it leaves the spool, so that it is
        // always in one of the two.
        if let Some(job) = self.spool.as_ref().and_then(|spool| spool.find(id)) {
            return Box::pin(std::future::ready(Ok(Some(job))));
        }
        let id = id.clone();
        self.read(move |connection| jobs::find(connection, &id))
    }

    fn jobs(&self, filter: JobFilter) -> BoxFuture<'_, Result<Vec<Job>, StoreError>> {
        Box::pin(async move {
            self.flush().await?;
            self.read(move |connection| jobs::list(connection, &filter)).await
        })
    }

    fn recover(
        &self,
        at: Timestamp,
        alone: bool,
    ) -> BoxFuture<'_, Result<gate::Recovery, StoreError>> {
        self.writer.write(move |connection| jobs::recover(connection, at, alone))
    }

    fn claim(
        &self,
        claim: IdempotencyClaim,
        job: Job,
    ) -> BoxFuture<'_, Result<ClaimResult, StoreError>> {
        self.writer.write(move |connection| keys::claim(connection, &claim, &job))
    }

    fn release(
        &self,
        claim: IdempotencyClaim,
        job: &JobId,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        let job = job.clone();
        self.writer.write(move |connection| keys::release(connection, &claim, &job))
    }

    fn use_approval(
        &self,
        lookup: ApprovalLookup,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<ApprovalMatch, StoreError>> {
        self.writer.write(move |connection| approvals::use_one(connection, &lookup, at))
    }

    fn request_approval(
        &self,
        approval: Approval,
        settings: ApprovalSettings,
    ) -> BoxFuture<'_, Result<RequestedApproval, StoreError>> {
        self.writer.write(move |connection| approvals::request(connection, &approval, settings))
    }

    fn decide_approval(
        &self,
        id: ApprovalId,
        decision: ApprovalDecision,
        at: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<DecisionResult, StoreError>> {
        self.writer
            .write(move |connection| approvals::decide(connection, &id, &decision, at, until))
    }

    fn approval(
        &self,
        id: &ApprovalId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<Approval>, StoreError>> {
        let id = id.clone();
        self.read(move |connection| approvals::find(connection, &id, at))
    }

    fn approvals(
        &self,
        filter: ApprovalFilter,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<Approval>, StoreError>> {
        self.read(move |connection| approvals::list(connection, &filter, at))
    }

    fn due(&self, at: Timestamp) -> BoxFuture<'_, Result<DueApprovals, StoreError>> {
        self.read(move |connection| approvals::due(connection, at))
    }

    fn expire_approvals(&self, at: Timestamp) -> BoxFuture<'_, Result<Vec<Approval>, StoreError>> {
        self.writer.write(move |connection| approvals::expire(connection, at))
    }

    fn quarantine(&self, entry: QuarantineEntry) -> BoxFuture<'_, Result<(), StoreError>> {
        self.writer.write(move |connection| quarantine::save(connection, &entry))
    }

    fn quarantined(
        &self,
        id: &str,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineEntry>, StoreError>> {
        let id = id.to_owned();
        self.read(move |connection| quarantine::find(connection, &id, at))
    }

    fn all_quarantined(
        &self,
        filter: QuarantineFilter,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<QuarantineSummary>, StoreError>> {
        self.read(move |connection| quarantine::list(connection, &filter, at))
    }

    fn release_quarantined(
        &self,
        id: &str,
        decision: ReleaseDecision,
        at: Timestamp,
        until: Timestamp,
    ) -> BoxFuture<'_, Result<ReleaseResult, StoreError>> {
        let id = id.to_owned();
        let release =
            move |connection: &Connection| releases::release(connection, &id, &decision, at, until);
        self.writer.write(release)
    }

    fn adopt_quarantined(
        &self,
        id: &str,
        decision: ReleaseDecision,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineSummary>, StoreError>> {
        let id = id.to_owned();
        self.writer.write(move |connection| releases::adopt(connection, &id, &decision, at))
    }

    fn take_released(
        &self,
        call: RepeatedCall,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<QuarantineEntry>, StoreError>> {
        self.writer.write(move |connection| releases::take(connection, &call, at))
    }

    fn released(&self, at: Timestamp) -> Result<Vec<String>, StoreError> {
        // A look at an index that is nearly always empty is not worth another thread.
        self.readers.read(|connection| releases::open(connection, at))
    }

    fn released_of_job(
        &self,
        job: &JobId,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Option<ReleasedPayload>, StoreError>> {
        let job = job.clone();
        self.read(move |connection| releases::of_job(connection, &job, at))
    }

    fn overdue(&self, policy: gate::JobRetention) -> BoxFuture<'_, Result<Vec<JobId>, StoreError>> {
        Box::pin(async move {
            // On a full disk what waits cannot be taken in until something has gone.
            let _ = self.flush().await;
            self.read(move |connection| retention::overdue(connection, &policy)).await
        })
    }

    fn forget_jobs(&self, ids: Vec<JobId>) -> BoxFuture<'_, Result<(), StoreError>> {
        let shared = self.writer.shared.clone();
        self.writer.write(move |connection| {
            shared.rows_removed.store(true, Ordering::Relaxed);
            retention::forget_jobs(connection, &ids)
        })
    }

    fn forget(&self, stays: RecordRetention) -> BoxFuture<'_, Result<(), StoreError>> {
        let shared = self.writer.shared.clone();
        self.writer.write(move |connection| {
            shared.rows_removed.store(true, Ordering::Relaxed);
            retention::forget(connection, stays)
        })
    }

    fn check(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        if self.readers.damaged.load(Ordering::Relaxed) {
            return Box::pin(std::future::ready(Err(StoreError::Damaged)));
        }
        if identity(&self.readers.path) != self.identity {
            return Box::pin(std::future::ready(Err(StoreError::Moved)));
        }
        self.writer.write(|connection| {
            connection.execute("UPDATE health SET checked = checked + 1", []).map(|_| ())
        })
    }
}
