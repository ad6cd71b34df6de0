//! `toolgate completions`: for the shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::{Arguments, Exit, printer::Printer};

/// Print completions for a shell
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    #[allow(clippy::unnecessary_wraps)] // The shape of every command.
    pub fn run(&self, printer: &Printer) -> anyhow::Result<Exit> {
        // Written to stdout by others, a reader who has seen enough would be a panic.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "toolgate", &mut script);
        printer.document(String::from_utf8_lossy(&script).trim_end());
        Ok(Exit::Ok)
    }
}
