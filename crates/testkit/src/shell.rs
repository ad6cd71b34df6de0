//! Commands of documents, run as they are written.
//!
//! A document says `127.0.0.1:8000` because that is where a person's server is. Here the
//! server is on another port, so `curl` is told, in a file that only it reads, where to
//! connect instead; the command itself stays as it is written.

use crate::{CliOutput, World, world::without_settings};

#[allow(clippy::disallowed_types)] // A shell is what a person types into.
type Command = std::process::Command;

/// A shell in a world.
pub struct Shell<'a> {
    world: &'a World,
}

impl<'a> Shell<'a> {
    /// A shell where `127.0.0.1:port` is the server of the world.
    pub fn new(world: &'a World, port: u16) -> Self {
        let config = format!("connect-to = \"127.0.0.1:{port}:127.0.0.1:{}\"\n", world.port());
        world.write(".curl/.curlrc", &config);
        Self { world }
    }

    /// Runs the text as a person would, with the binary on the path.
    pub fn run(&self, text: &str) -> CliOutput {
        let folder = self.world.binary().parent().unwrap().display();
        let path = format!("{folder}:{}", std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("bash");
        without_settings(&mut command);
        command
            .args(["-c", text])
            .current_dir(self.world.folder())
            .env("PATH", path)
            .env("CURL_HOME", self.world.folder().join(".curl"))
            .env("NO_COLOR", "1")
            .envs(self.world.environment().iter().map(|(name, value)| (name, value)));
        CliOutput::of(&mut command)
    }
}
