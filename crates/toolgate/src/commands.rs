//! The commands, one file each.

pub mod approvals;
mod call;
mod completions;
mod config;
mod contracts;
mod doctor;
mod init;
mod lock;
mod mcp;
mod probe;
mod quarantine;
mod serve;
mod tools;
pub mod upstream;

use clap::Subcommand;

use crate::{
    Answer,
    printer::Printer,
    settings::{Flags, Loaded},
    wiring::{self, Bound},
};

/// What to do.
#[derive(Subcommand)]
pub enum Command {
    /// Answer calls over HTTP
    Serve(serve::Serve),
    /// Answer an MCP client on stdin and stdout
    Mcp(mcp::Mcp),
    /// List the tools that are served, or show one
    Tools(tools::Tools),
    /// Call a tool
    Call(call::Call),
    /// See which calls wait for your approval, and decide
    Approvals(approvals::Approvals),
    /// List the upstream servers and how they are, or take them over from another client
    Upstream(upstream::Upstream),
    /// Pin what upstreams offer, see what changed, and take it
    Lock(lock::LockCommand),
    /// Test an MCP server against its own contract
    Probe(probe::Probe),
    /// See which answers broke their contract, and decide what becomes of them
    Quarantine(quarantine::Quarantine),
    /// Look at the settings
    Config(config::Config),
    /// Look for what would keep a server from running
    Doctor(doctor::Doctor),
    /// Write a commented settings file to start from
    Init(init::Init),
    /// Write, judge, run and export contracts
    Contracts(contracts::Contracts),
    /// Print completions for a shell
    Completions(completions::Completions),
}

impl Command {
    /// Does it.
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Answer> {
        match self {
            Command::Serve(serve) => serve.run(flags, printer),
            Command::Mcp(mcp) => mcp.run(flags, printer),
            Command::Tools(tools) => tools.run(flags, printer),
            Command::Call(call) => call.run(flags, printer),
            Command::Approvals(approvals) => approvals.run(flags, printer),
            Command::Upstream(upstream) => upstream.run(flags, printer),
            Command::Lock(lock) => lock.run(flags, printer),
            Command::Probe(probe) => probe.run(flags, printer),
            Command::Quarantine(quarantine) => quarantine.run(flags, printer),
            Command::Config(config) => config.run(flags, printer),
            Command::Doctor(doctor) => doctor.run(flags, printer),
            Command::Init(init) => init.run(printer),
            Command::Contracts(contracts) => contracts.run(flags, printer),
            Command::Completions(completions) => completions.run(),
        }
    }
}

/// Settings and contracts without a mistake; otherwise they are shown and the command
/// ends.
fn ready(flags: &Flags, printer: &Printer) -> anyhow::Result<Result<(Loaded, Vec<Bound>), Answer>> {
    let loaded = match flags.load()? {
        Ok(loaded) => loaded,
        Err(diagnostics) => {
            printer.diagnostics(&diagnostics);
            return Ok(Err(Answer::CouldNotTell));
        }
    };
    let contracts = wiring::contracts(&loaded)?;
    let refused: Vec<_> = contracts
        .diagnostics
        .into_iter()
        .filter(|one| one.severity == contract::Severity::Error)
        .collect();
    if printer.diagnostics(&refused) {
        return Ok(Err(Answer::CouldNotTell));
    }
    Ok(Ok((loaded, contracts.bound)))
}

/// A runtime for commands that wait.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
