//! The failure of a call, for its two readers: the caller and the operator.

use std::{borrow::Cow, sync::Arc};

use contract::{Contract, Violation, codes, codes::StandardCode};
use serde_json::{Value, json};

use crate::{InputRequests, approvals::ApprovalId};

/// A call that did not succeed.
#[derive(Debug, Clone)]
pub struct Failure {
    /// The code that programs branch on.
    pub code: Cow<'static, str>,
    /// The HTTP status that goes with it.
    pub http_status: u16,
    /// The message for the caller.
    pub message: String,
    /// More for the caller, in parts.
    pub details: Option<Value>,
    /// A note for the operator alone.
    pub operator: Option<String>,
    /// One line for the summary of a `ToolResult`, where it differs from the usual one.
    pub summary: Option<String>,
    /// The `stderr` of a `ToolResult`, where it is not the message.
    pub stderr: Option<&'static str>,
    /// After how many seconds a retry makes sense.
    pub retry_after: Option<u32>,
    /// The input requests that must be answered before it goes on.
    pub questions: Option<Arc<InputRequests>>,
    /// The approval that a person has yet to give: a job waits for it.
    pub approval: Option<ApprovalId>,
}

impl Failure {
    pub fn new(code: StandardCode, message: impl Into<String>) -> Self {
        Self {
            code: Cow::Borrowed(code.code),
            http_status: code.http_status,
            message: message.into(),
            details: None,
            operator: None,
            summary: None,
            stderr: None,
            retry_after: None,
            questions: None,
            approval: None,
        }
    }

    /// The same with parts for programs.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// The same with a word for the operator.
    #[must_use]
    pub fn operator(mut self, words: impl Into<String>) -> Self {
        self.operator = Some(words.into());
        self
    }

    /// The same with its own summary.
    #[must_use]
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// The same where a `ToolResult` has the message as its summary and another stderr.
    #[must_use]
    pub fn stderr(mut self, stderr: &'static str) -> Self {
        self.summary = Some(self.message.clone());
        self.stderr = Some(stderr);
        self
    }

    pub(crate) fn unknown_tool(name: &str, near: Option<&str>) -> Self {
        let shown: String = name.chars().take(64).collect();
        let failure = Self::new(codes::UNKNOWN_TOOL, format!("Unsupported tool: {shown}."))
            .stderr("Unsupported tool.");
        match near {
            Some(near) => failure.details(json!({ "did_you_mean": near })),
            None => failure,
        }
    }

    /// The tool asks before it goes on. A door that can carry the questions does; at any other
    /// one this is how the call ends.
    pub(crate) fn asks(questions: InputRequests) -> Self {
        let words = questions.values().find_map(|question| question.params["message"].as_str());
        let message = match words.map(|words| words.chars().take(500).collect::<String>()) {
            Some(words) => format!("the tool asks, and there is nobody here to answer: {words}"),
            None => "the tool asks for something that only its client can answer".into(),
        };
        let mut failure = Self::new(codes::INPUT_REQUIRED, message);
        failure.questions = Some(Arc::new(questions));
        failure
    }

    pub(crate) fn busy() -> Self {
        let mut failure = Self::new(codes::TOO_MANY_REQUESTS, "Server is busy; retry shortly.")
            .stderr(codes::TOO_MANY_REQUESTS.code);
        failure.retry_after = Some(1);
        failure
    }

    pub(crate) fn queue_full(max_queued: usize) -> Self {
        let message = format!("The queue is full: {max_queued} jobs wait (jobs.max_queued).");
        let mut failure = Self::new(codes::TOO_MANY_REQUESTS, message);
        failure.retry_after = Some(1);
        failure
    }

    /// What is left of the queue is kept for other callers.
    pub(crate) fn queue_share_full(max_queued: usize) -> Self {
        let message = format!(
            "The queue is full for this caller: so many of its jobs wait that the rest of the {max_queued} places \
             (jobs.max_queued) is kept for others."
        );
        Self { message, ..Self::queue_full(max_queued) }
    }

    pub(crate) fn other_arguments() -> Self {
        let message = "this idempotency key was used for a call with other arguments";
        Self::new(codes::CONFLICT, message)
    }

    /// The arguments do not match, in the word that the contract has for that.
    pub(crate) fn invalid_input(contract: &Contract, violations: &[Violation]) -> Self {
        let mut failure = Self::new(codes::INVALID_INPUT, Violation::list(violations))
            .details(json!({ "violations": violations }));
        let (code, http_status) = contract.input_error_of(violations);
        if code != codes::INVALID_INPUT.code {
            failure.code = Cow::Owned(code.to_owned());
            failure.http_status = http_status;
        }
        failure
    }

    /// The output does not match its contract. It was quarantined under this id, if it could be.
    pub(crate) fn invalid_output(quarantine_id: Option<String>) -> Self {
        match quarantine_id {
            Some(id) => Self::new(codes::INVALID_OUTPUT, codes::INVALID_OUTPUT.description)
                .details(json!({ "quarantine_id": id })),
            None => Self::new(codes::INVALID_OUTPUT, codes::NOT_QUARANTINED),
        }
    }

    pub(crate) fn unavailable(error: &dyn std::fmt::Display) -> Self {
        let message = format!("the call could not be recorded: {error}");
        let mut failure = Self::new(codes::UNAVAILABLE, message);
        failure.retry_after = Some(5);
        failure
    }
}
