//! A child that is talked to by its stdin and stdout, a message a line.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, ChildStdout, Stdio},
};

use anyhow::{Context, ensure};
use tempfile::TempDir;

use crate::{http::find, start::Command};

/// A child that is stopped when it is dropped.
pub struct Piped {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: Vec<u8>,
    _data: TempDir,
}

impl Piped {
    /// Starts it in a folder of its own.
    pub fn spawn(mut command: Command, data: TempDir) -> anyhow::Result<Self> {
        command.current_dir(data.path()).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let stdin = child.stdin.take().context("no stdin")?;
        let stdout = BufReader::new(child.stdout.take().context("no stdout")?);
        Ok(Self { child, stdin, stdout, line: Vec::new(), _data: data })
    }

    /// Sends a line that has its end already.
    pub fn send(&mut self, line: &[u8]) -> anyhow::Result<()> {
        Ok(self.stdin.write_all(line)?)
    }

    /// Waits for the next message that answers something; notifications have no id.
    pub fn receive(&mut self) -> anyhow::Result<&[u8]> {
        loop {
            self.line.clear();
            let read = self.stdout.read_until(b'\n', &mut self.line)?;
            ensure!(read > 0, "the child said nothing and ended");
            if find(&self.line, br#""id""#).is_some() {
                return Ok(&self.line);
            }
        }
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
