//! The service behind `/v1/ask`.

use std::sync::Arc;

use gate::{BoxFuture, Caller, Failure, RequestId};
use serde_json::{Map, Value, value::RawValue};
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

/// A question, as a request has it.
#[derive(Debug)]
pub struct AskRequest {
    /// In a person's words.
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
    /// The caller.
    pub caller: Caller,
    /// The name of the request.
    pub request_id: RequestId,
    /// Fires when nobody waits any more.
    pub stop: CancellationToken,
    /// Where to say what happens: a name, and more about it. A run has a few dozen events.
    pub events: Option<UnboundedSender<(String, Value)>>,
}

/// The result of a question.
#[derive(Debug)]
pub struct AskReply {
    /// The status of the answer.
    pub status: u16,
    /// The answer.
    pub body: Box<RawValue>,
    /// After how many seconds it makes sense to ask again.
    pub retry_after: Option<u32>,
}

/// Answers questions.
pub trait AskService: Send + Sync {
    /// Begins to look for an answer, or says at once why there will be none: it is no question, or there are too many.
    fn ask(self: Arc<Self>, asked: AskRequest) -> Result<BoxFuture<'static, AskReply>, Failure>;

    /// The metrics of the questions so far, in the text form of Prometheus.
    fn metrics(&self) -> String;
}

/// Nobody answers.
pub(crate) struct NoAskService;

impl AskService for NoAskService {
    fn ask(self: Arc<Self>, _: AskRequest) -> Result<BoxFuture<'static, AskReply>, Failure> {
        Err(Failure::new(contract::codes::NOT_FOUND, "Nobody answers questions here."))
    }

    fn metrics(&self) -> String {
        String::new()
    }
}
