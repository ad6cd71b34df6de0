//! One log file: opened as nothing else, locked, and appended to.

use std::{
    fs::File,
    io::{self, Write as _},
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
    time::{Duration, Instant},
};

use rustix::{
    fs::{
        AtFlags, CWD, FlockOperation, Mode, OFlags, Stat, fdatasync, flock, fstat, fsync,
        ftruncate, mkdirat, openat, statat, tell,
    },
    io::Errno,
};

use super::{LedgerError, lines::Counted};
use crate::files::{
    kinds::{require_one_name, require_regular},
    tree::{Id, id},
};

/// Like any file of the repository that it lies in: what the user's umask leaves of this.
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
/// How often a file that is exchanged just as it is locked is opened again.
const MAX_EXCHANGES: usize = 100;
/// The pauses between two tries for a lock.
const SHORTEST_PAUSE: Duration = Duration::from_micros(50);
const LONGEST_PAUSE: Duration = Duration::from_millis(2);
/// More than this is counted before others are kept waiting.
const COUNTED_BEFORE_LOCKING_BYTES: u64 = 1_048_576;

/// A file that nobody else who asks for the lock writes to.
#[derive(Debug)]
pub(super) struct Locked {
    file: Lock<File>,
    folder: OwnedFd,
    id: Id,
}

/// Opens and locks the file, made if it is missing. What the name stands for is looked at again
/// under the lock, because another program may exchange the file at any moment.
pub(super) fn open(
    folder: &Path,
    name: &str,
    wait: Duration,
    counted: &mut Counted,
) -> Result<Locked, LedgerError> {
    let deadline = Instant::now() + wait;
    let held = || LedgerError::Locked { name: name.to_owned(), wait };
    for _ in 0..MAX_EXCHANGES {
        let folder = open_folder(folder)?;
        let Some(file) = open_file(&folder, name)? else { continue };
        let before = fstat(&file)?;
        require_plain(name, &before)?;
        let length = u64::try_from(before.st_size).unwrap_or(0);
        if length.saturating_sub(counted.bytes()) > COUNTED_BEFORE_LOCKING_BYTES {
            counted.update(&file)?;
        }
        let file = lock_in_turn(&folder, file, deadline)?.ok_or_else(held)?;
        let now = fstat(&file.0)?;
        match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(named) if id(&named) == id(&now) => {
                require_plain(name, &now)?;
                return Ok(Locked { file, folder, id: id(&now) });
            }
            Ok(_) | Err(Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(held())
}

impl Locked {
    pub(super) fn file(&self) -> &File {
        &self.file.0
    }

    pub(super) fn id(&self) -> Id {
        self.id
    }

    /// Forces the name of the file to the disk, without which its bytes would be lost.
    pub(super) fn sync_name(&self) -> io::Result<()> {
        Ok(fsync(&self.folder)?)
    }

    /// Appends the bytes, all of them or none, and forces them to the disk; where they begin.
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let mut written = 0;
        let result = self.write(bytes, &mut written).and_then(|()| Ok(fdatasync(self.file())?));
        let end = tell(self.file())?;
        match result {
            Ok(()) => Ok(end.saturating_sub(written)),
            Err(error) => {
                if let Err(left) = self.take_back(written, end) {
                    // The next entry begins a new line, so no other one is harmed.
                    tracing::error!(error = %left, "a part of an entry could not be taken back");
                }
                Err(error)
            }
        }
    }

    fn write(&self, bytes: &[u8], written: &mut u64) -> io::Result<()> {
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.file().write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    *written += count as u64;
                    rest = &rest[count..];
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Removes our own last bytes, unless somebody else has written after them.
    fn take_back(&self, written: u64, end: u64) -> io::Result<()> {
        let length = u64::try_from(fstat(self.file())?.st_size).unwrap_or(0);
        if written == 0 || length != end {
            return Ok(());
        }
        ftruncate(self.file(), end - written)?;
        Ok(fdatasync(self.file())?)
    }
}

/// The number of the line that would come next, seen without a lock.
pub(super) fn next_line(folder: &Path, name: &str) -> Result<u64, LedgerError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, folder, flags, Mode::empty())
        .and_then(|folder| Ok((statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW)?, folder)));
    let folder = match opened {
        Ok((stat, folder)) => {
            require_plain(name, &stat)?;
            folder
        }
        Err(Errno::NOENT) => return Ok(1),
        Err(error) => return Err(error.into()),
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(openat(&folder, name, flags, Mode::empty())?);
    require_plain(name, &fstat(&file)?)?;
    let mut counted = Counted::default();
    counted.update(&file)?;
    Ok(counted.newlines() + u64::from(counted.ends_within_a_line()) + 1)
}

/// Opens the folder by the operator's path, with its links; makes what is missing of it so that it
/// stays.
fn open_folder(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    match openat(CWD, path, flags, Mode::empty()) {
        Err(Errno::NOENT) => {}
        other => return Ok(other?),
    }
    // One level up there must be something some day: `/` and `.` are always there.
    if let Some(name) = path.file_name() {
        let above = path.parent().filter(|above| !above.as_os_str().is_empty());
        let above = open_folder(above.unwrap_or(Path::new(".")))?;
        match mkdirat(&above, name, FOLDER_MODE) {
            Ok(()) => fsync(&above)?,
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(openat(CWD, path, flags, Mode::empty())?)
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

/// One with no name at all was removed just now, which is noticed under the lock.
fn require_plain(name: &str, stat: &Stat) -> Result<(), LedgerError> {
    require_regular(stat).map_err(|_| LedgerError::NotRegular(name.to_owned()))?;
    require_one_name(stat).map_err(|_| LedgerError::Linked(name.to_owned()))
}

/// A lock that is given back when dropped, also where a child that was just started still has a
/// copy of the handle.
#[derive(Debug)]
pub(super) struct Lock<F: AsFd>(pub(super) F);

impl<F: AsFd> Drop for Lock<F> {
    fn drop(&mut self) {
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// Locks the file after those who have waited longer.
///
/// The kernel does not keep a queue: a writer that locks again at once would shut all others out. So
/// whoever wants the file first locks the folder, and holds that only until it has the file.
fn lock_in_turn(
    folder: &OwnedFd,
    file: File,
    deadline: Instant,
) -> Result<Option<Lock<File>>, LedgerError> {
    let turn = match lock(folder.as_fd(), deadline) {
        Ok(true) => Some(Lock(folder)),
        Ok(false) => return Ok(None),
        // Some file systems lock no folders. Then it is a matter of luck who comes next.
        Err(_) => None,
    };
    let locked = lock(file.as_fd(), deadline)?;
    drop(turn);
    Ok(locked.then_some(Lock(file)))
}

/// Whether the lock was had before the deadline.
pub(super) fn lock(file: BorrowedFd<'_>, deadline: Instant) -> io::Result<bool> {
    let mut pause = SHORTEST_PAUSE;
    loop {
        match flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::WOULDBLOCK | Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(false);
        }
        std::thread::sleep(pause.min(deadline - now));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
