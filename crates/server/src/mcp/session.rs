//! Sessions of legacy clients: the state of each, and the table of all.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock,
        atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use gate::{Caller, LogLevel};
use mcp::{Id, Request};
use rand::Rng;
use serde_json::Value;
use tokio::sync::{Notify, oneshot};
use tokio_util::sync::CancellationToken;

use super::{
    context::{Client, MessageSender, Scope},
    open_requests::OpenRequests,
    resources,
};

/// The number of resources that one client may subscribe to.
const MAX_WATCHED: usize = 1_024;

/// A legacy client between its `initialize` and its end.
pub(crate) struct Session {
    pub id: Box<str>,
    pub client: Client,
    pub caller: Caller,
    pub scope: Scope,
    level: AtomicU8,
    pub requests: Arc<OpenRequests>,
    /// Our own requests that wait for a response.
    input_requests: Mutex<HashMap<Id, oneshot::Sender<Result<Value, String>>>>,
    next_id: AtomicU64,
    watched: Mutex<HashSet<String>>,
    /// Tells that another resource is watched.
    pub begun_to_watch: Notify,
    /// Ends the stream that the client has open for whatever we have to say.
    listening: Mutex<CancellationToken>,
    /// Streams that are open, so that a quiet client is not taken for a dead one.
    streams: AtomicUsize,
    last_used: AtomicU64,
    over: CancellationToken,
}

impl Session {
    pub(crate) fn new(
        client: Client,
        caller: Caller,
        scope: Scope,
        requests: Arc<OpenRequests>,
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
            input_requests: Mutex::default(),
            next_id: AtomicU64::new(1),
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

    /// Sends an input request and waits for its response.
    pub(crate) async fn ask(
        &self,
        messages: &MessageSender,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        let id = Id::Number(self.next_id.fetch_add(1, Relaxed));
        let (sender, receiver) = oneshot::channel();
        lock(&self.input_requests).insert(id.clone(), sender);
        let _forget = ForgetOnDrop { session: self, id: &id };
        let params = params.to_string();
        let request = Request { id: id.clone(), method: method.into(), params: Some(&params) };
        if !messages.send(request.encode(&[])).await {
            return Err("the client is gone".into());
        }
        tokio::select! {
            response = receiver => response.unwrap_or_else(|_| Err("the client is gone".into())),
            () = self.over.cancelled() => Err("the session is over".into()),
        }
    }

    /// Takes the response to an input request; one that nobody waits for is dropped.
    pub(crate) fn respond(&self, id: &Id, response: Result<Value, String>) {
        if let Some(sender) = lock(&self.input_requests).remove(id) {
            let _ = sender.send(response);
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
    pub(crate) fn stream(self: &Arc<Self>) -> StreamGuard {
        self.streams.fetch_add(1, Relaxed);
        StreamGuard(self.clone())
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

    /// True if something of the client is under way.
    pub(crate) fn is_busy(&self) -> bool {
        self.streams.load(Relaxed) > 0 || !self.requests.is_empty()
    }

    /// True if it has ended.
    pub(crate) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Waits for its end.
    pub(crate) async fn ended(&self) {
        self.over.cancelled().await;
    }

    /// Ends the session and cancels everything of its client.
    pub(crate) fn end(&self) {
        self.over.cancel();
        self.requests.stop_all();
    }
}

/// An open stream, until this is dropped.
pub(crate) struct StreamGuard(Arc<Session>);

impl Drop for StreamGuard {
    fn drop(&mut self) {
        // Its idle time begins now.
        self.0.touch();
        self.0.streams.fetch_sub(1, Relaxed);
    }
}

/// An input request, until it has its response or is given up.
struct ForgetOnDrop<'a> {
    session: &'a Session,
    id: &'a Id,
}

impl Drop for ForgetOnDrop<'_> {
    fn drop(&mut self) {
        lock(&self.session.input_requests).remove(self.id);
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

/// The idle time after which a session ends, unless the settings say otherwise.
pub const DEFAULT_SESSION_IDLE: Duration = Duration::from_mins(30);
/// The largest number of sessions, unless the settings say otherwise.
pub const DEFAULT_MAX_SESSIONS: usize = 10_000;

/// All the sessions of the HTTP door, bounded in number and in idle time.
pub(crate) struct Sessions {
    all: RwLock<HashMap<Box<str>, Arc<Session>>>,
    max: usize,
    idle: Duration,
}

impl Sessions {
    pub(crate) fn new(max: usize, idle: Duration) -> Self {
        Self { all: RwLock::default(), max, idle }
    }

    /// Takes a session in. Where there is no room, another one goes: clients that never say
    /// goodbye must not keep others out.
    pub(crate) fn insert(&self, session: &Arc<Session>) {
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        while all.len() >= self.max {
            let Some(gone) = least_missed(&all).and_then(|id| all.remove(&id)) else { break };
            gone.end();
        }
        all.insert(session.id.clone(), session.clone());
    }

    /// The session of that name, used now.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<Session>> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let session = all.get(id)?;
        session.touch();
        Some(session.clone())
    }

    /// Ends a session.
    pub(crate) fn remove(&self, id: &str) {
        let gone = self.all.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        if let Some(gone) = gone {
            gone.end();
        }
    }

    /// Ends the sessions that have been idle for too long.
    pub(crate) fn sweep(&self) {
        let old = |session: &Session| session.idle().1 >= self.idle && !session.is_busy();
        let any = {
            let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
            all.values().any(|session| old(session))
        };
        if !any {
            return;
        }
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, session| {
            let keep = !old(session);
            if !keep {
                session.end();
            }
            keep
        });
        // A table that was large once would stay so.
        all.shrink_to_fit();
    }

    /// Their number.
    pub(crate) fn count(&self) -> usize {
        self.all.read().unwrap_or_else(PoisonError::into_inner).len()
    }
}

/// Of the caller who has most, the session that was idle for longest.
fn least_missed(all: &HashMap<Box<str>, Arc<Session>>) -> Option<Box<str>> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for session in all.values() {
        *counts.entry(session.caller.name()).or_default() += 1;
    }
    let (caller, _) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    let theirs = all.values().filter(|session| session.caller.name() == caller);
    theirs.min_by_key(|one| (one.is_busy(), one.idle().0)).map(|one| one.id.clone())
}
