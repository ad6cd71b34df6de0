//! A service that a tool asks: a [`Peer`] on a thread of its own, so that it answers also while a test
//! waits for a program, and whose reply can be changed.

use std::{
    sync::{Arc, LazyLock, Mutex},
    time::Duration,
};

use tokio::runtime::Runtime;

use crate::{Act, Peer, PeerRequest};

/// The response to a request, after which the connection is closed.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes, and the end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing more, for as long as the other side waits.
    Stall(Vec<u8>),
    /// The first bytes, and then the second ones again and again, with a pause before each.
    Endless(Vec<u8>, Vec<u8>, Duration),
}

impl Reply {
    /// A whole response with a body.
    pub fn new(status: u16, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!("Content-Type: {content_type}\r\nConnection: close\r\n");
        let Act::Say(bytes) = Act::answer(status, &head, body) else { unreachable!() };
        Self::Bytes(bytes)
    }

    pub fn json(status: u16, body: impl std::fmt::Display) -> Self {
        Self::new(status, "application/json", body.to_string())
    }

    fn acts(self) -> Vec<Act> {
        match self {
            Self::Bytes(bytes) => vec![Act::Say(bytes), Act::Close],
            Self::Stall(bytes) => vec![Act::Say(bytes), Act::Silence],
            Self::Endless(first, more, pause) => vec![Act::Say(first), Act::Repeat(more, pause)],
        }
    }
}

/// One for all of them, which ends with the test's process: nobody else knows their ports.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

type Script = dyn Fn(&PeerRequest) -> Reply + Send + Sync;

/// A service that answers by a script.
pub struct Upstream {
    peer: Peer,
    script: Arc<Mutex<Arc<Script>>>,
}

impl Upstream {
    /// A service that gives every request the same reply.
    pub fn saying(reply: Reply) -> Self {
        Self::new(move |_| reply.clone())
    }

    /// A service that looks at the request first.
    pub fn new(script: impl Fn(&PeerRequest) -> Reply + Send + Sync + 'static) -> Self {
        let script: Arc<Mutex<Arc<Script>>> = Arc::new(Mutex::new(Arc::new(script)));
        let current = script.clone();
        let peer = Peer::start(move |request| {
            let script = current.lock().unwrap().clone();
            script(request).acts()
        });
        // A test may be asynchronous itself, and its thread may not wait for another runtime.
        let peer = std::thread::spawn(move || RUNTIME.block_on(peer)).join().unwrap();
        Self { peer, script }
    }

    /// Replies with something else from now on.
    pub fn say(&self, reply: Reply) {
        *self.script.lock().unwrap() = Arc::new(move |_: &PeerRequest| reply.clone());
    }

    pub fn port(&self) -> u16 {
        self.peer.port
    }

    /// Its address.
    pub fn url(&self) -> String {
        self.peer.url("")
    }

    /// The requests until now.
    pub fn requests(&self) -> Vec<PeerRequest> {
        self.peer.heard()
    }
}
