//! Makes the settings of the HTTP and MCP servers from the settings file.

use std::{sync::Arc, time::Duration};

use anyhow::bail;
use gate::jobs::JobsSettings;
use server::{ServerToken, mcp};
use sha2::{Digest, Sha256};
use store::DataFolder;

use crate::{
    settings::{LoadedSettings, ToolNames},
    start_checks,
};

/// The file of the key that seals the state which MCP clients carry.
pub const STATE_KEY: &str = "state.key";

/// The file of the operator's token.
pub const OPERATOR_TOKEN: &str = "operator.token";

/// The settings of the HTTP server.
pub fn settings(
    loaded: &LoadedSettings,
    data: &DataFolder,
    tokens: Vec<ServerToken>,
) -> anyhow::Result<server::ServerSettings> {
    let server = &loaded.settings.server;
    let operator = data.token(OPERATOR_TOKEN)?;
    gate::secrets::hide([&operator]);
    let operator_sha256: [u8; 32] = Sha256::digest(operator.as_bytes()).into();
    if let Some(token) = tokens.iter().find(|token| token.sha256 == operator_sha256) {
        bail!("{}", start_checks::has_operator_token(&token.name));
    }
    Ok(server::ServerSettings {
        version: env!("CARGO_PKG_VERSION"),
        max_body_bytes: server.max_body_bytes,
        body_timeout: Duration::from_millis(server.body_timeout_ms),
        header_timeout: Duration::from_millis(server.header_timeout_ms),
        idle_timeout: Duration::from_millis(server.idle_timeout_ms),
        half_closed_timeout: Duration::from_millis(server.half_closed_timeout_ms),
        max_unread_bytes: server.max_unread_bytes,
        max_connections: server.max_connections,
        drain_timeout: Duration::from_millis(server.drain_timeout_ms),
        allowed_hosts: server.allowed_hosts.iter().map(|host| host.to_lowercase()).collect(),
        allowed_origins: server.allowed_origins.iter().cloned().collect(),
        tokens,
        operator: operator_sha256,
        mcp: mcp(loaded, data.key(STATE_KEY)?),
        tls: None,
        dropped_log_lines: Arc::default(),
        reloads: Arc::default(),
    })
}

fn mcp(loaded: &LoadedSettings, key: [u8; 32]) -> mcp::McpSettings {
    let settings = &loaded.settings.mcp;
    let day = Duration::from_hours(24);
    let days = u32::try_from(loaded.settings.retention.max_age_days).unwrap_or(u32::MAX);
    mcp::McpSettings {
        page_size: settings.page_size,
        portable_names: settings.names == ToolNames::Portable,
        list_ttl: Duration::from_millis(settings.list_ttl_ms),
        max_sessions: settings.max_sessions,
        session_idle: Duration::from_millis(settings.session_idle_ms),
        task_after: Duration::from_millis(settings.task_after_ms),
        task_ttl: day.saturating_mul(days),
        answer_timeout: Duration::from_millis(settings.answer_timeout_ms),
        stdio_may_approve: loaded.settings.policy.stdio_clients_ask,
        http_may_approve: loaded.settings.policy.http_clients_ask,
        ..mcp::McpSettings::new(key)
    }
}

/// The limits of the job queue.
pub fn jobs(loaded: &LoadedSettings) -> JobsSettings {
    let jobs = &loaded.settings.jobs;
    JobsSettings {
        max_queued: jobs.max_queued,
        max_running: jobs.max_running,
        input_timeout: Duration::from_millis(jobs.input_timeout_ms),
    }
}
