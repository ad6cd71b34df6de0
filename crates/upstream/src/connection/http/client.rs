//! The HTTP client of one server: what is posted and asked for, in which headers and which session.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use guard::net::{
    HeaderMap, HeaderName, HeaderValue, Method, NetError, NetErrorReason, ResponseBody,
    ServiceClient, ServiceHeaders, ServiceRequest, ServiceResponse, ServiceSettings, header,
};
use mcp::{Message, ProtocolVersion, Response, header as mcp_header};
use tokio::sync::{Notify, Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use super::rejection::{self, HttpRejection};
use crate::connection::{
    ConnectionEvent, ConnectionLimits, Endpoint, HttpTransport, RequestError, RequestOptions,
    discarded::DiscardCounter,
    events::ConnectionEventSender,
    incoming::{self, IncomingMessage},
    request_table::RequestTable,
    spawn,
};

const PROTOCOL_VERSION: HeaderName = HeaderName::from_static(mcp_header::PROTOCOL_VERSION);
const SESSION_ID: HeaderName = HeaderName::from_static(mcp_header::SESSION_ID);
const LAST_EVENT_ID: HeaderName = HeaderName::from_static(mcp_header::LAST_EVENT_ID);
const METHOD: HeaderName = HeaderName::from_static(mcp_header::METHOD);
const NAME: HeaderName = HeaderName::from_static(mcp_header::NAME);

/// The longest id of a session, in bytes.
const MAX_SESSION_ID_BYTES: usize = 4_096;
/// The number of messages on their way to a server that nobody waits for. One more is not sent: a
/// server that sends much and takes nothing would otherwise get as many connections.
const MAX_UNAWAITED: usize = 16;
/// The time that it may take to end a session.
const DELETE_TIMEOUT: Duration = Duration::from_secs(5);

/// Requests that can be sent twice without doing anything twice. Where a kept connection was closed at
/// the moment of its use, nobody knows whether the server has got the request.
const REPEATABLE: [&str; 7] = [
    "server/discover",
    "ping",
    "tools/list",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "subscriptions/listen",
];

/// The HTTP client of one server.
pub(super) struct McpHttpClient {
    pub(super) service: ServiceClient,
    pub(super) transport: HttpTransport,
    pub(super) max_bytes: usize,
    pub(super) connect_timeout: Duration,
    pub(super) request_timeout: Duration,
    pub(super) events: ConnectionEventSender,
    pub(super) discarded: DiscardCounter,
    /// The requests that messages beside their own response streams may belong to.
    pub(super) requests: RequestTable,
    /// Fires when the server knows that we are ready (legacy).
    pub(super) initialized: Notify,
    /// True if the server has a stream of notifications, as far as we know.
    pub(super) listening: AtomicBool,
    pub(super) stop: CancellationToken,
    unawaited: Arc<Semaphore>,
    negotiated: ArcSwap<Negotiated>,
}

/// The state of the negotiation with the server.
#[derive(Clone)]
pub(super) struct Negotiated {
    /// The protocol version; nothing before the handshake.
    pub(super) version: Option<ProtocolVersion>,
    /// True if the server has given us a session.
    pub(super) has_session: bool,
    /// The headers of every request.
    pub(super) headers: ServiceHeaders,
}

impl Negotiated {
    pub(super) fn is_modern(&self) -> bool {
        self.version.is_some_and(ProtocolVersion::is_modern)
    }
}

impl McpHttpClient {
    pub(super) fn new(
        endpoint: &Endpoint,
        limits: &ConnectionLimits,
        events: mpsc::Sender<ConnectionEvent>,
    ) -> Result<Self, String> {
        let settings = ServiceSettings {
            connect_timeout: limits.connect_timeout,
            extra_ca: endpoint.extra_ca.clone(),
            ..ServiceSettings::default()
        };
        let service = ServiceClient::new(&endpoint.url, &endpoint.headers, &settings)
            .map_err(|error| error.to_string())?;
        let mut headers = service.headers().clone();
        let accept = HeaderValue::from_static("application/json, text/event-stream");
        headers.set(header::ACCEPT, accept);
        headers.set(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        let negotiated = Negotiated { version: None, has_session: false, headers };
        Ok(Self {
            service,
            transport: endpoint.transport,
            max_bytes: limits.max_message_bytes,
            connect_timeout: limits.connect_timeout,
            request_timeout: limits.request_timeout,
            events: ConnectionEventSender::new(events),
            discarded: DiscardCounter::default(),
            requests: RequestTable::default(),
            initialized: Notify::new(),
            listening: AtomicBool::new(false),
            stop: CancellationToken::new(),
            unawaited: Arc::new(Semaphore::new(MAX_UNAWAITED)),
            negotiated: ArcSwap::from_pointee(negotiated),
        })
    }

    pub(super) fn negotiated(&self) -> Arc<Negotiated> {
        self.negotiated.load_full()
    }

    /// Takes over the session that the response to `initialize` may name.
    pub(super) fn set_session(&self, headers: &HeaderMap) {
        let Some(session) = headers.get(&SESSION_ID) else { return };
        if session.len() > MAX_SESSION_ID_BYTES || session.is_empty() {
            return;
        }
        let mut session = session.clone();
        // Whoever knows it can act in our name.
        session.set_sensitive(true);
        let mut negotiated = Negotiated::clone(&self.negotiated());
        negotiated.headers.set(SESSION_ID, session);
        negotiated.has_session = true;
        self.negotiated.store(Arc::new(negotiated));
    }

    pub(super) fn set_version(&self, version: ProtocolVersion) {
        let mut negotiated = Negotiated::clone(&self.negotiated());
        negotiated.version = Some(version);
        negotiated.headers.set(PROTOCOL_VERSION, HeaderValue::from_static(version.as_str()));
        self.negotiated.store(Arc::new(negotiated));
    }

    /// Sends a message that has no response.
    pub(super) async fn notify(
        &self,
        service: &ServiceClient,
        message: Bytes,
    ) -> Result<(), String> {
        let negotiated = self.negotiated();
        let extra = match Message::read(&message) {
            Ok(Message::Notification { method, .. }) if negotiated.is_modern() => {
                vec![(METHOD, header_value(&method)?)]
            }
            _ => Vec::new(),
        };
        let response = self.post(service, &negotiated, &extra, message, self.request_timeout);
        let response = response.await.map_err(|error| error.message)?;
        if response.status.is_success() {
            response.body.leave();
            return Ok(());
        }
        let rejection = HttpRejection::read(response).await;
        if negotiated.has_session && rejection.ends_session() {
            self.session_ended();
        }
        Err(rejection.into_error().to_string())
    }

    /// Sends a message that has no response and that nobody waits for.
    pub(super) fn notify_later(self: &Arc<Self>, service: &ServiceClient, message: Bytes) {
        let Ok(slot) = self.unawaited.clone().try_acquire_owned() else {
            tracing::debug!("an MCP server is slow to accept messages; one is not sent");
            return;
        };
        let (client, service) = (self.clone(), service.clone());
        spawn(async move {
            let _slot = slot;
            if let Err(error) = client.notify(&service, message).await {
                tracing::debug!(error, "an MCP server did not accept a message");
            }
        });
    }

    /// Posts a message.
    pub(super) async fn post(
        &self,
        service: &ServiceClient,
        negotiated: &Negotiated,
        extra: &[(HeaderName, HeaderValue)],
        body: Bytes,
        timeout: Duration,
    ) -> Result<ServiceResponse, NetError> {
        let headers = &negotiated.headers;
        let request = ServiceRequest { method: Method::POST, headers, extra, body, timeout };
        service.send(&request).await
    }

    /// Posts a request, and reads its response unless that is a stream.
    pub(super) async fn post_request(
        &self,
        id: u64,
        method: &str,
        headers: &[(HeaderName, HeaderValue)],
        message: Bytes,
        timeout: Duration,
        max_bytes: usize,
    ) -> Result<PostResult, PostError> {
        let negotiated = self.negotiated();
        let mut may_repeat = REPEATABLE.contains(&method);
        let response = loop {
            let post = self.post(&self.service, &negotiated, headers, message.clone(), timeout);
            match post.await {
                Err(NetError { reason: NetErrorReason::Stale, .. }) if may_repeat => {
                    may_repeat = false;
                }
                response => break response,
            }
        };
        let network = |error| rejection::network_error(error, timeout, max_bytes);
        let response = response.map_err(network)?;
        if !response.status.is_success() {
            return Err(Box::pin(self.rejected(&negotiated, method, response)).await);
        }
        if method == "initialize" {
            self.set_session(&response.headers);
        }
        match content_type(&response.headers) {
            ContentType::Json => {
                let body = response.body.read_all(max_bytes).await.map_err(network)?;
                Ok(PostResult::Complete(self.response_in(&body, id)?))
            }
            ContentType::EventStream => Ok(PostResult::Stream(response.body)),
            ContentType::Other => {
                let error = rejection::wrong_type(response.status, &response.headers);
                response.body.leave();
                Err(error.into())
            }
        }
    }

    /// The response that a body holds.
    fn response_in(&self, body: &Bytes, id: u64) -> Result<Response, RequestError> {
        let no_response =
            || RequestError::Protocol("the body has no response to this request".to_owned());
        if mcp::is_batch(body) {
            // Only 2025-03-26. Its other messages have no listener here.
            let mut found = None;
            incoming::for_each(body, &self.discarded, |message| match message {
                IncomingMessage::Response(given, outcome) if given == Some(id) => {
                    found = Some(outcome);
                }
                _ => {}
            });
            return found.unwrap_or_else(|| Err(no_response()));
        }
        match Message::read(body) {
            Ok(Message::Response { id: given, result }) => match given.and_then(|id| id.number()) {
                Some(given) if given == id => {
                    Response::read(body, result).map_err(RequestError::Rpc)
                }
                // Some cannot say whose error it is; it is nobody else's.
                None if result.is_err() => Response::read(body, result).map_err(RequestError::Rpc),
                _ => Err(RequestError::Protocol(
                    "the response has the id of another request".to_owned(),
                )),
            },
            Ok(Message::Request(_) | Message::Notification { .. }) => Err(no_response()),
            Err(malformed) => Err(RequestError::malformed(body, &malformed.error)),
        }
    }

    async fn rejected(
        &self,
        negotiated: &Negotiated,
        method: &str,
        response: ServiceResponse,
    ) -> PostError {
        let rejection = HttpRejection::read(response).await;
        if negotiated.has_session && rejection.ends_session() {
            self.session_ended();
            let error = if rejection.is_not_executed() {
                let message = "the server has ended the session and did not execute the request";
                RequestError::NotSent(message.to_owned())
            } else {
                RequestError::Lost("the server has ended the session".to_owned())
            };
            return error.into();
        }
        let may_switch = self.transport == HttpTransport::Auto && method == "initialize";
        if may_switch && rejection.is_not_streamable() {
            return PostError::NotStreamable(rejection.into_error());
        }
        rejection.into_error().into()
    }

    /// Asks for an event stream, from the event on that was received last.
    pub(super) async fn get(
        &self,
        last_event_id: Option<&str>,
        timeout: Duration,
    ) -> Result<ServiceResponse, NetError> {
        let mut headers = self.negotiated().headers.clone();
        headers.set(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.unset(&header::CONTENT_TYPE);
        let last = last_event_id.and_then(|id| HeaderValue::from_str(id).ok());
        let extra: Vec<_> = last.map(|id| (LAST_EVENT_ID, id)).into_iter().collect();
        let request = ServiceRequest {
            method: Method::GET,
            headers: &headers,
            extra: &extra,
            body: Bytes::new(),
            timeout,
        };
        self.service.send(&request).await
    }

    /// The server does not know our session any more.
    pub(super) fn session_ended(&self) {
        self.stop.cancel();
        self.events.closed("the server has ended the session");
    }

    /// Ends the session, where there is one, and closes all connections.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        let negotiated = self.negotiated();
        if negotiated.has_session && !self.events.is_closed() {
            let request = ServiceRequest {
                method: Method::DELETE,
                headers: &negotiated.headers,
                extra: &[],
                body: Bytes::new(),
                timeout: DELETE_TIMEOUT.min(self.connect_timeout),
            };
            // A server need not allow it; the session will expire.
            let _ = self.service.send(&request).await;
        }
        self.service.close();
    }
}

/// The reason why a request got no response by streamable HTTP.
pub(super) enum PostError {
    Error(RequestError),
    /// The server does not know streamable HTTP, as far as can be seen. This is the error otherwise.
    NotStreamable(RequestError),
}

impl From<RequestError> for PostError {
    fn from(error: RequestError) -> Self {
        Self::Error(error)
    }
}

/// The body of a response with a status of success.
pub(super) enum PostResult {
    Complete(Response),
    Stream(ResponseBody),
}

/// The content type of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContentType {
    Json,
    EventStream,
    Other,
}

/// The content type that the headers name.
pub(super) fn content_type(headers: &HeaderMap) -> ContentType {
    let Some(value) = headers.get(header::CONTENT_TYPE) else { return ContentType::Other };
    let media_type = value.as_bytes().split(|byte| *byte == b';').next().unwrap_or_default();
    let media_type = media_type.trim_ascii();
    if media_type.eq_ignore_ascii_case(b"application/json") {
        ContentType::Json
    } else if media_type.eq_ignore_ascii_case(b"text/event-stream") {
        ContentType::EventStream
    } else {
        ContentType::Other
    }
}

/// Says whether a response is an event stream that can be read.
pub(super) fn is_event_stream(response: &ServiceResponse) -> bool {
    response.status.is_success() && content_type(&response.headers) == ContentType::EventStream
}

/// The headers of one request beside those of all.
pub(super) fn request_headers(
    method: &'static str,
    options: &RequestOptions<'_>,
    version: Option<ProtocolVersion>,
) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let mut headers = Vec::with_capacity(2 + options.headers.len());
    let is_modern = match version {
        Some(version) => version.is_modern(),
        // The handshake begins with a modern request, or opens a session.
        None => method != "initialize",
    };
    if is_modern {
        if version.is_none() {
            let newest = HeaderValue::from_static(ProtocolVersion::NEWEST_MODERN.as_str());
            headers.push((PROTOCOL_VERSION, newest));
        }
        headers.push((METHOD, HeaderValue::from_static(method)));
        if let Some(name) = options.name {
            headers.push((NAME, header_value(name)?));
        }
    }
    for (name, text) in &options.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}`, which mirrors an argument, is not a header name"))?;
        headers.push((name, header_value(text)?));
    }
    Ok(headers)
}

fn header_value(text: &str) -> Result<HeaderValue, String> {
    HeaderValue::from_str(&mcp_header::encode(text))
        .map_err(|_| "a name or an argument is too large for a header".to_owned())
}
