//! `mlx.load`: starts a model server and answers when the model does.

use std::{fs::File, sync::Arc, time::Duration};

use gate::{BoxFuture, Clock, Provider, RunningCall, ToolError, ToolOutput};
use guard::process::{DetachedLaunch, Launch, ProcessIdentity, ResourceLimits, Spawner};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{
    BEGINNING_PATIENCE, environment, failure,
    log::{FatalLogLine, LOG_BYTES, fatal_line},
    model::LoadableModel,
    port_folder::{PortFolder, PortOccupant, ServerPhase, ServerRecord},
    port_of, ports,
    ready::{self, ReadinessError, ReadinessWait},
    simulated,
};
use crate::settings::MlxSettings;

/// Between two looks at a server that another call is starting.
const PAUSE: Duration = Duration::from_millis(100);
/// The time that a running server may take to report its health.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);

pub(crate) struct MlxLoad {
    settings: MlxSettings,
    clock: Arc<dyn Clock>,
}

/// The result of claiming a port.
enum PortClaim {
    /// Nothing is there.
    Mine(File),
    /// The model is there already.
    Already,
}

impl MlxLoad {
    pub(crate) fn new(settings: &MlxSettings, clock: &Arc<dyn Clock>) -> Self {
        Self { settings: settings.clone(), clock: clock.clone() }
    }

    async fn load(&self, call: &RunningCall) -> Result<ToolOutput, ToolError> {
        let port = port_of(call)?;
        let model = LoadableModel::find(&self.settings, call.text("model"))?;
        if self.settings.stand_in {
            return simulated::load(&self.settings.dir, port, &model);
        }
        let port_folder =
            PortFolder::open(&self.settings.dir, port).map_err(|error| failure::state(&error))?;
        let began = Instant::now();
        let deadline = began + Duration::from_millis(self.settings.ready_timeout_ms);
        let lock = match self.claim(call, &port_folder, &model, deadline).await? {
            PortClaim::Mine(lock) => lock,
            PortClaim::Already => return Ok(already(port, &model)),
        };
        self.start(call, &port_folder, &model, lock, deadline).await?;
        let mut answer = loaded(port, &model);
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        answer.metrics.insert("ready_ms".into(), json!(millis));
        Ok(answer)
    }

    /// Takes the port, if no server of ours is there.
    async fn claim(
        &self,
        call: &RunningCall,
        port_folder: &PortFolder,
        model: &LoadableModel,
        deadline: Instant,
    ) -> Result<PortClaim, ToolError> {
        let timeout = deadline.min(Instant::now() + BEGINNING_PATIENCE);
        loop {
            let port = port_folder.port;
            let waits_until = match port_folder.look().map_err(|error| failure::state(&error))? {
                PortOccupant::Free { lock, .. } if ports::is_free(port) => {
                    // From here on nothing is known until there is something to know.
                    port_folder.forget();
                    return Ok(PortClaim::Mine(lock));
                }
                PortOccupant::Free { lock, .. } => {
                    drop(lock);
                    return Err(failure::busy(ports::held_by(port).await));
                }
                PortOccupant::Held(Some((record, _))) if record.target != model.target => {
                    return Err(failure::busy(taken(port, &record.model, &record.phase)));
                }
                PortOccupant::Held(Some((record, _))) => match record.phase {
                    ServerPhase::Ready => {
                        return well(port, model).await.map(|()| PortClaim::Already);
                    }
                    // The call that loads it may yet fail; then this one has its turn.
                    ServerPhase::Loading => deadline,
                    ServerPhase::Unloading | ServerPhase::Failed(_) => timeout,
                },
                PortOccupant::Held(None) => timeout,
            };
            if Instant::now() >= waits_until {
                return Err(failure::busy(format!("port {port} is being loaded or unloaded")));
            }
            call.progress(None, "waiting for another call that is about the same port");
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = call.stop.cancelled() => return Err(failure::launch("stopped", "")),
            }
        }
    }

    /// Starts the server and waits for it. Where that fails, nothing of it is left.
    async fn start(
        &self,
        call: &RunningCall,
        port_folder: &PortFolder,
        model: &LoadableModel,
        lock: File,
        deadline: Instant,
    ) -> Result<(), ToolError> {
        // Held until the last word is written down: by then the keeper may be gone, and with it the other one.
        let _held = lock.try_clone().map_err(|error| failure::state(&error))?;
        let keep = self.keep(port_folder, model, lock).map_err(|error| failure::state(&error))?;
        let mut kept = match Spawner::of_this_program().start_detached(keep).await {
            Ok(kept) => kept,
            Err(error) => {
                let message =
                    "the launch command could not be started (`toolgate mlx status` says why)";
                let cause = failure::cause(&error);
                let reason = ServerPhase::Failed(format!("{message}: {cause}"));
                let _ = port_folder.write(&self.record(None, model, reason));
                return Err(ToolError { operator: Some(cause), ..failure::launch(message, "") });
            }
        };
        let mut record = self.record(Some(kept.identity()), model, ServerPhase::Loading);
        let waiting = ReadinessWait {
            call,
            port: port_folder.port,
            log: port_folder.log_path(),
            target: &model.target,
            deadline,
        };
        let ready = match port_folder.write(&record) {
            Ok(()) => waiting.wait(&mut kept).await,
            Err(error) => {
                kept.kill().await;
                return Err(failure::state(&error));
            }
        };
        if let Err(why) = ready {
            kept.kill().await;
            return Err(self.failed(port_folder, model, &record, &why).await);
        }
        record.phase = ServerPhase::Ready;
        record.since = self.clock.now().0;
        let left = match port_folder.write(&record) {
            Ok(()) => kept.detach().await,
            Err(error) => {
                kept.kill().await;
                Err(error)
            }
        };
        left.map_err(|error| {
            port_folder.forget();
            failure::state(&error)
        })
    }

    fn keep(
        &self,
        port_folder: &PortFolder,
        model: &LoadableModel,
        lock: File,
    ) -> std::io::Result<DetachedLaunch> {
        let port = port_folder.port.to_string();
        let filled =
            |word: &String| word.replace("{port}", &port).replace("{model}", &model.target);
        let mut words = self.settings.launch.iter().map(filled);
        let unlimited = ResourceLimits {
            max_memory_bytes: u64::MAX,
            max_cpu_seconds: u64::MAX,
            max_file_bytes: u64::MAX,
            max_open_files: u64::MAX,
        };
        let folder = port_folder.work_folder()?;
        let sandbox = self.settings.sandbox.clone().map(|sandbox| sandbox.with_write(&folder));
        let launch = Launch::new(words.next().unwrap_or_default(), folder);
        Ok(DetachedLaunch {
            launch: Launch {
                args: words.collect(),
                env: environment::of(&self.settings),
                // A model takes what it takes: the operator named the program and allowed the model.
                limits: unlimited,
                sandbox,
                ..launch
            },
            lock,
            log: port_folder.log_path(),
            max_log_bytes: self.settings.max_log_bytes,
            timeout: Duration::from_millis(self.settings.stop_patience_ms),
        })
    }

    fn record(
        &self,
        keeper: Option<ProcessIdentity>,
        model: &LoadableModel,
        phase: ServerPhase,
    ) -> ServerRecord {
        ServerRecord {
            keeper,
            model: model.name.clone(),
            target: model.target.clone(),
            phase,
            since: self.clock.now().0,
        }
    }

    /// The error for the caller, which is also written to the record.
    async fn failed(
        &self,
        port_folder: &PortFolder,
        model: &LoadableModel,
        before: &ServerRecord,
        why: &ReadinessError,
    ) -> ToolError {
        let unloaded =
            port_folder.record().is_some_and(|record| record.phase == ServerPhase::Unloading);
        let error = if unloaded {
            failure::launch("it was unloaded while it was loading", "")
        } else {
            self.judge(port_folder, model, why).await
        };
        let stopped = matches!(why, ReadinessError::Stopped);
        let reason = if stopped { "the call was stopped" } else { &error.message };
        let record = self.record(before.keeper, model, ServerPhase::Failed(reason.to_owned()));
        if unloaded || port_folder.write(&record).is_err() {
            port_folder.forget();
        }
        error
    }

    async fn judge(
        &self,
        port_folder: &PortFolder,
        model: &LoadableModel,
        why: &ReadinessError,
    ) -> ToolError {
        let log = port_folder.log(LOG_BYTES);
        let said = match why {
            ReadinessError::Logged(said) => Some(*said),
            ReadinessError::Ended(_) => fatal_line(&log, &model.target, true),
            ReadinessError::Foreign | ReadinessError::Late(_) | ReadinessError::Stopped => None,
        };
        let name = &model.name;
        match (said, why) {
            (Some(FatalLogLine::NoModel), _) => {
                let hint = if model.path().is_none() && !self.settings.downloads {
                    "; downloads are off (`tools.mlx.downloads`)"
                } else {
                    ""
                };
                failure::not_found(format!("the server found no model `{name}` to load{hint}"))
            }
            (Some(FatalLogLine::PortBusy), _) | (None, ReadinessError::Foreign) => {
                failure::busy(ports::held_by(port_folder.port).await)
            }
            (_, ReadinessError::Ended(ending)) => failure::launch(failure::ended(*ending), &log),
            (_, ReadinessError::Late(seen)) => {
                let limit = self.settings.ready_timeout_ms;
                let message =
                    format!("not ready within {limit} ms (`tools.mlx.ready_timeout_ms`): {seen}");
                failure::launch(message, &log)
            }
            (_, ReadinessError::Stopped) => failure::launch("stopped", &log),
            (_, ReadinessError::Logged(_) | ReadinessError::Foreign) => {
                failure::launch(format!("the server could not load `{name}`"), &log)
            }
        }
    }
}

impl Provider for MlxLoad {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(self.load(call))
    }
}

/// The same model is there, and it had better be well.
async fn well(port: u16, model: &LoadableModel) -> Result<(), ToolError> {
    let health = ready::health(port, HEALTH_TIMEOUT).await;
    if health.is_well() {
        return Ok(());
    }
    let (name, how) = (&model.name, health.words());
    Err(failure::busy(format!("port {port} has `{name}`, which is {how}; unload it first")))
}

pub(super) fn loaded(port: u16, model: &LoadableModel) -> ToolOutput {
    answer(format!("loaded {} on {port}", model.short_name()), port, model)
}

pub(super) fn already(port: u16, model: &LoadableModel) -> ToolOutput {
    answer(format!("{} is already loaded on {port}", model.short_name()), port, model)
}

fn answer(message: String, port: u16, model: &LoadableModel) -> ToolOutput {
    let output = json!({ "ok": true, "message": message, "port": port, "model": model.name });
    ToolOutput { summary: Some(message), ..ToolOutput::new(output) }
}

/// The message about a port that is taken.
pub(super) fn taken(port: u16, name: &str, phase: &ServerPhase) -> String {
    match phase {
        ServerPhase::Loading => format!("`{name}` is being loaded on port {port}"),
        ServerPhase::Unloading => format!("`{name}` is being unloaded from port {port}"),
        ServerPhase::Ready | ServerPhase::Failed(_) => {
            format!("port {port} already has `{name}`; unload it first")
        }
    }
}
