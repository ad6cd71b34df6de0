//! Writing: a file is replaced as a whole, or stays as it was.
//!
//! The new content is written to a temporary file in the same folder, forced to the disk, and takes
//! the old file's name by one rename. A crash, a full disk or a kill at any moment leaves the old or
//! the new content, never a mixture, and at worst a temporary file, which [`sweep`](super::sweep)
//! removes later.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, Stat, accessat, fsync, mkdirat, openat, renameat, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::file_tree::OpenRoot;
use super::file_types::{require_ordinary_place, require_regular};
use super::read::OpenFile;
use super::{FileError, FileTree, SafePath, rights};

/// The prefix of the names of temporary files. No caller may use such a name.
pub const TEMPORARY_PREFIX: &str = ".toolgate-tmp-";

/// For new folders and files; what the process masks is taken away.
const FOLDER_MODE: u32 = 0o777;
const FILE_MODE: u32 = 0o644;
/// For new content that takes the place of a file which perhaps only its owner may read.
const PRIVATE_MODE: u32 = 0o600;

/// The result of a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOutcome {
    /// The number of bytes that the file has now.
    pub bytes: u64,
    /// True if there was no such file before.
    pub created: bool,
}

impl FileTree {
    /// Writes a whole file: makes the folders that it lies in, replaces what has its name, and is
    /// back when both are on the disk. Never writes through a symbolic link at the end of the path.
    ///
    /// At the last moment before the file changes, `may_continue` is asked; if it says no, the file stays as
    /// it was. Folders may have been made by then.
    pub fn write(
        &self,
        path: &SafePath,
        bytes: &[u8],
        may_continue: &dyn Fn() -> bool,
    ) -> Result<WriteOutcome, FileError> {
        let (parent, name) = file_name(path)?;
        if !may_continue() {
            return Err(FileError::Stopped);
        }
        let folder = make_folders(&*self.open_root()?, &parent)?;
        require_ordinary_place(&folder)?;
        let _lock = self.lock(&folder, name, may_continue)?;
        let old = replaceable(&folder, name)?;
        self.sweeper.sweep(&folder);
        let check = || if may_continue() { Ok(()) } else { Err(FileError::Stopped) };
        put(&folder, name, bytes, old.as_ref(), check)?;
        Ok(WriteOutcome { bytes: bytes.len() as u64, created: old.is_none() })
    }

    /// Replaces the text of a file of at most `limit` bytes by what `change` makes of it. No change
    /// that is made meanwhile through this tree is lost, because it waits. One by another program is
    /// seen and kept, unless it comes between the last look at the file and its replacement, which
    /// follow each other at once.
    pub fn edit<T, E: From<FileError>>(
        &self,
        path: &SafePath,
        limit: u64,
        may_continue: &dyn Fn() -> bool,
        change: impl FnOnce(&str) -> Result<(String, T), E>,
    ) -> Result<T, E> {
        let (parent, name) = file_name(path)?;
        let folder = self.open_root()?.open_folder(&parent)?;
        let _lock = self.lock(&folder, name, may_continue)?;
        let old = replaceable(&folder, name)?.ok_or(FileError::NotFound)?;
        let before = OpenFile::in_folder(&folder, name)?.read_text(limit)?;
        let (after, made) = change(&before)?;
        self.sweeper.sweep(&folder);
        put(&folder, name, after.as_bytes(), Some(&old), || {
            if !may_continue() {
                return Err(FileError::Stopped);
            }
            match OpenFile::in_folder(&folder, name).and_then(|now| now.read(limit)) {
                Ok(now) if now == before.as_bytes() => Ok(()),
                Ok(_) | Err(FileError::NotFound | FileError::TooLarge { .. }) => {
                    Err(FileError::Changed)
                }
                Err(error) => Err(error),
            }
        })?;
        Ok(made)
    }
}

/// True if a name is kept for our temporary files, in upper case too: some file systems do not tell
/// the difference.
pub(super) fn is_reserved(name: &str) -> bool {
    let beginning = name.as_bytes().get(..TEMPORARY_PREFIX.len());
    beginning.is_some_and(|bytes| bytes.eq_ignore_ascii_case(TEMPORARY_PREFIX.as_bytes()))
}

/// True if it is the very name of a temporary file of ours.
pub(super) fn is_temporary(name: &str) -> bool {
    let end = name.strip_prefix(TEMPORARY_PREFIX).map(str::as_bytes);
    end.is_some_and(|end| {
        end.len() == 32 && end.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// The folder of a file and its name there.
pub(super) fn file_name(path: &SafePath) -> Result<(SafePath, &str), FileError> {
    if path.names_a_folder() {
        return Err(FileError::IsADirectory);
    }
    path.split().ok_or(FileError::IsADirectory)
}

/// The file that would be replaced, unless it is something that must not be.
pub(super) fn replaceable(folder: &OwnedFd, name: &str) -> Result<Option<Stat>, FileError> {
    let stat = match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(None),
        other => other?,
    };
    require_regular(&stat)?;
    // A rename would not ask, so we do: whoever made a file read-only meant it.
    if stat.st_mode & 0o222 == 0 {
        return Err(FileError::ReadOnly);
    }
    match accessat(folder, name, Access::WRITE_OK, AtFlags::empty()) {
        Err(Errno::NOENT) => Ok(None),
        other => Ok(other.map(|()| Some(stat))?),
    }
}

/// Opens the folder, and makes it and those that it lies in where they are missing.
fn make_folders(root: &OpenRoot, path: &SafePath) -> Result<OwnedFd, FileError> {
    match root.open_folder(path) {
        Err(FileError::NotFound) => {}
        other => return other,
    }
    let mut here = root.open_folder(&SafePath::root())?;
    let mut at = SafePath::root();
    for name in path.names() {
        at = at.join(name)?;
        // From the top each time: links on the way may lead anywhere inside.
        here = match root.open_folder(&at) {
            Err(FileError::NotFound) => make_folder(&here, name)?,
            other => other?,
        };
    }
    Ok(here)
}

fn make_folder(parent: &OwnedFd, name: &str) -> Result<OwnedFd, FileError> {
    require_ordinary_place(parent)?;
    match mkdirat(parent, name, Mode::from_raw_mode(FOLDER_MODE)) {
        // Somebody else was faster; what it is will be seen.
        Err(Errno::EXIST) => {}
        other => {
            other?;
            sync_folder(parent).map_err(FileError::Io)?;
        }
    }
    // Whatever has this name now: a folder itself, and not a link to one.
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(parent, name, flags, Mode::empty()) {
        // What the kernel says of a link that is opened as a folder.
        Err(Errno::NOTDIR | Errno::LOOP) => {
            require_folder(&statat(parent, name, AtFlags::SYMLINK_NOFOLLOW)?)?;
            Err(FileError::Changed)
        }
        other => Ok(other?),
    }
}

pub(super) fn require_folder(stat: &Stat) -> Result<(), FileError> {
    match require_regular(stat) {
        Err(FileError::IsADirectory) => Ok(()),
        Err(FileError::Denied(reason)) => Err(FileError::Denied(reason)),
        _ => Err(FileError::NotADirectory),
    }
}

/// Gives `name` its new content, once `check` has agreed to it.
fn put(
    folder: &OwnedFd,
    name: &str,
    bytes: &[u8],
    old: Option<&Stat>,
    check: impl FnOnce() -> Result<(), FileError>,
) -> Result<(), FileError> {
    let mut temporary = TemporaryFile::create(folder, name, old)?;
    temporary.file.write_all(bytes)?;
    temporary.file.sync_all()?;
    check()?;
    renameat(folder, &temporary.name, folder, name)?;
    temporary.is_gone = true;
    sync_folder(folder).map_err(FileError::NotSynced)
}

/// Forces the names in a folder to the disk.
fn sync_folder(folder: &OwnedFd) -> io::Result<()> {
    // The handle serves only to find other things by; another one can be forced.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let forced = openat(folder, ".", flags, Mode::empty()).and_then(fsync);
    match forced {
        // A folder that we may write to and not list, or a file system that cannot: the rename
        // has happened, and no more can be done about it.
        Ok(()) | Err(Errno::ACCESS | Errno::INVAL | Errno::NOTSUP) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// A file that is removed again unless it has taken another name.
struct TemporaryFile<'a> {
    folder: &'a OwnedFd,
    name: String,
    file: File,
    is_gone: bool,
}

impl<'a> TemporaryFile<'a> {
    /// Makes a file that nobody else can know of, with the rights of the one that it is to replace.
    fn create(folder: &'a OwnedFd, replaced: &str, old: Option<&Stat>) -> Result<Self, FileError> {
        let name = format!("{TEMPORARY_PREFIX}{:032x}", rand::random::<u128>());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = if old.is_some() { PRIVATE_MODE } else { FILE_MODE };
        let handle = openat(folder, &name, flags | OFlags::NOFOLLOW, Mode::from_raw_mode(mode))?;
        let temporary = Self { folder, name, file: File::from(handle), is_gone: false };
        if let Some(old) = old {
            rights::take_over(&temporary.file, folder, replaced, old)?;
        }
        Ok(temporary)
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.is_gone {
            let _ = unlinkat(self.folder, &self.name, AtFlags::empty());
        }
    }
}
