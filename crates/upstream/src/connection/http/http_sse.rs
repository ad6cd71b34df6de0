//! The deprecated HTTP+SSE transport (2024-11-05): messages are posted to an address that the server
//! names on an event stream, and everything that it sends comes by that stream.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use gate::BoxFuture;
use guard::net::ServiceClient;
use mcp::ProtocolVersion;
use tokio::{sync::OnceCell, time::timeout};

use super::{
    client::{McpHttpClient, is_event_stream},
    event_source::EventSource,
    rejection::{self, HttpRejection},
};
use crate::connection::{
    DiscardedMessages, RequestError, RequestOptions, ResponseFuture, Transport,
    incoming::{self, IncomingMessage},
    request_table::{MessageWriter, MultiplexedRequest},
};

pub(super) struct HttpSseTransport(Arc<SseChannel>);

/// The event stream, and the address that messages are posted to.
struct SseChannel {
    client: Arc<McpHttpClient>,
    /// The address, once the server has named it.
    post_to: OnceCell<ServiceClient>,
}

impl HttpSseTransport {
    /// A transport that opens its stream with the first message.
    pub(super) fn new(client: Arc<McpHttpClient>) -> Self {
        Self(Arc::new(SseChannel { client, post_to: OnceCell::new() }))
    }

    /// Opens the stream and waits for its first event.
    pub(super) async fn open(client: Arc<McpHttpClient>) -> Result<Self, RequestError> {
        let channel = SseChannel { client, post_to: OnceCell::new() };
        channel.connect().await?;
        Ok(Self(Arc::new(channel)))
    }
}

impl Drop for HttpSseTransport {
    fn drop(&mut self) {
        self.0.client.stop.cancel();
    }
}

impl SseChannel {
    async fn connect(&self) -> Result<&ServiceClient, RequestError> {
        if self.client.events.is_closed() {
            return Err(RequestError::NotSent("the connection is closed".to_owned()));
        }
        self.post_to.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<ServiceClient, RequestError> {
        let limit = self.client.connect_timeout;
        match timeout(limit, self.first_event(limit)).await {
            Ok(opened) => opened,
            Err(_) => Err(RequestError::NotSent(format!(
                "the server named no endpoint within {} s",
                limit.as_secs_f64()
            ))),
        }
    }

    async fn first_event(&self, limit: Duration) -> Result<ServiceClient, RequestError> {
        let client = &self.client;
        let response = client.get(None, limit).await;
        let response =
            response.map_err(|error| rejection::network_error(error, limit, client.max_bytes))?;
        if !response.status.is_success() {
            return Err(HttpRejection::read(response).await.into_error());
        }
        if !is_event_stream(&response) {
            return Err(rejection::wrong_type(response.status, &response.headers));
        }
        let mut source = EventSource::new(response.body, client.max_bytes);
        loop {
            let event = source.event().await.map_err(|error| error.into_error(limit))?;
            let Some(event) = event else {
                let message = "the stream ended before the server named its endpoint";
                return Err(RequestError::Protocol(message.to_owned()));
            };
            if event.name.as_deref() != Some("endpoint") {
                continue;
            }
            let address = std::str::from_utf8(&event.data).unwrap_or_default().trim();
            let service = client.service.at(address).map_err(|error| {
                RequestError::Protocol(format!("the endpoint that the server names: {error}"))
            })?;
            source.set_timeout(None);
            tokio::spawn(read(client.clone(), service.clone(), source));
            return Ok(service);
        }
    }

    /// Posts a message, whose response, if it has one, comes by the stream.
    async fn post(&self, message: Bytes, limit: Duration) -> Result<(), RequestError> {
        let service = self.connect().await?;
        let (client, negotiated) = (&self.client, self.client.negotiated());
        let response = client.post(service, &negotiated, &[], message, limit).await;
        let response =
            response.map_err(|error| rejection::network_error(error, limit, client.max_bytes))?;
        if response.status.is_success() {
            response.body.leave();
            return Ok(());
        }
        Err(HttpRejection::read(response).await.into_error())
    }
}

/// Reads the stream to its end.
async fn read(client: Arc<McpHttpClient>, post_to: ServiceClient, mut source: EventSource) {
    let why = loop {
        let message = tokio::select! {
            biased;
            () = client.stop.cancelled() => break "the connection was closed".to_owned(),
            message = source.message() => message,
        };
        match message {
            Ok(Some(message)) => take(&client, &post_to, &message),
            Ok(None) => break "the server has closed the stream".to_owned(),
            Err(error) => break error.to_string(),
        }
    };
    client.events.closed(why.clone());
    client.requests.close(&why);
}

fn take(client: &Arc<McpHttpClient>, post_to: &ServiceClient, message: &Bytes) {
    incoming::for_each(message, &client.discarded, |message| {
        if let IncomingMessage::ListChanged(list) = message {
            client.events.list_changed(list);
        } else if let Some(response) = client.requests.route(message, &client.discarded) {
            client.notify_later(post_to, response);
        }
    });
}

impl MessageWriter for SseChannel {
    fn write(&self, message: Bytes) {
        if let Some(post_to) = self.post_to.get() {
            self.client.notify_later(post_to, message);
        }
    }
}

impl Transport for HttpSseTransport {
    fn send(
        &self,
        id: u64,
        method: &'static str,
        message: Bytes,
        options: RequestOptions<'_>,
    ) -> ResponseFuture {
        let channel = self.0.clone();
        let RequestOptions { timeout, interim, max_response_bytes, .. } = options;
        Box::pin(async move {
            let slot = channel.client.requests.insert(id, method, max_response_bytes)?;
            let writer = channel.clone();
            let request = MultiplexedRequest::new(writer, slot, method, timeout, interim);
            request.response(channel.post(message, timeout)).await
        })
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(async move {
            let limit = self.0.client.request_timeout;
            self.0.post(message, limit).await.map_err(|error| error.to_string())
        })
    }

    fn set_version(&self, version: ProtocolVersion) {
        self.0.client.set_version(version);
    }

    fn discarded(&self) -> DiscardedMessages {
        self.0.client.discarded.get()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            // Closing the stream is how a session ends here.
            self.0.client.stop.cancel();
            self.0.client.service.close();
        })
    }
}
