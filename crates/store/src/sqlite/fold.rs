//! What is done beside the writers: the log is folded into the file, and the file gives back the pages that nothing is on any
//! more.

use std::{
    path::Path,
    sync::{
        atomic::Ordering,
        mpsc::{Receiver, RecvTimeoutError},
    },
    time::Duration,
};

use rusqlite::Connection;

use super::{schema::number, writer::CommitQueue};

/// The log is folded into the file when it has grown by so many pages (of 4 KiB), and
/// cut off when it has become so long.
const FOLD_AFTER_PAGES: i64 = 4_096;
const START_OVER_AFTER_PAGES: i64 = 16_384;
/// A log that nobody has written to for so many intervals is cut off, too.
const QUIET_INTERVALS: u32 = 10;
/// The interval at which the length of the log is looked at.
const INTERVAL: Duration = Duration::from_millis(200);
/// The time that a stop waits for other processes to end what they read.
const LAST_WAIT: Duration = Duration::from_secs(1);

/// The file keeps empty pages, for what comes next: this part of those in use, but not fewer than so many.
const KEPT_PART: i64 = 8;
const MIN_KEPT_PAGES: i64 = 256;
/// The number of pages that are given back in one transaction, and of transactions in one interval.
const STEP_PAGES: i64 = 64;
const MAX_STEPS: usize = 64;

/// Does all of it now and then, on a connection of its own, so that no caller waits for the disk.
pub(super) fn fold_now_and_then(path: &Path, shared: &CommitQueue, over: &Receiver<()>) {
    let Ok(connection) = Connection::open(path) else { return };
    // While the writer is held for it, nothing waits for a reader.
    if connection.busy_timeout(Duration::ZERO).is_err() {
        return;
    }
    let (mut folded, mut seen, mut quiet) = (0, 0, 0);
    while over.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let pages = shared.log_pages.load(Ordering::Relaxed);
        if pages < folded {
            // The log has started over.
            folded = 0;
        }
        if pages - folded >= FOLD_AFTER_PAGES {
            folded = fold(&connection).max(folded);
        }
        quiet = if pages > 0 && pages == seen { quiet + 1 } else { 0 };
        seen = pages;
        let is_alone = shared.is_alone.load(Ordering::Relaxed);
        if pages >= START_OVER_AFTER_PAGES || (is_alone && quiet == QUIET_INTERVALS) {
            quiet = 0;
            start_over(&connection, shared);
        }
        if shared.rows_removed.swap(false, Ordering::Relaxed) && has_more_to_give_back(shared) {
            shared.rows_removed.store(true, Ordering::Relaxed);
        }
    }
    if shared.is_alone.load(Ordering::Relaxed) {
        // Whoever copies the file after a stop has everything.
        let _ = connection.busy_timeout(LAST_WAIT);
        start_over(&connection, shared);
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

/// Folds all of the log and cuts it off. False: somebody still reads what is in it.
pub(super) fn fold_all(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy == 0)
}

/// The log can only be cut off when nothing of it is left, so nobody may write during the last, short part.
fn start_over(connection: &Connection, shared: &CommitQueue) {
    fold(connection);
    let writing = shared.held();
    if shared.is_alone.load(Ordering::Relaxed) {
        cut_off(connection, shared);
    } else {
        // To cut it off would keep a server from writing.
        fold(connection);
    }
    drop(writing);
    // Whoever found the connection taken has left its write on the list.
    shared.write_all();
}

/// Folds all of the log and cuts it off, if nobody reads what is in it.
pub(super) fn cut_off(connection: &Connection, shared: &CommitQueue) {
    match fold_all(connection) {
        Ok(true) => shared.log_pages.store(0, Ordering::Relaxed),
        // It is tried again.
        Ok(false) => {}
        Err(error) => tracing::warn!(%error, "the log could not be folded into the database"),
    }
}

/// Gives back pages for a while. Whoever wants to write gets in between two steps.
fn has_more_to_give_back(shared: &CommitQueue) -> bool {
    for _ in 0..MAX_STEPS {
        let mut has_more = false;
        let step = shared.transaction(|connection| {
            has_more = give_back(connection)?;
            Ok(())
        });
        if let Err(error) = step {
            tracing::warn!(%error, "the database could not be made smaller");
            return false;
        }
        if !has_more {
            return false;
        }
    }
    true
}

/// Gives back some pages at the end of the file; tells whether there are more.
fn give_back(connection: &Connection) -> rusqlite::Result<bool> {
    let (all, free) = (number(connection, "page_count")?, number(connection, "freelist_count")?);
    let surplus = free - ((all - free) / KEPT_PART).max(MIN_KEPT_PAGES);
    // A database of an older version only uses them again.
    if surplus <= 0 || number(connection, "auto_vacuum")? == 0 {
        return Ok(false);
    }
    let pages = surplus.min(STEP_PAGES);
    let mut vacuum = connection.prepare(&format!("PRAGMA incremental_vacuum({pages})"))?;
    // Each row is a page.
    let mut rows = vacuum.query([])?;
    while rows.next()?.is_some() {}
    Ok(surplus > pages)
}
