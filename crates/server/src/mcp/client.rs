//! The client of a request: its protocol version, its capabilities, its log level.

use gate::{InputCapabilities, LogLevel};
use mcp::{
    ClientCapabilities, ProtocolVersion, RpcError,
    params::{RequestMeta, string},
};
use serde_json::value::RawValue;

/// The client of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub version: ProtocolVersion,
    /// The input requests that it can answer.
    pub capabilities: InputCapabilities,
    /// Whether it can be handed a task.
    pub tasks: bool,
    /// The least level of a tool's log that it wants.
    pub log_level: Option<LogLevel>,
}

impl Client {
    /// The client as the `_meta` of a modern request describes it.
    pub(crate) fn modern(meta: &RequestMeta<'_>) -> Result<Self, RpcError> {
        let (version, capabilities) = meta.version_and_capabilities()?;
        let capabilities = ClientCapabilities::read(capabilities)?;
        let log_level = meta.log_level.map(log_level).transpose()?;
        Ok(Self { log_level, ..Self::new(version, capabilities) })
    }

    /// A client that wants no log.
    pub(crate) fn new(version: ProtocolVersion, can: ClientCapabilities) -> Self {
        let ClientCapabilities { elicitation, sampling, roots, tasks } = can;
        let capabilities = InputCapabilities { elicitation, sampling, roots };
        Self { version, capabilities, tasks, log_level: None }
    }

    pub(crate) fn is_modern(self) -> bool {
        self.version.is_modern()
    }
}

/// A log level.
pub(crate) fn log_level(raw: &RawValue) -> Result<LogLevel, RpcError> {
    let word = string(raw, "level")?;
    LogLevel::parse(&word).ok_or_else(|| {
        let words: Vec<_> = LogLevel::ALL.iter().map(|level| level.word()).collect();
        RpcError::invalid_params(format!("the level is one of {}", words.join(", ")))
    })
}
