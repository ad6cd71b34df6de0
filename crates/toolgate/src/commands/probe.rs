//! `toolgate probe`: does an MCP server keep its word?

mod junit;
mod ourselves;
mod sarif;
mod show;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::{Context, bail};
use clap::Args;
use guard::process::Spawner;
use serde_json::json;
use tokio_util::sync::CancellationToken;
use upstream::{
    connection::{Endpoint, HttpKind, Limits, Program, Protocol, Target},
    probe::{self, Options, Outcome, Probed, Report},
};

use super::contracts::written;
use crate::{Answer, commands, printer::Printer, settings::Flags, wiring::upstreams};

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
            let (target, limits, protocol) = match self.target(flags, printer)? {
                Ok(found) => found,
                Err(answer) => return Ok(answer),
            };
            let spawner = Spawner::of_this_program();
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
    fn target(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Result<Found, Answer>> {
        if let Some((program, arguments)) = self.command.split_first() {
            return Ok(Ok((program_of(program, arguments)?, Limits::default(), Protocol::Auto)));
        }
        let Some(server) = &self.server else {
            bail!(
                "which server? Name an upstream of the settings or an address, or write a command \
                 after `--`; --self is for our own tools"
            );
        };
        if server.contains("://") {
            return Ok(Ok((endpoint(server)?, Limits::default(), Protocol::Auto)));
        }
        let loaded = match flags.load()? {
            Ok(loaded) => loaded,
            Err(diagnostics) => {
                printer.diagnostics(&diagnostics);
                return Ok(Err(Answer::CouldNotTell));
            }
        };
        commands::upstream::is_known(&loaded, Some(server))?;
        let Some(settings) = loaded.settings.upstreams.get(server) else {
            bail!("there is no upstream `{server}`");
        };
        let limits = Limits {
            connect_timeout: Duration::from_millis(settings.connect_timeout_ms),
            max_message_bytes: settings.max_message_bytes,
            stderr_bytes: settings.max_stderr_bytes,
            max_listed: settings.max_listed,
            ..Limits::default()
        };
        let target = upstreams::target(&loaded, server, settings)?;
        Ok(Ok((target, limits, settings.protocol.into())))
    }

    /// Tells what came of it, in every form that was asked for.
    fn tell(&self, report: &Report, printer: &Printer) -> anyhow::Result<Answer> {
        if let Some(file) = &self.junit {
            write(file, &junit::document(report))?;
        }
        if let Some(file) = &self.sarif {
            let log = sarif::log(report);
            write(file, &format!("{log:#}\n"))?;
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

/// Where a server is, and how it is spoken to.
type Found = (Target, Limits, Protocol);

fn endpoint(text: &str) -> anyhow::Result<Target> {
    let url = guard::net::Url::parse(text)
        .ok()
        .filter(|url| matches!(url.scheme(), "http" | "https") && url.host().is_some())
        .with_context(|| format!("`{text}` is no http or https address"))?;
    let kind = HttpKind::Auto;
    Ok(Target::Endpoint(Endpoint { url, headers: Vec::new(), kind, extra_ca: Vec::new() }))
}

/// A program that a person starts from where they are, with what they have.
fn program_of(program: &str, arguments: &[String]) -> anyhow::Result<Target> {
    let env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        // Ours, and none of its business.
        .filter(|(name, _)| !name.starts_with("TOOLGATE_"));
    Ok(Target::Program(Program {
        command: program.to_owned(),
        args: arguments.to_vec(),
        env: env.collect(),
        cwd: std::env::current_dir().context("cannot tell where we are")?,
        limits: upstream::settings::Upstream::default().resource_limits(),
        sandbox: None,
    }))
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

/// Writes a file, whole or not at all.
fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let wrote = written(folder.unwrap_or(Path::new(".")), text)
        .and_then(|temporary| temporary.persist(file).map_err(|error| error.error));
    wrote.map(|_| ()).with_context(|| format!("cannot write `{}`", file.display()))
}
