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
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed},
    },
    task::{Context, Poll},
};

use axum::{
    body::{Body, HttpBody},
    http::{HeaderValue, header},
    response::Response,
};
use bytes::Bytes;
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
    App, CurrentApp, ServerSettings,
    current_app::RoutedApp,
    http::{
        identity,
        places::{ConnectionPlace, ConnectionPlaces},
        unread::{UnreadFrame, UnreadResponses},
    },
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
    let stream = TokioIo::new(TrackedStream { stream, activity: activity.clone() });
    let _open = OpenConnection(activity.clone());
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
            let identified = identity::identify(&app.settings, &request);
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
/// The rest of a request's body is waited for.
const BODY: u8 = 5;

/// True if there is no whole request to answer: such a connection may be ended to make room.
fn has_no_request(phase: u8) -> bool {
    matches!(phase, IDLE | NEW | HEAD | BODY)
}

/// The activity of a connection, and since which tick.
#[derive(Debug)]
struct ConnectionActivity {
    phase: AtomicU8,
    since: AtomicU64,
    /// The microseconds from the start of the server to when it became one without a request.
    silent_since: AtomicU64,
    started: Instant,
    /// True if the client has left no room for what it is sent.
    blocked: AtomicBool,
    /// Its place among `max_connections`, once it has made a request.
    place: Mutex<Option<ConnectionPlace>>,
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
        if has_no_request(phase) {
            self.note_silence();
        }
    }

    /// Notes when it was last known to do something: a tick is too long to tell who has been silent for longest.
    fn note_silence(&self) {
        let now = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.silent_since.store(now, Relaxed);
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

    fn place(&self) -> MutexGuard<'_, Option<ConnectionPlace>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_place_of(&self, caller: &str) -> bool {
        self.place().as_ref().is_some_and(|place| *place.caller == *caller)
    }

    fn take_place(&self) -> Option<ConnectionPlace> {
        self.place().take()
    }

    /// Moves on, if the connection is still in that phase.
    fn pass(&self, from: u8, to: u8) {
        let _ = self.phase.compare_exchange(from, to, Relaxed, Relaxed);
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
        let is_waiting = matches!(self.phase.load(Relaxed), BUSY | SENDING | BODY);
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
    /// The body of the request, which tells whether it is waited for.
    fn request_body(&self, body: Incoming) -> Body {
        if body.is_end_stream() {
            return Body::new(body);
        }
        Body::new(RequestBody { body, activity: self.0.clone() })
    }

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

/// The body of a request that is coming in.
struct RequestBody {
    body: Incoming,
    activity: Arc<ConnectionActivity>,
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        match frame {
            Poll::Pending => self.activity.pass(BUSY, BODY),
            Poll::Ready(_) => self.activity.pass(BODY, BUSY),
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.activity.pass(BODY, BUSY);
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

/// All the connections that are open.
#[derive(Debug)]
struct ConnectionSupervisor {
    /// Every connection that has made a request has a place, health checks aside.
    places: ConnectionPlaces,
    clock: Arc<AtomicU64>,
    started: Instant,
    unread: Arc<UnreadResponses>,
    /// The tick since which they take more than they may; 0 if they do not.
    full_since: AtomicU64,
    open: Mutex<Vec<(Arc<ConnectionActivity>, AbortHandle)>>,
}

impl ConnectionSupervisor {
    fn new(app: &App) -> Self {
        Self {
            places: ConnectionPlaces::new(&app.settings),
            clock: Arc::default(),
            started: Instant::now(),
            unread: app.unread.clone(),
            full_since: AtomicU64::new(0),
            open: Mutex::default(),
        }
    }

    /// The note of a new connection.
    fn activity(&self) -> Arc<ConnectionActivity> {
        let activity = ConnectionActivity {
            phase: AtomicU8::new(NEW),
            since: AtomicU64::new(0),
            silent_since: AtomicU64::new(0),
            started: self.started,
            blocked: AtomicBool::new(false),
            place: Mutex::default(),
            half_closed: AtomicU64::new(0),
            reader: AtomicWaker::new(),
            unread: UnreadFrame::new(self.unread.clone()),
            clock: self.clock.clone(),
        };
        activity.enter(NEW);
        Arc::new(activity)
    }

    /// Takes a place for a connection that this caller uses, if there is one in time.
    async fn take_place(
        &self,
        activity: &ConnectionActivity,
        caller: &str,
        wait: Duration,
    ) -> Result<(), Failure> {
        // That of another caller who used the connection.
        drop(activity.take_place());
        let place = match self.places.try_take(caller) {
            Some(place) => Some(place),
            None if self.end_for(caller) => Some(self.places.take(caller)),
            None if self.places.shares.is_within_share(caller) => {
                tokio::time::timeout(wait, self.places.wait(caller)).await.ok().flatten()
            }
            None => None,
        };
        *activity.place() = Some(place.ok_or_else(|| self.places.failure(caller))?);
        Ok(())
    }

    /// Ends a connection with a place and without a request, so that this caller can have the place: one of its own,
    /// or of somebody who holds more. True if there was one.
    fn end_for(&self, caller: &str) -> bool {
        let shares = &self.places.shares;
        let held = shares.held(caller);
        self.end_oldest(|activity| {
            let place = activity.place();
            place.as_ref().is_some_and(|place| {
                *place.caller == *caller
                    || held.is_none()
                    || shares.held(&place.caller).is_none_or(|others| Some(others) > held)
            })
        })
    }

    /// Makes room for one that has connected. Where all the others have requests to answer, those that wait for a place
    /// are told that there is none.
    fn make_room(&self) {
        if !self.end_oldest(|_| true) {
            self.places.crowded.notify_waiters();
        }
    }

    /// Ends that of these connections which has been without a request for longest. True if there was one.
    fn end_oldest(&self, may_end: impl Fn(&ConnectionActivity) -> bool) -> bool {
        let open = self.lock();
        let silent = open.iter().filter(|(activity, task)| {
            has_no_request(activity.phase.load(Relaxed)) && !task.is_finished() && may_end(activity)
        });
        let oldest = silent.min_by_key(|(activity, _)| activity.silent_since.load(Relaxed));
        if let Some((activity, task)) = oldest {
            // The next one to make room ends another.
            activity.phase.store(BUSY, Relaxed);
            task.abort();
            drop(activity.take_place());
        }
        oldest.is_some()
    }

    /// Takes a connection into keeping.
    fn supervise(&self, activity: Arc<ConnectionActivity>, task: AbortHandle) {
        self.lock().push((activity, task));
    }

    /// Looks at all connections once: those that are over are forgotten, those that took
    /// too long are ended.
    fn tick(&self, settings: &ServerSettings) {
        let now = self.clock.fetch_add(1, Relaxed) + 1;
        let ticks = |time: Duration| {
            u64::try_from(time.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).max(1)
        };
        // For the head of a request to come in, of the first one from when the connection is accepted; between requests,
        // and for a client to take what it is sent; for a response to a client that has closed its side.
        let (head, idle) = (ticks(settings.header_timeout), ticks(settings.idle_timeout));
        let half_closed = ticks(settings.half_closed_timeout);
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

    fn lock(&self) -> MutexGuard<'_, Vec<(Arc<ConnectionActivity>, AbortHandle)>> {
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
                BODY => self.activity.note_silence(),
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
