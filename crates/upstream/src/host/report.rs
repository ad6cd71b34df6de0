//! How an upstream is, for people and programs.

use std::sync::atomic::Ordering;

use guard::process::SandboxLevel;
use serde::Serialize;

use super::member::{Member, Phase};
use crate::{admission::Rejected, connection::Target, settings::Allowed};

/// How an upstream is.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Its id.
    pub id: String,
    /// The program or the address, without secrets.
    pub target: String,
    /// How far it is.
    #[serde(flatten)]
    pub phase: Phase,
    /// The revision of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// Its own name and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server: Option<String>,
    /// The names of what may be called.
    pub tools: Vec<String>,
    /// What may not be called, and why.
    pub rejected: Vec<Rejected>,
    /// What a person should look at, by tool.
    pub remarks: Vec<Remark>,
    /// How many prompts it offers.
    pub prompts: usize,
    /// How many resources and templates it offers.
    pub resources: usize,
    /// How often it went away.
    pub restarts: u32,
    /// How much of the sandbox that the settings ask for the kernel could give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxLevel>,
    /// Whether it failed so often that nothing is sent for a while.
    pub breaker_open: bool,
    /// The end of what it printed for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
}

/// What a person should look at.
#[derive(Debug, Clone, Serialize)]
pub struct Remark {
    /// The tool's own name; nothing where it is about the server.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What about it.
    pub message: String,
}

/// How much of what it printed is told, in bytes.
const MAX_STDERR: usize = 2_000;

impl Member {
    /// How it is.
    pub fn report(&self) -> Report {
        let state = self.state();
        let offer = state.offer.as_deref();
        let text = |key: &str| offer.and_then(|offer| offer.info.get(key)?.as_str());
        let stderr = self.last_words();
        let sandbox = self.sandbox();
        let start = stderr.ceil_char_boundary(stderr.len().saturating_sub(MAX_STDERR));
        Report {
            id: self.id.clone(),
            target: shown(&self.target),
            phase: self.phase(),
            protocol: offer
                .map(|offer| offer.protocol.clone())
                .filter(|protocol| !protocol.is_empty()),
            server: text("name")
                .map(|name| format!("{name} {}", text("version").unwrap_or_default())),
            tools: state.tools.iter().map(|tool| tool.contract.name.clone()).collect(),
            rejected: state.rejected.clone(),
            remarks: self.remarks(),
            sandbox,
            prompts: offer.map_or(0, |offer| offer.prompts.len()),
            resources: offer.map_or(0, |offer| offer.resources.len() + offer.templates.len()),
            restarts: self.restarts.load(Ordering::Relaxed),
            breaker_open: self.breaker.is_open(),
            stderr: stderr[start..].to_owned(),
        }
    }

    /// What a person should look at: in what it offers, and in what was written for tools that it does
    /// not offer. That is not in force, and nobody would know.
    fn remarks(&self) -> Vec<Remark> {
        let state = self.state();
        let mut remarks: Vec<Remark> = state
            .remarks
            .iter()
            .map(|(tool, message)| Remark { tool: tool.clone(), message: message.clone() })
            .chain(self.sandbox().and_then(lacking))
            .collect();
        let Some(offer) = &state.offer else { return remarks };
        let offered: Vec<&str> =
            offer.tools.iter().filter_map(|tool| tool.get("name")?.as_str()).collect();
        let mut missing = |tool: &str, what: &str| {
            if offered.contains(&tool) {
                return;
            }
            let near = contract::nearest(tool, offered.iter().copied())
                .map(|near| format!("; did you mean `{near}`?"))
                .unwrap_or_default();
            let message = format!("{what}, and the server lists no tool of that name{near}");
            remarks.push(Remark { tool: tool.to_owned(), message });
        };
        for tool in self.overlays.load().keys() {
            missing(tool, "there is an overlay for it");
        }
        let allowed = self.shared.allowlist.as_ref().and_then(|list| list.get(&self.id));
        if let Some(Allowed::These(tools)) = allowed {
            for tool in tools {
                missing(tool, "the allowlist names it");
            }
        }
        remarks
    }
}

/// What a person should know of a sandbox that is not what was asked for.
fn lacking(applied: SandboxLevel) -> Option<Remark> {
    let message = match applied {
        SandboxLevel::Fully => return None,
        SandboxLevel::Partly => {
            "the kernel is too old for the whole sandbox: files are held back, other processes are not"
        }
        SandboxLevel::Not => "the kernel has no Landlock: it runs without a sandbox",
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
