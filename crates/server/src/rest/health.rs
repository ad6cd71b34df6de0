//! `/healthz`, `/readyz`, `/metrics`: how the server is.

use std::sync::{Arc, atomic::Ordering};

use axum::{extract::State, http::HeaderValue, response::Response};
use serde_json::json;

use crate::{
    App,
    http::body,
    rest::{config, response},
};

/// The process answers.
pub(crate) async fn alive(State(app): State<Arc<App>>) -> Response {
    let version = app.settings.version;
    response::json(200, &json!({ "status": "ok", "name": "toolgate", "version": version }))
}

/// The server can do its work: what it keeps can be written, and the upstreams that it requires serve.
pub(crate) async fn ready(State(app): State<Arc<App>>) -> Response {
    let mut reasons = Vec::new();
    if app.gate.is_stopping() {
        reasons.push("the server is shutting down".to_owned());
    }
    if app.gate.is_starting() {
        reasons.push("upstreams are being started".to_owned());
    }
    reasons.extend(app.library.unready(&app.gate.catalogue()));
    if let Err(error) = app.gate.store().check().await {
        reasons.push(error.to_string());
    }
    if let Err(error) = app.gate.journal().check() {
        reasons.push(format!("the journal cannot be written: {error}"));
    }
    if reasons.is_empty() {
        // What is in force is whole, so that calls may be sent here.
        let mut ready = json!({ "status": "ready" });
        if let Some(failed) = config::failure_for_anybody(&app) {
            ready["reload"] = failed;
        }
        response::json(200, &ready)
    } else {
        response::json(503, &json!({ "status": "not_ready", "reasons": reasons }))
    }
}

/// The numbers, for Prometheus.
pub(crate) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = HeaderValue::from_static("text/plain; version=0.0.4; charset=utf-8");
    let mut text = app.gate.metrics();
    text.push_str(&format!(
        "# HELP toolgate_mcp_sessions Sessions of MCP clients of 2025-11-25 and older.\n\
         # TYPE toolgate_mcp_sessions gauge\n\
         toolgate_mcp_sessions {}\n",
        app.mcp.sessions.count()
    ));
    text.push_str(&format!(
        "# HELP toolgate_log_lines_dropped_total Log lines that were dropped because nobody read stderr.\n\
         # TYPE toolgate_log_lines_dropped_total counter\n\
         toolgate_log_lines_dropped_total {}\n",
        app.settings.dropped_log_lines.load(Ordering::Relaxed)
    ));
    text.push_str(&app.settings.reloads.metrics());
    text.push_str(&app.asks.metrics());
    body::response(200, kind, text)
}
