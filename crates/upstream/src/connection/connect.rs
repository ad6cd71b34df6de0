//! Reaching a server, and finding out which revision of the protocol it speaks.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use gate::visible_text::visible_line;
use guard::process::{Spawner, StartError};
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::{
    Connection, Era, Event, Limits, Protocol, RequestError, Server, Target, Wire,
    connected::{Line, Meta, Request},
    handshake::{self, Discovered},
    http, outgoing, protocol, stdio,
};

/// How long a server may take to answer the first question of the modern era. One that does not know it
/// may say nothing at all, and is then asked in the other way.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// How many events wait for who listens. One place is kept for the last.
const MAX_EVENTS: usize = 16;

/// How many of the last lines of standard error are told, and how much of a line, in characters.
const MAX_HEARD_LINES: usize = 3;
const MAX_HEARD_CHARS: usize = 200;

/// How to speak to a server.
#[derive(Debug, Clone)]
pub struct Terms {
    /// How much it may take of us.
    pub limits: Limits,
    /// Which revision to speak.
    pub protocol: Protocol,
    /// Who we are: name and version.
    pub client: Value,
    /// What we can do for it: whom it can ask. It depends on who calls us.
    pub capabilities: Value,
}

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Its program did not start.
    #[error("the server could not be started")]
    Start(#[source] StartError),
    /// Its address cannot be used.
    #[error("the server cannot be reached: {0}")]
    Address(String),
    /// It was not ready in time.
    #[error("the server was not ready within {limit_ms} ms (connect_timeout_ms){heard}")]
    Timeout {
        /// How long that is.
        limit_ms: u64,
        /// What was heard of it meanwhile.
        heard: Heard,
    },
    /// It speaks other revisions of the protocol.
    #[error("the server speaks MCP of {offered}, and we speak {wanted}")]
    Version {
        /// What the server names.
        offered: String,
        /// What would do.
        wanted: String,
    },
    /// It does not begin as the protocol wants it.
    #[error("the server did not begin as MCP wants it")]
    Handshake(#[source] RequestError),
}

/// Connects to a server, and agrees on a revision with it.
pub async fn connect(
    target: &Target,
    terms: &Terms,
    spawner: &Spawner,
) -> Result<Connection, ConnectError> {
    let limit = terms.limits.connect_timeout;
    let connecting = Connecting { target, terms, spawner, wire: OnceLock::new() };
    match timeout(limit, connecting.connect()).await {
        Ok(connected) => connected,
        Err(_) => {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            let heard = connecting.wire.get().map(|wire| Heard::over(&**wire));
            Err(ConnectError::Timeout { limit_ms, heard: heard.unwrap_or_default() })
        }
    }
}

/// What a server said that was no answer: often why there is none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heard {
    /// The first line on standard output that is no message.
    pub garbage: Option<String>,
    /// The last lines on standard error.
    pub stderr: Vec<String>,
}

impl Heard {
    fn over(wire: &dyn Wire) -> Self {
        let shown =
            |line: &str| visible_line(&line.chars().take(MAX_HEARD_CHARS).collect::<String>());
        let said = wire.stderr();
        let mut stderr: Vec<String> = said
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(MAX_HEARD_LINES)
            .map(shown)
            .collect();
        stderr.reverse();
        Self { garbage: wire.oddities().samples.first().map(|line| shown(line)), stderr }
    }
}

impl fmt::Display for Heard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = &self.garbage {
            write!(formatter, "; it printed what is no message: `{line}`")?;
        }
        if !self.stderr.is_empty() {
            write!(formatter, "; it said: `{}`", self.stderr.join(" / "))?;
        }
        Ok(())
    }
}

/// A wire, and what comes over it beside answers.
struct Opened {
    line: Line,
    sender: mpsc::Sender<Event>,
    events: mpsc::Receiver<Event>,
}

struct Connecting<'a> {
    target: &'a Target,
    terms: &'a Terms,
    spawner: &'a Spawner,
    /// The first wire, for who wants to know what came over it.
    wire: OnceLock<Arc<dyn Wire>>,
}

impl Connecting<'_> {
    async fn connect(&self) -> Result<Connection, ConnectError> {
        let opened = self.open().await?;
        match self.terms.protocol {
            Protocol::Auto => self.negotiate(opened).await,
            Protocol::Modern => match self.discover(&opened.line).await {
                Ok(Discovered::Modern(server)) => Ok(self.established(opened, *server).await),
                Ok(Discovered::Legacy(offered)) => Err(other(offered, protocol::MODERN)),
                Ok(Discovered::Unknown(offered)) => Err(other(&offered, protocol::MODERN)),
                Ok(Discovered::Nothing) => Err(unreadable("server/discover", "supportedVersions")),
                Err(error) => Err(ConnectError::Handshake(error)),
            },
            Protocol::Legacy => self.initialize(opened, protocol::LEGACY[0]).await,
        }
    }

    /// Asks in the modern way first, and in the legacy one unless that was understood.
    async fn negotiate(&self, opened: Opened) -> Result<Connection, ConnectError> {
        let patience = PROBE_TIMEOUT.min(self.terms.limits.connect_timeout / 2);
        let probed = match timeout(patience, self.discover(&opened.line)).await {
            Ok(Err(RequestError::Rpc(error))) => Ok(handshake::refused(&error)),
            Ok(probed) => probed,
            Err(_) => Ok(Discovered::Nothing),
        };
        match probed {
            Ok(Discovered::Modern(server)) => Ok(self.established(opened, *server).await),
            Ok(Discovered::Legacy(version)) => self.initialize(opened, version).await,
            Ok(Discovered::Unknown(offered)) => Err(other(&offered, &all())),
            // Nobody is there, in either era.
            Err(RequestError::NotSent(why)) if !self.is_program() => {
                Err(ConnectError::Address(why))
            }
            // Some servers end at the first message that they do not know.
            Err(RequestError::Lost(_) | RequestError::NotSent(_)) => self.begin_anew().await,
            Ok(Discovered::Nothing) | Err(_) => {
                match self.initialize(opened, protocol::LEGACY[0]).await {
                    Err(ConnectError::Handshake(
                        RequestError::Lost(_) | RequestError::NotSent(_),
                    )) => self.begin_anew().await,
                    connected => connected,
                }
            }
        }
    }

    async fn begin_anew(&self) -> Result<Connection, ConnectError> {
        self.initialize(self.open().await?, protocol::LEGACY[0]).await
    }

    fn is_program(&self) -> bool {
        matches!(self.target, Target::Program(_))
    }

    async fn open(&self) -> Result<Opened, ConnectError> {
        let limits = &self.terms.limits;
        let (sender, events) = mpsc::channel(MAX_EVENTS);
        let wire: Arc<dyn Wire> = match self.target {
            Target::Program(program) => {
                let opened = stdio::open(program, limits, sender.clone(), self.spawner).await;
                opened.map_err(ConnectError::Start)?
            }
            Target::Endpoint(endpoint) => {
                http::open(endpoint, limits, sender.clone()).map_err(ConnectError::Address)?
            }
        };
        let _ = self.wire.set(Arc::clone(&wire));
        Ok(Opened { line: Line::new(wire), sender, events })
    }

    async fn discover(&self, line: &Line) -> Result<Discovered, RequestError> {
        let meta = Meta::modern(&self.terms.client, &self.terms.capabilities);
        let request = Request::new("server/discover", "{}", self.terms.limits.connect_timeout);
        let reply = match line.request(request.clone(), &meta).await {
            // It refuses the very revision that it wants to be asked in: it may mean what it says.
            Err(RequestError::Rpc(error)) if handshake::wants_modern(&error) => {
                line.request(request, &meta).await?
            }
            reply => reply?,
        };
        Ok(handshake::discovered(&reply))
    }

    async fn initialize(
        &self,
        opened: Opened,
        version: &'static str,
    ) -> Result<Connection, ConnectError> {
        let params = json!({
            "protocolVersion": version,
            "capabilities": self.terms.capabilities,
            "clientInfo": self.terms.client,
        });
        let params = params.to_string();
        let request = Request::new("initialize", &params, self.terms.limits.connect_timeout);
        let reply = opened.line.request(request, &Meta::legacy()).await;
        let reply = reply.map_err(ConnectError::Handshake)?;
        match handshake::initialized(&reply) {
            Ok(server) => Ok(self.established(opened, server).await),
            Err(Some(offered)) => Err(other(&offered, &all())),
            Err(None) => Err(unreadable("initialize", "protocolVersion")),
        }
    }

    async fn established(&self, opened: Opened, server: Server) -> Connection {
        let wire = opened.line.wire();
        wire.established(server.era, &server.version).await;
        let meta = match server.era {
            Era::Modern => Meta::modern(&self.terms.client, &self.terms.capabilities),
            Era::Legacy => {
                // A server that is gone already shows with the first request.
                let _ =
                    wire.notify(outgoing::notification("notifications/initialized", None)).await;
                Meta::legacy()
            }
        };
        Connection::new(
            opened.line,
            server,
            meta,
            self.terms.limits.clone(),
            (opened.sender, opened.events),
        )
    }
}

fn other(offered: &str, wanted: &str) -> ConnectError {
    ConnectError::Version { offered: offered.to_owned(), wanted: wanted.to_owned() }
}

fn unreadable(method: &str, field: &str) -> ConnectError {
    let why = format!("the answer to `{method}` has no `{field}`");
    ConnectError::Handshake(RequestError::Protocol(why))
}

/// All revisions that are known here.
fn all() -> String {
    format!("{}, {}", protocol::MODERN, protocol::LEGACY.join(", "))
}
