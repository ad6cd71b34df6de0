//! Loads the settings, and everything that belongs to them, again while a server runs: all of it or nothing.
//!
//! - `prepared`: everything that a server needs of its files, made by the one function that a start uses too.
//! - `http_door`: what a reload changes behind HTTP: tokens, limits, MCP, `ask`.
//! - `followed_files`: looks at the files for changes. Whatever was read is followed.
//! - `report`: what is said of a reload in the log, the journal and `/v1/config`.

mod followed_files;
mod http_door;
mod prepared;
mod report;

use std::{path::PathBuf, sync::Arc, time::Duration};

use anyhow::bail;
use gate::{Gate, Jobs};
use tokio::signal::unix::Signal;
use upstream::{Host, UpstreamChanges};

use self::{followed_files::FollowedFiles, http_door::HttpParts, report::ReloadTrigger};
pub use self::{
    http_door::{HttpDoor, HttpDoorBase},
    prepared::{PreparedServer, prepare},
};
use crate::{
    settings::{Flags, LoadedSettings, SettingsError, SourceFiles},
    wiring::{
        self, overlays,
        upstreams::{CatalogueKeeper, UpstreamFilter},
    },
};

/// The number of times that files are read again because they changed meanwhile.
const MAX_READS: u32 = 3;
/// The time between two of them.
const READ_AGAIN_DELAY: Duration = Duration::from_millis(100);

/// A running server, and what is in force there.
pub struct Reloader {
    /// Those of the start, with the file that was found then.
    pub flags: Flags,
    /// The one toolset that is served; all if none.
    pub toolset: Option<String>,
    pub loaded: Arc<LoadedSettings>,
    /// The lock file, if contracts are pinned.
    pub lock_file: Option<PathBuf>,
    pub gate: Arc<Gate>,
    pub jobs: Arc<Jobs>,
    pub host: Arc<Host>,
    pub keeper: Arc<CatalogueKeeper>,
    /// The door of HTTP, if there is one.
    pub door: Option<Arc<HttpDoor>>,
}

/// Everything that a reload puts in force.
struct ReadyReload {
    server: PreparedServer,
    http: Option<HttpParts>,
    variables: guard::variables::TriedVariables,
}

impl Reloader {
    /// Reloads at every signal, and when files have changed, for as long as it is polled. One reload runs at a time; what
    /// happens meanwhile leads to one more.
    pub async fn run(mut self, mut hangup: Option<Signal>) {
        let mut files = FollowedFiles::new(self.loaded.sources.clone());
        loop {
            let interval = self.loaded.settings.server.watch_interval_ms;
            let signalled = async {
                match &mut hangup {
                    Some(hangup) => hangup.recv().await,
                    None => std::future::pending().await,
                }
            };
            let trigger = tokio::select! {
                Some(()) = signalled => ReloadTrigger::Signal,
                () = files.changed(Duration::from_millis(interval)) => ReloadTrigger::FileChange,
            };
            if self.gate.is_stopping() {
                return std::future::pending().await;
            }
            let (sources, ready) = self.read().await;
            files = FollowedFiles::new(sources);
            match ready {
                Ok(ready) => self.apply(trigger, ready).await,
                Err(error) => self.report_failure(trigger, &error),
            }
        }
    }

    /// Reads and checks everything, with nothing put in force.
    async fn read(&self) -> (Arc<SourceFiles>, anyhow::Result<ReadyReload>) {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let sources = Arc::new(SourceFiles::default());
            let reading = self.reading(sources.clone());
            let read = tokio::task::spawn_blocking(move || {
                let ready = reading();
                (ready, sources.states() == sources.states_now(), sources)
            });
            let (ready, are_same, sources) = match read.await {
                Ok(read) => read,
                Err(error) => return (self.loaded.sources.clone(), Err(error.into())),
            };
            if are_same {
                return (sources, ready);
            }
            if attempts == MAX_READS {
                let error = anyhow::anyhow!("files changed while they were read; reload again");
                return (sources, Err(error));
            }
            tokio::time::sleep(READ_AGAIN_DELAY).await;
        }
    }

    /// The work of reading, for a thread of its own.
    fn reading(
        &self,
        sources: Arc<SourceFiles>,
    ) -> impl FnOnce() -> anyhow::Result<ReadyReload> + Send + 'static {
        let (flags, toolset, running) =
            (self.flags.clone(), self.toolset.clone(), self.loaded.clone());
        let (door, lock_file) = (self.door.clone(), self.lock_file.clone());
        let catalogue = self.gate.catalogue_owned();
        move || {
            let (ready, variables) = guard::variables::trying(|| {
                let filter = toolset.as_deref().map_or(UpstreamFilter::All, UpstreamFilter::One);
                let server = prepare(&flags, filter, sources, Some((&running, &catalogue)))?;
                refuse_losses(&server, &running, lock_file.as_deref())?;
                let http = door.map(|door| door.parts(&server.loaded)).transpose()?;
                anyhow::Ok((server, http))
            });
            let (server, http) = ready?;
            Ok(ReadyReload { server, http, variables })
        }
    }

    async fn apply(&mut self, trigger: ReloadTrigger, ready: ReadyReload) {
        let ReadyReload { server, http, variables } = ready;
        let PreparedServer { loaded, fixed, host: config, after_restart, warnings, remarks } =
            server;
        let settings = &loaded.settings;
        self.lock_file = config.rules.lock.is_some().then(|| loaded.path(&settings.lock));
        // What is new gets the time of a start. Meanwhile everything is served as it was.
        let reload = self.host.begin_reload(config).await;
        let start_wait = Duration::from_millis(settings.server.start_wait_ms);
        let _ = tokio::time::timeout(start_wait, reload.settled()).await;
        variables.put_in_force();
        let gate_settings = wiring::gate_settings(settings);
        self.jobs.share_among(&gate_settings.callers);
        self.gate.replace_settings(gate_settings);
        if let (Some(door), Some(http)) = (&self.door, http) {
            door.replace(http, settings);
        }
        let (gate, host, keeper) = (self.gate.clone(), self.host.clone(), self.keeper.clone());
        let swapped =
            tokio::task::spawn_blocking(move || keeper.reload(&gate, &host, fixed, reload)).await;
        let changes = swapped.unwrap_or_else(|error| {
            tracing::error!(%error, "the catalogue could not be made");
            UpstreamChanges::default()
        });
        for warning in warnings.into_iter().chain(remarks.into_iter().map(|one| one.message)) {
            tracing::warn!("{warning}");
        }
        self.loaded = Arc::new(loaded);
        self.report_success(trigger, &changes, after_restart);
    }
}

/// Refuses what a start would take as "there is none": while files are moved, that must not permit what they forbade.
fn refuse_losses(
    server: &PreparedServer,
    running: &LoadedSettings,
    lock_file: Option<&std::path::Path>,
) -> anyhow::Result<()> {
    let loaded = &server.loaded;
    if overlays::are_gone(running, loaded) {
        let folder = loaded.path(&loaded.settings.overlays);
        let message = format!("`{}` is gone; the last overlays stay in force", folder.display());
        return Err(SettingsError::new("/overlays", message).into());
    }
    if let Some(file) = lock_file
        && server.host.rules.lock.is_none()
        && file == loaded.path(&loaded.settings.lock)
    {
        bail!("the lock file `{}` is gone; its last version stays in force", file.display());
    }
    Ok(())
}
