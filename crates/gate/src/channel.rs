//! The channel between a tool and its caller while the call runs: notifications in one direction,
//! input requests and replies in both.
//!
//! A tool that asks does not wait. It ends with its questions, and the call is made again
//! with the replies. So a door can carry a question to a client over whatever the client
//! speaks, and no server has to remember a call that waits for a person. A tool asks before
//! it does anything that must not be done twice.

use std::collections::BTreeMap;

use contract::Schema;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::Failure;

/// The most input requests that a call may have open at once.
pub const MAX_INPUT_REQUESTS: usize = 16;

/// The door's side of a running call.
#[derive(Debug, Clone, Default)]
pub struct CallChannel {
    /// Everything that was replied so far, by the name of the input request.
    pub replies: Map<String, Value>,
    /// The input requests that the caller can answer.
    pub capabilities: InputCapabilities,
    /// True if the client is trusted to ask its person for an approval.
    pub may_approve: bool,
    /// The receiver of notifications, if there is one.
    pub notifications: Option<NotificationSender>,
    /// The failure of a call whose input requests were not answered: it does not run again.
    pub input_failure: Option<Box<Failure>>,
}

/// The kinds of input requests that a caller can answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct InputCapabilities {
    /// The person in front of the client.
    pub elicitation: bool,
    /// The client's model.
    pub sampling: bool,
    /// The client itself, for its folders.
    pub roots: bool,
}

impl InputCapabilities {
    /// True if requests of this kind can be answered.
    pub fn allows(self, kind: InputKind) -> bool {
        match kind {
            InputKind::Elicitation => self.elicitation,
            InputKind::Sampling => self.sampling,
            InputKind::Roots => self.roots,
        }
    }
}

/// The kind of an input request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputKind {
    /// The person in front of the client.
    Elicitation,
    /// The client's model.
    Sampling,
    /// The client itself, for its folders.
    Roots,
}

impl InputKind {
    /// The word in the journal.
    pub fn word(self) -> &'static str {
        match self {
            InputKind::Elicitation => "elicitation",
            InputKind::Sampling => "sampling",
            InputKind::Roots => "roots",
        }
    }
}

/// A request for input, to the caller.
#[derive(Debug, Clone, PartialEq)]
pub struct InputRequest {
    pub kind: InputKind,
    /// The parameters, as MCP defines them.
    pub params: Value,
}

impl InputRequest {
    /// A form for a person to fill in.
    pub fn form(message: &str, schema: &Value) -> Self {
        let params = json!({ "mode": "form", "message": message, "requestedSchema": schema });
        Self { kind: InputKind::Elicitation, params }
    }

    /// Something for the client's model to complete.
    pub fn sampling(params: Value) -> Self {
        Self { kind: InputKind::Sampling, params }
    }

    /// The folders that the client works in.
    pub fn roots() -> Self {
        Self { kind: InputKind::Roots, params: json!({}) }
    }

    /// True if a reply can be one to this question: it has the right form, and what a person
    /// filled in fits the form's schema.
    pub fn accepts(&self, reply: &Value) -> bool {
        let text = |key: &str| reply.get(key).and_then(Value::as_str);
        match self.kind {
            InputKind::Elicitation => match text("action") {
                Some("accept") => self.fits(reply.get("content")),
                Some("decline" | "cancel") => true,
                _ => false,
            },
            InputKind::Sampling => text("role").is_some() && reply.get("content").is_some(),
            InputKind::Roots => reply.get("roots").is_some_and(Value::is_array),
        }
    }

    fn fits(&self, content: Option<&Value>) -> bool {
        let Some(schema) = self.params.get("requestedSchema") else { return true };
        let empty = json!({});
        let content = content.unwrap_or(&empty);
        content.is_object()
            && Schema::compile_foreign(schema).is_ok_and(|schema| {
                // No form asks for so much that checking it would take long.
                !schema.is_heavy(content.to_string().len() as u64) && schema.is_valid(content)
            })
    }
}

/// Input requests that have no reply yet, by name.
pub type InputRequests = BTreeMap<String, InputRequest>;

/// Something that a tool says while it runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolNotification {
    Progress {
        /// From 0 to 1, where that is known.
        fraction: Option<f64>,
        /// In words.
        message: String,
    },
    /// A line of its log.
    Log {
        /// Its severity.
        level: LogLevel,
        /// The content.
        data: Value,
    },
}

/// The severity of a log line, from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    /// Every level.
    pub const ALL: [LogLevel; 8] = [
        LogLevel::Debug,
        LogLevel::Info,
        LogLevel::Notice,
        LogLevel::Warning,
        LogLevel::Error,
        LogLevel::Critical,
        LogLevel::Alert,
        LogLevel::Emergency,
    ];

    pub fn word(self) -> &'static str {
        match self {
            LogLevel::Debug => "debug",
            LogLevel::Info => "info",
            LogLevel::Notice => "notice",
            LogLevel::Warning => "warning",
            LogLevel::Error => "error",
            LogLevel::Critical => "critical",
            LogLevel::Alert => "alert",
            LogLevel::Emergency => "emergency",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.word() == word)
    }
}

/// The sender of notifications. One that finds no room is lost: a tool never waits for its
/// listener.
#[derive(Debug, Clone)]
pub struct NotificationSender(mpsc::Sender<ToolNotification>);

impl NotificationSender {
    /// A channel for notifications: the sender, and the receiver.
    pub fn channel(room: usize) -> (Self, mpsc::Receiver<ToolNotification>) {
        let (sender, receiver) = mpsc::channel(room);
        (Self(sender), receiver)
    }

    pub(crate) fn send(&self, notification: ToolNotification) {
        let _ = self.0.try_send(notification);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_fits_its_question() {
        let schema = json!({ "type": "object", "properties": { "ok": { "type": "boolean" } },
            "required": ["ok"] });
        let form = InputRequest::form("Sure?", &schema);
        assert!(form.accepts(&json!({ "action": "accept", "content": { "ok": true } })));
        assert!(form.accepts(&json!({ "action": "decline" })));
        assert!(!form.accepts(&json!({ "action": "accept", "content": { "ok": "yes" } })));
        assert!(!form.accepts(&json!({ "action": "accept" })));
        assert!(!form.accepts(&json!({ "action": "perhaps" })));
        assert!(!form.accepts(&json!("yes")));
        let sampling = InputRequest::sampling(json!({ "messages": [] }));
        assert!(sampling.accepts(&json!({ "role": "assistant", "content": { "type": "text" } })));
        assert!(!sampling.accepts(&json!({})));
        assert!(InputRequest::roots().accepts(&json!({ "roots": [] })));
        assert!(!InputRequest::roots().accepts(&json!({ "roots": 1 })));
    }
}
