//! MCP over the pipes of a child.
//!
//! Four tasks serve a child: one writes, one reads what it answers, one reads what it prints for
//! people, and one waits for its end. None of them waits for another, or for who made a request.

mod flight;
mod lines;
mod messages;
mod outbox;
mod running;
mod tail;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use gate::BoxFuture;
use guard::process::{Child, ExitReason, Launch, SandboxLevel, Spawner, StartError};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    sync::mpsc::OwnedPermit,
    task::JoinHandle,
    time::timeout,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    flight::{Refused, Sent},
    outbox::Outbox,
    running::Running,
    tail::Tail,
};
use super::{Era, Event, Events, Flight, Limits, Oddities, Prepared, Program, RequestError, Wire};

/// How long a child may take to end after its input has.
const CLOSE_PATIENCE: Duration = Duration::from_secs(2);
/// How long a child may live on that has closed its input or output.
const SILENT_PATIENCE: Duration = Duration::from_secs(1);
/// How long the outputs are read on after the child and all that it started are gone.
const DRAIN_PATIENCE: Duration = Duration::from_secs(1);
/// How much of standard error is read at a time.
const STDERR_CHUNK_BYTES: usize = 4_096;

/// A child that speaks MCP. Dropping it, and all requests that run, ends the child.
struct Stdio {
    shared: Arc<Shared>,
    sandbox: Option<SandboxLevel>,
    alive: Arc<DropGuard>,
}

/// What the tasks and the requests have in common.
struct Shared {
    running: Running,
    outbox: Outbox,
    events: Events,
    max_message_bytes: usize,
    /// What the server asked and waits for, by the id that it gave. Taken back by cancelling it.
    questions: Mutex<HashMap<Box<str>, CancellationToken>>,
    oddities: Mutex<Oddities>,
    stderr: Mutex<Tail>,
    /// The child has to end.
    closing: CancellationToken,
    /// It has ended, and nothing of it is left.
    closed: CancellationToken,
}

/// Starts a program and makes ready to speak to it.
pub(super) async fn open(
    program: &Program,
    limits: &Limits,
    events: Events,
    spawner: &Spawner,
) -> Result<Arc<dyn Wire>, StartError> {
    let launch = Launch {
        args: program.args.clone(),
        env: program.env.clone(),
        limits: program.limits,
        sandbox: program.sandbox.clone(),
        ..Launch::new(&program.command, &program.cwd)
    };
    let mut child = spawner.open(launch).await?;
    let sandbox = child.sandbox();
    let (outbox, messages) = Outbox::new();
    // A place for the last word, which must not be lost.
    let last_word = events.clone().try_reserve_owned().ok();
    let shared = Arc::new(Shared {
        running: Running::default(),
        outbox,
        events,
        max_message_bytes: limits.max_message_bytes,
        questions: Mutex::default(),
        oddities: Mutex::default(),
        stderr: Mutex::new(Tail::new(limits.stderr_bytes)),
        closing: CancellationToken::new(),
        closed: CancellationToken::new(),
    });
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writing = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stdin) = stdin else { return };
            tokio::select! {
                () = shared.outbox.write(messages, stdin) => {}
                () = shared.closing.cancelled() => {}
            }
        }
    });
    let reading = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stdout) = stdout else { return };
            messages::read(shared, stdout).await;
        }
    });
    let listening = tokio::spawn({
        let shared = Arc::clone(&shared);
        async move {
            let Some(stderr) = stderr else { return };
            shared.keep_words(stderr).await;
        }
    });
    let tasks = Tasks { writing, reading, listening };
    tokio::spawn(keep(child, tasks, Arc::clone(&shared), last_word));
    let alive = Arc::new(shared.closing.clone().drop_guard());
    Ok(Arc::new(Stdio { shared, sandbox, alive }))
}

struct Tasks {
    writing: JoinHandle<()>,
    reading: JoinHandle<()>,
    listening: JoinHandle<()>,
}

/// Waits for the end of a child, or brings it about, and tells everybody.
async fn keep(
    mut child: Child,
    mut tasks: Tasks,
    shared: Arc<Shared>,
    last_word: Option<OwnedPermit<Event>>,
) {
    let mut why = tokio::select! {
        ending = child.ended() => described(ending),
        () = shared.closing.cancelled() => String::new(),
        _ = &mut tasks.reading => "the server closed its output".to_owned(),
        _ = &mut tasks.writing => "the server closed its input".to_owned(),
    };
    if shared.closing.is_cancelled() {
        // Looked at here, because the task that writes ends at the same moment.
        child.close(CLOSE_PATIENCE).await;
        "the connection was closed".clone_into(&mut why);
    } else if let Ok(ending) = timeout(SILENT_PATIENCE, child.ended()).await {
        why = described(ending);
    } else {
        child.close(Duration::ZERO).await;
    }
    // What it said before it ended is still to be heard.
    for task in [&mut tasks.reading, &mut tasks.listening] {
        if !task.is_finished() && timeout(DRAIN_PATIENCE, &mut *task).await.is_err() {
            task.abort();
        }
    }
    tasks.writing.abort();
    let why = match shared.stderr_tail().last_line() {
        Some(line) if !shared.closing.is_cancelled() => format!("{why}: {line}"),
        _ => why,
    };
    shared.running.end(&why);
    if let Some(last_word) = last_word {
        last_word.send(Event::Closed(why));
    }
    shared.closed.cancel();
}

fn described(ending: ExitReason) -> String {
    match ending {
        ExitReason::Exited(code) => format!("the server exited with code {code}"),
        ExitReason::Signalled(signal) => format!("the server died of signal {signal}"),
        ExitReason::Stopped => "the server was stopped".to_owned(),
    }
}

impl Shared {
    fn oddities(&self) -> MutexGuard<'_, Oddities> {
        self.oddities.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn questions(&self) -> MutexGuard<'_, HashMap<Box<str>, CancellationToken>> {
        self.questions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stderr_tail(&self) -> MutexGuard<'_, Tail> {
        self.stderr.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn keep_words(&self, mut stderr: impl AsyncRead + Unpin) {
        let mut buffer = vec![0; STDERR_CHUNK_BYTES];
        while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
            self.stderr_tail().push(&buffer[..length]);
        }
    }
}

impl Wire for Stdio {
    fn begin(&self, request: Prepared) -> Box<dyn Flight> {
        // Waited for before it is sent, because the answer may be here before we go on.
        let followed = match self.shared.running.begin(request.id, request.method) {
            Ok(followed) => followed,
            Err(why) => return Box::new(Refused(Some(why))),
        };
        if let Err(why) = self.shared.outbox.push(request.body.clone()) {
            self.shared.running.forget(request.id);
            return Box::new(Refused(Some(RequestError::NotSent(why))));
        }
        Box::new(Sent::new(Arc::clone(&self.shared), Arc::clone(&self.alive), &request, followed))
    }

    fn notify(&self, message: Bytes) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(std::future::ready(self.shared.outbox.push(message)))
    }

    fn established(&self, _era: Era, _version: &str) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn stderr(&self) -> String {
        self.shared.stderr_tail().text()
    }

    fn oddities(&self) -> Oddities {
        self.shared.oddities().clone()
    }

    fn sandbox(&self) -> Option<SandboxLevel> {
        self.sandbox
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        self.shared.closing.cancel();
        Box::pin(self.shared.closed.cancelled())
    }
}
