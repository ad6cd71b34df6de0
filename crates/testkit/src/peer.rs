//! A server that speaks HTTP/1.1 by a script, connection after connection and request after request,
//! and does to its client whatever the script says.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc::UnboundedReceiver,
};

/// A request as the server read it.
#[derive(Debug, Clone)]
pub struct PeerRequest {
    /// Which connection it came by, from 0.
    pub connection: usize,
    /// The how-manieth of that connection it is, from 0.
    pub nth: usize,
    /// `GET`, `POST`.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, with their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

impl PeerRequest {
    /// The value of a header; empty where there is none.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    /// A field at the top of the body.
    pub fn field(&self, name: &str) -> serde_json::Value {
        let body: serde_json::Value = serde_json::from_str(&self.body).unwrap_or_default();
        body.get(name).cloned().unwrap_or_default()
    }
}

/// Something that the server does.
pub enum Act {
    /// Sends these bytes.
    Say(Vec<u8>),
    /// Sends these bytes one by one, with this pause before each.
    Drip(Vec<u8>, Duration),
    /// Sends these bytes again and again, without an end.
    Endless(Vec<u8>),
    /// Sends these bytes again and again, with this pause before each time.
    Repeat(Vec<u8>, Duration),
    /// Sends what comes, until nothing can come any more.
    Relay(UnboundedReceiver<Vec<u8>>),
    /// Says nothing until the client goes.
    Silence,
    /// Closes the connection.
    Close,
    /// Breaks it off.
    Reset,
}

impl Act {
    /// Text, as it is.
    pub fn say(text: impl Into<Vec<u8>>) -> Self {
        Self::Say(text.into())
    }

    /// A whole answer, after which the connection can be used again.
    pub fn answer(status: u16, head: &str, body: impl AsRef<[u8]>) -> Self {
        let body = body.as_ref();
        let length = body.len();
        let mut text =
            format!("HTTP/1.1 {status} -\r\nContent-Length: {length}\r\n{head}\r\n").into_bytes();
        text.extend_from_slice(body);
        Self::Say(text)
    }

    /// A whole answer of JSON.
    pub fn json(body: impl std::fmt::Display) -> Self {
        Self::answer(200, "Content-Type: application/json\r\n", body.to_string())
    }

    /// The head of a stream of events, which ends when the connection does.
    pub fn events() -> Self {
        Self::say("HTTP/1.1 200 -\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
    }
}

type Script = dyn Fn(&PeerRequest) -> Vec<Act> + Send + Sync;

/// The server. It ends with the runtime of its test.
#[derive(Clone)]
pub struct Peer {
    /// Its port on 127.0.0.1.
    pub port: u16,
    connections: Arc<AtomicUsize>,
    closed: Arc<AtomicUsize>,
    heard: Arc<Mutex<Vec<PeerRequest>>>,
}

impl Peer {
    /// A server that does this to every request.
    pub async fn start(script: impl Fn(&PeerRequest) -> Vec<Act> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let peer = Self {
            port: listener.local_addr().unwrap().port(),
            connections: Arc::default(),
            closed: Arc::default(),
            heard: Arc::default(),
        };
        let server = peer.clone();
        let script: Arc<Script> = Arc::new(script);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let connection = server.connections.fetch_add(1, Ordering::SeqCst);
                let _ = stream.set_nodelay(true);
                let (server, script) = (server.clone(), script.clone());
                tokio::spawn(async move {
                    server.serve(stream, connection, &*script).await;
                    server.closed.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        peer
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// The number of connections so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The number of connections that are closed.
    pub fn closed(&self) -> usize {
        self.closed.load(Ordering::SeqCst)
    }

    /// The requests so far.
    pub fn heard(&self) -> Vec<PeerRequest> {
        self.heard.lock().unwrap().clone()
    }

    async fn serve(&self, mut stream: TcpStream, connection: usize, script: &Script) {
        let mut bytes = Vec::new();
        for nth in 0.. {
            let Some(heard) = read(&mut stream, &mut bytes, connection, nth).await else { return };
            self.heard.lock().unwrap().push(heard.clone());
            for act in script(&heard) {
                if !perform(act, &mut stream).await {
                    return;
                }
            }
        }
    }
}

/// Does it; false where that is the end of the connection.
async fn perform(act: Act, stream: &mut TcpStream) -> bool {
    match act {
        Act::Say(bytes) => stream.write_all(&bytes).await.is_ok(),
        Act::Drip(bytes, pause) => {
            for byte in bytes {
                tokio::time::sleep(pause).await;
                if stream.write_all(&[byte]).await.is_err() {
                    return false;
                }
            }
            true
        }
        Act::Endless(bytes) => {
            while stream.write_all(&bytes).await.is_ok() {}
            false
        }
        Act::Repeat(bytes, pause) => {
            while stream.write_all(&bytes).await.is_ok() {
                tokio::time::sleep(pause).await;
            }
            false
        }
        Act::Relay(mut bytes) => loop {
            let mut none = [0];
            tokio::select! {
                more = bytes.recv() => match more {
                    Some(more) if stream.write_all(&more).await.is_ok() => {}
                    Some(_) => return false,
                    None => return true,
                },
                _ = stream.read(&mut none) => return false,
            }
        },
        Act::Silence => {
            let _ = stream.read(&mut [0]).await;
            false
        }
        Act::Close => false,
        Act::Reset => {
            let _ = stream.set_zero_linger();
            false
        }
    }
}

async fn read(
    stream: &mut TcpStream,
    bytes: &mut Vec<u8>,
    connection: usize,
    nth: usize,
) -> Option<PeerRequest> {
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    bytes.drain(..end + 4);
    let mut lines = head.split("\r\n");
    let mut words = lines.next()?.split(' ').map(str::to_owned);
    let headers: BTreeMap<_, _> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while bytes.len() < length {
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = String::from_utf8_lossy(&bytes[..length]).into_owned();
    bytes.drain(..length);
    Some(PeerRequest { connection, nth, method: words.next()?, path: words.next()?, headers, body })
}

/// A port on which nobody listens.
pub fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}
