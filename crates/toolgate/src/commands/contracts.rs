//! `toolgate contracts`: creates, lints, compares, tests, infers and exports contracts.

mod diff;
mod export;
mod infer;
mod lint;
mod new;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::json;

use crate::{
    Exit, commands, examples,
    named_servers::ServerArguments,
    printer::{Printer, counted},
    settings::{Flags, LoadedSettings},
    sources::{self, ToolSource},
    wiring::absent_tools::{AbsentTools, SwitchedOffTool},
};

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
    ///
    /// Adds its folder to the settings, so that the tool is served: asks first, on a terminal.
    New(new::NewCommand),
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
            Command::New(new) => new.run(flags, printer),
            Command::Lint(lint) => lint.run(flags, printer),
            Command::Diff(diff) => diff.run(flags, printer),
            Command::Test { tools, json } => test(flags, tools, *json, printer),
            Command::Infer(infer) => infer.run(flags, printer),
            Command::Export(export) => export.run(flags, printer),
        }
    }
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
    let (loaded, mut contracts) = commands::ready(flags, printer)?;
    commands::retain_tools(&mut contracts, tools, &loaded)?;
    let AbsentTools { left_out, switched_off } = contracts.absent;
    // Their examples cannot be run.
    let left_out = if tools.is_empty() { left_out.len() } else { 0 };
    let results = commands::block_on(examples::run(contracts.bound, &loaded))?;
    let failed = results.iter().filter(|one| one.problem.is_some()).count();
    let ok = failed == 0 && left_out == 0 && !results.is_empty();
    if as_json {
        printer.json(&json!({ "ok": ok, "examples": results }));
    } else {
        for result in &results {
            let mark = if result.problem.is_some() { "FAILED" } else { "ok" };
            printer.data(format!("{mark:6} {}: {}", result.tool, result.title));
            if let Some(problem) = &result.problem {
                printer.data(format!("       {problem}"));
            }
        }
        let passed = results.len() - failed;
        printer.say(match left_out {
            0 => format!("{passed} passed, {failed} failed"),
            count => {
                format!("{passed} passed, {failed} failed, {} left out", counted(count, "contract"))
            }
        });
    }
    if results.is_empty() {
        printer.say("no example was run, so nothing is known");
        if let Some(hint) = nothing_to_test(&loaded, left_out, switched_off.first()) {
            printer.say(format!("hint: {hint}"));
        }
    }
    Ok(if ok { Exit::Ok } else { Exit::Failed })
}

/// What to do where there is no tool with examples. Of contracts that are left out was told already.
fn nothing_to_test(
    loaded: &LoadedSettings,
    left_out: usize,
    off: Option<&SwitchedOffTool>,
) -> Option<String> {
    if left_out > 0 {
        return None;
    }
    if let Some(file) = commands::unserved::unwired(loaded).next() {
        return Some(file.hint(loaded));
    }
    Some(match off {
        Some(off) => format!("add `{}` to `{}` in the settings", off.toolset, off.setting),
        None => "`toolgate contracts new NAME` writes a contract with examples".to_owned(),
    })
}
