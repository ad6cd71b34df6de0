//! Why a model gave no answer.

use guard::net::{NetError, NetErrorReason};

/// Why a model gave no answer. The text of an error may be shown to anybody: it never holds the key, the
/// address or what the endpoint said. [`Error::operator`] has more, for the operator alone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings or the environment keep it from being asked.
    #[error("{0}")]
    NotConfigured(String),
    /// There was no connection.
    #[error("the model could not be reached ({reason})")]
    Unreachable {
        /// The reason.
        reason: NetErrorReason,
        /// The words of the system.
        operator: Option<String>,
    },
    /// The endpoint said no.
    #[error("the model's endpoint answered with status {status}")]
    Status {
        /// The number.
        status: u16,
        /// After how many seconds it wants to be asked again.
        retry_after: Option<u32>,
    },
    /// The endpoint began an answer and then told of a failure.
    #[error("the model failed while it answered")]
    Failed,
    /// The endpoint sent no answer.
    #[error("the model's answer cannot be read: {problem}")]
    Unreadable {
        /// The mistake in it.
        problem: &'static str,
        /// More about that.
        operator: Option<String>,
    },
    /// The answer has no end, or one that is too far away.
    #[error("the model's answer has {what} of more than {limit} bytes")]
    TooLarge {
        /// The part that is too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// Nothing came for too long.
    #[error("the model sent nothing for {milliseconds} ms (llm.stall_timeout_ms)")]
    Stalled {
        /// The time that was waited.
        milliseconds: u64,
    },
    /// The connection ended before the answer did.
    #[error("the model's answer broke off")]
    BrokeOff {
        /// The words of the system.
        operator: Option<String>,
    },
    /// The caller cancelled the request.
    #[error("the call was cancelled")]
    Cancelled,
}

impl Error {
    /// The word for its kind, for programs to branch on.
    pub fn word(&self) -> &'static str {
        match self {
            Error::NotConfigured(_) => "not_configured",
            Error::Unreachable { .. } => "unreachable",
            Error::Status { .. } => "http_status",
            Error::Failed => "model_failed",
            Error::Unreadable { .. } => "bad_answer",
            Error::TooLarge { .. } => "too_large",
            Error::Stalled { .. } => "stalled",
            Error::BrokeOff { .. } => "broke_off",
            Error::Cancelled => "cancelled",
        }
    }

    /// Details for the operator only. Never the endpoint's own words: some repeat the question and the key.
    pub fn operator(&self) -> Option<&str> {
        match self {
            Error::Unreachable { operator, .. }
            | Error::Unreadable { operator, .. }
            | Error::BrokeOff { operator } => operator.as_deref(),
            _ => None,
        }
    }

    /// A failure before there was a head, or in the body.
    pub(crate) fn of_net(error: NetError, stall_ms: u64, answered: bool) -> Self {
        let operator = match error.operator {
            Some(operator) => Some(format!("{}: {operator}", error.message)),
            None => Some(error.message),
        };
        match error.reason {
            NetErrorReason::Timeout => Error::Stalled { milliseconds: stall_ms },
            NetErrorReason::Cancelled => Error::Cancelled,
            NetErrorReason::HeaderLimit => {
                Error::Unreadable { problem: "its head is too large", operator }
            }
            NetErrorReason::Network | NetErrorReason::Stale => Error::BrokeOff { operator },
            _ if answered => Error::BrokeOff { operator },
            reason => Error::Unreachable { reason, operator },
        }
    }
}
