//! The binary: settings, commands (one file each), wiring, printing.

mod archive;
mod arguments;
mod certificate;
mod commands;
mod examples;
mod files;
mod interrupts;
mod logging;
mod named_servers;
mod printer;
mod reload;
mod server_settings;
mod settings;
mod sources;
mod start_checks;
mod unknown_artifacts;
mod wiring;

use std::process::ExitCode;

use clap::Parser;

use crate::{
    commands::Command,
    interrupts::InterruptedCommand,
    printer::{ColourMode, Printer},
};

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
    /// Use colours: on a terminal (auto), always, or never; `NO_COLOR` means never
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    color: ColourMode,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    // A child of ours is started through this same binary; then nothing below happens.
    guard::process::supervise_if_asked();
    let arguments = Arguments::parse();
    let printer = Printer::new(arguments.color);
    if let Err(error) = interrupts::listen() {
        printer.error(&anyhow::Error::from(error).context("cannot listen to signals"));
        return Exit::Unknown.into();
    }
    match arguments.command.run(&arguments.common, &printer) {
        Ok(_) if printer::write_failed() => {
            printer.error(&anyhow::anyhow!("cannot write to stdout"));
            Exit::Unknown.into()
        }
        Ok(exit) => exit.into(),
        Err(error) if error.is::<InterruptedCommand>() => {
            printer.say("interrupted");
            Exit::Interrupted.into()
        }
        Err(error) => {
            printer.error(&error);
            Exit::Unknown.into()
        }
    }
}

/// The exit code of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Exit {
    /// 0: done.
    Ok,
    /// 1: the tool failed, the file has mistakes.
    Failed,
    /// 2: the command was used wrongly, or something that it needs could not be read.
    Unknown,
    /// 130: Ctrl-C or SIGTERM ended it before it was done.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Ok => ExitCode::SUCCESS,
            Exit::Failed => ExitCode::from(1),
            Exit::Unknown => ExitCode::from(2),
            Exit::Interrupted => ExitCode::from(interrupts::EXIT_CODE),
        }
    }
}
