//! Calls of tools that have no contract yet, for the operator who infers one.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use serde_json::{Value, json};

use super::upstream::Upstream;
use crate::connection::{RequestError, RequestOptions};

impl Upstream {
    /// Calls a tool around the gate, which has no contract for it. It takes a slot as a call does, and respects the
    /// circuit breaker.
    pub async fn call_unserved(
        &self,
        tool: &str,
        arguments: &Value,
        timeout: Duration,
    ) -> Result<Value, String> {
        let id = &self.id;
        let permit = self.breaker.acquire().map_err(|open| format!("upstream `{id}`: {open}"))?;
        let sent = AtomicBool::new(false);
        let request = async {
            let slot = self.slots.acquire("operator").await;
            let connection = self.connection().await.map_err(|unreachable| {
                let detail = unreachable.detail;
                tracing::warn!(upstream = id, detail, "cannot reach the upstream");
                (unreachable.message, false)
            })?;
            sent.store(true, Ordering::Relaxed);
            let params = json!({ "name": tool, "arguments": arguments }).to_string();
            let options = RequestOptions { name: Some(tool), ..RequestOptions::new(timeout) };
            let response = connection.request("tools/call", &params, options).await;
            drop(slot);
            let response = response.map_err(|error| match error {
                RequestError::Rpc(error) => (error.to_string(), false),
                error => {
                    tracing::warn!(upstream = id, %error, tool, "no response");
                    (format!("the upstream `{id}` did not respond"), true)
                }
            })?;
            serde_json::from_str(response.json()).map_err(|error| (mcp::unreadable(&error), false))
        };
        // Waiting for a slot says nothing about the server.
        let late = |_| {
            let message = format!("the upstream `{id}` did not respond within {timeout:?}");
            Err((message, sent.load(Ordering::Relaxed)))
        };
        let result = tokio::time::timeout(timeout, request).await.unwrap_or_else(late);
        match &result {
            Err((_, true)) => permit.failed(),
            _ if !sent.load(Ordering::Relaxed) => drop(permit),
            _ => permit.succeeded(),
        }
        result.map_err(|(message, _)| message)
    }
}
