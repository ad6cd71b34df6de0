//! A sandbox around a command: which files it and everything that it starts can reach.

use std::io;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, Ruleset, RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
    path_beneath_rules,
};
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use serde::{Deserialize, Serialize};

/// The error by which a process says that there is no Landlock here.
pub(super) const NO_LANDLOCK: Errno = Errno::OPNOTSUPP;

/// The version of Landlock that is asked for. Newer ones know more rights, and older ones less, which is then
/// told as [`SandboxLevel::Partly`].
const ASKED: ABI = ABI::V6;

/// The paths that every program needs to run at all: programs, libraries, and what describes the machine.
/// They can be read and executed. In `/proc` the kernel shows nothing more of processes outside of the
/// sandbox than everybody can see.
const SYSTEM_FOLDERS: [&str; 14] = [
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix/store",
    "/opt",
    "/proc",
    "/run/systemd/resolve",
    "/sbin",
    "/sys/devices/system",
    "/sys/fs/cgroup",
    "/usr",
];

/// Devices that hold nothing, which can be read and written.
const DEVICES: [&str; 5] = ["/dev/full", "/dev/null", "/dev/random", "/dev/urandom", "/dev/zero"];

/// The files that a command can reach beside the programs and libraries of the machine. Nor can it
/// signal or trace a process outside, and of root's powers it has none.
///
/// The network, and sockets that have a path, are not held back by it. It needs Landlock, which Linux
/// has since 5.13 and some machines switch off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessSandbox {
    /// Folders and files that can be read and executed. A relative path starts at the launch's `cwd`.
    pub read: Vec<PathBuf>,
    /// Folders and files that can be read, executed and changed.
    pub write: Vec<PathBuf>,
    /// True if a command must not start where the kernel has no Landlock.
    pub required: bool,
}

impl Default for ProcessSandbox {
    fn default() -> Self {
        Self { read: Vec::new(), write: Vec::new(), required: true }
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

impl ProcessSandbox {
    /// All that was named, for a check that it is there.
    pub(super) fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.read.iter().chain(&self.write)
    }

    /// Puts this process into the sandbox, for good. `program` is what it is going to be.
    pub(super) fn enter(&self, program: &Path) -> io::Result<SandboxLevel> {
        let applied = self.restrict(program).map_err(io::Error::other)?;
        if applied != SandboxLevel::Not {
            drop_capabilities()?;
        }
        self.judge(applied)
    }

    fn judge(&self, applied: SandboxLevel) -> io::Result<SandboxLevel> {
        match applied {
            SandboxLevel::Not if self.required => Err(NO_LANDLOCK.into()),
            applied => Ok(applied),
        }
    }

    fn restrict(&self, program: &Path) -> Result<SandboxLevel, landlock::RulesetError> {
        let system = SYSTEM_FOLDERS.iter().map(Path::new).chain([program]);
        let read = system.chain(self.read.iter().map(PathBuf::as_path));
        let write = DEVICES.iter().map(Path::new).chain(self.write.iter().map(PathBuf::as_path));
        let status = Ruleset::default()
            .handle_access(AccessFs::from_all(ASKED))?
            .scope(Scope::from_all(ASKED))?
            .create()?
            .add_rules(path_beneath_rules(read, AccessFs::from_read(ASKED)))?
            .add_rules(path_beneath_rules(write, AccessFs::from_all(ASKED)))?
            .restrict_self()?;
        Ok(match status.ruleset {
            RulesetStatus::FullyEnforced => SandboxLevel::Fully,
            RulesetStatus::PartiallyEnforced => SandboxLevel::Partly,
            RulesetStatus::NotEnforced => SandboxLevel::Not,
        })
    }
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
