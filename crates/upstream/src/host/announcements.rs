//! What is told of an upstream: in the log, with the command that shows more, and to the observer of the host.

use gate::UpstreamEvent;

use super::upstream::{Upstream, UpstreamState};
use crate::admission::{self, Rejection, RejectionGroup, RejectionReason};

impl Upstream {
    pub(super) fn announce_connected(&self) {
        let tools = self.served.load().tools.len();
        tracing::info!(upstream = self.id, tools, "connected");
        self.observe(UpstreamEvent::Connected { tools });
    }

    pub(super) fn announce_stopped(&self) {
        tracing::info!(upstream = self.id, "stopped: nobody uses it; the next call starts it");
        self.observe(UpstreamEvent::Stopped);
    }

    /// One that is down already is not told again.
    pub(super) fn announce_failed(&self, error: &str) {
        let id = &self.id;
        tracing::warn!(upstream = id, error, "connection lost: `toolgate upstream show {id}`");
        if !matches!(self.state(), UpstreamState::Down { .. }) {
            self.observe(UpstreamEvent::Failed { error });
        }
    }

    /// Tells of the tools that were served before, or not listed.
    pub(super) fn announce_rejected(&self, before: &[Rejection], now: &[Rejection]) {
        let is_known = |one: &&Rejection| {
            before.iter().any(|known| known.tool == one.tool && known.reason == one.reason)
        };
        let new: Vec<_> = now.iter().filter(|one| !is_known(one)).cloned().collect();
        for RejectionGroup { reason, tools, message, fix } in admission::grouped(&self.id, &new) {
            tracing::warn!(upstream = self.id, "{message}; fix: {fix}");
            let tools = &tools;
            self.observe(match reason {
                RejectionReason::Changed => UpstreamEvent::ToolsChanged { tools },
                _ => UpstreamEvent::ToolsRejected { tools, reason: reason.word() },
            });
        }
    }

    fn observe(&self, event: UpstreamEvent<'_>) {
        if let Some(observer) = &self.shared.observer {
            observer.observe(&self.id, event);
        }
    }
}
