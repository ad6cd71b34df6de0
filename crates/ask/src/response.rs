//! The response to a question.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{Plan, summary::Summary};

/// The response to a question.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AskResponse {
    /// A gate refused, or something failed. If a tool was called nevertheless, this is not the response.
    Blocked(BlockedResponse),
    /// The person is asked for what is missing.
    FinalAnswer {
        /// The question to the person, written from the contract.
        answer: String,
        /// Always true.
        needs_more_info: bool,
        plan: Plan,
    },
    /// The call that would be made, where nothing else was asked for.
    Plan { plan: Plan },
    /// The result of the tool.
    ToolResult {
        /// The call that was made.
        plan: Plan,
        /// The result, if it matches its contract.
        #[serde(skip_serializing_if = "Option::is_none")]
        typed: Option<Box<RawValue>>,
        /// The reason for which there is no result, or no summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The outcome of the call as a whole, in the shape of `POST /v1/tools/execute`.
        raw: Box<RawValue>,
    },
    /// The same with a summary.
    ToolResultWithSummary {
        /// The call that was made.
        plan: Plan,
        typed: Box<RawValue>,
        summary: Summary,
        /// The outcome of the call as a whole.
        raw: Box<RawValue>,
    },
}

/// A run that ended without a result.
#[derive(Debug, Serialize)]
pub struct BlockedResponse {
    /// The reason, for the person.
    pub reason: String,
    /// The same, for programs.
    pub code: BlockedCode,
    /// A hint for the person.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The plan that was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// The reply of the model, where it was no plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<String>,
    /// The approval that a person has yet to give.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval_id: Option<String>,
    /// The seconds after which it makes sense to ask again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u32>,
}

impl BlockedResponse {
    pub(crate) fn new(code: BlockedCode, reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            code,
            message: None,
            plan: None,
            raw: None,
            approval_id: None,
            retry_after: None,
        }
    }
}

impl From<BlockedResponse> for Box<AskResponse> {
    fn from(blocked: BlockedResponse) -> Self {
        Box::new(AskResponse::Blocked(blocked))
    }
}

impl AskResponse {
    /// The word for it, as in the field `type`.
    pub fn kind(&self) -> &'static str {
        match self {
            AskResponse::Blocked(_) => "blocked",
            AskResponse::FinalAnswer { .. } => "final_answer",
            AskResponse::Plan { .. } => "plan",
            AskResponse::ToolResult { .. } => "tool_result",
            AskResponse::ToolResultWithSummary { .. } => "tool_result_with_summary",
        }
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            AskResponse::Blocked(blocked) => blocked.plan.as_ref(),
            AskResponse::FinalAnswer { plan, .. }
            | AskResponse::Plan { plan }
            | AskResponse::ToolResult { plan, .. }
            | AskResponse::ToolResultWithSummary { plan, .. } => Some(plan),
        }
    }

    /// The refusal, if it is one.
    pub fn blocked(&self) -> Option<&BlockedResponse> {
        match self {
            AskResponse::Blocked(blocked) => Some(blocked),
            _ => None,
        }
    }

    /// The HTTP status that goes with it: a refusal is a response, a model that fails is none.
    pub fn http_status(&self) -> u16 {
        self.blocked().map_or(200, |blocked| blocked.code.http_status())
    }
}

/// The reason for which a run was blocked, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockedCode {
    /// The question breaks a rule.
    Policy,
    /// There is no tool that may be used.
    NoTools,
    /// The reply of the model is no plan.
    PlannerRejected,
    /// The plan does not fit the catalogue, the schema or the question.
    PlanInvalid,
    /// The tool may not be called by this way.
    ToolNotAllowed,
    /// A person has to approve the call first.
    ApprovalRequired,
    /// The gate did not let the call begin.
    CallRefused,
    NoModel,
    ModelError,
    /// The model has too much to do.
    ModelBusy,
    /// The run took too long.
    Timeout,
    /// Nobody wants the answer any more.
    Cancelled,
}

impl BlockedCode {
    /// The HTTP status that goes with it: a refusal is a response, a failure is none.
    pub fn http_status(self) -> u16 {
        match self {
            BlockedCode::Policy
            | BlockedCode::NoTools
            | BlockedCode::PlannerRejected
            | BlockedCode::PlanInvalid
            | BlockedCode::ToolNotAllowed
            | BlockedCode::ApprovalRequired => 200,
            BlockedCode::ModelError => 502,
            BlockedCode::CallRefused
            | BlockedCode::NoModel
            | BlockedCode::ModelBusy
            | BlockedCode::Cancelled => 503,
            BlockedCode::Timeout => 504,
        }
    }

    /// True if something failed, and the question was not refused.
    pub fn is_failure(self) -> bool {
        self.http_status() != 200
    }
}

/// A response and its trace.
#[derive(Debug)]
pub struct AskOutcome {
    pub response: AskResponse,
    pub trace: crate::Trace,
    /// The times that the run took.
    pub timing: AskTiming,
}

/// The times that a run took.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskTiming {
    /// The whole run.
    pub whole: Duration,
    /// Waiting for the model.
    pub model: Duration,
    /// Waiting for the tool.
    pub tool: Duration,
}

impl AskTiming {
    /// The time of the gates themselves.
    pub fn gates(&self) -> Duration {
        self.whole.saturating_sub(self.model).saturating_sub(self.tool)
    }
}
