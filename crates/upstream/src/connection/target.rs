//! Where a server is, and how much it may take of us.

use std::{path::PathBuf, time::Duration};

use guard::{
    net::Url,
    process::{ProcessSandbox, ResourceLimits},
};

/// Where a server is.
#[derive(Debug, Clone)]
pub enum Target {
    /// A program that we start, and speak to through its pipes.
    Program(Program),
    /// An address that we speak HTTP to.
    Endpoint(Endpoint),
}

/// A program that speaks MCP on its standard input and output.
#[derive(Debug, Clone)]
pub struct Program {
    /// A name looked up on our `PATH`, or a path.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
    /// The folder that it starts in.
    pub cwd: PathBuf,
    /// What the kernel holds each of its processes to.
    pub limits: ResourceLimits,
    /// The files that it can reach; all that we can where there is none.
    pub sandbox: Option<ProcessSandbox>,
}

/// An address that speaks MCP over HTTP.
#[derive(Clone)]
pub struct Endpoint {
    /// The address.
    pub url: Url,
    /// Headers of every request. Their values may be secrets.
    pub headers: Vec<(String, String)>,
    /// Which of the two ways of HTTP.
    pub kind: HttpKind,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<PathBuf>,
}

/// Names of headers are told, values are not.
impl std::fmt::Debug for Endpoint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Endpoint")
            .field("url", &self.url.as_str())
            .field("headers", &names)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

/// The two ways in which MCP goes over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpKind {
    /// Streamable HTTP, and where that is refused as a legacy server would, HTTP with SSE.
    #[default]
    Auto,
    /// Streamable HTTP (2025-03-26 and later).
    Streamable,
    /// HTTP with a stream of server-sent events beside it (2024-11-05).
    Sse,
}

/// How much a server may take of us.
#[derive(Debug, Clone)]
pub struct Limits {
    /// How long it may take to connect and to agree on a revision.
    pub connect_timeout: Duration,
    /// How long a request may take that has no limit of its own.
    pub request_timeout: Duration,
    /// The largest message, in bytes.
    pub max_message_bytes: usize,
    /// How many bytes of a child's standard error are kept.
    pub stderr_bytes: usize,
    /// How many tools, prompts or resources it may list.
    pub max_listed: usize,
    /// How many pages a listing may have.
    pub max_pages: usize,
    /// How large a listing may be in all, in bytes of JSON.
    pub max_listing_bytes: usize,
}

impl Default for Limits {
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
