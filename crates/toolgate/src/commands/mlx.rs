//! `toolgate mlx`: shows the model servers of this machine.

use clap::{Args, Subcommand};
use serde_json::json;
use tools::mlx::{ModelServer, ModelServerHealth, ModelServerState, PORTS, status};

use crate::{Exit, commands, printer::Printer, settings::Flags};

/// Show the model servers that `mlx.load` started
///
/// Works on the data folder, with or without a running server. To load and unload models, use
/// `toolgate call mlx.load` and `toolgate call mlx.unload`.
#[derive(Args)]
pub struct MlxCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List ports, models, health, start times and the last lines of each log
    Status(StatusArguments),
}

#[derive(Args)]
struct StatusArguments {
    /// Show only this port
    #[arg(value_parser = port)]
    port: Option<u16>,
    /// Number of log lines to show for each server
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    lines: usize,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl MlxCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let Command::Status(asked) = &self.command;
        let loaded = flags.load()?;
        let settings = loaded.tools().mlx;
        if !settings.is_local() {
            let host = &settings.host;
            // The same program with the same settings.
            let words = settings.host_command.iter().take_while(|word| *word != "mcp");
            let words: Vec<&str> = words.map(String::as_str).collect();
            printer.say(format!(
                "models are served on `{host}` (tools.mlx.host); run `ssh {host} {} mlx status`",
                words.join(" ")
            ));
            return Ok(Exit::Unknown);
        }
        commands::require_used_data_dir(&loaded)?;
        let ports = PORTS.filter(|port| asked.port.is_none_or(|only| *port == only));
        let servers = commands::block_on(status(&settings, ports, asked.lines))?;
        if asked.json {
            printer.json(&json!({ "servers": servers }));
        } else {
            show(&servers, printer);
        }
        Ok(if servers.iter().any(is_failing) { Exit::Failed } else { Exit::Ok })
    }
}

fn port(text: &str) -> Result<u16, String> {
    let port = text.parse().ok().filter(|port| PORTS.contains(port));
    port.ok_or_else(|| format!("must be a port from {} to {}", PORTS.start(), PORTS.end()))
}

/// True if the server failed, ended or does not answer.
fn is_failing(server: &ModelServer) -> bool {
    let silent = server.health.as_ref().is_some_and(|health| !health.is_well());
    silent || matches!(server.state, ModelServerState::Ended | ModelServerState::Failed)
}

fn show(servers: &[ModelServer], printer: &Printer) {
    if servers.is_empty() {
        printer.say("no model is loaded");
        return;
    }
    let row = |server: &ModelServer| {
        vec![
            server.port.to_string(),
            server.state.to_string(),
            server.health.as_ref().map_or("-".into(), ModelServerHealth::words),
            server.since.map_or("-".into(), |since| since.to_string()),
            server.model.clone().or(server.process.clone()).unwrap_or_default(),
        ]
    };
    let rows: Vec<_> = servers.iter().map(row).collect();
    printer.table(&["PORT", "STATE", "HEALTH", "SINCE", "MODEL"], &rows);
    for server in servers.iter().filter(|one| !one.log.is_empty() || one.reason.is_some()) {
        printer.data("");
        let reason = server.reason.as_ref().map(|reason| format!(" {reason}"));
        printer.data(format!("{}:{}", server.port, reason.unwrap_or_default()));
        for line in &server.log {
            printer.data(format!("  {line}"));
        }
    }
}
