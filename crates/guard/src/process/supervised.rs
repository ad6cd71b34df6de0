//! The server's hold on one supervisor. Letting go of it kills the tree.

use std::io;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::Child;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::channel::{MAX_REPORT_BYTES, ProcessReport, StartStep};
use super::descendants::{kill_descendants, kill_session};
use super::sandbox::NO_LANDLOCK;
use super::{ExitReason, ProcessIdentity, SandboxLevel, StartError};

/// The time that the supervisor may take to clear up after it was told to stop, before we do it for it.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// The time that it may take to exit after its last report.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running supervisor with a tool below it.
pub(super) struct SupervisorHandle {
    child: Child,
    pub(super) channel: UnixStream,
    /// The bytes of its reports so far.
    received: Vec<u8>,
    gone: bool,
}

impl SupervisorHandle {
    pub(super) fn new(child: Child, channel: UnixStream) -> SupervisorHandle {
        SupervisorHandle { child, channel, received: Vec::new(), gone: false }
    }

    /// Which process it is.
    pub(super) fn identity(&self) -> Option<ProcessIdentity> {
        self.pid().and_then(ProcessIdentity::of)
    }

    /// Leaves it to itself.
    pub(super) fn forget(&mut self) {
        self.gone = true;
    }

    /// Waits until the tool runs, and says what became of its sandbox.
    ///
    /// Cancel-safe, and done before [`ending`](Self::ending) is asked for, or not at all.
    pub(super) async fn started(
        &mut self,
        program: &str,
    ) -> Result<Option<SandboxLevel>, StartError> {
        while ProcessReport::latest(&self.received).is_none() && self.receive().await {}
        // Where the end is known already, so is the beginning, which was told before it.
        let first = self.received.split_inclusive(|byte| *byte == b'\n').next().unwrap_or_default();
        match ProcessReport::latest(first) {
            Some(ProcessReport::Started { sandbox }) => Ok(sandbox),
            Some(ProcessReport::NotStarted { .. }) | None => {
                let ending = self.ending(program, &CancellationToken::new()).await?;
                // Only a supervisor that was killed at once ends like that.
                let how = io::Error::other(format!("it ended at the start: {ending:?}"));
                Err(StartError::Supervisor { source: how })
            }
            Some(ProcessReport::Exited(_) | ProcessReport::Signalled(_)) => Ok(None),
        }
    }

    /// Waits until the tool ended or `stop` is cancelled, and until nothing of it is left.
    pub(super) async fn ending(
        &mut self,
        program: &str,
        stop: &CancellationToken,
    ) -> Result<ExitReason, StartError> {
        let stopped = tokio::select! {
            // A tool that ended at the same moment has ended.
            biased;
            () = self.read_reports() => false,
            () = stop.cancelled() => true,
        };
        if stopped {
            self.stop().await;
        }
        let report = ProcessReport::latest(&self.received)
            .filter(|report| !matches!(report, ProcessReport::Started { .. }));
        let status = self.reap(report.is_some()).await;
        match report {
            _ if stopped => Ok(ExitReason::Stopped),
            Some(ProcessReport::Exited(code)) => Ok(ExitReason::Exited(code)),
            Some(ProcessReport::Signalled(signal)) => Ok(ExitReason::Signalled(signal)),
            Some(ProcessReport::NotStarted { step, errno }) => {
                Err(not_started(program, step, errno))
            }
            // Somebody killed it, and the kernel then killed the tool.
            _ if status.is_none_or(|status| status.code().is_none()) => {
                Ok(ExitReason::Signalled(Signal::KILL.as_raw()))
            }
            _ => Err(StartError::Supervisor {
                source: io::Error::other("it ended without a report"),
            }),
        }
    }

    /// The same for a tool that has started: only a supervisor that was lost gives no report, and it takes all with it.
    pub(super) async fn wait(&mut self, stop: &CancellationToken) -> ExitReason {
        let killed = ExitReason::Signalled(Signal::KILL.as_raw());
        self.ending("", stop).await.unwrap_or(killed)
    }

    /// Kills a tool that has started, and waits until nothing of it is left.
    pub(super) async fn kill(&mut self) -> ExitReason {
        let stop = CancellationToken::new();
        stop.cancel();
        self.wait(&stop).await
    }

    /// Reads until the supervisor closes the channel, which it does by exiting.
    async fn read_reports(&mut self) {
        // Cancel-safe: what was read is in `received`.
        while self.receive().await {}
    }

    /// Reads once. True if there may be more.
    async fn receive(&mut self) -> bool {
        (self.received.len() as u64) < MAX_REPORT_BYTES
            && matches!(self.channel.read_buf(&mut self.received).await, Ok(1..))
    }

    /// Tells the supervisor to clear up, and does it itself if that takes too long.
    async fn stop(&mut self) {
        let _ = self.channel.shutdown().await;
        if timeout(STOP_TIMEOUT, self.read_reports()).await.is_err() {
            tracing::warn!("a supervisor did not clear up in time; its tree was killed");
            self.destroy();
        }
    }

    /// Takes the supervisor's exit status, so that no zombie stays.
    async fn reap(&mut self, cleared_up: bool) -> Option<std::process::ExitStatus> {
        if let (false, Some(pid)) = (cleared_up, self.pid()) {
            kill_session(pid);
        }
        let status = timeout(EXIT_TIMEOUT, self.child.wait()).await;
        if status.is_err() {
            self.signal(Signal::KILL);
        }
        self.gone = true;
        status.ok()?.ok()
    }

    /// Kills the tree at once, without waiting for anyone.
    fn destroy(&self) {
        let Some(pid) = self.pid() else { return };
        // Stopped, it can start nothing while we look.
        self.signal(Signal::STOP);
        if kill_descendants(pid) {
            // It reaps the dead, and exits because the channel closes. Were it killed, they would be
            // handed to process 1, which in a container may be the server, and stay there.
            self.signal(Signal::CONT);
        } else {
            self.signal(Signal::KILL);
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = self.pid() {
            let _ = kill_process(pid, signal);
        }
    }

    /// The supervisor's number, while it is certainly its own: until it was reaped.
    fn pid(&self) -> Option<Pid> {
        self.child.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?))
    }
}

fn not_started(program: &str, step: StartStep, errno: i32) -> StartError {
    let source = io::Error::from_raw_os_error(errno);
    match step {
        StartStep::Execute => StartError::Failed { program: program.to_owned(), source },
        StartStep::Sandbox if errno == NO_LANDLOCK.raw_os_error() => StartError::NoSandbox,
        StartStep::Sandbox => StartError::Sandbox { source },
        StartStep::Prepare => StartError::Supervisor { source },
    }
}

impl Drop for SupervisorHandle {
    fn drop(&mut self) {
        if !self.gone {
            self.destroy();
        }
    }
}
