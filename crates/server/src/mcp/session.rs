//! What is remembered of a client of the legacy era.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use gate::{Caller, LogLevel};
use rand::Rng;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    client::Client,
    context::{Outbox, Scope},
    requests::Requests,
    resources,
    rpc::{self, Id},
};

/// How many resources one client may watch.
const MAX_WATCHED: usize = 1_024;

/// A client of the legacy era between its `initialize` and its end.
pub(crate) struct Session {
    pub id: Box<str>,
    pub client: Client,
    pub caller: Caller,
    pub scope: Scope,
    level: AtomicU8,
    pub requests: Arc<Requests>,
    asked: Mutex<HashMap<Id, oneshot::Sender<Result<Value, String>>>>,
    next_question: AtomicU64,
    watched: Mutex<HashSet<String>>,
    /// Tells that another resource is watched.
    pub begun_to_watch: Notify,
    /// Ends the stream that the client has open for whatever we have to say.
    listening: Mutex<CancellationToken>,
    /// Streams that are open, so that a quiet client is not taken for a dead one.
    streams: AtomicUsize,
    last_used: AtomicU64,
    /// Fires when the session is over.
    pub over: CancellationToken,
}

impl Session {
    pub(crate) fn new(
        client: Client,
        caller: Caller,
        scope: Scope,
        requests: Arc<Requests>,
    ) -> Arc<Self> {
        let mut random = [0; 24];
        rand::rng().fill_bytes(&mut random);
        let id: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
        Arc::new(Self {
            id: id.into(),
            client,
            caller,
            scope,
            level: AtomicU8::new(0),
            requests,
            asked: Mutex::default(),
            next_question: AtomicU64::new(1),
            watched: Mutex::default(),
            begun_to_watch: Notify::new(),
            listening: Mutex::default(),
            streams: AtomicUsize::new(0),
            last_used: AtomicU64::new(now()),
            over: CancellationToken::new(),
        })
    }

    /// The client as it is now. One that set no level hears everything.
    pub(crate) fn client(&self) -> Client {
        let level = LogLevel::ALL.get(usize::from(self.level.load(Relaxed))).copied();
        Client { log_level: level, ..self.client }
    }

    pub(crate) fn set_level(&self, level: LogLevel) {
        let index = LogLevel::ALL.iter().position(|one| *one == level).unwrap_or(0);
        self.level.store(u8::try_from(index).unwrap_or(0), Relaxed);
    }

    /// Asks the client something and waits for its answer.
    pub(crate) async fn ask(
        &self,
        outbox: &Outbox,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        let id = Id::number(self.next_question.fetch_add(1, Relaxed));
        let (sender, receiver) = oneshot::channel();
        lock(&self.asked).insert(id.clone(), sender);
        let _forget = Forget { session: self, id: &id };
        if !outbox.send(rpc::request(&id, method, params)).await {
            return Err("the client is gone".into());
        }
        tokio::select! {
            answer = receiver => answer.unwrap_or_else(|_| Err("the client is gone".into())),
            () = self.over.cancelled() => Err("the session is over".into()),
        }
    }

    /// Takes the answer to a question; one that nobody asked is dropped.
    pub(crate) fn answer(&self, id: &Id, answer: Result<Value, String>) {
        if let Some(sender) = lock(&self.asked).remove(id) {
            let _ = sender.send(answer);
        }
    }

    /// From now on the client wants to hear when this resource changes; false if it watches
    /// too many.
    pub(crate) fn watch(&self, uri: &str) -> bool {
        if resources::job_of(uri).is_none() {
            return true;
        }
        let mut watched = lock(&self.watched);
        if watched.len() >= MAX_WATCHED && !watched.contains(uri) {
            return false;
        }
        watched.insert(uri.to_owned());
        self.begun_to_watch.notify_one();
        true
    }

    pub(crate) fn unwatch(&self, uri: &str) {
        lock(&self.watched).remove(uri);
    }

    /// The resources that the client watches.
    pub(crate) fn watched(&self) -> HashSet<String> {
        lock(&self.watched).clone()
    }

    /// A client has one stream for what we say of our own accord: ends the one before, and
    /// hands out what will end this one.
    pub(crate) fn replace_stream(&self) -> CancellationToken {
        let next = CancellationToken::new();
        std::mem::replace(&mut *lock(&self.listening), next.clone()).cancel();
        next
    }

    /// A stream is open until the guard is dropped.
    pub(crate) fn stream(self: &Arc<Self>) -> Streaming {
        self.streams.fetch_add(1, Relaxed);
        Streaming(self.clone())
    }

    /// The client does something.
    pub(crate) fn touch(&self) {
        self.last_used.store(now(), Relaxed);
    }

    /// When it last did something, and for how long it has done nothing since.
    pub(crate) fn idle(&self) -> (u64, Duration) {
        let last = self.last_used.load(Relaxed);
        (last, Duration::from_nanos(now().saturating_sub(last)))
    }

    /// Whether something of the client is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.streams.load(Relaxed) > 0 || !self.requests.is_empty()
    }

    /// Nothing of this client goes on.
    pub(crate) fn end(&self) {
        self.over.cancel();
        self.requests.stop_all();
    }
}

/// An open stream, until this is dropped.
pub(crate) struct Streaming(Arc<Session>);

impl Drop for Streaming {
    fn drop(&mut self) {
        // Its silence begins now.
        self.0.touch();
        self.0.streams.fetch_sub(1, Relaxed);
    }
}

/// A question, until it is answered or given up.
struct Forget<'a> {
    session: &'a Session,
    id: &'a Id,
}

impl Drop for Forget<'_> {
    fn drop(&mut self) {
        lock(&self.session.asked).remove(self.id);
    }
}

/// Nanoseconds since the first session: which of two sessions was used last must be plain.
fn now() -> u64 {
    static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(BEGAN.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
