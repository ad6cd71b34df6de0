//! What lies on the disk: the file of the database, and the log beside it.

use std::{path::Path, time::Duration};

use gate::{Job, JobFilter, JobState, Store};
use serde_json::value::to_raw_value;

use crate::{direct, job, spooled};

/// A job whose record has about so many bytes.
fn large(at: i64, bytes: usize) -> Job {
    Job { result: Some(to_raw_value(&"x".repeat(bytes)).unwrap()), ..job(at, JobState::Succeeded) }
}

fn bytes(folder: &Path, name: &str) -> u64 {
    std::fs::metadata(folder.join(name)).map_or(0, |found| found.len())
}

async fn count(folder: &Path) -> usize {
    direct(folder).jobs(JobFilter { limit: 1_000, ..JobFilter::default() }).await.unwrap().len()
}

/// The folder as somebody backs it up who takes the database alone.
fn copy_of_the_database(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::copy(folder.join("toolgate.db"), copy.path().join("toolgate.db")).unwrap();
    copy
}

#[tokio::test]
async fn after_a_stop_the_file_alone_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    // Somebody else has the database open, so that closing it is not the last close.
    let store = spooled(folder.path());
    let other = rusqlite::Connection::open(folder.path().join("toolgate.db")).unwrap();
    for at in 0..100 {
        store.record(job(at, JobState::Succeeded)).await.unwrap();
    }
    let of_other = || other.query_row("SELECT count(*) FROM jobs", [], |row| row.get::<_, i64>(0));
    of_other().unwrap();
    drop(store);
    assert_eq!(bytes(folder.path(), "toolgate.db-wal"), 0);
    assert_eq!(count(copy_of_the_database(folder.path()).path()).await, 100);
    assert_eq!(of_other().unwrap(), 100);
}

#[tokio::test]
async fn after_a_start_the_file_alone_has_what_a_crash_left() {
    let folder = tempfile::tempdir().unwrap();
    let store = spooled(folder.path());
    store.save(job(1, JobState::Succeeded)).await.unwrap();
    assert!(bytes(folder.path(), "toolgate.db-wal") > 0);
    // As a killed process leaves it.
    let left = tempfile::tempdir().unwrap();
    // The log first: what is folded meanwhile is then in both, never in neither.
    for name in ["toolgate.db-wal", "toolgate.db", "spool/00000000000000000001.jsonl"] {
        let target = left.path().join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        std::fs::copy(folder.path().join(name), target).unwrap();
    }
    let _running = spooled(left.path());
    assert_eq!(bytes(left.path(), "toolgate.db-wal"), 0);
    assert_eq!(count(copy_of_the_database(left.path()).path()).await, 1);
}

#[tokio::test]
async fn the_file_and_its_log_shrink_when_records_go() {
    const BYTES: usize = 100_000;
    const JOBS: i64 = 800;
    let folder = tempfile::tempdir().unwrap();
    let store = spooled(folder.path());
    let mut ids = Vec::new();
    for at in 0..JOBS {
        let job = large(at, BYTES);
        ids.push(job.id.clone());
        store.save(job).await.unwrap();
    }
    let until = async |what: &str, is_so: &dyn Fn() -> bool| {
        let waiting = async {
            while !is_so() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_mins(1), waiting).await;
        assert!(waited.is_ok(), "{what}: {} bytes", bytes(folder.path(), "toolgate.db"));
    };
    let kept = 20;
    until("the log is cut off", &|| bytes(folder.path(), "toolgate.db-wal") < 64 << 20).await;
    store.forget_jobs(ids.split_off(kept)).await.unwrap();
    until("pages are given back", &|| {
        let all = rusqlite::Connection::open(folder.path().join("toolgate.db")).unwrap();
        let pages: i64 = all.query_row("PRAGMA page_count", [], |row| row.get(0)).unwrap();
        pages * 4_096 < 8 << 20
    })
    .await;
    until("a log that is done is cut off", &|| bytes(folder.path(), "toolgate.db-wal") == 0).await;
    drop(store);
    assert!(bytes(folder.path(), "toolgate.db") < 8 << 20);
    assert_eq!(count(folder.path()).await, kept);
}
