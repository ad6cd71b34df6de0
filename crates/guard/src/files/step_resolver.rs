//! Resolves a path name by name.
//!
//! Every folder on the way is held open, and `..`, which only a symbolic link can bring in, goes back
//! to the one that we came from. So a path never leads above where it began, whatever is renamed
//! meanwhile.

use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{FileType, Mode, OFlags, fstat, fstatfs, openat, readlinkat};
use rustix::io::{Errno, Result};

use super::{LinkPolicy, SafePath, file_types};

/// The number of symbolic links that one path may lead through: as many as the kernel allows.
const MAX_LINKS: usize = 40;
/// The number of folders that may be held open on the way: those of a path and of what its links add.
const MAX_OPEN: usize = 256;

/// Opens what the path leads to.
pub(super) fn open(
    root: BorrowedFd<'_>,
    path: &SafePath,
    flags: OFlags,
    links: LinkPolicy,
) -> Result<OwnedFd> {
    let mut resolver = StepResolver { root, open: Vec::new(), links, followed: 0 };
    // The next name is the last element.
    let mut names: Vec<CString> = Vec::new();
    push_names(&mut names, OsStr::new(path.as_str()).as_bytes())?;
    while let Some(name) = names.pop() {
        match name.as_bytes() {
            b"." => {}
            b".." => resolver.up()?,
            _ => {
                if let Some(opened) = resolver.enter(name, &mut names, flags)? {
                    return Ok(opened);
                }
            }
        }
    }
    // The path ends at a folder that is already open.
    openat(resolver.here(), ".", flags, Mode::empty())
}

struct StepResolver<'a> {
    root: BorrowedFd<'a>,
    open: Vec<OwnedFd>,
    links: LinkPolicy,
    followed: usize,
}

impl StepResolver<'_> {
    fn here(&self) -> BorrowedFd<'_> {
        self.open.last().map_or(self.root, AsFd::as_fd)
    }

    fn up(&mut self) -> Result<()> {
        // Above the first one is outside.
        self.open.pop().map(drop).ok_or(Errno::XDEV)
    }

    /// Goes one name further: into a folder, along a link, or to the end of the path.
    fn enter(
        &mut self,
        name: CString,
        names: &mut Vec<CString>,
        flags: OFlags,
    ) -> Result<Option<OwnedFd>> {
        let look = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let found = openat(self.here(), &name, look, Mode::empty())?;
        let is_last = names.is_empty();
        match FileType::from_raw_mode(fstat(&found)?.st_mode) {
            FileType::Symlink => {
                let target = self.target(&found)?;
                push_names(names, target.as_bytes())?;
                Ok(None)
            }
            FileType::Directory if !is_last => {
                if self.open.len() >= MAX_OPEN {
                    return Err(Errno::NAMETOOLONG);
                }
                self.open.push(found);
                Ok(None)
            }
            _ if !is_last => Err(Errno::NOTDIR),
            kind if flags.contains(OFlags::DIRECTORY) && kind != FileType::Directory => {
                Err(Errno::NOTDIR)
            }
            _ if flags.contains(OFlags::PATH) => Ok(Some(found)),
            _ => match openat(self.here(), &name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                // It became a link since we looked: look again.
                Err(Errno::LOOP) => {
                    self.count()?;
                    names.push(name);
                    Ok(None)
                }
                other => other.map(Some),
            },
        }
    }

    /// Where a symbolic link leads, if it may be followed.
    fn target(&mut self, link: &OwnedFd) -> Result<CString> {
        if self.links == LinkPolicy::Refused {
            return Err(Errno::LOOP);
        }
        self.count()?;
        // The links of procfs lead wherever a process has something open.
        if file_types::is_of_the_kernel(fstatfs(link)?.f_type) {
            return Err(Errno::LOOP);
        }
        let target = readlinkat(link, "", Vec::new())?;
        if target.as_bytes().starts_with(b"/") {
            return Err(Errno::XDEV);
        }
        Ok(target)
    }

    fn count(&mut self) -> Result<()> {
        self.followed += 1;
        if self.followed > MAX_LINKS { Err(Errno::LOOP) } else { Ok(()) }
    }
}

/// Puts the names of a path on the stack of those to come.
fn push_names(names: &mut Vec<CString>, path: &[u8]) -> Result<()> {
    if path.is_empty() {
        return Err(Errno::NOENT);
    }
    // What ends in a slash must be a folder, and `.` says the same.
    if path.ends_with(b"/") {
        names.push(c".".to_owned());
    }
    for name in path.rsplit(|byte| *byte == b'/').filter(|name| !name.is_empty()) {
        names.push(CString::new(name).map_err(|_| Errno::INVAL)?);
    }
    Ok(())
}
