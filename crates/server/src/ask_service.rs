//! The service that answers questions behind `/v1/ask`.

use std::sync::Arc;

use gate::{BoxFuture, Caller, Failure, RequestId};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc::Sender;
use tokio_util::sync::CancellationToken;

/// The number of events of a run that are queued for a client that reads slowly. A run has a few dozen at most; one that finds no
/// room is left out of the stream, and stays in the trace.
pub const MAX_QUEUED_EVENTS: usize = 64;

/// A question, as a request has it.
#[derive(Debug)]
pub struct AskServiceRequest {
    /// The question, in a person's words.
    pub question: String,
    /// The tool that is meant.
    pub tool: Option<String>,
    /// Its arguments.
    pub args: Map<String, Value>,
    /// True if the result is summarized.
    pub summarize: Option<bool>,
    /// True if only the plan is wanted.
    pub plan_only: bool,
    /// True if the trace is wanted with the answer.
    pub with_trace: bool,
    pub caller: Caller,
    pub request_id: RequestId,
    /// Fires when nobody waits any more.
    pub stop: CancellationToken,
    /// The queue of events for the client: a name, and more about it. Holds [`MAX_QUEUED_EVENTS`].
    pub events: Option<Sender<(String, Value)>>,
}

/// The response to a question.
#[derive(Debug)]
pub struct AskServiceResponse {
    /// The status of the answer.
    pub status: u16,
    /// The answer.
    pub body: Box<RawValue>,
    /// The seconds after which it makes sense to ask again.
    pub retry_after: Option<u32>,
}

/// Answers questions.
pub trait AskService: Send + Sync {
    /// Begins a run, or fails at once: it is no question, or there are too many runs.
    fn ask(
        self: Arc<Self>,
        request: AskServiceRequest,
    ) -> Result<BoxFuture<'static, AskServiceResponse>, Failure>;

    /// The metrics of all runs so far, in the text form that Prometheus reads.
    fn metrics(&self) -> String;
}

/// Answers no questions.
pub(crate) struct NoAskService;

impl AskService for NoAskService {
    fn ask(
        self: Arc<Self>,
        _: AskServiceRequest,
    ) -> Result<BoxFuture<'static, AskServiceResponse>, Failure> {
        Err(Failure::new(contract::codes::NOT_FOUND, "Nobody answers questions here."))
    }

    fn metrics(&self) -> String {
        String::new()
    }
}
