//! Connecting to a server, and the handshake that finds out its protocol version.

use std::{
    fmt,
    sync::{Arc, OnceLock},
    time::Duration,
};

use guard::process::{Spawner, StartError};
use mcp::ProtocolVersion;
use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};

use super::{
    Connection, ConnectionEvent, ConnectionLimits, ConnectionSender, MetaFields, ProtocolChoice,
    RequestError, RequestOptions, ServerDescription, Target, Transport,
    handshake::{self, Discovered},
    http, stdio,
};
use crate::ServerText;

/// The time that a server may take for `server/discover`. One that does not know it may send nothing at all,
/// and gets `initialize` then.
const DISCOVER_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of events that may wait. One slot is kept for the last.
const MAX_EVENTS: usize = 16;

/// The number of the last lines of standard error that an error shows, and of characters of each.
const MAX_SHOWN_LINES: usize = 3;
const MAX_SHOWN_CHARS: usize = 200;

/// The options of a connection.
#[derive(Debug, Clone)]
pub struct ConnectOptions {
    pub limits: ConnectionLimits,
    /// The protocol version to speak.
    pub protocol: ProtocolChoice,
    /// Our name and version.
    pub client: Value,
    /// Our capabilities: the input requests that our own clients can answer.
    pub capabilities: Value,
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// Its program did not start.
    #[error("the server could not be started")]
    Start(#[source] StartError),
    /// Its address cannot be reached.
    #[error("the server cannot be reached: {0}")]
    Address(String),
    /// It was not ready in time.
    #[error("the server was not ready within {limit_ms} ms (connect_timeout_ms){output}")]
    Timeout {
        /// The timeout.
        limit_ms: u64,
        /// Its output meanwhile.
        output: ServerOutput,
    },
    /// It speaks other versions of the protocol.
    #[error("the server speaks MCP {offered}; supported are {wanted}")]
    Version {
        /// The versions that the server names.
        offered: String,
        /// The versions that are supported.
        wanted: String,
    },
    /// Its first responses are not those of an MCP server.
    #[error("MCP handshake failed")]
    Handshake(#[source] RequestError),
}

/// Connects to a server, handshake included.
pub async fn connect(
    target: &Target,
    options: &ConnectOptions,
    spawner: &Spawner,
) -> Result<Connection, ConnectError> {
    let limit = options.limits.connect_timeout;
    let connector = ConnectAttempt { target, options, spawner, transport: OnceLock::new() };
    match timeout(limit, connector.connect()).await {
        Ok(connected) => connected,
        Err(_) => {
            let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
            let transport = connector.transport.get();
            let output = transport.map(|transport| ServerOutput::of(&**transport));
            Err(ConnectError::Timeout { limit_ms, output: output.unwrap_or_default() })
        }
    }
}

/// The output of a server beside messages: often the reason why there are none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ServerOutput {
    /// The first line on standard output that is not a message.
    pub stdout: Option<ServerText>,
    /// The last lines on standard error.
    pub stderr: Vec<ServerText>,
}

impl ServerOutput {
    fn of(transport: &dyn Transport) -> Self {
        let stderr = transport.stderr();
        let mut stderr: Vec<_> = stderr
            .for_programs()
            .lines()
            .rev()
            .filter(|line| !line.trim().is_empty())
            .take(MAX_SHOWN_LINES)
            .map(|line| ServerText::new(line).beginning(MAX_SHOWN_CHARS))
            .collect();
        stderr.reverse();
        let samples = transport.discarded().samples;
        Self { stdout: samples.first().map(|line| line.beginning(MAX_SHOWN_CHARS)), stderr }
    }
}

impl fmt::Display for ServerOutput {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = &self.stdout {
            write!(formatter, "; its output is not JSON-RPC: `{line}`")?;
        }
        if !self.stderr.is_empty() {
            let lines: Vec<_> = self.stderr.iter().map(ServerText::for_people).collect();
            write!(formatter, "; its standard error ends with: `{}`", lines.join(" / "))?;
        }
        Ok(())
    }
}

/// A transport before the handshake.
struct OpenTransport {
    sender: ConnectionSender,
    event_sender: mpsc::Sender<ConnectionEvent>,
    events: mpsc::Receiver<ConnectionEvent>,
}

struct ConnectAttempt<'a> {
    target: &'a Target,
    options: &'a ConnectOptions,
    spawner: &'a Spawner,
    /// The first transport, whose output a timeout shows.
    transport: OnceLock<Arc<dyn Transport>>,
}

impl ConnectAttempt<'_> {
    async fn connect(&self) -> Result<Connection, ConnectError> {
        let opened = self.open().await?;
        match self.options.protocol {
            ProtocolChoice::Auto => self.negotiate(opened).await,
            ProtocolChoice::Modern => match self.discover(&opened.sender).await {
                Ok(Discovered::Modern(server)) => Ok(self.established(opened, *server).await),
                Ok(Discovered::Legacy(offered)) => {
                    Err(unsupported(offered.as_str(), &ProtocolVersion::MODERN))
                }
                Ok(Discovered::Unknown(offered)) => {
                    Err(unsupported(&offered, &ProtocolVersion::MODERN))
                }
                Ok(Discovered::Nothing) => Err(unreadable("server/discover", "supportedVersions")),
                Err(error) => Err(ConnectError::Handshake(error)),
            },
            ProtocolChoice::Legacy => self.initialize(opened, ProtocolVersion::NEWEST_LEGACY).await,
        }
    }

    /// Tries `server/discover` first, and `initialize` unless that was understood.
    async fn negotiate(&self, opened: OpenTransport) -> Result<Connection, ConnectError> {
        let limit = DISCOVER_TIMEOUT.min(self.options.limits.connect_timeout / 2);
        let discovered = match timeout(limit, self.discover(&opened.sender)).await {
            Ok(Err(RequestError::Rpc(error))) => Ok(handshake::refused(&error)),
            Ok(discovered) => discovered,
            Err(_) => Ok(Discovered::Nothing),
        };
        match discovered {
            Ok(Discovered::Modern(server)) => Ok(self.established(opened, *server).await),
            Ok(Discovered::Legacy(version)) => self.initialize(opened, version).await,
            Ok(Discovered::Unknown(offered)) => Err(unsupported_by_all(&offered)),
            // Nothing is listening at the address.
            Err(RequestError::NotSent(why)) if !self.target.is_program() => {
                Err(ConnectError::Address(ServerText::new(&why).for_people()))
            }
            // Some servers end at the first message that they do not know.
            Err(RequestError::Lost(_) | RequestError::NotSent(_)) => self.restart().await,
            Ok(Discovered::Nothing) | Err(_) => {
                match self.initialize(opened, ProtocolVersion::NEWEST_LEGACY).await {
                    Err(ConnectError::Handshake(
                        RequestError::Lost(_) | RequestError::NotSent(_),
                    )) => self.restart().await,
                    connected => connected,
                }
            }
        }
    }

    async fn restart(&self) -> Result<Connection, ConnectError> {
        self.initialize(self.open().await?, ProtocolVersion::NEWEST_LEGACY).await
    }

    async fn open(&self) -> Result<OpenTransport, ConnectError> {
        let limits = &self.options.limits;
        let (event_sender, events) = mpsc::channel(MAX_EVENTS);
        let sender = event_sender.clone();
        let transport: Arc<dyn Transport> = match self.target {
            Target::Program(program) => {
                let opened = stdio::open(program, limits, sender, self.spawner).await;
                opened.map_err(ConnectError::Start)?
            }
            Target::Endpoint(endpoint) => {
                http::open(endpoint, limits, sender).map_err(ConnectError::Address)?
            }
        };
        let _ = self.transport.set(Arc::clone(&transport));
        Ok(OpenTransport { sender: ConnectionSender::new(transport), event_sender, events })
    }

    async fn discover(&self, sender: &ConnectionSender) -> Result<Discovered, RequestError> {
        let meta = MetaFields::modern(&self.options.client, &self.options.capabilities);
        let options = RequestOptions::new(self.options.limits.connect_timeout);
        let discover = || sender.request("server/discover", "{}", options.clone(), &meta);
        let response = match discover().await {
            // It refuses the very version that it names as supported: a second try may succeed.
            Err(RequestError::Rpc(error)) if handshake::wants_modern(&error) => discover().await?,
            response => response?,
        };
        Ok(handshake::discovered(&response))
    }

    async fn initialize(
        &self,
        opened: OpenTransport,
        version: ProtocolVersion,
    ) -> Result<Connection, ConnectError> {
        let params = json!({
            "protocolVersion": version,
            "capabilities": self.options.capabilities,
            "clientInfo": self.options.client,
        });
        let params = params.to_string();
        let options = RequestOptions::new(self.options.limits.connect_timeout);
        let meta = MetaFields::legacy();
        let response = opened.sender.request("initialize", &params, options, &meta).await;
        let response = response.map_err(ConnectError::Handshake)?;
        match handshake::initialized(&response) {
            Ok(server) => Ok(self.established(opened, server).await),
            Err(Some(offered)) => Err(unsupported_by_all(&offered)),
            Err(None) => Err(unreadable("initialize", "protocolVersion")),
        }
    }

    async fn established(&self, opened: OpenTransport, server: ServerDescription) -> Connection {
        let transport = opened.sender.transport();
        transport.set_version(server.version);
        let meta = if server.version.is_modern() {
            MetaFields::modern(&self.options.client, &self.options.capabilities)
        } else {
            let initialized = mcp::encode_notification("notifications/initialized", None);
            // That a server is gone already shows with the first request.
            let _ = transport.notify(initialized.into()).await;
            MetaFields::legacy()
        };
        let OpenTransport { sender, event_sender, events } = opened;
        let limits = self.options.limits.clone();
        Connection::new(sender, server, meta, limits, (event_sender, events))
    }
}

fn unsupported(offered: &str, wanted: &[ProtocolVersion]) -> ConnectError {
    let wanted: Vec<_> = wanted.iter().map(|version| version.as_str()).collect();
    ConnectError::Version { offered: offered.to_owned(), wanted: wanted.join(", ") }
}

fn unsupported_by_all(offered: &str) -> ConnectError {
    let all: Vec<_> = ProtocolVersion::MODERN.into_iter().chain(ProtocolVersion::LEGACY).collect();
    unsupported(offered, &all)
}

fn unreadable(method: &str, field: &str) -> ConnectError {
    let why = format!("the result of `{method}` has no `{field}`");
    ConnectError::Handshake(RequestError::Protocol(why))
}
