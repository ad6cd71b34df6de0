//! The status of an upstream, for people and programs.

use std::sync::atomic::Ordering;

use guard::process::SandboxLevel;
use serde::Serialize;

use super::upstream::{Upstream, UpstreamState};
use crate::{ServerText, admission::Rejection, connection::Target, settings::AllowedTools};

/// The status of an upstream.
#[derive(Debug, Clone, Serialize)]
pub struct UpstreamStatus {
    /// Its id.
    pub id: String,
    /// The program or the address, without secrets.
    pub target: String,
    /// Its state.
    #[serde(flatten)]
    pub state: UpstreamState,
    /// The protocol version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its own name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The names of the tools that are served.
    pub tools: Vec<String>,
    /// The tools that are not served, with the reason.
    pub rejected: Vec<Rejection>,
    /// Warnings for the operator.
    pub remarks: Vec<Remark>,
    /// The number of prompts.
    pub prompts: usize,
    /// The number of resources and templates.
    pub resources: usize,
    /// The number of lost connections.
    pub restarts: u32,
    /// The part of the configured sandbox that the kernel enforces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxLevel>,
    /// True while the circuit breaker is open.
    pub breaker_open: bool,
    /// The end of what it printed on stderr.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// A warning for the operator.
#[derive(Debug, Clone, Serialize)]
pub struct Remark {
    /// The tool's own name; empty where the server is meant.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The warning.
    pub message: String,
}

/// The longest end of stderr in a status, in bytes.
const MAX_STDERR_BYTES: usize = 2_000;

impl Upstream {
    pub fn status(&self) -> UpstreamStatus {
        let served = self.served.load();
        let listings = served.listings.as_deref();
        let stderr = self.stderr();
        let stderr = stderr.for_programs();
        let sandbox = self.sandbox();
        let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR_BYTES));
        UpstreamStatus {
            id: self.id.clone(),
            target: ServerText::new(&shown(&self.target)).for_programs().to_owned(),
            state: self.state(),
            protocol: listings
                .map(|listings| listings.protocol.clone())
                .filter(|protocol| !protocol.is_empty()),
            server: listings
                .and_then(|listings| Some(format!("{} {}", listings.name()?, listings.version()))),
            tools: served.tools.iter().map(|tool| tool.contract.name.clone()).collect(),
            rejected: served.rejected.clone(),
            remarks: self.remarks(),
            sandbox,
            prompts: listings.map_or(0, |listings| listings.prompts.len()),
            resources: listings
                .map_or(0, |listings| listings.resources.len() + listings.templates.len()),
            restarts: self.restarts.load(Ordering::Relaxed),
            breaker_open: self.breaker.is_open(),
            stderr: stderr[start..].to_owned(),
        }
    }

    /// Warnings: about the tools that it lists, about its sandbox, and about overlays and allowlist entries for tools
    /// that it does not list.
    fn remarks(&self) -> Vec<Remark> {
        let served = self.served.load();
        let mut remarks = served.remarks.clone();
        remarks.extend(self.sandbox().and_then(sandbox_remark));
        let Some(listings) = &served.listings else { return remarks };
        let listed: Vec<&str> =
            listings.tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        let mut check = |tool: &str, what: &str| {
            if listed.contains(&tool) {
                return;
            }
            let near = contract::nearest(tool, listed.iter().copied())
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            let message = format!("{what}, but the server has no tool of that name{near}");
            remarks.push(Remark { tool: tool.to_owned(), message });
        };
        for tool in self.overlays.load().keys() {
            check(tool, "there is an overlay for it");
        }
        let rules = self.rules.load();
        let allowed = rules.allowlist.as_ref().and_then(|list| list.get(&self.id));
        if let Some(AllowedTools::These(tools)) = allowed {
            for tool in tools {
                check(tool, "the allowlist names it");
            }
        }
        remarks
    }
}

/// A warning about a sandbox that is not fully in force.
fn sandbox_remark(applied: SandboxLevel) -> Option<Remark> {
    let message = match applied {
        SandboxLevel::Fully => return None,
        SandboxLevel::Partly => {
            "the kernel is too old for the whole sandbox: access to files is restricted, signals to other \
             processes are not"
        }
        SandboxLevel::Not => {
            "the kernel has no Landlock: the server runs without a sandbox, and can approve calls as the operator can"
        }
    };
    Some(Remark { tool: String::new(), message: message.to_owned() })
}

/// A program by its name alone: its arguments may hold secrets. An address without its query.
fn shown(target: &Target) -> String {
    match target {
        Target::Program(program) => program.command.clone(),
        Target::Endpoint(endpoint) => {
            let mut url = endpoint.url.clone();
            url.set_query(None);
            let _ = url.set_username("");
            let _ = url.set_password(None);
            url.to_string()
        }
    }
}
