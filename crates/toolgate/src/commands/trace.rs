//! `toolgate trace`: prints the trace of a run.

use std::path::PathBuf;

use ask::{Trace, TraceEvent};
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::{
    Exit, files,
    printer::{Printer, shortened},
    settings::FileErrors,
};

/// Show the trace of a run of `toolgate ask`
#[derive(Args)]
pub struct TraceCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print a run as a timeline
    Show {
        /// A file that `--trace` or `ask.trace_dir` wrote
        file: PathBuf,
        /// Print all data of each event
        #[arg(long)]
        full: bool,
    },
}

/// The most characters of an event on its line.
const MAX_LINE_CHARACTERS: usize = 160;

impl TraceCommand {
    pub fn run(&self, printer: &Printer) -> anyhow::Result<Exit> {
        let Command::Show { file, full } = &self.command;
        let text = files::read(file)?;
        let trace: Trace = contract::json::parse_as(text.as_bytes()).map_err(|error| {
            let found = error.diagnostic(&file.display().to_string(), &text);
            FileErrors(vec![found.hint("the file is not a trace: `ask --trace FILE` writes one")])
        })?;
        show(&trace, *full, printer);
        Ok(Exit::Ok)
    }
}

fn show(trace: &Trace, full: bool, printer: &Printer) {
    printer.data(&trace.trace_id);
    for (name, value) in &trace.meta {
        if !value.is_null() {
            printer.data(format!("  {name}: {}", plain(value)));
        }
    }
    let begin = trace.events.first().map_or(0, |event| event.ts_ms);
    for event in &trace.events {
        let at = event.ts_ms.saturating_sub(begin);
        printer.data(format!("{at:>8} ms  {}", line(event)));
        if full {
            printer.json_in_text(&event.payload);
        }
    }
    let output = &trace.final_output;
    let kind = output["type"].as_str().unwrap_or("unknown");
    let why = ["reason", "note", "answer"].iter().find_map(|name| output[name].as_str());
    printer.data(match why {
        Some(why) => format!("     end     {kind}: {why}"),
        None => format!("     end     {kind}"),
    });
    if full {
        printer.json_in_text(output);
    }
}

pub fn line(event: &TraceEvent) -> String {
    let payload = &event.payload;
    let said = match event.name.as_str() {
        "request" => text(&payload["question"]),
        "policy_gate" => match payload["rule"].as_str() {
            Some(rule) => format!("refused by the rule {rule}"),
            None => "passed".into(),
        },
        "tools_discovered" => {
            let servers = payload["servers"].as_object().map_or(0, serde_json::Map::len);
            format!("{} tools of {servers} servers", plain(&payload["tools"]))
        }
        "allowlist" => {
            let named = payload["allowed"].as_array().map_or(0, Vec::len) as u64;
            let allowed = named + payload["more_allowed"].as_u64().unwrap_or_default();
            format!("{allowed} may be used, {} may not", plain(&payload["not_allowed"]))
        }
        "planner_tools" => {
            let shown = payload["tools"].as_array().map_or(0, Vec::len);
            match payload["left_out"].as_u64() {
                Some(0) | None => format!("{shown} are shown to the planner"),
                Some(left) => format!("{shown} are shown to the planner, {left} did not fit"),
            }
        }
        "planner_prompt" | "summary_prompt" => {
            let length = |name: &str| payload[name].as_str().map_or(0, |text| text.chars().count());
            format!("{} characters", length("system") + length("user"))
        }
        "planner_raw" | "summary_raw" => text(&payload["text"]),
        "tool_call" => format!(
            "{}.{} {}",
            plain(&payload["server"]),
            plain(&payload["tool"]),
            plain(&payload["args"])
        ),
        "summarize_decision" => plain(&payload["wanted"]),
        "summary" => {
            let summary = &payload["summary"];
            let bullets = summary["bullets"].as_array().map_or(0, Vec::len);
            format!("{bullets} bullets, {} dropped", plain(&summary["dropped"]))
        }
        _ => match payload["reason"].as_str() {
            Some(reason) => reason.to_owned(),
            None => plain(payload),
        },
    };
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{:<22}  {}", event.name, shortened(&said, MAX_LINE_CHARACTERS))
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
