//! A command that runs for long, with its standard streams in the caller's hands.

use std::time::Duration;

use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::supervised::SupervisorHandle;
use super::{ExitReason, SandboxLevel};

/// A running command, started by [`Spawner::open`](super::Spawner::open). Dropping it kills it and
/// everything that it started; so does the end of this process, however it ends.
///
/// Its output has to be read, or it waits.
pub struct Child {
    /// The command's standard input. Dropping it is the end of its input.
    pub stdin: Option<pipe::Sender>,
    /// The command's standard output.
    pub stdout: Option<pipe::Receiver>,
    /// The command's standard error.
    pub stderr: Option<pipe::Receiver>,
    supervised: SupervisorHandle,
    sandbox: Option<SandboxLevel>,
    ending: Option<ExitReason>,
}

/// Our ends of a command's standard streams.
pub(super) struct CommandStreams {
    pub(super) stdin: pipe::Sender,
    pub(super) stdout: pipe::Receiver,
    pub(super) stderr: pipe::Receiver,
}

impl Child {
    pub(super) fn new(
        supervised: SupervisorHandle,
        streams: CommandStreams,
        sandbox: Option<SandboxLevel>,
    ) -> Child {
        Child {
            stdin: Some(streams.stdin),
            stdout: Some(streams.stdout),
            stderr: Some(streams.stderr),
            supervised,
            sandbox,
            ending: None,
        }
    }

    /// The part of the sandbox that the kernel gave; nothing where none was asked for.
    pub fn sandbox(&self) -> Option<SandboxLevel> {
        self.sandbox
    }

    /// Waits until the command ended by itself and everything that it started is gone.
    ///
    /// Cancel-safe, and can be asked again.
    pub async fn ended(&mut self) -> ExitReason {
        if let Some(ending) = self.ending {
            return ending;
        }
        let ending = self.supervised.wait(&CancellationToken::new()).await;
        *self.ending.insert(ending)
    }

    /// Ends the command: its input ends, and what is left of it after `timeout` is killed. When this
    /// returns, everything that it started is gone.
    ///
    /// The caller that took `stdin` has to drop it first, or the timeout is in vain.
    pub async fn close(mut self, timeout: Duration) -> ExitReason {
        drop(self.stdin.take());
        match tokio::time::timeout(timeout, self.ended()).await {
            Ok(ending) => ending,
            Err(_) => self.supervised.kill().await,
        }
    }
}
