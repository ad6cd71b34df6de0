//! What is said of a reload: in the log, in the journal and to whoever asks.

use std::path::Path;

use gate::secrets::redact;
use serde_json::{Value, json};
use server::FailedReload;
use upstream::UpstreamChanges;

use super::{Reloader, http_door};
use crate::settings::{FileErrors, SettingsError};

/// The most errors that a line of the log or the journal tells.
const MAX_TOLD: usize = 5;

/// The reason for a reload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReloadTrigger {
    /// `SIGHUP`.
    Signal,
    FileChange,
}

impl ReloadTrigger {
    fn word(self) -> &'static str {
        match self {
            ReloadTrigger::Signal => "signal",
            ReloadTrigger::FileChange => "file_change",
        }
    }
}

impl Reloader {
    pub(super) fn report_success(
        &self,
        trigger: ReloadTrigger,
        changes: &UpstreamChanges,
        mut after_restart: Vec<String>,
    ) {
        let sandboxes = changes.with_old_sandbox.iter();
        after_restart.extend(sandboxes.map(|id| format!("upstreams.{id}.sandbox")));
        let (trigger, now) = (trigger.word(), self.gate.clock().now());
        let tools = self.gate.catalogue().len();
        tracing::info!(trigger, tools, "the settings were reloaded");
        for name in &after_restart {
            tracing::warn!("`{name}` has changed; it takes effect after a restart");
        }
        let fields = json!({
            "trigger": trigger, "tools": tools, "upstreams_added": changes.added,
            "upstreams_removed": changes.removed, "upstreams_restarted": changes.restarted,
            "after_restart": after_restart,
        });
        self.gate.journal().event(now, "settings_reloaded", fields);
        if let Some(door) = &self.door {
            door.status.succeeded(http_door::report(&self.loaded, now, after_restart));
        }
    }

    pub(super) fn report_failure(&self, trigger: ReloadTrigger, error: &anyhow::Error) {
        let (trigger, at) = (trigger.word(), self.gate.clock().now());
        let message = redact(&message(error)).into_owned();
        tracing::error!(
            trigger,
            error = message,
            "the settings were not reloaded, those of before stay in force: `toolgate config status`"
        );
        let place = place(error);
        let fields = json!({ "trigger": trigger, "place": place, "error": message });
        self.gate.journal().event(at, "settings_reload_failed", fields);
        if let Some(door) = &self.door {
            let diagnostics = diagnostics(error);
            door.status.failed(FailedReload { at, place, message, diagnostics });
        }
    }
}

/// Every error with its place, up to a number.
fn message(error: &anyhow::Error) -> String {
    let Some(FileErrors(diagnostics)) = error.downcast_ref() else { return format!("{error:#}") };
    let all = diagnostics.iter().take(MAX_TOLD);
    let mut all: Vec<_> =
        all.map(|one| format!("{}:{}: {}", one.file, one.line, one.message)).collect();
    if diagnostics.len() > MAX_TOLD {
        all.push(format!("and {} more", diagnostics.len() - MAX_TOLD));
    }
    all.join("; ")
}

/// The place of an error, without anything that is written there.
fn place(error: &anyhow::Error) -> String {
    if let Some(FileErrors(diagnostics)) = error.downcast_ref()
        && let Some(first) = diagnostics.first()
    {
        let file = Path::new(&first.file).file_name().unwrap_or_default().to_string_lossy();
        let more = match diagnostics.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        return format!("an error in `{file}`, line {}{more}", first.line);
    }
    match error.downcast_ref::<SettingsError>() {
        Some(error) => format!("an error of the setting `{}`", error.key()),
        None => "an error in the settings, or in a file that they name".to_owned(),
    }
}

fn diagnostics(error: &anyhow::Error) -> Vec<Value> {
    let Some(FileErrors(diagnostics)) = error.downcast_ref() else { return Vec::new() };
    let shown = diagnostics.iter().filter_map(|one| {
        let text = serde_json::to_string(one).ok()?;
        serde_json::from_str(&redact(&text)).ok()
    });
    shown.collect()
}
