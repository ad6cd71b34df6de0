//! The file that the journal is written to, and the room that is set aside in it.

use std::{
    fs::{File, Metadata, OpenOptions},
    io::{self, Write},
    os::unix::fs::{FileExt, FileTypeExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FallocateFlags, OFlags, fallocate},
    io::Errno,
};

/// The beginning of every line of a journal: a file with another beginning is somebody else's.
const FIRST_BYTES: &[u8] = b"{\"time\":";
/// The time that a line that another process writes may be seen in part.
const MIDDLE_OF_A_LINE: Duration = Duration::from_millis(5);
/// Disk space is set aside in steps of so many bytes.
const ALLOCATION_STEP: u64 = 1 << 20;

/// What a journal may be written to. Only a regular file is ever made, rotated or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JournalKind {
    Regular,
    Pipe,
    Device,
}

impl JournalKind {
    fn of(metadata: &Metadata) -> io::Result<Self> {
        let kind = metadata.file_type();
        if kind.is_file() {
            Ok(Self::Regular)
        } else if kind.is_fifo() {
            Ok(Self::Pipe)
        } else if kind.is_char_device() {
            Ok(Self::Device)
        } else {
            let message = "it is neither a regular file nor a pipe or a character device";
            Err(io::Error::new(io::ErrorKind::InvalidInput, message))
        }
    }
}

/// An open file, device or pipe.
#[derive(Debug)]
pub(super) struct JournalFile {
    file: File,
    kind: JournalKind,
    /// The device and inode: what lies at the path may be another file by now.
    identity: (u64, u64),
    bytes: AtomicU64,
    /// The end of the disk space that is set aside for it.
    allocated: AtomicU64,
    growing: Mutex<()>,
}

/// Disk space for lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DiskSpace {
    /// It is set aside.
    Allocated,
    /// This file system, device or pipe cannot set any aside.
    Unknown,
}

impl JournalFile {
    /// Opens the file for appending, or makes it; and says whether its last line was cut short. A
    /// regular file that is not a journal is refused.
    pub(super) fn open(path: &Path) -> io::Result<(Self, bool)> {
        let kind = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => JournalKind::Regular,
            found => JournalKind::of(&found?)?,
        };
        Self::open_as(path, kind, OFlags::empty())
    }

    /// Opens what lies at the path in the place of this file by now; a regular file is made where
    /// nothing does. Something of another kind, such as a link, is not the journal that was meant.
    pub(super) fn open_again(&self, path: &Path) -> io::Result<(Self, bool)> {
        let found = match self.look_at(path) {
            Err(error)
                if error.kind() == io::ErrorKind::NotFound && self.kind == JournalKind::Regular =>
            {
                return Self::open_as(path, self.kind, OFlags::NOFOLLOW);
            }
            found => found?,
        };
        if JournalKind::of(&found).ok() != Some(self.kind) {
            let message = "something else than the journal lies there now";
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        let flags = if self.is_regular() { OFlags::NOFOLLOW } else { OFlags::empty() };
        Self::open_as(path, self.kind, flags)
    }

    fn open_as(path: &Path, kind: JournalKind, more: OFlags) -> io::Result<(Self, bool)> {
        // A pipe that nobody reads must not hold up the server.
        let flags = flags(OFlags::NONBLOCK | OFlags::NOCTTY | more);
        let is_pipe = kind == JournalKind::Pipe;
        // A pipe is only written to: with an end of ours to read from, it would take lines that nobody
        // ever reads. Without a reader it can only be opened while there is one, for this moment.
        let mut reading = OpenOptions::new();
        let reader = is_pipe.then(|| reading.read(true).custom_flags(flags).open(path));
        let _reader = reader.transpose()?;
        let file = OpenOptions::new()
            .create(kind == JournalKind::Regular)
            .append(true)
            .read(!is_pipe)
            .mode(0o600)
            .custom_flags(flags)
            .open(path)?;
        let metadata = file.metadata()?;
        if JournalKind::of(&metadata)? != kind {
            return Err(io::Error::other("it was replaced while it was opened"));
        }
        let opened = Self {
            kind,
            identity: (metadata.dev(), metadata.ino()),
            bytes: AtomicU64::new(metadata.len()),
            allocated: AtomicU64::new(0),
            growing: Mutex::new(()),
            file,
        };
        let mut is_cut = false;
        if opened.is_regular() {
            if !is_journal(&opened.file)? {
                let message = "it holds something else than a journal; choose another path";
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            is_cut = opened.ends_within_a_line()?;
            if is_cut {
                // Another process may be in the middle of a line.
                std::thread::sleep(MIDDLE_OF_A_LINE);
                is_cut = opened.ends_within_a_line()?;
            }
        }
        Ok((opened, is_cut))
    }

    /// True if it is a regular file, the only kind that is ever renamed.
    pub(super) fn is_regular(&self) -> bool {
        self.kind == JournalKind::Regular
    }

    /// True if it still lies at this path.
    pub(super) fn is_at(&self, path: &Path) -> bool {
        self.look_at(path).is_ok_and(|found| (found.dev(), found.ino()) == self.identity)
    }

    /// The path of a regular file without links, which is what is renamed and made again. A name of
    /// the system for something that is open, such as `/dev/stdout`, stays what it is.
    pub(super) fn own_path(&self, path: &Path) -> PathBuf {
        let real = std::fs::canonicalize(path).ok().filter(|real| self.is_at(real));
        real.unwrap_or_else(|| path.to_owned())
    }

    fn look_at(&self, path: &Path) -> io::Result<Metadata> {
        if self.is_regular() { std::fs::symlink_metadata(path) } else { std::fs::metadata(path) }
    }

    /// Checks that a pipe has a reader and room. Of a device nothing can be known.
    pub(super) fn takes_lines(&self) -> io::Result<DiskSpace> {
        if self.kind != JournalKind::Pipe {
            return Ok(DiskSpace::Unknown);
        }
        let mut pipe = [PollFd::new(&self.file, PollFlags::OUT)];
        poll(&mut pipe, Some(&Timespec::default()))?;
        let found = pipe[0].revents();
        if found.contains(PollFlags::ERR) {
            Err(io::Error::other("nobody reads the pipe"))
        } else if found.contains(PollFlags::OUT) {
            Ok(DiskSpace::Allocated)
        } else {
            Err(io::Error::other("the pipe is full"))
        }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Writes lines by one system call, so that lines of many threads and processes do not mix.
    pub(super) fn append(&self, bytes: &[u8]) -> io::Result<()> {
        let written = (&self.file).write(bytes)?;
        self.bytes.fetch_add(written as u64, Ordering::Relaxed);
        if written == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Sets disk space aside for that many further bytes.
    pub(super) fn allocate(&self, more: u64) -> io::Result<DiskSpace> {
        if !self.is_regular() {
            return Ok(DiskSpace::Unknown);
        }
        let has_room =
            || self.bytes.load(Ordering::Relaxed) + more <= self.allocated.load(Ordering::Relaxed);
        if has_room() {
            return Ok(DiskSpace::Allocated);
        }
        let _guard = self.growing.lock().unwrap_or_else(PoisonError::into_inner);
        if has_room() {
            return Ok(DiskSpace::Allocated);
        }
        let end = self.file.metadata()?.len();
        let grow = |by: u64| fallocate(&self.file, FallocateFlags::KEEP_SIZE, end, by).map(|()| by);
        // Nearly full is not full: what is needed now may still be there.
        let grown = grow(more.max(ALLOCATION_STEP)).or_else(|error| match error {
            Errno::NOSPC | Errno::DQUOT => grow(more),
            other => Err(other),
        });
        match grown {
            Ok(by) => {
                self.bytes.store(end, Ordering::Relaxed);
                self.allocated.store(end + by, Ordering::Relaxed);
                Ok(DiskSpace::Allocated)
            }
            Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::NODEV | Errno::INVAL) => {
                Ok(DiskSpace::Unknown)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn ends_within_a_line(&self) -> io::Result<bool> {
        let bytes = self.file.metadata()?.len();
        let mut last = [b'\n'];
        if bytes > 0 {
            self.file.read_exact_at(&mut last, bytes - 1)?;
        }
        self.bytes.store(bytes, Ordering::Relaxed);
        Ok(last != [b'\n'])
    }
}

/// True if nothing lies at this path, or a journal does: a file that may be replaced.
pub(super) fn may_be_replaced(path: &Path) -> io::Result<bool> {
    let found = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        found => found?,
    };
    if !found.is_file() {
        return Ok(false);
    }
    let flags = flags(OFlags::NONBLOCK | OFlags::NOFOLLOW);
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    Ok(file.metadata()?.is_file() && is_journal(&file)?)
}

/// True if a file is empty, or begins as our lines do.
fn is_journal(file: &File) -> io::Result<bool> {
    let mut first = [0; FIRST_BYTES.len()];
    let read = file.read_at(&mut first, 0)?;
    Ok(first[..read] == FIRST_BYTES[..read])
}

/// The flags as the standard library takes them.
fn flags(flags: OFlags) -> i32 {
    flags.bits().cast_signed()
}
