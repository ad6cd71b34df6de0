//! The result of the last reload of the settings, and the number of reloads.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use gate::Timestamp;
use serde::Serialize;
use serde_json::Value;

/// The reloads of the settings so far.
#[derive(Debug, Default)]
pub struct ReloadStatus {
    report: Mutex<ReloadReport>,
    succeeded: AtomicU64,
    failed: AtomicU64,
}

/// The settings in force, for the operator.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ReloadReport {
    /// The settings file; none where the server was started without one.
    pub file: Option<String>,
    /// The time from which these settings are in force.
    pub loaded_at: Timestamp,
    /// The number of reloads that succeeded.
    pub reloads: u64,
    /// The interval at which files are looked at for changes; 0 where only `SIGHUP` reloads.
    pub watch_interval_ms: u64,
    /// Settings that have changed and take effect after a restart.
    pub after_restart: Vec<String>,
    /// The last reload, if it failed: what is in force is older than the files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<FailedReload>,
}

/// A reload that changed nothing, because something was wrong.
#[derive(Debug, Clone, Serialize)]
pub struct FailedReload {
    pub at: Timestamp,
    /// The place of the first error, without anything that is written there: anybody may read it.
    pub place: String,
    /// Every error, as a sentence.
    pub message: String,
    /// Every error at its place in its file.
    pub diagnostics: Vec<Value>,
}

impl ReloadStatus {
    /// The settings that are in force from now on; not counted as a reload.
    pub fn started(&self, report: ReloadReport) {
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = report;
    }

    pub fn succeeded(&self, report: ReloadReport) {
        let reloads = self.succeeded.fetch_add(1, Relaxed) + 1;
        self.started(ReloadReport { reloads, ..report });
    }

    pub fn failed(&self, failed: FailedReload) {
        self.failed.fetch_add(1, Relaxed);
        self.report.lock().unwrap_or_else(PoisonError::into_inner).failed = Some(failed);
    }

    pub fn report(&self) -> ReloadReport {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The numbers in the form that Prometheus reads.
    pub(crate) fn metrics(&self) -> String {
        let (succeeded, failed) = (self.succeeded.load(Relaxed), self.failed.load(Relaxed));
        let failing = u8::from(self.report().failed.is_some());
        format!(
            "# HELP toolgate_settings_reloads_total Reloads of the settings by result.\n\
             # TYPE toolgate_settings_reloads_total counter\n\
             toolgate_settings_reloads_total{{result=\"ok\"}} {succeeded}\n\
             toolgate_settings_reloads_total{{result=\"failed\"}} {failed}\n\
             # HELP toolgate_settings_reload_failed 1 if the last reload failed and older settings are in force.\n\
             # TYPE toolgate_settings_reload_failed gauge\n\
             toolgate_settings_reload_failed {failing}\n"
        )
    }
}
