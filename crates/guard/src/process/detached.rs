//! The server's side of a command that may outlive it.
#![allow(clippy::disallowed_types, reason = "this is the supervised way to start a child")]

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncWriteExt;
use tokio_util::sync::CancellationToken;

use super::confine::Confinement;
use super::detached_supervisor::{DETACH, DetachedOptions};
use super::supervised::SupervisorHandle;
use super::{ExitReason, Launch, ProcessIdentity, Spawner, StartError};

/// A command that is to outlive the server, and what stays with it.
#[derive(Debug)]
pub struct DetachedLaunch {
    /// The command. Its standard input is empty; both outputs go to the log.
    pub launch: Launch,
    /// A file that the caller has locked. The lock is held as long as anything of the command is left, whoever
    /// started it and whatever became of that.
    pub lock: File,
    /// Where what it prints goes: an absolute path, beside which there will be another one.
    pub log: PathBuf,
    /// The bytes of the log that are kept: the latest.
    pub max_log_bytes: u64,
    /// The time that it has to end by itself when it is asked to, before it is killed.
    pub timeout: Duration,
}

/// A command started by [`Spawner::start_detached`]. It runs, and is this process's own until
/// [`detach`](DetachedChild::detach): dropping it kills it and everything that it started, and so does the end of
/// this process, however it ends.
pub struct DetachedChild {
    supervised: SupervisorHandle,
    identity: ProcessIdentity,
}

impl Spawner {
    /// Starts a command that is to outlive this process. It runs when this returns.
    pub async fn start_detached(
        &self,
        detached: DetachedLaunch,
    ) -> Result<DetachedChild, StartError> {
        let path = super::spawner::check(&detached.launch)?;
        let started = self.with_supervisor(&detached, &path);
        let (mut supervised, identity) =
            started.map_err(|source| StartError::Supervisor { source })?;
        supervised.started(&detached.launch.program.to_string_lossy()).await?;
        Ok(DetachedChild { supervised, identity })
    }

    fn with_supervisor(
        &self,
        detached: &DetachedLaunch,
        program: &std::path::Path,
    ) -> io::Result<(SupervisorHandle, ProcessIdentity)> {
        let launch = &detached.launch;
        let options = DetachedOptions {
            confinement: Confinement { limits: launch.limits, sandbox: launch.sandbox.clone() },
            log: detached.log.clone(),
            max_log_bytes: detached.max_log_bytes,
            timeout: detached.timeout,
        };
        let lock = Stdio::from(OwnedFd::from(detached.lock.try_clone()?));
        let options = serde_json::to_string(&options)?;
        let supervised = self.helper(super::SUPERVISE_DETACHED, &options, program, launch, lock)?.0;
        let identity = supervised.identity().ok_or(io::ErrorKind::NotFound)?;
        Ok((supervised, identity))
    }
}

impl DetachedChild {
    /// The process that stays with the command.
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    /// Waits until the command ended and everything that it started is gone. Cancel-safe, until it
    /// has returned.
    pub async fn ended(&mut self) -> ExitReason {
        self.supervised.wait(&CancellationToken::new()).await
    }

    /// Kills it and everything that it started. When this returns, they are gone.
    pub async fn kill(mut self) {
        self.supervised.kill().await;
    }

    /// Lets it run on by itself: from here on it outlives this process.
    pub async fn detach(mut self) -> io::Result<()> {
        self.supervised.channel.write_all(&[DETACH]).await?;
        // Read before the end of the channel, which is then no news to it.
        self.supervised.forget();
        Ok(())
    }
}
