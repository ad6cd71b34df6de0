//! Connections: taken, bounded, and let go in order.

use std::{convert::Infallible, sync::Arc};

use axum::{Router, body::Body};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    App,
    http::{
        connection::{
            ConnectionActivity, ConnectionSupervisor, ConnectionTimeouts, TICK, TrackedStream,
        },
        identity,
    },
    rest,
};

/// The largest head of a request, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1_024;
/// The time to wait when the system has no more files or memory for connections.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The time that calls that were told to stop have to be recorded.
const LAST_MOMENT: Duration = Duration::from_secs(4);

/// Answers connections until told to stop; then lets what runs come to its end, for as
/// long as the settings allow.
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: CancellationToken) {
    let routers = (rest::routes(app.clone()), rest::refusals());
    let places = Arc::new(Semaphore::new(app.settings.max_connections));
    let supervisor = Arc::new(ConnectionSupervisor::default());
    let timeouts =
        ConnectionTimeouts { head: app.settings.header_timeout, idle: app.settings.idle_timeout };
    let mut tick = tokio::time::interval(TICK);
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await;
            (place, listener.accept().await)
        };
        let (place, stream) = tokio::select! {
            () = stop.cancelled() => break,
            _ = tick.tick() => {
                supervisor.tick(timeouts);
                app.mcp.sessions.sweep();
                continue;
            }
            accepted = next => accepted,
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let activity = supervisor.activity();
        let (app, routers, noted) = (app.clone(), routers.clone(), activity.clone());
        let task = tokio::spawn(async move {
            connection(app, routers, stream, noted).await;
            drop(place);
        });
        supervisor.supervise(activity, task.abort_handle());
    }
    drop(listener);
    app.gate.begin_stopping();
    drain(&app, &supervisor).await;
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
    app: Arc<App>,
    (routes, refusals): (Router, Router),
    stream: TcpStream,
    activity: Arc<ConnectionActivity>,
) {
    // An answer is one small write: waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(TrackedStream { stream, activity: activity.clone() });
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (app, busy) = (app.clone(), activity.busy());
        let (routes, refusals) = (routes.clone(), refusals.clone());
        async move {
            let request = request.map(Body::new);
            let response = identity::handle(&app, routes, &refusals, request).await;
            Ok::<_, Infallible>(busy.until_sent(response))
        }
    });
    let connection =
        http1::Builder::new().max_buf_size(MAX_HEAD_BYTES).serve_connection(stream, service);
    if let Err(error) = connection.await {
        tracing::debug!(%error, "a connection ended badly");
    }
}
