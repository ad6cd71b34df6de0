//! `toolgate tools`: what is served.

use clap::{Args, Subcommand};
use contract::render::{descriptor, markdown};

use crate::{Answer, commands, printer::Printer, settings::Flags, wiring::Bound};

/// List the tools that are served, or show one
#[derive(Args)]
pub struct Tools {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Show the contract of a tool
    Show {
        /// The name of the tool
        tool: String,
    },
}

impl Tools {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        let mut bound = match commands::ready(flags, printer)? {
            Ok((_, bound)) => bound,
            Err(answer) => return Ok(answer),
        };
        bound.retain(|one| one.contract.status == contract::Status::Active);
        bound.sort_by(|one, other| one.contract.name.cmp(&other.contract.name));
        match &self.command {
            None => {
                self.list(&bound, printer);
                Ok(Answer::Yes)
            }
            Some(Command::Show { tool }) => Ok(self.show(tool, &bound, printer)),
        }
    }

    fn list(&self, bound: &[Bound], printer: &Printer) {
        if self.json {
            let tools: Vec<_> =
                bound.iter().map(|one| descriptor::descriptor(&one.contract)).collect();
            printer.json(&serde_json::json!({ "tools": tools }));
            return;
        }
        let rows: Vec<_> = bound
            .iter()
            .map(|one| {
                let contract = &one.contract;
                vec![
                    contract.name.clone(),
                    contract.toolset.clone(),
                    contract.stability.word().to_owned(),
                    contract.effects.word().to_owned(),
                    first_sentence(&contract.description).to_owned(),
                ]
            })
            .collect();
        printer.table(&["TOOL", "TOOLSET", "STABILITY", "EFFECTS", "DESCRIPTION"], &rows);
    }

    fn show(&self, tool: &str, bound: &[Bound], printer: &Printer) -> Answer {
        let Some(found) = bound.iter().find(|one| one.contract.name == tool) else {
            let known = bound.iter().map(|one| one.contract.name.as_str());
            let near = contract::nearest(tool, known)
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            printer.say(format!("there is no tool `{tool}`{near}"));
            return Answer::No;
        };
        if self.json {
            printer.json(&descriptor::descriptor(&found.contract));
        } else {
            printer.data(markdown::tool(&found.contract).trim_end());
        }
        Answer::Yes
    }
}

/// As much of a description as tells one tool from another.
fn first_sentence(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}
