//! The reasons why a tool is not served, with what to do about it.

use serde::Serialize;
use workbench::compare::{ChangeClass, ContractChange};

use crate::names;

/// A tool that is not served.
#[derive(Debug, Clone, Serialize)]
pub struct Rejection {
    /// The tool's own name, as far as it can be shown.
    pub tool: String,
    /// The name under which it would be served.
    pub served_as: String,
    /// The reason.
    pub reason: RejectionReason,
    /// The reason in a sentence.
    pub message: String,
    /// The next step.
    pub fix: String,
    /// The changes since it was pinned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ContractChange>,
}

/// The reason why a tool is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionReason {
    /// It is not a tool object, or its name is invalid.
    Malformed,
    /// The server lists two of that name.
    Duplicate,
    /// Another tool has the name that it would be served under.
    NameTaken,
    /// The operator does not allow it.
    NotAllowed,
    /// It is larger than a tool may be.
    TooLarge,
    /// It is not what was pinned.
    Changed,
    /// It is not in the lock, while others are.
    NotPinned,
    /// It has no description, or one that is too long.
    NoDescription,
    /// Its texts hide something, or tell a model what to do.
    SuspiciousText,
    /// Its input schema cannot be enforced.
    BadInputSchema,
    /// It can only be called as a task.
    TaskRequired,
    /// It has no output schema, and the policy requires one whatever the settings of the upstream say.
    OutputSchemaRequired,
    /// It has no output schema.
    Uncontracted,
    /// Its output schema cannot be enforced.
    BadOutputSchema,
}

impl RejectionReason {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            RejectionReason::Malformed => "malformed",
            RejectionReason::Duplicate => "duplicate",
            RejectionReason::NameTaken => "name_taken",
            RejectionReason::NotAllowed => "not_allowed",
            RejectionReason::TooLarge => "too_large",
            RejectionReason::Changed => "changed",
            RejectionReason::NotPinned => "not_pinned",
            RejectionReason::NoDescription => "no_description",
            RejectionReason::SuspiciousText => "suspicious_text",
            RejectionReason::BadInputSchema => "bad_input_schema",
            RejectionReason::TaskRequired => "task_required",
            RejectionReason::OutputSchemaRequired => "output_schema_required",
            RejectionReason::Uncontracted => "uncontracted",
            RejectionReason::BadOutputSchema => "bad_output_schema",
        }
    }

    /// The reason for callers: nothing in it is from the server.
    pub fn text(self) -> &'static str {
        match self {
            RejectionReason::Malformed => "it is not a valid MCP tool",
            RejectionReason::Duplicate => "the server lists more than one tool with this name",
            RejectionReason::NameTaken => "another tool has this name",
            RejectionReason::NotAllowed => "it is not on the allowlist",
            RejectionReason::TooLarge => "its description and schemas are too large",
            RejectionReason::Changed => {
                "it changed since it was pinned; a person has to accept the change first"
            }
            RejectionReason::NotPinned => "it is not pinned; a person has to accept it first",
            RejectionReason::NoDescription => "it has no usable description",
            RejectionReason::SuspiciousText => {
                "its texts are suspicious; a person has to read them first"
            }
            RejectionReason::BadInputSchema => "its input schema cannot be enforced",
            RejectionReason::TaskRequired => "it can only be called as a task",
            RejectionReason::OutputSchemaRequired | RejectionReason::Uncontracted => {
                "it has no output schema"
            }
            RejectionReason::BadOutputSchema => "its output schema cannot be enforced",
        }
    }

    /// The next step for several tools; that of one of them where nothing mends all at once.
    fn fix_of_all(self, upstream: &str) -> Option<String> {
        match self {
            RejectionReason::Uncontracted => {
                Some(format!("`toolgate upstream set {upstream} output=content`"))
            }
            RejectionReason::NotAllowed => {
                Some(format!("add them to `allowlist.{upstream}`, or set it to \"*\""))
            }
            RejectionReason::NotPinned => {
                Some(format!("accept them with `toolgate lock accept {upstream}`"))
            }
            RejectionReason::Changed => Some(format!(
                "review them with `toolgate lock diff {upstream}`, then accept them with `toolgate lock accept {upstream}`"
            )),
            _ => None,
        }
    }

    /// The next step.
    fn fix(self, upstream: &str, tool: &str) -> String {
        let overlay = format!("upstreams.{upstream}.tools.{tool}");
        match self {
            RejectionReason::Malformed | RejectionReason::Duplicate | RejectionReason::TooLarge => {
                "report it to the author of the server".into()
            }
            RejectionReason::TaskRequired => {
                "ask the author of the server to make tasks optional: tools of upstreams are not called as tasks".into()
            }
            RejectionReason::NameTaken => {
                format!("give the upstream `{upstream}` another id, or the other tool another name")
            }
            RejectionReason::NotAllowed => format!("add `{tool}` to `allowlist.{upstream}`"),
            RejectionReason::Changed => format!(
                "review it with `toolgate lock diff {upstream}.{tool}`, then accept it with `toolgate lock accept \
                 {upstream}.{tool}`"
            ),
            RejectionReason::NotPinned => {
                format!("accept it with `toolgate lock accept {upstream}.{tool}`")
            }
            RejectionReason::NoDescription => format!("set `{overlay}.description`"),
            RejectionReason::SuspiciousText => {
                format!("read the texts; if they are fine, set `{overlay}.accept_text: true`")
            }
            RejectionReason::BadInputSchema => format!("set `{overlay}.input_schema`"),
            RejectionReason::BadOutputSchema => format!("set `{overlay}.output_schema`"),
            RejectionReason::OutputSchemaRequired => {
                format!("infer a schema with `toolgate contracts infer {upstream}.{tool}`")
            }
            RejectionReason::Uncontracted => format!(
                "`toolgate upstream set {upstream} output=content`, or infer a schema with \
                 `toolgate contracts infer {upstream}.{tool}`"
            ),
        }
    }
}

/// Rejections of one server with the same reason and message.
#[derive(Debug, Clone, Serialize)]
pub struct RejectionGroup {
    pub reason: RejectionReason,
    /// The tools' own names.
    pub tools: Vec<String>,
    /// Which tools are rejected, and why.
    pub message: String,
    /// The next step, for all of them.
    pub fix: String,
}

/// The rejections of a server, grouped; the first tool of each group decides their order.
pub fn grouped(upstream: &str, rejected: &[Rejection]) -> Vec<RejectionGroup> {
    let mut groups: Vec<Vec<&Rejection>> = Vec::new();
    for one in rejected {
        let same = |group: &&mut Vec<&Rejection>| {
            group[0].reason == one.reason && group[0].message == one.message
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(one),
            None => groups.push(vec![one]),
        }
    }
    groups.into_iter().map(|group| RejectionGroup::of(upstream, &group)).collect()
}

impl RejectionGroup {
    fn of(upstream: &str, group: &[&Rejection]) -> Self {
        let Rejection { reason, message, .. } = group[0];
        let word = reason.word();
        let (message, fix) = match group {
            [one] => (format!("{upstream}.{}: {word}: {message}", one.tool), one.fix.clone()),
            all => (
                format!("{upstream}: {} tools: {word}: {message}", all.len()),
                reason.fix_of_all(upstream).unwrap_or_else(|| all[0].fix.clone()),
            ),
        };
        let tools = group.iter().map(|one| one.tool.clone()).collect();
        Self { reason: *reason, tools, message, fix }
    }
}

/// The longest text of a change in the message, in characters; `changes` has it in full.
const MAX_CHANGE_CHARS: usize = 200;
/// The longest name of a tool that is shown, in characters.
const MAX_NAME_CHARS: usize = names::MAX_TOOL_NAME;

impl Rejection {
    pub(super) fn new(
        upstream: &str,
        tool: &str,
        reason: RejectionReason,
        message: String,
    ) -> Self {
        let shown: String =
            tool.chars().take(MAX_NAME_CHARS).flat_map(char::escape_default).collect();
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
        Self::new(upstream, tool, RejectionReason::Malformed, message.to_owned())
    }

    pub(super) fn duplicate(upstream: &str, tool: &str) -> Self {
        let message = "the server lists more than one tool with this name".to_owned();
        Self::new(upstream, tool, RejectionReason::Duplicate, message)
    }

    pub(super) fn same_served(upstream: &str, tool: &str) -> Self {
        let message = "another tool of this server would be served under the same name".to_owned();
        let fix = "report it to the author of the server".to_owned();
        Self { fix, ..Self::new(upstream, tool, RejectionReason::NameTaken, message) }
    }

    /// A tool whose contract cannot be compiled.
    pub(crate) fn unusable(upstream: &str, tool: &str, error: &contract::SchemaError) -> Self {
        let message = format!("{}: {}", error.pointer, error.message);
        Self::new(upstream, tool, RejectionReason::BadInputSchema, message)
    }

    pub(super) fn because(mut self, changes: Vec<ContractChange>) -> Self {
        self.changes = changes;
        self
    }
}

/// Changes in a sentence: the gravest, and the number of others.
pub(super) fn describe_changes(changes: &[ContractChange]) -> String {
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
    let mut text: String = gravest.text.chars().take(MAX_CHANGE_CHARS).collect();
    if text.len() < gravest.text.len() {
        text.push('…');
    }
    format!("it changed since it was pinned ({class}): {} {text}{more}", gravest.part)
}
