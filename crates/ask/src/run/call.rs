//! The one call, and the check whether its result may be read.

use std::{sync::Arc, time::Instant};

use contract::codes;
use gate::{Call, Door, EnforcementMode, Failure, Outcome, Tool};
use serde_json::{Value, json, value::RawValue};

use super::{Ask, AskRun, StepResult};
use crate::{BlockedCode, BlockedResponse, Plan, permit::CallPermit, plan::PlannedCall};

pub(super) struct CallOutcome {
    pub plan: Plan,
    /// The result, if it passed its contract; otherwise the reason for which it may not be read.
    pub typed: Result<Box<RawValue>, String>,
    /// True if the result is nothing but the way to an artifact.
    pub is_pointer: bool,
    pub raw: Box<RawValue>,
}

impl Ask {
    /// Makes the call, by the one permit that there is.
    pub(super) async fn call(
        &self,
        run: &mut AskRun<'_>,
        permit: CallPermit,
        planned: PlannedCall,
        tool: Arc<Tool>,
    ) -> StepResult<CallOutcome> {
        if run.stop.is_cancelled() {
            return Err(run.stopped().into());
        }
        let input = Value::Object(planned.args.clone());
        let payload = json!({
            "server": planned.server,
            "tool": planned.tool,
            "args": tool.input.redacted(&input),
        });
        run.recorder.event("tool_call", payload);
        let plan = Plan::CallTool(planned);
        let (caller, request_id) = (run.request.caller.clone(), run.request.request_id.clone());
        let call = Call::new(&tool.contract.name, input, Door::Ask, caller, request_id)
            .expecting(tool.clone())
            .recording(run.request.recording.clone())
            .stop(run.stop.clone());
        let begin = Instant::now();
        let outcome = permit.spend(&self.gate, call).await;
        run.timing.tool += begin.elapsed();
        if let Err(failure) = &outcome.result {
            let blocked = if failure.approval.is_some() {
                Some(wants_approval(&tool, failure))
            } else if run.stop.is_cancelled() {
                Some(run.stopped())
            } else if is_refusal(&tool, failure) {
                let reason = format!("{}: {}", failure.code, failure.message);
                Some(BlockedResponse::new(BlockedCode::CallRefused, reason))
            } else {
                None
            };
            if let Some(blocked) = blocked {
                let code = json!({ "code": failure.code, "reason": failure.message });
                run.recorder.event("call_refused", code);
                return Err(BlockedResponse { plan: Some(plan), ..blocked }.into());
            }
        }
        let typed = typed(&tool, &outcome);
        let raw =
            json!({ "code": outcome.code(), "summary": outcome.summary, "job_id": outcome.job_id });
        run.recorder.event("tool_result_raw", raw);
        match &typed {
            Ok(typed) => {
                let payload = run.kept_result(typed, self.settings.max_payload_characters);
                run.recorder.event("typed_payload", payload);
            }
            Err(why) => run.recorder.event("typed_parse_failed", json!({ "reason": why })),
        }
        let is_pointer = outcome.flags.spilled;
        Ok(CallOutcome { plan, typed, is_pointer, raw: outcome.into_tool_result() })
    }
}

/// A person has to approve the call; then it can be made without a planner.
fn wants_approval(tool: &Tool, failure: &Failure) -> BlockedResponse {
    let reason = format!("{}: {}", failure.code, failure.message);
    let name = &tool.contract.name;
    let message = failure.approval.as_ref().map(|id| {
        format!("`toolgate approvals approve {id}`, then `toolgate call {name} … --approval {id}`")
    });
    let approval_id = failure.approval.as_ref().map(ToString::to_string);
    BlockedResponse {
        message,
        approval_id,
        ..BlockedResponse::new(BlockedCode::ApprovalRequired, reason)
    }
}

/// True if the gate refused before the tool began. A tool may have declared the same code as its own.
fn is_refusal(tool: &Tool, failure: &Failure) -> bool {
    let is_own = tool.contract.errors.iter().any(|error| error.code == failure.code);
    let refusals = [
        codes::UNKNOWN_TOOL,
        codes::NOT_ALLOWED,
        codes::INVALID_INPUT,
        codes::CONFLICT,
        codes::TOO_MANY_REQUESTS,
    ];
    !is_own && refusals.iter().any(|refusal| refusal.code == failure.code)
}

/// The result, if it was held to its contract and matches it. Everything else may be handed on and not be read.
fn typed(tool: &Tool, outcome: &Outcome) -> Result<Box<RawValue>, String> {
    match &outcome.result {
        Err(failure) => {
            let id = failure.details.as_ref().and_then(|details| details["quarantine_id"].as_str());
            let see = id.map(|id| format!("; `toolgate quarantine show {id}`")).unwrap_or_default();
            Err(format!("{}: {}{see}", failure.code, failure.message))
        }
        Ok(_) if outcome.flags.released.is_some() => {
            Err("the result breaks its contract and was released from quarantine".into())
        }
        Ok(_) if !outcome.flags.warnings.is_empty() => {
            Err("the result or its arguments break the contract, and the tool is in mode `warn`"
                .into())
        }
        Ok(_) if tool.mode == EnforcementMode::Off => {
            Err("the tool is in mode `off`: nobody held the result against its contract".into())
        }
        Ok(output) => Ok(output.json.clone()),
    }
}
