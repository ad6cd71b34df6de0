//! Jobs on their way into the database survive the process that put them there.

use std::path::Path;

use gate::{JobFilter, JobState, Store};
use store::{DataFolder, Durability, Sqlite};

use crate::{direct, job, spooled};

/// The folder as a process leaves it that is killed: what it had written, nothing more.
fn as_left(folder: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    std::fs::create_dir(copy.path().join("spool")).unwrap();
    // The spool first: what is taken in meanwhile is then in both, never in neither.
    for part in ["spool", ""] {
        for entry in std::fs::read_dir(folder.join(part)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                // A file may be taken in, and gone, while we look.
                let _ = std::fs::copy(entry.path(), copy.path().join(part).join(entry.file_name()));
            }
        }
    }
    copy
}

async fn count(store: &Sqlite) -> usize {
    store.jobs(JobFilter { limit: 10_000, ..JobFilter::default() }).await.unwrap().len()
}

#[tokio::test]
async fn what_a_killed_process_left_is_taken_in() {
    let folder = tempfile::tempdir().unwrap();
    let store = spooled(folder.path());
    let mut saved = job(1_000, JobState::Succeeded);
    saved.summary = Some("kept".into());
    store.record(saved.clone()).await.unwrap();
    let left = as_left(folder.path());
    let again = spooled(left.path());
    let found = again.job(&saved.id).await.unwrap().unwrap();
    assert_eq!(found.summary.as_deref(), Some("kept"));
    assert_eq!(count(&again).await, 1);
}

#[tokio::test]
async fn a_line_that_was_cut_short_costs_only_itself() {
    let folder = tempfile::tempdir().unwrap();
    drop(spooled(folder.path()));
    let spool = folder.path().join("spool");
    let whole = job(1_000, JobState::Failed);
    {
        let store = spooled(folder.path());
        store.record(whole.clone()).await.unwrap();
        let left = as_left(folder.path());
        for entry in std::fs::read_dir(left.path().join("spool")).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            let half = &text[..text.len() / 2];
            std::fs::write(
                spool.join("99999999999999999999.jsonl"),
                format!("{half}\n{text}{half}"),
            )
            .unwrap();
        }
    }
    let store = spooled(folder.path());
    assert!(store.job(&whole.id).await.unwrap().is_some());
    assert_eq!(count(&store).await, 1);
}

#[tokio::test]
async fn everything_is_in_the_database_when_the_server_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let store = spooled(folder.path());
    for at in 0..3_000 {
        store.record(job(1_000 + at, JobState::Succeeded)).await.unwrap();
    }
    drop(store);
    assert_eq!(count(&direct(folder.path())).await, 3_000);
    let files = std::fs::read_dir(folder.path().join("spool")).unwrap();
    let bytes: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert_eq!(bytes, 0);
}

#[tokio::test]
async fn where_power_may_fail_nothing_waits_in_a_spool() {
    let folder = tempfile::tempdir().unwrap();
    {
        let store = spooled(folder.path());
        store.record(job(1_000, JobState::Succeeded)).await.unwrap();
    }
    let lock = DataFolder::open(folder.path()).unwrap().lock().unwrap();
    let path = folder.path().join("toolgate.db");
    let store = Sqlite::open(&path, Durability::Power).unwrap();
    let store = store.with_spool(&folder.path().join("spool"), &lock).unwrap();
    store.record(job(2_000, JobState::Succeeded)).await.unwrap();
    assert_eq!(count(&direct(folder.path())).await, 2);
}
