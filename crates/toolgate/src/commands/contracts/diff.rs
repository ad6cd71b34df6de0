//! What changed from one source of contracts to another.

use anyhow::bail;
use clap::Args;
use gate::visible_text::visible_line;
use serde_json::json;
use workbench::compare::{ChangeClass, ContractChange};

use crate::{
    Exit,
    named_servers::HeaderArguments,
    printer::Printer,
    settings::Flags,
    sources::{self, SourceComparison, ToolSource},
};

#[derive(Args)]
pub struct DiffCommand {
    /// How it was, and how it is
    #[arg(value_name = "SOURCE", num_args = 1..=2)]
    sources: Vec<String>,
    /// Only what may break those who rely on it
    #[arg(long)]
    breaking: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    headers: HeaderArguments,
    /// A program that speaks MCP on stdin and stdout, and its arguments, in place of the second
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

impl DiffCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        if self.sources.len() + usize::from(!self.program.is_empty()) != 2 {
            bail!("what is to be compared? Name two sources, or one and a command after `--`");
        }
        let sets = super::named(&self.sources, &self.program, &self.headers, flags)?;
        let [old, new] = &sets[..] else { bail!("two sources are compared") };
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
    let count = |one: usize| match one {
        1 => "1 tool".to_owned(),
        more => format!("{more} tools"),
    };
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
