//! The doors, open on a gate whose tools can be exchanged.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use contract::{ApprovalRequirement, Contract};
use gate::{Gate, Jobs, Provider};
use guard::{net, process::Spawner};
use serde_json::json;
use server::App;
use store::{DataFolder, DataFolderLock};
use tokio::{net::TcpListener, sync::Mutex, task::JoinHandle};
use tokio_util::sync::CancellationToken;
use upstream::connection::{
    ConnectOptions, Connection, ConnectionLimits, Endpoint, HttpTransport, ProtocolChoice, Target,
    connect,
};

use super::{pipe::Pipe, switch::Switch};
use crate::{
    server_settings,
    settings::Loaded,
    wiring::{self, BoundTool},
};

/// A tool, and what runs it.
pub struct Actor {
    /// Its contract. Nobody has to approve anything: nothing of the operator's is reached.
    pub contract: Contract,
    /// What runs it really, where that is the operator's own program.
    pub command: Option<Arc<dyn Provider>>,
    /// Whether somebody would have to approve it really.
    pub needs_approval: bool,
    /// What runs it here.
    pub switch: Arc<Switch>,
}

/// The doors.
pub struct Stage {
    /// How long a call may take.
    pub patience: Duration,
    /// The gate.
    pub gate: Arc<Gate>,
    /// Where HTTP is answered.
    pub base: String,
    /// A client that reaches nothing else.
    pub client: net::HttpClient,
    /// MCP over HTTP, as of today.
    pub modern: Connection,
    /// MCP over HTTP, as of before.
    pub legacy: Connection,
    /// MCP on a pipe.
    pub pipe: Mutex<Pipe>,
    actors: Vec<Actor>,
    stop: CancellationToken,
    serving: JoinHandle<()>,
    /// Held as long as the store is used.
    _lock: DataFolderLock,
}

impl Stage {
    /// Opens all doors.
    pub async fn set(
        bound: Vec<BoundTool>,
        loaded: &Loaded,
        patience: Duration,
    ) -> anyhow::Result<Self> {
        let mut actors = Vec::new();
        let mut switched = Vec::new();
        for BoundTool { mut contract, provider } in bound {
            let switch = Switch::new();
            let needs_approval = contract.approval == ApprovalRequirement::Required;
            contract.approval = ApprovalRequirement::Never;
            let command = contract.run.is_some().then_some(provider);
            switched.push(BoundTool { contract: contract.clone(), provider: switch.clone() });
            actors.push(Actor { contract, command, needs_approval, switch });
        }
        let catalogue = wiring::catalogue(switched, loaded)?;
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
        let serving = tokio::spawn(server::serve(app.clone(), listener, stop.clone()));
        let rules = net::NetRules::only(&base).context("our own address")?;
        let client = net::HttpClient::new(&net::HttpClientSettings {
            rules,
            ..net::HttpClientSettings::default()
        });
        Ok(Self {
            patience,
            gate,
            client,
            modern: connected(&base, ProtocolChoice::Modern, patience).await?,
            legacy: connected(&base, ProtocolChoice::Legacy, patience).await?,
            pipe: Mutex::new(Pipe::open(app).await?),
            base,
            actors,
            stop,
            serving,
            _lock: lock,
        })
    }

    /// The tools.
    pub fn actors(&self) -> &[Actor] {
        &self.actors
    }

    /// Closes all doors.
    pub async fn strike(self) {
        self.modern.close().await;
        self.legacy.close().await;
        self.stop.cancel();
        let _ = self.serving.await;
    }
}

async fn connected(
    base: &str,
    protocol: ProtocolChoice,
    patience: Duration,
) -> anyhow::Result<Connection> {
    let url = net::Url::parse(&format!("{base}/mcp")).context("our own address")?;
    let endpoint = Endpoint {
        url,
        headers: Vec::new(),
        transport: HttpTransport::Streamable,
        extra_ca: Vec::new(),
    };
    let options = ConnectOptions {
        limits: ConnectionLimits { request_timeout: patience, ..ConnectionLimits::default() },
        protocol,
        client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
        capabilities: json!({}),
    };
    let spawner = Spawner::of_this_program();
    connect(&Target::Endpoint(endpoint), &options, &spawner)
        .await
        .with_context(|| format!("our own MCP door ({protocol:?})"))
}
