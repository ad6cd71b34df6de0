//! What happens to upstreams: each kind has an event in the journal, and a counter.

use std::sync::atomic::Ordering;

use serde_json::json;

use crate::{Gate, truncate};

/// The most tools that an event names; it has the number of all.
const MAX_NAMED_TOOLS: usize = 50;

/// Something that happened to an upstream.
#[derive(Debug, Clone, Copy)]
pub enum UpstreamEvent<'a> {
    /// It is connected and its tools are known.
    Connected { tools: usize },
    /// It was stopped because nobody used it.
    Stopped,
    /// It could not be reached, or the connection was lost. Its words have no secrets.
    Failed { error: &'a str },
    /// Tools that it lists are not served.
    ToolsRejected { tools: &'a [String], reason: &'static str },
    /// Tools are not what was pinned, and are not served until a person accepts them.
    ToolsChanged { tools: &'a [String] },
}

impl Gate {
    /// Writes down what happened to an upstream, and counts it.
    pub fn upstream_event(&self, upstream: &str, event: UpstreamEvent<'_>) {
        let metrics = &self.metrics;
        let named = |tools: &[String]| tools[..tools.len().min(MAX_NAMED_TOOLS)].to_vec();
        let (name, counter, count, mut fields) = match event {
            UpstreamEvent::Connected { tools } => {
                ("upstream_connected", &metrics.upstreams_connected, 1, json!({ "tools": tools }))
            }
            UpstreamEvent::Stopped => {
                ("upstream_stopped", &metrics.upstreams_stopped, 1, json!({}))
            }
            UpstreamEvent::Failed { error } => {
                let fields = json!({ "error": truncate::journal_note(error) });
                ("upstream_failed", &metrics.upstreams_failed, 1, fields)
            }
            UpstreamEvent::ToolsRejected { tools, reason } => {
                let fields =
                    json!({ "reason": reason, "count": tools.len(), "tools": named(tools) });
                ("tools_rejected", &metrics.tools_rejected, tools.len(), fields)
            }
            UpstreamEvent::ToolsChanged { tools } => {
                let fields = json!({ "count": tools.len(), "tools": named(tools) });
                ("tools_changed", &metrics.tools_changed, tools.len(), fields)
            }
        };
        fields["upstream"] = json!(upstream);
        counter.fetch_add(count as u64, Ordering::Relaxed);
        self.journal.event(self.clock.now(), name, fields);
    }
}
