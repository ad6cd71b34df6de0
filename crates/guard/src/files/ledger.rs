//! A file that only grows, one line at a time, also by several processes at once.
//!
//! An append locks the file (`flock`), writes its line, forces it to the disk and counts the lines
//! before it. What is in the file is never changed: a line that somebody left without an end stays
//! as it is, and of a write that fails only its own bytes are taken back. After `kill -9` at any
//! moment every acknowledged entry is there, and at most the last line is cut short.

mod ledger_state;
mod limit;
mod turn;

use std::{
    fs::{File, TryLockError},
    io::{self, Write as _},
    ops::Range,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use rustix::{
    fs::{AtFlags, Mode, OFlags, Stat, fdatasync, fstat, fsync, ftruncate, openat, statat, tell},
    io::Errno,
};
use tokio_util::sync::CancellationToken;

pub use self::limit::HourlyLimit;
use self::{ledger_state::LedgerState, turn::WriterTurn};
use super::{
    NameError, PinnedFolder,
    file_tree::id,
    file_types::{require_one_name, require_regular},
    plain_name,
};

/// The time that another program may keep the file locked.
const LOCK_WAIT: Duration = Duration::from_secs(10);
/// The pause between two tries for a lock.
const LOCK_PAUSE: Duration = Duration::from_millis(2);
/// The number of tries to open a file that is exchanged just as it is locked.
const MAX_EXCHANGES: usize = 100;
/// Like any file of the repository that it lies in: what the user's umask leaves of this.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
/// The bytes that are read at a time to count lines.
const CHUNK_BYTES: usize = 131_072;

/// The reason why an entry was not written.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// It would become two.
    #[error("an entry must be a single line")]
    NotOneLine,
    /// A link, a pipe, a device, a folder.
    #[error("`{0}` is not a regular file")]
    NotRegular(String),
    /// The file has a second name, so that it would be changed there too.
    #[error("`{0}` is a file with more than one name (hard links)")]
    Linked(String),
    /// Other writers do not let go.
    #[error("`{name}` has been locked by other writers for more than {wait:?}")]
    Locked {
        /// The file.
        name: String,
        /// The time that was waited.
        wait: Duration,
    },
    /// The file has as many entries of the last hour as it may.
    #[error("at most {max} entries an hour")]
    TooMany {
        /// The limit.
        max: u32,
        /// The time until the next entry is taken.
        retry_after_ms: u64,
    },
    /// There is no room.
    #[error("the disk is full")]
    Full,
    /// Anything else that the system says.
    #[error("{0}")]
    Io(io::Error),
    /// The caller stopped before anything was written.
    #[error("the entry was cancelled and is not written")]
    Cancelled,
    /// The entry stands in the file, or may stand there, and its line is not known.
    #[error("the entry may have been written")]
    Unknown,
}

impl From<io::Error> for LedgerError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => LedgerError::Full,
            _ => LedgerError::Io(error),
        }
    }
}

impl From<Errno> for LedgerError {
    fn from(error: Errno) -> Self {
        io::Error::from(error).into()
    }
}

/// A file that lines are appended to.
pub struct Ledger {
    folder: PinnedFolder,
    name: String,
    lock_wait: Duration,
    limit: Option<HourlyLimit>,
    /// Writers of this process wait for each other, and only one at a time for other programs.
    turn: WriterTurn,
    /// The lines of the file when an entry was last appended.
    counted: Mutex<Option<(u64, LedgerState)>>,
}

impl Ledger {
    /// The file of that name in a folder of the operator's. Nothing is opened or made before
    /// the first entry; then the folder and its parents are made where they are missing.
    pub fn new(folder: impl Into<PinnedFolder>, name: &str) -> Result<Self, NameError> {
        plain_name(name)?;
        Ok(Self {
            folder: folder.into(),
            name: name.to_owned(),
            lock_wait: LOCK_WAIT,
            limit: None,
            turn: WriterTurn::default(),
            counted: Mutex::default(),
        })
    }

    /// The same with a limit on the entries of an hour.
    #[must_use]
    pub fn with_limit(mut self, limit: HourlyLimit) -> Self {
        self.limit = Some(limit);
        self
    }

    /// The same, waiting no longer for a program that keeps the file locked.
    #[must_use]
    pub fn with_lock_wait(mut self, wait: Duration) -> Self {
        self.lock_wait = wait;
        self
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Appends a line and returns its number, counted from 1, when it is on the disk. Cancelled
    /// before it is written, it leaves nothing; after that it is finished. Blocks.
    pub fn append(&self, line: &str, stop: &CancellationToken) -> Result<u64, LedgerError> {
        if line.contains(['\n', '\r']) {
            return Err(LedgerError::NotOneLine);
        }
        let deadline = Instant::now() + self.lock_wait;
        let Some(_turn) = self.turn.take(deadline, stop)? else {
            return Err(self.locked(self.name.clone()));
        };
        let (folder, file) = self.open_locked(deadline, stop)?;
        let Some(limit) = &self.limit else {
            return self.append_locked(&folder, &file, line);
        };
        let times = limit.open(&self.name)?;
        if !lock(&times, deadline, stop)? {
            return Err(self.locked(format!("{}.times", self.name)));
        }
        // Written down before the entry is: after a crash an entry may be counted that is not
        // there, but none is there that is not counted.
        let before = limit.take(&times)?;
        let appended = self.append_locked(&folder, &file, line);
        if let Err(error) = &appended
            && !matches!(error, LedgerError::Unknown)
            && let Err(error) = times.set_len(before)
        {
            tracing::warn!(%error, "an entry that was not written still counts for its hour");
        }
        appended
    }

    /// The number that an entry would get now, or why it would get none. Makes, locks and changes
    /// nothing. Blocks.
    pub fn next_line(&self) -> Result<u64, LedgerError> {
        if let Some(limit) = &self.limit {
            limit.check(&self.name)?;
        }
        let found = self.folder.open().and_then(|folder| {
            Ok((statat(&folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?, folder))
        });
        let folder = match found {
            Ok((stat, folder)) => {
                require_plain(&self.name, &stat)?;
                folder
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(1),
            Err(error) => return Err(error.into()),
        };
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(&folder, &self.name, flags, Mode::empty())?);
        require_plain(&self.name, &fstat(&file)?)?;
        let length = file.metadata()?.len();
        Ok(newlines(&file, 0..length)? + u64::from(ends_within_a_line(&file)?) + 1)
    }

    /// Opens and locks the file, made if it is missing, and its folder. The name is looked up again
    /// under the lock, because another program may exchange the file at any moment.
    fn open_locked(
        &self,
        deadline: Instant,
        stop: &CancellationToken,
    ) -> Result<(OwnedFd, File), LedgerError> {
        let name = self.name.as_str();
        for _ in 0..MAX_EXCHANGES {
            let folder = open_folder(&self.folder)?;
            let Some(file) = open_file(&folder, name)? else { continue };
            require_plain(name, &fstat(&file)?)?;
            if !lock(&file, deadline, stop)? {
                break;
            }
            let now = fstat(&file)?;
            match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(named) if id(&named) == id(&now) => {
                    require_plain(name, &now)?;
                    return Ok((folder, file));
                }
                Ok(_) | Err(Errno::NOENT) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(self.locked(name.to_owned()))
    }

    fn locked(&self, name: String) -> LedgerError {
        LedgerError::Locked { name, wait: self.lock_wait }
    }

    /// Appends the line, all of it or nothing, forces it to the disk, and returns its number.
    fn append_locked(&self, folder: &OwnedFd, file: &File, line: &str) -> Result<u64, LedgerError> {
        let own_line = ends_within_a_line(file)?;
        let text = format!("{}{line}\n", if own_line { "\n" } else { "" });
        let now = LedgerState::of(file)?;
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let known = counted.take().filter(|(_, state)| *state == now);
        // Without its name on the disk the bytes of a new file would be lost.
        fsync(folder)?;
        let mut written = 0;
        let synced = write(file, text.as_bytes(), &mut written).and_then(|()| Ok(fdatasync(file)?));
        let end = tell(file)?;
        if let Err(error) = synced {
            if let Err(error) = take_back(file, written, end) {
                // The next entry begins a new line, so no other one is harmed.
                tracing::error!(%error, "a part of an entry could not be removed again");
            }
            return Err(error.into());
        }
        // Counted afterwards: a program that ignores the lock may have written just before us.
        let start = end.saturating_sub(written);
        let (lines, from) = known.map_or((0, 0), |(lines, state)| (lines, state.bytes));
        let before = newlines(file, from..start).map_err(|error| {
            tracing::error!(%error, "an entry was written, and its line is not known");
            LedgerError::Unknown
        })?;
        let number = lines + before + u64::from(own_line) + 1;
        let is_ours = |state: &LedgerState| start == now.bytes && state.bytes == end;
        *counted = LedgerState::of(file).ok().filter(is_ours).map(|state| (number, state));
        Ok(number)
    }
}

fn write(mut file: &File, mut bytes: &[u8], written: &mut u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                *written += count as u64;
                bytes = &bytes[count..];
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Removes our own last bytes, unless somebody else has written after them.
fn take_back(file: &File, written: u64, end: u64) -> io::Result<()> {
    if written > 0 && file.metadata()?.len() == end {
        ftruncate(file, end - written)?;
        fdatasync(file)?;
    }
    Ok(())
}

fn ends_within_a_line(file: &File) -> io::Result<bool> {
    let Some(last) = file.metadata()?.len().checked_sub(1) else { return Ok(false) };
    let mut byte = [b'\n'];
    // Cut just now, so that nothing is read: then the end is not within a line either.
    let _ = file.read_at(&mut byte, last)?;
    Ok(byte != *b"\n")
}

/// The line ends among these bytes.
fn newlines(file: &File, bytes: Range<u64>) -> io::Result<u64> {
    let most = usize::try_from(bytes.end.saturating_sub(bytes.start)).unwrap_or(usize::MAX);
    let mut chunk = vec![0; CHUNK_BYTES.min(most)];
    let (mut position, mut count) = (bytes.start, 0);
    while position < bytes.end {
        let rest = usize::try_from(bytes.end - position).unwrap_or(usize::MAX);
        let most = chunk.len().min(rest);
        match file.read_at(&mut chunk[..most], position) {
            // It was cut while it was read.
            Ok(0) => break,
            Ok(read) => {
                count += memchr::memchr_iter(b'\n', &chunk[..read]).count() as u64;
                position += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// Opens the folder so that it can be forced to the disk; makes what is missing of it.
fn open_folder(folder: &PinnedFolder) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(folder.open_or_create()?, ".", flags, Mode::empty())?)
}

/// Opens the file for appending, made if it is missing. Never through a link. Nothing where it
/// went away meanwhile, or its folder did.
fn open_file(folder: &OwnedFd, name: &str) -> Result<Option<File>, LedgerError> {
    let mut flags = OFlags::RDWR
        | OFlags::APPEND
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::NOCTTY
        | OFlags::CLOEXEC;
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        // Looked at first because opening a device can already do something.
        Ok(stat) => require_plain(name, &stat)?,
        Err(Errno::NOENT) => flags |= OFlags::CREATE,
        Err(error) => return Err(error.into()),
    }
    match openat(folder, name, flags, FILE_MODE) {
        Ok(file) => Ok(Some(File::from(file))),
        Err(Errno::NOENT) => Ok(None),
        // Exchanged for a link since it was looked at, or for a pipe that nobody reads.
        Err(Errno::LOOP | Errno::NXIO) => Err(LedgerError::NotRegular(name.to_owned())),
        Err(error) => Err(error.into()),
    }
}

/// Refuses all but a regular file with one name. One with no name at all was removed just now,
/// which is noticed under the lock.
fn require_plain(name: &str, stat: &Stat) -> Result<(), LedgerError> {
    require_regular(stat).map_err(|_| LedgerError::NotRegular(name.to_owned()))?;
    require_one_name(stat).map_err(|_| LedgerError::Linked(name.to_owned()))
}

/// Locks the file until it is closed; false where the deadline came first.
fn lock(file: &File, deadline: Instant, stop: &CancellationToken) -> Result<bool, LedgerError> {
    loop {
        if stop.is_cancelled() {
            return Err(LedgerError::Cancelled);
        }
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return Ok(false),
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            Err(TryLockError::Error(error)) => return Err(error.into()),
        }
    }
}
