//! `toolgate contracts`: creates, lints, compares, tests, infers and exports contracts.

mod diff;
mod export;
mod infer;
mod lint;

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use contract::read;
use serde_json::json;

use crate::{
    Exit, commands, examples,
    files::write_new,
    named_servers::ServerArguments,
    printer::Printer,
    settings::Flags,
    sources::{self, ToolSource},
};

/// A working contract to start from.
const STARTER: &str = include_str!("../starter/contract.yaml");

/// Create, lint, compare, test, infer and export contracts
///
/// A SOURCE of contracts is a contract file or a folder of them, the id of an upstream, the URL of an
/// MCP server, a JSON file with a `tools/list` response, `toolgate.lock`, a Markdown document with a
/// section for each tool, or `self`: the tools that are served here. `SOURCE#NAME` selects one upstream,
/// toolset or tool. An MCP server on stdin and stdout is started with a command after `--`.
#[derive(Args)]
pub struct ContractsCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write a commented contract to start from
    New {
        /// The name of the tool
        name: String,
        /// The folder to write it to
        #[arg(long, default_value = "contracts")]
        folder: PathBuf,
    },
    /// Find errors in contracts
    Lint(lint::LintCommand),
    /// Show what changed from one source of contracts to another
    ///
    /// Exit code 0 if they are the same, 1 if they differ, 2 if a source cannot be read. `toolgate
    /// contracts diff DOCUMENT.md self` shows where the served tools differ from a document. Tools that
    /// a document or a contract file does not have are not a difference.
    Diff(diff::DiffCommand),
    /// Run the examples of contracts through the gate
    Test {
        /// Only these tools [default: all that are served]
        tools: Vec<String>,
        /// Print the results as JSON
        #[arg(long)]
        json: bool,
    },
    /// Infer the output schema of an upstream tool from its results
    ///
    /// Takes the results from files, calls the tool with your arguments, or uses the results that jobs
    /// and quarantine have stored. Prints an overlay, a file that changes a contract, for you to edit.
    Infer(infer::InferCommand),
    /// Print contracts in another form
    Export(export::ExportCommand),
}

impl ContractsCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        match &self.command {
            Command::New { name, folder } => new(name, folder, printer),
            Command::Lint(lint) => lint.run(flags, printer),
            Command::Diff(diff) => diff.run(flags, printer),
            Command::Test { tools, json } => test(flags, tools, *json, printer),
            Command::Infer(infer) => infer.run(flags, printer),
            Command::Export(export) => export.run(flags, printer),
        }
    }
}

fn new(name: &str, folder: &Path, printer: &Printer) -> anyhow::Result<Exit> {
    let text = STARTER.replace("NAME", name);
    let (read, diagnostics) = read::contract(name, &text);
    if read.is_none() {
        // The starter is sound, so it can only be the name.
        let first = diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
        bail!("`{name}` cannot be the name of a tool: {first}");
    }
    if examples::find_built_in(name, &tools::ToolSettings::default()).is_some() {
        bail!("`{name}` is a built-in tool; choose another name");
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    let file = folder.join(format!("{name}.yaml"));
    write_new(&file, &text)?;
    printer.say(format!("wrote {}", file.display()));
    printer.say(format!(
        "next: add `contracts: [ ./{} ]` to toolgate.yaml, then toolgate contracts test {name}",
        folder.display()
    ));
    Ok(Exit::Ok)
}

/// Reads the sources that a person named, the program after `--` last.
fn named(
    sources: &[String],
    program: &[String],
    terms: &ServerArguments,
    flags: &Flags,
) -> anyhow::Result<Vec<ToolSource>> {
    if terms.has_headers() && !sources.iter().any(|source| source.contains("://")) {
        bail!("--header needs a URL");
    }
    let mut sets = Vec::new();
    for source in sources {
        sets.push(sources::read(source, terms, flags)?);
    }
    if !program.is_empty() {
        sets.push(sources::program(program, terms, flags)?);
    }
    Ok(sets)
}

/// True if all of a source could be read. Prints the errors.
fn is_readable(set: &ToolSource, printer: &Printer) -> bool {
    for one in &set.unreached {
        printer.say(format!("cannot be reached: {one}"));
    }
    let errors: Vec<_> = set
        .diagnostics
        .iter()
        .filter(|one| one.severity == contract::Severity::Error)
        .cloned()
        .collect();
    printer.diagnostics(&errors);
    set.unreached.is_empty() && !set.is_refused()
}

fn test(flags: &Flags, tools: &[String], as_json: bool, printer: &Printer) -> anyhow::Result<Exit> {
    let (loaded, mut bound) = commands::ready(flags)?;
    commands::retain_tools(&mut bound, tools)?;
    let results = commands::block_on(examples::run(bound, &loaded))?;
    let failed = results.iter().filter(|one| one.problem.is_some()).count();
    if as_json {
        printer.json(&json!({ "ok": failed == 0, "examples": results }));
    } else {
        for result in &results {
            let mark = if result.problem.is_some() { "FAILED" } else { "ok" };
            printer.data(format!("{mark:6} {}: {}", result.tool, result.title));
            if let Some(problem) = &result.problem {
                printer.data(format!("       {problem}"));
            }
        }
        printer.say(format!("{} passed, {failed} failed", results.len() - failed));
    }
    Ok(if failed == 0 { Exit::Ok } else { Exit::Failed })
}
