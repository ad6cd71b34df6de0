//! Listing a folder, and walking through all that lies below it.

use std::ops::ControlFlow;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;

use super::file_types::require_ordinary_place;
use super::read::{FileStatus, OpenFile};
use super::replace::is_reserved;
use super::{FileError, FileTree, MAX_ENTRIES, SafePath};

/// One name in a folder of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListingEntry {
    pub name: String,
    /// The status of the entry; a symbolic link is one, wherever it leads.
    pub status: FileStatus,
}

/// The entries of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FolderListing {
    /// The first entries by name.
    pub entries: Vec<ListingEntry>,
    /// The number of entries, as far as they were counted.
    pub total: usize,
    /// The number of further entries that no path can name: no text, invisible characters and the like.
    pub unnameable: usize,
    /// True if the folder holds more than [`MAX_ENTRIES`], so that not all were counted.
    pub uncounted: bool,
}

/// The result of a walk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WalkSummary {
    /// The number of files that were visited.
    pub files: usize,
    /// The number of entries that could not be: links, pipes, names that no path has, folders that are too deep
    /// or not ours to open.
    pub passed_over: usize,
    /// True if it ended before it had seen everything.
    pub cut: bool,
}

/// A file that a walk came to.
#[derive(Debug)]
pub struct FoundFile<'a> {
    pub path: &'a SafePath,
    folder: &'a OwnedFd,
    name: &'a str,
}

impl FoundFile<'_> {
    /// Opens it for reading.
    pub fn open(&self) -> Result<OpenFile, FileError> {
        OpenFile::in_folder(self.folder, self.name)
    }
}

impl FileTree {
    /// The first `max` entries of a folder, sorted by name.
    pub fn list(&self, path: &SafePath, max: usize) -> Result<FolderListing, FileError> {
        let folder = self.open_root()?.open_folder(path)?;
        require_ordinary_place(&folder)?;
        let FolderNames { good: names, unnameable, cut } = read_names(path, &folder, MAX_ENTRIES)?;
        let mut listing = FolderListing {
            total: names.len(),
            unnameable,
            uncounted: cut,
            ..FolderListing::default()
        };
        for name in names {
            if listing.entries.len() == max {
                break;
            }
            match statat(&folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => {
                    listing.entries.push(ListingEntry { name, status: FileStatus::of(&stat) });
                }
                // Removed since it was listed.
                Err(Errno::NOENT) => listing.total -= 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(listing)
    }

    /// Visits the regular files below a folder, sorted, looking at no more than `max_entries` names
    /// and following no symbolic link below it. A path to a file visits that one.
    pub fn walk(
        &self,
        path: &SafePath,
        max_entries: usize,
        visit: &mut dyn FnMut(&FoundFile<'_>) -> ControlFlow<()>,
    ) -> Result<WalkSummary, FileError> {
        let root = self.open_root()?;
        let mut walk = FileWalk { left: max_entries, walked: WalkSummary::default(), visit };
        match root.open_folder(path) {
            Ok(folder) => {
                require_ordinary_place(&folder)?;
                let _ = walk.folder(path, &folder)?;
            }
            Err(FileError::NotADirectory) if !path.names_a_folder() => {
                let (parent, name) = path.split().ok_or(FileError::NotADirectory)?;
                let folder = root.open_folder(&parent)?;
                // What cannot be opened is said here, where it is the only one.
                OpenFile::in_folder(&folder, name)?;
                let _ = walk.file(path, &folder, name);
            }
            Err(error) => return Err(error),
        }
        Ok(walk.walked)
    }
}

struct FileWalk<'a> {
    left: usize,
    walked: WalkSummary,
    visit: &'a mut dyn FnMut(&FoundFile<'_>) -> ControlFlow<()>,
}

impl FileWalk<'_> {
    /// As deep as a path may be, so that this ends and holds few folders open.
    fn folder(&mut self, path: &SafePath, folder: &OwnedFd) -> Result<ControlFlow<()>, FileError> {
        let FolderNames { good: names, unnameable, cut } = read_names(path, folder, self.left)?;
        self.left -= names.len();
        self.walked.passed_over += unnameable;
        self.walked.cut |= cut;
        for name in names {
            // A name of `read_names` is one that a path can have.
            let path = path.join(&name)?;
            let kind = match statat(folder, &name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
            let flow = match kind {
                FileType::RegularFile => self.file(&path, folder, &name),
                FileType::Directory => self.inner(&path, folder, &name),
                _ => {
                    self.walked.passed_over += 1;
                    ControlFlow::Continue(())
                }
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn inner(&mut self, path: &SafePath, parent: &OwnedFd, name: &str) -> ControlFlow<()> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let entered = openat(parent, name, flags, Mode::empty())
            .map_err(FileError::from)
            .and_then(|folder| require_ordinary_place(&folder).map(|()| folder))
            .and_then(|folder| self.folder(path, &folder));
        entered.unwrap_or_else(|_| {
            self.walked.passed_over += 1;
            ControlFlow::Continue(())
        })
    }

    fn file(&mut self, path: &SafePath, folder: &OwnedFd, name: &str) -> ControlFlow<()> {
        self.walked.files += 1;
        let flow = (self.visit)(&FoundFile { path, folder, name });
        self.walked.cut |= flow.is_break();
        flow
    }
}

/// Reads a folder through a handle of its own: the one that is given serves only to find
/// things by.
pub(super) fn read_folder(folder: &OwnedFd) -> rustix::io::Result<Dir> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Dir::new(openat(folder, ".", flags, Mode::empty())?)
}

struct FolderNames {
    good: Vec<String>,
    unnameable: usize,
    cut: bool,
}

/// The names in a folder that a path can have, sorted; at most `max`.
fn read_names(path: &SafePath, folder: &OwnedFd, max: usize) -> Result<FolderNames, FileError> {
    let mut found = FolderNames { good: Vec::new(), unnameable: 0, cut: false };
    for entry in read_folder(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") || name.to_str().is_ok_and(is_reserved) {
            continue;
        }
        if found.good.len() + found.unnameable == max {
            found.cut = true;
            break;
        }
        match name.to_str() {
            Ok(text) if path.join(text).is_ok() => found.good.push(text.to_owned()),
            _ => found.unnameable += 1,
        }
    }
    found.good.sort_unstable();
    Ok(found)
}
