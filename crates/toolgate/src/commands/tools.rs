//! `toolgate tools`: lists the tools that are served.

use clap::{Args, Subcommand};
use contract::{
    Contract,
    render::{descriptor, markdown},
};

use crate::{
    Exit, commands,
    printer::{Printer, progress},
    settings::Flags,
    wiring::{
        self,
        upstreams::{self, UpstreamFilter},
    },
};

/// List the tools that are served, or show one
#[derive(Args)]
pub struct ToolsCommand {
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
        /// Name of the tool
        tool: String,
    },
}

impl ToolsCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let (loaded, contracts) = commands::ready(flags, printer)?;
        let fixed = wiring::tools(contracts, &loaded)?;
        let which = match &self.command {
            None => UpstreamFilter::All,
            Some(Command::Show { tool }) => UpstreamFilter::OwnerOf(tool),
        };
        let config = upstreams::host_config(&loaded, which, &fixed)?;
        let mut tools = fixed.tools;
        if !config.upstreams.is_empty() {
            let listed = upstreams::with_host(config, async |host| {
                commands::warn_of_unreachable(host, printer);
                Ok(host.tools())
            });
            tools.extend(commands::runtime()?.block_on(listed)?);
        }
        let mut bound: Vec<_> = tools.iter().map(|tool| &*tool.contract).collect();
        bound.retain(|one| one.status == contract::ContractStatus::Active);
        bound.sort_by(|one, other| one.name.cmp(&other.name));
        match &self.command {
            None => {
                self.list(&bound, printer);
                Ok(Exit::Ok)
            }
            Some(Command::Show { tool }) => {
                let hint = || commands::unserved::hint(&loaded, &fixed.absent, tool);
                Ok(self.show(tool, &bound, hint, printer))
            }
        }
    }

    fn list(&self, bound: &[&Contract], printer: &Printer) {
        if self.json {
            let tools: Vec<_> = bound.iter().map(|one| descriptor::descriptor(one)).collect();
            printer.json(&serde_json::json!({ "tools": tools }));
            return;
        }
        let rows: Vec<_> = bound
            .iter()
            .map(|contract| {
                vec![
                    contract.name.clone(),
                    contract.toolset.clone(),
                    stability(contract),
                    contract.effects_text().to_owned(),
                    first_sentence(&contract.description).to_owned(),
                ]
            })
            .collect();
        printer.table(&["TOOL", "TOOLSET", "STABILITY", "EFFECTS", "DESCRIPTION"], &rows);
    }

    fn show(
        &self,
        tool: &str,
        bound: &[&Contract],
        hint: impl FnOnce() -> Option<String>,
        printer: &Printer,
    ) -> Exit {
        let Some(found) = bound.iter().find(|one| one.name == tool) else {
            let known = bound.iter().map(|one| one.name.as_str());
            match hint() {
                Some(hint) => {
                    printer.say(format!("there is no tool `{tool}`"));
                    printer.say(format!("hint: {hint}"));
                }
                None => {
                    let near = contract::did_you_mean(tool, known);
                    printer.say(format!("there is no tool `{tool}`{near}"));
                }
            }
            return Exit::Failed;
        };
        if self.json {
            printer.json(&descriptor::descriptor(found));
        } else {
            printer.data(markdown::tool(found).trim_end());
        }
        Exit::Ok
    }
}

/// The stability, and for a deprecated tool the one to call instead.
fn stability(contract: &Contract) -> String {
    let word = contract.stability.word();
    match &contract.replaced_by {
        Some(replacement) => format!("{word}: {replacement}"),
        None => word.to_owned(),
    }
}

fn first_sentence(description: &str) -> &str {
    let line = description.lines().next().unwrap_or_default();
    line.find(". ").map_or(line, |end| &line[..=end])
}
