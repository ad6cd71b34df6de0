//! For tests only: a server with the tools, prompts and resources that the MCP conformance suite
//! needs, behind the real doors and the real gate.
//!
//! All of it is data (`fixture.json`). A tool there has a contract like any other, and a
//! list of small steps where another tool has code. `tests/conformance/run` starts this program
//! and lets the suite loose on it.

mod data;
mod library;
mod questions;
mod script;
mod shared;
mod template;
#[cfg(test)]
mod tests;
mod uri;
mod wiring;

use std::{
    io::{IsTerminal, Write},
    net::SocketAddr,
    sync::Arc,
    time::Duration,
};

use anyhow::{Context, ensure};
use clap::Parser;
use gate::Jobs;
use server::{App, CurrentApp};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::{data::Fixture, library::FixtureLibrary, shared::SharedFixture, wiring::FixtureServer};

/// Serve the tools, prompts and resources that the MCP conformance suite needs
#[derive(Parser)]
#[command(name = "conformance-fixture")]
struct FixtureArguments {
    /// Where to listen; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Speak on stdin and stdout instead
    #[arg(long)]
    stdio: bool,
}

fn main() -> anyhow::Result<()> {
    let arguments = FixtureArguments::parse();
    // Nobody is asked for a token here.
    ensure!(arguments.listen.ip().is_loopback(), "--listen: only this machine may call");
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,conformance_fixture=info"));
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
    let shared = SharedFixture::new(Fixture::load()?);
    let fixture_server = FixtureServer::open(shared)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(async {
        if arguments.stdio {
            speak(&fixture_server).await
        } else {
            serve(&fixture_server, arguments.listen).await
        }
    })?;
    // Whatever still runs has to let go of the folder before it is removed.
    runtime.shutdown_timeout(Duration::from_secs(1));
    fixture_server.close()
}

async fn app(fixture_server: &FixtureServer) -> anyhow::Result<Arc<App>> {
    let gate = fixture_server.gate.clone();
    let jobs = Jobs::start(gate.clone(), wiring::jobs(), true).await?;
    let library = Arc::new(FixtureLibrary(fixture_server.shared.clone()));
    Ok(App::with_library(gate, jobs, wiring::doors(), library))
}

async fn speak(fixture_server: &FixtureServer) -> anyhow::Result<()> {
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone())?;
    let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
    server::mcp::serve_stdio(app(fixture_server).await?, None, input, output, stop.cancelled())
        .await;
    Ok(())
}

async fn serve(fixture_server: &FixtureServer, address: SocketAddr) -> anyhow::Result<()> {
    let listener =
        TcpListener::bind(address).await.with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr()?;
    let app = app(fixture_server).await?;
    let stop = CancellationToken::new();
    stop_on_signal(stop.clone())?;
    writeln!(std::io::stdout(), "conformance-fixture listens on http://{address}")?;
    server::serve(CurrentApp::new(app), listener, stop).await;
    Ok(())
}

fn stop_on_signal(stop: CancellationToken) -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    tokio::spawn(async move {
        let name = tokio::select! {
            _ = interrupt.recv() => "SIGINT",
            _ = terminate.recv() => "SIGTERM",
        };
        // Whoever wonders why a run broke off finds this in the log.
        tracing::info!("stopping: {name}");
        stop.cancel();
    });
    Ok(())
}
