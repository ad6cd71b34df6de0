//! Finds errors in contracts.

use anyhow::bail;
use clap::Args;
use contract::Severity;
use serde_json::json;

use crate::{
    Exit,
    named_servers::ServerArguments,
    printer::{Printer, counted},
    settings::Flags,
};

#[derive(Args)]
pub struct LintCommand {
    /// The sources
    #[arg(value_name = "SOURCE", required_unless_present = "program")]
    sources: Vec<String>,
    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    server: ServerArguments,
    /// A program that speaks MCP on stdin and stdout, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    program: Vec<String>,
}

impl LintCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let sets = super::named(&self.sources, &self.program, &self.server, flags)?;
        let all = || sets.iter().flat_map(|set| set.diagnostics.iter().chain(&set.findings));
        let diagnostics: Vec<_> = all().cloned().collect();
        let refused = diagnostics.iter().any(|one| one.severity == Severity::Error);
        let unreached: Vec<_> = sets.iter().flat_map(|set| &set.unreached).collect();
        if self.json {
            let ok = !refused && unreached.is_empty();
            printer.json(&json!({ "ok": ok, "diagnostics": diagnostics, "unreached": unreached }));
        } else {
            printer.diagnostics(&diagnostics);
            if !refused {
                let tools: usize = sets.iter().map(|set| set.tools.len()).sum();
                printer.say(format!("no errors in {}", counted(tools, "tool")));
            }
        }
        if let Some(first) = unreached.first() {
            bail!("cannot be reached: {first}");
        }
        Ok(if refused { Exit::Failed } else { Exit::Ok })
    }
}
