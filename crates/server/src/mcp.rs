//! The MCP doors: both protocol versions, over HTTP and on stdin and stdout. The messages themselves are
//! the crate `mcp`'s.
//!
//! - `dispatch` knows the methods; `context` is what every method gets.
//! - `call`: `tools/call`. `input_requests`, `input_rounds` and `request_state`: a tool that
//!   asks for input, in one request (legacy) or in several rounds (modern).
//! - `library_call`: what is asked of other servers beside tool calls.
//! - `tasks`, `resources`, `prompts`, `completion`, `listing`, `subscriptions`: the other methods.
//! - `http` and `stdio` carry messages; `open_requests` are those without a response yet.
//! - `initialize`, `session` and `batch` are legacy only.

mod batch;
mod call;
mod completion;
mod context;
mod dispatch;
pub(crate) mod http;
mod initialize;
mod input_requests;
mod input_rounds;
mod library;
mod library_call;
pub(crate) mod listing;
mod open_requests;
mod prompts;
mod request_state;
mod resources;
mod session;
mod settings;
mod stdio;
mod subscriptions;
mod tasks;

use std::sync::Arc;

use tokio::sync::{Semaphore, watch};

pub use library::{CompletionRequest, EmptyLibrary, Library, LibraryCall, LibraryError};
pub use session::{DEFAULT_MAX_SESSIONS, DEFAULT_SESSION_IDLE};
pub use settings::McpSettings;
pub use stdio::serve as serve_stdio;

use self::{request_state::StateSealer, session::Sessions};
use crate::ServerToken;

/// The number of resources that are read at once.
const MAX_READS: usize = 16;

/// The state of the MCP doors. All but the sealer stays when the settings are loaded again.
pub(crate) struct McpState {
    pub sealer: StateSealer,
    pub sessions: Arc<Sessions>,
    /// Slots for resources that are read as a whole.
    pub reads: Arc<Semaphore>,
    /// The tokens of now: a stream ends when the one that it was opened with is none any more.
    pub tokens: Arc<watch::Sender<Vec<ServerToken>>>,
}

impl McpState {
    pub(crate) fn new(settings: &McpSettings, tokens: Vec<ServerToken>) -> Self {
        Self {
            sealer: StateSealer::new(settings.state_key, settings.answer_timeout),
            sessions: Arc::new(Sessions::new(settings.max_sessions, settings.session_idle)),
            reads: Arc::new(Semaphore::new(MAX_READS)),
            tokens: Arc::new(watch::Sender::new(tokens)),
        }
    }

    /// The same sessions with other settings.
    pub(crate) fn reloaded(&self, settings: &McpSettings) -> Self {
        Self {
            sealer: StateSealer::new(settings.state_key, settings.answer_timeout),
            sessions: self.sessions.clone(),
            reads: self.reads.clone(),
            tokens: self.tokens.clone(),
        }
    }
}
