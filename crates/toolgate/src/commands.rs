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
    wiring::{self, BoundTool},
};

/// The commands. A new one is a file in `commands/`, a variant here and a line in `run`. Its help is the comment on
/// its struct: a comment on a variant would replace that.
#[derive(Subcommand)]
pub enum Command {
    Serve(serve::ServeCommand),
    Mcp(mcp::McpCommand),
    Tools(tools::ToolsCommand),
    Call(call::CallCommand),
    Ask(ask::AskCommand),
    Trace(trace::TraceCommand),
    Eval(eval::EvalCommand),
    Approvals(approvals::ApprovalsCommand),
    Mlx(mlx::MlxCommand),
    Upstream(upstream::UpstreamCommand),
    Lock(lock::LockCommand),
    Probe(probe::ProbeCommand),
    Quarantine(quarantine::QuarantineCommand),
    Config(config::ConfigCommand),
    Doctor(doctor::DoctorCommand),
    Init(init::InitCommand),
    Contracts(contracts::ContractsCommand),
    Completions(completions::CompletionsCommand),
}

impl Command {
    /// Runs the command.
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
fn ready(flags: &Flags) -> anyhow::Result<(Loaded, Vec<BoundTool>)> {
    let loaded = flags.load()?;
    let contracts = wiring::contracts(&loaded)?;
    let mut errors = contracts.diagnostics;
    errors.retain(|one| one.severity == contract::Severity::Error);
    if !errors.is_empty() {
        return Err(FileErrors(errors).into());
    }
    Ok((loaded, contracts.bound))
}

/// Refuses a data folder that was named and was never used: a typing error would look like an empty list. The
/// default one may not have been needed yet.
fn require_used_data_dir(loaded: &Loaded) -> anyhow::Result<()> {
    match loaded.unused_data_dir() {
        Some(folder) if folder.exists() => {
            bail!("`{}` is not a data folder of Toolgate", folder.display())
        }
        Some(folder) => bail!("the data folder `{}` does not exist", folder.display()),
        None => Ok(()),
    }
}

/// A runtime for commands that wait.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
