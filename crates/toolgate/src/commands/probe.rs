//! `toolgate probe`: does an MCP server keep its word?

mod junit;
mod ourselves;
mod sarif;
mod show;

use std::{path::PathBuf, time::Duration};

use anyhow::bail;
use clap::Args;
use guard::process::Spawner;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use upstream::probe::{self, Options, Outcome, Probed, Report};

use crate::{Answer, commands, files, printer::Printer, servers::Server, settings::Flags};

/// Test an MCP server against its own contract
///
/// Lists its tools, and calls those that say that they change nothing: with values that their
/// schemas take, at the boundaries, and with values that have one defect each. Exit code 0 if nothing
/// failed, 1 if something did, 2 if nothing can be said.
#[derive(Args)]
pub struct Probe {
    /// The id of an upstream of the settings, or an address
    #[arg(value_name = "ID | URL", conflicts_with_all = ["ourselves", "command"])]
    server: Option<String>,
    /// Probe our own tools, through every door, with answers that break their contracts put in
    #[arg(long = "self", conflicts_with = "command")]
    ourselves: bool,
    /// Only this tool; may be given more than once
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// Call tools that may change something, too
    #[arg(long)]
    effects: bool,
    /// How many valid and how many invalid calls are made of each tool
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u16).range(0..=100))]
    cases: u16,
    /// What the values are made from: the same seed asks the same
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How long one call may take
    #[arg(long, value_name = "MS", default_value_t = 10_000,
        value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    timeout_ms: u64,
    /// How long all of it may take
    #[arg(long, value_name = "MS", default_value_t = 600_000,
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

impl Probe {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        let options = self.options();
        let report = if self.ourselves {
            match ourselves::run(flags, &options, printer)? {
                Ok(report) => report,
                Err(answer) => return Ok(answer),
            }
        } else {
            let server = match self.target(flags, printer)? {
                Ok(found) => found,
                Err(answer) => return Ok(answer),
            };
            let spawner = Spawner::of_this_program();
            let Server { target, limits, protocol, .. } = server;
            let probed = Probed { target: &target, limits, protocol, spawner: &spawner };
            commands::runtime()?.block_on(until_stopped(async |stop| {
                probe::run(probed, &options, stop).await.map_err(anyhow::Error::from)
            }))?
        };
        self.tell(&report, printer)
    }

    fn options(&self) -> Options {
        Options {
            tools: self.tools.clone(),
            effects: self.effects,
            cases: self.cases.into(),
            seed: self.seed,
            call_timeout: Duration::from_millis(self.timeout_ms),
            total_timeout: Duration::from_millis(self.total_timeout_ms),
        }
    }

    /// The server that is meant.
    fn target(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Result<Server, Answer>> {
        if let Some((program, arguments)) = self.command.split_first() {
            return Server::program(program, arguments).map(Ok);
        }
        let Some(server) = &self.server else {
            bail!(
                "which server? Name an upstream of the settings or an address, or write a command \
                 after `--`; --self is for our own tools"
            );
        };
        if server.contains("://") {
            return Server::at(server).map(Ok);
        }
        match flags.load()? {
            Ok(loaded) => Server::of_upstream(&loaded, server).map(Ok),
            Err(diagnostics) => {
                printer.diagnostics(&diagnostics);
                Ok(Err(Answer::CouldNotTell))
            }
        }
    }

    /// Tells what came of it, in every form that was asked for.
    fn tell(&self, report: &Report, printer: &Printer) -> anyhow::Result<Answer> {
        if let Some(file) = &self.junit {
            files::replace(file, &junit::document(report))?;
        }
        if let Some(file) = &self.sarif {
            let log = sarif::log(report);
            files::replace(file, &format!("{log:#}\n"))?;
        }
        let failed = report.count(Outcome::Failed);
        if self.json {
            printer.json(&json!({ "ok": failed == 0 && report.cut.is_none(), "report": report }));
        } else {
            show::report(report, printer);
        }
        Ok(match (failed, &report.cut) {
            (0, None) => Answer::Yes,
            // What was not asked may be anything.
            (0, Some(_)) => Answer::CouldNotTell,
            _ => Answer::No,
        })
    }
}

/// Works until it is done; an interrupt asks it to end with what is known.
async fn until_stopped<T>(work: impl AsyncFnOnce(&CancellationToken) -> T) -> T {
    let stop = CancellationToken::new();
    let mut work = std::pin::pin!(work(&stop));
    tokio::select! {
        done = &mut work => done,
        _ = tokio::signal::ctrl_c() => {
            stop.cancel();
            work.await
        }
    }
}
