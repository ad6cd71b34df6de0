//! The record of a run: its trace, and a line in the journal.

use std::time::Duration;

use llm::Model;
use serde_json::{Value, json, value::RawValue};

use super::{Ask, AskRun};
use crate::{AskOutcome, AskResponse, Plan};

/// A result of more bytes than this for each character that a trace may have is cut as text, and not read for it.
const BYTES_PER_CHARACTER: usize = 4;

impl Ask {
    /// Ends a run and records its response.
    pub(super) fn end(&self, run: AskRun<'_>, response: AskResponse) -> AskOutcome {
        let output = run.kept_response(&response, self.settings.max_payload_characters);
        let AskRun { request, recorder, timing, model, question, .. } = run;
        // Milliseconds, to the microsecond.
        let milliseconds = |time: Duration| json!((time.as_secs_f64() * 1e6).round() / 1e3);
        let meta = [
            ("component", json!("toolgate.ask")),
            ("request_id", json!(request.request_id)),
            ("model", json!(model.as_deref().or(self.model.as_ref().and_then(Model::name)))),
            ("duration_ms", milliseconds(timing.whole)),
            ("model_ms", milliseconds(timing.model)),
            ("tool_ms", milliseconds(timing.tool)),
            ("gates_ms", milliseconds(timing.gates())),
        ];
        let meta = meta.map(|(name, value)| (name.to_owned(), value)).into_iter().collect();
        let trace = recorder.into_trace(meta, output);
        let (server, tool) = match response.plan() {
            Some(Plan::CallTool(call)) => (Some(&call.server), Some(&call.tool)),
            _ => (None, None),
        };
        let code = response.blocked().map(|blocked| blocked.code);
        // What was asked is the person's own and stands in the trace alone, for whoever keeps one.
        let fields = json!({
            "caller": request.caller.name(),
            "request_id": request.request_id,
            "type": response.kind(),
            "code": code,
            "server": server,
            "tool": tool,
            "question_bytes": question.len(),
            "duration_ms": trace.meta["duration_ms"],
            "model_ms": trace.meta["model_ms"],
            "trace_id": trace.trace_id,
        });
        self.gate.journal().event(self.gate.clock().now(), "ask", fields);
        self.metrics.ended(&response, &timing);
        AskOutcome { response, trace, timing }
    }
}

impl AskRun<'_> {
    /// A response as it may be kept: without what the contract of its tool marks as secret.
    fn kept_response(&self, response: &AskResponse, max_characters: usize) -> Value {
        let mut kept = json!(response);
        if let Some(plan) = response.plan() {
            kept["plan"] = self.kept(plan);
        }
        let (typed, raw) = match response {
            AskResponse::ToolResult { typed, raw, .. } => (typed.as_ref(), raw),
            AskResponse::ToolResultWithSummary { typed, raw, .. } => (Some(typed), raw),
            _ => return kept,
        };
        if let Some(typed) = typed {
            kept["typed"] = self.kept_result(typed, max_characters);
        }
        kept["raw"] = self.kept_outcome(raw, max_characters);
        kept
    }

    pub(super) fn kept_result(&self, typed: &RawValue, max_characters: usize) -> Value {
        let schema =
            self.tool.as_ref().map(|tool| &tool.output).filter(|schema| schema.has_secrets());
        match (short(typed, max_characters), schema) {
            (value, None) => value,
            (Value::String(_), Some(_)) => json!("[redacted]"),
            (value, Some(schema)) => schema.redacted(&value).into_owned(),
        }
    }

    /// The outcome as it may be kept: the text that the tool printed may repeat the result, and the arguments.
    fn kept_outcome(&self, raw: &RawValue, max_characters: usize) -> Value {
        let has_secrets = |tool: &gate::Tool| tool.output.has_secrets() || tool.input.has_secrets();
        if self.tool.as_deref().is_some_and(has_secrets) {
            return json!("[redacted]");
        }
        short(raw, max_characters)
    }
}

/// A value that was printed; its beginning as text where it is large.
fn short(raw: &RawValue, max_characters: usize) -> Value {
    let text = raw.get();
    if text.len() <= max_characters.saturating_mul(BYTES_PER_CHARACTER) {
        return serde_json::from_str(text).unwrap_or_default();
    }
    Value::String(text.chars().take(max_characters.saturating_mul(2)).collect())
}
