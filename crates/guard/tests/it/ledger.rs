//! A file that only grows.

mod crash;
mod file_types;
mod hourly_limit;
mod processes;

use std::{path::Path, sync::Arc, time::Duration};

use guard::files::{Ledger, LedgerError};
use tokio_util::sync::CancellationToken;

const FILE: &str = "log.jsonl";

/// The log of these tests in a folder.
fn ledger(folder: &Path) -> Ledger {
    Ledger::new(folder.to_owned(), FILE).unwrap()
}

fn read(folder: &Path) -> String {
    String::from_utf8(std::fs::read(folder.join(FILE)).unwrap()).unwrap()
}

/// A log that already holds this, and a folder that keeps it.
fn with(bytes: impl AsRef<[u8]>) -> (tempfile::TempDir, Ledger) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(FILE), bytes).unwrap();
    let log = ledger(folder.path());
    (folder, log)
}

fn append(log: &Ledger, line: &str) -> Result<u64, LedgerError> {
    log.append(line, &CancellationToken::new())
}

fn appends(log: &Ledger, line: &str) -> u64 {
    append(log, line).unwrap()
}

#[test]
fn the_file_and_its_folders_are_made_when_first_written() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("a/b/c");
    let log = ledger(&folder);
    assert_eq!(log.next_line().unwrap(), 1);
    assert!(!outside.path().join("a").exists(), "looking makes nothing");
    assert_eq!(appends(&log, "one"), 1);
    assert_eq!(log.next_line().unwrap(), 2);
    assert_eq!(appends(&log, ""), 2);
    assert_eq!(appends(&log, "drei ü"), 3);
    assert_eq!(read(&folder), "one\n\ndrei ü\n");
}

/// Who may change a folder above it decides nothing about where entries go.
#[test]
fn another_folder_in_its_place_gets_no_entry() {
    let outside = tempfile::tempdir().unwrap();
    let at = |name: &str| outside.path().join(name);
    for (existing, folder) in [(true, "a/log"), (false, "b/log")] {
        std::fs::create_dir_all(at("secret")).unwrap();
        std::fs::create_dir_all(at(if existing { folder } else { "b" })).unwrap();
        let log = ledger(&at(folder));
        if existing {
            std::fs::rename(at(folder), at("moved")).unwrap();
        }
        std::os::unix::fs::symlink(at("secret"), at(folder)).unwrap();
        let errors = [append(&log, "x").unwrap_err(), log.next_line().unwrap_err()];
        for error in errors {
            assert!(error.to_string().contains("replaced since the server started"), "{error}");
        }
        assert_eq!(std::fs::read_dir(at("secret")).unwrap().count(), 0);
        std::fs::remove_file(at(folder)).unwrap();
        assert_eq!(appends(&log, "one"), 1);
        assert_eq!(read(&at(folder)), "one\n");
    }
}

#[test]
fn what_was_there_stays_and_lines_are_counted_right() {
    let many = "long\n".repeat(100_000);
    for (before, number, between) in [
        (&b""[..], 1, ""),
        (b"\n", 2, ""),
        (b"a\n", 2, ""),
        (b"a\nb\n", 3, ""),
        (b"a", 2, "\n"),
        (b"a\nb", 3, "\n"),
        (b"{\"torn\":", 2, "\n"),
        (b"a\r\nb\r\n", 3, ""),
        (b"a\r\nb", 3, "\n"),
        (b"a\r", 2, "\n"),
        (b"a\n\n\n", 4, ""),
        ("\u{2028}\n".as_bytes(), 2, ""),
        (b"\xff\xfe\0\n\x80", 3, "\n"),
        (many.as_bytes(), 100_001, ""),
    ] {
        let start = String::from_utf8_lossy(&before[..before.len().min(20)]);
        let (folder, log) = with(before);
        assert_eq!(log.next_line().unwrap(), number, "{start:?}");
        assert_eq!(appends(&log, "entry"), number, "{start:?}");
        assert_eq!(appends(&log, "next"), number + 1, "{start:?}");
        let after = std::fs::read(folder.path().join(FILE)).unwrap();
        let expected = [before, format!("{between}entry\nnext\n").as_bytes()].concat();
        assert!(after == expected, "{start:?}");
    }
}

#[test]
fn an_entry_is_one_line() {
    let (folder, log) = with("");
    for line in ["a\nb", "a\n", "\n", "a\rb"] {
        let refused = append(&log, line).unwrap_err();
        assert!(matches!(refused, LedgerError::NotOneLine), "{refused}");
    }
    assert_eq!(read(folder.path()), "");
    assert!(Ledger::new(folder.path().to_owned(), "../log").is_err());
}

#[test]
fn other_programs_may_append_cut_and_exchange_the_file() {
    let (folder, log) = with("1\n2\n");
    let path = folder.path().join(FILE);
    assert_eq!(appends(&log, "3"), 3);
    for (text, number) in [("1\n2\n3\n4\n5\n", 6), ("1\n2\n3\n4\n5\n6\n7", 8), ("1\n", 2)] {
        std::fs::write(&path, text).unwrap();
        assert_eq!(appends(&log, "x"), number, "{text:?}");
        std::fs::write(folder.path().join("new"), text).unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        assert_eq!(appends(&log, "x"), number, "{text:?} in a new file");
    }
    std::fs::remove_file(&path).unwrap();
    assert_eq!(appends(&log, "x"), 1);
    std::fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(appends(&log, "x"), 1);
    assert_eq!(read(folder.path()), "x\n");
}

/// A person may open the file in an editor that writes it in place.
#[test]
fn lines_are_counted_anew_after_somebody_edited_the_file() {
    let (folder, log) = with("a\nb\nc\n");
    assert_eq!(appends(&log, "x"), 4);
    assert_eq!(appends(&log, "x"), 5);
    // As many bytes, of another number of lines.
    std::thread::sleep(Duration::from_millis(20));
    std::fs::write(folder.path().join(FILE), "abcdefghi\n").unwrap();
    assert_eq!(appends(&log, "x"), 2);
    assert_eq!(appends(&log, "x"), 3);
}

#[test]
fn many_at_once_each_get_the_line_where_they_stand() {
    const WRITERS: usize = 16;
    const ENTRIES: usize = 20;
    let (folder, log) = with("before");
    let log = Arc::new(log.with_lock_wait(Duration::from_mins(2)));
    let write = |writer: usize| {
        let log = log.clone();
        std::thread::spawn(move || {
            let entry = |number| format!("{writer}-{number}");
            (0..ENTRIES).map(entry).map(|entry| (appends(&log, &entry), entry)).collect::<Vec<_>>()
        })
    };
    let writers: Vec<_> = (0..WRITERS).map(write).collect();
    let mut acknowledged: Vec<_> =
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
    acknowledged.sort();
    let numbered: Vec<(u64, String)> =
        (1..).zip(read(folder.path()).lines().map(str::to_owned)).skip(1).collect();
    assert_eq!(acknowledged.len(), WRITERS * ENTRIES);
    assert_eq!(acknowledged, numbered);
}

#[test]
fn an_entry_that_is_cancelled_while_it_waits_leaves_nothing() {
    let (folder, log) = with("");
    let file = std::fs::File::open(folder.path().join(FILE)).unwrap();
    file.lock().unwrap();
    let (stop, log) = (CancellationToken::new(), Arc::new(log));
    let waiting = {
        let (stop, log) = (stop.clone(), log.clone());
        std::thread::spawn(move || log.append("gone", &stop))
    };
    stop.cancel();
    let ended = waiting.join().unwrap();
    assert!(matches!(ended, Err(LedgerError::Cancelled)), "{ended:?}");
    drop(file);
    assert_eq!(appends(&log, "one"), 1);
    assert_eq!(read(folder.path()), "one\n");
}
