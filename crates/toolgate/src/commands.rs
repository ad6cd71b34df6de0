//! The commands, one file each.

pub mod approvals;
mod ask;
mod call;
mod completions;
mod config;
mod contracts;
mod doctor;
mod eval;
mod init;
mod lock;
mod mcp;
mod mlx;
mod probe;
mod quarantine;
mod serve;
mod tools;
mod trace;
pub mod upstream;

use anyhow::bail;
use clap::Subcommand;

use crate::{
    Exit,
    printer::Printer,
    settings::{FileErrors, Flags, Loaded},
    wiring::{self, Bound},
};

/// What to do. The words of each are those of its struct, short and long: a comment here would take the
/// place of both.
#[derive(Subcommand)]
pub enum Command {
    Serve(serve::Serve),
    Mcp(mcp::Mcp),
    Tools(tools::Tools),
    Call(call::Call),
    Ask(ask::AskCommand),
    Trace(trace::TraceCommand),
    Eval(eval::Eval),
    Approvals(approvals::Approvals),
    Mlx(mlx::Mlx),
    Upstream(upstream::Upstream),
    Lock(lock::LockCommand),
    Probe(probe::Probe),
    Quarantine(quarantine::Quarantine),
    Config(config::Config),
    Doctor(doctor::Doctor),
    Init(init::Init),
    Contracts(contracts::Contracts),
    Completions(completions::Completions),
}

impl Command {
    /// Does it.
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        match self {
            Command::Serve(serve) => serve.run(flags, printer),
            Command::Mcp(mcp) => mcp.run(flags, printer),
            Command::Tools(tools) => tools.run(flags, printer),
            Command::Call(call) => call.run(flags, printer),
            Command::Ask(ask) => ask.run(flags, printer),
            Command::Trace(trace) => trace.run(printer),
            Command::Eval(eval) => eval.run(flags, printer),
            Command::Approvals(approvals) => approvals.run(flags, printer),
            Command::Mlx(mlx) => mlx.run(flags, printer),
            Command::Upstream(upstream) => upstream.run(flags, printer),
            Command::Lock(lock) => lock.run(flags, printer),
            Command::Probe(probe) => probe.run(flags, printer),
            Command::Quarantine(quarantine) => quarantine.run(flags, printer),
            Command::Config(config) => config.run(flags, printer),
            Command::Doctor(doctor) => doctor.run(flags, printer),
            Command::Init(init) => init.run(printer),
            Command::Contracts(contracts) => contracts.run(flags, printer),
            Command::Completions(completions) => completions.run(printer),
        }
    }
}

/// Loads settings and contracts that have no mistakes.
fn ready(flags: &Flags) -> anyhow::Result<(Loaded, Vec<Bound>)> {
    let loaded = flags.load()?;
    let contracts = wiring::contracts(&loaded)?;
    let mut errors = contracts.diagnostics;
    errors.retain(|one| one.severity == contract::Severity::Error);
    if !errors.is_empty() {
        return Err(FileErrors(errors).into());
    }
    Ok((loaded, contracts.bound))
}

/// Refuses a data folder that was named and in which nothing was ever kept: to whoever only looks, a slip of the
/// pen would read as good news. One that nobody named may not have been needed yet.
fn is_not_in_vain(loaded: &Loaded) -> anyhow::Result<()> {
    match loaded.named_in_vain() {
        Some(folder) if folder.exists() => {
            bail!("`{}` is no data folder: nothing was ever kept there", folder.display())
        }
        Some(folder) => bail!("there is no data folder `{}`", folder.display()),
        None => Ok(()),
    }
}

/// A runtime for commands that wait.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
