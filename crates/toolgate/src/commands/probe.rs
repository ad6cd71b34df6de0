//! `toolgate probe`: tests an MCP server against its contract.

mod own_tools;
mod text_report;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::{Args, builder::RangedU64ValueParser};
use guard::process::Spawner;
use probe::{CheckOutcome, ProbeOptions, ProbeReport, ProbeTarget, junit, sarif};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    Exit, commands, files, interrupts,
    named_servers::{NamedServer, ServerArguments},
    printer::{
        Printer,
        progress::{self, ProgressLine},
    },
    settings::Flags,
};

/// Test an MCP server against its own contract
///
/// Lists its tools, and calls those that only read: with valid arguments at the boundaries, and with
/// arguments that have one defect each. Exit code 0 if nothing failed, 1 if something failed, 2 if the
/// server cannot be reached or the probe ended early.
#[derive(Args)]
pub struct ProbeCommand {
    /// The id of an upstream in the settings, or a URL
    #[arg(value_name = "ID | URL", conflicts_with_all = ["ourselves", "command"])]
    server: Option<String>,
    /// Probe our own tools through every door, with outputs that break their contracts
    #[arg(long = "self", conflicts_with = "command")]
    ourselves: bool,
    /// Only this tool; repeatable
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// Also call tools with effects
    #[arg(long)]
    effects: bool,
    /// The number of valid, and of invalid, calls of each tool
    #[arg(long, value_name = "N", default_value_t = probe::DEFAULT_CASES,
        value_parser = RangedU64ValueParser::<usize>::new().range(0..=probe::MAX_CASES as u64))]
    cases: usize,
    /// Seed of the generated arguments: the same seed makes the same calls
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// JSON file with valid arguments: an object with a list of argument objects for each tool
    #[arg(long, value_name = "FILE", conflicts_with = "ourselves")]
    arguments: Option<PathBuf>,
    #[command(flatten)]
    terms: ServerArguments,
    /// Timeout for connecting [default: that of the upstream, or 30000]
    #[arg(long, value_name = "MS", conflicts_with = "ourselves",
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    connect_timeout_ms: Option<u64>,
    /// Timeout of a call
    #[arg(long, value_name = "MS", default_value_t = millis(probe::DEFAULT_CALL_TIMEOUT),
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    timeout_ms: u64,
    /// Timeout of the probe
    #[arg(long, value_name = "MS", default_value_t = millis(probe::DEFAULT_TOTAL_TIMEOUT),
        value_parser = clap::value_parser!(u64).range(1..=86_400_000))]
    total_timeout_ms: u64,
    /// Write the checks as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write the findings as SARIF 2.1.0
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// A program that speaks MCP on stdin and stdout, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

impl ProbeCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        progress::switch_off_if(self.json);
        let options = self.options()?;
        let report = if self.ourselves {
            own_tools::run(flags, &options, printer)?
        } else {
            let server = self.target(flags)?;
            let spawner = Spawner::of_this_program();
            let NamedServer { target, mut limits, protocol, .. } = server;
            if let Some(limit) = self.connect_timeout_ms {
                limits.connect_timeout = Duration::from_millis(limit);
            }
            let probed = ProbeTarget { target: &target, limits, protocol, spawner: &spawner };
            let stop = CancellationToken::new();
            let progress = ProgressLine::begin("probing");
            let watch = |words: &str| progress.set(format!("probing {words}"));
            let probing = probe::run(probed, &options, &stop, &watch);
            commands::runtime()?.block_on(interrupts::stopping(&stop, probing))?
        };
        self.write(&report, printer)
    }

    fn options(&self) -> anyhow::Result<ProbeOptions> {
        Ok(ProbeOptions {
            tools: self.tools.clone(),
            effects: self.effects,
            cases: self.cases,
            seed: self.seed,
            arguments: self.arguments.as_deref().map(arguments).transpose()?.unwrap_or_default(),
            call_timeout: Duration::from_millis(self.timeout_ms),
            total_timeout: Duration::from_millis(self.total_timeout_ms),
        })
    }

    fn target(&self, flags: &Flags) -> anyhow::Result<NamedServer> {
        let is_address = self.server.as_ref().is_some_and(|server| server.contains("://"));
        if self.terms.has_headers() && !is_address {
            bail!("--header needs a URL");
        }
        if let Some((program, arguments)) = self.command.split_first() {
            return NamedServer::program(flags, program, arguments, &self.terms);
        }
        let Some(server) = &self.server else {
            bail!(
                "name a server: an upstream of the settings, a URL, or a command after `--`; --self probes our \
                 own tools"
            );
        };
        if is_address {
            return NamedServer::at(server, &self.terms);
        }
        NamedServer::of_upstream(&flags.load()?, server)
    }

    /// Prints and writes the report.
    fn write(&self, report: &ProbeReport, printer: &Printer) -> anyhow::Result<Exit> {
        if let Some(file) = &self.junit {
            files::replace(file, &junit::document(report))?;
        }
        if let Some(file) = &self.sarif {
            let log = sarif::log(report);
            files::replace(file, &format!("{log:#}\n"))?;
        }
        let failed = report.count(CheckOutcome::Failed);
        if self.json {
            printer.json(&json!({ "ok": failed == 0 && report.cut.is_none(), "report": report }));
        } else {
            text_report::print(report, printer);
        }
        Ok(match (failed, &report.cut) {
            (0, None) => Exit::Ok,
            // What was not tested may be anything.
            (0, Some(_)) => Exit::Unknown,
            _ => Exit::Failed,
        })
    }
}

/// The arguments of the file, by tool.
fn arguments(file: &Path) -> anyhow::Result<BTreeMap<String, Vec<Value>>> {
    let shown = file.display();
    let value = files::read_json(file)?;
    let all: BTreeMap<String, Vec<Map<String, Value>>> = serde_json::from_value(value)
        .with_context(|| {
            format!("`{shown}` is not an object with a list of argument objects for each tool")
        })?;
    let mut read = BTreeMap::new();
    for (tool, list) in all {
        if list.len() > probe::MAX_CASES {
            bail!(
                "`{shown}`: `{tool}` has more than {} argument objects (max_cases)",
                probe::MAX_CASES
            );
        }
        read.insert(tool, list.into_iter().map(Value::Object).collect());
    }
    Ok(read)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
