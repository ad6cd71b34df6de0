//! The binary: settings, commands (one file each), wiring, printing.

mod arguments;
mod commands;
mod doors;
mod examples;
mod files;
mod logging;
mod printer;
mod servers;
mod settings;
mod sources;
mod starting;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use crate::{commands::Command, printer::Printer};

// Calls are many small allocations on many threads; the system's allocator shows in a
// profile of the hot path, this one does not.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The gate between AI agents and their tools.
///
/// Every tool has a contract. Every call goes through one gate, and crosses it only if
/// it matches the contract: arguments on the way in, results on the way out.
#[derive(Parser)]
#[command(name = "toolgate", version, max_term_width = 100)]
struct Arguments {
    #[command(flatten)]
    common: settings::Flags,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // A child of ours is started through this same binary; then nothing below happens.
    guard::process::supervise_if_asked();
    let arguments = Arguments::parse();
    let printer = Printer::new();
    match arguments.command.run(&arguments.common, &printer) {
        Ok(_) if printer::lost() => {
            printer.error(&anyhow::anyhow!("stdout could not be written to"));
            Answer::CouldNotTell.into()
        }
        Ok(answer) => answer.into(),
        Err(error) => {
            printer.error(&error);
            Answer::CouldNotTell.into()
        }
    }
}

/// What a command's exit code says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    /// Done.
    Yes,
    /// The answer is no: the tool failed, the file has mistakes.
    No,
    /// We could not tell: wrong usage, nothing could be read.
    CouldNotTell,
}

impl From<Answer> for ExitCode {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Yes => ExitCode::SUCCESS,
            Answer::No => ExitCode::from(1),
            Answer::CouldNotTell => ExitCode::from(2),
        }
    }
}
