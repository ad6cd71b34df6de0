//! A preview of a write, for a person who is asked before it happens.
//!
//! It goes the same way as the write, so that what is shown is what would happen: it changes nothing,
//! and fails where the write would.

use std::os::fd::OwnedFd;

use rustix::fs::{Access, AtFlags, accessat, statat};
use rustix::io::Errno;

use super::file_tree::OpenRoot;
use super::file_types::require_ordinary_place;
use super::read::OpenFile;
use super::replace::{file_name, replaceable, require_folder};
use super::{FileError, FileTree, SafePath};

/// The thing that stands where a file would be written.
#[derive(Debug)]
pub enum WriteTarget {
    /// Nothing: the file would be new.
    Nothing,
    /// A file, which may have other names: they would keep it.
    File(OpenFile),
    /// A file that we may replace and not read.
    Unreadable,
}

impl FileTree {
    /// The file that [`FileTree::write`] would replace. Fails where the write would, as far as that is known.
    pub fn preview_write(&self, path: &SafePath) -> Result<WriteTarget, FileError> {
        let (parent, name) = file_name(path)?;
        let Some(folder) = find_folder(&*self.open_root()?, &parent)? else {
            return Ok(WriteTarget::Nothing);
        };
        require_ordinary_place(&folder)?;
        let old = replaceable(&folder, name)?;
        require_writable(&folder)?;
        if old.is_none() {
            return Ok(WriteTarget::Nothing);
        }
        match OpenFile::with_any_names(&folder, name) {
            Ok(opened) => Ok(WriteTarget::File(opened)),
            Err(error) if error.is_forbidden() => Ok(WriteTarget::Unreadable),
            Err(error) => Err(error),
        }
    }

    /// The text that [`FileTree::edit`] would change. Fails where the edit would, as far as that is known.
    pub fn preview_edit(&self, path: &SafePath, limit: u64) -> Result<String, FileError> {
        let (parent, name) = file_name(path)?;
        let folder = self.open_root()?.open_folder(&parent)?;
        replaceable(&folder, name)?.ok_or(FileError::NotFound)?;
        let text = OpenFile::in_folder(&folder, name)?.read_text(limit)?;
        require_writable(&folder)?;
        Ok(text)
    }
}

/// The folder, or nothing if it could be made.
fn find_folder(root: &OpenRoot, path: &SafePath) -> Result<Option<OwnedFd>, FileError> {
    match root.open_folder(path) {
        Err(FileError::NotFound) => {}
        other => return other.map(Some),
    }
    let mut here = root.open_folder(&SafePath::root())?;
    let mut at = SafePath::root();
    for name in path.names() {
        at = at.join(name)?;
        match root.open_folder(&at) {
            Ok(folder) => here = folder,
            Err(FileError::NotFound) => {
                require_ordinary_place(&here)?;
                return match statat(&here, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Err(Errno::NOENT) => require_writable(&here).map(|()| None),
                    // Such as a link to nothing, which is not made into a folder.
                    stat => {
                        require_folder(&stat?)?;
                        Err(FileError::Changed)
                    }
                };
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(here))
}

fn require_writable(folder: &OwnedFd) -> Result<(), FileError> {
    Ok(accessat(folder, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::empty())?)
}
