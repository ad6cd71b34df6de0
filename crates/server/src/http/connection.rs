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
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
use contract::codes;
use futures_util::task::AtomicWaker;
use gate::Failure;
use hyper::{
    body::{Frame, Incoming, SizeHint},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    task::AbortHandle,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

use crate::{
    App,
    http::{
        identity,
        unread::{UnreadFrame, UnreadResponses},
    },
    rest,
};

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
pub async fn serve(app: Arc<App>, listener: TcpListener, stop: CancellationToken) {
    let routers = (rest::routes(app.clone()), rest::refusals());
    let accepted = Arc::new(Semaphore::new(app.settings.max_connections + SPARE_CONNECTIONS));
    let supervisor = ConnectionSupervisor::new(app.settings.max_connections, app.unread.clone());
    let supervisor = Arc::new(supervisor);
    let timeouts = ConnectionTimeouts {
        head: app.settings.header_timeout,
        idle: app.settings.idle_timeout,
        half_closed: app.settings.half_closed_timeout,
    };
    let mut tick = tokio::time::interval(TICK);
    loop {
        let next = async {
            let permit = accepted.clone().acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, stream) = tokio::select! {
            () = stop.cancelled() => break,
            _ = tick.tick() => {
                supervisor.tick(timeouts);
                supervisor.end_unread();
                if accepted.available_permits() == 0 {
                    supervisor.end_longest_idle(false);
                }
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
        let places = supervisor.clone();
        let task = tokio::spawn(async move {
            connection(app, routers, stream, noted, places).await;
            drop(permit);
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
    supervisor: Arc<ConnectionSupervisor>,
) {
    // An answer is one small write: waiting to fill a packet only adds delay.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(TrackedStream { stream, activity: activity.clone() });
    let place = Arc::new(OnceLock::new());
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let (app, busy) = (app.clone(), activity.busy());
        let (routes, refusals) = (routes.clone(), refusals.clone());
        let needs_place = place.get().is_none() && !is_health_check(request.uri().path());
        let needed = needs_place.then(|| (place.clone(), supervisor.clone()));
        async move {
            let request = request.map(Body::new);
            if app.unread.is_full() && !is_health_check(request.uri().path()) {
                Box::pin(app.unread.wait_for_room()).await;
            }
            if let Some((place, supervisor)) = needed {
                if !Box::pin(supervisor.take_place(&place, app.settings.header_timeout)).await {
                    let failure = no_place(app.settings.max_connections);
                    let mut response =
                        Box::pin(identity::refuse(&app, &refusals, request, failure)).await;
                    let close = HeaderValue::from_static("close");
                    response.headers_mut().insert(header::CONNECTION, close);
                    return Ok(busy.until_sent(response));
                }
                busy.0.has_place.store(true, Relaxed);
            }
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

fn is_health_check(path: &str) -> bool {
    matches!(path, "/healthz" | "/readyz")
}

/// The failure where all connections are at work.
fn no_place(max_connections: usize) -> Failure {
    let message = format!(
        "{max_connections} connections are at work (server.max_connections); retry shortly"
    );
    let mut failure = Failure::new(codes::TOO_MANY_REQUESTS, message);
    failure.retry_after = Some(1);
    failure
}

/// The interval at which the supervisor looks.
const TICK: Duration = Duration::from_millis(100);

/// After so many ticks a client that takes nothing is given up when the server stops.
const STUCK_TICKS: u64 = 10;

/// After so many ticks a client that takes nothing may be given up for others that do.
const UNREAD_TICKS: u64 = 2;

/// Between requests.
const IDLE: u8 = 0;
/// Nothing has come in yet.
const NEW: u8 = 4;
/// A request has begun to come in.
const HEAD: u8 = 1;
/// A request is being answered.
const BUSY: u8 = 2;
/// A long answer is being sent.
const SENDING: u8 = 3;

/// The activity of a connection, and since which tick.
#[derive(Debug)]
struct ConnectionActivity {
    phase: AtomicU8,
    since: AtomicU64,
    /// True if the client has left no room for what it is sent.
    blocked: AtomicBool,
    /// True if it has a place among `max_connections`.
    has_place: AtomicBool,
    /// The tick at which the client closed its side before it had its response; 0 if it did not.
    half_closed: AtomicU64,
    /// Woken when such a client has its response.
    reader: AtomicWaker,
    unread: UnreadFrame,
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

    /// Notes that the client has closed its side. True if it may still be waiting for a response: a client that has
    /// nothing more to send cannot be told from one that went away.
    fn may_wait(&self, context: &Context<'_>) -> bool {
        self.reader.register(context.waker());
        let is_waiting = matches!(self.phase.load(Relaxed), BUSY | SENDING);
        if is_waiting && self.half_closed.load(Relaxed) == 0 {
            self.half_closed.store(self.clock.load(Relaxed).max(1), Relaxed);
        }
        is_waiting
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
        response.map(|body| Body::new(TrackedBody { body, busy: self }))
    }
}

/// A body that keeps its connection busy.
struct TrackedBody {
    body: Body,
    busy: BusyGuard,
}

impl HttpBody for TrackedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        let data = match &frame {
            Poll::Ready(Some(Ok(frame))) => frame.data_ref(),
            _ => None,
        };
        self.busy.0.unread.set(data.map_or(0, |bytes| bytes.len() as u64));
        frame
    }

    /// Never before it is asked for one frame more, which is when the last one is sent.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.enter(IDLE);
        self.0.unread.set(0);
        if self.0.half_closed.load(Relaxed) > 0 {
            self.0.reader.wake();
        }
    }
}

/// The time that a connection may be in a phase.
#[derive(Debug, Clone, Copy)]
struct ConnectionTimeouts {
    /// For the head of a request to come in; of the first one, from when the connection is accepted.
    head: Duration,
    /// Between requests, and for a client to take what it is sent.
    idle: Duration,
    /// For a response to a client that has closed its side.
    half_closed: Duration,
}

/// All the connections that are open.
#[derive(Debug)]
struct ConnectionSupervisor {
    /// Every connection that has made a request has a place, health checks aside.
    places: Arc<Semaphore>,
    clock: Arc<AtomicU64>,
    unread: Arc<UnreadResponses>,
    /// The tick since which they take more than they may; 0 if they do not.
    full_since: AtomicU64,
    open: Mutex<Vec<(Arc<ConnectionActivity>, AbortHandle)>>,
}

impl ConnectionSupervisor {
    fn new(places: usize, unread: Arc<UnreadResponses>) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            clock: Arc::default(),
            unread,
            full_since: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// The note of a new connection.
    fn activity(&self) -> Arc<ConnectionActivity> {
        let activity = ConnectionActivity {
            phase: AtomicU8::new(NEW),
            since: AtomicU64::new(0),
            blocked: AtomicBool::new(false),
            has_place: AtomicBool::new(false),
            half_closed: AtomicU64::new(0),
            reader: AtomicWaker::new(),
            unread: UnreadFrame::new(self.unread.clone()),
            clock: self.clock.clone(),
        };
        activity.enter(NEW);
        Arc::new(activity)
    }

    /// Takes a place for a connection, if there is one in time.
    async fn take_place(&self, place: &OnceLock<OwnedSemaphorePermit>, wait: Duration) -> bool {
        let taken = match self.places.clone().try_acquire_owned() {
            Ok(taken) => Some(taken),
            Err(_) => {
                self.end_longest_idle(true);
                let free = self.places.clone().acquire_owned();
                tokio::time::timeout(wait, free).await.ok().and_then(Result::ok)
            }
        };
        taken.is_some_and(|taken| place.set(taken).is_ok())
    }

    /// Ends the connection that has been idle for longest, to make room; of all, or of those with a place.
    fn end_longest_idle(&self, with_place: bool) {
        let open = self.lock();
        let idle = open.iter().filter(|(activity, task)| {
            matches!(activity.phase.load(Relaxed), IDLE | NEW)
                && (activity.has_place.load(Relaxed) || !with_place)
                && !task.is_finished()
        });
        if let Some((activity, task)) =
            idle.min_by_key(|(activity, _)| activity.since.load(Relaxed))
        {
            // The next one to make room ends another.
            activity.phase.store(BUSY, Relaxed);
            task.abort();
        }
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
        let half_closed = ticks(timeouts.half_closed);
        self.lock().retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let too_long = match activity.phase.load(Relaxed) {
                NEW | HEAD => age > head,
                IDLE | SENDING => age > idle,
                _ => false,
            };
            let closed = activity.half_closed.load(Relaxed);
            let is_gone = closed > 0 && now.saturating_sub(closed) > half_closed;
            if too_long || is_gone {
                task.abort();
            }
            !task.is_finished()
        });
    }

    /// Where the responses that wait for their clients take more than they may, ends the connections whose clients
    /// have taken nothing for longest.
    fn end_unread(&self) {
        if !self.unread.is_full() {
            self.full_since.store(0, Relaxed);
            return;
        }
        let now = self.clock.load(Relaxed);
        let _ = self.full_since.compare_exchange(0, now, Relaxed, Relaxed);
        // Nor may those who take a little now and then keep it full.
        let is_lasting = now.saturating_sub(self.full_since.load(Relaxed)) > STUCK_TICKS;
        let least_age = if is_lasting { 0 } else { UNREAD_TICKS };
        let open = self.lock();
        let since = |activity: &ConnectionActivity| activity.since.load(Relaxed);
        let mut deaf: Vec<_> = open
            .iter()
            .filter(|(activity, _)| {
                activity.blocked.load(Relaxed)
                    && activity.unread.bytes() > 0
                    && now.saturating_sub(since(activity)) >= least_age
            })
            .collect();
        deaf.sort_by_key(|(activity, _)| since(activity));
        let mut ended = 0_usize;
        for (activity, task) in deaf {
            if !self.unread.is_full() {
                break;
            }
            task.abort();
            ended += 1;
            // At once: ticks that were late come together.
            activity.unread.set(0);
        }
        if ended > 0 {
            let max_bytes = self.unread.max_bytes();
            tracing::warn!(
                connections = ended,
                "closed connections whose clients do not read their responses: more than {max_bytes} bytes \
                 wait (server.max_unread_bytes)"
            );
        }
    }

    /// Ends the connections that do nothing; tells how many are still at work.
    fn end_idle(&self) -> usize {
        // One that moved a byte within the last two ticks may be in the middle of an answer.
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let mut open = self.lock();
        open.retain(|(activity, task)| {
            let age = now.saturating_sub(activity.since.load(Relaxed));
            let idle = matches!(activity.phase.load(Relaxed), IDLE | NEW) && age > 2;
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
        if buffer.filled().len() > before {
            match self.activity.phase.load(Relaxed) {
                IDLE => self.activity.enter(HEAD),
                // Its time runs from the accept.
                NEW => self.activity.phase.store(HEAD, Relaxed),
                _ => {}
            }
        } else if matches!(result, Poll::Ready(Ok(())))
            && buffer.remaining() > 0
            && self.activity.may_wait(context)
        {
            // Read again once the response is sent; until then the supervisor watches over it.
            return Poll::Pending;
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
