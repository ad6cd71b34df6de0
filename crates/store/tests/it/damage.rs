//! Databases that are damaged, come from the future, or are somebody else's.

use std::{path::Path, time::Duration};

use gate::{Store, StoreError};
use rusqlite::Connection;
use store::{Durability, Sqlite};

use crate::{direct, spooled};

/// A connection to a database that nobody else uses, whose pages are all in its file.
fn connection(database: &Path) -> Connection {
    let connection = Connection::open(database).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    connection
}

#[tokio::test]
async fn a_damaged_page_is_noticed_before_anybody_asks_for_it() {
    const PAGE: usize = 4_096;
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("toolgate.db");
    drop(direct(folder.path()));
    let root: usize = connection(&database)
        .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'quarantine'", [], |row| {
            row.get::<_, u32>(0)
        })
        .unwrap() as usize;
    let mut bytes = std::fs::read(&database).unwrap();
    bytes[(root - 1) * PAGE..root * PAGE].fill(0xff);
    std::fs::write(&database, bytes).unwrap();

    let store = spooled(folder.path());
    let noticed = async {
        while !matches!(store.check().await, Err(StoreError::Damaged)) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), noticed).await.unwrap();
}

#[test]
fn a_database_of_a_newer_version_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let database = folder.path().join("toolgate.db");
    drop(direct(folder.path()));
    connection(&database).pragma_update(None, "user_version", 99).unwrap();
    let error = Sqlite::open(&database, Durability::Process).err().unwrap();
    assert!(matches!(error, StoreError::Newer), "{error}");
}

#[test]
fn a_database_of_somebody_else_is_not_taken() {
    for statements in [
        "CREATE TABLE notes (text TEXT)",
        "CREATE TABLE jobs (id TEXT); CREATE TABLE health (x); PRAGMA user_version = 3",
        "PRAGMA application_id = 5",
        "PRAGMA user_version = 3",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("toolgate.db");
        Connection::open(&database).unwrap().execute_batch(statements).unwrap();
        let before = std::fs::read(&database).unwrap();
        let error = Sqlite::open(&database, Durability::Process).err().unwrap();
        assert!(matches!(error, StoreError::NotOurs), "{statements}: {error}");
        assert!(std::fs::read(&database).unwrap() == before, "{statements}");
    }
}

#[test]
fn a_database_without_one_of_its_tables_is_damaged() {
    for table in ["jobs", "idempotency_keys", "approvals", "quarantine", "health"] {
        let folder = tempfile::tempdir().unwrap();
        let database = folder.path().join("toolgate.db");
        drop(direct(folder.path()));
        connection(&database).execute_batch(&format!("DROP TABLE {table}")).unwrap();
        let error = Sqlite::open(&database, Durability::Process).err().unwrap();
        assert!(matches!(error, StoreError::Damaged), "{table}: {error}");
    }
}

#[test]
fn only_a_regular_file_is_taken_for_a_database() {
    let folder = tempfile::tempdir().unwrap();
    let (database, moved) = (folder.path().join("toolgate.db"), folder.path().join("moved.db"));
    drop(direct(folder.path()));
    std::fs::rename(&database, &moved).unwrap();
    let check = || {
        let error = Sqlite::open(&database, Durability::Process).err().unwrap();
        assert!(matches!(error, StoreError::NotRegular), "{error}");
    };
    std::os::unix::fs::symlink(&moved, &database).unwrap();
    check();
    std::fs::remove_file(&database).unwrap();
    std::fs::create_dir(&database).unwrap();
    check();
}
