//! Lists the model servers for the operator.

use std::{fmt, io, time::Duration};

use gate::Timestamp;
use guard::process::listeners;
use serde::Serialize;

use super::{
    health::ModelServerHealth,
    log::{LOG_BYTES, last_lines},
    port_folder::{PortFolder, PortOccupant, ServerPhase, ServerRecord},
    ports, ready,
};
use crate::settings::MlxSettings;

/// The time that a server may take to report its health.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(2);

/// The status of one port.
#[derive(Debug, Serialize)]
pub struct ModelServer {
    /// The port.
    pub port: u16,
    /// Its state.
    pub state: ModelServerState,
    /// The model, by the name that it was loaded by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The path or repository id that the server was told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The process that stays with the server, or whoever else holds the port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process: Option<String>,
    /// Since when it is so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The health that it reports.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<ModelServerHealth>,
    /// The reason of a failed load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The last lines that it printed.
    pub log: Vec<String>,
}

/// The state of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ModelServerState {
    /// Somebody is about to do something.
    Starting,
    /// A model is being loaded.
    Loading,
    /// A model is served.
    Ready,
    /// A server is being ended.
    Unloading,
    /// A server is not there any more, and nobody asked it to end.
    Ended,
    /// A load failed.
    Failed,
    /// Something else listens there.
    Foreign,
}

impl fmt::Display for ModelServerState {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        self.serialize(formatter)
    }
}

/// Every one of these ports on which there is something, with the last `lines` of each log.
pub async fn status(
    settings: &MlxSettings,
    ports: impl Iterator<Item = u16>,
    lines: usize,
) -> io::Result<Vec<ModelServer>> {
    let found: Result<Vec<_>, _> = ports.map(|port| one(settings, port, lines)).collect();
    // All are asked at once: one that hangs holds nobody up.
    let asked = found?.into_iter().flatten().map(|mut server| {
        tokio::spawn(async move {
            if server.state == ModelServerState::Ready {
                server.health = Some(ready::health(server.port, HEALTH_TIMEOUT).await);
            }
            server
        })
    });
    let mut all = Vec::new();
    for server in asked.collect::<Vec<_>>() {
        all.push(server.await.map_err(io::Error::other)?);
    }
    Ok(all)
}

fn one(settings: &MlxSettings, port: u16, lines: usize) -> io::Result<Option<ModelServer>> {
    let port_folder = PortFolder::existing(&settings.dir, port)?;
    // The lock is let go of at once: whoever loads meanwhile must not wait for somebody who looks.
    let (record, held) = match port_folder.as_ref().map(PortFolder::look).transpose()? {
        Some(PortOccupant::Held(found)) => (found.map(|(record, _)| record), true),
        Some(PortOccupant::Free { lock, left }) => {
            drop(lock);
            (left, false)
        }
        None => (None, false),
    };
    if !held && listeners().iter().any(|one| one.port == port) {
        return Ok(Some(ModelServer {
            process: ports::holder_now(port),
            ..ModelServer::bare(port, ModelServerState::Foreign)
        }));
    }
    let Some(port_folder) = port_folder else { return Ok(None) };
    Ok(match record {
        Some(record) => Some(ModelServer::of(&port_folder, record, held, lines)),
        None if held => Some(ModelServer::bare(port, ModelServerState::Starting)),
        None => None,
    })
}

impl ModelServer {
    fn bare(port: u16, state: ModelServerState) -> ModelServer {
        ModelServer {
            port,
            state,
            model: None,
            target: None,
            process: None,
            since: None,
            health: None,
            reason: None,
            log: Vec::new(),
        }
    }

    fn of(port_folder: &PortFolder, record: ServerRecord, held: bool, lines: usize) -> ModelServer {
        let (state, reason) = match record.phase {
            ServerPhase::Failed(reason) => (ModelServerState::Failed, Some(reason)),
            ServerPhase::Loading if held => (ModelServerState::Loading, None),
            ServerPhase::Ready if held => (ModelServerState::Ready, None),
            ServerPhase::Unloading if held => (ModelServerState::Unloading, None),
            ServerPhase::Loading => {
                (ModelServerState::Ended, Some("the process that was loading it ended".to_owned()))
            }
            ServerPhase::Ready | ServerPhase::Unloading => (ModelServerState::Ended, None),
        };
        ModelServer {
            model: Some(record.model),
            target: Some(record.target),
            process: record.keeper.filter(|_| held).map(|keeper| format!("process {}", keeper.pid)),
            since: Some(Timestamp(record.since)),
            reason,
            log: last_lines(&port_folder.log(LOG_BYTES), lines),
            ..ModelServer::bare(port_folder.port, state)
        }
    }
}
