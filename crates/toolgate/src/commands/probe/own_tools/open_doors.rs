//! A server with all doors open, whose providers can be swapped.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use contract::{ApprovalRequirement, Contract};
use gate::{Gate, Jobs, Provider};
use guard::{net, process::Spawner};
use serde_json::json;
use server::{App, CurrentApp};
use store::{DataFolder, DataFolderLock};
use tokio::{net::TcpListener, sync::Mutex, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use upstream::connection::{
    ConnectOptions, Connection, ConnectionLimits, Endpoint, HttpTransport, ProtocolChoice, Target,
    connect,
};

use super::{stdio_client::StdioClient, swappable_provider::SwappableProvider};
use crate::{
    server_settings,
    settings::LoadedSettings,
    wiring::{self, BoundTool},
};

/// A tool with its provider.
pub struct ProbedTool {
    /// Its contract, without approvals.
    pub contract: Contract,
    /// The real provider of a command tool.
    pub command: Option<Arc<dyn Provider>>,
    /// True if the contract asks for an approval.
    pub needs_approval: bool,
    /// The provider that is used here.
    pub provider: Arc<SwappableProvider>,
}

pub struct OpenDoors {
    /// The timeout of a call.
    pub timeout: Duration,
    pub gate: Arc<Gate>,
    /// The base URL.
    pub base: String,
    /// A client for that address only.
    pub client: net::HttpClient,
    /// Modern MCP over HTTP.
    pub modern: Connection,
    /// Legacy MCP over HTTP.
    pub legacy: Connection,
    /// MCP over stdio.
    pub pipe: Mutex<StdioClient>,
    tools: Vec<ProbedTool>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    /// Held as long as the store is used.
    _lock: DataFolderLock,
}

impl OpenDoors {
    /// Opens all doors.
    pub async fn open(
        bound: Vec<BoundTool>,
        loaded: &LoadedSettings,
        timeout: Duration,
    ) -> anyhow::Result<Self> {
        let mut tools = Vec::new();
        let mut swapped = Vec::new();
        for BoundTool { mut contract, provider } in bound {
            let swappable = SwappableProvider::new();
            let needs_approval = contract.approval == ApprovalRequirement::Required;
            contract.approval = ApprovalRequirement::Never;
            let command = contract.run.is_some().then_some(provider);
            swapped.push(BoundTool { contract: contract.clone(), provider: swappable.clone() });
            tools.push(ProbedTool { contract, command, needs_approval, provider: swappable });
        }
        let catalogue = wiring::catalogue(swapped, loaded)?;
        let data = DataFolder::open(&loaded.data_dir())?;
        let lock = data.lock()?;
        let kept = wiring::gate(catalogue, loaded, data, Some(&lock))?;
        let gate = kept.gate.clone();
        let jobs = Jobs::start(gate.clone(), server_settings::jobs(loaded), true).await?;
        let settings = server_settings::settings(loaded, &kept.data, Vec::new())?;
        let app = App::new(gate.clone(), jobs, settings);
        let listener = TcpListener::bind("127.0.0.1:0").await.context("cannot listen")?;
        let base = format!("http://{}", listener.local_addr()?);
        let stop = CancellationToken::new();
        let serving =
            tokio::spawn(server::serve(CurrentApp::new(app.clone()), listener, stop.clone()));
        let rules = net::NetRules::only(&base).context("our own address")?;
        let client = net::HttpClient::new(&net::HttpClientSettings {
            rules,
            ..net::HttpClientSettings::default()
        });
        Ok(Self {
            timeout,
            gate,
            client,
            modern: connected(&base, ProtocolChoice::Modern, timeout).await?,
            legacy: connected(&base, ProtocolChoice::Legacy, timeout).await?,
            pipe: Mutex::new(StdioClient::open(app).await?),
            base,
            tools,
            stop,
            serving,
            _lock: lock,
        })
    }

    pub fn tools(&self) -> &[ProbedTool] {
        &self.tools
    }

    /// Closes all doors.
    pub async fn close(self) {
        self.modern.close().await;
        self.legacy.close().await;
        self.stop.cancel();
        let _ = self.serving.await;
    }
}

async fn connected(
    base: &str,
    protocol: ProtocolChoice,
    timeout: Duration,
) -> anyhow::Result<Connection> {
    let url = net::Url::parse(&format!("{base}/mcp")).context("our own address")?;
    let endpoint = Endpoint {
        url,
        headers: Vec::new(),
        transport: HttpTransport::Streamable,
        extra_ca: Vec::new(),
    };
    let options = ConnectOptions {
        limits: ConnectionLimits { request_timeout: timeout, ..ConnectionLimits::default() },
        protocol,
        client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: json!({}),
    };
    let spawner = Spawner::of_this_program();
    connect(&Target::Endpoint(endpoint), &options, &spawner)
        .await
        .with_context(|| format!("our own MCP door ({protocol:?})"))
}
