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
mod unserved;
pub mod upstream;

use std::time::Duration;

use ::upstream::{Host, HostConfig, Upstream, UpstreamState};
use anyhow::bail;
use clap::Subcommand;
use contract::{ContractStatus, Diagnostic, Severity};
use gate::approvals::MAX_REASON_CHARACTERS;
use store::{DataFolder, DataFolderVisit};

use crate::{
    Exit, interrupts,
    printer::Printer,
    settings::{FileErrors, Flags, LoadedSettings},
    wiring::{
        self, FixedTools, LoadedContracts, OpenGate,
        absent_tools::AbsentTools,
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

/// Loads settings without mistakes, and the contracts. Those with errors are told and left out.
fn ready(flags: &Flags, printer: &Printer) -> anyhow::Result<(LoadedSettings, LoadedContracts)> {
    let loaded = flags.load()?;
    let contracts = servable(&loaded)?;
    tell_left_out(&contracts.absent, printer);
    Ok((loaded, contracts))
}

/// Tells of contracts that are left out.
pub fn tell_left_out(absent: &AbsentTools, printer: &Printer) {
    for left_out in &absent.left_out {
        printer.say(left_out.warning());
    }
    if !absent.left_out.is_empty() {
        printer.say("hint: `toolgate config check` shows the errors in their places");
    }
}

/// The contracts, unless there is an error in something that others depend on.
pub fn servable(loaded: &LoadedSettings) -> anyhow::Result<LoadedContracts> {
    let mut contracts = wiring::contracts(loaded)?;
    let is_error = |one: &mut Diagnostic| one.severity == Severity::Error;
    let errors: Vec<_> = contracts.diagnostics.extract_if(.., is_error).collect();
    if errors.is_empty() { Ok(contracts) } else { Err(FileErrors(errors).into()) }
}

/// Keeps the active tools; only the named ones if there are names.
fn retain_tools(
    contracts: &mut LoadedContracts,
    names: &[String],
    loaded: &LoadedSettings,
) -> anyhow::Result<()> {
    let LoadedContracts { bound, absent, .. } = contracts;
    bound.retain(|one| one.contract.status == ContractStatus::Active);
    for name in names {
        if let Some(one) = absent.left_out.iter().find(|one| one.name == *name) {
            return Err(FileErrors(one.diagnostics.clone()).into());
        }
        let known = || bound.iter().map(|one| one.contract.name.as_str());
        if !known().any(|known| known == name) {
            let hint = unserved::hint(loaded, absent, name).map(|hint| format!("\nhint: {hint}"));
            let near = || contract::did_you_mean(name, known());
            bail!("there is no tool `{name}`{}", hint.unwrap_or_else(near));
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
    fixed: FixedTools,
    /// Says that somebody uses the data folder.
    visit: DataFolderVisit,
}

impl LocalGate {
    /// Opens the gate. Lazy upstreams are started too: what they list now is what is called.
    fn open(flags: &Flags, filter: UpstreamFilter<'_>, printer: &Printer) -> anyhow::Result<Self> {
        let (loaded, contracts) = ready(flags, printer)?;
        let fixed = wiring::tools(contracts, &loaded)?;
        let host_config = upstreams::eager_host_config(&loaded, filter, &fixed)?;
        let data = DataFolder::open(&loaded.data_dir())?;
        let visit = data.visit()?;
        let opened = wiring::gate(fixed.catalogue(), &loaded, data, None)?;
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
