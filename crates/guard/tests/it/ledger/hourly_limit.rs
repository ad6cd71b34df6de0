//! The limit on the entries of an hour, on a clock that the test holds.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use guard::files::{HourlyLimit, Ledger, LedgerError};
use tokio_util::sync::CancellationToken;

use super::{append, ledger, read};

const HOUR_MS: i64 = 3_600_000;

struct LimitedLedger {
    folder: tempfile::TempDir,
    now: Arc<AtomicI64>,
}

impl LimitedLedger {
    fn new() -> Self {
        let now = Arc::new(AtomicI64::new(1_767_960_000_000));
        Self { folder: tempfile::tempdir().unwrap(), now }
    }

    /// A log as a new process would open it.
    fn ledger(&self, max: u32) -> Ledger {
        let now = self.now.clone();
        let limit = HourlyLimit::new(self.data(), max, move || now.load(Ordering::SeqCst));
        ledger(&self.folder.path().join("log")).with_limit(limit)
    }

    fn data(&self) -> std::path::PathBuf {
        self.folder.path().join("data/memory")
    }

    fn times(&self) -> std::path::PathBuf {
        self.data().join("log.jsonl.times")
    }

    fn pass(&self, milliseconds: i64) {
        self.now.fetch_add(milliseconds, Ordering::SeqCst);
    }

    fn lines(&self) -> usize {
        read(&self.folder.path().join("log")).lines().count()
    }
}

/// After how many milliseconds the next one may come.
fn refused(log: &Ledger) -> u64 {
    match append(log, "x") {
        Err(LedgerError::TooMany { retry_after_ms, .. }) => retry_after_ms,
        other => panic!("{other:?}"),
    }
}

fn takes(log: &Ledger, count: usize) {
    for _ in 0..count {
        append(log, "x").unwrap();
    }
}

#[test]
fn the_twenty_first_in_an_hour_is_refused() {
    let world = LimitedLedger::new();
    let log = world.ledger(20);
    for _ in 0..20 {
        takes(&log, 1);
        world.pass(60_000);
    }
    assert_eq!(refused(&log), 40 * 60_000);
    let looked = log.next_line();
    let expected = 40 * 60_000;
    assert!(matches!(
        looked,
        Err(LedgerError::TooMany { retry_after_ms, .. }) if retry_after_ms == expected
    ));
    // Also by another process, and by one that starts anew.
    assert_eq!(refused(&world.ledger(20)), 40 * 60_000);
    world.pass(40 * 60_000 - 1);
    assert_eq!(refused(&log), 1);
    world.pass(1);
    // What was refused did not count: exactly one is an hour old.
    takes(&log, 1);
    assert_eq!(refused(&log), 60_000);
    assert_eq!(world.lines(), 21);
    world.pass(HOUR_MS);
    takes(&world.ledger(20), 20);
    assert_eq!(refused(&log), HOUR_MS as u64);
}

#[test]
fn another_limit_counts_what_was_written_under_the_old_one() {
    let world = LimitedLedger::new();
    takes(&world.ledger(20), 20);
    refused(&world.ledger(5));
    takes(&world.ledger(25), 5);
    refused(&world.ledger(25));
}

#[test]
fn many_at_once_get_no_more_than_there_is() {
    let world = LimitedLedger::new();
    // Each has opened the log as a process of its own would.
    let logs: Vec<Ledger> = (0..16).map(|_| world.ledger(20)).collect();
    let taken: usize = std::thread::scope(|scope| {
        let write = |log| {
            scope.spawn(move || match append(log, "x") {
                Ok(_) => 1,
                Err(LedgerError::TooMany { max: 20, .. }) => 0,
                Err(error) => panic!("{error}"),
            })
        };
        let writers: Vec<_> = logs.iter().cycle().take(48).map(write).collect();
        writers.into_iter().map(|writer| writer.join().unwrap()).sum()
    });
    assert_eq!((taken, world.lines()), (20, 20));
}

#[test]
fn what_is_not_written_does_not_count() {
    let world = LimitedLedger::new();
    let log = world.ledger(2);
    takes(&log, 1);
    // In the place of the file there is something that is not written to.
    let path = world.folder.path().join("log/log.jsonl");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    for _ in 0..5 {
        assert!(matches!(append(&log, "x"), Err(LedgerError::NotRegular(_))));
    }
    std::fs::remove_dir(&path).unwrap();
    takes(&log, 1);
    refused(&log);
}

#[test]
fn a_clock_that_was_wrong_shuts_nobody_out() {
    let world = LimitedLedger::new();
    let log = world.ledger(3);
    world.pass(400 * 24 * HOUR_MS);
    takes(&log, 3);
    world.pass(-400 * 24 * HOUR_MS);
    takes(&log, 3);
    // A little back is what clocks do.
    world.pass(-1_000);
    assert_eq!(refused(&log), HOUR_MS as u64 + 1_000);
}

#[test]
fn a_damaged_record_of_times_is_no_obstacle() {
    let world = LimitedLedger::new();
    takes(&world.ledger(3), 3);
    let damage = |text: &[u8]| std::fs::write(world.times(), text).unwrap();
    for text in [&b""[..], b"12", &[0; 48], &[255; 100], b"not a time\n"] {
        damage(text);
        takes(&world.ledger(3), 1);
    }
}

#[test]
fn the_record_of_times_stays_small() {
    let world = LimitedLedger::new();
    let log = world.ledger(3);
    let length = |path: &Path| path.metadata().unwrap().len();
    takes(&log, 1);
    assert_eq!(length(&world.times()), 16);
    let many = std::fs::read(world.times()).unwrap().repeat(4_200);
    std::fs::write(world.times(), many).unwrap();
    assert_eq!(refused(&log), HOUR_MS as u64);
    world.pass(HOUR_MS);
    takes(&log, 3);
    refused(&log);
    assert_eq!(length(&world.times()), 3 * 16, "times that are over are dropped");
}

#[test]
fn where_times_cannot_be_kept_nothing_is_written() {
    let world = LimitedLedger::new();
    std::fs::create_dir_all(world.times()).unwrap();
    let error = append(&world.ledger(3), "x").unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
    assert_eq!(world.lines(), 0);
}

#[test]
fn an_entry_that_is_being_written_is_not_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let stop = CancellationToken::new();
    let stops = stop.clone();
    // The time is asked for under both locks, just before the entry is written.
    let limit = HourlyLimit::new(folder.path().join("data"), 20, move || {
        stops.cancel();
        1_767_960_000_000
    });
    let log = ledger(folder.path()).with_limit(limit);
    assert_eq!(log.append("taken", &stop).unwrap(), 1);
    let next = log.append("next", &stop);
    assert!(matches!(next, Err(LedgerError::Cancelled)), "{next:?}");
    assert_eq!(read(folder.path()), "taken\n");
}

#[test]
fn a_lock_on_the_times_is_told_without_their_folder() {
    let world = LimitedLedger::new();
    std::fs::create_dir_all(world.data()).unwrap();
    let held = std::fs::File::create(world.times()).unwrap();
    held.lock().unwrap();
    let log = world.ledger(20).with_lock_wait(Duration::from_millis(20));
    let error = append(&log, "x").unwrap_err().to_string();
    assert_eq!(error, "`log.jsonl.times` has been locked by other writers for more than 20ms");
}
