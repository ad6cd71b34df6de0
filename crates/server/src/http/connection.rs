//! Connections: accepted, bounded, and ended in order.
//!
//! Timers and cancellation that every request would have to arm and to look at cost more
//! than the request does. So a connection only notes what it is doing, in atomics, and a
//! supervisor looks at all of them now and then.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    response::Response,
};
use bytes::Bytes;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::AbortHandle,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{App, http::identity, rest};

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

/// The interval at which the supervisor looks.
const TICK: Duration = Duration::from_millis(100);

/// After so many ticks a client that takes nothing is given up when the server stops.
const STUCK_TICKS: u64 = 10;

/// Between requests.
const IDLE: u8 = 0;
/// A request has begun to come in.
const HEAD: u8 = 1;
/// A request is being answered.
const BUSY: u8 = 2;
/// A long answer is being sent.
const SENDING: u8 = 3;

/// The activity of a connection, and since which tick.
#[derive(Debug, Default)]
struct ConnectionActivity {
    phase: AtomicU8,
    since: AtomicU64,
    /// True if the client has left no room for what it is sent.
    blocked: AtomicBool,
    clock: Arc<AtomicU64>,
}

impl ConnectionActivity {
    fn enter(&self, phase: u8) {
        self.phase.store(phase, Relaxed);
        self.touch();
    }

    /// Notes how an attempt to write ended.
    fn wrote(&self, result: &Poll<io::Result<usize>>) {
        match result {
            Poll::Ready(_) => {
                self.blocked.store(false, Relaxed);
                self.touch();
            }
            Poll::Pending => self.blocked.store(true, Relaxed),
        }
    }

    fn touch(&self) {
        self.since.store(self.clock.load(Relaxed), Relaxed);
    }

    /// A request is being answered, until the guard is dropped.
    fn busy(self: &Arc<Self>) -> BusyGuard {
        self.enter(BUSY);
        BusyGuard(self.clone())
    }
}

/// Ends the answering of a request, also one that was given up.
struct BusyGuard(Arc<ConnectionActivity>);

/// The largest response that the system takes at one go, in bytes.
const SHORT_ANSWER_BYTES: u64 = 65_536;

impl BusyGuard {
    /// The answer; one that takes a while to send is part of the answering until it is sent.
    fn until_sent(self, response: Response) -> Response {
        let short = response.body().size_hint().exact();
        if short.is_some_and(|bytes| bytes <= SHORT_ANSWER_BYTES) {
            return response;
        }
        self.0.enter(SENDING);
        response.map(|body| Body::new(TrackedBody { body, _busy: self }))
    }
}

/// A body that keeps its connection busy.
struct TrackedBody {
    body: Body,
    _busy: BusyGuard,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.enter(IDLE);
    }
}

/// The time that a connection may be in a phase.
#[derive(Debug, Clone, Copy)]
struct ConnectionTimeouts {
    /// For the head of a request to come in.
    head: Duration,
    /// Between requests, and for a client to take what it is sent.
    idle: Duration,
}

/// All the connections that are open.
#[derive(Debug, Default)]
struct ConnectionSupervisor {
    clock: Arc<AtomicU64>,
    open: Mutex<Vec<(Arc<ConnectionActivity>, AbortHandle)>>,
}

impl ConnectionSupervisor {
    /// The note of a new connection.
    fn activity(&self) -> Arc<ConnectionActivity> {
        let activity =
            ConnectionActivity { clock: self.clock.clone(), ..ConnectionActivity::default() };
        activity.touch();
        Arc::new(activity)
    }

    /// Takes a connection into keeping.
    fn supervise(&self, activity: Arc<ConnectionActivity>, task: AbortHandle) {
        self.lock().push((activity, task));
    }

    /// Looks at all connections once: those that are over are forgotten, those that took
    /// too long are ended.
    fn tick(&self, timeouts: ConnectionTimeouts) {
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let ticks = |time: Duration| {
            u64::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).max(1)
        };
        let (head, idle) = (ticks(timeouts.head), ticks(timeouts.idle));
        self.lock().retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let too_long = match activity.phase.load(Relaxed) {
                HEAD => age > head,
                IDLE | SENDING => age > idle,
                _ => false,
            };
            if too_long {
                task.abort();
            }
            !task.is_finished()
        });
    }

    /// Ends the connections that do nothing; tells how many are still at work.
    fn end_idle(&self) -> usize {
        // One that moved a byte within the last two ticks may be in the middle of an answer.
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let mut open = self.lock();
        open.retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let idle = activity.phase.load(Relaxed) == IDLE && age > 2;
            // A client that takes nothing does not keep a server from stopping.
            let stuck = activity.blocked.load(Relaxed) && age > STUCK_TICKS;
            if idle || stuck {
                task.abort();
            }
            !task.is_finished()
        });
        open.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(Arc<ConnectionActivity>, AbortHandle)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A stream that notes when bytes move.
struct TrackedStream {
    stream: TcpStream,
    activity: Arc<ConnectionActivity>,
}

impl AsyncRead for TrackedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.stream).poll_read(context, buffer);
        if buffer.filled().len() > before && self.activity.phase.load(Relaxed) == IDLE {
            self.activity.enter(HEAD);
        }
        result
    }
}

impl AsyncWrite for TrackedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.activity.wrote(&result);
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(context, bytes);
        self.activity.wrote(&result);
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
