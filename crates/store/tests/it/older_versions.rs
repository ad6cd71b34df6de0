//! Databases of older versions.

use gate::{
    Store, Timestamp,
    quarantine::{QuarantineState, ReleaseDecision, ReleaseError, ReleaseResult, RepeatedCall},
};

use crate::direct;

#[tokio::test]
async fn entries_of_an_older_version_are_read_and_not_released() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolgate.db");
    // The table as the third step of the schema left it.
    drop(direct(folder.path()));
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "ALTER TABLE jobs DROP COLUMN input_sha256;
             DROP TABLE quarantine;
             CREATE TABLE quarantine (
                 id TEXT NOT NULL PRIMARY KEY, tool TEXT NOT NULL, request_id TEXT NOT NULL,
                 job TEXT, created_at INTEGER NOT NULL, reason TEXT NOT NULL,
                 violations TEXT NOT NULL, payload TEXT NOT NULL
             ) STRICT;
             INSERT INTO quarantine VALUES
                 ('q_1', 'a', 'r', NULL, 5, 'wrong', '[]', '{\"a\":1}'),
                 ('q_2', 'a', 'r', NULL, 6, 'wrong', '[]', '\"{ [9 more bytes were not kept]\"');
             PRAGMA user_version = 3;",
        )
        .unwrap();
    drop(database);
    let (store, now) = (direct(folder.path()), Timestamp(7));
    let one = store.quarantined("q_1", now).await.unwrap().unwrap();
    assert_eq!((one.payload.get(), one.summary.state), ("{\"a\":1}", QuarantineState::Held));
    assert_eq!((one.summary.whole, &*one.summary.caller), (true, ""));
    for (id, expected) in [("q_1", ReleaseError::NobodysCall), ("q_2", ReleaseError::Cut)] {
        let decision = ReleaseDecision { by: "operator".into(), reason: None };
        let release = store.release_quarantined(id, decision, now, Timestamp(99)).await.unwrap();
        let ReleaseResult::Refused(_, why) = release else { panic!("{id} was released") };
        assert_eq!(why, expected);
    }
    let nobody =
        RepeatedCall { caller: String::new(), tool: "a".into(), input_sha256: String::new() };
    assert!(store.take_released(nobody, now).await.unwrap().is_none());
}

#[test]
fn a_database_from_before_the_mark_gets_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolgate.db");
    let mark = |path| -> i64 {
        let database = rusqlite::Connection::open(path).unwrap();
        database.query_row("PRAGMA application_id", [], |row| row.get(0)).unwrap()
    };
    drop(direct(folder.path()));
    let ours = mark(&path);
    assert_eq!(ours.to_be_bytes()[4..], *b"Tgat");
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "ALTER TABLE jobs DROP COLUMN input_sha256;
             PRAGMA application_id = 0; PRAGMA user_version = 6",
        )
        .unwrap();
    drop(database);
    drop(direct(folder.path()));
    assert_eq!(mark(&path), ours);
}
