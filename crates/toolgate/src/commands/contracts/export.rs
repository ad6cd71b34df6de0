//! Prints contracts in another format.

use anyhow::bail;
use clap::{Args, ValueEnum};
use contract::{
    Contract, document,
    render::{markdown, mcp},
};
use serde_json::{Value, json};
use server::openapi::{self, OpenApiSettings};

use crate::{
    Exit, commands,
    named_servers::ServerArguments,
    printer::Printer,
    settings::{Flags, ToolgateSettings},
};

#[derive(Args)]
pub struct ExportCommand {
    /// The source [default: the tools of the settings, without upstreams]
    source: Option<String>,
    /// The format
    #[arg(long, value_enum, default_value = "yaml")]
    format: ExportFormat,
    #[command(flatten)]
    server: ServerArguments,
    /// A program that speaks MCP on stdin and stdout, and its arguments
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "source")]
    program: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportFormat {
    /// Contract files, with `---` between them
    Yaml,
    /// The same as JSON
    Json,
    /// A reference page
    Markdown,
    /// OpenAPI 3.1, as JSON
    Openapi,
    /// The tool list of the Model Context Protocol
    Mcp,
}

/// The contract with the way to the tool, unless it names another.
fn with_door(mut contract: Contract) -> Contract {
    contract.transport.get_or_insert_with(|| "mcp (stdio or http), http".to_owned());
    contract.endpoint.get_or_insert_with(|| contract.toolset.clone());
    contract
}

impl ExportCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        if self.source.is_none() && self.program.is_empty() {
            let (loaded, loaded_contracts) = commands::ready(flags, printer)?;
            let contracts = loaded_contracts.bound.into_iter().map(|one| with_door(one.contract));
            let contracts: Vec<Contract> = contracts.collect();
            let contracts: Vec<&Contract> = contracts.iter().collect();
            self.print(&contracts, None, &loaded.settings, printer);
            return Ok(Exit::Ok);
        }
        let sources: Vec<String> = self.source.iter().cloned().collect();
        let sets = super::named(&sources, &self.program, &self.server, flags)?;
        let [set] = &sets[..] else { bail!("name one source") };
        if !super::is_readable(set, printer) {
            return Ok(Exit::Unknown);
        }
        let contracts = set.tools.iter().map(|one| match one.listed {
            // Where another server has it is not known.
            Some(_) => one.contract.clone(),
            None => with_door(one.contract.clone()),
        });
        let contracts: Vec<Contract> = contracts.collect();
        let contracts: Vec<&Contract> = contracts.iter().collect();
        // What a server lists is passed on as it came.
        let listed: Option<Vec<&Value>> = set.tools.iter().map(|one| one.listed.as_ref()).collect();
        self.print(&contracts, listed, &ToolgateSettings::default(), printer);
        Ok(Exit::Ok)
    }

    fn print(
        &self,
        contracts: &[&Contract],
        listed: Option<Vec<&Value>>,
        settings: &ToolgateSettings,
        printer: &Printer,
    ) {
        match (self.format, listed) {
            (ExportFormat::Yaml, _) => {
                let texts: Vec<String> =
                    contracts.iter().map(|one| document::to_yaml(&one.to_value())).collect();
                printer.document(texts.join("---\n").trim_end());
            }
            (ExportFormat::Json, _) => printer.json(&json!({ "contracts": contracts })),
            (ExportFormat::Markdown, _) => {
                printer.document(markdown::reference(contracts).trim_end());
            }
            (ExportFormat::Mcp, Some(listed)) => printer.json(&json!({ "tools": listed })),
            (ExportFormat::Mcp, None) => {
                printer.json(&mcp::listing(contracts.iter().copied(), mcp::OutputForm::Any));
            }
            (ExportFormat::Openapi, _) => printer.json(&openapi::document(
                contracts,
                &OpenApiSettings {
                    version: env!("CARGO_PKG_VERSION"),
                    max_body_bytes: settings.server.max_body_bytes as u64,
                    server_url: None,
                    bearer: !settings.server.tokens.is_empty(),
                    ceilings: settings.limits.ceilings(),
                },
            )),
        }
    }
}
