//! Keeps one upstream: connects, lists, listens, and begins again when it went away.

use std::{
    future::Future,
    sync::{Arc, atomic::Ordering},
    time::{Duration, Instant},
};

use rand::RngExt;
use serde_json::json;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::CancellationToken;

use super::{LOOK_INTERVAL, Latest, Shared, member::Member, member::Phase};
use crate::{
    connection::{self, Connection, Event, Limits, Terms},
    lock::{self, Lock},
    offer::Offer,
};

/// The first pause before a server that went away is tried again.
const FIRST_DELAY: Duration = Duration::from_millis(200);
/// A server that lived for so long is not taken for one that dies at start.
const LIVED: Duration = Duration::from_secs(10);
/// How long further notes of a change are waited for before the listings are read again.
const SETTLE: Duration = Duration::from_millis(50);
/// The shortest time between two readings of the listings: a server may say all the time that they changed.
const LEAST_BETWEEN: Duration = Duration::from_secs(1);
/// When a server that was too busy to list what it offers is asked again.
const ASK_BUSY_AGAIN: Duration = Duration::from_secs(10);
/// How often it is looked whether a server is used.
const IDLE_INTERVAL: Duration = Duration::from_millis(200);

/// Keeps a member until `stop`. There is no final surrender: a server that is back is taken back.
pub(super) async fn keep(member: Arc<Member>, stop: CancellationToken) {
    let mut delay = FIRST_DELAY;
    if member.is_lazy() && offer_what_is_pinned(&member).await {
        member.rest();
        if or_stop(&stop, member.wanted.notified()).await.is_none() {
            return;
        }
        member.set_phase(Phase::Starting);
    }
    loop {
        let mut ready_at = None;
        let Some(reached) = or_stop(&stop, reach(&member)).await else { return };
        let over = match reached {
            Ok((connection, offer)) => {
                take(&member, offer).await;
                ready_at = Some(Instant::now());
                member.set_connection(Some(connection.clone()));
                member.set_phase(Phase::Ready);
                tracing::info!(upstream = member.id, "connected");
                let over = attend(&member, &connection, &stop).await;
                member.set_connection(None);
                if over == Over::Unused {
                    offer_what_is_pinned(&member).await;
                    member.rest();
                }
                connection.close().await;
                over
            }
            Err(error) => Over::Lost(error),
        };
        match over {
            Over::Stopped => return,
            Over::Unused => {
                if or_stop(&stop, member.wanted.notified()).await.is_none() {
                    return;
                }
                member.set_phase(Phase::Starting);
            }
            Over::Lost(error) => {
                tracing::warn!(upstream = member.id, %error, "lost");
                // What is pinned can be named: whoever calls it learns that the server is away.
                if member.offer().is_none() {
                    offer_what_is_pinned(&member).await;
                }
                member.set_phase(Phase::Down { error });
                member.restarts.fetch_add(1, Ordering::Relaxed);
                if ready_at.is_some_and(|at| at.elapsed() > LIVED) {
                    delay = FIRST_DELAY;
                }
                // Servers that died together do not come back together.
                let jitter = rand::rng().random_range(0.8..1.2);
                if or_stop(&stop, tokio::time::sleep(delay.mul_f64(jitter))).await.is_none() {
                    return;
                }
                let most = Duration::from_millis(member.settings.max_restart_delay_ms);
                delay = (delay * 2).min(most);
                // One that was there is waited for; one that never was stays down until it is.
                if ready_at.is_some() {
                    member.set_phase(Phase::Starting);
                }
            }
        }
    }
}

/// Takes what a server offers now; whether that changes anything. Schemas are compiled on a thread of their
/// own: a server may list as much as it likes, and nobody else waits for it.
async fn take(member: &Arc<Member>, offer: Offer) -> bool {
    let member = member.clone();
    tokio::task::spawn_blocking(move || member.take(offer)).await.unwrap_or(false)
}

async fn or_stop<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    tokio::select! {
        biased;
        () = stop.cancelled() => None,
        done = work => Some(done),
    }
}

/// What is pinned is offered while the server does not run; whether anything is.
async fn offer_what_is_pinned(member: &Arc<Member>) -> bool {
    let Some(pinned) = member.pinned() else { return false };
    take(member, pinned).await;
    true
}

/// Connects, and reads all listings.
async fn reach(member: &Member) -> Result<(Connection, Offer), String> {
    let settings = &member.settings;
    let connect_timeout = Duration::from_millis(settings.connect_timeout_ms);
    let limits = Limits {
        connect_timeout,
        request_timeout: connect_timeout,
        max_message_bytes: settings.max_message_bytes,
        stderr_bytes: settings.max_stderr_bytes,
        max_listed: settings.max_listed,
        max_pages: settings.max_pages,
        max_listing_bytes: settings.max_listing_bytes,
    };
    let reached = timeout(connect_timeout, async {
        let terms = Terms {
            limits,
            protocol: settings.protocol,
            client: json!({ "name": "toolgate", "version": env!("CARGO_PKG_VERSION") }),
            capabilities: member.shared.capabilities.clone(),
        };
        let connected = connection::connect(&member.target, &terms, &member.shared.spawner).await;
        let connection = connected.map_err(|error| whole(&error))?;
        match Offer::read(&connection).await {
            Ok(offer) => Ok((connection, offer)),
            Err(error) => {
                let said = connection.stderr();
                connection.close().await;
                Err(with_last_words(error.message, &said))
            }
        }
    });
    reached.await.unwrap_or_else(|_| {
        let limit = settings.connect_timeout_ms;
        Err(format!("it was not ready within {limit} ms (connect_timeout_ms)"))
    })
}

/// An error with everything that is behind it.
fn whole(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut behind = error.source();
    while let Some(error) = behind {
        text = format!("{text}: {error}");
        behind = error.source();
    }
    text
}

/// An error, and the last line that the server printed.
fn with_last_words(error: String, said: &str) -> String {
    match said.lines().rev().find(|line| !line.trim().is_empty()) {
        Some(line) if !error.contains(line.trim()) => format!("{error}; it said: {}", line.trim()),
        _ => error,
    }
}

/// How a connection came to its end.
#[derive(PartialEq, Eq)]
enum Over {
    /// We were told to.
    Stopped,
    /// Nobody used it.
    Unused,
    /// It went away.
    Lost(String),
}

/// Listens to a server that is connected, and reads its listings again when they may have changed.
async fn attend(member: &Arc<Member>, connection: &Connection, stop: &CancellationToken) -> Over {
    let (_keep, nobody) = mpsc::channel(1);
    let mut events = connection.events().unwrap_or(nobody);
    let refresh = Duration::from_millis(member.settings.refresh_interval_ms);
    let mut read_at = Instant::now();
    let mut due = None;
    let idle_stop = Duration::from_millis(member.settings.idle_stop_ms);
    let may_idle = member.is_lazy() && !idle_stop.is_zero();
    loop {
        let until_read = match due {
            Some(due) => Some(due),
            None if refresh.is_zero() => None,
            None => Some(read_at + refresh),
        };
        tokio::select! {
            biased;
            () = stop.cancelled() => return Over::Stopped,
            event = events.recv() => match event {
                Some(Event::Closed(why)) => return Over::Lost(why),
                Some(_) => {
                    let soonest = (read_at + LEAST_BETWEEN).max(Instant::now() + SETTLE);
                    due = due.or(Some(soonest));
                }
                None => return Over::Lost("the connection ended".into()),
            },
            () = sleep_until(until_read) => {
                due = None;
                let read = tokio::select! {
                    biased;
                    () = stop.cancelled() => return Over::Stopped,
                    read = Offer::read(connection) => read,
                };
                read_at = Instant::now();
                match read {
                    Ok(offer) => {
                        if take(member, offer).await {
                            tracing::info!(upstream = member.id, "what it offers has changed");
                        }
                    }
                    // A server that does one thing at a time answers when it is done.
                    Err(error) if error.silent && member.is_busy() => {
                        let error = error.message;
                        tracing::info!(upstream = member.id, error, "it is busy, and asked later");
                        due = Some(read_at + ASK_BUSY_AGAIN);
                    }
                    Err(error) => {
                        let error = error.message;
                        tracing::warn!(upstream = member.id, error, "cannot list what it offers");
                        return Over::Lost(error);
                    }
                }
            }
            () = tokio::time::sleep(IDLE_INTERVAL), if may_idle => {
                if !member.is_busy() && member.unused_for() > idle_stop {
                    return Over::Unused;
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

/// Takes a lock that was changed, by `toolgate lock accept` or by hand, without a restart.
pub(super) async fn watch_lock(
    members: Vec<Arc<Member>>,
    shared: Arc<Shared>,
    mut seen: Option<lock::Stamp>,
    stop: CancellationToken,
) {
    while or_stop(&stop, tokio::time::sleep(LOOK_INTERVAL)).await.is_some() {
        let now = lock::stamp(&shared.lock_file);
        if now == seen {
            continue;
        }
        seen = now;
        match Lock::read(&shared.lock_file) {
            // A lock that is gone is no leave to serve what it withheld.
            Ok(None) => tracing::warn!("the lock is gone; what it said until now still counts"),
            Ok(Some(lock)) => {
                shared.lock.store(Some(Arc::new(lock)));
                judge_again(&members).await;
                tracing::info!("the lock was changed, and is followed");
            }
            Err(error) => tracing::warn!(%error, "what the lock said until now still counts"),
        }
    }
}

/// Judges again what all of them offer.
async fn judge_again(members: &[Arc<Member>]) {
    let members = members.to_vec();
    let judged = tokio::task::spawn_blocking(move || {
        for member in &members {
            member.judge_again();
        }
    });
    let _ = judged.await;
}

/// Follows what the operator adds to tools until `stop`.
pub(super) async fn watch_overlays(
    members: Vec<Arc<Member>>,
    latest: Latest,
    stop: CancellationToken,
) {
    while or_stop(&stop, tokio::time::sleep(LOOK_INTERVAL)).await.is_some() {
        let latest = latest.clone();
        let Ok(Some(mut all)) = tokio::task::spawn_blocking(move || latest()).await else {
            continue;
        };
        for member in &members {
            member.set_overlays(all.remove(&member.id).unwrap_or_default());
        }
        judge_again(&members).await;
        tracing::info!("the overlays were changed, and are followed");
    }
}
