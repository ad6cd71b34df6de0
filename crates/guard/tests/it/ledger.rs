//! A file that only grows.

mod children;
mod crash;
mod odd_files;
mod pace;

use std::{path::Path, sync::Arc};

use guard::files::{Ledger, LedgerError};
use proptest::prelude::{Just, Strategy, prop_oneof};

/// The log of these tests in a folder.
pub fn ledger(folder: &Path) -> Arc<Ledger> {
    Arc::new(Ledger::new(folder.to_owned(), "log.jsonl").unwrap())
}

pub fn read(folder: &Path) -> String {
    String::from_utf8(std::fs::read(folder.join("log.jsonl")).unwrap()).unwrap()
}

/// A log that already holds this, and a folder that keeps it.
fn with(text: &str) -> (tempfile::TempDir, Arc<Ledger>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("log.jsonl"), text).unwrap();
    let log = ledger(folder.path());
    (folder, log)
}

async fn appends(log: &Arc<Ledger>, line: &str) -> u64 {
    log.append(line.to_owned()).await.unwrap()
}

#[tokio::test]
async fn the_file_and_its_folders_are_made_when_first_written() {
    let outside = tempfile::tempdir().unwrap();
    let folder = outside.path().join("a/b/c");
    let log = ledger(&folder);
    assert!(!outside.path().join("a").exists());
    assert_eq!(log.next_line().unwrap(), 1);
    assert!(!outside.path().join("a").exists(), "looking makes nothing");
    assert_eq!(appends(&log, "one").await, 1);
    assert_eq!(log.next_line().unwrap(), 2);
    assert_eq!(appends(&log, "").await, 2);
    assert_eq!(appends(&log, "drei ü").await, 3);
    assert_eq!(read(&folder), "one\n\ndrei ü\n");
}

#[tokio::test]
async fn what_was_there_stays_and_lines_are_counted_right() {
    for (before, number, between) in [
        ("", 1, ""),
        ("\n", 2, ""),
        ("a\n", 2, ""),
        ("a\nb\n", 3, ""),
        ("a", 2, "\n"),
        ("a\nb", 3, "\n"),
        ("{\"torn\":", 2, "\n"),
        ("a\r\nb\r\n", 3, ""),
        ("a\r\nb", 3, "\n"),
        ("a\r", 2, "\n"),
        ("a\n\n\n", 4, ""),
        ("\u{2028}\n", 2, ""),
    ] {
        let (folder, log) = with(before);
        assert_eq!(log.next_line().unwrap(), number, "{before:?}");
        assert_eq!(appends(&log, "entry").await, number, "{before:?}");
        assert_eq!(appends(&log, "next").await, number + 1, "{before:?}");
        assert_eq!(read(folder.path()), format!("{before}{between}entry\nnext\n"));
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_stay_too() {
    let folder = tempfile::tempdir().unwrap();
    let before = b"\xff\xfe\0\n\x80";
    std::fs::write(folder.path().join("log.jsonl"), before).unwrap();
    assert_eq!(appends(&ledger(folder.path()), "x").await, 3);
    let after = std::fs::read(folder.path().join("log.jsonl")).unwrap();
    assert_eq!(after, [&before[..], b"\nx\n"].concat());
}

#[tokio::test]
async fn an_entry_is_one_line() {
    let (folder, log) = with("");
    for line in ["a\nb", "a\n", "\n", "a\rb"] {
        let refused = log.append(line.to_owned()).await.unwrap_err();
        assert!(matches!(refused, LedgerError::NotOneLine), "{refused}");
    }
    assert_eq!(read(folder.path()), "");
    assert!(Ledger::new(folder.path().to_owned(), "../log").is_err());
}

#[tokio::test]
async fn other_programs_may_append_cut_and_exchange_the_file() {
    let (folder, log) = with("1\n2\n");
    let path = folder.path().join("log.jsonl");
    assert_eq!(appends(&log, "3").await, 3);
    // Appended to.
    std::fs::write(&path, "1\n2\n3\n4\n5\n").unwrap();
    assert_eq!(appends(&log, "6").await, 6);
    // Appended to, without an end.
    std::fs::write(&path, "1\n2\n3\n4\n5\n6\n7").unwrap();
    assert_eq!(appends(&log, "8").await, 8);
    // Cut.
    std::fs::write(&path, "1\n").unwrap();
    assert_eq!(appends(&log, "2").await, 2);
    // Exchanged for another file, of the same length and then a longer one.
    for text in ["ab\n1", "a\nb\nc\nd\ne\nf\ng\nh\n"] {
        std::fs::write(folder.path().join("new"), text).unwrap();
        std::fs::rename(folder.path().join("new"), &path).unwrap();
        let expected = text.lines().count() as u64 + 1;
        assert_eq!(appends(&log, "x").await, expected, "{text:?}");
    }
    // Written anew in place, longer than before.
    std::fs::write(&path, "z".repeat(10_000)).unwrap();
    assert_eq!(appends(&log, "x").await, 2);
    // Removed, and its folder with it.
    std::fs::remove_file(&path).unwrap();
    assert_eq!(appends(&log, "x").await, 1);
    std::fs::remove_dir_all(folder.path()).unwrap();
    assert_eq!(appends(&log, "x").await, 1);
    assert_eq!(read(folder.path()), "x\n");
}

/// What others do to the file between two entries.
#[derive(Debug, Clone)]
enum Meddling {
    Append(Vec<u8>),
    Cut(usize),
    Exchange(Vec<u8>),
    Remove,
}

fn meddling() -> impl Strategy<Value = Meddling> {
    let bytes = || {
        let byte = prop_oneof![3 => Just(b'a'), 2 => Just(b'\n'), 1 => Just(b'\r')];
        proptest::collection::vec(byte, 0..600)
    };
    prop_oneof![
        4 => bytes().prop_map(Meddling::Append),
        2 => (0..600_usize).prop_map(Meddling::Cut),
        2 => bytes().prop_map(Meddling::Exchange),
        1 => Just(Meddling::Remove),
    ]
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(64))]

    #[test]
    fn lines_are_counted_right_whatever_others_do(
        steps in proptest::collection::vec(meddling(), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.jsonl");
        let log = ledger(folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for step in steps {
            let mut bytes = std::fs::read(&path).unwrap_or_default();
            match step {
                Meddling::Append(more) => bytes.extend(more),
                Meddling::Cut(end) => bytes.truncate(end),
                Meddling::Exchange(other) => {
                    bytes = other;
                    let _ = std::fs::remove_file(&path);
                }
                Meddling::Remove => {
                    bytes.clear();
                    let _ = std::fs::remove_file(&path);
                }
            }
            std::fs::write(&path, &bytes).unwrap();
            let line = runtime.block_on(log.append("entry".to_owned())).unwrap();
            let own_line = bytes.last().is_some_and(|last| *last != b'\n');
            bytes.extend(if own_line { &b"\nentry\n"[..] } else { b"entry\n" });
            proptest::prop_assert_eq!(&std::fs::read(&path).unwrap(), &bytes);
            let newlines = bytes.split(|byte| *byte == b'\n').count() - 1;
            proptest::prop_assert_eq!(line, newlines as u64);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_each_get_the_line_where_they_stand() {
    let (folder, log) = with("before");
    let other = ledger(folder.path());
    let tasks: Vec<_> = (0..64_usize)
        .map(|writer| {
            // Two handles in one process keep out of each other's way like two processes.
            let log = if writer % 4 == 0 { other.clone() } else { log.clone() };
            tokio::spawn(async move {
                let mut lines = Vec::new();
                for number in 0..20 {
                    let entry = format!("{writer}-{number}");
                    lines.push((appends(&log, &entry).await, entry));
                }
                lines
            })
        })
        .collect();
    let mut acknowledged = Vec::new();
    for task in tasks {
        acknowledged.extend(task.await.unwrap());
    }
    acknowledged.sort();
    let numbered: Vec<(u64, String)> =
        (1..).zip(read(folder.path()).lines().map(str::to_owned)).skip(1).collect();
    assert_eq!(acknowledged.len(), 64 * 20);
    assert_eq!(acknowledged, numbered);
}

#[tokio::test]
async fn a_caller_that_goes_before_its_turn_leaves_nothing() {
    let (folder, log) = with("");
    let file = std::fs::File::open(folder.path().join("log.jsonl")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let appending: Vec<_> = ["one", "gone", "two"]
        .map(|line| {
            let log = log.clone();
            tokio::spawn(async move { log.append(line.to_owned()).await.unwrap() })
        })
        .into();
    // All of them have asked by the time that a task which came later runs.
    tokio::task::yield_now().await;
    appending[1].abort();
    tokio::task::yield_now().await;
    drop(file);
    let mut lines = Vec::new();
    for task in appending {
        lines.extend(task.await);
    }
    assert_eq!(lines, [1, 2]);
    assert_eq!(read(folder.path()), "one\ntwo\n");
}
