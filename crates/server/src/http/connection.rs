//! Connections: accepted, bounded, and ended in order.
//!
//! Timers and cancellation that every request would have to arm and to look at cost more
//! than the request does. So a connection only notes what it is doing, in atomics, and a
//! supervisor looks at all of them now and then.

mod activity;
mod encryption;
mod supervisor;
mod tracked;

use std::{convert::Infallible, sync::Arc};

use axum::http::{HeaderValue, header};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use self::{
    activity::ConnectionActivity,
    supervisor::{ConnectionSupervisor, TICK},
    tracked::TrackedStream,
};
use crate::{App, CurrentApp, current_app::RoutedApp, http::identity};

/// The largest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1_024;
/// The time to wait when the system has no more files or memory for connections.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The time that calls that were told to stop have to be recorded.
const LAST_MOMENT: Duration = Duration::from_secs(4);

/// The number of connections beyond `max_connections` that are accepted: a health check gets through
/// when all others are taken.
const SPARE_CONNECTIONS: usize = 16;

/// Answers connections until told to stop; then lets what runs come to its end, for as
/// long as the settings allow.
pub async fn serve(current: Arc<CurrentApp>, listener: TcpListener, stop: CancellationToken) {
    let app = current.app();
    let accepted = Arc::new(Semaphore::new(app.settings.max_connections + SPARE_CONNECTIONS));
    let supervisor = Arc::new(ConnectionSupervisor::new(&app));
    let start = |stream: TcpStream, permit: OwnedSemaphorePermit| {
        let activity = supervisor.activity();
        let (current, noted) = (current.clone(), activity.clone());
        let places = supervisor.clone();
        let task = tokio::spawn(async move {
            connection(current, stream, noted, places).await;
            drop(permit);
        });
        supervisor.supervise(activity, task.abort_handle());
    };
    let mut tick = tokio::time::interval(TICK);
    let mut tokens = app.mcp.tokens.subscribe();
    // One that has connected while all others are taken.
    let mut arrived = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = tick.tick() => {
                supervisor.tick(&current.load().app.settings);
                supervisor.end_unread();
                if arrived.is_some() {
                    supervisor.make_room();
                }
                app.mcp.sessions.sweep();
            }
            Ok(()) = tokens.changed() => {
                supervisor.places.share_among(&tokens.borrow_and_update());
            }
            stream = listener.accept(), if arrived.is_none() => match stream {
                Ok((stream, _)) => match accepted.clone().try_acquire_owned() {
                    Ok(permit) => start(stream, permit),
                    Err(_) => {
                        supervisor.make_room();
                        arrived = Some(stream);
                    }
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            },
            permit = accepted.clone().acquire_owned(), if arrived.is_some() => {
                if let (Some(stream), Ok(permit)) = (arrived.take(), permit) {
                    start(stream, permit);
                }
            }
        }
    }
    drop((arrived, listener));
    app.gate.begin_stopping();
    drain(&current.app(), &supervisor).await;
}

/// Waits for the connections that are at work. From now on every answer says that it is
/// the last one on its connection.
async fn drain(app: &App, supervisor: &ConnectionSupervisor) {
    let end = Instant::now() + app.settings.drain_timeout;
    while supervisor.end_idle() > 0 && Instant::now() < end {
        tokio::time::sleep(TICK).await;
    }
    // Jobs of the queue run without a connection.
    while app.gate.is_running() && Instant::now() < end {
        tokio::time::sleep(TICK).await;
    }
    if supervisor.end_idle() == 0 && !app.gate.is_running() {
        return;
    }
    tracing::warn!("calls were still running when the time to stop was up");
    app.gate.stop_all();
    let end = Instant::now() + LAST_MOMENT;
    while (app.gate.is_running() || supervisor.end_idle() > 0) && Instant::now() < end {
        tokio::time::sleep(TICK).await;
    }
}

async fn connection(
    current: Arc<CurrentApp>,
    stream: TcpStream,
    activity: Arc<ConnectionActivity>,
    supervisor: Arc<ConnectionSupervisor>,
) {
    // An answer is one small write: waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let _open = OpenConnection(activity.clone());
    let Some(tls) = current.load().app.settings.tls.clone() else {
        return speak(current, stream, activity, supervisor).await;
    };
    // Apart, so that a plain connection takes no room for it.
    let encrypted = async move {
        if let Some(stream) = encryption::begin(&tls, stream).await {
            speak(current, stream, activity, supervisor).await;
        }
    };
    Box::pin(encrypted).await;
}

/// Answers the requests of a connection.
async fn speak<S>(
    current: Arc<CurrentApp>,
    stream: S,
    activity: Arc<ConnectionActivity>,
    supervisor: Arc<ConnectionSupervisor>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(TrackedStream { stream, activity: activity.clone() });
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (current, busy) = (current.load_full(), activity.busy());
        let supervisor = supervisor.clone();
        async move {
            let RoutedApp { app, routes, refusals } = &*current;
            let request = request.map(|body| busy.request_body(body));
            let is_health_check = identity::is_health_check(request.uri().path());
            if app.unread.is_full() && !is_health_check {
                Box::pin(app.unread.wait_for_room()).await;
            }
            let identified = identity::identify(app, &request);
            if let Ok((caller, _)) = &identified
                && !is_health_check
                && !busy.0.has_place_of(caller.name())
            {
                let wait = app.settings.header_timeout;
                let taken = Box::pin(supervisor.take_place(&busy.0, caller.name(), wait)).await;
                if let Err(failure) = taken {
                    let mut response =
                        Box::pin(identity::refuse(app, refusals, request, failure)).await;
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                    return Ok(busy.until_sent(response));
                }
            }
            let response = identity::handle(app, routes, refusals, request, identified).await;
            Ok::<_, Infallible>(busy.until_sent(response))
        }
    });
    let connection =
        http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).serve_connection(stream, service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended badly");
    }
}

/// Gives the place of a connection back when it ends, also where it is ended.
struct OpenConnection(Arc<ConnectionActivity>);

impl Drop for OpenConnection {
    fn drop(&mut self) {
        drop(self.0.take_place());
    }
}
