//! A call, as a door hands it to the gate, and its caller.

use std::{fmt, sync::Arc};

use contract::LimitOverrides;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::{CallChannel, JobId, RequestId, Tool, approvals::ApprovalId};

/// A call, parsed by a door and not yet checked by anybody. [`Call::new`] makes one; a setter
/// changes what differs from the usual.
#[derive(Debug)]
#[non_exhaustive]
pub struct Call {
    /// The name of the tool, or of a toolset where [`Call::or_toolset`] allows it.
    pub tool: String,
    /// True if the name may be that of a toolset: the argument `command` then picks one of its
    /// tools, and without it the default tool is called.
    pub or_toolset: bool,
    /// True if a tool is meant that is in no listing; otherwise none of those is.
    pub unlisted: bool,
    /// Only a tool of this toolset is meant.
    pub toolset: Option<Arc<str>>,
    /// The tool as the caller has seen it: where another has taken its name since, nothing is
    /// called.
    pub expected: Option<Arc<Tool>>,
    /// The arguments.
    pub input: Value,
    /// The limits that the request sets, already read and within the ceilings.
    pub limits: LimitOverrides,
    pub caller: Caller,
    /// The door that it came in by.
    pub door: Door,
    pub request_id: RequestId,
    /// The choice of calls that get a job.
    pub recording: Recording,
    /// The caller's key for "this very call, however often I send it".
    pub idempotency_key: Option<String>,
    /// The approval that the caller has for it.
    pub approval: Option<ApprovalId>,
    /// The channel between the tool and the caller while the call runs.
    pub channel: CallChannel,
    /// Fires when the caller has lost interest.
    pub stop: CancellationToken,
}

impl Call {
    /// A call of a tool by its name. Nothing is recorded of it beside the journal, unless it
    /// leaves artifacts; its limits are the tool's own.
    pub fn new(
        tool: impl Into<String>,
        input: Value,
        door: Door,
        caller: Caller,
        request_id: RequestId,
    ) -> Self {
        Self {
            tool: tool.into(),
            or_toolset: false,
            unlisted: false,
            toolset: None,
            expected: None,
            input,
            limits: LimitOverrides::default(),
            caller,
            door,
            request_id,
            recording: Recording::WhenNeeded,
            idempotency_key: None,
            approval: None,
            channel: CallChannel::default(),
            stop: CancellationToken::new(),
        }
    }

    /// Lets the name be that of a toolset.
    #[must_use]
    pub fn or_toolset(self) -> Self {
        Self { or_toolset: true, ..self }
    }

    /// Means a tool that is in no listing.
    #[must_use]
    pub fn unlisted(self) -> Self {
        Self { unlisted: true, ..self }
    }

    /// Restricts the call to a tool of this toolset.
    #[must_use]
    pub fn toolset(self, toolset: Option<Arc<str>>) -> Self {
        Self { toolset, ..self }
    }

    /// Restricts the call to this very tool.
    #[must_use]
    pub fn expecting(self, tool: Arc<Tool>) -> Self {
        Self { expected: Some(tool), ..self }
    }

    /// Sets other arguments.
    #[must_use]
    pub fn input(self, input: Value) -> Self {
        Self { input, ..self }
    }

    /// Sets the limits of the request.
    #[must_use]
    pub fn limits(self, limits: LimitOverrides) -> Self {
        Self { limits, ..self }
    }

    /// Sets another caller.
    #[must_use]
    pub fn caller(self, caller: Caller) -> Self {
        Self { caller, ..self }
    }

    /// Sets another door.
    #[must_use]
    pub fn door(self, door: Door) -> Self {
        Self { door, ..self }
    }

    /// Sets whether a job is recorded.
    #[must_use]
    pub fn recording(self, recording: Recording) -> Self {
        Self { recording, ..self }
    }

    /// Sets the idempotency key.
    #[must_use]
    pub fn idempotency_key(self, idempotency_key: Option<String>) -> Self {
        Self { idempotency_key, ..self }
    }

    /// Names the approval for this call.
    #[must_use]
    pub fn approval(self, approval: Option<ApprovalId>) -> Self {
        Self { approval, ..self }
    }

    /// Sets the channel to the caller.
    #[must_use]
    pub fn channel(self, channel: CallChannel) -> Self {
        Self { channel, ..self }
    }

    /// Sets the token that stops the call.
    #[must_use]
    pub fn stop(self, stop: CancellationToken) -> Self {
        Self { stop, ..self }
    }
}

/// The caller: a name that the journal and the limits know.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Caller(Arc<str>);

impl Caller {
    /// Somebody on this machine, where no login is asked for.
    pub fn local() -> Self {
        Self(Arc::from("local"))
    }

    /// The caller who showed the credential of that name.
    pub fn named(name: &str) -> Self {
        Self(Arc::from(name))
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
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

/// The choice whether a job is recorded for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recording {
    /// Only where it leaves artifacts, which need a job to belong to.
    WhenNeeded,
    Always,
    /// Only if it leaves artifacts or takes long, and then under an id that the door has already.
    As(JobId),
    /// The job exists already and waits for this call.
    Job(JobId),
}
