//! The process that stays with a command which outlives the server that started it.
//!
//! Until the server lets go, it is a supervisor: a server that dies takes the command with it. From then
//! on it is all that the command has. It writes what the command prints to a log of bounded size, holds
//! the lock by which everybody can see that the command runs, and ends the command when it is asked
//! to by `SIGTERM`, gently first.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Signal, getpid, setsid};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixStream, unix::pipe};
use tokio::time::{Instant, sleep_until, timeout};

use super::channel::{self, ProcessReport, StartStep};
use super::command::{SupervisedCommand, SupervisorEvent};
use super::confine::Confinement;
use super::descendants::signal_descendants;
use super::log_ring::LogRing;

/// The byte by which the server lets go.
pub(super) const DETACH: u8 = b'g';

/// The bytes of output that are read at once.
const CHUNK_BYTES: usize = 65_536;
/// The time that output is read on after everything that could have written it is gone.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// The options of a detached command.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DetachedOptions {
    pub(super) confinement: Confinement,
    /// An absolute path.
    pub(super) log: PathBuf,
    pub(super) max_log_bytes: u64,
    /// Between the gentle signal and the other one.
    pub(super) timeout: Duration,
}

/// Arguments: the options as JSON, the program, its arguments. Standard input is the channel, and
/// standard output the file whose lock is held.
pub(super) fn main(arguments: impl Iterator<Item = OsString>) -> ! {
    let supervised = channel::take_from_stdin().and_then(|channel| {
        let lock = channel::take_from_stdout()?;
        run(channel, &lock, arguments)
    });
    std::process::exit(i32::from(supervised.is_err()))
}

fn run(
    channel: std::os::unix::net::UnixStream,
    _lock: &OwnedFd,
    mut arguments: impl Iterator<Item = OsString>,
) -> io::Result<()> {
    // Out of reach of the terminal that it was started from.
    let _ = setsid();
    let options = arguments.next().ok_or(io::ErrorKind::InvalidInput)?;
    let options: DetachedOptions = serde_json::from_str(options.to_str().unwrap_or_default())?;
    channel.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut channel = UnixStream::from_std(channel)?;
        match DetachedSupervisor::start(&options, arguments) {
            Ok(supervisor) => supervisor.supervise(channel).await,
            Err(error) => {
                let report = ProcessReport::not_started(StartStep::Prepare, &error);
                channel.write_all(&report.to_json()).await
            }
        }
    })
}

struct DetachedSupervisor {
    tool: SupervisedCommand,
    output: CommandOutput,
    timeout: Duration,
}

impl DetachedSupervisor {
    fn start(
        options: &DetachedOptions,
        arguments: impl Iterator<Item = OsString>,
    ) -> io::Result<DetachedSupervisor> {
        let log = LogRing::begin(options.log.clone(), options.max_log_bytes)?;
        let (output, theirs) = io::pipe()?;
        let nothing = std::fs::File::open("/dev/null")?;
        let streams = [nothing.as_fd(), theirs.as_fd(), theirs.as_fd()];
        let confinement = serde_json::to_string(&options.confinement)?;
        let tool = SupervisedCommand::start(
            &streams,
            std::iter::once(confinement.into()).chain(arguments),
        )?;
        let output = pipe::Receiver::from_owned_fd(output.into())?;
        let output = CommandOutput { pipe: Some(output), log };
        Ok(DetachedSupervisor { tool, output, timeout: options.timeout })
    }

    /// Stays until the command ended by itself or has to, and clears up.
    async fn supervise(mut self, channel: UnixStream) -> io::Result<()> {
        let mut channel = Some(channel);
        while self.tool.is_running() {
            let event = tokio::select! {
                event = self.tool.next(channel.as_mut()) => event,
                () = self.output.more() => continue,
            };
            match (event, &mut channel) {
                // A server that is gone shows on the same channel.
                (SupervisorEvent::Started(started), Some(channel)) => {
                    let _ = channel.write_all(&started.to_json()).await;
                }
                (SupervisorEvent::Message(Some(DETACH)), _) => channel = None,
                (SupervisorEvent::Message(_), _) => break,
                (SupervisorEvent::StopRequested, _) => {
                    self.end_gently().await;
                    break;
                }
                (SupervisorEvent::Started(_) | SupervisorEvent::ChildChanged, _) => {}
            }
        }
        self.tool.clear();
        let _ = timeout(DRAIN_TIMEOUT, self.output.rest()).await;
        let report = self.tool.report(channel.as_mut()).await;
        self.output.log.write(end_line(report).as_bytes());
        match channel {
            Some(mut channel) => channel.write_all(&report.to_json()).await,
            None => Ok(()),
        }
    }

    /// Asks everything below to end, and waits for that as long as there is timeout.
    async fn end_gently(&mut self) {
        signal_descendants(getpid(), Signal::TERM);
        let deadline = Instant::now() + self.timeout;
        while self.tool.reap() {
            tokio::select! {
                _ = self.tool.next(None) => {}
                () = self.output.more() => {}
                () = sleep_until(deadline) => return,
            }
        }
    }
}

/// The output of the command, on its way to the log.
struct CommandOutput {
    pipe: Option<pipe::Receiver>,
    log: LogRing,
}

impl CommandOutput {
    /// Waits for some more output; for ever where there will be none. Cancel-safe.
    async fn more(&mut self) {
        let Some(pipe) = &mut self.pipe else { return std::future::pending().await };
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        match pipe.read_buf(&mut chunk).await {
            Ok(1..) => self.log.write(&chunk),
            Ok(0) | Err(_) => self.pipe = None,
        }
    }

    async fn rest(&mut self) {
        while self.pipe.is_some() {
            self.more().await;
        }
    }
}

/// The last line of the log: how the command ended.
fn end_line(report: ProcessReport) -> String {
    let how = match report {
        ProcessReport::Exited(code) => format!("it ended with exit code {code}"),
        ProcessReport::Signalled(signal) => format!("it ended by signal {signal}"),
        ProcessReport::Started { .. } | ProcessReport::NotStarted { .. } => {
            "it could not be started".to_owned()
        }
    };
    format!("[toolgate] {how}\n")
}
