//! `toolgate contracts`: write, judge, run and export contracts.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use clap::{Args, Subcommand, ValueEnum};
use contract::{
    Contract, read,
    render::{markdown, mcp, openapi},
};
use serde_json::json;

use crate::{Answer, commands, examples, printer::Printer, settings::Flags};

/// A contract that works as it is, to be changed into another.
const STARTER: &str = include_str!("../starter/contract.yaml");

/// Write, judge, run and export contracts
#[derive(Args)]
pub struct Contracts {
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
    /// Judge contract files
    Lint {
        /// The files
        #[arg(required = true)]
        files: Vec<PathBuf>,
        /// Print what was found as JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the examples of contracts through the gate
    Test {
        /// Only these tools [default: all that are served]
        tools: Vec<String>,
        /// Print what came of them as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print all contracts in another form
    Export {
        /// The form
        #[arg(long, value_enum)]
        format: Format,
    },
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A reference page
    Markdown,
    /// OpenAPI 3.1, as JSON
    Openapi,
    /// The tool list of the Model Context Protocol
    Mcp,
}

impl Contracts {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        match &self.command {
            Command::New { name, folder } => new(name, folder, printer),
            Command::Lint { files, json } => lint(files, *json, printer),
            Command::Test { tools, json } => test(flags, tools, *json, printer),
            Command::Export { format } => export(flags, *format, printer),
        }
    }
}

fn new(name: &str, folder: &Path, printer: &Printer) -> anyhow::Result<Answer> {
    let text = STARTER.replace("NAME", name);
    let (contract, diagnostics) = read::contract(name, &text);
    if contract.is_none() {
        // The starter is sound, so it can only be the name.
        let first = diagnostics.first().map(|one| one.message.clone()).unwrap_or_default();
        bail!("`{name}` cannot be the name of a tool: {first}");
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
    Ok(Answer::Yes)
}

/// Writes a file that was not there, whole or not at all.
pub(super) fn write_new(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let wrote = written(folder.unwrap_or(Path::new(".")), text)
        .and_then(|temporary| temporary.persist_noclobber(file).map_err(|error| error.error));
    wrote.map(|_| ()).with_context(|| format!("cannot write `{}`", file.display()))
}

/// A file with that text, yet without its name.
pub(super) fn written(folder: &Path, text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
    temporary.write_all(text.as_bytes())?;
    temporary.as_file().sync_all()?;
    set_readable(temporary.as_file())?;
    Ok(temporary)
}

/// A settings file is for everybody to read, unlike other temporary files.
fn set_readable(file: &std::fs::File) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(std::fs::Permissions::from_mode(0o644))
}

fn lint(files: &[PathBuf], as_json: bool, printer: &Printer) -> anyhow::Result<Answer> {
    let mut diagnostics = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("cannot read `{}`", file.display()))?;
        diagnostics.extend(read::contract(&file.display().to_string(), &text).1);
    }
    let refused = diagnostics.iter().any(|one| one.severity == contract::Severity::Error);
    if as_json {
        printer.json(&json!({ "ok": !refused, "diagnostics": diagnostics }));
    } else {
        printer.diagnostics(&diagnostics);
        if !refused {
            printer.say(format!("{} fine", files.len()));
        }
    }
    Ok(if refused { Answer::No } else { Answer::Yes })
}

fn test(
    flags: &Flags,
    tools: &[String],
    as_json: bool,
    printer: &Printer,
) -> anyhow::Result<Answer> {
    let (loaded, mut bound) = match commands::ready(flags, printer)? {
        Ok(ready) => ready,
        Err(answer) => return Ok(answer),
    };
    bound.retain(|one| one.contract.status == contract::Status::Active);
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
    Ok(if failed == 0 { Answer::Yes } else { Answer::No })
}

fn export(flags: &Flags, format: Format, printer: &Printer) -> anyhow::Result<Answer> {
    let (loaded, bound) = match commands::ready(flags, printer)? {
        Ok(ready) => ready,
        Err(answer) => return Ok(answer),
    };
    let contracts: Vec<&Contract> = bound.iter().map(|one| &one.contract).collect();
    match format {
        Format::Markdown => printer.data(markdown::reference(&contracts).trim_end()),
        Format::Mcp => printer.json(&mcp::listing(contracts.into_iter(), mcp::Era::Modern)),
        Format::Openapi => printer.json(&openapi::document(
            &contracts,
            &openapi::Settings {
                version: env!("CARGO_PKG_VERSION"),
                max_body_bytes: loaded.settings.server.max_body_bytes as u64,
                server_url: None,
                bearer: !loaded.settings.server.tokens.is_empty(),
                ceilings: loaded.settings.limits.ceilings(),
            },
        )),
    }
    Ok(Answer::Yes)
}
