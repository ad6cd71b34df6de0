//! `toolgate completions`: for the shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Answer, Arguments};

/// Print completions for a shell
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    #[allow(clippy::unnecessary_wraps)] // The shape of every command.
    pub fn run(&self) -> anyhow::Result<Answer> {
        clap_complete::generate(
            self.shell,
            &mut Arguments::command(),
            "toolgate",
            &mut std::io::stdout(),
        );
        Ok(Answer::Yes)
    }
}
