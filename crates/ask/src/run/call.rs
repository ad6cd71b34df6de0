//! The one call, and whether what came back may be read.

use std::time::Instant;

use contract::LimitOverrides;
use gate::{Call, Door, Exchange, Mode, Outcome, Tool};
use serde_json::{json, value::RawValue};

use super::{Ask, Run, Step, blocked_by, plan::Planned};
use crate::{Answer, Code, Plan, permit::Permit};

/// What came of the call.
pub(super) struct Called {
    pub plan: Plan,
    /// The result, if it passed its contract; otherwise why it may not be read.
    pub typed: Result<Box<RawValue>, String>,
    /// Whether the result is nothing but the way to an artifact.
    pub is_pointer: bool,
    pub raw: Box<RawValue>,
}

impl Ask {
    /// Makes the call, by the one permit that there is.
    pub(super) async fn call(
        &self,
        run: &mut Run<'_>,
        permit: Permit,
        planned: Planned,
    ) -> Step<Called> {
        if run.stop.is_cancelled() {
            return Err(run.stopped());
        }
        let Planned { plan, tool } = planned;
        let Plan::CallTool { server, tool: name, args } = &plan else {
            unreachable!("only a plan with a call is carried out")
        };
        let input = serde_json::Value::Object(args.clone());
        let payload = json!({
            "server": server,
            "tool": name,
            "args": tool.input.redacted(&input),
        });
        run.recorder.event("tool_call", payload);
        let call = Call {
            tool: tool.contract.name.clone(),
            toolset: None,
            meant: Some(tool.clone()),
            input,
            limits: LimitOverrides::default(),
            caller: run.request.caller.clone(),
            door: Door::Ask,
            request_id: run.request.request_id.clone(),
            recording: run.request.recording.clone(),
            idempotency_key: None,
            approval: None,
            exchange: Exchange::default(),
            stop: run.stop.clone(),
        };
        let begin = Instant::now();
        let outcome = permit.spend(&self.gate, call).await;
        run.timing.tool += begin.elapsed();
        if let Err(failure) = &outcome.result
            && failure.approval.is_some()
        {
            run.recorder.event("approval_required", json!({ "reason": failure.message }));
            let reason = format!("{}: {}", failure.code, failure.message);
            let mut answer = blocked_by(Code::ApprovalRequired, reason);
            if let Answer::Blocked { plan: of, .. } = &mut *answer {
                *of = Some(plan);
            }
            return Err(answer);
        }
        let typed = typed(&tool, &outcome);
        let raw =
            json!({ "code": outcome.code(), "summary": outcome.summary, "job_id": outcome.job_id });
        run.recorder.event("tool_result_raw", raw);
        match &typed {
            Ok(typed) => {
                let payload = match serde_json::from_str(shortened(typed.get())) {
                    // What the contract marks as secret stays out of the trace.
                    Ok(value) => tool.output.redacted(&value).into_owned(),
                    Err(_) if tool.output.has_secrets() => json!("[redacted]"),
                    Err(_) => json!(typed.get().chars().take(MAX_TRACED_BYTES).collect::<String>()),
                };
                run.recorder.event("typed_payload", payload);
            }
            Err(why) => run.recorder.event("typed_parse_failed", json!({ "reason": why })),
        }
        let is_pointer = outcome.marks.spilled;
        Ok(Called { plan, typed, is_pointer, raw: outcome.into_tool_result() })
    }
}

/// Results up to this size are read for the trace.
const MAX_TRACED_BYTES: usize = 262_144;

/// The text, or one that is no JSON where it is not worth reading.
fn shortened(text: &str) -> &str {
    if text.len() <= MAX_TRACED_BYTES { text } else { "" }
}

/// The result, if it was held to its contract and matches it. Everything else may be handed on and not be read.
fn typed(tool: &Tool, outcome: &Outcome) -> Result<Box<RawValue>, String> {
    match &outcome.result {
        Err(failure) => Err(format!("{}: {}", failure.code, failure.message)),
        Ok(_) if outcome.marks.released.is_some() => {
            Err("the result breaks its contract and was released from quarantine".into())
        }
        Ok(_) if !outcome.marks.warnings.is_empty() => {
            Err("the result or its arguments break the contract, and the tool is in mode `warn`"
                .into())
        }
        Ok(_) if tool.mode == Mode::Off => {
            Err("the tool is in mode `off`: nobody held the result against its contract".into())
        }
        Ok(output) => Ok(output.json.clone()),
    }
}
