//! Commands of documents, run as they are written.
//!
//! A document says `127.0.0.1:8000` because that is where a person's server is. Here the
//! server is on another port, so `curl` is told, in a file that only it reads, where to
//! connect instead; the command itself stays as it is written.

use std::{path::Path, process::Stdio};

use crate::{World, world::without_settings};

#[allow(clippy::disallowed_types)] // A shell is what a person types into.
type Command = std::process::Command;

/// A shell in a world.
pub struct Shell<'a> {
    world: &'a World,
    /// The address that documents use.
    port: u16,
}

/// What a command said.
#[derive(Debug)]
pub struct Spoken {
    /// Its exit code.
    pub code: i32,
    /// Its stdout.
    pub stdout: String,
    /// Its stderr.
    pub stderr: String,
}

impl<'a> Shell<'a> {
    /// A shell where `127.0.0.1:port` is the server of the world.
    pub fn new(world: &'a World, port: u16) -> Self {
        let config = format!("connect-to = \"127.0.0.1:{port}:127.0.0.1:{}\"\n", world.port());
        world.write(".curl/.curlrc", &config);
        Self { world, port }
    }

    /// The port that documents use.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Runs the text as a person would, with the binary on the path.
    pub fn run(&self, binary: &Path, text: &str) -> Spoken {
        let path = format!(
            "{}:{}",
            binary.parent().unwrap().display(),
            std::env::var("PATH").unwrap_or_default()
        );
        let mut command = Command::new("bash");
        without_settings(&mut command);
        let output = command
            .args(["-c", text])
            .current_dir(self.world.folder())
            .env("PATH", path)
            .env("CURL_HOME", self.world.folder().join(".curl"))
            .env("NO_COLOR", "1")
            .envs(self.world.environment().iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Spoken {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}
