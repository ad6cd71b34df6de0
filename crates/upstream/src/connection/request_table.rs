//! The requests that a server works on, by their ids: messages that are not part of a request's own
//! response stream find it here. Over stdio and HTTP+SSE, where everything comes by one stream, those are
//! all messages ([`MultiplexedRequest`]).

use std::{
    collections::{BTreeMap, HashMap},
    pin::{Pin, pin},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use mcp::{Id, Response};
use tokio::{
    sync::mpsc,
    time::{Instant, Sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    InterimMessage, RequestError,
    discarded::DiscardCounter,
    incoming::{IncomingMessage, OpenInputRequest, nobody_to_ask},
    spawn,
};

/// Methods that a client called, so that the server may ask for input or report progress.
const CALL_METHODS: [&str; 3] = ["tools/call", "prompts/get", "resources/read"];
/// The number of messages that may wait for one request. A further notification is lost, and a further input request
/// is answered as if nobody could be asked: a server is never waited for.
const MAX_WAITING: usize = 64;
/// The time for which a server is taken to be working on a request that was cancelled. It need not say when it
/// has stopped.
const CANCELLED_FOR: Duration = Duration::from_mins(1);
/// The number of cancelled requests that are remembered; of more than that the earliest are forgotten.
const MAX_CANCELLED: usize = 256;

/// A message for one request.
#[derive(Debug)]
pub(crate) enum RoutedMessage {
    /// Progress or a log message.
    Interim(InterimMessage),
    /// An input request, and the token that fires when the server takes it back.
    InputRequest(OpenInputRequest, CancellationToken),
    /// Its end. There is always room for it.
    Done(Result<Response, RequestError>),
}

/// The requests of one connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTable(Arc<Mutex<TableState>>);

#[derive(Debug, Default)]
struct TableState {
    requests: BTreeMap<u64, TableEntry>,
    /// Cancelled requests: the server may still work on them, and ask for input on their behalf.
    cancelled: BTreeMap<u64, Instant>,
    /// Input requests that wait for a response, by the server's id.
    input_requests: HashMap<Id, CancellationToken>,
    /// The reason why there can be no more requests.
    closed: Option<String>,
}

#[derive(Debug)]
struct TableEntry {
    is_call: bool,
    max_response_bytes: usize,
    messages: mpsc::Sender<RoutedMessage>,
}

/// A request in the table, until it is dropped.
#[derive(Debug)]
pub(crate) struct TableSlot {
    id: u64,
    table: RequestTable,
    pub(crate) messages: mpsc::Receiver<RoutedMessage>,
}

impl TableSlot {
    /// Takes the request out although the server may still work on it; says whether it had no response
    /// yet.
    pub(crate) fn cancel(&self) -> bool {
        let mut table = self.table.lock();
        let Some(entry) = table.requests.remove(&self.id) else { return false };
        if entry.is_call {
            if table.cancelled.len() >= MAX_CANCELLED {
                table.cancelled.pop_first();
            }
            table.cancelled.insert(self.id, Instant::now());
        }
        true
    }

    /// Takes no more messages; the responses to input requests that nobody has seen.
    pub(crate) fn close(&mut self) -> Vec<Bytes> {
        self.messages.close();
        let mut responses = Vec::new();
        while let Ok(message) = self.messages.try_recv() {
            if let RoutedMessage::InputRequest(open, _) = message {
                self.table.forget_input_request(&open.id);
                responses.push(nobody_to_ask(&open.id));
            }
        }
        responses
    }
}

impl Drop for TableSlot {
    fn drop(&mut self) {
        self.table.lock().requests.remove(&self.id);
    }
}

impl RequestTable {
    /// Puts a request into the table, before it is sent: its response may come at once.
    pub(crate) fn insert(
        &self,
        id: u64,
        method: &str,
        max_response_bytes: usize,
    ) -> Result<TableSlot, RequestError> {
        let mut table = self.lock();
        if let Some(why) = &table.closed {
            return Err(RequestError::NotSent(why.clone()));
        }
        // One more, for the end.
        let (sender, messages) = mpsc::channel(MAX_WAITING + 1);
        let is_call = CALL_METHODS.contains(&method);
        table.requests.insert(id, TableEntry { is_call, max_response_bytes, messages: sender });
        Ok(TableSlot { id, table: self.clone(), messages })
    }

    /// Hands a message to its request; a message that has to be sent back, if there is any.
    pub(crate) fn route(
        &self,
        message: IncomingMessage,
        discarded: &DiscardCounter,
    ) -> Option<Bytes> {
        match message {
            IncomingMessage::Response(id, outcome) => {
                if !id.is_some_and(|id| self.finish(id, outcome)) {
                    discarded.unexpected();
                }
            }
            IncomingMessage::Progress(id, message) => {
                if let Some(entry) = self.lock().requests.get(&id) {
                    entry.offer(RoutedMessage::Interim(message));
                }
            }
            // It does not say which request it belongs to, so only one that runs alone gets it: another
            // caller must not read it.
            IncomingMessage::Log(message) => {
                if let Some(entry) = self.lock().only_call() {
                    entry.offer(RoutedMessage::Interim(message));
                }
            }
            IncomingMessage::Answered(response) => return Some(response),
            IncomingMessage::InputRequest(open) => return self.ask(open),
            IncomingMessage::InputCancelled(id) => {
                let cancelled = self.lock().input_requests.remove(&id);
                if let Some(cancelled) = cancelled {
                    cancelled.cancel();
                }
            }
            IncomingMessage::ListChanged(_) => {}
        }
        None
    }

    /// Ends a request; says whether anybody waited for it.
    pub(crate) fn finish(&self, id: u64, outcome: Result<Response, RequestError>) -> bool {
        let mut table = self.lock();
        let Some(entry) = table.requests.remove(&id) else {
            table.cancelled.remove(&id);
            return false;
        };
        drop(table);
        let max_bytes = entry.max_response_bytes;
        // Held here no longer than it takes to see its size.
        let outcome = outcome.and_then(|response| match response.as_bytes().len() {
            bytes if bytes > max_bytes => Err(RequestError::TooLarge(max_bytes)),
            _ => Ok(response),
        });
        let _ = entry.messages.try_send(RoutedMessage::Done(outcome));
        true
    }

    /// Routes an input request: to the request that the server names, else to the one call that it works
    /// on; with several nobody knows whose it is.
    fn ask(&self, open: OpenInputRequest) -> Option<Bytes> {
        let mut table = self.lock();
        let id = open.id.clone();
        let cancelled = CancellationToken::new();
        let entry = match open.request_id {
            Some(id) => table.requests.get(&id),
            None => table.only_call(),
        };
        let routed = entry
            .is_some_and(|entry| entry.offer(RoutedMessage::InputRequest(open, cancelled.clone())));
        if !routed {
            return Some(nobody_to_ask(&id));
        }
        table.input_requests.insert(id, cancelled);
        None
    }

    /// An input request waits no more.
    pub(crate) fn forget_input_request(&self, id: &Id) {
        self.lock().input_requests.remove(id);
    }

    /// Ends all requests; there can be no more.
    pub(crate) fn close(&self, why: &str) {
        let mut table = self.lock();
        table.closed = Some(why.to_owned());
        let requests = std::mem::take(&mut table.requests);
        let input_requests = std::mem::take(&mut table.input_requests);
        drop(table);
        for cancelled in input_requests.into_values() {
            cancelled.cancel();
        }
        for entry in requests.into_values() {
            let lost = Err(RequestError::Lost(why.to_owned()));
            let _ = entry.messages.try_send(RoutedMessage::Done(lost));
        }
    }

    fn lock(&self) -> MutexGuard<'_, TableState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TableState {
    /// The call that the server works on, where there is no other.
    fn only_call(&mut self) -> Option<&TableEntry> {
        self.cancelled.retain(|_, since| since.elapsed() < CANCELLED_FOR);
        if !self.cancelled.is_empty() {
            return None;
        }
        let mut calls = self.requests.values().filter(|entry| entry.is_call);
        let first = calls.next()?;
        calls.next().is_none().then_some(first)
    }
}

impl TableEntry {
    /// Sends a message if there is room for the end after it; says whether there was.
    fn offer(&self, message: RoutedMessage) -> bool {
        self.messages.capacity() > 1 && self.messages.try_send(message).is_ok()
    }
}

/// Requests that are not cancelled: a server does not know yet what that is.
const HANDSHAKE_METHODS: [&str; 2] = ["initialize", "server/discover"];

/// Sends a message that nobody waits for.
pub(super) trait MessageWriter: Send + Sync + 'static {
    fn write(&self, message: Bytes);
}

/// A request that was sent, or is being sent. Dropping it cancels it.
pub(super) struct MultiplexedRequest<W: MessageWriter> {
    writer: Arc<W>,
    slot: TableSlot,
    deadline: RequestDeadline,
    interim: Option<mpsc::Sender<InterimMessage>>,
    is_cancellable: bool,
    is_over: bool,
}

impl<W: MessageWriter> MultiplexedRequest<W> {
    pub(super) fn new(
        writer: Arc<W>,
        slot: TableSlot,
        method: &str,
        timeout: Duration,
        interim: Option<mpsc::Sender<InterimMessage>>,
    ) -> Self {
        Self {
            writer,
            slot,
            deadline: RequestDeadline::new(timeout),
            interim,
            is_cancellable: !HANDSHAKE_METHODS.contains(&method),
            is_over: false,
        }
    }

    /// Waits for the response. `sending` is the work of sending the request.
    pub(super) async fn response(
        mut self,
        sending: impl Future<Output = Result<(), RequestError>>,
    ) -> Result<Response, RequestError> {
        let mut sending = pin!(sending);
        let mut is_sent = false;
        let result = loop {
            tokio::select! {
                // A message that came before the time ran out has come.
                biased;
                message = self.slot.messages.recv() => match message {
                    Some(RoutedMessage::Interim(message)) => self.pass_on(message),
                    Some(RoutedMessage::InputRequest(open, cancelled)) => self.ask(open, cancelled),
                    Some(RoutedMessage::Done(result)) => break result,
                    None => break Err(RequestError::Lost("the connection is closed".to_owned())),
                },
                sent = &mut sending, if !is_sent => match sent {
                    Ok(()) => is_sent = true,
                    Err(error) => break Err(error),
                },
                () = self.deadline.expired() => {
                    self.cancel("the request timed out");
                    return Err(RequestError::timeout(self.deadline.timeout));
                }
            }
        };
        self.is_over = true;
        self.refuse_input_requests();
        result
    }

    fn pass_on(&self, message: InterimMessage) {
        if let Some(interim) = &self.interim {
            let _ = interim.try_send(message);
        }
    }

    /// Passes an input request on, and sends its response when there is one.
    fn ask(&self, open: OpenInputRequest, cancelled: CancellationToken) {
        let OpenInputRequest { id, request, response, .. } = open;
        let (writer, table) = (Arc::clone(&self.writer), self.slot.table.clone());
        let pause = self.deadline.pause();
        spawn(async move {
            tokio::select! {
                message = OpenInputRequest::encoded_response(&id, response) => writer.write(message),
                () = cancelled.cancelled() => {}
            }
            table.forget_input_request(&id);
            drop(pause);
        });
        self.pass_on(InterimMessage::InputRequest(request));
    }

    /// Tells the server that nobody waits any more, unless the response is there already.
    fn cancel(&mut self, reason: &str) {
        self.is_over = true;
        if self.slot.cancel() && self.is_cancellable {
            self.writer.write(mcp::cancelled(self.slot.id, reason).into());
        }
        self.refuse_input_requests();
    }

    fn refuse_input_requests(&mut self) {
        for response in self.slot.close() {
            self.writer.write(response);
        }
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
