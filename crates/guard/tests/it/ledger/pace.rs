//! How fast a log may grow, on a clock that the test holds.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::Duration,
};

use guard::files::{Ledger, LedgerError, Pace};

const HOUR_MS: i64 = 3_600_000;

struct World {
    folder: tempfile::TempDir,
    now: Arc<AtomicI64>,
}

impl World {
    fn new() -> Self {
        let now = Arc::new(AtomicI64::new(1_767_960_000_000));
        Self { folder: tempfile::tempdir().unwrap(), now }
    }

    /// A log as a new process would open it.
    fn ledger(&self, max: u32) -> Arc<Ledger> {
        let now = self.now.clone();
        let hour = Duration::from_hours(1);
        let pace = Pace::new(self.data(), max, hour, move || now.load(Ordering::SeqCst));
        let log = Ledger::new(self.folder.path().join("log"), "log.jsonl").unwrap();
        Arc::new(log.with_pace(pace))
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
        super::read(&self.folder.path().join("log")).lines().count()
    }
}

/// After how many milliseconds the next one may come.
async fn refused(log: &Arc<Ledger>) -> u64 {
    match log.append("x".into()).await {
        Err(LedgerError::TooOften { retry_after_ms, .. }) => retry_after_ms,
        other => panic!("{other:?}"),
    }
}

async fn takes(log: &Arc<Ledger>, count: usize) {
    for _ in 0..count {
        log.append("x".into()).await.unwrap();
    }
}

#[tokio::test]
async fn the_twenty_first_in_an_hour_is_refused() {
    let world = World::new();
    let log = world.ledger(20);
    for _ in 0..20 {
        takes(&log, 1).await;
        world.pass(60_000);
    }
    assert_eq!(refused(&log).await, 40 * 60_000);
    let looked = log.next_line();
    let expected = 40 * 60_000;
    assert!(matches!(
        looked,
        Err(LedgerError::TooOften { retry_after_ms, .. }) if retry_after_ms == expected
    ));
    // Also by another process, and by one that starts anew.
    assert_eq!(refused(&world.ledger(20)).await, 40 * 60_000);
    world.pass(40 * 60_000 - 1);
    assert_eq!(refused(&log).await, 1);
    world.pass(1);
    // What was refused did not count: exactly one is an hour old.
    takes(&log, 1).await;
    assert_eq!(refused(&log).await, 60_000);
    assert_eq!(world.lines(), 21);
    world.pass(HOUR_MS);
    takes(&world.ledger(20), 20).await;
    assert_eq!(refused(&log).await, HOUR_MS as u64);
}

#[tokio::test]
async fn another_limit_counts_what_was_written_under_the_old_one() {
    let world = World::new();
    takes(&world.ledger(20), 20).await;
    refused(&world.ledger(5)).await;
    takes(&world.ledger(25), 5).await;
    refused(&world.ledger(25)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_at_once_get_no_more_than_there_is() {
    let world = World::new();
    let tasks: Vec<_> = (0..8)
        .flat_map(|_| {
            let log = world.ledger(20);
            (0..10).map(move |_| log.clone())
        })
        .map(|log| tokio::spawn(async move { log.append("x".into()).await }))
        .collect();
    let mut taken = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => taken += 1,
            Err(LedgerError::TooOften { max: 20, .. }) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!((taken, world.lines()), (20, 20));
}

#[tokio::test]
async fn what_is_not_written_does_not_count() {
    let world = World::new();
    let log = world.ledger(2);
    takes(&log, 1).await;
    // In the place of the file there is something that is not written to.
    let path = world.folder.path().join("log/log.jsonl");
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir(&path).unwrap();
    for _ in 0..5 {
        assert!(matches!(log.append("x".into()).await, Err(LedgerError::NotRegular(_))));
    }
    std::fs::remove_dir(&path).unwrap();
    takes(&log, 1).await;
    refused(&log).await;
}

#[tokio::test]
async fn a_clock_that_was_wrong_shuts_nobody_out() {
    let world = World::new();
    let log = world.ledger(3);
    world.pass(400 * 24 * HOUR_MS);
    takes(&log, 3).await;
    world.pass(-400 * 24 * HOUR_MS);
    takes(&log, 3).await;
    // A little back is what clocks do.
    world.pass(-1_000);
    assert_eq!(refused(&log).await, HOUR_MS as u64 + 1_000);
}

#[tokio::test]
async fn a_damaged_record_of_times_is_no_obstacle() {
    let world = World::new();
    takes(&world.ledger(3), 3).await;
    let damage = |text: &[u8]| std::fs::write(world.times(), text).unwrap();
    for text in [&b""[..], b"12", &[0; 48], &[255; 100], b"not a time\n"] {
        damage(text);
        takes(&world.ledger(3), 1).await;
    }
}

#[tokio::test]
async fn the_record_of_times_stays_small() {
    let world = World::new();
    let log = world.ledger(3);
    let length = |path: &Path| path.metadata().unwrap().len();
    takes(&log, 1).await;
    assert_eq!(length(&world.times()), 16);
    let many = std::fs::read(world.times()).unwrap().repeat(4_200);
    std::fs::write(world.times(), many).unwrap();
    assert_eq!(refused(&log).await, HOUR_MS as u64);
    assert_eq!(length(&world.times()), 3 * 16);
    world.pass(HOUR_MS);
    takes(&log, 3).await;
    refused(&log).await;
    assert_eq!(length(&world.times()), 6 * 16);
}

#[tokio::test]
async fn where_times_cannot_be_kept_nothing_is_written() {
    let world = World::new();
    std::fs::create_dir_all(world.times()).unwrap();
    let error = world.ledger(3).append("x".into()).await.unwrap_err();
    assert!(error.to_string().contains("directory"), "{error}");
    assert_eq!(world.lines(), 0);
}

#[tokio::test]
async fn an_entry_that_is_being_written_cannot_be_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let (asks, asked) = std::sync::mpsc::channel();
    let (lets, waits) = std::sync::mpsc::channel::<()>();
    let waits = std::sync::Mutex::new(waits);
    // The time is asked for when an entry has been taken, and not yet written.
    let pace = Pace::new(folder.path().join("data"), 20, Duration::from_hours(1), move || {
        asks.send(()).unwrap();
        waits.lock().unwrap().recv().unwrap();
        1_767_960_000_000
    });
    let log = Ledger::new(folder.path().to_owned(), "log.jsonl").unwrap();
    let log = Arc::new(log.with_pace(pace));
    let mut taken = log.enter("taken".into()).unwrap();
    asked.recv().unwrap();
    assert!(!taken.withdraw());
    let withdrawn = log.enter("withdrawn".into()).unwrap();
    assert!(withdrawn.withdraw());
    let mut kept = log.enter("kept".into()).unwrap();
    lets.send(()).unwrap();
    lets.send(()).unwrap();
    assert_eq!(taken.acknowledged().await.unwrap(), 1);
    assert_eq!(kept.acknowledged().await.unwrap(), 2);
    assert_eq!(super::read(folder.path()), "taken\nkept\n");
}

#[tokio::test]
async fn a_lock_on_the_times_is_told_without_their_folder() {
    let world = World::new();
    std::fs::create_dir_all(world.data()).unwrap();
    let held = std::fs::File::create(world.times()).unwrap();
    rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let now = world.now.clone();
    let pace =
        Pace::new(world.data(), 20, Duration::from_hours(1), move || now.load(Ordering::SeqCst));
    let log = Ledger::new(world.folder.path().join("log"), "log.jsonl").unwrap();
    let log = Arc::new(log.with_pace(pace).with_lock_wait(Duration::from_millis(20)));
    let error = log.append("x".into()).await.unwrap_err().to_string();
    assert_eq!(error, "another program has kept `log.jsonl.times` locked for more than 20ms");
}
