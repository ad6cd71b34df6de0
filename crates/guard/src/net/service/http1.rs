//! One HTTP/1.1 connection, driven by whoever uses it.
//!
//! hyper wants a connection to be a task of its own, and every exchange then wakes that task and is
//! woken by it. Here the one who waits for an answer drives the connection himself: nothing is
//! handed from thread to thread, and whoever stops waiting closes it by letting go of it. While
//! nobody uses it nobody looks at it, so what the other side did meanwhile is seen when it is used
//! again, before anything is written.

use std::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::{
    body::Incoming,
    client::conn::{
        TrySendError,
        http1::{Builder, Connection, SendRequest},
    },
};
use hyper_util::rt::TokioIo;
use tokio::{task::unconstrained, time::Instant};

use super::{
    deadline::{Deadline, DeadlineTimer},
    errors,
};
use crate::net::{
    NetError,
    stream::{ByteCount, NetStream},
};

/// The bytes that may come in before there is a response, as a multiple of the largest head:
/// heads that say "there is more to come" (1xx) are not counted by hyper.
const HEADS_BEFORE_AN_ANSWER: usize = 2;

/// A request with its body.
pub(super) type OutgoingMessage = Request<Full<Bytes>>;

/// A failure before there was a response.
pub(super) enum ExchangeError {
    /// The connection was closed before anything was written.
    Unsent,
    /// Something else.
    Failed(NetError),
}

/// A connection.
pub(super) struct Http1Connection {
    sender: SendRequest<Full<Bytes>>,
    /// Nothing when it is over.
    connection: Option<Connection<TokioIo<NetStream>, Full<Bytes>>>,
    count: ByteCount,
    alarm: DeadlineTimer,
    /// True if it has carried an answer before.
    used: bool,
    /// Since when nobody uses it.
    pub(super) idle_since: Instant,
    max_header_bytes: usize,
}

impl Http1Connection {
    pub(super) async fn new(stream: NetStream, max_header_bytes: usize) -> Result<Self, NetError> {
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
            alarm: DeadlineTimer::new(),
            used: false,
            idle_since: Instant::now(),
            max_header_bytes,
        })
    }

    /// A request, and the head of its answer.
    pub(super) async fn exchange(
        &mut self,
        request: OutgoingMessage,
        deadline: &Deadline,
    ) -> Result<Response<Incoming>, ExchangeError> {
        self.count.reset();
        // What it waits for happens while the connection is driven below, so it is looked at after
        // that and never has to be woken; and so it must not be put off by tokio either.
        let mut answer = pin!(unconstrained(self.sender.try_send_request(request)));
        let (connection, count, alarm) = (&mut self.connection, &self.count, &mut self.alarm);
        let max_bytes = self.max_header_bytes.saturating_mul(HEADS_BEFORE_AN_ANSWER);
        let ended = poll_fn(|context| {
            drive(connection, context);
            let unwoken = &mut Context::from_waker(Waker::noop());
            if let Poll::Ready(answer) = answer.as_mut().poll(unwoken) {
                return Poll::Ready(Ok(answer));
            }
            if count.get() > max_bytes {
                return Poll::Ready(Err(errors::too_many_heads(max_bytes)));
            }
            alarm.poll(deadline, context).map(|()| Err(deadline.missed()))
        });
        match ended.await {
            Ok(Ok(answer)) => {
                self.used = true;
                Ok(answer)
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
    pub(super) fn poll_alarm(
        &mut self,
        deadline: &Deadline,
        context: &mut Context<'_>,
    ) -> Poll<()> {
        self.alarm.poll(deadline, context)
    }

    /// True if it can be used again. From here on it wakes nobody.
    pub(super) fn is_ready(&mut self) -> bool {
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
