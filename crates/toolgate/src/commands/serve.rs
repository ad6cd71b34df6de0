//! `toolgate serve`: serves REST and MCP over HTTP until it is stopped.

use std::{collections::HashMap, net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, bail};
use clap::Args;
use contract::{ApprovalRequirement, Contract};
use gate::{
    Catalogue, Jobs,
    retention::{self, RetentionSettings},
};
use serde_json::json;
use server::{App, ServerSettings, ServerToken};
use sha2::{Digest, Sha256};
use store::DataFolder;
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use upstream::{Host, UpstreamState};

use crate::{
    Exit, commands, logging,
    printer::{Printer, counted},
    server_settings,
    settings::{self, Flags, LoadedSettings, PolicyPreset, RetentionSection, environment},
    start_checks, unknown_artifacts,
    wiring::{
        self,
        ask::AskDoor,
        sandboxes,
        upstream_library::UpstreamLibrary,
        upstreams::{self, UpstreamFilter, UpstreamRecorder},
    },
};

/// Serve tools over HTTP: REST and MCP
#[derive(Args)]
pub struct ServeCommand {}

impl ServeCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let (loaded, bound) = commands::ready(flags)?;
        printer.diagnostics(&loaded.remarks);
        printer.diagnostics(&environment::unknown(&loaded, &bound));
        let log = logging::start(&loaded.settings.log)?;
        if let Some(warning) = sandboxes::missing(&loaded, &bound) {
            tracing::warn!("{warning}");
        }
        for exposed in sandboxes::exposed(&loaded, &bound) {
            tracing::warn!("{}; {}", exposed.message(), sandboxes::EXPOSED_HINT);
        }
        let tokens = tokens(&loaded)?;
        let fixed = wiring::tools(bound, &loaded)?;
        let mut config = upstreams::host_config(&loaded, UpstreamFilter::All, &fixed)?;
        let catalogue = Catalogue::of(fixed.clone(), HashMap::new());
        let data = DataFolder::open(&loaded.data_dir())?;
        let lock = data.lock()?;
        let opened = wiring::gate(catalogue, &loaded, data, Some(&lock))?;
        config.observer = Some(Arc::new(UpstreamRecorder(opened.gate.clone())));
        let runtime = commands::runtime()?;
        runtime.block_on(async {
            let listener = bind(&loaded.settings.server.listen, tokens.is_empty()).await?;
            let start_wait = Duration::from_millis(loaded.settings.server.start_wait_ms);
            let serving = upstreams::with_starting_host(config, async |host| {
                upstreams::keep_catalogue(&opened.gate, host, fixed, start_wait);
                let mut settings = server_settings::settings(&loaded, &opened.data, tokens)?;
                settings.dropped_log_lines = log.dropped();
                serve(&loaded, &opened, host, listener, settings, printer).await
            });
            serving.await
        })?;
        runtime.shutdown_timeout(Duration::from_secs(1));
        // The lock goes last: the store writes what it still holds while we have it.
        Ok(Exit::Ok)
    }
}

async fn serve(
    loaded: &LoadedSettings,
    opened: &wiring::OpenGate,
    host: &Arc<Host>,
    listener: TcpListener,
    settings: ServerSettings,
    printer: &Printer,
) -> anyhow::Result<()> {
    let gate = opened.gate.clone();
    let address = listener.local_addr()?;
    // Work folders of command lines on the same data folder must stay.
    let alone = opened.data.is_alone();
    let left = if alone {
        opened.blobs.clear_work().context("cannot clear the work folder")?;
        opened.blobs.jobs().context("cannot read the artifact folder")?
    } else {
        Vec::new()
    };
    let jobs = Jobs::start(gate.clone(), server_settings::jobs(loaded), alone).await?;
    tokio::spawn(unknown_artifacts::keep(
        gate.clone(),
        opened.blobs.clone(),
        left,
        max_age(&loaded.settings.retention),
        Duration::from_secs(loaded.settings.retention.sweep_interval_s),
    ));
    sweep(gate.clone(), loaded);
    let library = Arc::new(UpstreamLibrary::new(host.clone()));
    let asks = Arc::new(AskDoor::new(loaded, &gate)?);
    let app = App::with(gate.clone(), jobs, settings, library, asks);
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone())?;
    let told = async {
        gate.started().await;
        announce(&gate, address, host, loaded, printer);
        printer.say(format!("data in {}; stop with Ctrl-C", opened.data.path().display()));
        std::future::pending::<()>().await;
    };
    // It answers before its upstreams do.
    tokio::select! {
        () = server::serve(app, listener, stop) => {}
        () = told => {}
    }
    gate.journal().event(gate.clock().now(), "server_stopped", json!({}));
    Ok(())
}

/// Says that the server is there, and which upstreams are not yet.
fn announce(
    gate: &gate::Gate,
    address: SocketAddr,
    host: &Host,
    loaded: &LoadedSettings,
    printer: &Printer,
) {
    let tools = gate.catalogue().len();
    gate.journal().event(
        gate.clock().now(),
        "server_started",
        json!({ "address": address.to_string(), "tools": tools }),
    );
    let version = env!("CARGO_PKG_VERSION");
    printer.data(format!("toolgate {version} listens on http://{address} with {tools} tools"));
    if let Some(line) = unasked(gate, loaded.settings.policy.preset) {
        printer.say(line);
    }
    let waiting = host.upstreams().iter().filter(|one| one.state() == UpstreamState::Starting);
    let waiting: Vec<_> = waiting.map(|one| format!("`{}`", one.id)).collect();
    if !waiting.is_empty() {
        let waiting = waiting.join(", ");
        printer.say(format!(
            "still connecting to {waiting}; their tools are served once they are there"
        ));
    }
}

/// Says how many tools may change something without asking a person.
fn unasked(gate: &gate::Gate, preset: PolicyPreset) -> Option<String> {
    if preset == PolicyPreset::Open {
        return Some("`policy.preset` is `open`: no call needs approval".to_owned());
    }
    let catalogue = gate.catalogue();
    let is_unasked = |contract: &Contract| {
        contract.effects.changes_the_world() && contract.approval == ApprovalRequirement::Never
    };
    let count = catalogue.tools().filter(|tool| is_unasked(&tool.contract)).count();
    (count > 0).then(|| {
        let tools = counted(count, "tool");
        let hint = "`policy.preset: strict` lets a person approve each call";
        format!("{tools} with effects, or unknown ones, may be called without approval; {hint}")
    })
}

/// The tokens that the settings name, from the environment.
fn tokens(loaded: &LoadedSettings) -> anyhow::Result<Vec<ServerToken>> {
    let server = &loaded.settings.server;
    if let Some(error) = start_checks::tokens(server).first() {
        bail!("{}", error.message);
    }
    let token = |token: &settings::TokenEntry| ServerToken {
        name: token.name.clone(),
        sha256: Sha256::digest(start_checks::secret(token).as_bytes()).into(),
    };
    Ok(server.tokens.iter().map(token).collect())
}

/// Binds the address. Without tokens only a loopback address is allowed.
async fn bind(listen: &str, open: bool) -> anyhow::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = tokio::net::lookup_host(listen)
        .await
        .with_context(|| {
            format!("server.listen: `{listen}` is not an address like 127.0.0.1:8000")
        })?
        .collect();
    if open && !addresses.iter().all(|address| address.ip().is_loopback()) {
        bail!(
            "server.listen: `{listen}` is reachable from other machines; set `server.tokens`, or \
             listen on 127.0.0.1"
        );
    }
    TcpListener::bind(&*addresses)
        .await
        .with_context(|| format!("server.listen: cannot listen on {listen}"))
}

/// The time that finished jobs are kept.
fn max_age(settings: &RetentionSection) -> Duration {
    Duration::from_secs(settings.max_age_days.saturating_mul(86_400))
}

fn sweep(gate: Arc<gate::Gate>, loaded: &LoadedSettings) {
    let settings = &loaded.settings.retention;
    let retention = RetentionSettings {
        max_age: max_age(settings),
        max_jobs: settings.max_jobs,
        max_artifact_bytes: settings.max_artifact_bytes,
        max_bytes: settings.max_bytes,
        max_quarantined: settings.max_quarantined,
        max_approvals: settings.max_approvals,
    };
    let every = Duration::from_secs(settings.sweep_interval_s);
    tokio::spawn(async move { retention::keep_sweeping(&gate, retention, every).await });
}

/// Stops gently at the first signal, at once at the second.
fn stop_on_signal(stop: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        for gently in [true, false] {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            if gently {
                tracing::info!("stopping; send the signal again to stop at once");
                stop.cancel();
            } else {
                std::process::exit(130);
            }
        }
    });
    Ok(())
}
