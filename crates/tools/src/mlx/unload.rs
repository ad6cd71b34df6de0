//! `mlx.unload`: ends a model server and everything that it started.

use std::time::Duration;

use gate::{BoxFuture, Provider, RunningCall, ToolError, ToolOutput};
use guard::process::ProcessIdentity;
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    BEGINNING_PATIENCE, failure,
    port_folder::{PortFolder, PortOccupant, ServerPhase, ServerRecord},
    port_of, ports, simulated,
};
use crate::settings::MlxSettings;

/// Between two looks at whether it is gone.
const PAUSE: Duration = Duration::from_millis(20);
/// Beyond the timeout of the settings: for the killing, and for clearing up.
const CLEARING_PATIENCE: Duration = Duration::from_secs(3);

pub(crate) struct MlxUnload {
    settings: MlxSettings,
}

impl MlxUnload {
    pub(crate) fn new(settings: &MlxSettings) -> Self {
        Self { settings: settings.clone() }
    }

    async fn unload(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let port = port_of(call)?;
        if self.settings.stand_in {
            return simulated::unload(&self.settings.dir, port);
        }
        let found = PortFolder::existing(&self.settings.dir, port);
        let port_folder = found.map_err(|error| failure::state(&error))?;
        let Some(port_folder) = port_folder else { return Err(idle(port).await) };
        let beginning = Instant::now() + BEGINNING_PATIENCE;
        let (record, keeper) = loop {
            match port_folder.look().map_err(|error| failure::state(&error))? {
                PortOccupant::Free { lock, .. } => {
                    port_folder.forget();
                    drop(lock);
                    return Err(idle(port).await);
                }
                PortOccupant::Held(Some(found)) => break found,
                PortOccupant::Held(None) if Instant::now() < beginning => sleep(PAUSE).await,
                PortOccupant::Held(None) => {
                    let message = "the server on this port is being started; try again";
                    return Err(ToolError::internal(message, message));
                }
            }
        };
        match self.end(call, &port_folder, record, keeper).await? {
            // Another call has loaded there by now, and the port is that one's.
            UnloadEnd::Followed => Ok(answer(port)),
            UnloadEnd::Free if ports::freed(port).await => Ok(answer(port)),
            UnloadEnd::Free => {
                let message = format!("the server is gone, and {}", ports::held_by(port).await);
                Err(ToolError::internal(message.clone(), message))
            }
        }
    }

    /// Ends the server, gently first.
    async fn end(
        &self,
        call: &RunningCall,
        port_folder: &PortFolder,
        mut record: ServerRecord,
        keeper: ProcessIdentity,
    ) -> Result<UnloadEnd, ToolError> {
        record.phase = ServerPhase::Unloading;
        // Only for those who look meanwhile.
        let _ = port_folder.write(&record);
        call.progress(None, "asked it to end");
        keeper.ask_to_end();
        let timeout = Duration::from_millis(self.settings.stop_patience_ms);
        for timeout in [timeout + CLEARING_PATIENCE, CLEARING_PATIENCE] {
            let deadline = Instant::now() + timeout;
            while Instant::now() < deadline {
                match port_folder.look().map_err(|error| failure::state(&error))? {
                    PortOccupant::Free { lock, .. } => {
                        port_folder.forget();
                        drop(lock);
                        return Ok(UnloadEnd::Free);
                    }
                    // A load that waited for its turn was sooner.
                    PortOccupant::Held(_) if !keeper.is_alive() => return Ok(UnloadEnd::Followed),
                    PortOccupant::Held(_) => sleep(PAUSE).await,
                }
            }
            // Its keeper hangs, and does not even kill.
            let _ = tokio::task::spawn_blocking(move || keeper.destroy()).await;
        }
        let message = "the server does not end";
        Err(ToolError::internal(message, format!("{message}: process {}", keeper.pid)))
    }
}

/// The end of a server.
enum UnloadEnd {
    /// Nothing.
    Free,
    /// Another one.
    Followed,
}

impl Provider for MlxUnload {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.unload(call))
    }
}

pub(super) fn answer(port: u16) -> ToolOutput {
    let message = format!("unloaded port {port}");
    let output = json!({ "ok": true, "message": message, "port": port });
    ToolOutput { summary: Some(message), ..ToolOutput::new(output) }
}

/// Nothing of ours is there. Whatever else holds the port is not ours to end.
async fn idle(port: u16) -> ToolError {
    failure::not_listening(match ports::holder(port).await {
        None => format!("nothing is loaded on port {port}"),
        Some(holder) => format!("port {port} is held by {holder}, which was not loaded here"),
    })
}
