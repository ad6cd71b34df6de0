//! `toolgate serve`: serves REST and MCP over HTTP until it is stopped.

use std::{
    io::IsTerminal,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use contract::{ApprovalRequirement, Contract};
use gate::{Jobs, retention};
use serde_json::json;
use store::DataFolder;
use tokio::{
    net::TcpListener,
    signal::unix::{Signal, SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use upstream::{Host, UpstreamState};

use crate::{
    Exit,
    certificate::ServerCertificate,
    commands, interrupts, logging,
    printer::{Printer, counted},
    reload::{self, HttpDoor, HttpDoorBase, PreparedServer, Reloader},
    server_settings,
    settings::{Flags, LoadedSettings, PolicyPreset, listen::ListenAddress},
    start_checks, unknown_artifacts,
    wiring::{
        self,
        upstream_library::UpstreamLibrary,
        upstreams::{self, CatalogueKeeper, UpstreamFilter, UpstreamRecorder},
    },
};

/// Serve tools over HTTP: REST and MCP
#[derive(Args)]
pub struct ServeCommand {
    /// Serve HTTPS with this certificate (PEM, with its chain), instead of `server.tls`
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Do not start if a contract has errors, instead of leaving it out
    #[arg(long)]
    strict: bool,
}

impl ServeCommand {
    pub fn run(&self, flags: &Flags, printer: &Printer) -> anyhow::Result<Exit> {
        let runtime = commands::runtime()?;
        // First of all: until somebody listens for it, a hangup ends the process.
        let hangup = {
            let _entered = runtime.enter();
            signal(SignalKind::hangup())?
        };
        let tls = self.tls_cert.clone().zip(self.tls_key.clone());
        let flags = Flags { tls, ..flags.of_running() };
        let PreparedServer { loaded, fixed, host: mut config, warnings, remarks, .. } =
            reload::prepare(&flags, UpstreamFilter::All, Arc::default(), None)?;
        if self.strict {
            fixed.absent.require_none_left_out()?;
        }
        commands::tell_left_out(&fixed.absent, printer);
        printer.diagnostics(&remarks);
        let log = logging::start(&loaded.settings.log)?;
        for warning in warnings {
            tracing::warn!("{warning}");
        }
        // Before anything is made.
        let is_open = start_checks::server_tokens(&loaded.settings.server)?.is_empty();
        let certificate = ServerCertificate::open(&loaded)?;
        let catalogue = fixed.catalogue();
        let data = DataFolder::open(&loaded.data_dir())?;
        let lock = data.lock()?;
        let opened = wiring::gate(catalogue, &loaded, data, Some(&lock))?;
        config.observer = Some(Arc::new(UpstreamRecorder(opened.gate.clone())));
        let served = runtime.block_on(async {
            let listener = bind(&loaded.settings.server.listen, is_open).await?;
            lock.tell_address(listener.local_addr()?)?;
            let start_wait = Duration::from_millis(loaded.settings.server.start_wait_ms);
            let lock_file = config.rules.lock.as_ref().map(|_| loaded.path(&loaded.settings.lock));
            let serving = upstreams::with_starting_host(config, async |host| {
                let keeper = upstreams::keep_catalogue(&opened.gate, host, fixed, start_wait);
                let start = ServerStart {
                    flags,
                    loaded: Arc::new(loaded),
                    lock_file,
                    opened: &opened,
                    host,
                    keeper,
                    certificate,
                    dropped_log_lines: log.dropped(),
                };
                serve(start, listener, hangup, printer).await
            });
            serving.await
        });
        lock.forget_address();
        served?;
        runtime.shutdown_timeout(Duration::from_secs(1));
        // The lock goes last: the store writes what it still holds while we have it.
        Ok(Exit::Ok)
    }
}

/// What a server is started with.
struct ServerStart<'a> {
    flags: Flags,
    loaded: Arc<LoadedSettings>,
    lock_file: Option<PathBuf>,
    opened: &'a wiring::OpenGate,
    host: &'a Arc<Host>,
    keeper: Arc<CatalogueKeeper>,
    certificate: Option<ServerCertificate>,
    dropped_log_lines: Arc<AtomicU64>,
}

async fn serve(
    start: ServerStart<'_>,
    listener: TcpListener,
    hangup: Signal,
    printer: &Printer,
) -> anyhow::Result<()> {
    let ServerStart { flags, loaded, lock_file, opened, host, keeper, .. } = start;
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
    let jobs = Jobs::start(gate.clone(), server_settings::jobs(&loaded), alone).await?;
    let base = HttpDoorBase {
        gate: &gate,
        jobs: jobs.clone(),
        library: Arc::new(UpstreamLibrary::new(host.clone())),
        data: &opened.data,
        address,
        tls: start.certificate.as_ref().map(|certificate| certificate.tls.clone()),
        dropped_log_lines: start.dropped_log_lines,
    };
    if let Some(certificate) = start.certificate {
        tokio::spawn(certificate.follow(gate.clone()));
    }
    let door = HttpDoor::new(&loaded, base)?;
    let (swept, retention) = (gate.clone(), door.retention.subscribe());
    tokio::spawn(async move { retention::keep_sweeping(&swept, retention).await });
    let retention = door.retention.subscribe();
    tokio::spawn(unknown_artifacts::keep(gate.clone(), opened.blobs.clone(), left, retention));
    let stop = CancellationToken::new();
    stop_gently(stop.clone())?;
    let (host, settings) = (host.clone(), loaded.clone());
    let (current, door) = (door.current.clone(), Some(door));
    let reloader = Reloader {
        flags,
        toolset: None,
        loaded,
        lock_file,
        gate: gate.clone(),
        jobs,
        host: host.clone(),
        keeper,
        door,
    };
    let told = async {
        gate.started().await;
        announce(&gate, address, &host, &settings, printer);
        printer.say(format!("data in {}; stop with Ctrl-C", opened.data.path().display()));
        std::future::pending::<()>().await;
    };
    // It answers before its upstreams do.
    tokio::select! {
        () = server::serve(current, listener, stop) => {}
        () = told => {}
        () = Box::pin(reloader.run(Some(hangup))) => {}
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
    let scheme = if loaded.settings.server.tls.is_some() { "https" } else { "http" };
    printer.data(format!("toolgate {version} listens on {scheme}://{address} with {tools} tools"));
    if let Some(line) = unasked(gate, loaded.settings.policy.preset) {
        printer.say(line);
    }
    let upstreams = host.upstreams();
    let waiting = upstreams.iter().filter(|one| one.state() == UpstreamState::Starting);
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

/// Binds the address. Without tokens only a loopback address is allowed.
async fn bind(listen: &ListenAddress, open: bool) -> anyhow::Result<TcpListener> {
    let target = listen.target().map_err(|problem| anyhow!("server.listen: {problem}"))?;
    let addresses = target
        .addresses()
        .await
        .with_context(|| format!("server.listen: `{target}` cannot be resolved"))?;
    if open && !addresses.iter().all(|address| address.ip().is_loopback()) {
        bail!(
            "server.listen: `{target}` is reachable from other machines; set `server.tokens`, or \
             listen on 127.0.0.1"
        );
    }
    TcpListener::bind(&*addresses)
        .await
        .with_context(|| format!("server.listen: cannot listen on {target}"))
}

/// Stops gently at the first signal; the second ends the process at once. A hangup stops the server where its terminal was
/// closed.
fn stop_gently(stop: CancellationToken) -> anyhow::Result<()> {
    let mut hangup = signal(SignalKind::hangup())?;
    let is_terminal = || std::io::stderr().is_terminal();
    let began_in_terminal = is_terminal();
    tokio::spawn(async move {
        let closed = async {
            while hangup.recv().await.is_some() {
                if began_in_terminal && !is_terminal() {
                    return;
                }
            }
        };
        tokio::select! {
            () = interrupts::token().cancelled_owned() => {}
            () = closed => {}
        }
        tracing::info!("stopping; send the signal again to stop at once");
        stop.cancel();
    });
    Ok(())
}
