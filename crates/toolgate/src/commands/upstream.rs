//! `toolgate upstream`: lists upstreams with their status, adds them, and changes their settings.
//!
//! - `add`, `import`: new upstreams, which are looked at first (`look`). `new_upstream` is one of them.
//! - `set`: one key of an upstream. `settings_file` writes the settings for all three.

mod add;
mod import;
mod look;
mod new_upstream;
mod rejections;
mod set;
pub mod settings_file;

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, Subcommand};
use serde_json::json;
use upstream::{UpstreamState, UpstreamStatus};

use self::new_upstream::LookArguments;
use crate::{
    Exit, commands,
    printer::{Printer, progress},
    settings::{Flags, LoadedSettings},
    wiring::{
        self,
        upstreams::{self, UpstreamFilter},
    },
};

/// List upstream servers, add them to the settings, and change them there
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
    /// Connect to every upstream, and show which tools are served and which are rejected, with the reason
    List {
        /// Only this one
        id: Option<String>,
    },
    /// Connect to one upstream, and show everything that is known of it, with the end of its stderr
    Show {
        /// Its id
        id: String,
    },
    /// Add a server to the settings: `add NAME URL`, or `add NAME -- COMMAND ARGUMENTS`
    ///
    /// The server is started as `serve` would start it. Nothing is written if it cannot be reached.
    Add(add::AddArguments),
    /// Set a key of an upstream in the settings file; everything else in it stays
    Set {
        /// Its id
        name: String,
        /// A key and its value, such as output=content or tools.NAME.effects=read
        #[arg(value_name = "KEY=VALUE")]
        assignment: String,
    },
    /// Import the servers of another client's configuration into the settings
    ///
    /// Each server is started as `serve` would start it. One that cannot be reached is imported, too.
    Import {
        /// A JSON file with `mcpServers` (Claude, Cursor), `servers` or `mcp.servers` (VS Code), or with
        /// `mcpServers` in its projects (Claude Code)
        file: PathBuf,
        #[command(flatten)]
        look: LookArguments,
    },
}

impl UpstreamCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        match &self.command {
            Command::List { id } => self.list(id.as_deref(), flags, printer),
            Command::Show { id } => self.show(id, flags, printer),
            Command::Add(arguments) => add::run(arguments, flags, self.json, printer),
            Command::Set { name, assignment } => {
                set::run(name, assignment, flags, self.json, printer)
            }
            Command::Import { file, look } => import::run(file, look, flags, self.json, printer),
        }
    }

    fn list(&self, id: Option<&str>, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let statuses = statuses(id, flags, printer)?;
        if self.json {
            printer.json(&json!({ "upstreams": statuses }));
        } else {
            show(&statuses, printer);
        }
        Ok(exit(&statuses))
    }

    fn show(&self, id: &str, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let statuses = statuses(Some(id), flags, printer)?;
        for one in &statuses {
            if self.json {
                printer.json(&json!(one));
                continue;
            }
            show(&statuses, printer);
            if let Some(server) = &one.server {
                let (prompts, resources) = (one.prompts, one.resources);
                printer.data(format!(
                    "\nserver: {server}; prompts: {prompts}; resources: {resources}"
                ));
            }
            if !one.tools.is_empty() {
                printer.data(format!("tools: {}", one.tools.join(", ")));
            }
            if !one.stderr.is_empty() {
                printer.data(format!("stderr:\n{}", one.stderr.trim_end()));
            }
        }
        Ok(exit(&statuses))
    }
}

/// Connects to one upstream, or to all, and returns their status.
fn statuses(
    id: Option<&str>,
    flags: &Flags,
    printer: &Printer,
) -> anyhow::Result<Vec<UpstreamStatus>> {
    let (loaded, contracts) = commands::ready(flags, printer)?;
    is_known(&loaded, id)?;
    let fixed = wiring::tools(contracts, &loaded)?;
    let filter = id.map_or(UpstreamFilter::All, UpstreamFilter::One);
    let config = upstreams::eager_host_config(&loaded, filter, &fixed)?;
    let statuses = upstreams::with_host(config, async |host| Ok(host.statuses()));
    commands::runtime()?.block_on(statuses)
}

fn exit(statuses: &[UpstreamStatus]) -> Exit {
    let down = statuses.iter().any(|one| matches!(one.state, UpstreamState::Down { .. }));
    if down { Exit::Failed } else { Exit::Ok }
}

/// Refuses an id that is not in the settings.
pub fn is_known(loaded: &LoadedSettings, id: Option<&str>) -> anyhow::Result<()> {
    let Some(id) = id else { return Ok(()) };
    let known = &loaded.settings.upstreams;
    if known.contains_key(id) {
        return Ok(());
    }
    if known.is_empty() {
        bail!("the settings have no upstreams");
    }
    let near = contract::did_you_mean(id, known.keys().map(String::as_str));
    bail!("there is no upstream `{id}`{near}")
}

fn show(statuses: &[UpstreamStatus], printer: &Printer) {
    if statuses.is_empty() {
        printer.say(
            "the settings have no upstreams; add one with `toolgate upstream add`, or import those of another client with \
             `toolgate upstream import FILE`",
        );
        return;
    }
    let rows: Vec<_> = statuses
        .iter()
        .map(|one| {
            vec![
                one.id.clone(),
                word(&one.state).to_owned(),
                one.protocol.clone().unwrap_or_default(),
                one.tools.len().to_string(),
                one.rejected.len().to_string(),
                one.target.clone(),
            ]
        })
        .collect();
    printer.table(&["UPSTREAM", "STATE", "PROTOCOL", "TOOLS", "REJECTED", "TARGET"], &rows);
    for one in statuses {
        if let UpstreamState::Down { error, .. } = &one.state {
            printer.data(format!("\n{}: {error}", one.id));
        }
        for remark in &one.remarks {
            let subject = match remark.tool.as_str() {
                "" => one.id.clone(),
                tool => format!("{}.{tool}", one.id),
            };
            printer.data(format!("\n{subject}: {}", remark.message));
        }
        rejections::show(&one.id, &one.rejected, printer);
    }
}

fn word(state: &UpstreamState) -> &'static str {
    match state {
        UpstreamState::Disabled => "disabled",
        UpstreamState::Starting => "starting",
        UpstreamState::Ready => "ready",
        UpstreamState::Idle => "idle",
        UpstreamState::Down { .. } => "down",
    }
}
