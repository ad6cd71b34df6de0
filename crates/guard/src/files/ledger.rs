//! A file that only grows, one whole line at a time, by many writers at once.
//!
//! Within a process, an entry is put on a list; whoever finds nobody writing takes what is on the
//! list, writes it with one `write`, forces it to the disk with one `fdatasync`, and then tells each
//! caller the line that its entry has become. So the cost of the disk is shared by all who wait for
//! it. Between processes, a lock on the file (`flock`) keeps writers apart.
//!
//! What is in the file is never changed: not by an entry after a line that somebody left without an
//! end (it begins a line of its own), and not by a write that fails (only its own bytes are taken
//! back). After `kill -9` at any moment every acknowledged entry is there, and at most one line, the
//! last one, is cut short.

mod file;
mod lines;
mod pace;
mod pending;

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use self::{file::Locked, lines::Counted, pace::Times, pending::Waiting};
pub use self::{pace::Pace, pending::Pending};
use super::{NameError, plain_name, tree::Id};

/// How many entries may wait to be written.
pub const MAX_WAITING: usize = 4_096;
/// How many of them share a write.
const MAX_BATCH: usize = 256;
/// How many bytes share a write, unless a single entry is larger.
const MAX_BATCH_BYTES: usize = 1_048_576;
/// How much of the time that the last write took is waited for as many to come again as it had. Those
/// who were just told are about to come back, and would else always miss the next write.
const GATHER_SHARE: u32 = 4;
const MAX_GATHER: Duration = Duration::from_millis(1);
/// How long another program may keep the file locked.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// Why an entry was not written.
#[derive(Debug, Clone, thiserror::Error)]
pub enum LedgerError {
    /// It would become two.
    #[error("an entry must be a single line")]
    NotOneLine,
    /// Too many wait already.
    #[error("more than {MAX_WAITING} entries wait to be written")]
    Busy,
    /// A link, a pipe, a device, a folder.
    #[error("`{0}` is not a regular file")]
    NotRegular(String),
    /// What is written here would also be written somewhere else.
    #[error("`{0}` is a file with more than one name (hard links)")]
    Linked(String),
    /// Another program does not let go.
    #[error("another program has kept `{name}` locked for more than {wait:?}")]
    Locked {
        /// The file.
        name: String,
        /// How long was waited.
        wait: Duration,
    },
    /// The file has grown as fast as it may.
    #[error("at most {max} entries in {} s", window_ms / 1_000)]
    TooOften {
        /// How many entries the window takes.
        max: u32,
        /// The window.
        window_ms: u64,
        /// After how long the next entry is taken.
        retry_after_ms: u64,
    },
    /// There is no room.
    #[error("the disk is full")]
    Full,
    /// Anything else that the system says.
    #[error("{0}")]
    Io(Arc<io::Error>),
    /// The program is on its way down.
    #[error("the program is stopping")]
    Stopping,
    /// It was taken to be written, and nobody said how that ended.
    #[error("the entry may have been written: nobody has said so")]
    Unknown,
}

impl From<io::Error> for LedgerError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LedgerError::Full,
            _ => LedgerError::Io(Arc::new(error)),
        }
    }
}

impl From<rustix::io::Errno> for LedgerError {
    fn from(error: rustix::io::Errno) -> Self {
        io::Error::from(error).into()
    }
}

/// A file that lines are appended to.
pub struct Ledger {
    target: Target,
    writer: Mutex<Writer>,
    queue: Mutex<Queue>,
    /// Tells the one who writes that another entry waits.
    came: Condvar,
}

/// Where the file is, and how it is written to.
struct Target {
    folder: PathBuf,
    name: String,
    lock_wait: Duration,
    pace: Option<Pace>,
}

/// The entries that wait.
#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Whether somebody is writing, and will look at the list again before stopping to.
    led: bool,
}

impl Ledger {
    /// The file of that name in a folder of the operator's. Nothing is opened or made before
    /// the first entry; then the folder and its parents are made where they are missing.
    pub fn new(folder: PathBuf, name: &str) -> Result<Self, NameError> {
        plain_name(name)?;
        let name = name.to_owned();
        Ok(Self {
            target: Target { folder, name, lock_wait: LOCK_WAIT, pace: None },
            writer: Mutex::default(),
            queue: Mutex::default(),
            came: Condvar::new(),
        })
    }

    /// The same, growing no faster than that.
    #[must_use]
    pub fn with_pace(mut self, pace: Pace) -> Self {
        self.target.pace = Some(pace);
        self
    }

    /// The same, waiting no longer for a program that keeps the file locked.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.target.lock_wait = wait;
        self
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.target.name
    }

    /// Appends a line and tells its number, counted from 1, when it is on the disk. Dropped
    /// before the entry was taken to be written, it leaves none. Must be called in a runtime.
    pub async fn append(self: &Arc<Self>, line: String) -> Result<u64, LedgerError> {
        self.enter(line)?.acknowledged().await
    }

    /// Puts a line on the list, for those who may have to leave before it is written. Must be
    /// called in a runtime.
    pub fn enter(self: &Arc<Self>, line: String) -> Result<Pending, LedgerError> {
        if line.contains(['\n', '\r']) {
            return Err(LedgerError::NotOneLine);
        }
        let (acknowledge, acknowledged) = oneshot::channel();
        let decided = Arc::new(AtomicBool::new(false));
        let entry = Pending::new(acknowledged, decided.clone());
        let leads = {
            let mut queue = self.queue();
            if queue.waiting.len() >= MAX_WAITING {
                return Err(LedgerError::Busy);
            }
            queue.waiting.push_back(Waiting { line, acknowledge, decided });
            !std::mem::replace(&mut queue.led, true)
        };
        if leads {
            let ledger = self.clone();
            tokio::task::spawn_blocking(move || ledger.lead());
        } else {
            self.came.notify_one();
        }
        Ok(entry)
    }

    /// The number that an entry would get now, or why it would get none. Makes and changes nothing;
    /// blocks.
    pub fn next_line(&self) -> Result<u64, LedgerError> {
        if let Some(pace) = &self.target.pace {
            pace.look(&self.target.name)?;
        }
        file::next_line(&self.target.folder, &self.target.name)
    }

    /// Writes until nobody waits.
    fn lead(&self) {
        // Should this panic, the next caller leads, and those who wait learn that nobody writes.
        let _steps_down = StepsDown(self);
        let mut writer = self.writer();
        let mut last = Batch { count: 1, took: Duration::ZERO };
        while self.is_waited_for(&last) {
            // Whoever comes while we wait for the locks is still taken along, and whoever leaves is
            // not: once an entry is taken nothing is waited for but the disk.
            let locked = writer.lock(&self.target);
            let batch = self.take();
            if batch.is_empty() {
                continue;
            }
            let (count, began) = (batch.len(), Instant::now());
            match locked.and_then(|(file, times)| writer.append(&self.target, &file, times, &batch))
            {
                Ok(written) => written.acknowledge(batch),
                Err(error) => {
                    for waiting in batch {
                        // Whoever asked may be gone.
                        let _ = waiting.acknowledge.send(Err(error.clone()));
                    }
                }
            }
            last = Batch { count, took: began.elapsed() };
        }
    }

    /// Whether anybody waits; nobody leads any more if not.
    fn is_waited_for(&self, last: &Batch) -> bool {
        let mut queue = self.queue();
        if last.count > 1 {
            let most = (last.took / GATHER_SHARE).min(MAX_GATHER);
            let gathers = |queue: &mut Queue| queue.waiting.len() < last.count;
            queue = self
                .came
                .wait_timeout_while(queue, most, gathers)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        queue.waiting.retain(Waiting::is_waited_for);
        queue.led = !queue.waiting.is_empty();
        queue.led
    }

    /// The next entries of callers that are still there.
    fn take(&self) -> Vec<Waiting> {
        let mut queue = self.queue();
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < MAX_BATCH
            && let Some(next) = queue.waiting.front()
        {
            if !batch.is_empty() && bytes + next.line.len() > MAX_BATCH_BYTES {
                break;
            }
            bytes += next.line.len();
            batch.extend(queue.waiting.pop_front().filter(Waiting::take));
        }
        batch
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, Writer> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the last write was like.
struct Batch {
    count: usize,
    took: Duration,
}

/// Gives the lead up where it was not given up in order.
struct StepsDown<'a>(&'a Ledger);

impl Drop for StepsDown<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            *self.0.queue() = Queue::default();
        }
    }
}

/// What the one who writes knows of the file.
#[derive(Default)]
struct Writer {
    counted: Counted,
    /// The file whose name we know to be on the disk.
    name_synced: Option<Id>,
}

/// What became of a batch: the first so many stand from that line on, the rest was refused.
struct Written {
    first: u64,
    count: usize,
    refusal: Option<LedgerError>,
}

impl Written {
    fn acknowledge(self, batch: Vec<Waiting>) {
        for ((waiting, line), index) in batch.into_iter().zip(self.first..).zip(0..) {
            let result = match &self.refusal {
                Some(refusal) if index >= self.count => Err(refusal.clone()),
                _ => Ok(line),
            };
            let _ = waiting.acknowledge.send(result);
        }
    }
}

impl Writer {
    /// Opens the file, and the times of its entries, locked for us alone, and knows how many lines
    /// it has.
    fn lock(&mut self, target: &Target) -> Result<(Locked, Option<Times>), LedgerError> {
        let Target { folder, name, lock_wait, pace } = target;
        let locked = file::open(folder, name, *lock_wait, &mut self.counted)?;
        self.counted.update(locked.file())?;
        let times = pace.as_ref().map(|pace| pace.lock(name, *lock_wait)).transpose()?;
        Ok((locked, times))
    }

    /// Appends what the pace allows of the batch: all of that or nothing.
    fn append(
        &mut self,
        target: &Target,
        locked: &Locked,
        times: Option<Times>,
        batch: &[Waiting],
    ) -> Result<Written, LedgerError> {
        let reserved = match target.pace.as_ref().zip(times) {
            Some((pace, times)) => Some(pace.reserve(times, batch.len())?),
            None => None,
        };
        let count = reserved.as_ref().map_or(batch.len(), pace::Reserved::count);
        let refusal = reserved.as_ref().and_then(|reserved| reserved.refusal().cloned());
        if count == 0 {
            return Ok(Written { first: 0, count, refusal });
        }
        match self.write(locked, &batch[..count]) {
            Ok(first) => Ok(Written { first, count, refusal }),
            Err(error) => {
                // What was not written does not count.
                if let Some(reserved) = reserved
                    && !matches!(error, LedgerError::Unknown)
                {
                    reserved.give_back();
                }
                Err(error)
            }
        }
    }

    /// Appends and forces to the disk; the line of the first entry.
    fn write(&mut self, locked: &Locked, batch: &[Waiting]) -> Result<u64, LedgerError> {
        let own_line = self.counted.ends_within_a_line();
        let mut bytes = Vec::new();
        if own_line {
            bytes.push(b'\n');
        }
        for waiting in batch {
            bytes.extend_from_slice(waiting.line.as_bytes());
            bytes.push(b'\n');
        }
        // One that is empty may be new even where we know its number: numbers are used again.
        if self.name_synced != Some(locked.id()) || self.counted.bytes() == 0 {
            locked.sync_name()?;
            self.name_synced = Some(locked.id());
        }
        let begin = locked.append(&bytes)?;
        // A program that does not know of the lock may have written since the lines were counted.
        self.counted.update_to(locked.file(), begin).map_err(|error| {
            tracing::error!(%error, "entries stand, and their lines are unknown");
            LedgerError::Unknown
        })?;
        let first = self.counted.newlines() + u64::from(own_line) + 1;
        self.counted.advance(&bytes);
        Ok(first)
    }
}
