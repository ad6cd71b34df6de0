//! The address or program of a server, and the limits of a connection.

use std::{path::PathBuf, time::Duration};

use guard::{
    net::Url,
    process::{ProcessSandbox, ResourceLimits},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The program or address of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A program that we start; messages go through its pipes.
    Program(Program),
    /// An address for HTTP.
    Endpoint(Endpoint),
}

impl Target {
    /// True if we start the server ourselves.
    pub fn is_program(&self) -> bool {
        match self {
            Target::Program(_) => true,
            Target::Endpoint(_) => false,
        }
    }

    /// True if it is the same program or address, whatever sandbox a program has.
    pub fn is_at(&self, other: &Self) -> bool {
        let mut other = other.clone();
        if let (Target::Program(own), Target::Program(other)) = (self, &mut other) {
            other.sandbox.clone_from(&own.sandbox);
        }
        *self == other
    }
}

/// A program that speaks MCP on its standard input and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// A name looked up on our `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// The folder that it starts in.
    pub cwd: PathBuf,
    /// The limits of the kernel for each of its processes.
    pub limits: ResourceLimits,
    /// The files that it can reach; all that we can where this is not set.
    pub sandbox: Option<ProcessSandbox>,
}

/// An address that speaks MCP over HTTP.
#[derive(Clone, PartialEq, Eq)]
pub struct Endpoint {
    /// The address.
    pub url: Url,
    /// Headers of every request. Their values may be secrets.
    pub headers: Vec<(String, String)>,
    pub transport: HttpTransport,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
}

/// Shows the names of headers, and not their values.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Endpoint")
            .field("url", &self.url.as_str())
            .field("headers", &names)
            .field("transport", &self.transport)
            .finish_non_exhaustive()
    }
}

/// The transports of MCP over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, and HTTP+SSE where the server does not know that.
    #[default]
    Auto,
    /// Streamable HTTP (2025-03-26 and later).
    Streamable,
    /// HTTP+SSE (2024-11-05), deprecated.
    HttpSse,
}

#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// The time that it may take to connect, handshake included.
    pub connect_timeout: Duration,
    /// The time that a request may take that has no limit of its own.
    pub request_timeout: Duration,
    /// The largest message, in bytes.
    pub max_message_bytes: usize,
    /// The number of bytes of a program's standard error that are kept.
    pub stderr_bytes: usize,
    /// The number of tools, prompts or resources that it may list.
    pub max_listed: usize,
    /// The largest number of pages of a listing.
    pub max_pages: usize,
    /// The largest listing in all, in bytes of JSON.
    pub max_listing_bytes: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(30),
            request_timeout: Duration::from_secs(30),
            max_message_bytes: 16 << 20,
            stderr_bytes: 64 << 10,
            max_listed: 10_000,
            max_pages: 1_000,
            max_listing_bytes: 16 << 20,
        }
    }
}

/// The protocol version to speak with a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Protocol")]
pub enum ProtocolChoice {
    /// The newest that it understands.
    #[default]
    Auto,
    /// 2026-07-28 and newer: it is not asked for anything older.
    Modern,
    /// 2025-11-25 and older: it is not asked for anything newer.
    Legacy,
}
