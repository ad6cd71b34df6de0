//! Reading, looking at and describing one file.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, SystemTime};

use rustix::fs::{FileType, Mode, OFlags, Stat, fstat, openat};

use super::file_types::{require_one_name, require_ordinary_place, require_regular};
use super::{FileError, FileTree, SafePath};

/// Reading without waiting for a pipe's other end and without gaining a terminal, in case it is not
/// the regular file that it was a moment ago.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// A regular file, open for reading.
#[derive(Debug)]
pub struct OpenFile {
    pub file: File,
    /// Its status when it was opened.
    pub status: FileStatus,
}

/// The status of what a path leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileStatus {
    /// The kind of thing.
    pub kind: FileKind,
    /// Its length; 0 for what is not a file.
    pub bytes: u64,
    /// When its content was last changed, if the clock of that day can be told.
    pub modified: Option<SystemTime>,
    /// Its permission bits.
    pub mode: u32,
    /// The number of names that it has; with more than one, some may lie outside the folder.
    pub links: u64,
}

/// The kind of thing that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// A regular file.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, socket or device.
    Other,
}

impl FileTree {
    /// Opens a regular file for reading. Refuses one that has a second name, which may lie outside.
    pub fn open(&self, path: &SafePath) -> Result<OpenFile, FileError> {
        let root = self.open_root()?;
        // Looked at first because opening a device, or a file of the kernel's, can already do
        // something.
        let seen = root.open(path, OFlags::PATH)?;
        require_file(path, &fstat(&seen)?)?;
        require_ordinary_place(&seen)?;
        let (opened, stat) = OpenFile::from_handle(root.open(path, READING)?)?;
        require_one_name(&stat)?;
        Ok(opened)
    }

    /// Reads a whole file of at most `limit` bytes.
    pub fn read(&self, path: &SafePath, limit: u64) -> Result<Vec<u8>, FileError> {
        self.open(path)?.read(limit)
    }

    /// Reads a whole file of at most `limit` bytes of UTF-8.
    pub fn read_text(&self, path: &SafePath, limit: u64) -> Result<String, FileError> {
        self.open(path)?.read_text(limit)
    }

    /// The status of what the path leads to. Says nothing of what must not be opened.
    pub fn stat(&self, path: &SafePath) -> Result<FileStatus, FileError> {
        let handle = self.open_root()?.open(path, OFlags::PATH)?;
        require_ordinary_place(&handle)?;
        let status = FileStatus::of(&fstat(&handle)?);
        if path.names_a_folder() && status.kind != FileKind::Directory {
            return Err(FileError::NotADirectory);
        }
        Ok(status)
    }
}

impl OpenFile {
    /// Opens a regular file by its name in an open folder, and not through a symbolic link. Refuses
    /// one that has a second name.
    pub(super) fn in_folder(folder: impl AsFd, name: &str) -> Result<Self, FileError> {
        let (opened, stat) = Self::by_name(folder, name)?;
        require_one_name(&stat)?;
        Ok(opened)
    }

    /// The same for one that may have other names, for who is only to see what would be replaced.
    pub(super) fn with_any_names(folder: impl AsFd, name: &str) -> Result<Self, FileError> {
        Ok(Self::by_name(folder, name)?.0)
    }

    fn by_name(folder: impl AsFd, name: &str) -> Result<(Self, Stat), FileError> {
        let flags = OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let seen = openat(&folder, name, flags | OFlags::PATH, Mode::empty())?;
        require_regular(&fstat(&seen)?)?;
        require_ordinary_place(&seen)?;
        Self::from_handle(openat(&folder, name, flags | READING, Mode::empty())?)
    }

    /// Judges what was opened, and not what was looked at before: it may have been exchanged.
    fn from_handle(handle: OwnedFd) -> Result<(Self, Stat), FileError> {
        let stat = fstat(&handle)?;
        require_regular(&stat)?;
        require_ordinary_place(&handle)?;
        Ok((Self { file: File::from(handle), status: FileStatus::of(&stat) }, stat))
    }

    /// Reads what is left of the file, and refuses more than `limit` bytes, counted while reading:
    /// the file may grow.
    pub fn read(mut self, limit: u64) -> Result<Vec<u8>, FileError> {
        let too_large = FileError::TooLarge { limit };
        if self.status.bytes > limit {
            return Err(too_large);
        }
        let mut bytes = Vec::new();
        // One more than there should be, so that its absence is seen without another allocation.
        let room = usize::try_from(self.status.bytes.saturating_add(1)).unwrap_or(usize::MAX);
        bytes.try_reserve_exact(room).map_err(|error| FileError::Io(error.into()))?;
        self.file.by_ref().take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit { Err(too_large) } else { Ok(bytes) }
    }

    /// The same as text.
    pub fn read_text(self, limit: u64) -> Result<String, FileError> {
        String::from_utf8(self.read(limit)?).map_err(|_| FileError::NotText)
    }
}

impl FileStatus {
    #[allow(
        clippy::useless_conversion,
        reason = "the count of links is shorter on some processors"
    )]
    pub(super) fn of(stat: &Stat) -> Self {
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FileKind::File,
            FileType::Directory => FileKind::Directory,
            FileType::Symlink => FileKind::Symlink,
            _ => FileKind::Other,
        };
        let bytes =
            if kind == FileKind::File { u64::try_from(stat.st_size).unwrap_or(0) } else { 0 };
        let (mode, links) = (stat.st_mode & 0o7777, u64::from(stat.st_nlink));
        Self { kind, bytes, modified: modified(stat), mode, links }
    }
}

#[allow(clippy::unnecessary_cast, reason = "shorter on some processors")]
fn modified(stat: &Stat) -> Option<SystemTime> {
    let seconds = u64::try_from(stat.st_mtime as i64).ok()?;
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(Duration::new(seconds, nanoseconds))
}

fn require_file(path: &SafePath, stat: &Stat) -> Result<(), FileError> {
    require_regular(stat)?;
    if path.names_a_folder() {
        return Err(FileError::denied("the path ends in `/`, which only a folder's does"));
    }
    Ok(())
}
