//! A request over streamable HTTP: one POST, whose response is JSON or an event stream.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream::{FuturesUnordered, StreamExt};
use gate::BoxFuture;
use guard::net::{NetError, NetErrorReason, ServiceResponse};
use mcp::{Message, Response, RpcError};
use tokio::time::Instant;

use super::{
    client::{McpHttpClient, Negotiated, request_headers},
    event_source::{self, BrokenStream, EventSource, StreamError},
    rejection::{self, ContentType, HttpRejection},
};
use crate::connection::{
    EncodedRequest, HttpTransport, PendingRequest, RequestError, RequestEvent,
    incoming::{self, IncomingMessage, OpenInputRequest, nobody_to_ask},
    request_table::{RoutedMessage, TableSlot},
    transport::spawn,
};

/// Requests that can be sent twice without doing anything twice. Where a kept connection was closed at
/// the moment of its use, nobody knows whether the server has got the request.
const REPEATABLE: [&str; 10] = [
    "server/discover",
    "ping",
    "tools/list",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "completion/complete",
    "subscriptions/listen",
];
/// How long to wait before a broken stream is resumed, unless the server says how long.
const RESUME_AFTER: Duration = Duration::from_secs(1);
/// How often a stream is resumed in a row without a message.
const MAX_EMPTY_RESUMES: usize = 5;
/// How many input requests of a server may be open at once, for one request.
const MAX_INPUT_REQUESTS: usize = 16;

/// The result of a POST.
pub(super) enum PostResult {
    /// The response is there.
    Complete(Response),
    /// The response comes by an event stream.
    Stream(Box<EventSource>),
    /// The server does not know streamable HTTP, as far as can be seen. This is the error otherwise.
    NotStreamable(RequestError),
    /// The request was sent by another transport.
    Delegated(Box<dyn PendingRequest>),
}

/// The work of sending a request.
pub(super) type Sending = BoxFuture<'static, Result<PostResult, RequestError>>;

/// Sends a request.
pub(super) async fn post(
    client: Arc<McpHttpClient>,
    request: EncodedRequest,
) -> Result<PostResult, RequestError> {
    let negotiated = client.negotiated();
    let extra = request_headers(&request, negotiated.version).map_err(RequestError::NotSent)?;
    let (service, timeout) = (&client.service, request.timeout);
    let post = || client.post(service, &negotiated, &extra, request.body.clone(), timeout);
    let response = match post().await {
        Err(NetError { reason: NetErrorReason::Stale, .. })
            if REPEATABLE.contains(&request.method) =>
        {
            post().await
        }
        response => response,
    };
    let network = |error| rejection::network_error(error, timeout, client.max_bytes);
    let response = response.map_err(network)?;
    if !response.status.is_success() {
        return rejected(&client, &negotiated, &request, response).await;
    }
    if request.method == "initialize" {
        client.set_session(&response.headers);
    }
    match rejection::content_type(&response.headers) {
        ContentType::Json => {
            let message = response.body.read_all(client.max_bytes).await.map_err(network)?;
            response_in(&client, &message, request.id).map(PostResult::Complete)
        }
        ContentType::EventStream => {
            Ok(PostResult::Stream(Box::new(EventSource::new(response.body, client.max_bytes))))
        }
        ContentType::Other => {
            let error = rejection::wrong_type(response.status, &response.headers);
            response.body.leave();
            Err(error)
        }
    }
}

/// The response that a body holds.
fn response_in(client: &McpHttpClient, body: &Bytes, id: u64) -> Result<Response, RequestError> {
    let no_response =
        || RequestError::Protocol("the body has no response to this request".to_owned());
    if mcp::is_batch(body) {
        // Only 2025-03-26. Its other messages have no listener here.
        let mut found = None;
        incoming::for_each(body, &client.discarded, |message| match message {
            IncomingMessage::Response(given, outcome) if given == Some(id) => found = Some(outcome),
            _ => {}
        });
        return found.unwrap_or_else(|| Err(no_response()));
    }
    match Message::read(body) {
        Ok(Message::Response { id: given, result }) => match given.and_then(|id| id.number()) {
            Some(given) if given == id => incoming::response(body, result),
            // Some cannot say whose error it is; it is nobody else's.
            None if result.is_err() => incoming::response(body, result),
            _ => {
                Err(RequestError::Protocol("the response has the id of another request".to_owned()))
            }
        },
        Ok(Message::Request(_) | Message::Notification { .. }) => Err(no_response()),
        Err(malformed) => {
            let RpcError { message, .. } = malformed.error;
            Err(RequestError::Protocol(format!("the body is not a JSON-RPC message: {message}")))
        }
    }
}

async fn rejected(
    client: &McpHttpClient,
    negotiated: &Negotiated,
    request: &EncodedRequest,
    response: ServiceResponse,
) -> Result<PostResult, RequestError> {
    let rejection = HttpRejection::read(response).await;
    if negotiated.has_session && rejection.ends_session() {
        client.session_ended();
        return Err(if rejection.is_not_executed() {
            let message = "the server has ended the session and did not execute the request";
            RequestError::NotSent(message.to_owned())
        } else {
            RequestError::Lost("the server has ended the session".to_owned())
        });
    }
    let may_switch = client.transport == HttpTransport::Auto && request.method == "initialize";
    if may_switch && rejection.is_not_streamable() {
        return Ok(PostResult::NotStreamable(rejection.into_error()));
    }
    Err(rejection.into_error())
}

/// A request that is being sent or was sent. Nothing is sent before its first event is asked for.
pub(super) struct StreamableRequest {
    client: Arc<McpHttpClient>,
    id: u64,
    timeout: Duration,
    /// Time does not run while an input request is open.
    deadline: Instant,
    is_legacy: bool,
    phase: RequestPhase,
    /// Whether anything may have been sent.
    has_begun: bool,
    /// Whether the server has to be told when nobody waits any more.
    is_cancellable: bool,
    /// Events that were not handed out yet.
    ready: VecDeque<RequestEvent>,
    /// Messages beside its own response stream, where the server has another stream.
    slot: Option<TableSlot>,
    /// Responses to input requests, on their way to the server.
    input_responses: FuturesUnordered<BoxFuture<'static, ()>>,
    /// How often the stream was resumed since the last message.
    empty_resumes: usize,
}

enum RequestPhase {
    Sending(Sending),
    Streaming(Box<EventSource>),
    Resuming(BoxFuture<'static, Result<EventSource, RequestError>>),
    /// It was sent by another transport.
    Delegated(Box<dyn PendingRequest>),
    Over,
}

/// The next thing that happens to a request.
enum RequestStep {
    Routed(RoutedMessage),
    InputResponseSent,
    Posted(Result<PostResult, RequestError>),
    Message(Result<Option<Bytes>, StreamError>),
    Resumed(Result<EventSource, RequestError>),
    Delegated(RequestEvent),
}

impl StreamableRequest {
    pub(super) fn new(
        client: Arc<McpHttpClient>,
        id: u64,
        method: &'static str,
        timeout: Duration,
        sending: Sending,
    ) -> Self {
        let is_legacy = !client.negotiated().is_modern() && method != "server/discover";
        let listening = is_legacy && client.listening.load(Ordering::Relaxed);
        let slot = listening.then(|| client.requests.insert(id, method).ok()).flatten();
        Self {
            client,
            id,
            timeout,
            deadline: Instant::now() + timeout,
            is_legacy,
            phase: RequestPhase::Sending(sending),
            has_begun: false,
            // The protocol forbids to cancel `initialize`.
            is_cancellable: is_legacy && method != "initialize",
            ready: VecDeque::new(),
            slot,
            input_responses: FuturesUnordered::new(),
            empty_resumes: 0,
        }
    }

    async fn next_event(&mut self) -> RequestEvent {
        loop {
            if let Some(event) = self.ready.pop_front() {
                if let RequestEvent::Done(outcome) = &event {
                    let unfinished = matches!(
                        outcome,
                        Err(RequestError::Timeout(_) | RequestError::TooLarge(_))
                    );
                    self.end(unfinished);
                }
                return event;
            }
            match self.step().await {
                RequestStep::Routed(RoutedMessage::Event(event))
                | RequestStep::Delegated(event) => self.ready.push_back(event),
                RequestStep::Routed(RoutedMessage::InputRequest(open, _)) => self.ask(open),
                RequestStep::Routed(RoutedMessage::Done(outcome)) => self.done(outcome),
                RequestStep::InputResponseSent => self.input_response_sent(),
                RequestStep::Posted(Ok(PostResult::Complete(response))) => self.done(Ok(response)),
                RequestStep::Posted(Ok(PostResult::Stream(source))) => self.stream(source),
                RequestStep::Posted(Ok(PostResult::Delegated(request))) => {
                    self.is_cancellable = false;
                    self.phase = RequestPhase::Delegated(request);
                }
                RequestStep::Posted(Ok(PostResult::NotStreamable(error)) | Err(error))
                | RequestStep::Resumed(Err(error)) => self.done(Err(error)),
                RequestStep::Message(Ok(Some(message))) => self.take(&message),
                RequestStep::Message(Ok(None)) => self.broke_off(),
                RequestStep::Message(Err(error)) if error.is_cut() => self.broke_off(),
                RequestStep::Message(Err(error)) => {
                    if matches!(error, StreamError::TooLarge(_)) {
                        self.client.discarded.too_long();
                    }
                    self.done(Err(error.into_error(self.timeout)));
                }
                RequestStep::Resumed(Ok(source)) => self.stream(Box::new(source)),
            }
        }
    }

    async fn step(&mut self) -> RequestStep {
        self.has_begun = true;
        tokio::select! {
            biased;
            message = next_routed(&mut self.slot), if self.slot.is_some() => {
                RequestStep::Routed(message)
            }
            Some(()) = self.input_responses.next(), if !self.input_responses.is_empty() => {
                RequestStep::InputResponseSent
            }
            step = self.phase.step() => step,
        }
    }

    fn stream(&mut self, mut source: Box<EventSource>) {
        if !self.input_responses.is_empty() {
            source.set_timeout(None);
        }
        self.phase = RequestPhase::Streaming(source);
    }

    /// Takes a message of the response stream.
    fn take(&mut self, message: &Bytes) {
        self.empty_resumes = 0;
        let client = self.client.clone();
        let mut is_done = false;
        incoming::for_each(message, &client.discarded, |message| {
            if is_done {
                return;
            }
            match message {
                // An error without an id is nobody else's, here.
                IncomingMessage::Response(id, outcome)
                    if id == Some(self.id) || (id.is_none() && outcome.is_err()) =>
                {
                    self.done(outcome);
                    is_done = true;
                }
                IncomingMessage::Response(..) => client.discarded.unexpected(),
                IncomingMessage::Progress(token, event) if token == self.id => {
                    self.ready.push_back(event);
                }
                IncomingMessage::Log(event) => self.ready.push_back(event),
                IncomingMessage::ListChanged(list) => client.events.list_changed(list),
                // Modern servers ask in another way.
                IncomingMessage::Answered(response) if self.is_legacy => {
                    client.notify_later(&client.service, response);
                }
                IncomingMessage::InputRequest(open) if self.is_legacy => self.ask(open),
                IncomingMessage::Progress(..)
                | IncomingMessage::Answered(_)
                | IncomingMessage::InputRequest(_)
                | IncomingMessage::InputCancelled(_) => {}
            }
        });
    }

    fn ask(&mut self, open: OpenInputRequest) {
        let OpenInputRequest { id, request, response, .. } = open;
        if self.input_responses.len() >= MAX_INPUT_REQUESTS {
            self.client.notify_later(&self.client.service, nobody_to_ask(&id));
            return;
        }
        if let RequestPhase::Streaming(source) = &mut self.phase {
            source.set_timeout(None);
        }
        let client = self.client.clone();
        self.input_responses.push(Box::pin(async move {
            let message = OpenInputRequest::encoded_response(&id, response).await;
            client.requests.forget_input_request(&id);
            if let Err(error) = client.notify(&client.service, message).await {
                tracing::debug!(error, "an MCP server did not accept an input response");
            }
        }));
        self.ready.push_back(RequestEvent::InputRequest(request));
    }

    /// After the last input response the server has all of its time again.
    fn input_response_sent(&mut self) {
        if self.input_responses.is_empty() {
            self.deadline = Instant::now() + self.timeout;
            if let RequestPhase::Streaming(source) = &mut self.phase {
                source.set_timeout(Some(self.timeout));
            }
        }
    }

    /// The stream ended before the response. Legacy servers may let us resume it.
    fn broke_off(&mut self) {
        let RequestPhase::Streaming(source) =
            std::mem::replace(&mut self.phase, RequestPhase::Over)
        else {
            return;
        };
        let (id, wait) = source.resume_point();
        let may_resume = self.is_legacy && self.empty_resumes < MAX_EMPTY_RESUMES;
        let Some(id) = id.filter(|_| may_resume) else {
            let message = "the stream ended before the response".to_owned();
            self.done(Err(RequestError::Lost(message)));
            return;
        };
        self.empty_resumes += 1;
        let broken = BrokenStream {
            last_event_id: id.to_owned(),
            wait: wait.unwrap_or(RESUME_AFTER),
            // Time that does not run now may run again while we wait.
            deadline: self.input_responses.is_empty().then_some(self.deadline),
            timeout: self.timeout,
        };
        let resuming = event_source::resume(self.client.clone(), broken);
        self.phase = RequestPhase::Resuming(Box::pin(resuming));
    }

    fn done(&mut self, outcome: Result<Response, RequestError>) {
        self.ready.push_back(RequestEvent::Done(outcome));
    }

    /// Ends the request; the server is told if it may still work on it.
    fn end(&mut self, is_unfinished: bool) {
        match std::mem::replace(&mut self.phase, RequestPhase::Over) {
            RequestPhase::Streaming(source) if !is_unfinished => source.leave(),
            _ => {}
        }
        let client = &self.client;
        if is_unfinished && self.has_begun && self.is_cancellable {
            let message = mcp::cancelled(self.id, "the client does not wait any more");
            client.notify_later(&client.service, message.into());
        }
        self.is_cancellable = false;
        if let Some(mut slot) = self.slot.take() {
            if is_unfinished && self.has_begun {
                slot.cancel();
            }
            for response in slot.close() {
                client.notify_later(&client.service, response);
            }
        }
        // The response to an input request is still sent.
        for response in std::mem::take(&mut self.input_responses) {
            spawn(response);
        }
    }
}

/// The next message that came by another stream.
async fn next_routed(slot: &mut Option<TableSlot>) -> RoutedMessage {
    let Some(slot) = slot else { return std::future::pending().await };
    match slot.messages.recv().await {
        Some(message) => message,
        None => std::future::pending().await,
    }
}

impl RequestPhase {
    async fn step(&mut self) -> RequestStep {
        match self {
            Self::Sending(sending) => RequestStep::Posted(sending.await),
            Self::Streaming(source) => RequestStep::Message(source.message().await),
            Self::Resuming(resuming) => RequestStep::Resumed(resuming.await),
            Self::Delegated(request) => RequestStep::Delegated(request.next().await),
            Self::Over => std::future::pending().await,
        }
    }
}

impl PendingRequest for StreamableRequest {
    fn next(&mut self) -> BoxFuture<'_, RequestEvent> {
        Box::pin(self.next_event())
    }
}

impl Drop for StreamableRequest {
    fn drop(&mut self) {
        self.end(true);
    }
}
