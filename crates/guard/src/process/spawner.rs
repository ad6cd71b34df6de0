//! The server's side: start a command, feed it, read it, wait for it.
#![allow(clippy::disallowed_types, reason = "this is the supervised way to start a child")]

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::capture::{Capture, OnLine, StderrLines, drain};
use super::child::{Child, CommandStreams};
use super::confine::Confinement;
use super::supervised::SupervisorHandle;
use super::{FinishedCommand, Launch, ProcessSandbox, StartError, channel, program};

/// The time that the outputs are read on after the tool and all its descendants are gone. They end by then
/// unless the tool handed them to a process that is not its own.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Starts commands under supervision. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Spawner {
    helper: Arc<Path>,
}

impl Spawner {
    /// Uses the program at `helper`, whose `main` must call
    /// [`supervise_if_asked`](super::supervise_if_asked). An absolute path.
    pub fn new(helper: PathBuf) -> Spawner {
        Spawner { helper: helper.into() }
    }

    /// Uses the running program itself, even if its file was replaced in the meantime. Its `main`
    /// must call [`supervise_if_asked`](super::supervise_if_asked) first.
    pub fn of_this_program() -> Spawner {
        Spawner::new(PathBuf::from("/proc/self/exe"))
    }

    /// Runs a command to its end.
    ///
    /// When this returns, the command and everything that it started are gone. When the future is
    /// dropped, they are killed at once. When `stop` is cancelled, they are killed and what was read
    /// until then is returned with [`ExitReason::Stopped`](super::ExitReason::Stopped).
    ///
    /// `on_stderr_line` is called with each complete line of standard error of at most
    /// [`MAX_STDERR_LINE_BYTES`](super::MAX_STDERR_LINE_BYTES), without its line end; a line for which
    /// it returns true is not kept.
    pub async fn run(
        &self,
        launch: Launch,
        stop: &CancellationToken,
        on_stderr_line: Option<OnLine<'_>>,
    ) -> Result<FinishedCommand, StartError> {
        let (mut supervised, streams) = self.start(&launch)?;
        let mut stdout = Capture::new(launch.max_stdout_bytes);
        let mut stderr = StderrLines::new(Capture::new(launch.max_stderr_bytes), on_stderr_line);
        let ending = {
            let mut moving = pin!(async {
                tokio::join!(
                    feed(streams.stdin, &launch.stdin),
                    drain(streams.stdout, |bytes| stdout.push(bytes)),
                    drain(streams.stderr, |bytes| stderr.push(bytes)),
                );
            });
            let program = launch.program.to_string_lossy();
            let mut ending = pin!(supervised.ending(&program, stop));
            tokio::select! {
                ending = &mut ending => {
                    let _ = timeout(DRAIN_TIMEOUT, moving).await;
                    ending
                }
                // It closed its streams, and may run on.
                () = &mut moving => ending.await,
            }
        };
        Ok(FinishedCommand { ending: ending?, stdout: stdout.finish(), stderr: stderr.finish() })
    }

    /// Starts a command that runs for long, and hands out its standard streams. It runs when this
    /// returns. `stdin`, `max_stdout_bytes` and `max_stderr_bytes` of the launch do not matter here.
    pub async fn open(&self, launch: Launch) -> Result<Child, StartError> {
        let (mut supervised, streams) = self.start(&launch)?;
        let sandbox = supervised.started(&launch.program.to_string_lossy()).await?;
        Ok(Child::new(supervised, streams, sandbox))
    }

    fn start(&self, launch: &Launch) -> Result<(SupervisorHandle, CommandStreams), StartError> {
        let path = check(launch)?;
        self.supervise(launch, &path).map_err(|source| StartError::Supervisor { source })
    }

    fn supervise(
        &self,
        launch: &Launch,
        program: &Path,
    ) -> io::Result<(SupervisorHandle, CommandStreams)> {
        let (stdin_theirs, stdin) = io::pipe()?;
        let (stdout, stdout_theirs) = io::pipe()?;
        let (stderr, stderr_theirs) = io::pipe()?;
        let streams = CommandStreams {
            stdin: pipe::Sender::from_owned_fd(stdin.into())?,
            stdout: pipe::Receiver::from_owned_fd(stdout.into())?,
            stderr: pipe::Receiver::from_owned_fd(stderr.into())?,
        };

        let confinement = Confinement { limits: launch.limits, sandbox: launch.sandbox.clone() };
        let confinement = serde_json::to_string(&confinement)?;
        let (supervised, channel) =
            self.helper(super::SUPERVISE, &confinement, program, launch, Stdio::null())?;
        let theirs = [stdin_theirs.as_fd(), stdout_theirs.as_fd(), stderr_theirs.as_fd()];
        channel::send_streams(&channel, theirs)?;
        Ok((supervised, streams))
    }

    /// Starts our own binary again in a role, which is its first argument. Also returns a second handle of the
    /// channel to it, for what has to be sent first.
    pub(super) fn helper(
        &self,
        role: &str,
        options: &str,
        program: &Path,
        launch: &Launch,
        stdout: Stdio,
    ) -> io::Result<(SupervisorHandle, UnixStream)> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        let first = ours.try_clone()?;
        let ours = tokio::net::UnixStream::from_std(ours)?;
        // Program, arguments, environment and folder are those of the supervisor itself, which passes
        // them on: they stand under the kernel's own limits and not under those of a message.
        let child = Command::new(&*self.helper)
            .arg(role)
            .arg(options)
            .arg(program)
            .args(&launch.args)
            .env_clear()
            .envs(launch.env.iter().map(|(name, value)| (name, value)))
            .current_dir(&launch.cwd)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(stdout)
            .stderr(Stdio::null())
            .spawn()?;
        Ok((SupervisorHandle::new(child, ours), first))
    }
}

/// Checks what can be checked before anything is started, and finds the program.
pub(super) fn check(launch: &Launch) -> Result<PathBuf, StartError> {
    for (name, value) in &launch.env {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(StartError::Environment { name: name.clone() });
        }
    }
    let folder = launch.cwd.metadata().and_then(|metadata| {
        if metadata.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
    });
    folder.map_err(|source| StartError::WorkFolder { path: launch.cwd.clone(), source })?;
    // Absolute, because the supervisor that will read it has another current folder than we have.
    let folder = std::path::absolute(&launch.cwd)
        .map_err(|source| StartError::WorkFolder { path: launch.cwd.clone(), source })?;
    for path in launch.sandbox.iter().flat_map(ProcessSandbox::paths) {
        let metadata = folder.join(path).metadata();
        metadata.map_err(|source| StartError::SandboxPath { path: path.clone(), source })?;
    }
    program::find_program(&launch.program, &folder)
}

/// Writes the tool's input. A tool that does not read it, or not to its end, is free to do so.
async fn feed(mut stdin: pipe::Sender, bytes: &[u8]) {
    let _ = stdin.write_all(bytes).await;
}
