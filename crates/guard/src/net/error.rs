//! Failures of a fetch.

use std::{error::Error, fmt};

/// The word for a kind of failure, for programs to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NetErrorReason {
    /// The text is no URL, or its host is no possible name.
    BadUrl,
    /// Neither `http` nor `https`.
    BadScheme,
    /// The URL has a user name or a password.
    Credentials,
    /// The port belongs to another service, or is not among the allowed ones.
    BadPort,
    /// The host is, or its name resolves to, an address that is not public.
    PrivateAddr,
    /// The host is not among the allowed domains.
    Domain,
    /// The name has no address.
    NotResolved,
    /// No connection to any address of the host.
    Connect,
    /// No trusted, encrypted connection.
    Tls,
    /// The other side broke off, or does not speak HTTP.
    Network,
    /// A time limit was reached.
    Timeout,
    /// The body is larger than allowed.
    TooLarge,
    /// The body is of a type that is not wanted.
    BadType,
    /// More redirects than allowed.
    RedirectLimit,
    /// A redirect from `https` to `http`.
    Downgrade,
    /// More or larger headers than allowed.
    HeaderLimit,
    /// The site's `robots.txt` asks to stay away.
    Robots,
    /// A connection that was kept was closed when it was used again, before a byte of an answer.
    /// The other side may have done what was asked, or not.
    Stale,
    /// The caller has gone.
    Cancelled,
}

impl NetErrorReason {
    pub fn word(self) -> &'static str {
        match self {
            NetErrorReason::BadUrl => "bad_url",
            NetErrorReason::BadScheme => "bad_scheme",
            NetErrorReason::Credentials => "credentials",
            NetErrorReason::BadPort => "bad_port",
            NetErrorReason::PrivateAddr => "private_addr",
            NetErrorReason::Domain => "domain",
            NetErrorReason::NotResolved => "not_resolved",
            NetErrorReason::Connect => "connect",
            NetErrorReason::Tls => "tls",
            NetErrorReason::Network => "network",
            NetErrorReason::Timeout => "timeout",
            NetErrorReason::TooLarge => "too_large",
            NetErrorReason::BadType => "bad_type",
            NetErrorReason::RedirectLimit => "redirect_limit",
            NetErrorReason::Downgrade => "downgrade",
            NetErrorReason::HeaderLimit => "header_limit",
            NetErrorReason::Robots => "robots",
            NetErrorReason::Stale => "stale",
            NetErrorReason::Cancelled => "cancelled",
        }
    }

    /// True if nothing was sent because the rules forbid it, as against something that went wrong.
    pub fn is_refusal(self) -> bool {
        matches!(
            self,
            NetErrorReason::BadUrl
                | NetErrorReason::BadScheme
                | NetErrorReason::Credentials
                | NetErrorReason::BadPort
                | NetErrorReason::PrivateAddr
                | NetErrorReason::Domain
                | NetErrorReason::Downgrade
                | NetErrorReason::Robots
        )
    }
}

impl fmt::Display for NetErrorReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// A failure: its kind, and a short text that a caller may read. The text names hosts and limits,
/// never addresses that a name resolved to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct NetError {
    /// The kind.
    pub reason: NetErrorReason,
    /// The text for a person.
    pub message: String,
    /// The number of redirects that had been followed, or were about to be, when it happened. Zero: the URL
    /// that was asked for is at fault.
    pub redirects: usize,
    /// More, for the operator alone: the address, the system's own words.
    pub operator: Option<String>,
}

impl NetError {
    pub(crate) fn new(reason: NetErrorReason, message: impl Into<String>) -> Self {
        Self { reason, message: message.into(), redirects: 0, operator: None }
    }

    pub(crate) fn for_operator(mut self, text: impl fmt::Display) -> Self {
        self.operator = Some(text.to_string());
        self
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(NetErrorReason::Cancelled, "the call was cancelled")
    }

    /// True if it happened on the way that a redirect led, not at the URL that was asked for.
    pub fn on_redirect(&self) -> bool {
        self.redirects > 0
    }
}

/// Settings that make no client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{value}`: {problem}")]
pub struct SetupError {
    /// The value that was given.
    pub value: String,
    /// The problem with it.
    pub problem: String,
}

impl SetupError {
    pub(crate) fn new(value: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { value: value.into(), problem: problem.into() }
    }
}

/// An error with its causes, for the log.
pub(super) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(one) = cause {
        text.push_str(": ");
        text.push_str(&one.to_string());
        cause = one.source();
    }
    text
}
