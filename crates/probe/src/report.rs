//! What came of a probe.

use std::time::Duration;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::Value;

use super::rules::{FindingSeverity, Rule};
use upstream::connection::ServerDescription;

/// How much of a text of the server's is told, in characters.
const MAX_TOLD_CHARS: usize = 200;

/// How large the arguments of a finding may be that are kept whole, in bytes of their JSON; of larger ones
/// the beginning is.
const MAX_INPUT_BYTES: usize = 16_384;

/// What came of a probe.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The server's own name and version.
    pub server: String,
    /// The revision of the protocol that was spoken.
    pub protocol: String,
    /// What the values were made from.
    pub seed: u64,
    /// The server as a whole, and every tool.
    pub suites: Vec<Suite>,
    /// Why it ended before everything was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

impl Report {
    pub(crate) fn new(server: &ServerDescription, seed: u64) -> Self {
        let text = |key: &str| server.info.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{} {}", text("name"), text("version"));
        let name = if name.trim().is_empty() { "a server without a name" } else { name.trim() };
        let server_name = told(name);
        Self {
            server: server_name,
            protocol: server.version.to_string(),
            seed,
            suites: Vec::new(),
            cut: None,
        }
    }

    /// Everything that was found, with where.
    pub fn findings(&self) -> impl Iterator<Item = (&Suite, &Check, &Finding)> {
        self.suites.iter().flat_map(|suite| {
            let checks = suite.checks.iter();
            checks.flat_map(move |check| check.findings.iter().map(move |one| (suite, check, one)))
        })
    }

    /// How many checks ended like this.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.suites.iter().map(|suite| suite.count(outcome)).sum()
    }
}

/// The checks of one subject.
#[derive(Debug, Clone, Serialize)]
pub struct Suite {
    /// The tool; nothing for the server as a whole.
    pub tool: Option<String>,
    /// What was looked at.
    pub checks: Vec<Check>,
}

impl Suite {
    /// The server as a whole.
    pub fn server() -> Self {
        Self { tool: None, checks: Vec::new() }
    }

    /// A tool.
    pub fn tool(name: &str) -> Self {
        Self { tool: Some(told(name)), checks: Vec::new() }
    }

    /// What it is about, in a word.
    pub fn subject(&self) -> &str {
        self.tool.as_deref().unwrap_or("(server)")
    }

    /// Notes that something was not looked at.
    pub fn skip(&mut self, title: &str, reason: &str) {
        self.checks.push(Check {
            title: title.to_owned(),
            outcome: Outcome::Skipped,
            reason: Some(reason.to_owned()),
            took: Duration::ZERO,
            findings: Vec::new(),
        });
    }

    /// How many checks ended like this.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.checks.iter().filter(|check| check.outcome == outcome).count()
    }
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Nothing is broken.
    Passed,
    /// Something is.
    Failed,
    /// It was not looked at.
    Skipped,
}

/// One thing that was looked at.
#[derive(Debug, Clone, Serialize)]
pub struct Check {
    /// What.
    pub title: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Why it was not looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// How long it took.
    #[serde(rename = "took_ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// What was found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

fn milliseconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(u64::try_from(took.as_millis()).unwrap_or(u64::MAX))
}

impl Check {
    /// A check that found this: it failed if anything of it is a failure.
    pub fn of(title: impl Into<String>, findings: Vec<Finding>) -> Self {
        let failed = findings.iter().any(|one| one.rule.severity == FindingSeverity::Failure);
        Self {
            title: title.into(),
            outcome: if failed { Outcome::Failed } else { Outcome::Passed },
            reason: None,
            took: Duration::ZERO,
            findings,
        }
    }

    pub(crate) fn failed(title: &str, finding: Finding) -> Self {
        Self::of(title, vec![finding])
    }
}

/// Something that was found.
#[derive(Debug, Clone)]
pub struct Finding {
    /// What was looked for.
    pub rule: &'static Rule,
    /// What was found.
    pub message: String,
    /// The arguments that showed it.
    pub input: Option<Value>,
    /// The places that it is about: in the result, or in what is listed.
    pub pointers: Vec<String>,
}

impl Finding {
    /// Something that no arguments were needed for.
    pub fn new(rule: &'static Rule, message: impl Into<String>) -> Self {
        Self { rule, message: message.into(), input: None, pointers: Vec::new() }
    }

    /// The same with the arguments that showed it.
    #[must_use]
    pub fn shown_by(mut self, input: &Value) -> Self {
        let text = input.to_string();
        self.input = Some(if text.len() <= MAX_INPUT_BYTES {
            input.clone()
        } else {
            let mut end = MAX_INPUT_BYTES;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let more = text.len() - end;
            Value::String(format!("{}… ({more} more bytes: max_input_bytes)", &text[..end]))
        });
        self
    }

    /// The same with places.
    #[must_use]
    pub fn at(mut self, pointers: impl IntoIterator<Item = String>) -> Self {
        self.pointers.extend(pointers);
        self
    }
}

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Finding", 5)?;
        fields.serialize_field("rule", self.rule.id)?;
        fields.serialize_field("severity", &self.rule.severity)?;
        fields.serialize_field("message", &self.message)?;
        match &self.input {
            Some(input) => fields.serialize_field("input", input)?,
            None => fields.skip_field("input")?,
        }
        if self.pointers.is_empty() {
            fields.skip_field("pointers")?;
        } else {
            fields.serialize_field("pointers", &self.pointers)?;
        }
        fields.end()
    }
}

/// A text of the server's, as a person can be shown it: in one line, not too long, nothing hidden.
pub(crate) fn told(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_TOLD_CHARS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    gate::visible_text::visible_line(&shown)
}
