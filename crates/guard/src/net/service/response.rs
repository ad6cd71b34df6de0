//! A response: a head, and a body that is read whole or piece by piece, until its deadline.

use std::{
    fmt,
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http::{HeaderMap, StatusCode};
use hyper::body::{Body as _, Frame, Incoming};

use tokio::time::{Instant, Sleep, sleep_until};

use super::connection::{Http1Connection, Http1Pool};
use crate::net::{NetError, NetErrorReason, body::too_large, error::chain};

/// After how many pieces the clock is looked at, although there is always another one.
const PIECES_BETWEEN_LOOKS: usize = 16;
/// The bytes of an unwanted body that are read so that its connection can be used again.
const MAX_UNWANTED_BYTES: usize = 65_536;
/// The time that this may take.
const UNWANTED: Duration = Duration::from_secs(2);

/// A response. Its status may be any.
#[derive(Debug)]
pub struct ServiceResponse {
    pub status: StatusCode,
    /// The headers, as they came.
    pub headers: HeaderMap,
    /// The body, not yet read.
    pub body: ResponseBody,
}

/// The body of a response. Dropping it before its end closes the connection, or the stream where
/// several share one.
pub struct ResponseBody {
    incoming: Incoming,
    carrier: Carrier,
    deadline: Option<Deadline>,
    pieces: usize,
}

/// The connection that it comes by.
pub(super) enum Carrier {
    /// A connection of its own, which is driven here and then kept for the next one.
    Http1(Box<Http1Connection>, Arc<Http1Pool>),
    /// One that is shared with others, and driven by a task.
    Http2(DeadlineTimer),
    /// The response is over, and the connection is with the others.
    Over,
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}

impl ResponseBody {
    pub(super) fn new(incoming: Incoming, carrier: Carrier, deadline: Deadline) -> Self {
        let mut body = Self { incoming, carrier, deadline: Some(deadline), pieces: 0 };
        if body.incoming.is_end_stream() {
            body.let_go();
        }
        body
    }

    /// From now on it may take so long, or for ever.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.deadline = timeout.map(Deadline::after);
    }

    /// The next piece; nothing at the end. Cancel-safe.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, NetError> {
        // Who sends faster than we read is never waited for.
        tokio::task::consume_budget().await;
        poll_fn(|context| self.poll_chunk(context)).await
    }

    pub async fn read_all(mut self, max_bytes: usize) -> Result<Bytes, NetError> {
        let announced = self.incoming.size_hint().lower();
        if announced > max_bytes as u64 {
            return Err(too_large(max_bytes));
        }
        let Some(first) = self.chunk().await? else { return Ok(Bytes::new()) };
        if first.len() > max_bytes {
            return Err(too_large(max_bytes));
        }
        let Some(second) = self.chunk().await? else { return Ok(first) };
        // Within the limit, as was just seen.
        let announced = usize::try_from(announced).unwrap_or_default();
        let mut all = BytesMut::with_capacity(announced.max(first.len() + second.len()));
        all.extend_from_slice(&first);
        let mut piece = Some(second);
        while let Some(more) = piece {
            if all.len() + more.len() > max_bytes {
                return Err(too_large(max_bytes));
            }
            all.extend_from_slice(&more);
            piece = self.chunk().await?;
        }
        Ok(all.freeze())
    }

    /// Reads no more of it. Where the end is near the connection is kept, and nobody waits for that.
    pub fn leave(mut self) {
        let context = &mut Context::from_waker(Waker::noop());
        while !matches!(self.carrier, Carrier::Over) {
            match self.poll_chunk(context) {
                Poll::Ready(Ok(Some(_))) => {}
                Poll::Ready(Ok(None) | Err(_)) => return,
                Poll::Pending => break,
            }
            if self.pieces > PIECES_BETWEEN_LOOKS {
                return;
            }
        }
        if matches!(self.carrier, Carrier::Http1(..))
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            self.set_timeout(Some(UNWANTED));
            runtime.spawn(self.read_all(MAX_UNWANTED_BYTES));
        }
    }

    fn poll_chunk(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Bytes>, NetError>> {
        loop {
            let frame = match self.poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => return self.poll_deadline(context).map(Err),
            };
            match frame {
                None => {
                    self.let_go();
                    return Poll::Ready(Ok(None));
                }
                Some(Err(error)) => {
                    // Nothing more comes of it.
                    self.carrier = Carrier::Over;
                    let message = "the response was cut off or is not valid HTTP";
                    let error =
                        NetError::new(NetErrorReason::Network, message).for_operator(chain(&error));
                    return Poll::Ready(Err(error));
                }
                Some(Ok(frame)) => {
                    // Trailers say nothing that is wanted.
                    let Ok(piece) = frame.into_data() else { continue };
                    self.pieces += 1;
                    if self.incoming.is_end_stream() {
                        self.let_go();
                    } else if self.pieces.is_multiple_of(PIECES_BETWEEN_LOOKS)
                        && let Some(deadline) = self.deadline.filter(Deadline::is_over)
                    {
                        return Poll::Ready(Err(deadline.missed()));
                    }
                    return Poll::Ready(Ok(Some(piece)));
                }
            }
        }
    }

    fn poll_frame(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let incoming = Pin::new(&mut self.incoming);
        match &mut self.carrier {
            Carrier::Over => Poll::Ready(None),
            Carrier::Http2(_) => incoming.poll_frame(context),
            Carrier::Http1(connection, _) => {
                // Pieces come in while the connection is driven, and in no other way.
                let unwoken = &mut Context::from_waker(Waker::noop());
                if let Poll::Ready(frame) = incoming.poll_frame(unwoken) {
                    return Poll::Ready(frame);
                }
                connection.drive(context);
                Pin::new(&mut self.incoming).poll_frame(unwoken)
            }
        }
    }

    /// Ready when it took too long.
    fn poll_deadline(&mut self, context: &mut Context<'_>) -> Poll<NetError> {
        let Some(deadline) = &self.deadline else { return Poll::Pending };
        let expired = match &mut self.carrier {
            Carrier::Http1(connection, _) => connection.poll_deadline(deadline, context),
            Carrier::Http2(timer) => timer.poll(deadline, context),
            Carrier::Over => Poll::Pending,
        };
        expired.map(|()| deadline.missed())
    }

    /// The response is over: its connection goes to the others.
    fn let_go(&mut self) {
        if let Carrier::Http1(connection, pool) =
            std::mem::replace(&mut self.carrier, Carrier::Over)
        {
            pool.put(connection);
        }
    }
}

/// The time by which an exchange has to be over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadline {
    pub(super) at: Instant,
    timeout: Duration,
}

impl Deadline {
    pub(super) fn after(timeout: Duration) -> Self {
        // A time that no clock has is one that never comes.
        let far = Duration::from_hours(24 * 365);
        Self { at: Instant::now() + timeout.min(far), timeout }
    }

    pub(super) fn is_over(&self) -> bool {
        Instant::now() >= self.at
    }

    pub(super) fn missed(&self) -> NetError {
        let message = format!("not done within {} s", self.timeout.as_secs_f64());
        NetError::new(NetErrorReason::Timeout, message)
    }
}

/// Wakes whoever waits for an exchange. It stays with its connection: one that rings too early,
/// because it was set for an exchange that is long over, is set anew only then. So an exchange
/// that takes no time costs no timer.
pub(super) struct DeadlineTimer(Option<Pin<Box<Sleep>>>);

impl DeadlineTimer {
    pub(super) fn new() -> Self {
        Self(None)
    }

    /// Ready when the time has come.
    pub(super) fn poll(&mut self, deadline: &Deadline, context: &mut Context<'_>) -> Poll<()> {
        let sleep = self.0.get_or_insert_with(|| Box::pin(sleep_until(deadline.at)));
        if sleep.deadline() > deadline.at {
            sleep.as_mut().reset(deadline.at);
        }
        while sleep.as_mut().poll(context).is_ready() {
            if deadline.is_over() {
                return Poll::Ready(());
            }
            sleep.as_mut().reset(deadline.at);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use super::*;

    async fn rings(timer: &mut DeadlineTimer, milliseconds: u64) -> Duration {
        let begun = Instant::now();
        let deadline = Deadline::after(Duration::from_millis(milliseconds));
        poll_fn(|context| timer.poll(&deadline, context)).await;
        begun.elapsed()
    }

    #[tokio::test]
    async fn a_timer_of_an_earlier_exchange_does_not_end_a_later_one() {
        let mut timer = DeadlineTimer::new();
        let dropped = tokio::time::timeout(Duration::from_millis(5), rings(&mut timer, 20));
        assert!(dropped.await.is_err());
        assert!(rings(&mut timer, 60).await >= Duration::from_millis(60));
        assert!(rings(&mut timer, 10).await >= Duration::from_millis(10));
    }

    #[tokio::test]
    async fn a_timer_that_is_set_for_later_is_brought_forward() {
        let mut timer = DeadlineTimer::new();
        let dropped = tokio::time::timeout(Duration::from_millis(5), rings(&mut timer, 600_000));
        assert!(dropped.await.is_err());
        assert!(rings(&mut timer, 10).await < Duration::from_mins(5));
    }
}
