//! The part of a server behind HTTP that a reload changes: tokens, limits, MCP, `ask`, and the removal of old records.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, atomic::AtomicU64},
    time::Duration,
};

use anyhow::bail;
use gate::{Gate, Jobs, Timestamp, retention::RetentionSettings};
use guard::net::ServerTls;
use server::{App, CurrentApp, Library, ReloadReport, ReloadStatus, ServerSettings};
use store::DataFolder;
use tokio::sync::watch;

use crate::{
    server_settings,
    settings::{LoadedSettings, ToolgateSettings},
    start_checks,
    wiring::ask::AskDoor,
};

/// The door of HTTP of a running server.
pub struct HttpDoor {
    pub current: Arc<CurrentApp>,
    pub retention: watch::Sender<RetentionSettings>,
    pub status: Arc<ReloadStatus>,
    gate: Arc<Gate>,
    data: DataFolder,
    address: SocketAddr,
    /// It follows its own files.
    tls: Option<Arc<ServerTls>>,
    dropped_log_lines: Arc<AtomicU64>,
    asks: Mutex<Arc<AskDoor>>,
}

/// The settings of the door, checked.
pub struct HttpParts {
    settings: ServerSettings,
    asks: AskDoor,
}

/// What a door is made of beside the settings.
pub struct HttpDoorBase<'a> {
    pub gate: &'a Arc<Gate>,
    pub jobs: Arc<Jobs>,
    pub library: Arc<dyn Library>,
    pub data: &'a DataFolder,
    pub address: SocketAddr,
    pub tls: Option<Arc<ServerTls>>,
    pub dropped_log_lines: Arc<AtomicU64>,
}

impl HttpDoor {
    pub fn new(loaded: &LoadedSettings, base: HttpDoorBase<'_>) -> anyhow::Result<Arc<Self>> {
        let HttpDoorBase { gate, jobs, library, data, address, tls, dropped_log_lines } = base;
        let status: Arc<ReloadStatus> = Arc::default();
        let HttpParts { mut settings, asks } =
            parts(loaded, gate, data, &dropped_log_lines, &status)?;
        settings.tls.clone_from(&tls);
        status.started(report(loaded, gate.clock().now(), Vec::new()));
        let asks = Arc::new(asks);
        let app = App::with(gate.clone(), jobs, settings, library, asks.clone());
        Ok(Arc::new(Self {
            current: CurrentApp::new(app),
            retention: watch::Sender::new(retention(&loaded.settings)),
            status,
            gate: gate.clone(),
            data: data.clone(),
            address,
            tls,
            dropped_log_lines,
            asks: Mutex::new(asks),
        }))
    }

    /// The settings of the door, if they can be used.
    pub fn parts(&self, loaded: &LoadedSettings) -> anyhow::Result<HttpParts> {
        let mut parts =
            parts(loaded, &self.gate, &self.data, &self.dropped_log_lines, &self.status)?;
        parts.settings.tls.clone_from(&self.tls);
        // `server.listen` may say something else by now.
        if parts.settings.tokens.is_empty() && !self.address.ip().is_loopback() {
            bail!(
                "server.tokens: other machines can reach {}, where this server listens; set \
                 `server.tokens`, or restart it with an address like 127.0.0.1:8000",
                self.address
            );
        }
        Ok(parts)
    }

    /// Puts settings in force.
    pub fn replace(&self, parts: HttpParts, settings: &ToolgateSettings) {
        let before = self.current.app();
        let asks = {
            let mut asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner);
            *asks = Arc::new(parts.asks.continuing(&asks));
            asks.clone()
        };
        let now = before.reloaded(parts.settings, asks);
        let is_listed_otherwise = now.lists_otherwise(&before);
        self.current.replace(now);
        if is_listed_otherwise {
            self.gate.listing_changed();
        }
        let retention = retention(settings);
        self.retention.send_if_modified(|known| {
            let is_new = *known != retention;
            *known = retention;
            is_new
        });
    }
}

/// The state of settings that are in force.
pub fn report(
    loaded: &LoadedSettings,
    loaded_at: Timestamp,
    after_restart: Vec<String>,
) -> ReloadReport {
    let file = loaded.file.as_ref();
    let file = file.map(|file| std::path::absolute(file).unwrap_or_else(|_| file.clone()));
    ReloadReport {
        file: file.map(|file| file.display().to_string()),
        loaded_at,
        watch_interval_ms: loaded.settings.server.watch_interval_ms,
        after_restart,
        ..ReloadReport::default()
    }
}

fn parts(
    loaded: &LoadedSettings,
    gate: &Arc<Gate>,
    data: &DataFolder,
    dropped_log_lines: &Arc<AtomicU64>,
    status: &Arc<ReloadStatus>,
) -> anyhow::Result<HttpParts> {
    let tokens = start_checks::server_tokens(&loaded.settings.server)?;
    let mut settings = server_settings::settings(loaded, data, tokens)?;
    settings.dropped_log_lines = dropped_log_lines.clone();
    settings.reloads = status.clone();
    Ok(HttpParts { settings, asks: AskDoor::new(loaded, gate)? })
}

fn retention(settings: &ToolgateSettings) -> RetentionSettings {
    let settings = &settings.retention;
    RetentionSettings {
        max_age: Duration::from_secs(settings.max_age_days.saturating_mul(86_400)),
        max_jobs: settings.max_jobs,
        max_artifact_bytes: settings.max_artifact_bytes,
        max_bytes: settings.max_bytes,
        max_quarantined: settings.max_quarantined,
        max_approvals: settings.max_approvals,
        sweep_interval: Duration::from_secs(settings.sweep_interval_s),
    }
}
