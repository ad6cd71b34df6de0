//! Databases that SQLite itself wrote, whole and damaged.

use std::{fs, path::Path};

use rusqlite::Connection;

use super::*;
use crate::software::collect::collect_all;

/// A header with the tags that every package has, and files to make it large.
fn header(name: &str, version: &str, epoch: Option<u32>, padding: usize) -> Vec<u8> {
    let mut store = Vec::new();
    let mut index = Vec::new();
    let mut tag = |tag: u32, kind: u32, bytes: &[u8]| {
        while kind == 4 && store.len() % 4 != 0 {
            store.push(0);
        }
        for part in [tag, kind, u32::try_from(store.len()).unwrap(), 1] {
            index.extend(part.to_be_bytes());
        }
        store.extend(bytes);
    };
    tag(NAME, 6, format!("{name}\0").as_bytes());
    tag(VERSION, 6, format!("{version}\0").as_bytes());
    tag(RELEASE, 6, b"2.el9\0");
    if let Some(epoch) = epoch {
        tag(EPOCH, 4, &epoch.to_be_bytes());
    }
    tag(1_117, 8, &vec![b'x'; padding]);
    let counts = [index.len() / 16, store.len()].map(|count| u32::try_from(count).unwrap());
    [&counts[0].to_be_bytes()[..], &counts[1].to_be_bytes(), &index, &store].concat()
}

/// A database as rpm makes it.
fn database(root: &Path, headers: &[Vec<u8>], page_bytes: u32) {
    let folder = root.join("var/lib/rpm");
    fs::create_dir_all(&folder).unwrap();
    let database = Connection::open(folder.join("rpmdb.sqlite")).unwrap();
    database.pragma_update(None, "page_size", page_bytes).unwrap();
    database
        .execute_batch(
            "PRAGMA journal_mode = WAL;
             CREATE TABLE 'Packages' (hnum INTEGER PRIMARY KEY AUTOINCREMENT, blob BLOB NOT NULL);
             CREATE TABLE 'Name' (key 'TEXT' NOT NULL, hnum INTEGER NOT NULL, idx INTEGER NOT NULL);
             CREATE INDEX 'Name_key_idx' ON 'Name'(key ASC);
             BEGIN;",
        )
        .unwrap();
    for header in headers {
        database.execute("INSERT INTO Packages (blob) VALUES (?1)", [header]).unwrap();
    }
    database.execute_batch("COMMIT").unwrap();
    database.close().unwrap();
}

fn read_all(root: &Path) -> (Option<SourceState>, Vec<String>, (usize, usize)) {
    let mut state = None;
    let (packages, counts) =
        collect_all(|collector| state = read(&MachineEnvironment::under(root), collector));
    (state, packages, counts)
}

#[test]
fn every_package_is_listed() {
    for page_bytes in [512, 4_096, 65_536] {
        let folder = tempfile::tempdir().unwrap();
        let mut headers = vec![
            header("bash", "5.1.8", None, 10),
            header("dbus", "1.12", Some(1), 100_000),
            header("odd", "", None, 0),
            b"\x00\x00\xff".to_vec(),
        ];
        let padded = |number: usize| header(&format!("p{number}"), "1", None, number * 37);
        headers.extend((0..400).map(padded));
        database(folder.path(), &headers, page_bytes);
        let (state, packages, counts) = read_all(folder.path());
        assert_eq!(state, Some(SourceState::Read), "{page_bytes}");
        assert_eq!(packages.len(), 403);
        assert_eq!(packages[0], "bash==5.1.8-2.el9");
        assert_eq!(packages[1], "dbus==1:1.12-2.el9");
        assert!(packages.contains(&"p399==1-2.el9".to_owned()));
        assert_eq!(counts, (403, 1));
    }
}

#[test]
fn other_databases_are_named() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(read_all(folder.path()).0, None);
    let rpm = folder.path().join("var/lib/rpm");
    fs::create_dir_all(&rpm).unwrap();
    fs::write(rpm.join("Packages"), "Berkeley").unwrap();
    assert_eq!(read_all(folder.path()).0, Some(SourceState::NotSupported));
    for broken in ["", "SQLite format 3\0", &"x".repeat(5_000)] {
        fs::write(rpm.join("rpmdb.sqlite"), broken).unwrap();
        assert_eq!(read_all(folder.path()).0, Some(SourceState::Unreadable));
    }
}

#[test]
fn a_page_that_leads_to_itself_has_an_end() {
    let folder = tempfile::tempdir().unwrap();
    database(folder.path(), &[header("bash", "1", None, 0)], 4_096);
    let path = folder.path().join("var/lib/rpm/rpmdb.sqlite");
    let mut bytes = fs::read(&path).unwrap();
    // The root of the packages becomes an inner page with itself to the right, and many cells.
    let root = 4_096;
    bytes[root] = 0x05;
    bytes[root + 3..root + 5].copy_from_slice(&[0x03, 0x00]);
    bytes[root + 8..root + 12].copy_from_slice(&2_u32.to_be_bytes());
    for byte in (root + 12..root + 4_096).step_by(4) {
        bytes[byte..byte + 4].copy_from_slice(&[0, 0, 0, 2]);
    }
    fs::write(&path, bytes).unwrap();
    let (state, packages, _) = read_all(folder.path());
    assert_eq!((state, packages), (Some(SourceState::Unreadable), Vec::new()));
}

#[test]
fn a_hostile_schema_has_an_end() {
    for schema in [
        // For ever, row by row and before the first row.
        "CREATE VIEW Packages AS WITH RECURSIVE n(rowid, blob) AS
         (SELECT 1, x'00' UNION ALL SELECT rowid + 1, blob FROM n) SELECT rowid, blob FROM n",
        "CREATE VIEW Packages AS WITH RECURSIVE n(rowid, blob) AS
         (SELECT 1, x'00' UNION ALL SELECT rowid + 1, blob FROM n) SELECT max(rowid) AS rowid FROM n",
        "CREATE VIEW Packages AS SELECT length(zeroblob(900000000)) AS rowid, x'00' AS blob",
        "CREATE TABLE Packages (name TEXT PRIMARY KEY, blob BLOB) WITHOUT ROWID",
        "CREATE TABLE Packages (blob INTEGER); INSERT INTO Packages VALUES (7)",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let rpm = folder.path().join("var/lib/rpm");
        fs::create_dir_all(&rpm).unwrap();
        let database = Connection::open(rpm.join("rpmdb.sqlite")).unwrap();
        database.execute_batch(schema).unwrap();
        database.close().unwrap();
        let (state, packages, _) = read_all(folder.path());
        assert_eq!((state, packages), (Some(SourceState::Unreadable), Vec::new()), "{schema}");
    }
}

#[test]
fn the_path_may_have_any_characters_and_nothing_is_written_beside_the_database() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("a?b#c%20d\u{fc} e");
    database(&root, &[header("bash", "1", None, 0)], 4_096);
    let names = || read::names(&root.join("var/lib/rpm")).unwrap();
    let before = names();
    assert_eq!(read_all(&root).1, ["bash==1-2.el9"]);
    assert_eq!(names(), before);
}

#[test]
fn a_broken_header_is_no_package() {
    let whole = header("bash", "1", Some(2), 0);
    let parsed = |bytes: &[u8]| collect_all(|collector| package(bytes, collector)).1;
    assert_eq!(parsed(&whole), (1, 0));
    for end in 0..whole.len() {
        // The data of the last tags may be cut without harm to the name and the version.
        let (taken, skipped) = parsed(&whole[..end]);
        assert_eq!(taken + skipped, 1, "{end}");
    }
    for at in 0..whole.len().min(100) {
        let mut broken = whole.clone();
        broken[at] ^= 0xff;
        let (taken, skipped) = parsed(&broken);
        assert_eq!(taken + skipped, 1, "{at}");
    }
}
