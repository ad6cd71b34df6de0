//! The writer of the database.
//!
//! A write is put on a list; whoever finds the connection free takes the whole list,
//! writes it in one transaction, and acknowledges each when that is committed. A caller
//! who is alone so writes at once, on its own thread; under load the cost of a commit is
//! shared by all who wait for it.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::Duration,
};

use gate::{BoxFuture, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{Durability, failed};

/// The number of writes that share a transaction.
const MAX_BATCH: usize = 256;
/// The number of transactions that a caller writes for others after its own.
const MAX_TURNS: usize = 2;
/// The log is folded into the file when it has grown by so many pages (of 4 KiB), and
/// made to start over when it has become so long.
const FOLD_AFTER_PAGES: i64 = 4_096;
const START_OVER_AFTER_PAGES: i64 = 16_384;
/// The interval at which the length of the log is looked at.
const FOLD_INTERVAL: Duration = Duration::from_millis(200);

/// A write, in two halves: what to do in the transaction, or what to make of there being
/// none, and what to say after it.
type QueuedWrite = Box<dyn FnOnce(Result<&Connection, StoreError>) -> WriteAcknowledgement + Send>;
type WriteAcknowledgement = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct BatchWriter {
    pub(super) shared: Arc<CommitQueue>,
    /// True if a commit waits for the disk or for another process, and so must not be done on a
    /// thread that others need.
    pub(super) waits: bool,
    /// Dropped with the writer, which ends the thread that folds.
    _alive: SyncSender<()>,
}

pub(super) struct CommitQueue {
    connection: Mutex<Connection>,
    list: Mutex<Vec<QueuedWrite>>,
    log_pages: Arc<AtomicI64>,
}

impl BatchWriter {
    pub(super) fn start(
        mut connection: Connection,
        path: &Path,
        durability: Durability,
    ) -> Result<Self, StoreError> {
        let log_pages = Arc::new(AtomicI64::new(0));
        let seen = log_pages.clone();
        connection
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
                seen.store(pages.into(), Ordering::Relaxed);
                Ok(())
            }))
            .map_err(|error| failed(&error))?;
        let shared = Arc::new(CommitQueue {
            connection: Mutex::new(connection),
            list: Mutex::default(),
            log_pages,
        });
        let (alive, over) = sync_channel(0);
        let (path, folded) = (path.to_owned(), shared.clone());
        std::thread::Builder::new()
            .name("store-fold".into())
            .spawn(move || fold_now_and_then(&path, &folded, &over))
            .map_err(|error| StoreError::Other(error.to_string()))?;
        Ok(Self { shared, waits: durability == Durability::Power, _alive: alive })
    }

    /// Writes, and waits until it is committed.
    pub(super) fn write<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        Box::pin(async move {
            let (acknowledge, acknowledged) = oneshot::channel();
            self.hand_in(Box::new(move |connection| {
                let result = connection
                    .and_then(|connection| statement(connection).map_err(|error| failed(&error)));
                Box::new(move |committed: Result<(), StoreError>| {
                    // Whoever asked may be gone.
                    let _ = acknowledge.send(result.and_then(|value| committed.map(|()| value)));
                })
            }));
            acknowledged.await.map_err(|_| StoreError::Closed)?
        })
    }

    /// Writes without anybody waiting for it.
    pub(super) fn write_later<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) {
        self.hand_in(Box::new(move |connection| {
            let result = connection
                .and_then(|connection| statement(connection).map_err(|error| failed(&error)));
            Box::new(move |committed: Result<(), StoreError>| {
                if let Err(error) = result.and(committed) {
                    tracing::error!(%error, "a write that nobody waits for failed");
                }
            })
        }));
    }

    fn hand_in(&self, write: QueuedWrite) {
        self.shared.list().push(write);
        if self.waits {
            let shared = self.shared.clone();
            elsewhere(move || shared.write_all());
        } else {
            self.shared.write_some();
        }
    }
}

impl CommitQueue {
    /// Writes what is on the list, and a little of what comes meanwhile; the rest is
    /// somebody else's.
    fn write_some(self: &Arc<Self>) {
        for _ in 0..MAX_TURNS {
            if !self.write_batch() {
                return;
            }
        }
        if !self.list().is_empty() {
            let shared = self.clone();
            elsewhere(move || shared.write_all());
        }
    }

    fn write_all(&self) {
        while self.write_batch() {}
    }

    /// Writes in a transaction of its own, on a thread that may wait for it.
    pub(super) fn transaction(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let result = connection
            .unchecked_transaction()
            .and_then(|transaction| work(&transaction).and_then(|()| transaction.commit()))
            .map_err(|error| failed(&error));
        drop(connection);
        // Whoever found the connection taken has left its write on the list.
        self.write_all();
        result
    }

    /// Writes one batch, if the connection is free; tells whether there may be more to do.
    fn write_batch(&self) -> bool {
        // Where it is not free, its holder looks at the list once more after giving it
        // back, so nothing stays on the list.
        let connection = match self.connection.try_lock() {
            Ok(connection) => connection,
            Err(std::sync::TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(std::sync::TryLockError::WouldBlock) => return false,
        };
        let batch: Vec<QueuedWrite> = {
            let mut list = self.list();
            let count = list.len().min(MAX_BATCH);
            list.drain(..count).collect()
        };
        if !batch.is_empty() {
            commit(&connection, batch);
        }
        drop(connection);
        !self.list().is_empty()
    }

    fn list(&self) -> MutexGuard<'_, Vec<QueuedWrite>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// On a thread that may wait for the disk.
fn elsewhere(work: impl FnOnce() + Send + 'static) {
    match tokio::runtime::Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn_blocking(work)),
        // The runtime is on its way down: whoever is here writes.
        Err(_) => work(),
    }
}

fn commit(connection: &Connection, batch: Vec<QueuedWrite>) {
    let begun =
        connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
    // A full disk ends the whole transaction by itself; what came after would be written
    // one by one, and then be reported as lost.
    let usable = || match &begun {
        Err(error) => Err(failed(error)),
        Ok(_) if connection.is_autocommit() => Err(StoreError::Full),
        Ok(_) => Ok(connection),
    };
    let acknowledgements: Vec<_> = batch.into_iter().map(|write| write(usable())).collect();
    let committed = usable().and_then(|_| {
        connection
            .prepare_cached("COMMIT")
            .and_then(|mut commit| commit.execute([]))
            .map_err(|error| failed(&error))
    });
    if let Err(error) = &committed {
        tracing::error!(%error, "a batch of writes could not be committed");
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
    }
    for acknowledge in acknowledgements {
        acknowledge(committed.as_ref().map(|_| ()).map_err(StoreError::clone));
    }
}

/// Folds the log into the file beside the writers, on a connection of its own, so that
/// no caller waits for the disk.
fn fold_now_and_then(path: &Path, shared: &CommitQueue, over: &Receiver<()>) {
    let Ok(connection) = Connection::open(path) else { return };
    let mut folded = 0;
    while over.recv_timeout(FOLD_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let pages = shared.log_pages.load(Ordering::Relaxed);
        if pages < folded {
            // The log has started over.
            folded = 0;
        }
        if pages - folded >= FOLD_AFTER_PAGES {
            folded = fold(&connection).max(folded);
        }
        if pages >= START_OVER_AFTER_PAGES {
            // It can only start over when nothing of it is left, so nobody may write
            // during the last, short part.
            let writing = shared.connection.lock().unwrap_or_else(PoisonError::into_inner);
            fold(&connection);
            drop(writing);
            // Whoever found the connection taken has left its write on the list.
            shared.write_all();
        }
    }
}

/// Folds what can be folded without making anybody wait; tells how many pages are.
fn fold(connection: &Connection) -> i64 {
    connection
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))
        .inspect_err(|error| {
            tracing::warn!(%error, "the log could not be folded into the database");
        })
        .unwrap_or(0)
}
