//! MCP over HTTP: streamable HTTP in both protocol versions, and the deprecated HTTP+SSE.
//!
//! A request is one POST (`request`). Its response is JSON, which is read as a whole and taken apart
//! once, or an event stream (`event_source`), which is read as it comes; dropping the request closes the
//! connection. No task and no channel is between a request and its response. Only the notifications of
//! legacy servers have a task of their own (`notification_stream`), and HTTP+SSE, where everything comes
//! by one stream (`http_sse`).

mod client;
mod event_source;
mod http_sse;
mod notification_stream;
mod rejection;
mod request;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock, atomic::Ordering};

use bytes::Bytes;
use gate::BoxFuture;
use mcp::ProtocolVersion;
use tokio::sync::mpsc;

use self::{
    client::McpHttpClient,
    http_sse::HttpSseTransport,
    request::{PostResult, Sending, StreamableRequest},
};
use super::{
    ConnectionEvent, ConnectionLimits, DiscardedMessages, EncodedRequest, Endpoint, HttpTransport,
    PendingRequest, RequestError, Transport, transport::spawn,
};

/// Makes a transport to the address. Nothing has been sent when this returns.
pub(crate) fn open(
    endpoint: &Endpoint,
    limits: &ConnectionLimits,
    events: mpsc::Sender<ConnectionEvent>,
) -> Result<Arc<dyn Transport>, String> {
    let client = Arc::new(McpHttpClient::new(endpoint, limits, events)?);
    Ok(match endpoint.transport {
        HttpTransport::HttpSse => Arc::new(HttpSseTransport::new(client)),
        HttpTransport::Auto | HttpTransport::Streamable => {
            let shared = StreamableState { client, fallback: OnceLock::new() };
            Arc::new(StreamableTransport { shared: Arc::new(shared) })
        }
    })
}

/// Streamable HTTP, until it turns out that the server knows only HTTP+SSE.
struct StreamableTransport {
    shared: Arc<StreamableState>,
}

struct StreamableState {
    client: Arc<McpHttpClient>,
    /// The transport that is used instead.
    fallback: OnceLock<HttpSseTransport>,
}

impl StreamableState {
    /// Sends `initialize`. A server that refuses it as if it did not know streamable HTTP may know
    /// HTTP+SSE.
    async fn initialize(
        self: Arc<Self>,
        request: EncodedRequest,
    ) -> Result<PostResult, RequestError> {
        let posted = request::post(self.client.clone(), request.clone()).await?;
        let PostResult::NotStreamable(rejected) = posted else { return Ok(posted) };
        let fallback = HttpSseTransport::new(self.client.clone());
        if let Err(error) = fallback.connect().await {
            tracing::debug!(%error, "an MCP server knows neither streamable HTTP nor HTTP+SSE");
            fallback.give_up();
            return Err(rejected);
        }
        let fallback = self.fallback.get_or_init(|| fallback);
        Ok(PostResult::Delegated(fallback.send(request)))
    }
}

impl Drop for StreamableTransport {
    fn drop(&mut self) {
        self.shared.client.stop.cancel();
    }
}

impl Transport for StreamableTransport {
    fn send(&self, request: EncodedRequest) -> Box<dyn PendingRequest> {
        let shared = &self.shared;
        if let Some(fallback) = shared.fallback.get() {
            return fallback.send(request);
        }
        let (id, method, timeout) = (request.id, request.method, request.timeout);
        let sending: Sending = if method == "initialize" {
            Box::pin(shared.clone().initialize(request))
        } else {
            Box::pin(request::post(shared.client.clone(), request))
        };
        Box::new(StreamableRequest::new(shared.client.clone(), id, method, timeout, sending))
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        match self.shared.fallback.get() {
            Some(fallback) => fallback.notify(message),
            None => Box::pin(async move {
                let client = &self.shared.client;
                let sent = client.notify(&client.service, message).await;
                client.initialized.notify_one();
                sent
            }),
        }
    }

    fn set_version(&self, version: ProtocolVersion) {
        if let Some(fallback) = self.shared.fallback.get() {
            return fallback.set_version(version);
        }
        let client = &self.shared.client;
        client.set_version(version);
        if !version.is_modern() && !client.listening.swap(true, Ordering::Relaxed) {
            spawn(notification_stream::listen(client.clone()));
        }
    }

    fn discarded(&self) -> DiscardedMessages {
        self.shared.client.discarded.get()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        match self.shared.fallback.get() {
            Some(fallback) => fallback.close(),
            None => Box::pin(self.shared.client.close()),
        }
    }
}
