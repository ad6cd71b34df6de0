//! The context of a request: its client, its scope, and the way back to the client.

use std::sync::Arc;

use axum::http::HeaderMap;
use bytes::Bytes;
use gate::{Caller, Door, InputCapabilities, LogLevel, RequestId};
use mcp::{
    ClientCapabilities, ProtocolVersion, Response, RpcError,
    params::{RequestMeta, SERVER_INFO, string},
};
use serde_json::{Map, Value, json, value::RawValue};
use tokio::{sync::mpsc, task::JoinError};
use tokio_util::sync::CancellationToken;

use super::{Library, session::Session};
use crate::App;

/// The outcome of a method.
pub(crate) type RpcResult = Result<Response, RpcError>;

/// The outcome of a method that runs as a task of its own.
pub(crate) fn joined(outcome: Result<RpcResult, JoinError>) -> RpcResult {
    outcome.unwrap_or_else(|_| Err(RpcError::internal("the call ended without a response")))
}

/// The error of a request that needs the store when that fails. Why is for the operator.
pub(crate) fn store_failed(error: &dyn std::fmt::Display) -> RpcError {
    tracing::error!(%error, "the store failed");
    RpcError::internal("the store cannot be reached now")
}

/// Everything about a request but its method and parameters.
#[derive(Clone)]
pub(crate) struct McpContext {
    pub app: Arc<App>,
    pub client: Client,
    /// The toolset that this door leads to; all where there is none.
    pub scope: Scope,
    pub caller: Caller,
    pub request_id: RequestId,
    pub door: Door,
    /// Fires when the client has cancelled the request.
    pub stop: CancellationToken,
    /// Sends messages before the response.
    pub messages: Option<MessageSender>,
    /// The session of a legacy client.
    pub session: Option<Arc<Session>>,
    /// The id of the request, for `subscriptions/listen`.
    pub subscription: Option<Value>,
    /// The HTTP headers of a modern request: they repeat arguments of the call.
    pub headers: Option<HeaderMap>,
}

/// A toolset, or everything.
pub(crate) type Scope = Option<Arc<str>>;

impl McpContext {
    /// The prompts and resources that this door leads to.
    pub(crate) fn library(&self) -> Arc<dyn Library> {
        library(&self.app, &self.scope)
    }

    /// Our name and version, as JSON text.
    pub(crate) fn server_info(&self) -> String {
        server_info(&self.app, &self.scope)
    }

    /// True if the client is trusted to ask its person for an approval.
    pub(crate) fn may_approve(&self) -> bool {
        let settings = &self.app.settings.mcp;
        match self.door {
            Door::McpStdio => settings.stdio_may_approve,
            _ => settings.http_may_approve,
        }
    }

    /// A complete result in the form that the client's protocol version wants.
    pub(crate) fn complete(&self, mut result: Map<String, Value>) -> Response {
        if self.client.is_modern() {
            result.entry("resultType").or_insert_with(|| json!("complete"));
            let info: Value = serde_json::from_str(&self.server_info()).unwrap_or_default();
            let meta = result.entry("_meta").or_insert_with(|| json!({}));
            if let Some(meta) = meta.as_object_mut() {
                meta.insert(SERVER_INFO.into(), info);
            }
        }
        serde_json::to_vec(&result).unwrap_or_default().into()
    }

    /// A result that a modern client may keep for a while.
    pub(crate) fn cacheable(&self, result: Map<String, Value>) -> Response {
        self.complete(self.cacheable_fields(result))
    }

    /// The same fields, and those that say how long it may be kept.
    pub(crate) fn cacheable_fields(&self, mut result: Map<String, Value>) -> Map<String, Value> {
        if self.client.is_modern() {
            let (ttl, scope) = self.cache_hints();
            result.entry("ttlMs").or_insert_with(|| json!(ttl));
            result.insert("cacheScope".into(), json!(scope));
        }
        result
    }

    /// The milliseconds for which a listing may be kept, and by whom.
    pub(crate) fn cache_hints(&self) -> (u64, &'static str) {
        let settings = &self.app.settings;
        let ttl = u64::try_from(settings.mcp.list_ttl.as_millis()).unwrap_or(u64::MAX);
        (ttl, if settings.tokens.is_empty() { "public" } else { "private" })
    }
}

/// The prompts and resources that the door to this scope leads to.
pub(crate) fn library(app: &App, scope: &Scope) -> Arc<dyn Library> {
    match scope {
        None => app.library.clone(),
        Some(toolset) => app.library.within(toolset),
    }
}

/// Our name at the door to this scope, and our version, as JSON text. The name of a toolset needs no escaping.
pub(crate) fn server_info(app: &App, scope: &Scope) -> String {
    let name = scope.as_deref().unwrap_or("toolgate");
    format!(r#"{{"name":"{name}","version":"{}"}}"#, app.settings.version)
}

/// The client of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    pub version: ProtocolVersion,
    /// The input requests that it can answer.
    pub capabilities: InputCapabilities,
    /// True if it can be handed a task.
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

pub(crate) fn log_level(raw: &RawValue) -> Result<LogLevel, RpcError> {
    let word = string(raw, "level")?;
    LogLevel::parse(&word).ok_or_else(|| {
        let words: Vec<_> = LogLevel::ALL.iter().map(|level| level.word()).collect();
        RpcError::invalid_params(format!("the level is one of {}", words.join(", ")))
    })
}

/// Sends messages to a client while its request has no response yet.
#[derive(Debug, Clone)]
pub(crate) struct MessageSender(mpsc::Sender<Bytes>);

/// The number of messages that may wait for a client to take them.
const MAX_WAITING: usize = 32;

impl MessageSender {
    pub(crate) fn channel() -> (Self, mpsc::Receiver<Bytes>) {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        (Self(sender), receiver)
    }

    /// Sends a message that must arrive; false if the client is gone.
    pub(crate) async fn send(&self, message: Vec<u8>) -> bool {
        self.0.send(message.into()).await.is_ok()
    }

    /// Sends a message unless too many wait: a client that does not read is not waited for.
    pub(crate) fn offer(&self, message: Vec<u8>) {
        let _ = self.0.try_send(message.into());
    }

    /// Waits until there is room: what is large is made when it can be taken.
    pub(crate) async fn ready(&self) {
        let _ = self.0.reserve().await;
    }

    /// Waits until nobody reads any more.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}
