//! Supervised, bounded children: a command never outlives its call.
//!
//! Three processes take part, because none of them alone can promise that:
//!
//! ```text
//! server ──channel──▶ supervisor ──▶ the tool (and whatever it forks)
//! ```
//!
//! - The **server** ([`Spawner`]) starts a supervisor for each command and reads the tool's pipes.
//! - The **supervisor** is our own binary again. It is a child subreaper, so that a descendant which
//!   forks twice and leaves its session still ends up below it. When the tool ends, or the channel
//!   to the server closes because the server stopped the call, dropped it or was killed with
//!   `kill -9`, it kills and reaps all that is left, and then reports how the tool ended.
//! - A **confined** start, our binary a third time, sets the resource limits on itself and becomes
//!   the tool by `exec`. The supervisor cannot set them on itself: a supervisor that runs out of
//!   memory or of open files loses its tree. And without `unsafe` nothing can run between `fork`
//!   and `exec`.
//!
//! A command that is to outlive the server ([`Spawner::start_detached`]) has a **detached supervisor**, which stays
//! with it when the server lets go, holds a lock as long as anything of it is left, and keeps the end of its output.
//!
//! The report travels over the channel and not in an exit code, so that "could not be started",
//! "exited with 127" and "died of a signal" are never mistaken for each other.
//!
//! This does not stop everything: a tool of the same user that means harm can kill its supervisor, then
//! the server finds and kills the rest of the session, but not a process that had left it. A
//! [`ProcessSandbox`] around it, where the kernel gives all of it, keeps it from both.

mod capture;
mod channel;
mod child;
mod command;
mod confine;
mod descendants;
mod detached;
mod detached_supervisor;
mod identity;
mod launch;
mod listeners;
mod log_ring;
mod process_table;
mod program;
mod sandbox;
mod spawner;
mod supervised;
mod supervisor;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};

pub use capture::MAX_STDERR_LINE_BYTES;
pub use child::Child;
pub use detached::{DetachedChild, DetachedLaunch};
pub use identity::ProcessIdentity;
pub use launch::{CapturedOutput, ExitReason, FinishedCommand, Launch, ResourceLimits, StartError};
pub use listeners::{Listener, listeners};
pub use log_ring::log_tail;
pub use program::find_program;
pub use sandbox::{ProcessSandbox, SandboxLevel};
pub use spawner::Spawner;

/// First argument that makes our binary a supervisor.
const SUPERVISE: &str = "__supervise";
/// First argument that makes our binary a detached supervisor.
const SUPERVISE_DETACHED: &str = "__supervise_detached";
/// The first descriptor that is not one of the standard streams.
const FIRST_AFTER_STREAMS: i32 = 3;
/// First argument that makes our binary become a tool within limits.
const CONFINE: &str = "__confine";

/// Turns this process into a supervisor if it was started as one, and then never returns.
///
/// Must be the first line of `main` in a program that uses [`Spawner::of_this_program`], before
/// threads, logging or a runtime exist.
///
/// Whatever it is, nothing of its memory gets into a core dump, and no other process of this user may look into it.
pub fn supervise_if_asked() {
    keep_memory_private();
    // What is open beside the standard streams was left open by whoever started this program, and is no
    // business of its children: a lock or a pipe that a model server holds is held for weeks.
    close_fds::set_fds_cloexec(FIRST_AFTER_STREAMS, &[]);
    let mut arguments = std::env::args_os().skip(1);
    match arguments.next() {
        Some(word) if word == SUPERVISE => supervisor::main(arguments),
        Some(word) if word == SUPERVISE_DETACHED => detached_supervisor::main(arguments),
        Some(word) if word == CONFINE => confine::main(arguments),
        _ => {}
    }
}

/// The memory of this program holds secrets, and that of a supervisor what it starts with. A program that it starts can be
/// dumped again, within its own limits. Where the kernel refuses there is nothing else to do.
fn keep_memory_private() {
    let none = Rlimit { current: Some(0), maximum: Some(0) };
    let _ = setrlimit(Resource::Core, none);
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
}
