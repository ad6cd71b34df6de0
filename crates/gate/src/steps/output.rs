//! Step 6: check the output.

use std::sync::atomic::Ordering;

use contract::{Violation, codes};
use serde_json::{Value, json, value::RawValue};

use super::{Crossing, Printed, Refusal, run::Ran};
use crate::{
    Failure, Output, Payload, Tool,
    quarantine::{Entry, Summary},
    ulid,
};

/// A result that matches its contract.
pub(crate) struct Conforming(Output);

impl Conforming {
    pub(super) fn into_output(self) -> Output {
        self.0
    }
}

/// Why a result does not pass, and what it was.
struct Broken {
    reason: String,
    violations: Vec<Violation>,
    payload: Box<RawValue>,
}

impl Crossing {
    pub(crate) async fn check_output(&mut self, ran: Ran) -> Result<Conforming, Refusal> {
        let max = self.limits.max_output_bytes;
        let (tool, payload) = ran.into_parts();
        match judge(&tool, payload, max) {
            Ok(output) => Ok(Conforming(output)),
            Err(broken) => Err(self.quarantine(*broken).await.into()),
        }
    }

    /// Puts the answer aside. The caller learns that it was, and nothing of it.
    async fn quarantine(&mut self, broken: Broken) -> Failure {
        self.gate.metrics.quarantined.fetch_add(1, Ordering::Relaxed);
        let summary = Summary {
            id: format!("q_{}", ulid(self.began_at)),
            tool: self.call.tool.clone(),
            request_id: self.call.request_id.to_string(),
            job_id: self.is_job().then(|| self.job_id().to_string()),
            created_at: self.began_at,
            reason: broken.reason.clone(),
            violations: broken.violations.iter().map(Into::into).collect(),
        };
        let id = summary.id.clone();
        let entry = Entry { summary, payload: kept_part(broken.payload) };
        let kept = self.gate.store.quarantine(entry).await;
        let mut failure = Failure::new(
            codes::INVALID_OUTPUT,
            "the tool's answer does not match its contract and was quarantined",
        )
        .operator(broken.reason);
        match kept {
            Ok(()) => failure.details = Some(json!({ "quarantine_id": id })),
            Err(error) => {
                tracing::error!(%error, tool = self.call.tool, "an answer could not be quarantined");
                failure.message = "the tool's answer does not match its contract".into();
            }
        }
        // What the tool printed may be what it answered: none of it goes on.
        self.printed = Printed::default();
        failure
    }
}

fn judge(tool: &Tool, payload: Payload, max_output_bytes: u64) -> Result<Output, Box<Broken>> {
    let broken =
        |reason: String, violations, payload| Box::new(Broken { reason, violations, payload });
    let value = match payload {
        Payload::Json(value) => value,
        Payload::Missing => {
            let nothing = print(&Value::Null);
            return Err(broken("the tool answered nothing".into(), Vec::new(), nothing));
        }
        Payload::Unreadable { text, reason } => {
            return Err(broken(reason, Vec::new(), print(&Value::String(text))));
        }
    };
    let json = print(&value);
    if json.get().len() as u64 > max_output_bytes {
        let reason = format!(
            "the answer has {} bytes, more than its limit of {max_output_bytes} (max_output_bytes)",
            json.get().len()
        );
        return Err(broken(reason, Vec::new(), json));
    }
    if !tool.output.is_valid(&value) {
        let violations = tool.output.violations(&value);
        return Err(broken(Violation::list(&violations), violations, json));
    }
    Ok(Output { json })
}

/// The largest answer that quarantine keeps whole, in bytes.
const MAX_QUARANTINED_BYTES: usize = 1_048_576;

/// The answer, or the beginning of one that is too large to keep.
fn kept_part(payload: Box<RawValue>) -> Box<RawValue> {
    if payload.get().len() <= MAX_QUARANTINED_BYTES {
        return payload;
    }
    let mut text = payload.get().to_owned();
    let cut = crate::trim::text(&mut text, MAX_QUARANTINED_BYTES as u64);
    print(&Value::String(format!("{text} [{cut} more bytes were not kept]")))
}

/// Printed once: this text is what every door sends and every record keeps.
fn print(value: &Value) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}
