//! A sandbox around a command: which files it and everything that it starts can reach, and whether the network.

mod access_map;
mod landlock_rules;
mod no_network;
mod other_processes;

use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::{Deserialize, Serialize};

use self::access_map::{AccessMap, PathAccess};
use crate::files::PathLocation;

/// The error by which a process says that there is no Landlock here.
pub(super) const NO_LANDLOCK: Errno = Errno::OPNOTSUPP;

/// The folders of a home that runners of packages make when they are first started.
const HOME_FOLDERS: [&str; 6] =
    [".cache", ".config", ".local", ".local/share", ".local/state", ".npm"];

/// The files that a command can reach beside the programs and libraries of the machine, and whether it can reach the
/// network. Nor can it signal, trace or change a process outside, and of root's powers it has none.
///
/// The nearest path above a file decides about it. With `write: ["/"]` everything can be reached that is not hidden. In
/// a folder in which something is hidden or fixed, nothing new can be made, and what others make there later cannot be
/// read.
///
/// Sockets that have a path are not held back by it, and neither are names, sizes, modes and times of files. A file that has a
/// second name or is mounted in a second place can be reached there. For files it needs Landlock, which Linux has since
/// 5.13 and some machines switch off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSandbox {
    /// Folders and files that can be read and executed. A relative path starts at the launch's `cwd`. One that leads through a
    /// symbolic link opens nothing.
    pub read: Vec<PathBuf>,
    /// Folders and files that can be read, executed and changed.
    pub write: Vec<PathBuf>,
    /// Folders and files that cannot be read or changed, but for what the lists above name there. They need not exist.
    pub hidden: Vec<PathBuf>,
    /// Folders and files that cannot be changed, likewise.
    pub fixed: Vec<PathBuf>,
    /// True if it can reach the network.
    pub network: bool,
    /// True if a command must not start where the kernel has no Landlock.
    pub required: bool,
}

impl Default for ProcessSandbox {
    fn default() -> Self {
        Self {
            read: Vec::new(),
            write: Vec::new(),
            hidden: Vec::new(),
            fixed: Vec::new(),
            network: true,
            required: true,
        }
    }
}

/// The part of a sandbox that a kernel could give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// All of it.
    Fully,
    /// Files are held back, but not in every respect: before Linux 6.12 processes outside can be
    /// signalled, before 6.10 devices be controlled, before 6.2 files be emptied.
    Partly,
    /// Nothing: there is no sandbox.
    Not,
}

impl SandboxLevel {
    /// The part that the kernel of this machine can give.
    pub fn of_this_machine() -> SandboxLevel {
        landlock_rules::available()
    }
}

impl ProcessSandbox {
    /// The same with a folder that can be changed, too.
    #[must_use]
    pub fn with_write(mut self, folder: &Path) -> Self {
        let place = PathLocation::of(folder).map(|location| location.end().to_owned());
        self.write.push(place.unwrap_or_else(|_| folder.to_owned()));
        self
    }

    /// True if a command in it can change this, as far as the sandbox says. `cwd` is where relative paths start.
    pub fn can_change(&self, path: &Path, cwd: &Path) -> bool {
        let place = |list: &[PathBuf]| list.iter().map(|path| cwd.join(path)).collect();
        let placed = Self {
            read: place(&self.read),
            write: place(&self.write),
            hidden: place(&self.hidden),
            fixed: place(&self.fixed),
            ..self.clone()
        };
        let map = AccessMap::of(&placed, Path::new("/"));
        PathLocation::of(path).is_ok_and(|found| map.access_at(found.end()) == PathAccess::Write)
    }

    /// All that was named, for a check that it is there.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.iter().chain(&self.write)
    }

    /// Puts this process into the sandbox, for good. `program` is what it is going to be. Beside what the kernel
    /// gives: the folder for its temporary files, where it is not the usual one.
    pub(super) fn enter(&self, program: &Path) -> io::Result<(SandboxLevel, Option<PathBuf>)> {
        let map = AccessMap::of(self, program);
        make_home_folders(&map);
        let temporary = temporary_folder(&map);
        let applied = landlock_rules::restrict(&map)?;
        if applied != SandboxLevel::Not {
            drop_capabilities()?;
        }
        other_processes::enter()?;
        if !self.network {
            no_network::enter()?;
        }
        Ok((self.judge(applied)?, temporary))
    }

    fn judge(&self, applied: SandboxLevel) -> io::Result<SandboxLevel> {
        match applied {
            SandboxLevel::Not if self.required => Err(NO_LANDLOCK.into()),
            applied => Ok(applied),
        }
    }
}

/// Makes what `npx` and `uvx` make in a home where they are first started: inside they could not, where the home is a
/// folder in which something is hidden. What cannot be made is their trouble.
fn make_home_folders(map: &AccessMap) {
    let Some(home) = std::env::var_os("HOME").map(PathBuf::from) else { return };
    if map.is_divided(&home) && map.access_at(&home) == PathAccess::Write {
        for folder in HOME_FOLDERS {
            let _ = std::fs::create_dir(home.join(folder));
        }
    }
}

/// Programs make files in the folder for temporary ones. Where something in that is hidden they could not, and get a
/// folder of their user's in it.
fn temporary_folder(map: &AccessMap) -> Option<PathBuf> {
    let shared = std::env::temp_dir();
    if !map.is_divided(&shared) || map.access_at(&shared) != PathAccess::Write {
        return None;
    }
    let user = rustix::process::getuid().as_raw();
    let own = shared.join(format!("toolgate-{user}"));
    let _ = std::fs::DirBuilder::new().mode(0o700).create(&own);
    // Somebody else may have taken the name.
    let found = std::fs::symlink_metadata(&own).ok()?;
    (found.is_dir() && found.uid() == user && found.mode() & 0o777 == 0o700).then_some(own)
}

/// Without them root is a user like others. With one of them (`CAP_PERFMON`) it would read the memory
/// and the environment of processes outside, whatever Landlock says. They do not come back by `exec`,
/// because this process can gain no privileges.
fn drop_capabilities() -> io::Result<()> {
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    Ok(set_capabilities(None, sets)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_landlock_nothing_starts_that_needs_it() {
        let needed = ProcessSandbox::default();
        assert_eq!(
            needed.judge(SandboxLevel::Not).unwrap_err().raw_os_error(),
            Some(NO_LANDLOCK.raw_os_error())
        );
        assert_eq!(needed.judge(SandboxLevel::Partly).unwrap(), SandboxLevel::Partly);
        let wished = ProcessSandbox { required: false, ..ProcessSandbox::default() };
        assert_eq!(wished.judge(SandboxLevel::Not).unwrap(), SandboxLevel::Not);
    }
}
