//! `toolgate config`: the settings, looked at without changing anything.

use clap::{Args, Subcommand};
use serde_json::json;

use crate::{
    Answer,
    printer::Printer,
    settings::{self, Flags},
    wiring,
};

/// Look at the settings
#[derive(Args)]
pub struct Config {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the settings and every contract that they name
    Check {
        /// Print what was found as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the settings as they are after all overrides
    Show,
    /// Print the JSON Schema of the settings file
    Schema {
        /// Print a reference page instead
        #[arg(long)]
        markdown: bool,
    },
}

impl Config {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        match &self.command {
            Command::Check { json } => check(flags, printer, *json),
            Command::Show => match flags.load()? {
                Ok(loaded) => {
                    printer.json(&loaded.settings);
                    Ok(Answer::Yes)
                }
                Err(diagnostics) => {
                    printer.diagnostics(&diagnostics);
                    Ok(Answer::No)
                }
            },
            Command::Schema { markdown: true } => {
                printer.data(settings::markdown().trim_end());
                Ok(Answer::Yes)
            }
            Command::Schema { markdown: false } => {
                printer.json(&settings::schema());
                Ok(Answer::Yes)
            }
        }
    }
}

fn check(flags: &Flags, printer: &Printer, as_json: bool) -> anyhow::Result<Answer> {
    let (diagnostics, tools) = match flags.load()? {
        Err(diagnostics) => (diagnostics, 0),
        Ok(loaded) => {
            let contracts = wiring::contracts(&loaded)?;
            let count = contracts.bound.len();
            if contracts.diagnostics.iter().all(|one| one.severity != contract::Severity::Error) {
                wiring::catalogue(contracts.bound, &loaded)?;
            }
            (loaded.remarks.into_iter().chain(contracts.diagnostics).collect(), count)
        }
    };
    let refused = diagnostics.iter().any(|one| one.severity == contract::Severity::Error);
    if as_json {
        printer.json(&json!({ "ok": !refused, "tools": tools, "diagnostics": diagnostics }));
    } else {
        printer.diagnostics(&diagnostics);
        if refused {
            let errors =
                diagnostics.iter().filter(|one| one.severity == contract::Severity::Error).count();
            printer.say(format!("{errors} to mend"));
        } else {
            printer.say(format!("the settings are fine: {tools} tools"));
        }
    }
    Ok(if refused { Answer::No } else { Answer::Yes })
}
