//! The tool below a supervisor, detached or not: its start, its end, and everything that it leaves.
#![allow(clippy::disallowed_types, reason = "this is part of the supervised way to start a child")]

use std::ffi::OsString;
use std::io;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::channel::{self, MAX_REPORT_BYTES, ProcessReport};
use super::descendants::kill_descendants;

/// The time that killed processes may take to disappear. One that hangs in the kernel must not hold the
/// call for ever; it holds a `SIGKILL` and runs no more of its code.
const CLEARING_TIMEOUT: Duration = Duration::from_secs(5);
/// Between two looks at whether they are gone.
const CLEARING_PAUSE: Duration = Duration::from_millis(1);

/// The running tool, and how this process learns what happens to it.
pub(super) struct SupervisedCommand {
    pid: Pid,
    /// Says what became of the sandbox, and why the tool could not be executed; closes when it was.
    start: tokio::net::UnixStream,
    /// The bytes of its reports so far.
    received: Vec<u8>,
    /// No further report comes.
    begun: bool,
    ended: Option<WaitStatus>,
    signals: Signals,
}

/// The signals that this process reacts to. Catching them has a welcome side effect: one that the
/// server was told to ignore (`nohup`, a shell's background job) is back to normal in the tool.
struct Signals {
    child_changed: Signal,
    terminate: Signal,
    interrupt: Signal,
    hang_up: Signal,
    quit: Signal,
}

impl Signals {
    fn catch() -> io::Result<Signals> {
        Ok(Signals {
            child_changed: signal(SignalKind::child())?,
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
        })
    }
}

impl SupervisedCommand {
    pub(super) fn start(
        streams: &[std::os::fd::BorrowedFd<'_>; 3],
        mut arguments: impl Iterator<Item = OsString>,
    ) -> io::Result<SupervisedCommand> {
        let confinement = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
        set_child_subreaper(Some(getpid()))?;
        let signals = Signals::catch()?;
        let (start, theirs) = UnixStream::pair()?;
        channel::send_streams(&start, *streams)?;
        let child = Command::new("/proc/self/exe")
            .arg(super::CONFINE)
            .arg(getpid().as_raw_nonzero().to_string())
            .arg(confinement)
            .args(arguments)
            .stdin(Stdio::from(std::os::fd::OwnedFd::from(theirs)))
            // Its own group: `kill 0` in a tool means the tool.
            .process_group(0)
            .spawn()?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let pid = pid.ok_or(io::ErrorKind::InvalidData)?;
        start.set_nonblocking(true)?;
        let start = tokio::net::UnixStream::from_std(start)?;
        Ok(SupervisedCommand {
            pid,
            start,
            received: Vec::new(),
            begun: false,
            ended: None,
            signals,
        })
    }

    /// True if the tool itself still runs.
    pub(super) fn is_running(&mut self) -> bool {
        self.reap() && self.ended.is_none()
    }

    /// Waits for whatever happens next. Cancel-safe.
    pub(super) async fn next(
        &mut self,
        channel: Option<&mut tokio::net::UnixStream>,
    ) -> SupervisorEvent {
        let message = async {
            match channel {
                Some(channel) => {
                    let mut byte = [0];
                    let read = channel.read(&mut byte).await;
                    matches!(read, Ok(1)).then_some(byte[0])
                }
                None => std::future::pending().await,
            }
        };
        let signals = &mut self.signals;
        tokio::select! {
            read = self.start.read_buf(&mut self.received), if !self.begun => {
                self.note_received(&read);
                match (self.begun, self.started()) {
                    (true, Some(started)) => SupervisorEvent::Started(started),
                    _ => SupervisorEvent::ChildChanged,
                }
            }
            _ = signals.child_changed.recv() => SupervisorEvent::ChildChanged,
            byte = message => SupervisorEvent::Message(byte),
            _ = signals.terminate.recv() => SupervisorEvent::StopRequested,
            _ = signals.interrupt.recv() => SupervisorEvent::StopRequested,
            _ = signals.hang_up.recv() => SupervisorEvent::StopRequested,
            _ = signals.quit.recv() => SupervisorEvent::StopRequested,
        }
    }

    /// Takes note of what the start has said. Its end is the start of the tool.
    fn note_received(&mut self, read: &io::Result<usize>) {
        self.begun = !matches!(read, Ok(1..)) || self.received.len() as u64 >= MAX_REPORT_BYTES;
    }

    /// That the tool runs, unless its start said otherwise.
    fn started(&self) -> Option<ProcessReport> {
        match ProcessReport::latest(&self.received) {
            None => Some(ProcessReport::Started { sandbox: None }),
            started @ Some(ProcessReport::Started { .. }) => started,
            Some(_) => None,
        }
    }

    /// Kills and reaps until no child is left. Every descendant is one, sooner or later: this process
    /// inherits the orphans.
    pub(super) fn clear(&mut self) {
        let deadline = Instant::now() + CLEARING_TIMEOUT;
        while self.reap() && Instant::now() < deadline {
            kill_descendants(getpid());
            std::thread::sleep(CLEARING_PAUSE);
        }
    }

    /// Takes note of all children that ended: the tool itself, and orphans that it left. True if this
    /// process has more children, running or not.
    pub(super) fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.pid => self.ended = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// The report about its end. That it began is told before that, if it was not yet.
    pub(super) async fn report(
        mut self,
        channel: Option<&mut tokio::net::UnixStream>,
    ) -> ProcessReport {
        let killed = ProcessReport::Signalled(rustix::process::Signal::KILL.as_raw());
        // It holds a SIGKILL and hangs in the kernel.
        let Some(status) = self.ended else {
            return killed;
        };
        // The other end closed when the tool was executed, or when the process ended.
        let was_reported = self.begun;
        while !self.begun {
            let read = self.start.read_buf(&mut self.received).await;
            self.note_received(&read);
        }
        let Some(started) = self.started() else {
            return ProcessReport::latest(&self.received).unwrap_or(killed);
        };
        if let (false, Some(channel)) = (was_reported, channel) {
            let _ = channel.write_all(&started.to_json()).await;
        }
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => ProcessReport::Exited(code),
            (None, Some(signal)) => ProcessReport::Signalled(signal),
            (None, None) => killed,
        }
    }
}

/// An event that a supervisor waits for.
pub(super) enum SupervisorEvent {
    /// The tool runs.
    Started(ProcessReport),
    /// A child ended, perhaps the tool itself.
    ChildChanged,
    /// The server said this, or nothing and never will.
    Message(Option<u8>),
    /// Somebody wants all of it to end.
    StopRequested,
}
