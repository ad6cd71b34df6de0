//! `mlx.unload`: ends a model server and everything that it started.

use std::{fs::File, time::Duration};

use gate::{Answer, BoxFuture, Provider, Running, ToolError};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    failure,
    place::{Met, Phase, Place, Record},
    port_of, ports,
};
use crate::settings::Mlx;

/// Between two looks at whether it is gone.
const PAUSE: Duration = Duration::from_millis(20);
/// Beyond the patience of the settings: for the killing, and for clearing up.
const CLEARING_PATIENCE: Duration = Duration::from_secs(3);
/// How long a server that is just being started may take to be known.
const BEGINNING_PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Unload {
    settings: Mlx,
}

impl Unload {
    pub(crate) fn new(settings: &Mlx) -> Self {
        Self { settings: settings.clone() }
    }

    async fn unload(&self, call: &Running) -> Result<Answer, ToolError> {
        let port = port_of(call);
        let found = Place::existing(&self.settings.dir, port);
        let place = found.map_err(|error| failure::state(&error))?;
        let Some(place) = place else { return Err(idle(port)) };
        let beginning = Instant::now() + BEGINNING_PATIENCE;
        let record = loop {
            match place.look().map_err(|error| failure::state(&error))? {
                Met::Free { .. } => {
                    place.forget();
                    return Err(idle(port));
                }
                Met::Held(Some(record)) if record.keeper.is_none() => {
                    place.forget();
                    return Ok(answer(port));
                }
                // What an earlier server left is not the one that is just being started.
                Met::Held(Some(record)) if !matches!(record.phase, Phase::Failed(_)) => {
                    break record;
                }
                Met::Held(_) if Instant::now() < beginning => sleep(PAUSE).await,
                Met::Held(_) => {
                    let message = "the server on this port is being started; try again";
                    return Err(ToolError::internal(message, message));
                }
            }
        };
        let _lock = self.end(call, &place, record).await?;
        place.forget();
        if ports::freed(port).await {
            Ok(answer(port))
        } else {
            let message =
                format!("the server is gone, and port {port} is held by {}", ports::holder(port));
            Err(ToolError::internal(message.clone(), message))
        }
    }

    /// Ends the server, gently first, and takes its lock.
    async fn end(
        &self,
        call: &Running,
        place: &Place,
        mut record: Record,
    ) -> Result<File, ToolError> {
        let Some(keeper) = record.keeper else { return Err(idle(place.port)) };
        record.phase = Phase::Unloading;
        // Only for those who look meanwhile.
        let _ = place.write(&record);
        call.progress(None, "asked it to end");
        keeper.ask_to_end();
        let patience = Duration::from_millis(self.settings.stop_patience_ms);
        for patience in [patience + CLEARING_PATIENCE, CLEARING_PATIENCE] {
            let deadline = Instant::now() + patience;
            while Instant::now() < deadline {
                match place.look().map_err(|error| failure::state(&error))? {
                    Met::Free { lock, .. } => return Ok(lock),
                    Met::Held(_) => sleep(PAUSE).await,
                }
            }
            // Its keeper hangs, and does not even kill.
            let _ = tokio::task::spawn_blocking(move || keeper.destroy()).await;
        }
        let message = "the server does not end";
        Err(ToolError::internal(message, format!("{message}: process {}", keeper.pid)))
    }
}

impl Provider for Unload {
    fn run<'a>(&'a self, call: &'a Running) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(self.unload(call))
    }
}

fn answer(port: u16) -> Answer {
    let message = format!("unloaded port {port}");
    let output = json!({ "ok": true, "message": message, "port": port });
    Answer { summary: Some(message), ..Answer::new(output) }
}

/// Nothing of ours is there. Whatever else holds the port is not ours to end.
fn idle(port: u16) -> ToolError {
    failure::not_listening(if ports::is_free(port) {
        format!("nothing is loaded on port {port}")
    } else {
        let holder = ports::holder(port);
        format!("port {port} is held by {holder}, which was not loaded here")
    })
}
