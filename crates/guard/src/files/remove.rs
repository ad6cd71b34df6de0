//! Removing a tree that a tool left, which may be of any depth and without permissions.
//!
//! `remove_dir_all` goes down the tree with one open directory a level, and gives up where it may not
//! read. A tool can leave a hundred thousand levels, and ordinary ones leave read-only folders (Go's
//! module cache does). Here every inner folder is lifted to the top of the tree before its parent is
//! removed, so that there are never more than two levels to hold open.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::path::Arg;

/// The permissions that the owner needs in order to list a folder and to remove from it.
const OWNER_ALL: u32 = 0o700;

/// Removes what is called `name` in `parent`; a missing one is fine.
pub(super) fn tree(parent: impl AsFd, name: &str) -> io::Result<()> {
    let parent = parent.as_fd();
    if remove_unless_full(parent, name)? {
        return Ok(());
    }
    empty(&open_accessible(parent, name)?)?;
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

/// Removes everything in `top`.
fn empty(top: &OwnedFd) -> io::Result<()> {
    let mut lifted = 0_u64;
    // Listing a folder while it changes can miss names, so it is listed until it is empty.
    loop {
        let mut found = false;
        for name in names(top) {
            let name = name?;
            found = true;
            if remove_unless_full(top.as_fd(), &name)? {
                continue;
            }
            let folder = open_accessible(top.as_fd(), &name)?;
            for inner in names(&folder) {
                let inner = inner?;
                if !remove_unless_full(folder.as_fd(), &inner)? {
                    lift(&folder, &inner, top, &mut lifted)?;
                }
            }
            remove_unless_full(top.as_fd(), &name)?;
        }
        if !found {
            return Ok(());
        }
    }
}

/// Removes a file, a link or an empty folder. False: it is a folder with something in it.
fn remove_unless_full(parent: BorrowedFd<'_>, name: impl Arg + Copy) -> io::Result<bool> {
    match unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => return Ok(true),
        // A folder: POSIX says EPERM, Linux says EISDIR.
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(error) => return Err(error.into()),
    }
    match unlinkat(parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Moves a folder to the top of the tree, under a name that is free there.
fn lift(folder: &OwnedFd, name: &CString, top: &OwnedFd, lifted: &mut u64) -> io::Result<()> {
    let mut opened = false;
    loop {
        let target = format!(".lifted-{lifted}");
        *lifted += 1;
        match renameat(folder, name, top, target.as_str()) {
            Ok(()) | Err(Errno::NOENT) => return Ok(()),
            // The tool itself has something of that name.
            Err(Errno::EXIST | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            // A folder that moves gets another parent written into it, which needs the permission.
            Err(Errno::ACCESS) if !opened => {
                open_accessible(folder.as_fd(), name)?;
                opened = true;
            }
            Err(error) => return Err(error.into()),
        }
    }
}

/// Opens a folder, and not through a link, after giving its owner the permissions that are missing.
fn open_accessible(parent: BorrowedFd<'_>, name: impl Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let folder = openat(parent, name, flags, Mode::empty())?;
    if fstat(&folder)?.st_mode & OWNER_ALL != OWNER_ALL {
        // Through the handle, because the name could be exchanged for a link just now.
        let handle = format!("/proc/self/fd/{}", folder.as_raw_fd());
        std::fs::set_permissions(handle, PermissionsExt::from_mode(OWNER_ALL))?;
    }
    Ok(folder)
}

/// The names in a folder as it is being read.
fn names(folder: &OwnedFd) -> impl Iterator<Item = io::Result<CString>> {
    // The handle itself only serves to find files by; this one can be read.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let readable = openat(folder, ".", flags, Mode::empty());
    let (listing, failed) = match readable.and_then(rustix::fs::Dir::new) {
        Ok(listing) => (Some(listing), None),
        Err(error) => (None, Some(Err(error.into()))),
    };
    let entries = listing.into_iter().flatten().filter_map(|entry| match entry {
        Ok(entry) if matches!(entry.file_name().to_bytes(), b"." | b"..") => None,
        Ok(entry) => Some(Ok(entry.file_name().to_owned())),
        Err(error) => Some(Err(error.into())),
    });
    failed.into_iter().chain(entries)
}
