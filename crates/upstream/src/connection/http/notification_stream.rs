//! The stream of notifications that a legacy server may have beside requests (GET).

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use bytes::Bytes;
use mcp::ListKind;
use rand::RngExt;
use tokio::time::Instant;

use super::{
    client::{McpHttpClient, is_event_stream},
    event_source::EventSource,
};
use crate::connection::incoming::{self, IncomingMessage};

/// The time that a server may take to begin its stream. Some send nothing at all until there is something
/// to send.
const RESPONSE_TIMEOUT: Duration = Duration::from_hours(1);
/// The time to wait before the next attempt, at first and at most.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const MAX_WAIT: Duration = Duration::from_mins(1);
/// The shortest time between two reports that all listings may have changed, because nobody listened.
const MISSED_INTERVAL: Duration = Duration::from_mins(1);
/// The time to wait until the server knows that we are ready. Some refuse a stream before that.
const INITIALIZED_TIMEOUT: Duration = Duration::from_secs(5);

/// The result of one attempt.
enum StreamEnd {
    /// There is no such stream.
    Unsupported,
    /// There was one with an event; wait so long before the next attempt.
    Ended(Option<Duration>),
    Failed,
}

/// Listens until the connection ends, or the server has no such stream.
pub(super) async fn listen(client: Arc<McpHttpClient>) {
    let _ = tokio::time::timeout(INITIALIZED_TIMEOUT, client.initialized.notified()).await;
    let mut position = StreamPosition::default();
    let mut wait = FIRST_WAIT;
    loop {
        let end = tokio::select! {
            biased;
            () = client.stop.cancelled() => return,
            end = attempt(&client, &mut position) => end,
        };
        let pause = match end {
            StreamEnd::Unsupported => {
                client.listening.store(false, Ordering::Relaxed);
                return;
            }
            StreamEnd::Ended(retry) => {
                wait = FIRST_WAIT;
                retry.unwrap_or(FIRST_WAIT)
            }
            StreamEnd::Failed => {
                let pause = wait.mul_f64(rand::rng().random_range(0.5..1.0));
                wait = (wait * 2).min(MAX_WAIT);
                pause
            }
        };
        tokio::select! {
            biased;
            () = client.stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

#[derive(Default)]
struct StreamPosition {
    /// The last event, from which the server can resume.
    last_event_id: Option<String>,
    /// When all listings were last said to have changed.
    missed_at: Option<Instant>,
}

impl StreamPosition {
    /// Begins a stream. Notifications before it may be lost.
    fn begin(&mut self, client: &McpHttpClient) {
        let lately = self.missed_at.is_some_and(|when| when.elapsed() < MISSED_INTERVAL);
        if self.last_event_id.is_none() && !lately {
            self.missed_at = Some(Instant::now());
            for list in ListKind::ALL {
                client.events.list_changed(list);
            }
        }
    }
}

async fn attempt(client: &Arc<McpHttpClient>, position: &mut StreamPosition) -> StreamEnd {
    let response = match client.get(position.last_event_id.as_deref(), RESPONSE_TIMEOUT).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(%error, "the notification stream of an MCP server failed");
            return StreamEnd::Failed;
        }
    };
    if !is_event_stream(&response) {
        let status = response.status;
        response.body.leave();
        // Also 404: many servers have nothing at all for GET, and that a session has ended shows with
        // the next request.
        let later = status.is_server_error() || matches!(status.as_u16(), 408 | 409 | 429);
        return if later && status.as_u16() != 501 {
            StreamEnd::Failed
        } else {
            StreamEnd::Unsupported
        };
    }
    position.begin(client);
    let mut source = EventSource::new(response.body, client.max_bytes);
    source.set_timeout(None);
    loop {
        match source.message().await {
            Ok(Some(message)) => take(client, &message),
            Ok(None) => break,
            Err(error) => {
                tracing::debug!(%error, "the notification stream of an MCP server broke off");
                break;
            }
        }
    }
    let (id, retry) = source.resume_point();
    if let Some(id) = id {
        position.last_event_id = Some(id.to_owned());
    }
    if source.has_events || retry.is_some() { StreamEnd::Ended(retry) } else { StreamEnd::Failed }
}

fn take(client: &Arc<McpHttpClient>, message: &Bytes) {
    incoming::for_each(message, &client.discarded, |message| match message {
        IncomingMessage::ListChanged(list) => client.events.list_changed(list),
        // Responses come by their own streams.
        IncomingMessage::Response(..) => client.discarded.unexpected(),
        other => {
            if let Some(response) = client.requests.route(other, &client.discarded) {
                client.notify_later(&client.service, response);
            }
        }
    });
}
