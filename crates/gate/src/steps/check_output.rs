//! Step 8 of 9: check the output.

use std::sync::atomic::Ordering;

use contract::{Interrupted, LargeOutput, Limits, Violation};
use serde_json::{Value, json, value::RawValue};

use super::{
    CallRefusal, CallState, ToolReport,
    run::{GRACE, UncheckedOutput},
};
use crate::{
    ContractWarning, EnforcementMode, Failure, OutputJson, OutputPayload, PayloadDirection, Tool,
    quarantine::{MAX_QUARANTINED_BYTES, QuarantineEntry, QuarantineState, QuarantineSummary},
    secrets,
};

/// A result that may go on: it matches its contract, or the tool is not held to it.
pub(crate) struct CheckedOutput(OutputJson);

impl CheckedOutput {
    pub(super) fn into_output(self) -> OutputJson {
        self.0
    }
}

/// A result and what is to be said of it.
struct JudgedOutput {
    json: Box<RawValue>,
    fit: OutputSize,
    /// The reason that it does not match.
    wrong: Option<OutputViolations>,
}

struct OutputViolations {
    reason: String,
    violations: Vec<Violation>,
}

impl OutputViolations {
    /// Takes secrets out: a violation may quote what it is about.
    fn redact(&mut self) {
        secrets::redact_in(&mut self.reason);
        for violation in &mut self.violations {
            secrets::redact_in(&mut violation.pointer);
            secrets::redact_in(&mut violation.message);
        }
    }
}

/// The size of a result against the limits, whatever the contract says of its value.
enum OutputSize {
    /// It can be handed over.
    Fits,
    /// It can be handed over as an artifact.
    Artifact,
    /// It cannot, and this is why.
    TooLarge(String),
}

impl CallState {
    pub(crate) async fn check_output(
        &mut self,
        ran: UncheckedOutput,
    ) -> Result<CheckedOutput, CallRefusal> {
        let (tool, payload, _slot) = ran.into_parts();
        let JudgedOutput { json, fit, mut wrong } = self.judge_output(&tool, payload);
        wrong.iter_mut().for_each(OutputViolations::redact);
        match (fit, wrong) {
            (OutputSize::Fits, None) => Ok(CheckedOutput(OutputJson { json })),
            (_, Some(wrong)) if tool.mode == EnforcementMode::Enforce => {
                Err(Box::pin(self.stop(wrong, json)).await.into())
            }
            // That is held to in every mode.
            (OutputSize::TooLarge(reason), _) => {
                let wrong = OutputViolations { reason, violations: Vec::new() };
                Err(Box::pin(self.stop(wrong, json)).await.into())
            }
            (fit, wrong) => {
                if let Some(wrong) = wrong {
                    Box::pin(self.pass(&tool, wrong, &json)).await;
                }
                let json = match fit {
                    OutputSize::Artifact => Box::pin(self.spill(json)).await?,
                    _ => json,
                };
                Ok(CheckedOutput(OutputJson { json }))
            }
        }
    }

    fn judge_output(&self, tool: &Tool, payload: OutputPayload) -> JudgedOutput {
        let unreadable = |reason: String| Some(OutputViolations { reason, violations: Vec::new() });
        let (value, json, wrong) = match payload {
            OutputPayload::Json(value) => {
                let json = print(&value);
                (value, json, None)
            }
            OutputPayload::Printed(printed) => {
                let (value, json) = printed.into_parts();
                (value, json, None)
            }
            // Where it passes all the same, nothing is null and a text is a text.
            OutputPayload::Missing => {
                let reason = "the tool answered nothing".to_owned();
                (Value::Null, print(&Value::Null), unreadable(reason))
            }
            OutputPayload::Broken { text, reason } => {
                let json = print(&Value::String(text));
                return JudgedOutput { json, fit: OutputSize::TooLarge(reason), wrong: None };
            }
            OutputPayload::Unreadable { text, reason } => {
                let value = Value::String(text);
                let json = print(&value);
                (value, json, unreadable(reason))
            }
        };
        let bytes = json.get().len() as u64;
        let fit = measure(tool, bytes, &self.limits);
        let wrong = match (wrong, &fit, tool.mode) {
            (_, _, EnforcementMode::Off) | (None, OutputSize::TooLarge(_), _) => None,
            (Some(wrong), ..) => Some(wrong),
            (None, ..) => self.check_value(tool, &value, bytes),
        };
        JudgedOutput { json, fit, wrong }
    }

    /// The reason that a value does not match the output schema.
    fn check_value(&self, tool: &Tool, value: &Value, bytes: u64) -> Option<OutputViolations> {
        // A tool that answered in time has not used up the time for this.
        match self.violations(&tool.output, value, bytes, GRACE) {
            Ok(violations) if violations.is_empty() => None,
            Ok(violations) => {
                Some(OutputViolations { reason: Violation::list(&violations), violations })
            }
            Err(Interrupted) => Some(OutputViolations {
                reason: "the output took too long to check against its schema".to_owned(),
                violations: Vec::new(),
            }),
        }
    }

    /// Puts the answer aside. The caller learns that it was, and nothing of it.
    async fn stop(&mut self, wrong: OutputViolations, payload: Box<RawValue>) -> Failure {
        self.gate.metrics.quarantined.fetch_add(1, Ordering::Relaxed);
        let reason = wrong.reason.clone();
        let kept = self.quarantine(wrong, payload, QuarantineState::Held).await;
        // What the tool printed may be what it answered: none of it goes on.
        self.report = ToolReport::default();
        Failure::invalid_output(kept).operator(reason)
    }

    /// Lets the answer pass, and keeps a copy for whoever wonders.
    async fn pass(&mut self, tool: &Tool, wrong: OutputViolations, payload: &RawValue) {
        let reason = wrong.reason.clone();
        let id = if tool.copies.allow(self.began_at) {
            self.quarantine(wrong, payload.to_owned(), QuarantineState::Passed).await
        } else {
            None
        };
        self.warn(tool, PayloadDirection::Output, reason, id);
    }

    /// Counts and remembers what did not match and passed.
    pub(super) fn warn(
        &mut self,
        tool: &Tool,
        direction: PayloadDirection,
        mut reason: String,
        quarantine_id: Option<String>,
    ) {
        tool.metrics.warned(direction);
        crate::truncate::text(&mut reason, MAX_WARNING_BYTES);
        self.flags.warnings.push(ContractWarning { direction, reason, quarantine_id });
    }

    /// Keeps an answer; its id, if it could be kept.
    async fn quarantine(
        &mut self,
        wrong: OutputViolations,
        payload: Box<RawValue>,
        state: QuarantineState,
    ) -> Option<String> {
        let whole = payload.get().len() <= MAX_QUARANTINED_BYTES;
        self.gate.new_records.add_bytes(payload.get().len().min(MAX_QUARANTINED_BYTES));
        let summary = QuarantineSummary {
            id: QuarantineSummary::new_id(self.began_at),
            state,
            tool: self.call.tool.clone(),
            caller: self.call.caller.name().to_owned(),
            request_id: self.call.request_id.to_string(),
            job_id: self.is_job().then(|| self.job_id().to_string()),
            input_sha256: self.input_sha256.clone().unwrap_or_default(),
            created_at: self.began_at,
            reason: wrong.reason,
            violations: wrong.violations.iter().map(Into::into).collect(),
            whole,
            decided_at: None,
            decided_by: None,
            decision_reason: None,
            expires_at: None,
            delivered_at: None,
        };
        let id = summary.id.clone();
        let payload = secrets::redact_json(payload);
        let payload = if whole { payload } else { beginning(&payload) };
        match self.gate.store.quarantine(QuarantineEntry { summary, payload }).await {
            Ok(()) => {
                let tool = &self.call.tool;
                let fields = json!({
                    "quarantine_id": id,
                    "tool": tool,
                    "caller": self.call.caller.name(),
                    "request_id": self.call.request_id.to_string(),
                });
                self.gate.journal.event(self.gate.clock.now(), "output_quarantined", fields);
                tracing::warn!(
                    tool,
                    "an output broke its contract: `toolgate quarantine show {id}`"
                );
                Some(id)
            }
            Err(error) => {
                tracing::error!(%error, tool = self.call.tool, "an output could not be quarantined");
                None
            }
        }
    }
}

/// The longest warning, in bytes.
const MAX_WARNING_BYTES: u64 = 1_024;

fn measure(tool: &Tool, bytes: u64, limits: &Limits) -> OutputSize {
    let most = limits.max_output_bytes;
    if bytes <= most {
        return OutputSize::Fits;
    }
    let (most, name) = match tool.contract.large_output {
        LargeOutput::Refuse => (most, "max_output_bytes"),
        LargeOutput::Artifact if bytes <= limits.max_artifact_bytes => return OutputSize::Artifact,
        LargeOutput::Artifact => (limits.max_artifact_bytes, "max_artifact_bytes"),
    };
    OutputSize::TooLarge(format!(
        "the answer has {bytes} bytes, more than its limit of {most} ({name})"
    ))
}

/// The beginning of an answer that is too large to keep.
fn beginning(payload: &RawValue) -> Box<RawValue> {
    let mut text = payload.get().to_owned();
    let cut = crate::truncate::text(&mut text, MAX_QUARANTINED_BYTES as u64);
    print(&Value::String(format!("{text} [{cut} more bytes were not kept]")))
}

/// Printed once: this text is what every door sends and every record keeps.
fn print(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}
