//! The report of a probe.

use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::Value;

use super::rules::{FindingSeverity, ProbeRule};
use upstream::connection::ServerDescription;
use workbench::compare::at_most;

/// The longest text of a server in a report, in characters.
const MAX_TEXT_CHARS: usize = 200;

/// The largest arguments that a finding has in full, in bytes of JSON; larger ones are cut.
const MAX_INPUT_BYTES: usize = 16_384;

/// The report of a probe.
#[derive(Debug, Clone, Serialize)]
pub struct ProbeReport {
    /// The server's own name and version.
    pub server: String,
    /// The protocol version.
    pub protocol: String,
    /// The seed of the generated values.
    pub seed: u64,
    /// The checks of the server, and of every tool.
    pub suites: Vec<CheckSuite>,
    /// The reason why the probe ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

impl ProbeReport {
    pub(crate) fn new(server: &ServerDescription, seed: u64) -> Self {
        let text = |key: &str| server.info.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        let name = if name.trim().is_empty() { "(server without a name)" } else { name.trim() };
        let server_name = shown_text(name);
        Self {
            server: server_name,
            protocol: server.version.to_string(),
            seed,
            suites: Vec::new(),
            cut: None,
        }
    }

    /// All findings, with their suites and checks.
    pub fn findings(&self) -> impl Iterator<Item = (&CheckSuite, &Check, &ProbeFinding)> {
        self.suites.iter().flat_map(|suite| {
            let checks = suite.checks.iter();
            checks.flat_map(move |check| check.findings.iter().map(move |one| (suite, check, one)))
        })
    }

    /// The number of checks with this outcome.
    pub fn count(&self, outcome: CheckOutcome) -> usize {
        self.suites.iter().map(|suite| suite.count(outcome)).sum()
    }
}

/// The checks of one subject.
#[derive(Debug, Clone, Serialize)]
pub struct CheckSuite {
    /// The tool; none for the server as a whole.
    pub tool: Option<String>,
    /// The checks.
    pub checks: Vec<Check>,
}

impl CheckSuite {
    /// The server as a whole.
    pub fn server() -> Self {
        Self { tool: None, checks: Vec::new() }
    }

    pub fn tool(name: &str) -> Self {
        Self { tool: Some(shown_text(name)), checks: Vec::new() }
    }

    /// The tool, or `(server)`.
    pub fn subject(&self) -> &str {
        self.tool.as_deref().unwrap_or("(server)")
    }

    /// Adds a check that was skipped.
    pub fn skip(&mut self, title: &str, reason: &str) {
        self.checks.push(Check {
            title: title.to_owned(),
            outcome: CheckOutcome::Skipped,
            reason: Some(reason.to_owned()),
            took: Duration::ZERO,
            findings: Vec::new(),
        });
    }

    /// The number of checks with this outcome.
    pub fn count(&self, outcome: CheckOutcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }
}

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckOutcome {
    /// No failure was found.
    Passed,
    /// A failure was found.
    Failed,
    /// It did not run.
    Skipped,
}

/// One check.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// Its title.
    pub title: String,
    /// Its outcome.
    pub outcome: CheckOutcome,
    /// The reason why it was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Its duration.
    #[serde(rename = "took_ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// The findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ProbeFinding>,
}

fn milliseconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

impl Check {
    /// A check with these findings; it failed if one of them is a failure.
    pub fn of(title: impl Into<String>, findings: Vec<ProbeFinding>) -> Self {
        let failed = findings.iter().any(|one| one.rule.severity == FindingSeverity::Failure);
        Self {
            title: title.into(),
            outcome: if failed { CheckOutcome::Failed } else { CheckOutcome::Passed },
            reason: None,
            took: Duration::ZERO,
            findings,
        }
    }

    pub(crate) fn failed(title: &str, finding: ProbeFinding) -> Self {
        Self::of(title, vec![finding])
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct ProbeFinding {
    #[serde(flatten)]
    pub rule: &'static ProbeRule,
    /// The details.
    pub message: String,
    /// The arguments of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    /// JSON pointers into the result or the listing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pointers: Vec<String>,
}

impl ProbeFinding {
    /// A finding without arguments.
    pub fn new(rule: &'static ProbeRule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), input: None, pointers: Vec::new() }
    }

    /// The same with the arguments of the call.
    #[must_use]
    pub fn shown_by(mut self, input: &Value) -> Self {
        self.input = Some(at_most(input, MAX_INPUT_BYTES, "max_input_bytes"));
        self
    }

    /// The same with JSON pointers.
    #[must_use]
    pub fn at(mut self, pointers: impl IntoIterator<Item = String>) -> Self {
        self.pointers.extend(pointers);
        self
    }
}

/// A text of the server in one line, shortened, with hidden characters made visible.
pub(crate) fn shown_text(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_TEXT_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    gate::visible_text::visible_line(&shown)
}
