//! Connections: taken, bounded, and let go in order.

use std::{convert::Infallible, sync::Arc};

use axum::{Router, body::Body};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::{Duration, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{App, http::front, rest};

/// How much of a request's head is read, in bytes.
const MAX_HEAD_BYTES: usize = 64 * 1_024;
/// How long to wait when the system has no more files or memory for connections.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Answers connections until told to stop; then lets what runs come to its end, for as
/// long as the settings allow.
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: CancellationToken) {
    let router = rest::router(app.clone());
    let places = Arc::new(Semaphore::new(app.settings.max_connections));
    loop {
        let place = places.clone().acquire_owned();
        let (place, stream) = tokio::select! {
            () = stop.cancelled() => break,
            (place, stream) = async { (place.await, listener.accept().await) } => (place, stream),
        };
        let stream = match stream {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        let (app, router, stop) = (app.clone(), router.clone(), stop.clone());
        tokio::spawn(async move {
            connection(app, router, stream, stop).await;
            drop(place);
        });
    }
    drop(listener);
    app.gate.begin_stopping();
    let all = u32::try_from(app.settings.max_connections).unwrap_or(u32::MAX);
    if timeout(app.settings.drain_timeout, places.acquire_many(all)).await.is_err() {
        tracing::warn!("calls were still running when the time to stop was up");
        app.gate.stop_all();
        // Those that were told to stop get a moment to be recorded.
        let _ = timeout(Duration::from_secs(4), places.acquire_many(all)).await;
    }
}

async fn connection(app: Arc<App>, router: Router, stream: TcpStream, stop: CancellationToken) {
    // An answer is one small write: waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let header_timeout = app.settings.header_timeout;
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (app, router) = (app.clone(), router.clone());
        async move {
            let request = request.map(Body::new);
            Ok::<_, Infallible>(front::answer(&app, router, request).await)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    let result = tokio::select! {
        result = connection.as_mut() => result,
        () = stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended badly");
    }
}
