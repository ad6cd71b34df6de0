//! `toolgate completions`: prints shell completions.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Arguments, Exit, printer::Printer};

/// Print completions for a shell
#[derive(Args)]
pub struct CompletionsCommand {
    /// The shell
    shell: Shell,
}

impl CompletionsCommand {
    #[allow(clippy::unnecessary_wraps)] // The shape of every command.
    pub fn run(&self, printer: &Printer) -> anyhow::Result<Exit> {
        // `clap_complete` would panic if stdout is closed early.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "toolgate", &mut script);
        printer.document(String::from_utf8_lossy(&script).trim_end());
        Ok(Exit::Ok)
    }
}
