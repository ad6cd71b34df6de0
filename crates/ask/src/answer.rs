//! What comes of a question.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{Plan, summary::Summary};

/// What comes of a question.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// A gate refused, or something failed. If a tool was called nevertheless, this is not the answer.
    Blocked {
        /// Why, for the person.
        reason: String,
        /// The same, for programs.
        code: Code,
        /// What else the person should know.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// The plan that was refused.
        #[serde(skip_serializing_if = "Option::is_none")]
        plan: Option<Plan>,
        /// What the model wrote, where it was no plan.
        #[serde(skip_serializing_if = "Option::is_none")]
        raw: Option<String>,
        /// The approval that a person has yet to give.
        #[serde(skip_serializing_if = "Option::is_none")]
        approval_id: Option<String>,
        /// After how many seconds it makes sense to ask again.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u32>,
    },
    /// The person is asked for what is missing.
    FinalAnswer {
        /// What to tell the person.
        answer: String,
        /// Always true.
        needs_more_info: bool,
        /// The plan.
        plan: Plan,
    },
    /// What would be called, where nothing else was asked for.
    Plan {
        /// The plan.
        plan: Plan,
    },
    /// What the tool answered.
    ToolResult {
        /// What was called.
        plan: Plan,
        /// The result, if it matches its contract.
        #[serde(skip_serializing_if = "Option::is_none")]
        typed: Option<Box<RawValue>>,
        /// Why there is no result, or no summary.
        #[serde(skip_serializing_if = "Option::is_none")]
        note: Option<String>,
        /// The outcome of the call as a whole, in the shape of `POST /v1/tools/execute`.
        raw: Box<RawValue>,
    },
    /// The same with a summary.
    ToolResultWithSummary {
        /// What was called.
        plan: Plan,
        /// The result.
        typed: Box<RawValue>,
        /// What it says, with quotes.
        summary: Summary,
        /// The outcome of the call as a whole.
        raw: Box<RawValue>,
    },
}

impl Answer {
    /// The word for what it is.
    pub fn kind(&self) -> &'static str {
        match self {
            Answer::Blocked { .. } => "blocked",
            Answer::FinalAnswer { .. } => "final_answer",
            Answer::Plan { .. } => "plan",
            Answer::ToolResult { .. } => "tool_result",
            Answer::ToolResultWithSummary { .. } => "tool_result_with_summary",
        }
    }

    /// The plan, if there is one.
    pub fn plan(&self) -> Option<&Plan> {
        match self {
            Answer::Blocked { plan, .. } => plan.as_ref(),
            Answer::FinalAnswer { plan, .. }
            | Answer::Plan { plan }
            | Answer::ToolResult { plan, .. }
            | Answer::ToolResultWithSummary { plan, .. } => Some(plan),
        }
    }

    /// The HTTP status that goes with it: a refusal is an answer, a model that fails is none.
    pub fn http_status(&self) -> u16 {
        match self {
            Answer::Blocked { code, .. } => code.http_status(),
            _ => 200,
        }
    }
}

/// Why a run was blocked, for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The question breaks a rule.
    Policy,
    /// There is no tool that may be used.
    NoTools,
    /// What the model wrote is no plan.
    PlannerRejected,
    /// The plan does not fit the catalogue, the schema or the question.
    PlanInvalid,
    /// The tool may not be called by this way.
    ToolNotAllowed,
    /// A person has to approve the call first.
    ApprovalRequired,
    /// The gate did not let the call begin.
    CallRefused,
    /// No model is configured.
    NoModel,
    /// The model failed.
    ModelError,
    /// The model has too much to do.
    ModelBusy,
    /// The run took too long.
    Timeout,
    /// Nobody wants the answer any more.
    Cancelled,
}

impl Serialize for Code {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Code {
    /// The status that goes with it.
    pub fn http_status(self) -> u16 {
        match self {
            Code::NoModel | Code::ModelBusy | Code::CallRefused | Code::Cancelled => 503,
            Code::ModelError => 502,
            Code::Timeout => 504,
            _ => 200,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Code::Policy => "policy",
            Code::NoTools => "no_tools",
            Code::PlannerRejected => "planner_rejected",
            Code::PlanInvalid => "plan_invalid",
            Code::ToolNotAllowed => "tool_not_allowed",
            Code::ApprovalRequired => "approval_required",
            Code::CallRefused => "call_refused",
            Code::NoModel => "no_model",
            Code::ModelError => "model_error",
            Code::ModelBusy => "model_busy",
            Code::Timeout => "timeout",
            Code::Cancelled => "cancelled",
        }
    }

    /// Whether it was for us to fail, and not for the question to be refused.
    pub fn is_failure(self) -> bool {
        self.http_status() != 200
    }
}

/// An answer and its trace.
#[derive(Debug)]
pub struct Answered {
    /// What came of it.
    pub answer: Answer,
    /// How it came about.
    pub trace: crate::Trace,
    /// Where the time went.
    pub timing: Timing,
}

/// Where the time of a run went.
#[derive(Debug, Clone, Copy, Default)]
pub struct Timing {
    /// All of it.
    pub whole: Duration,
    /// Waiting for the model.
    pub model: Duration,
    /// Waiting for the tool.
    pub tool: Duration,
}

impl Timing {
    /// What the gates themselves took.
    pub fn gates(&self) -> Duration {
        self.whole.saturating_sub(self.model).saturating_sub(self.tool)
    }
}
