//! `toolgate contracts`: write, judge, compare, run, propose and export contracts.

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
    named_servers::HeaderArguments,
    printer::Printer,
    settings::Flags,
    sources::{self, ToolSource},
};

/// A contract that works as it is, to be changed into another.
const STARTER: &str = include_str!("../starter/contract.yaml");

/// Write, judge, compare, run, propose and export contracts
///
/// A SOURCE of contracts is a file or folder of them, the id of an upstream, the address of an MCP
/// server, the answer to `tools/list` in a JSON file, `toolgate.lock`, a Markdown document with
/// sections for tools, or `self`: what is served here. `SOURCE#NAME` is one upstream, toolset or tool of
/// it. A program that speaks MCP is given after `--`.
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
    /// Judge contracts, wherever they are
    Lint(lint::LintCommand),
    /// Tell what changed from one source of contracts to another
    ///
    /// Exit code 0 if they are the same, 1 if they are not, 2 if nothing can be said. `toolgate
    /// contracts diff DOCUMENT.md self` tells whether what is served still honours a document. Tools that
    /// a document or a contract file leaves out are no difference.
    Diff(diff::DiffCommand),
    /// Run the examples of contracts through the gate
    Test {
        /// Only these tools [default: all that are served]
        tools: Vec<String>,
        /// Print what came of them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Propose what a tool of an upstream returns, from results of it
    ///
    /// Takes results from files, or calls the tool with arguments that you give, or looks at what jobs
    /// and quarantine have kept of it. Prints an overlay for you to read and edit.
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
    let (contract, diagnostics) = read::contract(name, &text);
    if contract.is_none() {
        // The starter is sound, so it can only be the name.
        let first = diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
        bail!("`{name}` cannot be the name of a tool: {first}");
    }
    let built_in = tools::built_in(&tools::ToolSettings::default());
    let is_taken = |tool: &tools::BuiltIn| {
        read::trusted(tool.contract).is_ok_and(|contract| contract.name == name)
    };
    if built_in.iter().any(is_taken) {
        bail!("`{name}` is a tool of Toolgate itself; choose another name");
    }
    std::fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
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
    headers: &HeaderArguments,
    flags: &Flags,
) -> anyhow::Result<Vec<ToolSource>> {
    if !headers.is_empty() && !sources.iter().any(|source| source.contains("://")) {
        bail!("--header needs a URL");
    }
    let mut sets = Vec::new();
    for source in sources {
        sets.push(sources::read(source, headers, flags)?);
    }
    if !program.is_empty() {
        sets.push(sources::program(program)?);
    }
    Ok(sets)
}

/// Whether all of a source could be read; what is wrong is shown.
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
    bound.retain(|one| one.contract.status == contract::ContractStatus::Active);
    for tool in tools {
        if !bound.iter().any(|one| one.contract.name == *tool) {
            bail!("there is no tool `{tool}`");
        }
    }
    if !tools.is_empty() {
        bound.retain(|one| tools.contains(&one.contract.name));
    }
    let results = commands::runtime()?.block_on(examples::run(bound, &loaded))?;
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
