//! MCP over the pipes of a program that we start.
//!
//! Four tasks serve a program: one writes its input, one reads its output, one reads its standard error,
//! and one waits for its end. None of them waits for another, or for the sender of a request.

mod stderr_tail;

use std::{
    future::ready,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use guard::process::{Child, ExitReason, Launch, SandboxLevel, Spawner, StartError};
use mcp::{Line, LineReader, ProtocolVersion};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    sync::{mpsc, mpsc::error::TrySendError},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::stderr_tail::StderrTail;
use super::{
    ConnectionEvent, ConnectionLimits, DiscardedMessages, Program, RequestError, RequestOptions,
    ResponseFuture, Transport,
    discarded::DiscardCounter,
    events::ConnectionEventSender,
    incoming::{self, IncomingMessage},
    request_table::{MessageWriter, MultiplexedRequest, RequestTable},
};
use crate::ServerText;

/// The time that a program may take to end after its input was closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);
/// The time that a program may live on after it has closed its input or output.
const SILENT_TIMEOUT: Duration = Duration::from_secs(1);
/// The time for which the outputs are read on after the program and all that it started are gone.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);
/// The number of bytes of standard error that are read at a time.
const STDERR_CHUNK_BYTES: usize = 4_096;

/// The number of bytes that may wait for a program that does not read. One message may be larger, if nothing waits.
const MAX_WAITING_BYTES: usize = 8 << 20;
/// The number of messages that may wait.
const MAX_WAITING_MESSAGES: usize = 16_384;
/// The number of messages that are written at once.
const BATCH: usize = 64;
/// The largest buffer that is kept between two writes.
const MAX_IDLE_BYTES: usize = 64 * 1_024;

/// The transport to a program. Dropping it and all of its requests ends the program.
struct StdioTransport {
    writer: Arc<StdioWriter>,
    sandbox: Option<SandboxLevel>,
}

/// Writes messages. The program runs as long as anybody has one.
struct StdioWriter {
    shared: Arc<StdioState>,
    _alive: DropGuard,
}

impl MessageWriter for StdioWriter {
    fn write(&self, message: Bytes) {
        if let Err(error) = self.shared.queue.push(message) {
            tracing::debug!(error, "a message to an MCP server was not sent");
        }
    }
}

/// The state that the tasks and the requests share.
struct StdioState {
    requests: RequestTable,
    queue: WriteQueue,
    events: ConnectionEventSender,
    max_message_bytes: usize,
    discarded: DiscardCounter,
    stderr: Mutex<StderrTail>,
    /// The program has to end.
    closing: CancellationToken,
    /// It has ended, and nothing of it is left.
    closed: CancellationToken,
}

/// Starts a program.
pub(super) async fn open(
    program: &Program,
    limits: &ConnectionLimits,
    events: mpsc::Sender<ConnectionEvent>,
    spawner: &Spawner,
) -> Result<Arc<dyn Transport>, StartError> {
    let launch = Launch {
        args: program.args.clone(),
        env: program.env.clone(),
        limits: program.limits,
        sandbox: program.sandbox.clone(),
        ..Launch::new(&program.command, &program.cwd)
    };
    let mut child = spawner.open(launch).await?;
    let sandbox = child.sandbox();
    let (queue, messages) = WriteQueue::new();
    let shared = Arc::new(StdioState {
        requests: RequestTable::default(),
        queue,
        events: ConnectionEventSender::new(events),
        max_message_bytes: limits.max_message_bytes,
        discarded: DiscardCounter::default(),
        stderr: Mutex::new(StderrTail::new(limits.stderr_bytes)),
        closing: CancellationToken::new(),
        closed: CancellationToken::new(),
    });
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stdin) = stdin else { return };
            tokio::select! {
                () = shared.queue.write(messages, stdin) => {}
                () = shared.closing.cancelled() => {}
            }
        }
    });
    let reading = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stdout) = stdout else { return };
            shared.read_messages(stdout).await;
        }
    });
    let reading_stderr = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stderr) = stderr else { return };
            shared.read_stderr(stderr).await;
        }
    });
    let tasks = StdioTasks { writing, reading, reading_stderr };
    tokio::spawn(supervise(child, tasks, Arc::clone(&shared)));
    let alive = shared.closing.clone().drop_guard();
    let writer = Arc::new(StdioWriter { shared, _alive: alive });
    Ok(Arc::new(StdioTransport { writer, sandbox }))
}

struct StdioTasks {
    writing: JoinHandle<()>,
    reading: JoinHandle<()>,
    reading_stderr: JoinHandle<()>,
}

/// Waits for the end of a program, or brings it about, and tells everybody.
async fn supervise(mut child: Child, mut tasks: StdioTasks, shared: Arc<StdioState>) {
    let mut why = tokio::select! {
        ending = child.ended() => described(ending),
        () = shared.closing.cancelled() => String::new(),
        _ = &mut tasks.reading => "the server closed its output".to_owned(),
        _ = &mut tasks.writing => "the server closed its input".to_owned(),
    };
    if shared.closing.is_cancelled() {
        // Looked at here, because the task that writes ends at the same moment.
        child.close(CLOSE_TIMEOUT).await;
        "the connection was closed".clone_into(&mut why);
    } else if let Ok(ending) = timeout(SILENT_TIMEOUT, child.ended()).await {
        why = described(ending);
    } else {
        child.close(Duration::ZERO).await;
    }
    // Its last output is still to be read.
    for task in [&mut tasks.reading, &mut tasks.reading_stderr] {
        if !task.is_finished() && timeout(DRAIN_TIMEOUT, &mut *task).await.is_err() {
            task.abort();
        }
    }
    tasks.writing.abort();
    let why = match shared.stderr_tail().last_line() {
        Some(line) if !shared.closing.is_cancelled() => format!("{why}: {line}"),
        _ => why,
    };
    shared.requests.close(&why);
    shared.events.closed(why);
    shared.closed.cancel();
}

fn described(ending: ExitReason) -> String {
    match ending {
        ExitReason::Exited(code) => format!("the server exited with code {code}"),
        ExitReason::Signalled(signal) => format!("the server was killed by signal {signal}"),
        ExitReason::Stopped => "the server was stopped".to_owned(),
    }
}

impl StdioState {
    fn stderr_tail(&self) -> MutexGuard<'_, StderrTail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads messages until the program closes its output.
    async fn read_messages(&self, stdout: impl AsyncRead + Unpin) {
        let mut lines = LineReader::new(stdout, self.max_message_bytes);
        // An output that cannot be read has no more to say than one that ended.
        while let Ok(Some(line)) = lines.next().await {
            match line {
                Line::Message(line) => {
                    incoming::for_each(&line, &self.discarded, |message| self.take(message));
                }
                Line::TooLong => self.discarded.too_long(),
                Line::Discarded(edges) => {
                    if let Some(id) = edges.response_id() {
                        let error = RequestError::TooLarge(self.max_message_bytes);
                        self.requests.finish(id, Err(error));
                    }
                }
            }
        }
    }

    fn take(&self, message: IncomingMessage) {
        if let IncomingMessage::ListChanged(list) = message {
            return self.events.list_changed(list);
        }
        if let Some(response) = self.requests.route(message, &self.discarded) {
            let _ = self.queue.push(response);
        }
    }

    async fn read_stderr(&self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; STDERR_CHUNK_BYTES];
        while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
            self.stderr_tail().push(&buffer[..length]);
        }
    }
}

impl Transport for StdioTransport {
    fn send(
        &self,
        id: u64,
        method: &'static str,
        message: Bytes,
        options: RequestOptions<'_>,
    ) -> ResponseFuture {
        let shared = &self.writer.shared;
        // In the table first: its response may come at once.
        let sent =
            shared.requests.insert(id, method, options.max_response_bytes).and_then(|slot| {
                shared.queue.push(message).map_err(RequestError::NotSent)?;
                let (writer, timeout) = (Arc::clone(&self.writer), options.timeout);
                Ok(MultiplexedRequest::new(writer, slot, method, timeout, options.interim))
            });
        match sent {
            Ok(request) => Box::pin(request.response(ready(Ok(())))),
            Err(error) => Box::pin(ready(Err(error))),
        }
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(ready(self.writer.shared.queue.push(message)))
    }

    fn set_version(&self, _version: ProtocolVersion) {}

    fn stderr(&self) -> ServerText {
        self.writer.shared.stderr_tail().text()
    }

    fn discarded(&self) -> DiscardedMessages {
        self.writer.shared.discarded.get()
    }

    fn sandbox(&self) -> Option<SandboxLevel> {
        self.sandbox
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.writer.shared.closing.cancel();
        Box::pin(self.writer.shared.closed.cancelled())
    }
}

/// Takes messages. Nobody waits here: a message that finds no room is refused.
#[derive(Debug)]
struct WriteQueue {
    queue: mpsc::Sender<Bytes>,
    waiting_bytes: AtomicUsize,
}

impl WriteQueue {
    fn new() -> (WriteQueue, mpsc::Receiver<Bytes>) {
        let (queue, messages) = mpsc::channel(MAX_WAITING_MESSAGES);
        (WriteQueue { queue, waiting_bytes: AtomicUsize::new(0) }, messages)
    }

    /// Puts a message at the end of the queue, or says why it will not be sent.
    fn push(&self, message: Bytes) -> Result<(), String> {
        let length = message.len();
        let before = self.waiting_bytes.fetch_add(length, Ordering::Relaxed);
        let refused = if before > 0 && before.saturating_add(length) > MAX_WAITING_BYTES {
            format!(
                "the server does not read its input: {before} bytes wait (at most {MAX_WAITING_BYTES})"
            )
        } else {
            match self.queue.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Closed(_)) => "the server's input is closed".to_owned(),
                Err(TrySendError::Full(_)) => format!(
                    "the server does not read its input: {MAX_WAITING_MESSAGES} messages wait, the most that may"
                ),
            }
        };
        self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
        Err(refused)
    }

    /// Writes messages as they come, until nobody can read them.
    async fn write(&self, mut messages: mpsc::Receiver<Bytes>, mut stdin: impl AsyncWrite + Unpin) {
        let mut batch = Vec::new();
        let mut buffer = Vec::new();
        while messages.recv_many(&mut batch, BATCH).await > 0 {
            let mut length = 0;
            for message in batch.drain(..) {
                length += message.len();
                append_line(&mut buffer, &message);
            }
            if stdin.write_all(&buffer).await.is_err() {
                return;
            }
            self.waiting_bytes.fetch_sub(length, Ordering::Relaxed);
            buffer.clear();
            buffer.shrink_to(MAX_IDLE_BYTES);
        }
    }
}

/// Appends a message as one line. An end of a line within it stands between two tokens, because no
/// string in JSON holds one as it is.
fn append_line(buffer: &mut Vec<u8>, message: &[u8]) {
    let start = buffer.len();
    buffer.extend_from_slice(message);
    for byte in memchr::memchr2_iter(b'\n', b'\r', message) {
        buffer[start + byte] = b' ';
    }
    buffer.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_message_is_one_line() {
        let (queue, messages) = WriteQueue::new();
        for text in ["{}", "{\n  \"a\": \"b\\n\"\r\n}", "[]"] {
            queue.push(Bytes::from_static(text.as_bytes())).unwrap();
        }
        let (ours, theirs) = tokio::io::duplex(10);
        let read = async {
            let mut lines = tokio::io::AsyncBufReadExt::lines(tokio::io::BufReader::new(theirs));
            let mut read = Vec::new();
            for _ in 0..3 {
                read.push(lines.next_line().await.unwrap().unwrap());
            }
            read
        };
        tokio::select! {
            () = queue.write(messages, ours) => panic!("ended"),
            read = read => assert_eq!(read, ["{}", "{   \"a\": \"b\\n\"  }", "[]"]),
        }
        assert_eq!(queue.waiting_bytes.load(Ordering::Relaxed), 0);
    }

    #[tokio::test]
    async fn a_message_that_finds_no_room_is_refused() {
        let (queue, messages) = WriteQueue::new();
        let large = Bytes::from(vec![b' '; MAX_WAITING_BYTES * 2]);
        queue.push(large).unwrap();
        let refused = queue.push(Bytes::from_static(b"{}")).unwrap_err();
        assert!(refused.contains("does not read its input"), "{refused}");
        drop(messages);
        let (queue, messages) = WriteQueue::new();
        for _ in 0..MAX_WAITING_MESSAGES {
            queue.push(Bytes::from_static(b"{}")).unwrap();
        }
        let refused = queue.push(Bytes::from_static(b"{}")).unwrap_err();
        assert!(refused.contains("16384 messages wait"), "{refused}");
        let waiting = queue.waiting_bytes.load(Ordering::Relaxed);
        assert_eq!(waiting, 2 * MAX_WAITING_MESSAGES, "a refused message does not count");
        drop(messages);
        let (queue, messages) = WriteQueue::new();
        drop(messages);
        assert!(queue.push(Bytes::new()).is_err());
    }
}
