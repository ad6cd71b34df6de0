//! Why a tool is not served, and what to do about it.

use serde::Serialize;
use workbench::compare::{Change, ChangeClass};

use crate::names;

/// A tool that is not served.
#[derive(Debug, Clone, Serialize)]
pub struct Rejected {
    /// The tool's own name, as far as it can be shown.
    pub tool: String,
    /// The name under which it would be served.
    pub served_as: String,
    /// Why, in a word.
    pub reason: Reason,
    /// Why, in a sentence.
    pub message: String,
    /// What to do about it.
    pub fix: String,
    /// What changed since it was pinned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
}

/// Why a tool is not served, in a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is no tool object, or its name is none.
    Malformed,
    /// The server lists two of that name.
    Duplicate,
    /// Another tool bears the name that it would be served under.
    NameTaken,
    /// The operator does not allow it.
    NotAllowed,
    /// It is larger than a tool may be.
    TooLarge,
    /// It is not what was pinned.
    Changed,
    /// It was not there when the others were pinned.
    NotPinned,
    /// It has no description, or one that is too long.
    NoDescription,
    /// Its texts hide something, or tell a model what to do.
    SuspiciousText,
    /// Its input schema cannot be enforced.
    BadInputSchema,
    /// It does not say what it returns.
    Uncontracted,
    /// Its output schema cannot be enforced.
    BadOutputSchema,
}

impl Reason {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Malformed => "malformed",
            Reason::Duplicate => "duplicate",
            Reason::NameTaken => "name_taken",
            Reason::NotAllowed => "not_allowed",
            Reason::TooLarge => "too_large",
            Reason::Changed => "changed",
            Reason::NotPinned => "not_pinned",
            Reason::NoDescription => "no_description",
            Reason::SuspiciousText => "suspicious_text",
            Reason::BadInputSchema => "bad_input_schema",
            Reason::Uncontracted => "uncontracted",
            Reason::BadOutputSchema => "bad_output_schema",
        }
    }

    /// Why, for whoever calls the tool: nothing in it is from the server.
    pub fn told(self) -> &'static str {
        match self {
            Reason::Malformed => "it is no tool as MCP has it",
            Reason::Duplicate => "the server lists more than one tool of this name",
            Reason::NameTaken => "another tool has its name",
            Reason::NotAllowed => "it is not on the allowlist",
            Reason::TooLarge => "its description and schemas are too large",
            Reason::Changed => {
                "it changed since it was pinned, and a person has to look at that first"
            }
            Reason::NotPinned => "it is not pinned, and a person has to look at it first",
            Reason::NoDescription => "it has no description that can be used",
            Reason::SuspiciousText => {
                "its texts are suspicious, and a person has to look at them first"
            }
            Reason::BadInputSchema => "its input schema cannot be enforced",
            Reason::Uncontracted => "it has no output schema",
            Reason::BadOutputSchema => "its output schema cannot be enforced",
        }
    }

    /// What to do about it.
    fn fix(self, upstream: &str, tool: &str) -> String {
        let overlay = format!("upstreams.{upstream}.tools.{tool}");
        match self {
            Reason::Malformed | Reason::Duplicate | Reason::TooLarge => {
                "tell whoever wrote the server".into()
            }
            Reason::NameTaken => {
                format!("give the upstream `{upstream}` another id, or the other tool another name")
            }
            Reason::NotAllowed => format!("add `{tool}` to `allowlist.{upstream}`"),
            Reason::Changed => format!(
                "look at it with `toolgate lock diff {upstream}.{tool}`, and take it with `toolgate lock \
                 accept {upstream}.{tool}`"
            ),
            Reason::NotPinned => format!("take it with `toolgate lock accept {upstream}.{tool}`"),
            Reason::NoDescription => format!("write one: `{overlay}.description`"),
            Reason::SuspiciousText => {
                format!("read the texts; if they are fine, set `{overlay}.accept_text: true`")
            }
            Reason::BadInputSchema => format!("write a better one: `{overlay}.input_schema`"),
            Reason::BadOutputSchema => format!("write a better one: `{overlay}.output_schema`"),
            Reason::Uncontracted => format!(
                "if it only returns text, set `upstreams.{upstream}.output: text`; otherwise propose a \
                 schema with `toolgate contracts infer {upstream}.{tool}`"
            ),
        }
    }
}

/// How much of a change is told in the sentence, in characters; all of it is beside it.
const MAX_TOLD: usize = 200;
/// The longest name of a tool that is shown, in characters.
const MAX_SHOWN: usize = names::MAX_TOOL_NAME;

impl Rejected {
    pub(super) fn new(upstream: &str, tool: &str, reason: Reason, message: String) -> Self {
        let shown: String = tool.chars().take(MAX_SHOWN).flat_map(char::escape_default).collect();
        Self {
            served_as: names::served(upstream, tool),
            fix: reason.fix(upstream, &shown),
            tool: shown,
            reason,
            message,
            changes: Vec::new(),
        }
    }

    pub(super) fn malformed(upstream: &str, tool: &str, message: &str) -> Self {
        Self::new(upstream, tool, Reason::Malformed, message.to_owned())
    }

    pub(super) fn duplicate(upstream: &str, tool: &str) -> Self {
        let message = "the server lists more than one tool of this name".to_owned();
        Self::new(upstream, tool, Reason::Duplicate, message)
    }

    pub(super) fn same_served(upstream: &str, tool: &str) -> Self {
        let message = "another tool of this server would be served under the same name".to_owned();
        let fix = "tell whoever wrote the server".to_owned();
        Self { fix, ..Self::new(upstream, tool, Reason::NameTaken, message) }
    }

    /// A tool whose contract looked fine and cannot be used.
    pub(crate) fn unusable(upstream: &str, tool: &str, error: &contract::SchemaError) -> Self {
        let message = format!("{}: {}", error.pointer, error.message);
        Self::new(upstream, tool, Reason::BadInputSchema, message)
    }

    pub(super) fn because(mut self, changes: Vec<Change>) -> Self {
        self.changes = changes;
        self
    }
}

/// Changes in a sentence: the gravest first, and how many there are.
pub(super) fn in_words(changes: &[Change]) -> String {
    let gravest = changes.iter().max_by_key(|change| change.class);
    let Some(gravest) = gravest else { return "it changed since it was pinned".into() };
    let class = match gravest.class {
        ChangeClass::Wording => "in texts that models read",
        class => class.word(),
    };
    let more = match changes.len() {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let mut text: String = gravest.text.chars().take(MAX_TOLD).collect();
    if text.len() < gravest.text.len() {
        text.push('…');
    }
    format!("it changed since it was pinned ({class}): {} {text}{more}", gravest.part)
}
