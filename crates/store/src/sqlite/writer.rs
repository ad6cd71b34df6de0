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
        atomic::{AtomicBool, AtomicI64, Ordering},
        mpsc::{SyncSender, sync_channel},
    },
    thread::JoinHandle,
};

use gate::{BoxFuture, StoreError};
use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::{Durability, failed, fold};

/// The number of writes that share a transaction.
const MAX_BATCH: usize = 256;
/// The number of transactions that a caller writes for others after its own.
const MAX_TURNS: usize = 2;

/// A write, in two halves: what to do in the transaction, or what to make of there being
/// none, and what to say after it.
type QueuedWrite = Box<dyn FnOnce(Result<&Connection, StoreError>) -> WriteAcknowledgement + Send>;
type WriteAcknowledgement = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct BatchWriter {
    pub(super) shared: Arc<CommitQueue>,
    /// True if a commit waits for the disk or for another process, and so must not be done on a
    /// thread that others need.
    pub(super) waits: bool,
    /// The thread that folds, and what ends it when it is dropped.
    folding: Option<(SyncSender<()>, JoinHandle<()>)>,
}

impl Drop for BatchWriter {
    fn drop(&mut self) {
        if let Some((alive, thread)) = self.folding.take() {
            drop(alive);
            let _ = thread.join();
        }
    }
}

pub(super) struct CommitQueue {
    connection: Mutex<Connection>,
    list: Mutex<Vec<QueuedWrite>>,
    pub(super) log_pages: Arc<AtomicI64>,
    /// There may be pages to give back.
    pub(super) rows_removed: AtomicBool,
    /// No other process keeps the database, so that it is left without a log.
    pub(super) is_alone: AtomicBool,
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
            rows_removed: AtomicBool::new(false),
            is_alone: AtomicBool::new(false),
        });
        let (alive, over) = sync_channel(0);
        let (path, folded) = (path.to_owned(), shared.clone());
        let thread = std::thread::Builder::new()
            .name("store-fold".into())
            .spawn(move || fold::fold_now_and_then(&path, &folded, &over))
            .map_err(|error| StoreError::Other(error.to_string()))?;
        let folding = Some((alive, thread));
        Ok(Self { shared, waits: durability == Durability::Power, folding })
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

    pub(super) fn write_all(&self) {
        while self.write_batch() {}
    }

    /// Writes in a transaction of its own, on a thread that may wait for it.
    pub(super) fn transaction(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
    ) -> Result<(), StoreError> {
        let connection = self.held();
        let result = Transaction::new_unchecked(&connection, TransactionBehavior::Immediate)
            .and_then(|transaction| work(&transaction).and_then(|()| transaction.commit()))
            .map_err(|error| failed(&error));
        drop(connection);
        // Whoever found the connection taken has left its write on the list.
        self.write_all();
        result
    }

    /// The connection, once it is free. `write_all` has to be called after giving it back.
    pub(super) fn held(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
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
