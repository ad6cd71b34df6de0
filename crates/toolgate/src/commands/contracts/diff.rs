//! Compares two sources of contracts.

use anyhow::bail;
use clap::Args;
use gate::visible_text::visible_line;
use serde_json::json;
use workbench::compare::{ChangeClass, ContractChange};

use crate::{
    Exit,
    named_servers::ServerArguments,
    printer::{Printer, counted},
    settings::Flags,
    sources::{self, SourceComparison, ToolSource},
};

#[derive(Args)]
pub struct DiffCommand {
    /// The old and the new source
    #[arg(value_name = "SOURCE", num_args = 1..=2)]
    sources: Vec<String>,
    /// Show only breaking changes
    #[arg(long)]
    breaking: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArguments,
    /// A program that speaks MCP on stdin and stdout, and its arguments, in place of the second
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

impl DiffCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        if self.sources.len() + usize::from(!self.program.is_empty()) != 2 {
            bail!("name two sources, or one and a command after `--`");
        }
        let sets = super::named(&self.sources, &self.program, &self.server, flags)?;
        let [old, new] = &sets[..] else { bail!("name two sources") };
        let readable = [old, new].map(|set| super::is_readable(set, printer));
        if readable != [true, true] {
            return Ok(Exit::Unknown);
        }
        let mut compared = sources::compare(old, new);
        if self.breaking {
            for changes in compared.changes.values_mut() {
                changes.retain(|one| one.class == ChangeClass::Breaking);
            }
            compared.changes.retain(|_, changes| !changes.is_empty());
        }
        let same = compared.changes.is_empty();
        if self.json {
            let SourceComparison { changes, more } = &compared;
            printer.json(&json!({ "same": same, "tools": changes, "more": more }));
        } else {
            show(&compared, old, new, printer);
        }
        Ok(if same { Exit::Ok } else { Exit::Failed })
    }
}

fn show(compared: &SourceComparison, old: &ToolSource, new: &ToolSource, printer: &Printer) {
    for (name, changes) in &compared.changes {
        printer.data(visible_line(name));
        for ContractChange { part, class, pointer, text, .. } in changes {
            let blank = if pointer.is_empty() { "" } else { " " };
            let line = format!("{part}{blank}{pointer}: {text}");
            printer.data(format!("  {:9} {}", class.word(), visible_line(&line)));
        }
    }
    let count = |tools: usize| counted(tools, "tool");
    printer.say(match compared.changes.len() {
        0 => format!("no difference in {}", count(old.tools.len())),
        different => format!("{} of {} differ", different, count(old.tools.len().max(different))),
    });
    if compared.more > 0 {
        printer.say(format!(
            "{} has {} that {} does not name",
            new.title,
            count(compared.more),
            old.title
        ));
    }
}
