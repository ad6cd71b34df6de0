//! Supervises one upstream: connects, reads its listings, listens, and connects again when the connection is lost.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::json;
use tokio::{sync::mpsc, task::JoinSet, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{
    ConfiguredUpstream, HostRules, HostShared,
    upstream::{DownCause, Upstream, UpstreamState},
};
use crate::{
    ServerText,
    connection::{self, ConnectOptions, Connection, ConnectionEvent},
    listings::ServerListings,
};

/// The delay before the first attempt to connect again.
const FIRST_RESTART_DELAY: Duration = Duration::from_millis(200);
/// A connection that lasted so long resets the delay.
const STABLE_AFTER: Duration = Duration::from_secs(10);
/// The time in which further change notifications are collected before the listings are read again.
const NOTIFICATION_DEBOUNCE: Duration = Duration::from_millis(50);
/// The shortest time between two readings of the listings: a server may notify all the time.
const MIN_REFRESH_INTERVAL: Duration = Duration::from_secs(1);
/// The delay before a busy server that did not list its tools is asked again.
const BUSY_RETRY_DELAY: Duration = Duration::from_secs(10);
/// The time between two checks whether a server is idle.
const IDLE_CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Makes an upstream, and supervises it until the host stops or the upstream is retired.
pub(super) fn start(
    mut configured: ConfiguredUpstream,
    rules: &Arc<HostRules>,
    shared: &Arc<HostShared>,
    host_stop: &CancellationToken,
    tasks: &mut JoinSet<()>,
) -> Arc<Upstream> {
    let unresolved = configured.unresolved.take();
    let stop = host_stop.child_token();
    let upstream = Arc::new(Upstream::new(configured, rules.clone(), shared.clone(), stop));
    match unresolved {
        _ if !upstream.settings.enabled => {}
        Some(error) => {
            tracing::warn!(upstream = upstream.id, %error, "cannot start the upstream");
            let cause = DownCause::Settings;
            upstream.set_state(UpstreamState::Down { error, cause });
        }
        None => _ = tasks.spawn(supervise(upstream.clone(), upstream.stop.clone())),
    }
    upstream
}

/// Supervises an upstream until `stop`. It never gives up: a server that is back is used again.
async fn supervise(upstream: Arc<Upstream>, stop: CancellationToken) {
    let mut delay = FIRST_RESTART_DELAY;
    if upstream.is_lazy() && serve_pinned(&upstream).await {
        upstream.set_idle();
        if or_stop(&stop, upstream.wake.notified()).await.is_none() {
            return;
        }
        upstream.set_state(UpstreamState::Starting);
    }
    loop {
        let mut ready_at = None;
        let Some(connected) = or_stop(&stop, connect(&upstream)).await else { return };
        let ended = match connected {
            Ok((connection, listings)) => {
                apply(&upstream, listings).await;
                ready_at = Some(Instant::now());
                upstream.set_connection(Some(connection.clone()));
                upstream.set_state(UpstreamState::Ready);
                upstream.announce_connected();
                let ended = listen(&upstream, &connection, &stop).await;
                upstream.set_connection(None);
                if ended == Disconnect::Idle {
                    serve_pinned(&upstream).await;
                    upstream.set_idle();
                    upstream.announce_stopped();
                }
                connection.close().await;
                ended
            }
            Err((error, cause)) => Disconnect::Lost(error, cause),
        };
        match ended {
            Disconnect::Stopped => return,
            Disconnect::Idle => {
                if or_stop(&stop, upstream.wake.notified()).await.is_none() {
                    return;
                }
                upstream.set_state(UpstreamState::Starting);
            }
            Disconnect::Lost(error, cause) => {
                upstream.announce_failed(&error);
                // Pinned tools stay known: a caller learns that the upstream is down.
                if upstream.listings().is_none() {
                    serve_pinned(&upstream).await;
                }
                upstream.set_state(UpstreamState::Down { error, cause });
                upstream.restarts.fetch_add(1, Ordering::Relaxed);
                if ready_at.is_some_and(|at| at.elapsed() > STABLE_AFTER) {
                    delay = FIRST_RESTART_DELAY;
                }
                // Servers that died together do not come back together.
                let jitter = rand::rng().random_range(0.8..1.2);
                if or_stop(&stop, tokio::time::sleep(delay.mul_f64(jitter))).await.is_none() {
                    return;
                }
                let max_delay = Duration::from_millis(upstream.settings.max_restart_delay_ms);
                delay = (delay * 2).min(max_delay);
                // Calls wait for one that was ready; one that never was stays down until it is.
                if ready_at.is_some() {
                    upstream.set_state(UpstreamState::Starting);
                }
            }
        }
    }
}

/// Admits listings; false if nothing has changed. Schemas are compiled on a thread of their own: a server may list as
/// much as it likes, and nobody else waits for it.
async fn apply(upstream: &Arc<Upstream>, listings: ServerListings) -> bool {
    let upstream = upstream.clone();
    tokio::task::spawn_blocking(move || upstream.apply(listings)).await.unwrap_or(false)
}

async fn or_stop<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        done = work => Some(done),
    }
}

/// Serves the pinned tools while the server does not run; false if none are pinned.
async fn serve_pinned(upstream: &Arc<Upstream>) -> bool {
    let Some(pinned) = upstream.pinned_listings() else { return false };
    apply(upstream, pinned).await;
    true
}

/// Connects, and reads all listings. An error has its kind.
async fn connect(upstream: &Upstream) -> Result<(Connection, ServerListings), (String, DownCause)> {
    let settings = &upstream.settings;
    let connecting = async {
        let options = ConnectOptions {
            limits: settings.connection_limits(),
            protocol: settings.protocol,
            client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
            // Who may not ask is not told that somebody could be asked.
            capabilities: if settings.questions {
                upstream.shared.capabilities.clone()
            } else {
                json!({})
            },
        };
        let connected =
            connection::connect(&upstream.target, &options, &upstream.shared.spawner).await;
        let connection =
            connected.map_err(|error| (error_chain(&error), DownCause::from(&error)))?;
        match ServerListings::read(&connection).await {
            Ok(listings) => Ok((connection, listings)),
            Err(error) => {
                let stderr = connection.stderr();
                connection.close().await;
                Err((with_stderr(error.message, &stderr), DownCause::Other))
            }
        }
    };
    let limit = settings.connect_timeout_ms;
    timeout(Duration::from_millis(limit), connecting).await.unwrap_or_else(|_| {
        Err((format!("not ready within {limit} ms (connect_timeout_ms)"), DownCause::Timeout))
    })
}

/// An error with all its sources.
pub fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// An error with the last line that the server printed on stderr.
pub fn with_stderr(error: String, stderr: &ServerText) -> String {
    match stderr.last_line().map(|line| line.for_people()) {
        Some(line) if !error.contains(&line) => format!("{error}; stderr: {line}"),
        _ => error,
    }
}

/// The end of a connection.
#[derive(PartialEq, Eq)]
enum Disconnect {
    /// The host stops.
    Stopped,
    /// No call needs it.
    Idle,
    /// The connection was lost, or could not be made.
    Lost(String, DownCause),
}

/// Listens to a connected server, and reads its listings again when they may have changed.
async fn listen(
    upstream: &Arc<Upstream>,
    connection: &Connection,
    stop: &CancellationToken,
) -> Disconnect {
    let (_sender, no_events) = mpsc::channel(1);
    let mut events = connection.events().unwrap_or(no_events);
    let refresh = Duration::from_millis(upstream.settings.refresh_interval_ms);
    let mut read_at = Instant::now();
    let mut due = None;
    let idle_stop = Duration::from_millis(upstream.settings.idle_stop_ms);
    let may_idle = upstream.is_lazy() && !idle_stop.is_zero();
    loop {
        let next_read = match due {
            Some(due) => Some(due),
            None if refresh.is_zero() => None,
            None => Some(read_at + refresh),
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Disconnect::Stopped,
            event = events.recv() => match event {
                Some(ConnectionEvent::Closed(reason)) => return Disconnect::Lost(reason, DownCause::Other),
                Some(_) => {
                    let soonest = (read_at + MIN_REFRESH_INTERVAL).max(Instant::now() + NOTIFICATION_DEBOUNCE);
                    due = due.or(Some(soonest));
                }
                None => return Disconnect::Lost("the connection was closed".into(), DownCause::Other),
            },
            () = sleep_until(next_read) => {
                due = None;
                let read = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Disconnect::Stopped,
                    read = ServerListings::read(connection) => read,
                };
                read_at = Instant::now();
                match read {
                    Ok(listings) => {
                        if apply(upstream, listings).await {
                            tracing::info!(upstream = upstream.id, "the listings changed");
                        }
                    }
                    // A server that does one thing at a time responds when it is done.
                    Err(error) if error.timed_out && upstream.is_busy() => {
                        let error = error.message;
                        tracing::info!(upstream = upstream.id, error, "busy; listing again later");
                        due = Some(read_at + BUSY_RETRY_DELAY);
                    }
                    Err(error) => {
                        let error = error.message;
                        tracing::warn!(upstream = upstream.id, error, "cannot read the listings");
                        return Disconnect::Lost(error, DownCause::Other);
                    }
                }
            }
            () = tokio::time::sleep(IDLE_CHECK_INTERVAL), if may_idle => {
                if !upstream.is_busy() && upstream.idle_time() > idle_stop {
                    return Disconnect::Idle;
                }
            }
        }
    }
}

async fn sleep_until(when: Option<Instant>) {
    match when {
        Some(when) => tokio::time::sleep_until(when.into()).await,
        None => std::future::pending().await,
    }
}
