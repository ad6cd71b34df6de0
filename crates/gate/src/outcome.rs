//! The one internal result of a call, which each door renders in its own shape.

use std::{sync::Arc, time::Duration};

use contract::Contract;
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, value::RawValue};

use crate::{
    Artifact, Failure, Job, JobId, OutcomeFlags, RequestId, outcome_flags,
    quarantine::ReleasedPayload, truncate::Truncations,
};

/// The result of a call, whatever came of it.
#[derive(Debug)]
pub struct Outcome {
    /// The tool, as it was asked for.
    pub tool: String,
    /// The name of the request.
    pub request_id: RequestId,
    /// The job that was kept, if one was.
    pub job_id: Option<JobId>,
    /// The result, or why there is none.
    pub result: Result<OutputJson, Failure>,
    /// One line about it.
    pub summary: String,
    /// True if the tool wrote that line itself.
    pub own_summary: bool,
    /// The tool's standard output, within its limit.
    pub stdout: String,
    /// The tool's standard error, within its limit.
    pub stderr: String,
    /// 0, or the exit code of a command, or 1.
    pub exit_code: i32,
    /// The files that it left.
    pub artifacts: Vec<Artifact>,
    /// The tool's own numbers about the call.
    pub metrics: Map<String, Value>,
    /// Everything unusual about the result.
    pub flags: OutcomeFlags,
    /// The truncations that kept it within the limits.
    pub(crate) truncations: Truncations,
    /// The time that it took.
    pub duration: Duration,
    /// True if this is the recorded outcome of an earlier call with the same key.
    pub replayed: bool,
    /// The contract of the tool, if it is deprecated: doors say so.
    pub deprecated: Option<Arc<Contract>>,
    /// The whole as it was recorded.
    pub(crate) recorded: Option<Box<RawValue>>,
}

/// A result that matches its contract, printed once.
#[derive(Debug)]
pub struct OutputJson {
    /// As JSON text.
    pub json: Box<RawValue>,
}

/// The shape of `POST /v1/tools/execute`, in the order of its document.
#[derive(Serialize)]
struct ToolResult<'a> {
    status: &'a str,
    solver: &'a str,
    summary: &'a str,
    stdout: &'a str,
    stderr: &'a str,
    exit_code: i32,
    artifacts: &'a [Artifact],
    metrics: OutcomeMetrics<'a>,
    output: &'a RawValue,
}

/// The tool's own numbers and then ours: where both have a name, ours counts.
struct OutcomeMetrics<'a>(&'a Outcome);

impl Serialize for OutcomeMetrics<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let OutcomeMetrics(outcome) = self;
        let mut map = serializer.serialize_map(None)?;
        for (name, value) in &outcome.metrics {
            if !OWN_METRICS.contains(&name.as_str())
                && !outcome_flags::NAMES.contains(&name.as_str())
            {
                map.serialize_entry(name, value)?;
            }
        }
        let truncations = &outcome.truncations;
        for (name, count) in truncations.counts() {
            if count > 0 {
                map.serialize_entry(name, &count)?;
            }
        }
        if truncations.summary {
            map.serialize_entry("summary_truncated", &true)?;
        }
        outcome.flags.print(&mut map)?;
        if let Some(id) = &outcome.job_id {
            map.serialize_entry("job_id", id)?;
        }
        map.serialize_entry("request_id", outcome.request_id.for_caller())?;
        map.serialize_entry("duration_ms", &milliseconds(outcome.duration))?;
        if let Err(failure) = &outcome.result {
            map.serialize_entry("error_code", &failure.code)?;
            if let Some(details) = &failure.details {
                map.serialize_entry("error_details", details)?;
            }
        }
        map.end()
    }
}

/// Names in the metrics that no tool can set.
const OWN_METRICS: [&str; 11] = [
    "stdout_truncated_bytes",
    "stderr_truncated_bytes",
    "artifacts_removed_oversize",
    "artifacts_removed_count_cap",
    "artifacts_ignored",
    "summary_truncated",
    "job_id",
    "request_id",
    "duration_ms",
    "error_code",
    "error_details",
];

/// Milliseconds to the microsecond.
#[allow(clippy::cast_precision_loss)]
pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_micros() as f64 / 1_000.0
}

impl Outcome {
    /// The number of files that are not artifacts, by reason.
    pub fn files_not_kept(&self) -> impl Iterator<Item = (u64, &'static str)> {
        let counts = [
            (self.truncations.oversize_artifacts, "larger than limits.max_artifact_bytes"),
            (self.truncations.artifact_count, "more than limits.max_artifacts"),
            (self.truncations.ignored, "no plain file, or of a name that no artifact has"),
        ];
        counts.into_iter().filter(|(count, _)| *count > 0)
    }

    /// A refusal before any tool was found, from a door or from the gate.
    pub fn refused(tool: &str, request_id: RequestId, failure: Failure) -> Self {
        Self {
            tool: tool.to_owned(),
            request_id,
            job_id: None,
            summary: failure.summary.clone().unwrap_or_else(|| FAILED.into()),
            own_summary: false,
            stdout: String::new(),
            stderr: failure.stderr.map_or_else(|| failure.message.clone(), str::to_owned),
            exit_code: 1,
            artifacts: Vec::new(),
            metrics: Map::new(),
            flags: OutcomeFlags::default(),
            truncations: Truncations::default(),
            duration: Duration::ZERO,
            replayed: false,
            deprecated: None,
            recorded: None,
            result: Err(failure),
        }
    }

    /// The outcome that a finished job recorded.
    pub fn of_job(job: &Job, request_id: RequestId) -> Option<Self> {
        let mut outcome = Self::recorded(job, request_id)?;
        if let Some(released) = &job.released {
            // The record stays as it was; what is told of it is what the caller may have now.
            outcome.result = Ok(OutputJson { json: released.payload.clone() });
            outcome.flags.released = Some(released.quarantine_id.clone());
            (outcome.recorded, outcome.exit_code) = (None, 0);
            (outcome.summary, outcome.own_summary) = (ReleasedPayload::summary(&job.tool), true);
            outcome.stderr = String::new();
        }
        Some(outcome)
    }

    fn recorded(job: &Job, request_id: RequestId) -> Option<Self> {
        let recorded = job.result.clone()?;
        let whole: Value = serde_json::from_str(recorded.get()).ok()?;
        let text = |key: &str| whole[key].as_str().unwrap_or_default().to_owned();
        let metrics = whole["metrics"].as_object().cloned().unwrap_or_default();
        let result = match &job.error_code {
            None => {
                Ok(OutputJson { json: serde_json::value::to_raw_value(&whole["output"]).ok()? })
            }
            Some(code) => {
                let message = job.error_message.clone().unwrap_or_else(|| text("stderr"));
                let mut failure = Failure::new(contract::codes::INTERNAL, message);
                failure.code = code.clone().into();
                failure.http_status = job.http_status;
                failure.details = metrics.get("error_details").cloned();
                Err(failure)
            }
        };
        Some(Self {
            tool: job.tool.clone(),
            request_id,
            job_id: Some(job.id.clone()),
            own_summary: whole["summary"].as_str() != Some(&usual_summary(&job.tool)),
            summary: text("summary"),
            stdout: text("stdout"),
            stderr: text("stderr"),
            exit_code: whole["exit_code"].as_i64().and_then(|n| i32::try_from(n).ok()).unwrap_or(1),
            artifacts: job.artifacts.clone(),
            flags: OutcomeFlags::read(&metrics),
            metrics,
            truncations: Truncations::default(),
            duration: Duration::ZERO,
            replayed: true,
            deprecated: None,
            recorded: Some(recorded),
            result,
        })
    }

    /// 200, 203 where the result broke its contract and was released, or the status of the failure.
    pub fn http_status(&self) -> u16 {
        match &self.result {
            Ok(_) if self.flags.released.is_some() => 203,
            Ok(_) => 200,
            Err(failure) => failure.http_status,
        }
    }

    /// `ok`, or the code of the failure.
    pub fn code(&self) -> &str {
        self.result.as_ref().map_or_else(|failure| &*failure.code, |_| "ok")
    }

    /// The outcome in the shape of `POST /v1/tools/execute`; always that shape.
    pub fn tool_result(&self) -> Box<RawValue> {
        if let Some(recorded) = &self.recorded {
            return recorded.clone();
        }
        self.render()
    }

    /// The same without a copy where it was recorded.
    pub fn into_tool_result(mut self) -> Box<RawValue> {
        self.recorded.take().unwrap_or_else(|| self.render())
    }

    pub(crate) fn render(&self) -> Box<RawValue> {
        let nothing = RawValue::from_string("{}".into()).unwrap_or_default();
        let (status, output) = match &self.result {
            Ok(output) => ("ok", &output.json),
            Err(_) => ("error", &nothing),
        };
        let whole = ToolResult {
            status,
            solver: &self.tool,
            summary: &self.summary,
            stdout: &self.stdout,
            stderr: &self.stderr,
            exit_code: self.exit_code,
            artifacts: &self.artifacts,
            metrics: OutcomeMetrics(self),
            output,
        };
        // Strings, numbers and printed JSON: there is nothing in it that cannot be printed.
        serde_json::value::to_raw_value(&whole).unwrap_or_default()
    }
}

/// The summary of a success whose tool gave none.
pub(crate) fn usual_summary(tool: &str) -> String {
    format!("{tool} succeeded.")
}

/// The summary of a failure that has no better one.
pub(crate) const FAILED: &str = "Tool execution failed.";
