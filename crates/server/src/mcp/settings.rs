//! The settings of the MCP doors.

use std::time::Duration;

use super::session::{DEFAULT_MAX_SESSIONS, DEFAULT_SESSION_IDLE};

/// The settings of the MCP doors.
#[derive(Clone)]
pub struct McpSettings {
    /// The number of entries on a page of a listing.
    pub page_size: usize,
    /// True if listings have names without dots.
    pub portable_names: bool,
    /// For how long a client may keep a listing.
    pub list_ttl: Duration,
    /// The number of legacy sessions at once; a new one takes the place of the one that
    /// was idle for longest.
    pub max_sessions: usize,
    /// The time for which a legacy session may do nothing before it is forgotten.
    pub session_idle: Duration,
    /// The time after which a client that knows tasks is handed one for its call.
    pub task_after: Duration,
    /// The time for which a task can be asked for after it is over.
    pub task_ttl: Duration,
    /// The interval at which a client should ask for a task.
    pub task_poll: Duration,
    /// The interval at which a silent stream shows that it lives.
    pub keep_alive: Duration,
    /// For how long a client may take to answer a question.
    pub answer_timeout: Duration,
    /// True if a client on stdin and stdout is trusted to ask its person for an approval.
    pub stdio_may_approve: bool,
    /// True if a client over HTTP is.
    pub http_may_approve: bool,
    /// The key that seals the state that a client carries from one request to the next.
    pub state_key: [u8; 32],
}

impl McpSettings {
    /// The defaults, with this key.
    pub fn new(state_key: [u8; 32]) -> Self {
        Self {
            page_size: 250,
            portable_names: false,
            list_ttl: Duration::from_mins(1),
            max_sessions: DEFAULT_MAX_SESSIONS,
            session_idle: DEFAULT_SESSION_IDLE,
            task_after: Duration::from_secs(5),
            task_ttl: Duration::from_hours(720),
            task_poll: Duration::from_millis(500),
            keep_alive: Duration::from_secs(15),
            answer_timeout: Duration::from_mins(15),
            stdio_may_approve: true,
            http_may_approve: false,
            state_key,
        }
    }
}

impl std::fmt::Debug for McpSettings {
    /// Without the key.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("McpSettings")
            .field("page_size", &self.page_size)
            .field("max_sessions", &self.max_sessions)
            .field("session_idle", &self.session_idle)
            .finish_non_exhaustive()
    }
}
