//! Finished jobs on their way into the database.
//!
//! A call that is over when it is first recorded needs no transaction of its own before
//! it is answered. Its job is appended to a file, which one `write` does and which
//! survives the death of the process like the database would; a thread takes what has
//! come together into the database and removes the file. After a crash, what is still
//! in files is taken in first.

pub(super) mod record_line;

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{self, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::JoinHandle,
    time::Duration,
};

use gate::{Job, JobId, StoreError};
use rusqlite::Connection;

use super::{jobs, writer::CommitQueue};

/// The time that jobs come together before they are taken in.
const INTERVAL: Duration = Duration::from_millis(100);
/// The number of jobs that are taken in without waiting for that.
const ENOUGH: usize = 2_048;
/// The number of jobs that share a transaction: others want to write as well.
const BATCH: usize = 256;
/// The most bytes that may be on their way; beyond that jobs are written directly.
const MAX_BYTES: usize = 32 * 1_024 * 1_024;
/// A job larger than this is written directly.
pub(super) const MAX_JOB_BYTES: usize = 64 * 1_024;
/// The time to wait after the database could not be written.
const TRY_AGAIN: Duration = Duration::from_secs(1);

pub(super) struct Spool {
    inner: Arc<SpoolShared>,
    thread: Option<JoinHandle<()>>,
}

struct SpoolShared {
    folder: PathBuf,
    state: Mutex<SpoolState>,
    /// Wakes the thread when there is enough to do, or nothing more.
    wake: Condvar,
    /// Held by whoever takes jobs in: one at a time, so that they stay in order.
    taking_in: Mutex<()>,
    writer: Arc<CommitQueue>,
}

struct SpoolState {
    file: File,
    number: u64,
    /// Written to files, not yet in the database.
    waiting: Vec<Arc<Job>>,
    by_id: HashMap<JobId, Arc<Job>>,
    bytes: usize,
    /// Files whose jobs are all waiting or taken in.
    full: Vec<PathBuf>,
    /// The bytes of the file that are whole lines.
    length: u64,
    /// True if something else comes after those.
    broken: bool,
    over: bool,
}

impl Spool {
    /// Begins, where nothing is left of the last process.
    pub(super) fn open(folder: &Path, writer: Arc<CommitQueue>) -> Result<Self, StoreError> {
        let other = |error: io::Error| failed_io(&error);
        let number = 1;
        let inner = Arc::new(SpoolShared {
            folder: folder.to_owned(),
            state: Mutex::new(SpoolState {
                file: create(folder, number).map_err(other)?,
                number,
                waiting: Vec::new(),
                by_id: HashMap::new(),
                bytes: 0,
                full: Vec::new(),
                length: 0,
                broken: false,
                over: false,
            }),
            wake: Condvar::new(),
            taking_in: Mutex::new(()),
            writer,
        });
        let worker = inner.clone();
        let thread = std::thread::Builder::new()
            .name("store-spool".into())
            .spawn(move || worker.work())
            .map_err(other)?;
        Ok(Self { inner, thread: Some(thread) })
    }

    /// Keeps a finished job, or gives it back where it has to be written directly.
    pub(super) fn keep(&self, job: Job) -> Result<Option<Box<Job>>, StoreError> {
        let line = record_line::print(&job);
        if line.len() > MAX_JOB_BYTES {
            return Ok(Some(Box::new(job)));
        }
        let mut state = self.inner.lock();
        if state.bytes + line.len() > MAX_BYTES {
            return Ok(Some(Box::new(job)));
        }
        state.append(&line).map_err(|error| failed_io(&error))?;
        let job = Arc::new(job);
        state.bytes += line.len();
        state.by_id.insert(job.id.clone(), job.clone());
        state.waiting.push(job);
        if state.waiting.len() == ENOUGH {
            self.inner.wake.notify_one();
        }
        Ok(None)
    }

    /// A job that is not in the database yet.
    pub(super) fn find(&self, id: &JobId) -> Option<Job> {
        self.inner.lock().by_id.get(id).map(|job| Job::clone(job))
    }

    /// Takes everything in, now; for whoever wants to see all jobs together.
    pub(super) fn flush(&self) -> impl FnOnce() -> Result<(), StoreError> + Send + 'static {
        let inner = self.inner.clone();
        move || inner.take_in()
    }
}

impl Drop for Spool {
    fn drop(&mut self) {
        self.inner.lock().over = true;
        self.inner.wake.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl SpoolState {
    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        if self.broken {
            self.file.set_len(self.length)?;
            self.broken = false;
        }
        match self.file.write_all(line) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                // What was cut short was never acknowledged, and must not come back. Where it
                // cannot be cut off, nothing more may follow it.
                self.broken = self.file.set_len(self.length).is_err();
                Err(error)
            }
        }
    }
}

impl SpoolShared {
    fn lock(&self) -> MutexGuard<'_, SpoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        loop {
            let state = self.lock();
            let over = state.over;
            if !over && state.waiting.len() < ENOUGH {
                let waited = self.wake.wait_timeout(state, INTERVAL);
                drop(waited.unwrap_or_else(PoisonError::into_inner));
            } else {
                drop(state);
            }
            if let Err(error) = self.take_in() {
                tracing::error!(%error, "finished jobs could not be taken into the database yet");
                if over {
                    return;
                }
                std::thread::sleep(TRY_AGAIN);
            } else if over {
                return;
            }
        }
    }

    /// Takes what waits into the database, and then removes the files that it was in.
    fn take_in(&self) -> Result<(), StoreError> {
        let _one_at_a_time = self.taking_in.lock().unwrap_or_else(PoisonError::into_inner);
        let (jobs, files, bytes) = {
            let mut state = self.lock();
            if state.waiting.is_empty() && state.full.is_empty() {
                return Ok(());
            }
            // While the database cannot be written, an empty file is as good as a new one.
            if state.length > 0 {
                let next = state.number + 1;
                let file = create(&self.folder, next).map_err(|error| failed_io(&error))?;
                let full = path(&self.folder, state.number);
                state.file = file;
                state.number = next;
                state.length = 0;
                state.broken = false;
                state.full.push(full);
            }
            (std::mem::take(&mut state.waiting), state.full.clone(), state.bytes)
        };
        for (index, batch) in jobs.chunks(BATCH).enumerate() {
            let written = self.writer.transaction(|connection| {
                batch.iter().try_for_each(|job| jobs::save(connection, job))
            });
            if let Err(error) = written {
                // Back to the head of the queue; their files stay until they are in.
                let rest = jobs[index * BATCH..].to_vec();
                let mut state = self.lock();
                let newer = std::mem::replace(&mut state.waiting, rest);
                state.waiting.extend(newer);
                return Err(error);
            }
            let mut state = self.lock();
            for job in batch {
                state.by_id.remove(&job.id);
            }
        }
        let mut state = self.lock();
        state.bytes -= bytes;
        state.full.retain(|file| !files.contains(file));
        drop(state);
        for file in files {
            if let Err(error) = std::fs::remove_file(&file) {
                tracing::warn!(%error, file = %file.display(), "cannot remove");
            }
        }
        Ok(())
    }
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:020}.jsonl"))
}

/// True if a file has a name of that form. What has another one is not ours to remove.
fn is_ours(file: &Path) -> bool {
    let number = file.file_name().and_then(|name| name.to_str()?.strip_suffix(".jsonl"));
    number.is_some_and(|number| {
        number.len() == 20 && number.bytes().all(|digit| digit.is_ascii_digit())
    })
}

fn create(folder: &Path, number: u64) -> io::Result<File> {
    OpenOptions::new().create_new(true).append(true).mode(0o600).open(path(folder, number))
}

/// The files of a spool, oldest first.
pub(super) fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path();
        if is_ours(&file) && entry.file_type()?.is_file() {
            files.push(file);
        }
    }
    files.sort();
    Ok(files)
}

/// Takes in the files of a process that is gone, oldest first.
pub(super) fn take_in_files(folder: &Path, writer: &CommitQueue) -> Result<(), StoreError> {
    let other = |error: io::Error| failed_io(&error);
    std::fs::create_dir_all(folder).map_err(other)?;
    for file in files(folder).map_err(other)? {
        let text = std::fs::read(&file).map_err(other)?;
        let jobs: Vec<Job> = text
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .filter_map(|line| {
                record_line::read(line)
                    .inspect_err(|error| tracing::warn!(%error, "a job was cut short"))
                    .ok()
            })
            .collect();
        writer.transaction(|connection: &Connection| {
            jobs.iter().try_for_each(|job| jobs::save(connection, job))
        })?;
        std::fs::remove_file(&file).map_err(other)?;
    }
    Ok(())
}

pub(super) fn failed_io(error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        io::ErrorKind::ReadOnlyFilesystem => StoreError::ReadOnly,
        _ => StoreError::Other(error.to_string()),
    }
}
