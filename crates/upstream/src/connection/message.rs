//! What comes back from a server while a request runs, and at its end.

use std::ops::Range;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::oneshot;

/// Something that happens to a request.
#[derive(Debug)]
pub enum Happening {
    /// How far it has come.
    Progress {
        /// Grows with each note.
        progress: f64,
        /// What it grows to, where that is known.
        total: Option<f64>,
        /// In words.
        message: Option<String>,
    },
    /// A line of the server's log.
    Log {
        /// How much it matters.
        level: Level,
        /// What it says.
        data: Value,
    },
    /// The server asks something (legacy era), and waits for the answer.
    Asked(Asked),
    /// The request is over; nothing comes after this.
    Done(Result<Reply, RequestError>),
}

/// How much a line of a log matters, in the word of the protocol.
pub type Level = String;

/// A question of a legacy server. Dropping it answers that nobody can be asked.
#[derive(Debug)]
pub struct Asked {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// What is asked.
    pub params: Value,
    pub(crate) reply: oneshot::Sender<Value>,
}

impl Asked {
    /// Answers: the `result` of the server's request.
    pub fn answer(self, result: Value) {
        let _ = self.reply.send(result);
    }
}

/// The result of a request, not yet looked into.
#[derive(Debug, Clone)]
pub struct Reply {
    message: Bytes,
    result: Range<usize>,
}

impl Reply {
    /// The result that stands there in this message, which has to be text.
    pub(crate) fn new(message: Bytes, result: Range<usize>) -> Option<Self> {
        std::str::from_utf8(message.get(result.clone())?).ok()?;
        Some(Self { message, result })
    }

    /// As JSON text.
    pub fn json(&self) -> &str {
        // Looked at when it was made.
        std::str::from_utf8(&self.message[self.result.clone()]).unwrap_or_default()
    }
}

/// Why there is no result.
#[derive(Debug, Clone, thiserror::Error)]
pub enum RequestError {
    /// The server says so itself.
    #[error("{0}")]
    Rpc(RpcError),
    /// It did not answer in time.
    #[error("no answer within {0} ms")]
    Timeout(u64),
    /// It answered, and not in the protocol.
    #[error("{0}")]
    Protocol(String),
    /// The answer is larger than we take.
    #[error("the answer is larger than {0} bytes (max_message_bytes)")]
    TooLarge(usize),
    /// The connection is gone, and nobody knows what has become of the request.
    #[error("{0}")]
    Lost(String),
    /// The request never reached the server.
    #[error("{0}")]
    NotSent(String),
}

/// An error as JSON-RPC has it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message} ({code})")]
pub struct RpcError {
    /// Its number.
    pub code: i64,
    /// In words, cut where they are too many.
    pub message: String,
    /// More of it.
    pub data: Option<Value>,
    /// The HTTP status that it came with, where there was one.
    pub status: Option<u16>,
}
