//! A request over a transport on which everything that the server sends comes by one stream: stdio, and
//! HTTP+SSE.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use mcp::Response;
use tokio::time::{Instant, Sleep};
use tokio_util::sync::CancellationToken;

use super::{
    incoming::OpenInputRequest,
    request_table::{RequestTable, RoutedMessage, TableSlot},
    transport::{EncodedRequest, PendingRequest, RequestError, RequestEvent, spawn},
};

/// Requests that are not cancelled: a server does not know yet what that is.
const HANDSHAKE_METHODS: [&str; 2] = ["initialize", "server/discover"];

/// Sends a message that nobody waits for.
pub(super) trait MessageWriter: Send + Sync + 'static {
    fn write(&self, message: Bytes);
}

/// A request that was sent, or is being sent.
pub(super) struct MultiplexedRequest<W: MessageWriter> {
    writer: Arc<W>,
    table: RequestTable,
    slot: TableSlot,
    id: u64,
    deadline: RequestDeadline,
    sending: Option<BoxFuture<'static, Result<(), RequestError>>>,
    /// Whether the server may have got it.
    has_begun: bool,
    is_cancellable: bool,
    is_over: bool,
}

impl<W: MessageWriter> MultiplexedRequest<W> {
    /// Follows a request. `sending` is the work of sending it, where that takes a while.
    pub(super) fn new(
        writer: Arc<W>,
        table: &RequestTable,
        slot: TableSlot,
        request: &EncodedRequest,
        sending: Option<BoxFuture<'static, Result<(), RequestError>>>,
    ) -> Self {
        Self {
            writer,
            table: table.clone(),
            slot,
            id: request.id,
            deadline: RequestDeadline::new(request.timeout),
            has_begun: sending.is_none(),
            sending,
            is_cancellable: !HANDSHAKE_METHODS.contains(&request.method),
            is_over: false,
        }
    }

    async fn next_event(&mut self) -> RequestEvent {
        self.has_begun = true;
        loop {
            let sending = async {
                match &mut self.sending {
                    Some(sending) => sending.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // A message that came before the time ran out has come.
                biased;
                message = self.slot.messages.recv() => return match message {
                    Some(RoutedMessage::Event(event)) => event,
                    Some(RoutedMessage::InputRequest(open, cancelled)) => self.ask(open, cancelled),
                    Some(RoutedMessage::Done(outcome)) => self.done(outcome),
                    None => self.done(Err(RequestError::Lost("the connection is closed".to_owned()))),
                },
                sent = sending => {
                    self.sending = None;
                    if let Err(error) = sent {
                        return self.done(Err(error));
                    }
                }
                () = self.deadline.expired() => {
                    self.cancel("the request timed out");
                    return RequestEvent::Done(Err(RequestError::timeout(self.deadline.timeout)));
                }
            }
        }
    }

    /// Passes an input request on, and sends its response when there is one.
    fn ask(&self, open: OpenInputRequest, cancelled: CancellationToken) -> RequestEvent {
        let OpenInputRequest { id, request, response, .. } = open;
        let (writer, table) = (Arc::clone(&self.writer), self.table.clone());
        let pause = self.deadline.pause();
        spawn(async move {
            tokio::select! {
                message = OpenInputRequest::encoded_response(&id, response) => writer.write(message),
                () = cancelled.cancelled() => {}
            }
            table.forget_input_request(&id);
            drop(pause);
        });
        RequestEvent::InputRequest(request)
    }

    fn done(&mut self, outcome: Result<Response, RequestError>) -> RequestEvent {
        self.is_over = true;
        self.refuse_input_requests();
        RequestEvent::Done(outcome)
    }

    /// Tells the server that nobody waits any more, unless the response is there already.
    fn cancel(&mut self, reason: &str) {
        self.is_over = true;
        if self.slot.cancel() && self.is_cancellable && self.has_begun {
            self.writer.write(mcp::cancelled(self.id, reason).into());
        }
        self.refuse_input_requests();
    }

    fn refuse_input_requests(&mut self) {
        for response in self.slot.close() {
            self.writer.write(response);
        }
    }
}

impl<W: MessageWriter> PendingRequest for MultiplexedRequest<W> {
    fn next(&mut self) -> BoxFuture<'_, RequestEvent> {
        Box::pin(self.next_event())
    }
}

impl<W: MessageWriter> Drop for MultiplexedRequest<W> {
    fn drop(&mut self) {
        if !self.is_over {
            self.cancel("the client is gone");
        }
    }
}

/// The deadline of a request. While the server waits for input, time does not run.
struct RequestDeadline {
    timeout: Duration,
    sleep: Pin<Box<Sleep>>,
    pauses: Arc<Mutex<DeadlinePauses>>,
}

#[derive(Debug, Default)]
struct DeadlinePauses {
    open: usize,
    last_ended: Option<Instant>,
}

/// Time does not run until this is dropped.
struct DeadlinePause(Arc<Mutex<DeadlinePauses>>);

impl RequestDeadline {
    fn new(timeout: Duration) -> Self {
        let sleep = Box::pin(tokio::time::sleep(timeout));
        Self { timeout, sleep, pauses: Arc::default() }
    }

    /// Waits until the time is up. Cancel-safe.
    async fn expired(&mut self) {
        loop {
            self.sleep.as_mut().await;
            match self.extended(Instant::now()) {
                Some(later) => self.sleep.as_mut().reset(later),
                None => return,
            }
        }
    }

    /// The later deadline, if there is one: the request has all of its time again after each pause.
    fn extended(&self, now: Instant) -> Option<Instant> {
        let pauses = lock(&self.pauses);
        let since = if pauses.open > 0 { Some(now) } else { pauses.last_ended };
        since.map(|since| since + self.timeout).filter(|deadline| *deadline > now)
    }

    fn pause(&self) -> DeadlinePause {
        lock(&self.pauses).open += 1;
        DeadlinePause(Arc::clone(&self.pauses))
    }
}

impl Drop for DeadlinePause {
    fn drop(&mut self) {
        let mut pauses = lock(&self.0);
        pauses.open -= 1;
        pauses.last_ended = Some(Instant::now());
    }
}

fn lock(pauses: &Mutex<DeadlinePauses>) -> MutexGuard<'_, DeadlinePauses> {
    pauses.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn time_does_not_run_during_a_pause() {
        const TIMEOUT: Duration = Duration::from_secs(10);
        let deadline = RequestDeadline::new(TIMEOUT);
        let later = Instant::now() + Duration::from_secs(1_000);
        assert_eq!(deadline.extended(later), None);
        let pause = deadline.pause();
        assert_eq!(deadline.extended(later), Some(later + TIMEOUT));
        drop(pause);
        let soon = Instant::now() + Duration::from_secs(4);
        let extended = deadline.extended(soon).unwrap();
        assert!(extended > soon && extended < soon + TIMEOUT);
        assert_eq!(deadline.extended(later), None);
    }
}
