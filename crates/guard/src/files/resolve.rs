//! From a folder's handle and a path to the handle of what lies there, without leaving the folder.
//!
//! Where the kernel has `openat2`, it resolves the whole path itself, refusing to go above the
//! handle at any moment. Where it does not (an old kernel, a container whose filter does not know the
//! call), [`step_resolver`](super::step_resolver) goes name by name. Both ways pass the same tests.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;

use super::{SafePath, step_resolver};

/// The number of times that the kernel may say that the tree changed under it before we go step by step.
const MAX_TRIES: usize = 16;

/// The rule for symbolic links in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkPolicy {
    /// They are followed as long as they stay in the folder. One with an absolute target never is.
    Inside,
    /// There may be none: the path is the only name of what it leads to.
    Refused,
}

/// The way in which a path is resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolver {
    /// The kernel, in one call.
    Kernel,
    /// We do, name by name.
    Steps,
}

impl Resolver {
    /// The way in which paths are resolved on this machine.
    pub fn of_this_machine() -> io::Result<Self> {
        let root = rustix::fs::open("/", OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Self::detect(root.as_fd()))
    }

    /// The kernel if it can.
    pub(super) fn detect(root: BorrowedFd<'_>) -> Self {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        // A filter of a container says EPERM where it should say ENOSYS.
        match openat2(root, ".", flags, Mode::empty(), RESOLVE) {
            Ok(_) => Self::Kernel,
            Err(_) => Self::Steps,
        }
    }
}

const RESOLVE: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// Opens what a path below `root` leads to. `flags` must not create anything.
pub(super) fn open(
    root: BorrowedFd<'_>,
    path: &SafePath,
    flags: OFlags,
    links: LinkPolicy,
    resolver: Resolver,
) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC;
    if resolver == Resolver::Kernel {
        let resolve = match links {
            LinkPolicy::Inside => RESOLVE,
            LinkPolicy::Refused => RESOLVE | ResolveFlags::NO_SYMLINKS,
        };
        for _ in 0..MAX_TRIES {
            match openat2(root, path.as_str(), flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                other => return Ok(other?),
            }
        }
    }
    Ok(step_resolver::open(root, path, flags, links)?)
}
