//! MCP over HTTP: Streamable HTTP in both eras, and HTTP with server-sent events.
//!
//! A request is one POST. Its answer is JSON, which is read whole and taken apart once, or a stream of
//! events, which is read as it comes; whoever lets go of it closes the connection. No task and no
//! channel is between a request and its answer. Only what legacy servers say beside requests has a
//! task of its own (`listener`), and the oldest way of HTTP, where everything comes by one stream
//! (`sse`).

mod core;
mod events;
mod flight;
mod head;
mod listener;
mod odd;
mod post;
mod reading;
mod refusal;
mod resume;
mod running;
mod said;
mod sse;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock, atomic::Ordering};

use bytes::Bytes;
use gate::BoxFuture;

use self::{
    core::Core,
    flight::{Post, Sending},
    post::Got,
    sse::SseWire,
};
use super::{
    Endpoint, Era, Events, Flight, HttpKind, Limits, Oddities, Prepared, RequestError, Wire,
};

/// Makes ready to speak to the address. Nothing has been sent when this returns.
pub(crate) fn open(
    endpoint: &Endpoint,
    limits: &Limits,
    events: Events,
) -> Result<Arc<dyn Wire>, String> {
    let core = Arc::new(Core::new(endpoint, limits, events)?);
    Ok(match endpoint.kind {
        HttpKind::Sse => Arc::new(SseWire::new(core)),
        HttpKind::Auto | HttpKind::Streamable => {
            Arc::new(StreamableWire { inner: Arc::new(Inner { core, other: OnceLock::new() }) })
        }
    })
}

/// Streamable HTTP, until it turns out that the server knows only the older way.
struct StreamableWire {
    inner: Arc<Inner>,
}

struct Inner {
    core: Arc<Core>,
    /// The wire that is used instead.
    other: OnceLock<SseWire>,
}

impl Inner {
    /// Opens a session. A server that refuses that as if it had never heard of it may know the
    /// older way.
    async fn open_session(self: Arc<Self>, request: Prepared) -> Result<Got, RequestError> {
        let got = post::send(self.core.clone(), request.clone()).await?;
        let Got::Unknown(refused) = got else { return Ok(got) };
        let other = SseWire::new(self.core.clone());
        if let Err(error) = other.connect().await {
            tracing::debug!(%error, "an MCP server knows neither way of HTTP");
            other.give_up();
            return Err(refused);
        }
        let other = self.other.get_or_init(|| other);
        Ok(Got::Elsewhere(other.begin(request)))
    }
}

impl Drop for StreamableWire {
    fn drop(&mut self) {
        self.inner.core.stop.cancel();
    }
}

impl Wire for StreamableWire {
    fn begin(&self, request: Prepared) -> Box<dyn Flight> {
        let inner = &self.inner;
        if let Some(other) = inner.other.get() {
            return other.begin(request);
        }
        let (id, method, timeout) = (request.id, request.method, request.timeout);
        let sending: Sending = if method == "initialize" {
            Box::pin(inner.clone().open_session(request))
        } else {
            Box::pin(post::send(inner.core.clone(), request))
        };
        Box::new(Post::new(inner.core.clone(), id, method, timeout, sending))
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        match self.inner.other.get() {
            Some(other) => other.notify(message),
            None => Box::pin(async move {
                let core = &self.inner.core;
                let told = core.tell(&core.service, message).await;
                core.ready.notify_one();
                told
            }),
        }
    }

    fn established(&self, era: Era, version: &str) -> BoxFuture<'_, ()> {
        if let Some(other) = self.inner.other.get() {
            return other.established(era, version);
        }
        let core = &self.inner.core;
        core.establish(era, version);
        if era == Era::Legacy && !core.listening.swap(true, Ordering::Relaxed) {
            self::core::spawn(listener::listen(core.clone()));
        }
        Box::pin(async {})
    }

    fn oddities(&self) -> Oddities {
        self.inner.core.odd.so_far()
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        match self.inner.other.get() {
            Some(other) => other.close(),
            None => Box::pin(self.inner.core.close()),
        }
    }
}
