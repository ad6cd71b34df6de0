//! Streamable HTTP: a request is one POST, whose response is JSON or an event stream.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    sync::{Arc, OnceLock, atomic::Ordering},
    task::Poll,
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use guard::net::ResponseBody;
use mcp::{ProtocolVersion, Response};
use tokio::{sync::mpsc, time::Instant};

use super::{
    client::{McpHttpClient, PostError, PostResult, request_headers},
    event_source::{self, BrokenStream, EventSource, StreamError},
    http_sse::HttpSseTransport,
    notification_stream,
};
use crate::connection::{
    DiscardedMessages, InterimMessage, RequestError, RequestOptions, ResponseFuture, Transport,
    incoming::{self, IncomingMessage, OpenInputRequest, nobody_to_ask},
    request_table::{RoutedMessage, TableSlot},
    spawn,
};

/// The time to wait before a broken stream is resumed, unless the server sets another.
const RESUME_AFTER: Duration = Duration::from_secs(1);
/// The number of times in a row that a stream is resumed without a message.
const MAX_EMPTY_RESUMES: usize = 5;
/// The number of input requests of a server that may be open at once, for one request.
const MAX_INPUT_REQUESTS: usize = 16;

/// Streamable HTTP, until it turns out that the server knows only HTTP+SSE.
pub(super) struct StreamableTransport {
    client: Arc<McpHttpClient>,
    /// The transport that is used instead.
    fallback: Arc<OnceLock<HttpSseTransport>>,
}

impl StreamableTransport {
    pub(super) fn new(client: Arc<McpHttpClient>) -> Self {
        Self { client, fallback: Arc::default() }
    }
}

impl Drop for StreamableTransport {
    fn drop(&mut self) {
        self.client.stop.cancel();
    }
}

impl Transport for StreamableTransport {
    fn send(
        &self,
        id: u64,
        method: &'static str,
        message: Bytes,
        options: RequestOptions<'_>,
    ) -> ResponseFuture {
        if let Some(fallback) = self.fallback.get() {
            return fallback.send(id, method, message, options);
        }
        let (client, fallback) = (self.client.clone(), self.fallback.clone());
        let headers = request_headers(method, &options, client.negotiated().version);
        let (timeout, max_response_bytes) = (options.timeout, options.max_response_bytes);
        let max_bytes = max_response_bytes.min(client.max_bytes);
        let interim = options.interim;
        // Nothing is sent before this is waited for.
        Box::pin(async move {
            let headers = headers.map_err(RequestError::NotSent)?;
            let request =
                StreamableRequest::new(client.clone(), id, method, (timeout, max_bytes), interim);
            let post = pin!(client.post_request(
                id,
                method,
                &headers,
                message.clone(),
                timeout,
                max_bytes
            ));
            match request.response(post).await {
                Ok(response) => Ok(response),
                Err(PostError::Error(error)) => Err(error),
                // It may know HTTP+SSE.
                Err(PostError::NotStreamable(rejected)) => {
                    let opened = Box::pin(HttpSseTransport::open(client.clone())).await;
                    let opened = opened.map_err(|error| {
                        tracing::debug!(%error, "an MCP server knows neither streamable HTTP nor HTTP+SSE");
                        rejected
                    })?;
                    let options =
                        RequestOptions { max_response_bytes, ..RequestOptions::new(timeout) };
                    fallback.get_or_init(|| opened).send(id, method, message, options).await
                }
            }
        })
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        match self.fallback.get() {
            Some(fallback) => fallback.notify(message),
            None => Box::pin(async move {
                let sent = self.client.notify(&self.client.service, message).await;
                self.client.initialized.notify_one();
                sent
            }),
        }
    }

    fn set_version(&self, version: ProtocolVersion) {
        if let Some(fallback) = self.fallback.get() {
            return fallback.set_version(version);
        }
        self.client.set_version(version);
        if !version.is_modern() && !self.client.listening.swap(true, Ordering::Relaxed) {
            spawn(notification_stream::listen(self.client.clone()));
        }
    }

    fn discarded(&self) -> DiscardedMessages {
        self.client.discarded.get()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        match self.fallback.get() {
            Some(fallback) => fallback.close(),
            None => Box::pin(self.client.close()),
        }
    }
}

/// A request that is being sent or was sent. Dropping it cancels it.
struct StreamableRequest {
    client: Arc<McpHttpClient>,
    id: u64,
    timeout: Duration,
    /// The largest response, in bytes.
    max_bytes: usize,
    /// Time does not run while an input request is open.
    deadline: Instant,
    is_paused: bool,
    is_legacy: bool,
    /// True while the server has to be told when nobody waits any more.
    is_cancellable: bool,
    interim: Option<mpsc::Sender<InterimMessage>>,
    /// Messages beside its own response stream, where the server has another stream.
    slot: Option<TableSlot>,
    /// Responses to input requests, on their way to the server.
    input_responses: Vec<BoxFuture<'static, ()>>,
}

impl StreamableRequest {
    fn new(
        client: Arc<McpHttpClient>,
        id: u64,
        method: &'static str,
        (timeout, max_bytes): (Duration, usize),
        interim: Option<mpsc::Sender<InterimMessage>>,
    ) -> Self {
        let is_legacy = !client.negotiated().is_modern() && method != "server/discover";
        let listening = is_legacy && client.listening.load(Ordering::Relaxed);
        let slot = listening.then(|| client.requests.insert(id, method, max_bytes).ok()).flatten();
        Self {
            client,
            id,
            timeout,
            max_bytes,
            deadline: Instant::now() + timeout,
            is_paused: false,
            is_legacy,
            // The protocol forbids to cancel `initialize`.
            is_cancellable: is_legacy && method != "initialize",
            interim,
            slot,
            input_responses: Vec::new(),
        }
    }

    /// Waits for the response. `post` is the work of sending the request.
    async fn response(
        mut self,
        post: Pin<&mut impl Future<Output = Result<PostResult, PostError>>>,
    ) -> Result<Response, PostError> {
        let result = match self.drive(post).await {
            Ok(PostResult::Complete(response)) => Ok(response),
            // On the heap: a request whose response is JSON has no room for it.
            Ok(PostResult::Stream(body)) => Box::pin(self.read(body)).await.map_err(Into::into),
            Err(failure) => Err(failure),
        };
        self.end(matches!(
            result,
            Err(PostError::Error(RequestError::Timeout(_) | RequestError::TooLarge(_)))
        ));
        self.is_cancellable = false;
        result
    }

    /// Reads the response stream up to the response, and resumes it where it breaks off.
    async fn read(&mut self, body: ResponseBody) -> Result<Response, RequestError> {
        let mut source = EventSource::new(body, self.max_bytes);
        let mut empty_resumes = 0;
        loop {
            if self.is_paused {
                source.set_timeout(None);
            }
            loop {
                let message = tokio::select! {
                    biased;
                    event = SideEvent::next(&mut self.slot, &mut self.input_responses) => {
                        self.take_side_event(event);
                        self.update_deadline(Some(&mut source));
                        continue;
                    }
                    message = source.message() => message,
                };
                match message {
                    Ok(Some(message)) => {
                        empty_resumes = 0;
                        if let Some(result) = self.take(&message) {
                            source.leave();
                            return result;
                        }
                        self.update_deadline(Some(&mut source));
                    }
                    Ok(None) => break,
                    Err(error) if error.is_cut() => break,
                    Err(error) => {
                        if matches!(error, StreamError::TooLarge(_)) {
                            self.client.discarded.too_long();
                        }
                        return Err(error.into_error(self.timeout));
                    }
                }
            }
            // Legacy servers may let us resume it.
            let (id, wait) = source.resume_point();
            let may_resume = self.is_legacy && empty_resumes < MAX_EMPTY_RESUMES;
            let Some(id) = id.filter(|_| may_resume) else {
                let message = "the stream ended before the response".to_owned();
                return Err(RequestError::Lost(message));
            };
            empty_resumes += 1;
            let broken = BrokenStream {
                last_event_id: id.to_owned(),
                wait: wait.unwrap_or(RESUME_AFTER),
                // Time that does not run now may run again while we wait.
                deadline: (!self.is_paused).then_some(self.deadline),
                timeout: self.timeout,
                max_bytes: self.max_bytes,
            };
            let resume = pin!(event_source::resume(self.client.clone(), broken));
            source = self.drive(resume).await?;
        }
    }

    /// Waits for something of the request, and for what happens beside it meanwhile.
    async fn drive<T>(&mut self, mut work: Pin<&mut impl Future<Output = T>>) -> T {
        loop {
            tokio::select! {
                biased;
                event = SideEvent::next(&mut self.slot, &mut self.input_responses) => {
                    self.take_side_event(event);
                    self.update_deadline(None);
                }
                done = &mut work => return done,
            }
        }
    }

    fn take_side_event(&mut self, event: SideEvent) {
        match event {
            SideEvent::Routed(RoutedMessage::Interim(message)) => self.pass_on(message),
            SideEvent::Routed(RoutedMessage::InputRequest(open, _)) => self.ask(open),
            // Responses come by their own streams.
            SideEvent::Routed(RoutedMessage::Done(_)) | SideEvent::InputResponseSent => {}
        }
    }

    /// Stops the time while an input request is open. After the last input response the server has all of
    /// its time again.
    fn update_deadline(&mut self, source: Option<&mut EventSource>) {
        let is_paused = !self.input_responses.is_empty();
        if is_paused == self.is_paused {
            return;
        }
        self.is_paused = is_paused;
        self.deadline = Instant::now() + self.timeout;
        if let Some(source) = source {
            source.set_timeout((!is_paused).then_some(self.timeout));
        }
    }

    fn pass_on(&self, message: InterimMessage) {
        if let Some(interim) = &self.interim {
            let _ = interim.try_send(message);
        }
    }

    /// Takes a message of the response stream; the response, if it is that.
    fn take(&mut self, message: &Bytes) -> Option<Result<Response, RequestError>> {
        let client = self.client.clone();
        let mut response = None;
        incoming::for_each(message, &client.discarded, |message| {
            if response.is_some() {
                return;
            }
            match message {
                // An error without an id is nobody else's, here.
                IncomingMessage::Response(id, result)
                    if id == Some(self.id) || (id.is_none() && result.is_err()) =>
                {
                    response = Some(result);
                }
                IncomingMessage::Response(..) => client.discarded.unexpected(),
                IncomingMessage::Progress(token, message) if token == self.id => {
                    self.pass_on(message);
                }
                IncomingMessage::Log(message) => self.pass_on(message),
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
        response
    }

    /// Passes an input request on, and posts its response when there is one.
    fn ask(&mut self, open: OpenInputRequest) {
        let OpenInputRequest { id, request, response, .. } = open;
        if self.input_responses.len() >= MAX_INPUT_REQUESTS {
            self.client.notify_later(&self.client.service, nobody_to_ask(&id));
            return;
        }
        let client = self.client.clone();
        self.input_responses.push(Box::pin(async move {
            let message = OpenInputRequest::encoded_response(&id, response).await;
            client.requests.forget_input_request(&id);
            if let Err(error) = client.notify(&client.service, message).await {
                tracing::debug!(error, "an MCP server did not accept an input response");
            }
        }));
        self.pass_on(InterimMessage::InputRequest(request));
    }

    /// Ends the request; the server is told if it may still work on it.
    fn end(&mut self, is_unfinished: bool) {
        let client = &self.client;
        if is_unfinished && std::mem::take(&mut self.is_cancellable) {
            let message = mcp::cancelled(self.id, "the client does not wait any more");
            client.notify_later(&client.service, message.into());
        }
        if let Some(mut slot) = self.slot.take() {
            if is_unfinished {
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

impl Drop for StreamableRequest {
    fn drop(&mut self) {
        self.end(true);
    }
}

/// Something that happens beside the response stream of a request.
enum SideEvent {
    /// A message came by another stream.
    Routed(RoutedMessage),
    InputResponseSent,
}

impl SideEvent {
    async fn next(
        slot: &mut Option<TableSlot>,
        input_responses: &mut Vec<BoxFuture<'static, ()>>,
    ) -> Self {
        let routed = async {
            match slot {
                Some(slot) => slot.messages.recv().await,
                None => None,
            }
        };
        // There are few, and hardly ever any: each is polled.
        let sent = poll_fn(|context| {
            let open = input_responses.len();
            input_responses.retain_mut(|response| response.as_mut().poll(context).is_pending());
            if input_responses.len() < open { Poll::Ready(()) } else { Poll::Pending }
        });
        tokio::select! {
            biased;
            Some(message) = routed => Self::Routed(message),
            () = sent => Self::InputResponseSent,
        }
    }
}
