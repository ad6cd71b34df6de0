//! One thread that writes.
//!
//! Everything that waits is written in one transaction, and acknowledged when that is
//! committed: under load the cost of a commit is shared by all who wait for it.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use gate::{BoxFuture, StoreError};
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::failed;

/// How many writes may wait. Beyond that callers wait before they hand theirs in.
const MAX_WAITING: usize = 4_096;
/// How many writes share a transaction.
const MAX_BATCH: usize = 512;
/// The log is folded into the file beside the writer when it has grown by so many pages
/// (of 4 KiB), and by the writer itself when it has become so long: only then can it
/// start over, and most of the work is done by then.
const FOLD_AFTER_PAGES: i64 = 4_096;
const START_OVER_AFTER_PAGES: i64 = 16_384;
/// How often the length of the log is looked at.
const FOLD_INTERVAL: Duration = Duration::from_millis(200);

/// A write, in two halves: what to do in the transaction, and what to say after it.
type Write = Box<dyn FnOnce(&Connection) -> Acknowledge + Send>;
type Acknowledge = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

pub(super) struct Writer {
    queue: SyncSender<Write>,
}

impl Writer {
    pub(super) fn start(mut connection: Connection, path: &Path) -> Result<Self, StoreError> {
        let (queue, waiting) = sync_channel(MAX_WAITING);
        let log_pages = Arc::new(AtomicI64::new(0));
        let seen = log_pages.clone();
        connection
            .wal_hook(Some(move |_: &mut rusqlite::hooks::Wal, pages: i32| {
                seen.store(pages.into(), Ordering::Relaxed);
                Ok(())
            }))
            .map_err(|error| failed(&error))?;
        let pages = log_pages.clone();
        let (stop, stopped) = sync_channel::<()>(0);
        let other = |error: std::io::Error| StoreError::Other(error.to_string());
        std::thread::Builder::new()
            .name("store-writer".into())
            .spawn(move || {
                write_all(&connection, &waiting, &pages);
                drop(stop);
            })
            .map_err(other)?;
        let path = path.to_owned();
        std::thread::Builder::new()
            .name("store-checkpoint".into())
            .spawn(move || fold_now_and_then(&path, &log_pages, &stopped))
            .map_err(other)?;
        Ok(Self { queue })
    }

    /// Writes, and waits until it is committed.
    pub(super) fn write<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> BoxFuture<'_, Result<T, StoreError>> {
        let (acknowledge, acknowledged) = oneshot::channel();
        let write: Write = Box::new(move |connection| {
            let result = statement(connection).map_err(|error| failed(&error));
            Box::new(move |committed: Result<(), StoreError>| {
                // Whoever asked may be gone.
                let _ = acknowledge.send(result.and_then(|value| committed.map(|()| value)));
            })
        });
        Box::pin(async move {
            self.hand_in(write).await?;
            acknowledged.await.map_err(|_| StoreError::Closed)?
        })
    }

    /// Writes without anybody waiting for it.
    pub(super) fn write_later<T: Send + 'static>(
        &self,
        statement: impl FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    ) {
        let write: Write = Box::new(move |connection| {
            let result = statement(connection).map_err(|error| failed(&error));
            Box::new(move |committed: Result<(), StoreError>| {
                if let Err(error) = result.and(committed) {
                    tracing::error!(%error, "a write that nobody waits for failed");
                }
            })
        });
        if let Err(TrySendError::Full(write)) = self.queue.try_send(write) {
            let queue = self.queue.clone();
            // Rare, and there is nobody to slow down: let a thread wait for room.
            std::thread::spawn(move || queue.send(write));
        }
    }

    async fn hand_in(&self, write: Write) -> Result<(), StoreError> {
        let mut write = write;
        loop {
            match self.queue.try_send(write) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(_)) => return Err(StoreError::Closed),
                Err(TrySendError::Full(again)) => {
                    write = again;
                    tokio::time::sleep(Duration::from_millis(1)).await;
                }
            }
        }
    }
}

fn write_all(connection: &Connection, waiting: &Receiver<Write>, log_pages: &AtomicI64) {
    let mut batch = Vec::with_capacity(MAX_BATCH);
    while let Ok(first) = waiting.recv() {
        batch.push(first);
        batch.extend(waiting.try_iter().take(MAX_BATCH - 1));
        write_batch(connection, batch.drain(..));
        if log_pages.load(Ordering::Relaxed) >= START_OVER_AFTER_PAGES {
            fold(connection);
            // Until the next commit says otherwise.
            log_pages.store(0, Ordering::Relaxed);
        }
    }
}

fn write_batch(connection: &Connection, batch: impl Iterator<Item = Write>) {
    let begun =
        connection.prepare_cached("BEGIN IMMEDIATE").and_then(|mut begin| begin.execute([]));
    let acknowledgements: Vec<_> = batch.map(|write| write(connection)).collect();
    let committed = begun.and_then(|_| {
        if connection.is_autocommit() {
            // A full disk ends the whole transaction by itself.
            return Err(rusqlite::Error::SqliteFailure(
                rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_FULL),
                None,
            ));
        }
        connection.prepare_cached("COMMIT").and_then(|mut commit| commit.execute([]))
    });
    if let Err(error) = &committed {
        tracing::error!(%error, "a batch of writes could not be committed");
        if !connection.is_autocommit() {
            let _ = connection.execute_batch("ROLLBACK");
        }
    }
    for acknowledge in acknowledgements {
        acknowledge(committed.as_ref().map(|_| ()).map_err(failed));
    }
}

/// Folds the log into the file beside the writer, on a connection of its own, so that
/// no caller waits for the disk.
fn fold_now_and_then(path: &Path, log_pages: &AtomicI64, stopped: &Receiver<()>) {
    let Ok(connection) = Connection::open(path) else { return };
    let mut folded = 0;
    while stopped.recv_timeout(FOLD_INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let pages = log_pages.load(Ordering::Relaxed);
        if pages < folded {
            // The log has started over.
            folded = 0;
        }
        if pages - folded >= FOLD_AFTER_PAGES {
            folded = fold(&connection).max(folded);
        }
    }
}

/// Folds what can be folded without making anybody wait; tells how many pages are.
fn fold(connection: &Connection) -> i64 {
    connection
        .query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |row| row.get(2))
        .inspect_err(
            |error| tracing::warn!(%error, "the log could not be folded into the database"),
        )
        .unwrap_or(0)
}
