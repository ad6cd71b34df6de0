//! A transport: carries requests to one server and everything that the server sends back.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use guard::process::SandboxLevel;
use mcp::{ListKind, LogMessage, Progress, ProtocolVersion, Response, RpcError};
use serde_json::Value;
use tokio::sync::{mpsc, mpsc::error::TrySendError, oneshot};

use super::DiscardedMessages;

/// A request as it goes out: its bytes, and what a transport has to know of it.
#[derive(Debug, Clone)]
pub struct EncodedRequest {
    /// Its id, which no other request of the connection has.
    pub id: u64,
    /// Its method.
    pub method: &'static str,
    /// The tool, prompt or resource that it names (`Mcp-Name`).
    pub name: Option<String>,
    /// The message.
    pub body: Bytes,
    /// More headers, where the transport has any: mirrored arguments (`Mcp-Param-…`). A value that no
    /// header can have is encoded by the transport.
    pub headers: Vec<(String, String)>,
    /// How long it may take.
    pub timeout: Duration,
}

/// A request that was sent. Dropping it cancels it.
pub trait PendingRequest: Send {
    /// The next event. After `RequestEvent::Done` there is none. Cancel-safe.
    fn next(&mut self) -> BoxFuture<'_, RequestEvent>;
}

/// An event of a request.
#[derive(Debug)]
pub enum RequestEvent {
    /// It has come further.
    Progress(Progress),
    /// The server has logged something.
    Log(LogMessage),
    /// The server asks for input and waits for it (legacy).
    InputRequest(ServerInputRequest),
    /// Its end; nothing comes after this.
    Done(Result<Response, RequestError>),
}

/// An input request of a legacy server. Dropping it responds that nobody can be asked.
#[derive(Debug)]
pub struct ServerInputRequest {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: mcp::InputMethod,
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

/// The reason why there is no response.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// The server sent an error.
    #[error("{0}")]
    Rpc(RpcError),
    /// There was no response in time.
    #[error("no response within {0} ms")]
    Timeout(u64),
    /// The server did not keep to the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The response is larger than the limit.
    #[error("the response has more than {0} bytes (max_message_bytes)")]
    TooLarge(usize),
    /// The connection was lost; the server may have executed the request.
    #[error("{0}")]
    Lost(String),
    /// The request never reached the server.
    #[error("{0}")]
    NotSent(String),
}

impl RequestError {
    pub(crate) fn timeout(timeout: Duration) -> Self {
        Self::Timeout(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
    }
}

/// An event of a connection, beside all requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// A listing may have changed.
    ListChanged(ListKind),
    /// The connection is closed, and why.
    Closed(String),
}

/// Sends the events of a connection. One that finds no room is lost except `Closed`, which is always the
/// last: whoever gets any reads all listings again.
#[derive(Debug)]
pub(crate) struct ConnectionEventSender {
    events: mpsc::Sender<ConnectionEvent>,
    closed: AtomicBool,
}

impl ConnectionEventSender {
    pub(crate) fn new(events: mpsc::Sender<ConnectionEvent>) -> Self {
        Self { events, closed: AtomicBool::new(false) }
    }

    pub(crate) fn list_changed(&self, list: ListKind) {
        // One slot is kept for the last.
        if !self.is_closed() && self.events.capacity() > 1 {
            let _ = self.events.try_send(ConnectionEvent::ListChanged(list));
        }
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Sends the last event, which is never lost.
    pub(crate) fn closed(&self, why: impl Into<String>) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        let event = ConnectionEvent::Closed(why.into());
        if let Err(TrySendError::Full(event)) = self.events.try_send(event) {
            let events = self.events.clone();
            spawn(async move {
                let _ = events.send(event).await;
            });
        }
    }
}

/// A request that could not be sent.
pub(crate) struct FailedRequest(pub(crate) Option<RequestError>);

impl PendingRequest for FailedRequest {
    fn next(&mut self) -> BoxFuture<'_, RequestEvent> {
        let error = self.0.take().unwrap_or_else(|| RequestError::NotSent("it is over".to_owned()));
        Box::pin(std::future::ready(RequestEvent::Done(Err(error))))
    }
}

/// Runs work that nobody waits for; not at all where the program is ending.
pub(crate) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(work);
    }
}

/// Carries messages to one server and back.
pub trait Transport: Send + Sync {
    /// Sends a request.
    fn send(&self, request: EncodedRequest) -> Box<dyn PendingRequest>;

    /// Sends a notification.
    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>>;

    /// Sets the protocol version that the handshake has agreed on. Headers follow it, and the
    /// notifications of the server are listened to.
    fn set_version(&self, version: ProtocolVersion);

    /// The end of the server's standard error, where it has one.
    fn stderr(&self) -> String {
        String::new()
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
