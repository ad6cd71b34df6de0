//! The commands, one file each.

pub mod approvals;
mod ask;
mod backup;
mod call;
mod completions;
mod config;
mod contracts;
mod doctor;
mod eval;
mod ids;
mod init;
mod lock;
mod mcp;
mod mlx;
mod probe;
mod quarantine;
mod restore;
mod serve;
mod tools;
mod trace;
pub mod upstream;

use std::{collections::HashMap, sync::Arc, time::Duration};

use ::upstream::{Host, HostConfig, Upstream, UpstreamState};
use anyhow::bail;
use clap::Subcommand;
use contract::ContractStatus;
use gate::{Catalogue, Tool, approvals::MAX_REASON_CHARACTERS};
use store::{DataFolder, DataFolderVisit};

use crate::{
    Exit, interrupts,
    printer::Printer,
    settings::{FileErrors, Flags, LoadedSettings},
    wiring::{
        self, BoundTool, OpenGate,
        upstreams::{self, UpstreamFilter},
    },
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
    Backup(backup::BackupCommand),
    Restore(restore::RestoreCommand),
    Init(init::InitCommand),
    Contracts(contracts::ContractsCommand),
    Completions(completions::CompletionsCommand),
}

impl Command {
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
            Command::Backup(backup) => backup.run(flags, printer),
            Command::Restore(restore) => restore.run(flags, printer),
            Command::Init(init) => init.run(printer),
            Command::Contracts(contracts) => contracts.run(flags, printer),
            Command::Completions(completions) => completions.run(printer),
        }
    }
}

/// Loads settings and contracts that have no mistakes.
fn ready(flags: &Flags) -> anyhow::Result<(LoadedSettings, Vec<BoundTool>)> {
    let loaded = flags.load()?;
    let bound = checked_contracts(&loaded)?;
    Ok((loaded, bound))
}

/// Loads contracts that have no mistakes.
pub fn checked_contracts(loaded: &LoadedSettings) -> anyhow::Result<Vec<BoundTool>> {
    let contracts = wiring::contracts(loaded)?;
    let mut errors = contracts.diagnostics;
    errors.retain(|one| one.severity == contract::Severity::Error);
    if !errors.is_empty() {
        return Err(FileErrors(errors).into());
    }
    Ok(contracts.bound)
}

/// Keeps the active tools; only the named ones if there are names.
fn retain_tools(bound: &mut Vec<BoundTool>, names: &[String]) -> anyhow::Result<()> {
    bound.retain(|one| one.contract.status == ContractStatus::Active);
    for name in names {
        let known = || bound.iter().map(|one| one.contract.name.as_str());
        if !known().any(|known| known == name) {
            bail!("there is no tool `{name}`{}", contract::did_you_mean(name, known()));
        }
    }
    bound.retain(|one| names.is_empty() || names.contains(&one.contract.name));
    Ok(())
}

/// Refuses a data folder that was named and was never used: a typing error would look like an empty list. The
/// default one may not have been needed yet.
fn require_used_data_dir(loaded: &LoadedSettings) -> anyhow::Result<()> {
    match loaded.unused_data_dir() {
        Some(folder) if folder.exists() => {
            bail!("`{}` is not a data folder of Toolgate", folder.display())
        }
        Some(folder) => bail!("the data folder `{}` does not exist", folder.display()),
        None => Ok(()),
    }
}

/// A gate of a command that calls tools itself, beside a server that may use the same data folder.
struct LocalGate {
    loaded: LoadedSettings,
    opened: OpenGate,
    host_config: HostConfig,
    fixed: Vec<Arc<Tool>>,
    /// Says that somebody uses the data folder.
    visit: DataFolderVisit,
}

impl LocalGate {
    /// Opens the gate. Lazy upstreams are started too: what they list now is what is called.
    fn open(flags: &Flags, filter: UpstreamFilter<'_>) -> anyhow::Result<Self> {
        let (loaded, bound) = ready(flags)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let host_config = upstreams::eager_host_config(&loaded, filter, &fixed)?;
        let data = DataFolder::open(&loaded.data_dir())?;
        let visit = data.visit()?;
        let catalogue = Catalogue::of(fixed.clone(), HashMap::new());
        let opened = wiring::gate(catalogue, &loaded, data, None)?;
        Ok(Self { loaded, opened, host_config, fixed, visit })
    }

    /// Does this work with the tools of the upstreams.
    async fn with_upstreams<T>(
        self,
        work: impl AsyncFnOnce(&Host, &OpenGate) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let Self { opened, host_config, fixed, visit: _visit, .. } = self;
        upstreams::with_host(host_config, async |host| {
            upstreams::keep_catalogue(&opened.gate, host, fixed, Duration::ZERO);
            work(host, &opened).await
        })
        .await
    }
}

/// The name in the journal for decisions made on the command line.
const OPERATOR: &str = "operator (terminal)";

/// The most approvals or quarantined results that are listed.
const MAX_LISTED: usize = 200;

/// Opens the records of a data folder; nothing if it was never used, so that reading them creates none.
fn records(flags: &Flags) -> anyhow::Result<Option<OpenGate>> {
    let loaded = flags.load()?;
    require_used_data_dir(&loaded)?;
    if !loaded.has_data() && !loaded.data_dir().is_file() {
        return Ok(None);
    }
    wiring::records(&loaded).map(Some)
}

/// Refuses a reason for a decision that is too long to be recorded.
fn check_reason(reason: Option<&String>) -> anyhow::Result<()> {
    if reason.is_some_and(|text| text.chars().count() > MAX_REASON_CHARACTERS) {
        bail!("--reason is longer than {MAX_REASON_CHARACTERS} characters");
    }
    Ok(())
}

/// Names the upstreams that cannot be reached: their tools are missing.
fn warn_of_unreachable(host: &Host, printer: &Printer) {
    for why in host.upstreams().iter().filter_map(|one| unreachable(one)) {
        printer.say(why);
    }
}

/// The reason why an upstream cannot be reached, if that is so.
fn unreachable(upstream: &Upstream) -> Option<String> {
    match upstream.state() {
        UpstreamState::Down { error, .. } => {
            Some(format!("the upstream `{}` cannot be reached: {error}", upstream.id))
        }
        _ => None,
    }
}

/// Does work that may be dropped at any time, until it is done or there is a signal.
pub fn block_on<T, E: Into<anyhow::Error>>(
    work: impl Future<Output = Result<T, E>>,
) -> anyhow::Result<T> {
    runtime()?.block_on(async { interrupts::or_stopped(work).await?.map_err(Into::into) })
}

/// A runtime for commands that wait.
pub fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}
