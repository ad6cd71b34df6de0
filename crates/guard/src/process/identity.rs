//! A process, named in a way that outlives it: a later one with the same number is another.

use rustix::process::{Pid, Signal};
use serde::{Deserialize, Serialize};

use super::descendants;
use super::process_table::Process;

/// A process that was there once, and perhaps still is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// When it was started, in ticks since the machine was.
    pub started: u64,
}

impl ProcessIdentity {
    pub(super) fn of(pid: Pid) -> Option<ProcessIdentity> {
        let (pid, started) = Process::read(pid)?.identity();
        Some(ProcessIdentity { pid: pid.as_raw_nonzero().get(), started })
    }

    /// The process itself, if it is still there.
    pub(super) fn process(&self) -> Option<Process> {
        let process = Process::read(Pid::from_raw(self.pid)?)?;
        (process.alive && process.identity().1 == self.started).then_some(process)
    }

    /// True if it still runs.
    pub fn is_alive(&self) -> bool {
        self.process().is_some()
    }

    pub fn ask_to_end(&self) {
        if let Some(process) = self.process() {
            descendants::send(&process, Signal::TERM);
        }
    }

    /// Kills what is left of the session that it led, after it has died without doing so itself. Says whether there was
    /// anything.
    pub fn clear_up(&self) -> bool {
        let Some(leader) = Pid::from_raw(self.pid) else { return false };
        // A number is not used again as long as a session bears it; so whoever has it now, and is not the one that is
        // meant, shows that nothing of the session was left.
        match Process::read(leader) {
            Some(now) if now.identity().1 != self.started => false,
            Some(now) if now.alive => false,
            _ => descendants::kill_members(leader, self.started),
        }
    }

    /// Kills it and everything below it.
    pub fn destroy(&self) {
        let Some(process) = self.process() else { return };
        // Stopped, it can start nothing while we look.
        descendants::send(&process, Signal::STOP);
        descendants::kill_descendants(process.pid);
        descendants::send(&process, Signal::KILL);
    }
}
