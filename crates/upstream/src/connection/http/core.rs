//! What all messages to one server share.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arc_swap::ArcSwap;
use bytes::Bytes;
use guard::net::{
    HeaderMap, HeaderName, HeaderValue, Method, NetError, ServiceClient, ServiceHeaders,
    ServiceRequest, ServiceResponse, ServiceSettings, header,
};
use tokio::sync::{Notify, Semaphore, mpsc::error::TrySendError};
use tokio_util::sync::CancellationToken;

use super::{head, odd::Odd, refusal::Refusal, running::Running};
use crate::connection::{
    Endpoint, Era, Event, Events, HttpKind, Limits,
    incoming::{self, Incoming},
};

/// The longest id of a session, in bytes.
const MAX_SESSION_BYTES: usize = 4_096;
/// How many messages that nobody waits for may be on their way to a server. One more is not sent: a
/// server that says much and takes nothing would otherwise have as many connections of us.
const MAX_TOLD_LATER: usize = 16;
/// How long it may take to tell a server that we go.
const FAREWELL: Duration = Duration::from_secs(5);

/// What all messages to one server share.
pub(super) struct Core {
    pub(super) service: ServiceClient,
    pub(super) kind: HttpKind,
    pub(super) max_bytes: usize,
    pub(super) connect_timeout: Duration,
    pub(super) request_timeout: Duration,
    pub(super) teller: Teller,
    pub(super) odd: Odd,
    /// The requests that may be spoken of beside their own answers.
    pub(super) running: Running,
    /// Told when the server knows that we are ready (legacy era).
    pub(super) ready: Notify,
    /// Whether the server has a stream beside requests, as far as we know.
    pub(super) listening: AtomicBool,
    pub(super) stop: CancellationToken,
    telling: Arc<Semaphore>,
    manner: ArcSwap<Manner>,
}

/// How messages are sent, at this time.
#[derive(Clone)]
pub(super) struct Manner {
    /// Nothing until it was found out.
    pub(super) era: Option<Era>,
    /// Whether the server has given us a session.
    pub(super) session: bool,
    pub(super) headers: ServiceHeaders,
}

impl Core {
    pub(super) fn new(
        endpoint: &Endpoint,
        limits: &Limits,
        events: Events,
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
        Ok(Self {
            service,
            kind: endpoint.kind,
            max_bytes: limits.max_message_bytes,
            connect_timeout: limits.connect_timeout,
            request_timeout: limits.request_timeout,
            teller: Teller::new(events),
            odd: Odd::default(),
            running: Running::default(),
            ready: Notify::new(),
            listening: AtomicBool::new(false),
            stop: CancellationToken::new(),
            telling: Arc::new(Semaphore::new(MAX_TOLD_LATER)),
            manner: ArcSwap::from_pointee(Manner { era: None, session: false, headers }),
        })
    }

    pub(super) fn manner(&self) -> Arc<Manner> {
        self.manner.load_full()
    }

    /// The server has answered `initialize`, and may have given us a session.
    pub(super) fn learn_session(&self, headers: &HeaderMap) {
        let Some(session) = headers.get(&head::SESSION) else { return };
        if session.len() > MAX_SESSION_BYTES || session.is_empty() {
            return;
        }
        let mut session = session.clone();
        // Whoever knows it can speak in our name.
        session.set_sensitive(true);
        let mut manner = Manner::clone(&self.manner());
        manner.headers.set(head::SESSION, session);
        manner.session = true;
        self.manner.store(Arc::new(manner));
    }

    /// From now on both speak this revision.
    pub(super) fn establish(&self, era: Era, version: &str) {
        let mut manner = Manner::clone(&self.manner());
        manner.era = Some(era);
        if let Ok(version) = HeaderValue::from_str(version) {
            manner.headers.set(head::VERSION, version);
        }
        self.manner.store(Arc::new(manner));
    }

    /// Sends a message that has no answer.
    pub(super) async fn tell(&self, service: &ServiceClient, message: Bytes) -> Result<(), String> {
        let manner = self.manner();
        let extra = match incoming::read(&message) {
            Ok(Incoming::Notification { method, .. }) => {
                head::of_notification(&method, manner.era)?
            }
            _ => Vec::new(),
        };
        let answer = self.post(service, &manner, &extra, message, self.request_timeout);
        let answer = answer.await.map_err(|error| error.message)?;
        if answer.status.is_success() {
            answer.body.leave();
            return Ok(());
        }
        let refusal = Refusal::read(answer).await;
        if manner.session && refusal.ends_session() {
            self.session_over();
        }
        Err(refusal.into_error().to_string())
    }

    /// The same, for when nobody waits for it.
    pub(super) fn tell_later(self: &Arc<Self>, message: Bytes) {
        self.tell_later_at(self.service.clone(), message);
    }

    /// The same, at another address of the server.
    pub(super) fn tell_later_at(self: &Arc<Self>, service: ServiceClient, message: Bytes) {
        let Ok(place) = self.telling.clone().try_acquire_owned() else {
            tracing::debug!("an MCP server takes too few messages; one is not sent");
            return;
        };
        let core = self.clone();
        spawn(async move {
            let _place = place;
            if let Err(error) = core.tell(&service, message).await {
                tracing::debug!(error, "an MCP server did not take a message");
            }
        });
    }

    pub(super) async fn post(
        &self,
        service: &ServiceClient,
        manner: &Manner,
        extra: &[(HeaderName, HeaderValue)],
        body: Bytes,
        timeout: Duration,
    ) -> Result<ServiceResponse, NetError> {
        let headers = &manner.headers;
        let request = ServiceRequest { method: Method::POST, headers, extra, body, timeout };
        service.send(&request).await
    }

    /// Asks for a stream of events, from the event on that was seen last.
    pub(super) async fn get(
        &self,
        last_event: Option<&str>,
        timeout: Duration,
    ) -> Result<ServiceResponse, NetError> {
        let mut headers = self.manner().headers.clone();
        headers.set(header::ACCEPT, HeaderValue::from_static("text/event-stream"));
        headers.unset(&header::CONTENT_TYPE);
        let last = last_event.and_then(|id| HeaderValue::from_str(id).ok());
        let extra: Vec<_> = last.map(|id| (head::LAST_EVENT, id)).into_iter().collect();
        let request = ServiceRequest {
            method: Method::GET,
            headers: &headers,
            extra: &extra,
            body: Bytes::new(),
            timeout,
        };
        self.service.send(&request).await
    }

    /// The server knows our session no more.
    pub(super) fn session_over(&self) {
        self.stop.cancel();
        self.teller.closed("the server has ended the session");
    }

    /// Ends the session, where there is one, and all connections.
    pub(super) async fn close(&self) {
        self.stop.cancel();
        let manner = self.manner();
        if manner.session && !self.teller.is_closed() {
            let request = ServiceRequest {
                method: Method::DELETE,
                headers: &manner.headers,
                extra: &[],
                body: Bytes::new(),
                timeout: FAREWELL.min(self.connect_timeout),
            };
            // A server need not let us; it will forget us by itself.
            let _ = self.service.send(&request).await;
        }
        self.service.close();
    }
}

/// Runs something that nobody waits for; not at all where the program is ending.
pub(super) fn spawn(work: impl Future<Output = ()> + Send + 'static) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(work);
    }
}

/// Tells what happens beside requests.
pub(super) struct Teller {
    events: Events,
    closed: AtomicBool,
}

impl Teller {
    pub(super) fn new(events: Events) -> Self {
        Self { events, closed: AtomicBool::new(false) }
    }

    pub(super) fn tell(&self, event: Event) {
        // One place is kept for the last.
        if !self.is_closed() && self.events.capacity() > 1 {
            // Who listens has a look at everything when there is any.
            let _ = self.events.try_send(event);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// The last event, which is never lost.
    pub(super) fn closed(&self, why: impl Into<String>) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        if let Err(TrySendError::Full(event)) = self.events.try_send(Event::Closed(why.into())) {
            let events = self.events.clone();
            spawn(async move {
                let _ = events.send(event).await;
            });
        }
    }
}
