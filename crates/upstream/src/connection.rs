//! A connection to one MCP server.
//!
//! A [`Transport`] carries messages: the pipes of a program (`stdio`), or HTTP (`http`). [`connect()`]
//! does the handshake, which finds out the protocol version; a [`Connection`] then sends requests in it.
//! A request is a future of its response; dropping it cancels the request.
//!
//! - `connect` and `handshake`: how a connection begins. `events`: what it tells beside requests.
//! - `listing`: all pages of a listing. `subscription`: notifications of a modern server.
//! - `incoming`: the messages of a server. `request_table`: the requests that they belong to.
//! - `discarded`: messages that could not be used.

mod connect;
mod discarded;
mod events;
mod handshake;
mod http;
mod incoming;
mod listing;
mod request_table;
mod stdio;
mod subscription;
mod target;

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use guard::process::SandboxLevel;
use mcp::{
    Id, InputMethod, LogMessage, Progress, ProtocolVersion, Request, Response, RpcError,
    params::{CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN, PROTOCOL_VERSION},
};
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};

use self::subscription::Subscription;
pub use self::{
    connect::{ConnectError, ConnectOptions, ServerOutput, connect},
    discarded::DiscardedMessages,
    events::ConnectionEvent,
    handshake::ServerDescription,
    listing::Listing,
    target::{ConnectionLimits, Endpoint, HttpTransport, Program, ProtocolChoice, Target},
};
use crate::ServerText;

/// The largest part of a response that is not a message that is kept, in bytes.
const MAX_MALFORMED_BYTES: usize = 1 << 20;

#[derive(Debug, Clone)]
pub struct RequestOptions<'a> {
    /// The tool, prompt or resource that it names.
    pub name: Option<&'a str>,
    /// More headers, for a transport that has any.
    pub headers: Vec<(String, String)>,
    /// The time that it may take. Time in which the server waits for input does not count.
    pub timeout: Duration,
    /// The largest response to this request, in bytes; never more than `max_message_bytes`.
    pub max_response_bytes: usize,
    /// True if progress is wanted.
    pub wants_progress: bool,
    /// The least level of log messages that is wanted (modern).
    pub log_level: Option<&'a str>,
    /// The client's capabilities for this request, as JSON text, where they differ from those of the
    /// connection (modern).
    pub capabilities: Option<&'a str>,
    /// Gets the messages before the response. One that finds no room is dropped; without a receiver all
    /// are.
    pub interim: Option<mpsc::Sender<InterimMessage>>,
}

impl RequestOptions<'_> {
    /// A request that names nothing, and of which only the response is wanted.
    pub fn new(timeout: Duration) -> Self {
        Self {
            name: None,
            headers: Vec::new(),
            timeout,
            max_response_bytes: usize::MAX,
            wants_progress: false,
            log_level: None,
            capabilities: None,
            interim: None,
        }
    }
}

/// The response to a request that was sent. Dropping it cancels the request.
pub type ResponseFuture = BoxFuture<'static, Result<Response, RequestError>>;

/// A message of the server before its response to a request.
#[derive(Debug)]
pub enum InterimMessage {
    /// The request has come further.
    Progress(Progress),
    /// The server has logged something.
    Log(LogMessage),
    /// The server asks for input and waits for it (legacy).
    InputRequest(ServerInputRequest),
}

/// An input request of a legacy server. Dropping it responds that nobody can be asked.
#[derive(Debug)]
pub struct ServerInputRequest {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: InputMethod,
    /// Its parameters.
    pub params: Value,
    pub(crate) response: oneshot::Sender<Value>,
}

impl ServerInputRequest {
    /// Responds with this `result`.
    pub fn respond(self, result: Value) {
        let _ = self.response.send(result);
    }
}

/// The reason why there is no response. It quotes the server: printed, it is for people.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// The server sent an error.
    #[error("{}", ServerText::new(&.0.to_string()))]
    Rpc(RpcError),
    /// There was no response in time.
    #[error("no response within {0} ms")]
    Timeout(u64),
    /// The server did not keep to the protocol.
    #[error("{}", ServerText::new(.0))]
    Protocol(String),
    /// The response is not a message: not UTF-8, or not JSON.
    #[error("{}", ServerText::new(.reason))]
    Malformed {
        /// What the server sent, as far as it is text.
        text: String,
        reason: String,
    },
    /// The response is larger than the limit.
    #[error("the response has more than {0} bytes (max_message_bytes)")]
    TooLarge(usize),
    /// The connection was lost; the server may have executed the request.
    #[error("{}", ServerText::new(.0))]
    Lost(String),
    /// The request never reached the server.
    #[error("{}", ServerText::new(.0))]
    NotSent(String),
}

impl RequestError {
    pub(crate) fn timeout(timeout: Duration) -> Self {
        Self::Timeout(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }

    /// The error for a response that is not a message.
    pub(crate) fn malformed(response: &[u8], why: &RpcError) -> Self {
        let text = ServerText::new(&String::from_utf8_lossy(response)).within(MAX_MALFORMED_BYTES);
        Self::Malformed {
            text: text.for_programs().to_owned(),
            reason: format!("the response is not a JSON-RPC message: {}", why.message),
        }
    }
}

/// Carries messages to one server and back.
pub trait Transport: Send + Sync {
    /// Sends a request, encoded as a message. No other request of the connection has its id.
    fn send(
        &self,
        id: u64,
        method: &'static str,
        message: Bytes,
        options: RequestOptions<'_>,
    ) -> ResponseFuture;

    /// Sends a notification.
    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>>;

    /// Sets the protocol version that the handshake has agreed on. Headers follow it, and the
    /// notifications of the server are listened to.
    fn set_version(&self, version: ProtocolVersion);

    /// The end of the server's standard error, where it has one.
    fn stderr(&self) -> ServerText {
        ServerText::default()
    }

    /// The messages of the server that could not be used.
    fn discarded(&self) -> DiscardedMessages;

    /// The sandbox that a program runs in; nothing where none was asked for.
    fn sandbox(&self) -> Option<SandboxLevel> {
        None
    }

    /// Closes the connection: as the protocol wants it where there is time, and in any case.
    fn close(&self) -> BoxFuture<'_, ()>;
}

/// Runs work that nobody waits for; not at all where the program is ending.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(work);
    }
}

/// The `_meta` of every request: the client's description in modern MCP, nothing in legacy MCP. Printed
/// once.
#[derive(Debug)]
pub(crate) struct MetaFields {
    /// Version and client, without the capabilities.
    client: Option<String>,
    capabilities: String,
}

impl MetaFields {
    pub(crate) fn legacy() -> Self {
        Self { client: None, capabilities: String::new() }
    }

    pub(crate) fn modern(client: &Value, capabilities: &Value) -> Self {
        let version = ProtocolVersion::NEWEST_MODERN;
        let client = format!(r#""{PROTOCOL_VERSION}":"{version}","{CLIENT_INFO}":{client}"#);
        Self { client: Some(client), capabilities: capabilities.to_string() }
    }

    /// The message.
    fn encode(&self, id: u64, method: &str, params: &str, options: &RequestOptions<'_>) -> Vec<u8> {
        let capabilities = self.client.as_ref().map(|_| {
            let capabilities = options.capabilities.unwrap_or(&self.capabilities);
            format!(r#""{CLIENT_CAPABILITIES}":{capabilities}"#)
        });
        let level = options.log_level.filter(|_| self.client.is_some());
        let level = level.map(|level| format!(r#""{LOG_LEVEL}":{}"#, json!(level)));
        let token = options.wants_progress.then(|| format!(r#""{PROGRESS_TOKEN}":{id}"#));
        let fields = [&self.client, &capabilities, &level, &token];
        let fields: Vec<&str> = fields.into_iter().flatten().map(String::as_str).collect();
        let request = Request { id: Id::Number(id), method: method.into(), params: Some(params) };
        request.encode(&fields)
    }
}

/// Sends requests over a transport and numbers them.
#[derive(Clone)]
pub(crate) struct ConnectionSender {
    transport: Arc<dyn Transport>,
    last_id: Arc<AtomicU64>,
}

impl ConnectionSender {
    pub(crate) fn new(transport: Arc<dyn Transport>) -> Self {
        Self { transport, last_id: Arc::new(AtomicU64::new(0)) }
    }

    pub(crate) fn transport(&self) -> &dyn Transport {
        &*self.transport
    }

    pub(crate) fn request(
        &self,
        method: &'static str,
        params: &str,
        options: RequestOptions<'_>,
        meta: &MetaFields,
    ) -> ResponseFuture {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let message = meta.encode(id, method, params, &options).into();
        self.transport.send(id, method, message, options)
    }
}

/// A connection to a server. Cheap to clone; it ends with the last clone and the last request.
#[derive(Clone)]
pub struct Connection {
    shared: Arc<ConnectionState>,
}

struct ConnectionState {
    sender: ConnectionSender,
    server: ServerDescription,
    meta: Arc<MetaFields>,
    limits: ConnectionLimits,
    events: Mutex<Option<mpsc::Receiver<ConnectionEvent>>>,
    subscription: Option<Subscription>,
}

impl Connection {
    pub(crate) fn new(
        sender: ConnectionSender,
        server: ServerDescription,
        meta: MetaFields,
        limits: ConnectionLimits,
        (event_sender, events): (mpsc::Sender<ConnectionEvent>, mpsc::Receiver<ConnectionEvent>),
    ) -> Connection {
        let meta = Arc::new(meta);
        let subscription = Subscription::begin(&sender, &server, &meta, event_sender);
        let events = Mutex::new(Some(events));
        let shared = ConnectionState { sender, server, meta, limits, events, subscription };
        Connection { shared: Arc::new(shared) }
    }

    /// The server as it describes itself.
    pub fn server(&self) -> &ServerDescription {
        &self.shared.server
    }

    pub fn limits(&self) -> &ConnectionLimits {
        &self.shared.limits
    }

    /// Sends a request. Its parameters are the text of a JSON object without `_meta`, which is sent as it
    /// is.
    pub fn request(
        &self,
        method: &'static str,
        params: &str,
        options: RequestOptions<'_>,
    ) -> ResponseFuture {
        self.shared.sender.request(method, params, options, &self.shared.meta)
    }

    /// The events beside requests. Only the first caller gets them.
    pub fn events(&self) -> Option<mpsc::Receiver<ConnectionEvent>> {
        self.shared.events.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The end of the server's standard error.
    pub fn stderr(&self) -> ServerText {
        self.shared.sender.transport.stderr()
    }

    /// The messages of the server that could not be used.
    pub fn discarded(&self) -> DiscardedMessages {
        self.shared.sender.transport.discarded()
    }

    /// The sandbox that the server runs in; nothing where none was asked for.
    pub fn sandbox(&self) -> Option<SandboxLevel> {
        self.shared.sender.transport.sandbox()
    }

    /// Closes it, and waits until nothing of it is left. Running requests are lost.
    pub async fn close(&self) {
        if let Some(subscription) = &self.shared.subscription {
            subscription.stop();
        }
        self.shared.sender.transport.close().await;
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Connection")
            .field("server", &self.shared.server)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(meta: &MetaFields, params: &str, options: &RequestOptions<'_>) -> String {
        String::from_utf8(meta.encode(7, "tools/call", params, options)).unwrap()
    }

    #[test]
    fn each_protocol_version_has_its_own_meta() {
        let plain = RequestOptions::new(Duration::from_secs(1));
        let followed = RequestOptions {
            wants_progress: true,
            log_level: Some("info"),
            capabilities: Some(r#"{"sampling":{}}"#),
            ..plain.clone()
        };
        let (none, name) = ("{}", r#"{"name":"x"}"#);
        let legacy = MetaFields::legacy();
        assert_eq!(
            encoded(&legacy, none, &plain),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{}}"#
        );
        assert_eq!(
            encoded(&legacy, name, &followed),
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"_meta":{"progressToken":7},"name":"x"}}"#
        );
        let modern = MetaFields::modern(&json!({ "name": "toolgate" }), &json!({ "roots": {} }));
        let message: Value = serde_json::from_str(&encoded(&modern, none, &plain)).unwrap();
        assert_eq!(
            message["params"]["_meta"],
            json!({
                PROTOCOL_VERSION: "2026-07-28",
                CLIENT_INFO: { "name": "toolgate" },
                CLIENT_CAPABILITIES: { "roots": {} },
            })
        );
        let message: Value = serde_json::from_str(&encoded(&modern, name, &followed)).unwrap();
        let meta = &message["params"]["_meta"];
        assert_eq!(meta[CLIENT_CAPABILITIES], json!({ "sampling": {} }));
        assert_eq!((&meta[LOG_LEVEL], &meta["progressToken"]), (&json!("info"), &json!(7)));
        assert_eq!(message["params"]["name"], "x");
    }
}
