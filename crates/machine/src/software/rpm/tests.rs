//! Databases that SQLite itself wrote, whole and damaged.

use std::{fs, path::Path};

use proptest::prelude::*;
use rusqlite::Connection;

use super::*;
use crate::Selection;

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
    let selection = Selection::all();
    let mut collector = Collector::new(&selection, Vec::new());
    let state = read(&Places::under(root), &mut collector);
    let counts = collector.counts();
    (state, collector.finish(), counts)
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
    let books = folder.path().join("var/lib/rpm");
    fs::create_dir_all(&books).unwrap();
    fs::write(books.join("Packages"), "Berkeley").unwrap();
    assert_eq!(read_all(folder.path()).0, Some(SourceState::NotSupported));
    for broken in ["", "SQLite format 3\0", &"x".repeat(5_000)] {
        fs::write(books.join("rpmdb.sqlite"), broken).unwrap();
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn damage_is_survived(
        damage in proptest::collection::vec((0_usize..40_000, any::<u8>()), 1..40),
        cut in proptest::option::of(0_usize..40_000),
    ) {
        use std::sync::OnceLock;
        static WHOLE: OnceLock<Vec<u8>> = OnceLock::new();
        let whole = WHOLE.get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let padded = |number: usize| header(&format!("p{number}"), "1", None, number * 50);
            database(folder.path(), &(0..30).map(padded).collect::<Vec<_>>(), 1_024);
            fs::read(folder.path().join("var/lib/rpm/rpmdb.sqlite")).unwrap()
        });
        let mut bytes = whole.clone();
        for (at, byte) in damage {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        bytes.truncate(cut.unwrap_or(usize::MAX));
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("var/lib/rpm")).unwrap();
        fs::write(folder.path().join("var/lib/rpm/rpmdb.sqlite"), bytes).unwrap();
        read_all(folder.path());
    }

    #[test]
    fn any_header_is_read(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let selection = Selection::all();
        package(&bytes, &mut Collector::new(&selection, Vec::new()));
    }
}
