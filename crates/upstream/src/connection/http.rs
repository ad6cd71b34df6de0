//! MCP over HTTP: streamable HTTP in both protocol versions, and the deprecated HTTP+SSE.
//!
//! A request is one POST (`streamable`). Its response is JSON, which is read as a whole and taken apart
//! once, or an event stream (`event_source`), which is read as it comes; dropping the request closes the
//! connection. No task and no channel is between a request and its response. Only the notifications of
//! legacy servers have a task of their own (`notification_stream`), and HTTP+SSE, where everything comes
//! by one stream (`http_sse`). `client` has the headers and the session, `rejection` the errors.

mod client;
mod event_source;
mod http_sse;
mod notification_stream;
mod rejection;
mod streamable;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use tokio::sync::mpsc;

use self::{client::McpHttpClient, http_sse::HttpSseTransport, streamable::StreamableTransport};
use super::{ConnectionEvent, ConnectionLimits, Endpoint, HttpTransport, Transport};

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
            Arc::new(StreamableTransport::new(client))
        }
    })
}
