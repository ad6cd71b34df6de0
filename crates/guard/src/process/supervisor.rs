//! The process between the server and a tool, which sees to it that nothing of the tool is left.
#![allow(clippy::disallowed_types, reason = "this is part of the supervised way to start a child")]

use std::ffi::OsString;
use std::io;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, set_child_subreaper, setsid, wait};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::channel::{self, MAX_REPORT_BYTES, Report, Step};
use super::tree::kill_descendants;

/// How long killed processes may take to disappear. One that hangs in the kernel must not hold the
/// call for ever; it holds a `SIGKILL` and runs no more of its code.
const CLEARING_PATIENCE: Duration = Duration::from_secs(5);
/// Between two looks at whether they are gone.
const CLEARING_PAUSE: Duration = Duration::from_millis(1);

/// Arguments: the confinement as JSON, the program, its arguments.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> ! {
    let told = channel::take_from_stdin().and_then(|channel| run(channel, arguments));
    std::process::exit(i32::from(told.is_err()))
}

/// Supervises the tool to its end, and reports it.
fn run(channel: UnixStream, arguments: impl Iterator<Item = OsString>) -> io::Result<()> {
    // Out of reach of the terminal's Ctrl-C, which would kill this process and not the tool. Also
    // marks all that is below it, should this process die all the same.
    let _ = setsid();
    let streams = channel::receive_streams(&channel)?;
    channel.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
    runtime.block_on(async {
        let mut channel = tokio::net::UnixStream::from_std(channel)?;
        let report = match Tool::start(&streams.each_ref().map(AsFd::as_fd), arguments) {
            Ok(tool) => {
                // From here on only the tool holds its streams, and their end is its end.
                drop(streams);
                tool.supervise(&mut channel).await
            }
            Err(error) => Report::not_started(Step::Prepare, &error),
        };
        channel.write_all(&report.to_json()).await
    })
}

/// The running tool, and how this process learns what happens to it.
struct Tool {
    pid: Pid,
    /// Says what became of the sandbox, and why the tool could not be executed; closes when it was.
    start: tokio::net::UnixStream,
    /// What it has said so far.
    words: Vec<u8>,
    /// It will say no more.
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

impl Tool {
    fn start(
        streams: &[std::os::fd::BorrowedFd<'_>; 3],
        mut arguments: impl Iterator<Item = OsString>,
    ) -> io::Result<Tool> {
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
        Ok(Tool { pid, start, words: Vec::new(), begun: false, ended: None, signals })
    }

    /// Waits until the tool ends by itself or has to, and clears up.
    async fn supervise(mut self, channel: &mut tokio::net::UnixStream) -> Report {
        while self.reap() == Left::Some && self.ended.is_none() {
            let signals = &mut self.signals;
            // The server sends nothing more: whatever it reads here is the end of the call.
            let mut byte = [0];
            tokio::select! {
                heard = self.start.read_buf(&mut self.words), if !self.begun => {
                    self.hear(&heard);
                    if let (true, Some(started)) = (self.begun, self.started()) {
                        // A server that is gone shows on the same channel.
                        let _ = channel.write_all(&started.to_json()).await;
                    }
                }
                _ = signals.child_changed.recv() => {}
                _ = channel.read(&mut byte) => break,
                _ = signals.terminate.recv() => break,
                _ = signals.interrupt.recv() => break,
                _ = signals.hang_up.recv() => break,
                _ = signals.quit.recv() => break,
            }
        }
        self.clear();
        self.report(channel).await
    }

    /// Takes note of what the start has said. Its end is the start of the tool.
    fn hear(&mut self, heard: &io::Result<usize>) {
        self.begun = !matches!(heard, Ok(1..)) || self.words.len() as u64 >= MAX_REPORT_BYTES;
    }

    /// That the tool runs, unless its start said otherwise.
    fn started(&self) -> Option<Report> {
        match Report::latest(&self.words) {
            None => Some(Report::Started { sandbox: None }),
            started @ Some(Report::Started { .. }) => started,
            Some(_) => None,
        }
    }

    /// Kills and reaps until no child is left. Every descendant is one, sooner or later: this process
    /// inherits the orphans.
    fn clear(&mut self) {
        let deadline = Instant::now() + CLEARING_PATIENCE;
        while self.reap() == Left::Some && Instant::now() < deadline {
            kill_descendants(getpid());
            std::thread::sleep(CLEARING_PAUSE);
        }
    }

    /// Takes note of all children that ended: the tool itself, and orphans that it left.
    fn reap(&mut self) -> Left {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if pid == self.pid => self.ended = Some(status),
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Left::Some,
                Err(_) => return Left::None,
            }
        }
    }

    /// How it ended. That it began is told before that, if it was not yet.
    async fn report(mut self, channel: &mut tokio::net::UnixStream) -> Report {
        let killed = Report::Signalled(rustix::process::Signal::KILL.as_raw());
        // It holds a SIGKILL and hangs in the kernel.
        let Some(status) = self.ended else {
            return killed;
        };
        // The other end closed when the tool was executed, or when the process ended.
        let told = self.begun;
        while !self.begun {
            let heard = self.start.read_buf(&mut self.words).await;
            self.hear(&heard);
        }
        let Some(started) = self.started() else {
            return Report::latest(&self.words).unwrap_or(killed);
        };
        if !told {
            let _ = channel.write_all(&started.to_json()).await;
        }
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Report::Exited(code),
            (None, Some(signal)) => Report::Signalled(signal),
            (None, None) => killed,
        }
    }
}

/// Whether this process has children, running or not.
#[derive(PartialEq, Eq)]
enum Left {
    Some,
    None,
}
