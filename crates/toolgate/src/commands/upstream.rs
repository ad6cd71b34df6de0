//! `toolgate upstream`: other people's MCP servers, and how they are.

mod import;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::json;
use upstream::{Host, Phase, Report};

use crate::{
    Exit, commands,
    printer::Printer,
    settings::{Flags, Loaded},
    wiring::{
        self,
        upstreams::{self, Which},
    },
};

/// List the upstream servers and how they are, or take them over from another client
#[derive(Args)]
pub struct UpstreamCommand {
    /// Print JSON
    #[arg(long, global = true)]
    json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Connect to every upstream, and show what is admitted, what is not, and why
    List {
        /// Only this one
        id: Option<String>,
    },
    /// Take the servers of another client's configuration into the settings
    Import {
        /// A JSON file with `mcpServers` (Claude, Cursor), `servers` or `mcp.servers` (VS Code), or with
        /// `mcpServers` in its projects (Claude Code)
        file: PathBuf,
    },
}

impl UpstreamCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        match &self.command {
            Command::List { id } => self.list(id.as_deref(), flags, printer),
            Command::Import { file } => import::run(file, flags, self.json, printer),
        }
    }

    fn list(&self, id: Option<&str>, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let (loaded, bound) = commands::ready(flags)?;
        is_known(&loaded, id)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let plan = upstreams::plan_to_look(&loaded, id.map_or(Which::All, Which::One), &fixed)?;
        let reports = commands::runtime()?.block_on(async {
            let host = Host::start(plan);
            host.settled().await;
            let reports = host.reports();
            host.stop().await;
            reports
        });
        if self.json {
            printer.json(&json!({ "upstreams": reports }));
        } else {
            show(&reports, printer);
        }
        let down = reports.iter().any(|one| matches!(one.phase, Phase::Down { .. }));
        Ok(if down { Exit::Failed } else { Exit::Ok })
    }
}

/// Refuses an id that the settings do not have.
pub fn is_known(loaded: &Loaded, id: Option<&str>) -> anyhow::Result<()> {
    let Some(id) = id else { return Ok(()) };
    let known = &loaded.settings.upstreams;
    if known.contains_key(id) {
        return Ok(());
    }
    match contract::nearest(id, known.keys().map(String::as_str)) {
        Some(near) => bail!("there is no upstream `{id}`; did you mean `{near}`?"),
        None if known.is_empty() => bail!("the settings have no upstreams"),
        None => bail!("there is no upstream `{id}`"),
    }
}

fn show(reports: &[Report], printer: &Printer) {
    if reports.is_empty() {
        printer.say(
            "the settings have no upstreams; take some over with `toolgate upstream import FILE`",
        );
        return;
    }
    let rows: Vec<_> = reports
        .iter()
        .map(|one| {
            vec![
                one.id.clone(),
                word(&one.phase).to_owned(),
                one.protocol.clone().unwrap_or_default(),
                one.tools.len().to_string(),
                one.rejected.len().to_string(),
                one.target.clone(),
            ]
        })
        .collect();
    printer.table(&["UPSTREAM", "STATE", "PROTOCOL", "TOOLS", "REJECTED", "TARGET"], &rows);
    for one in reports {
        if let Phase::Down { error } = &one.phase {
            printer.data(format!("\n{}: {error}", one.id));
        }
        for remark in &one.remarks {
            printer.data(format!("\n{}.{}: {}", one.id, remark.tool, remark.message));
        }
        for rejected in &one.rejected {
            let reason = rejected.reason.word();
            printer.data(format!("\n{}.{}: {reason}: {}", one.id, rejected.tool, rejected.message));
            printer.data(format!("  {}", rejected.fix));
        }
    }
}

fn word(phase: &Phase) -> &'static str {
    match phase {
        Phase::Disabled => "disabled",
        Phase::Starting => "starting",
        Phase::Ready => "ready",
        Phase::Idle => "idle",
        Phase::Down { .. } => "down",
    }
}
