//! The connections of a service: made, driven by whoever uses one, and kept for the next.
//!
//! hyper wants a connection to be a task of its own, and every exchange then wakes that task and is
//! woken by it. Here the one who waits for a response drives an HTTP/1.1 connection himself: nothing is
//! handed from thread to thread, and whoever stops waiting closes it by letting go of it. While
//! nobody uses it nobody looks at it, so what the other side did meanwhile is seen when it is used
//! again, before anything is written. HTTP/2, where one connection is shared by all, is in `http2`.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response, Uri};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{Builder, Connection, SendRequest},
    },
};
use hyper_util::rt::TokioIo;
use tokio::{
    task::unconstrained,
    time::{Instant, timeout_at},
};

use super::{
    errors,
    http2::{self, Http2Connection},
    response::{Carrier, Deadline, DeadlineTimer, ResponseBody, ServiceResponse},
};
use crate::net::{
    NetError, NetErrorReason,
    connect::Connector,
    stream::{ByteCount, NetStream},
};

/// A connection that carries an exchange.
pub(super) enum ServiceConnection {
    Http1(Box<Http1Connection>),
    Http2(hyper::client::conn::http2::SendRequest<Full<Bytes>>),
}

pub(super) struct ServiceConnections {
    connector: Connector,
    /// The address that is connected to: the origin alone.
    origin: Uri,
    pool: Arc<Http1Pool>,
    /// True if it turned out that the other side does not want HTTP/2, or connections are not encrypted.
    http1_only: AtomicBool,
    http2: Http2Connection,
    /// Held while it is not known whether one connection is enough for all.
    connecting: tokio::sync::Mutex<()>,
    max_header_bytes: usize,
}

impl ServiceConnections {
    pub(super) fn new(
        connector: Connector,
        origin: Uri,
        max_idle: usize,
        max_header_bytes: usize,
    ) -> Self {
        Self {
            connector,
            pool: Arc::new(Http1Pool { idle: Mutex::default(), max_idle }),
            http1_only: AtomicBool::new(origin.scheme_str() != Some("https")),
            origin,
            http2: Http2Connection::default(),
            connecting: tokio::sync::Mutex::default(),
            max_header_bytes,
        }
    }

    /// Closes those that nobody uses.
    pub(super) fn close(&self) {
        self.pool.clear();
        self.http2.clear();
    }

    /// A kept connection or a new one; says whether it was kept. Whatever goes wrong here, the request was
    /// not sent.
    pub(super) async fn take(
        &self,
        deadline: &Deadline,
    ) -> Result<(ServiceConnection, bool), NetError> {
        if let Some(connection) = self.kept() {
            return Ok((connection, true));
        }
        let connected = timeout_at(deadline.at, async {
            if self.http1_only.load(Ordering::Relaxed) {
                return self.open().await;
            }
            let _connecting = self.connecting.lock().await;
            match self.kept() {
                Some(connection) => Ok(connection),
                None => self.open().await,
            }
        });
        let not_sent = |error: NetError| match error.reason {
            NetErrorReason::Timeout | NetErrorReason::Network => {
                NetError { reason: NetErrorReason::Connect, ..error }
            }
            _ => error,
        };
        let connected = connected.await.unwrap_or_else(|_| Err(deadline.missed()));
        connected.map(|connection| (connection, false)).map_err(not_sent)
    }

    fn kept(&self) -> Option<ServiceConnection> {
        if !self.http1_only.load(Ordering::Relaxed)
            && let Some(sender) = self.http2.get()
        {
            return Some(ServiceConnection::Http2(sender));
        }
        self.pool.take().map(ServiceConnection::Http1)
    }

    async fn open(&self) -> Result<ServiceConnection, NetError> {
        let stream = self.connector.connect(self.origin.clone()).await?;
        if let Some(socket) = stream.socket() {
            keep_alive(socket);
        }
        if stream.is_http2() {
            let begun = self.http2.begin(stream, self.max_header_bytes).await;
            return begun.map(ServiceConnection::Http2);
        }
        self.http1_only.store(true, Ordering::Relaxed);
        let connection = Http1Connection::new(stream, self.max_header_bytes).await?;
        Ok(ServiceConnection::Http1(Box::new(connection)))
    }

    /// A request, and the head of its response.
    pub(super) async fn exchange(
        &self,
        connection: ServiceConnection,
        message: OutgoingMessage,
        deadline: &Deadline,
    ) -> Result<ServiceResponse, ExchangeError> {
        let (response, carrier) = match connection {
            ServiceConnection::Http1(mut connection) => {
                let response = connection.exchange(message, deadline).await?;
                (response, Carrier::Http1(connection, self.pool.clone()))
            }
            ServiceConnection::Http2(sender) => {
                let max_header_bytes = self.max_header_bytes;
                let response = http2::exchange(sender, message, deadline, max_header_bytes).await;
                if matches!(response, Err(ExchangeError::Unsent)) {
                    // It takes no more, although it may still live for others.
                    self.http2.clear();
                }
                (response?, Carrier::Http2(DeadlineTimer::new()))
            }
        };
        let (head, incoming) = response.into_parts();
        let body = ResponseBody::new(incoming, carrier, *deadline);
        Ok(ServiceResponse { status: head.status, headers: head.headers, body })
    }
}

/// A stream may be silent for hours; the kernel finds out whether the other side still lives.
fn keep_alive(stream: &tokio::net::TcpStream) {
    use rustix::net::sockopt;
    const AFTER: Duration = Duration::from_mins(1);
    const BETWEEN: Duration = Duration::from_secs(15);
    const TIMES: u32 = 4;
    // A kernel without this option is fine.
    let _ = sockopt::set_socket_keepalive(stream, true);
    let _ = sockopt::set_tcp_keepidle(stream, AFTER);
    let _ = sockopt::set_tcp_keepintvl(stream, BETWEEN);
    let _ = sockopt::set_tcp_keepcnt(stream, TIMES);
}

/// The bytes that may come in before there is a response, as a multiple of the largest head:
/// heads that say "there is more to come" (1xx) are not counted by hyper.
const HEADS_BEFORE_A_RESPONSE: usize = 2;

/// A request with its body.
pub(super) type OutgoingMessage = Request<Full<Bytes>>;

/// A failure before there was a response.
pub(super) enum ExchangeError {
    /// The connection was closed before anything was written.
    Unsent,
    /// Something else.
    Failed(NetError),
}

pub(super) struct Http1Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Nothing when it is over.
    connection: Option<Connection<TokioIo<NetStream>, Full<Bytes>>>,
    count: ByteCount,
    timer: DeadlineTimer,
    /// True if it has carried a response before.
    used: bool,
    /// Since when nobody uses it.
    idle_since: Instant,
    max_header_bytes: usize,
}

impl Http1Connection {
    async fn new(stream: NetStream, max_header_bytes: usize) -> Result<Self, NetError> {
        let count = stream.received.clone();
        // The number of headers is hyper's own: another one would cost an allocation each time.
        let shaken = Builder::new()
            .max_buf_size(max_header_bytes)
            .max_header_size(max_header_bytes)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(|error| errors::of_hyper(&error, max_header_bytes))?;
        Ok(Self {
            sender: shaken.0,
            connection: Some(shaken.1),
            count,
            timer: DeadlineTimer::new(),
            used: false,
            idle_since: Instant::now(),
            max_header_bytes,
        })
    }

    /// A request, and the head of its response.
    async fn exchange(
        &mut self,
        request: OutgoingMessage,
        deadline: &Deadline,
    ) -> Result<Response<Incoming>, ExchangeError> {
        self.count.reset();
        // What it waits for happens while the connection is driven below, so it is looked at after
        // that and never has to be woken; and so it must not be put off by tokio either.
        let mut response = pin!(unconstrained(self.sender.try_send_request(request)));
        let (connection, count, timer) = (&mut self.connection, &self.count, &mut self.timer);
        let max_bytes = self.max_header_bytes.saturating_mul(HEADS_BEFORE_A_RESPONSE);
        let ended = poll_fn(|context| {
            drive(connection, context);
            let unwoken = &mut Context::from_waker(Waker::noop());
            if let Poll::Ready(response) = response.as_mut().poll(unwoken) {
                return Poll::Ready(Ok(response));
            }
            if count.get() > max_bytes {
                return Poll::Ready(Err(errors::too_many_heads(max_bytes)));
            }
            timer.poll(deadline, context).map(|()| Err(deadline.missed()))
        });
        match ended.await {
            Ok(Ok(response)) => {
                self.used = true;
                Ok(response)
            }
            Ok(Err(failed)) => Err(self.broken(failed)),
            Err(error) => Err(ExchangeError::Failed(error)),
        }
    }

    fn broken(&self, failed: TrySendError<OutgoingMessage>) -> ExchangeError {
        // hyper gives back what it has not begun to write.
        if failed.message().is_some() {
            return ExchangeError::Unsent;
        }
        let error = failed.into_error();
        let silent = self.count.get() == 0 && !error.is_parse();
        ExchangeError::Failed(if self.used && silent {
            errors::stale(&error)
        } else {
            errors::of_hyper(&error, self.max_header_bytes)
        })
    }

    /// Lets the connection do what it can do now.
    pub(super) fn drive(&mut self, context: &mut Context<'_>) {
        drive(&mut self.connection, context);
    }

    /// Ready when the time has come.
    pub(super) fn poll_deadline(
        &mut self,
        deadline: &Deadline,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        self.timer.poll(deadline, context)
    }

    /// True if it can be used again. From here on it wakes nobody.
    fn is_ready(&mut self) -> bool {
        self.drive(&mut Context::from_waker(Waker::noop()));
        self.connection.is_some() && self.sender.is_ready()
    }
}

fn drive(
    connection: &mut Option<Connection<TokioIo<NetStream>, Full<Bytes>>>,
    context: &mut Context<'_>,
) {
    let over = connection.as_mut().is_some_and(|one| Pin::new(one).poll(context).is_ready());
    if over {
        // Dropped at once, because that tells those who wait for something of it.
        *connection = None;
    }
}

/// The time that an unused connection is kept.
const KEPT_FOR: Duration = Duration::from_mins(1);
/// The pause between two looks for connections that were kept long enough, or that the other side has
/// closed.
const LOOK_EVERY: Duration = Duration::from_secs(10);

/// The unused connections of one service, the latest at the end.
pub(super) struct Http1Pool {
    idle: Mutex<IdleConnections>,
    max_idle: usize,
}

#[derive(Default)]
struct IdleConnections {
    #[expect(clippy::vec_box, reason = "they are moved on every use, and are large")]
    connections: Vec<Box<Http1Connection>>,
    /// True while a task looks after them.
    supervised: bool,
}

impl Http1Pool {
    /// The one that was used last: the others have a chance to be needed no more.
    fn take(&self) -> Option<Box<Http1Connection>> {
        self.lock().connections.pop()
    }

    /// Keeps a connection that can be used again.
    pub(super) fn put(self: &Arc<Self>, mut connection: Box<Http1Connection>) {
        if !connection.is_ready() {
            return;
        }
        connection.idle_since = Instant::now();
        let mut idle = self.lock();
        if idle.connections.len() >= self.max_idle {
            drop(idle);
            return;
        }
        idle.connections.push(connection);
        if !idle.supervised
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            idle.supervised = true;
            drop(idle);
            runtime.spawn(supervise(Arc::downgrade(self)));
        }
    }

    fn clear(&self) {
        let connections = std::mem::take(&mut self.lock().connections);
        drop(connections);
    }

    fn lock(&self) -> MutexGuard<'_, IdleConnections> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Looks after the connections until there are none.
async fn supervise(pool: Weak<Http1Pool>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(pool) = pool.upgrade() else { return };
        let now = Instant::now();
        let mut idle = pool.lock();
        let gone: Vec<_> = idle
            .connections
            .extract_if(.., |connection| {
                now - connection.idle_since > KEPT_FOR || !connection.is_ready()
            })
            .collect();
        if idle.connections.is_empty() {
            idle.connections = Vec::new();
            idle.supervised = false;
            return;
        }
        drop(idle);
        drop(gone);
    }
}
