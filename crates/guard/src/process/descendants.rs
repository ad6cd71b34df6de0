//! Killing whole trees of processes.

use std::collections::HashSet;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::process_table::{self, Process};

/// The number of times that a tree is looked at again. Each round catches what was forked during the one before;
/// a tree that is frozen grows no more, so that a handful is enough even for a fork bomb.
const MAX_ROUNDS: usize = 100;

/// Kills everything below `root`, but not `root` itself. True if there was anything, zombies
/// included. Returns once every process has its `SIGKILL`, which may be shortly before it is gone.
///
/// The caller must own `root`: be it, or be its parent that has not reaped it.
pub(super) fn kill_descendants(root: Pid) -> bool {
    let mut any = false;
    let mut doomed = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        freeze(root);
        let found = process_table::descendants_of(root);
        any |= !found.is_empty();
        let mut fresh = false;
        for process in found.iter().filter(|process| process.alive) {
            fresh |= doomed.insert(process.identity());
            send(process, Signal::KILL);
        }
        // A process with a pending SIGKILL forks no more: when a round meets only such, all is done.
        if !fresh {
            break;
        }
    }
    any
}

/// Kills what is left of the session that `leader` led, after it died without doing so itself.
///
/// The caller must be the parent of `leader` and not have reaped it, so that the number is still its
/// own.
pub(super) fn kill_session(leader: Pid) {
    kill_members(leader, 0);
}

/// Kills the members of a session that were started then or later, and whatever is below them. Says
/// whether there were any.
pub(super) fn kill_members(leader: Pid, started: u64) -> bool {
    let mut doomed = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut fresh = false;
        for member in process_table::all() {
            let of_session = member.session == leader.as_raw_nonzero().get();
            let later = member.identity().1 >= started;
            if !of_session || !later || member.pid == leader || !member.alive {
                continue;
            }
            fresh |= doomed.insert(member.identity());
            send(&member, Signal::STOP);
            kill_descendants(member.pid);
            send(&member, Signal::KILL);
        }
        if !fresh {
            break;
        }
    }
    !doomed.is_empty()
}

/// Stops everything below `root`, so that nothing forks away while it is being killed.
fn freeze(root: Pid) {
    let mut frozen = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let mut fresh = false;
        for process in process_table::descendants_of(root) {
            if process.alive && frozen.insert(process.identity()) {
                fresh = true;
                send(&process, Signal::STOP);
            }
        }
        if !fresh {
            return;
        }
    }
}

/// Signals everything below `root`, parents first.
pub(super) fn signal_descendants(root: Pid, signal: Signal) {
    for process in process_table::descendants_of(root).iter().filter(|process| process.alive) {
        send(process, signal);
    }
}

/// Signals exactly this process, never a later one that got its number.
pub(super) fn send(process: &Process, signal: Signal) {
    // A signal that cannot be sent means a process that is gone, or one of another user, which a tool
    // cannot start because it may not gain privileges. Neither leaves anything to do.
    match pidfd_open(process.pid, PidfdFlags::empty()) {
        Ok(handle) => {
            let now = Process::read(process.pid);
            if now.is_some_and(|now| now.identity() == process.identity()) {
                let _ = pidfd_send_signal(handle, signal);
            }
        }
        Err(Errno::SRCH) => {}
        // No descriptor free, or a kernel before 5.3: the number alone has to do.
        Err(_) => {
            let _ = kill_process(process.pid, signal);
        }
    }
}
