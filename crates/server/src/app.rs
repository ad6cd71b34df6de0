//! The application: everything that the doors share.

use std::{
    collections::HashSet,
    sync::{Arc, atomic::AtomicU64},
    time::Duration,
};

use arc_swap::ArcSwapOption;
use gate::{Caller, Gate, Jobs};
use guard::net::ServerTls;

use crate::{
    AskService, OPERATOR, ReloadStatus,
    ask_service::NoAskService,
    http::{page_session::PageSessions, unread::UnreadResponses},
    mcp::{self, EmptyLibrary, Library},
    rest::documents::Documents,
};

/// The settings of the doors.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// The version that the server tells.
    pub version: &'static str,
    /// The largest body that is read, in bytes.
    pub max_body_bytes: usize,
    /// The time that a client may take to send a body.
    pub body_timeout: Duration,
    /// The time that a client may take to send the head of a request.
    pub header_timeout: Duration,
    /// The time that a connection may do nothing, or a client take nothing of an answer.
    pub idle_timeout: Duration,
    /// The time that the response to a client that has closed its side may take.
    pub half_closed_timeout: Duration,
    /// The most that may wait for clients that do not read, in bytes.
    pub max_unread_bytes: u64,
    /// The number of connections that are open at once.
    pub max_connections: usize,
    /// The time that running calls may take to end when the server stops.
    pub drain_timeout: Duration,
    /// Names under which the server may be called, beside addresses and `localhost`.
    pub allowed_hosts: HashSet<String>,
    /// Pages of other origins that may call.
    pub allowed_origins: HashSet<String>,
    /// The tokens of callers; without any, no token is needed.
    pub tokens: Vec<ServerToken>,
    /// SHA-256 of the operator's token.
    pub operator: [u8; 32],
    /// The MCP doors.
    pub mcp: mcp::McpSettings,
    /// The encryption of connections; without it they are plain.
    pub tls: Option<Arc<ServerTls>>,
    /// The number of log lines that were dropped, because nobody read them.
    pub dropped_log_lines: Arc<AtomicU64>,
    /// The reloads of the settings so far.
    pub reloads: Arc<ReloadStatus>,
}

/// A credential, kept as its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerToken {
    /// Whose it is.
    pub name: String,
    /// SHA-256 of the secret.
    pub sha256: [u8; 32],
}

impl ServerSettings {
    /// A stream has to show that it lives before it is taken for dead.
    fn limit_keep_alive(&mut self) {
        let half = (self.idle_timeout / 2).max(Duration::from_millis(50));
        self.mcp.keep_alive = self.mcp.keep_alive.min(half);
    }
}

/// Everything that the doors share, for all connections.
pub struct App {
    pub(crate) gate: Arc<Gate>,
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) settings: ServerSettings,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) asks: Arc<dyn AskService>,
    pub(crate) mcp: mcp::McpState,
    pub(crate) unread: Arc<UnreadResponses>,
    pub(crate) pages: PageSessions,
    documents: ArcSwapOption<Documents>,
}

impl App {
    /// The doors to this gate.
    pub fn new(gate: Arc<Gate>, jobs: Arc<Jobs>, settings: ServerSettings) -> Arc<Self> {
        Self::with(gate, jobs, settings, Arc::new(EmptyLibrary), Arc::new(NoAskService))
    }

    /// The doors to this gate, with prompts and resources beside its tools.
    pub fn with_library(
        gate: Arc<Gate>,
        jobs: Arc<Jobs>,
        settings: ServerSettings,
        library: Arc<dyn Library>,
    ) -> Arc<Self> {
        Self::with(gate, jobs, settings, library, Arc::new(NoAskService))
    }

    /// The same, with somebody who answers questions.
    pub fn with(
        gate: Arc<Gate>,
        jobs: Arc<Jobs>,
        mut settings: ServerSettings,
        library: Arc<dyn Library>,
        asks: Arc<dyn AskService>,
    ) -> Arc<Self> {
        settings.limit_keep_alive();
        let mcp = mcp::McpState::new(&settings.mcp, settings.tokens.clone());
        let unread = UnreadResponses::new(settings.max_unread_bytes);
        Arc::new(Self {
            pages: PageSessions::new(settings.mcp.state_key),
            unread,
            gate,
            jobs,
            settings,
            library,
            asks,
            mcp,
            documents: ArcSwapOption::empty(),
        })
    }

    /// The same doors with other settings. Sessions, and what waits for clients, stay.
    pub fn reloaded(&self, mut settings: ServerSettings, asks: Arc<dyn AskService>) -> Arc<Self> {
        settings.limit_keep_alive();
        Arc::new(Self {
            pages: PageSessions::new(settings.mcp.state_key),
            unread: self.unread.clone(),
            gate: self.gate.clone(),
            jobs: self.jobs.clone(),
            mcp: self.mcp.reloaded(&settings.mcp),
            settings,
            library: self.library.clone(),
            asks,
            documents: ArcSwapOption::empty(),
        })
    }

    /// True if MCP lists the same tools otherwise than another application does.
    pub fn lists_otherwise(&self, other: &Self) -> bool {
        let (own, other) = (&self.settings.mcp, &other.settings.mcp);
        own.portable_names != other.portable_names
    }

    /// Waits until the token with which a caller has come is none any more.
    pub(crate) async fn is_locked_out(&self, caller: &Caller) {
        let own = self.settings.tokens.iter().find(|token| token.name == caller.name());
        let is_known = |tokens: &Vec<ServerToken>| match own {
            Some(own) => tokens.is_empty() || tokens.contains(own),
            // Whoever came without a token, or as the operator.
            None => tokens.is_empty() || caller.name() == OPERATOR,
        };
        // The sender is ours, so it is there.
        let _ = self.mcp.tokens.subscribe().wait_for(|tokens| !is_known(tokens)).await;
    }

    /// Everything that describes the catalogue of now, rendered once for each.
    pub(crate) fn documents(&self) -> Arc<Documents> {
        let catalogue = self.gate.catalogue_owned();
        if let Some(known) = &*self.documents.load()
            && known.describe(&catalogue)
        {
            return known.clone();
        }
        let fresh = Arc::new(Documents::new(catalogue, &self.settings, self.gate.ceilings()));
        self.documents.store(Some(fresh.clone()));
        fresh
    }
}
