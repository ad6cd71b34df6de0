//! `toolgate config`: checks and prints the settings, without changing anything.

mod check;
mod rules;
mod status;

use clap::{Args, Subcommand};
use serde_json::Value;

use crate::{
    Exit,
    printer::Printer,
    settings::{self, FileErrors, Flags, LoadedSettings},
};

/// Check and print the settings
#[derive(Args)]
pub struct ConfigCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check the settings and all contracts
    Check {
        /// Print the findings as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the settings that are in effect, with all overrides
    Show,
    /// Ask the running server whether its settings are those of the files
    ///
    /// The server loads its files again when they change, or at `SIGHUP`: all of them, or none if
    /// one has an error. Exits with 1 if the last reload failed.
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON Schema of the settings file
    Schema {
        /// Print a reference page instead
        #[arg(long)]
        markdown: bool,
    },
    /// Print the rules by which `toolgate ask` refuses questions, as YAML
    Rules {
        /// Print them as JSON, with their whole patterns
        #[arg(long)]
        json: bool,
        /// Print a reference page of the built-in rules
        #[arg(long, conflicts_with = "json")]
        markdown: bool,
    },
}

impl ConfigCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        match &self.command {
            Command::Check { json } => check::run(flags, printer, *json),
            Command::Show => show(flags, printer, |loaded| {
                let own = settings::mlx_host::without(&loaded.settings);
                printer.json(&without_null(serde_json::to_value(own)?));
                Ok(Exit::Ok)
            }),
            Command::Status { json } => status::run(flags, printer, *json),
            Command::Rules { markdown: true, .. } => {
                printer.data(rules::page().trim_end());
                Ok(Exit::Ok)
            }
            Command::Rules { json, .. } => {
                show(flags, printer, |loaded| Ok(rules::show(loaded, *json, printer)))
            }
            Command::Schema { markdown: true } => {
                printer.data(settings::markdown().trim_end());
                Ok(Exit::Ok)
            }
            Command::Schema { markdown: false } => {
                printer.json(&settings::schema());
                Ok(Exit::Ok)
            }
        }
    }
}

/// Shows something of the settings. These commands are about the file, so its mistakes are their result.
fn show(
    flags: &Flags,
    printer: &Printer,
    print: impl FnOnce(&LoadedSettings) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    match flags.load() {
        Err(error) if error.is::<FileErrors>() => {
            printer.error(&error);
            Ok(Exit::Failed)
        }
        loaded => print(&loaded?),
    }
}

/// Settings as they can be written to a file: keys without a value are left out.
fn without_null(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|_, field| !field.is_null());
            for (name, field) in fields {
                // In a schema null is a value.
                if !matches!(name.as_str(), "input_schema" | "output_schema") {
                    *field = without_null(field.take());
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                *item = without_null(item.take());
            }
        }
        _ => {}
    }
    value
}
