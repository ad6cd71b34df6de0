//! What a door hands to the gate.

use std::sync::Arc;

use contract::LimitOverrides;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{CallChannel, Caller, JobId, RequestId, Tool, approvals::ApprovalId};

/// A call, parsed by a door and not yet judged by anybody.
#[derive(Debug)]
pub struct Call {
    /// The name of the tool.
    pub tool: String,
    /// Only a tool of this toolset is meant.
    pub toolset: Option<Arc<str>>,
    /// The tool as the caller has judged it: where another has taken its name since, nothing is called.
    pub meant: Option<Arc<Tool>>,
    /// The arguments.
    pub input: Value,
    /// The limits that the request sets, already read and within the ceilings.
    pub limits: LimitOverrides,
    /// Who calls.
    pub caller: Caller,
    /// By which door.
    pub door: Door,
    /// The name of the request.
    pub request_id: RequestId,
    /// Whether a job is kept of it.
    pub recording: Recording,
    /// The caller's key for "this very call, however often I send it".
    pub idempotency_key: Option<String>,
    /// The approval that the caller has for it.
    pub approval: Option<ApprovalId>,
    /// What passes between the tool and the caller while it runs.
    pub channel: CallChannel,
    /// Fires when the caller has lost interest.
    pub stop: CancellationToken,
}

/// A way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `POST /v1/tools/{tool}`, `POST /v1/tools/execute`.
    Rest,
    /// `POST /v1/jobs`.
    Jobs,
    /// `toolgate call`.
    Cli,
    /// MCP over HTTP.
    McpHttp,
    /// MCP on stdin and stdout.
    McpStdio,
    /// `toolgate ask`, `POST /v1/ask`.
    Ask,
}

impl Door {
    /// The word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            Door::Rest => "rest",
            Door::Jobs => "jobs",
            Door::Cli => "cli",
            Door::McpHttp => "mcp_http",
            Door::McpStdio => "mcp_stdio",
            Door::Ask => "ask",
        }
    }
}

/// Whether a job is kept of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recording {
    /// Only where it leaves artifacts, which need a job to hang on.
    WhenNeeded,
    /// Always.
    Always,
    /// Where it leaves artifacts or takes long, and then under a name that the door has already.
    As(JobId),
    /// The job exists already and waits for this call.
    Job(JobId),
}
