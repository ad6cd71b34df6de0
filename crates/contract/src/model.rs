//! The contract of one tool, field by field as it stands in its YAML file.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    CalendarDate, Violation, codes,
    limits::{LimitOverrides, ProcessLimitOverrides},
    sandbox::SandboxSettings,
};

/// The contract of a tool: its promises to callers.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contract {
    /// The name by which the tool is called. A shipped name never changes.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{1,64}$"))]
    pub name: String,
    /// A short name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description of the tool, for the models and people who choose it.
    pub description: String,
    /// The version of this contract.
    #[schemars(length(min = 1, max = 64))]
    pub version: String,
    /// `active` tools are served; a `planned` one is neither listed nor callable.
    #[serde(default)]
    pub status: ContractStatus,
    /// How the tool is reached, for readers of an exported contract. Nothing depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// The MCP server that has the tool, for readers of an exported contract. Nothing depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub endpoint: Option<String>,
    /// The stability of the contract: `stable`, `experimental` or `deprecated`.
    pub stability: Stability,
    /// The day from which a `deprecated` tool is deprecated, as in `2026-01-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated_since: Option<CalendarDate>,
    /// The tool to call instead of a `deprecated` one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<String>,
    /// The last day on which a `deprecated` tool is sure to be served, as in `2026-12-31`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_after: Option<CalendarDate>,
    /// Words to filter by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The toolset that the tool is served with.
    #[schemars(regex(pattern = r"^[A-Za-z0-9_.-]{1,64}$"))]
    pub toolset: String,
    /// True if this is the default tool of its toolset: a call that names no `command` runs it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub toolset_default: bool,
    /// The effects of a call, from `none` to `control`.
    pub effects: Effects,
    /// True if nobody who is trusted says what the effects are; then `effects` is the worst. Never in a file.
    #[serde(skip)]
    pub effects_unknown: bool,
    /// `required` if a person must approve each call.
    #[serde(default)]
    pub approval: ApprovalRequirement,
    /// When an MCP client that supports tasks gets a task instead of the result.
    #[serde(default, skip_serializing_if = "is_default")]
    pub tasks: TaskSupport,
    /// The form of the result for MCP clients.
    #[serde(default, skip_serializing_if = "is_default")]
    pub presentation: Presentation,
    /// Pictures for clients that show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// JSON Schema (2020-12) of the arguments: a closed object.
    #[schemars(schema_with = "any_schema")]
    pub input_schema: Value,
    /// JSON Schema (2020-12) of the result.
    #[schemars(schema_with = "any_schema")]
    pub output_schema: Value,
    /// The errors that the tool may answer with, beside the standard ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<DeclaredError>,
    /// This tool's own defaults where they differ from the server's.
    #[serde(default, skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
    /// The handling of a result that is larger than `max_output_bytes`.
    #[serde(default, skip_serializing_if = "is_default")]
    pub large_output: LargeOutput,
    /// Limits of the tool's process that differ from the server's settings.
    #[serde(default, skip_serializing_if = "ProcessLimitOverrides::is_empty")]
    pub process_limits: ProcessLimitOverrides,
    /// Calls that show how the tool behaves; every one is run as a test.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Example>,
    /// For a user's tool: the program and its arguments. `{contract_dir}` stands for the
    /// folder of the contract file, `{NAME}` for an argument of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub run: Option<Vec<String>>,
    /// The environment of the program: names to pass on, or `NAME=value`, in which `{NAME}` stands for an argument of the
    /// call. Nothing else is set.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub env: Vec<String>,
    /// The text on the program's stdin, in which `{NAME}` stands for an argument of the call. Without it a program
    /// whose `run` and `env` have no arguments in them gets all arguments as JSON, and any other gets nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stdin: Option<String>,
    /// What the program prints: its result as `json`, or the `text` of it. With `text` the result is `{ "text": … }`,
    /// and `output_schema` may be left out.
    #[serde(default, skip_serializing_if = "is_default")]
    pub output: StdoutForm,
    /// The files and the network that the program may reach, beside its own folder. Relative paths start at the folder of
    /// the contract file.
    #[serde(default, skip_serializing_if = "SandboxSettings::is_default")]
    pub sandbox: SandboxSettings,
    /// True if the journal may record the argument values, not only their hash.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub journal_values: bool,
}

/// The fields that are no part of the promise: how the tool is run, and notes for readers.
const NOT_PROMISED: [&str; 9] = [
    "run",
    "env",
    "stdin",
    "output",
    "sandbox",
    "process_limits",
    "journal_values",
    "transport",
    "endpoint",
];

impl Contract {
    /// The effects for people: a guess is not shown as a fact.
    pub fn effects_text(&self) -> &'static str {
        if self.effects_unknown { "unknown (counts as changing)" } else { self.effects.word() }
    }

    /// The contract as a JSON value with its fields in the order of the model.
    pub fn to_value(&self) -> Value {
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// SHA-256 of the canonical form, in hexadecimal: equal exactly when the promise is.
    /// The way the tool is run is no part of the promise, and its environment may be secret.
    pub fn sha256(&self) -> String {
        let mut promise = self.to_value();
        if let Value::Object(fields) = &mut promise {
            for private in NOT_PROMISED {
                fields.remove(private);
            }
        }
        crate::canonical::sha256(&promise)
    }

    /// HTTP status and description of a code that this contract declares.
    pub fn declared(&self, code: &str) -> Option<&DeclaredError> {
        self.errors.iter().find(|error| error.code == code)
    }

    /// The code and HTTP status for arguments that do not match.
    pub fn input_error(&self) -> (&str, u16) {
        self.input_error_of(&[])
    }

    /// The code and HTTP status for exactly these violations: the code of one argument, if there
    /// is one, before the word for all of them.
    pub fn input_error_of(&self, violations: &[Violation]) -> (&str, u16) {
        let own = self.errors.iter().filter(|error| error.replaces.is_some());
        let (of_one, of_all): (Vec<_>, Vec<_>) = own.partition(|error| error.argument.is_some());
        let meant = of_one.into_iter().find(|error| {
            let argument = error.argument.as_deref().unwrap_or_default();
            violations.iter().any(|violation| violation.is_of_argument(argument))
        });
        match meant.or(of_all.first().copied()) {
            Some(own) => (&own.code, own.http_status),
            None => (codes::INVALID_INPUT.code, codes::INVALID_INPUT.http_status),
        }
    }

    /// True if this code means that the arguments do not match.
    pub fn is_input_error(&self, code: &str) -> bool {
        let of_one = |error: &DeclaredError| error.argument.is_some() && error.replaces.is_some();
        code == self.input_error().0
            || self.errors.iter().any(|error| error.code == code && of_one(error))
    }

    /// The examples that show a call which succeeds: those that are published.
    pub fn good_examples(&self) -> impl Iterator<Item = &Example> {
        self.examples.iter().filter(|example| example.is_good())
    }
}

/// The status of a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ContractStatus {
    /// Listed and callable.
    #[default]
    Active,
    /// Written down, neither listed nor callable.
    Planned,
}

/// The stability of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stability {
    /// Supported, changes are backward compatible.
    Stable,
    /// For evaluation; may change.
    Experimental,
    /// Kept for compatibility; will be removed.
    Deprecated,
}

impl Stability {
    /// Every value, in the order in which they are documented.
    pub const ALL: [Stability; 3] =
        [Stability::Stable, Stability::Experimental, Stability::Deprecated];

    /// The word in contracts and in the `stability` filter.
    pub fn word(self) -> &'static str {
        match self {
            Stability::Stable => "stable",
            Stability::Experimental => "experimental",
            Stability::Deprecated => "deprecated",
        }
    }
}

/// The effects of a tool, from none to control; each is worse than those before it.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Effects {
    /// Computes from its arguments alone.
    None,
    /// Looks at the world and leaves it as it is.
    Read,
    /// Adds to something and never changes what was there.
    Append,
    /// Creates, changes or deletes.
    Write,
    /// Starts, stops or steers something.
    Control,
}

impl Effects {
    /// The word in contracts.
    pub fn word(self) -> &'static str {
        match self {
            Effects::None => "none",
            Effects::Read => "read",
            Effects::Append => "append",
            Effects::Write => "write",
            Effects::Control => "control",
        }
    }

    /// True if a call can change anything outside the tool.
    pub fn changes_the_world(self) -> bool {
        matches!(self, Effects::Append | Effects::Write | Effects::Control)
    }
}

/// `required` if a person must approve each call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalRequirement {
    /// Calls run at once.
    #[default]
    Never,
    /// Every call waits for a person.
    Required,
}

/// When an MCP client that supports tasks gets a task instead of the result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TaskSupport {
    /// When the call takes long.
    #[default]
    Auto,
    /// Never: the client waits.
    Never,
    /// At once. Other clients wait for the result.
    Always,
    /// At once. Other clients are refused.
    Required,
}

/// The handling of a result that is larger than `max_output_bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LargeOutput {
    /// It is refused and quarantined.
    #[default]
    Refuse,
    /// Up to `max_artifact_bytes` it is kept as an artifact of the call, and the caller gets
    /// `{ "artifact": { name, path, mime_type, bytes } }` in its place.
    Artifact,
}

/// The form of a result for MCP clients.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Presentation {
    /// As structured content, and the same as text.
    #[default]
    Json,
    /// The result is `{ "text": … }`. The client gets the text as it is, and the result as structured content.
    Text,
    /// The result is `{ "content": […] }` of MCP content blocks (text, images, audio,
    /// resources), and the client gets these blocks.
    Content,
}

/// What a program prints on stdout.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StdoutForm {
    /// Its result as JSON.
    #[default]
    Json,
    /// A text: the result is `{ "text": … }`.
    Text,
}

/// A picture of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Icon {
    /// An `https:` or a `data:` URI.
    #[schemars(regex(pattern = r"^(https://|data:image/)"))]
    pub src: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its sizes, as in `48x48`, or `any`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sizes: Vec<String>,
    /// The background that it is made for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
}

/// The background that an icon is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// A light one.
    Light,
    /// A dark one.
    Dark,
}

/// An error that a tool may answer with.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeclaredError {
    /// The code that programs branch on.
    #[schemars(regex(pattern = r"^[a-z][a-z0-9_]{0,63}$"))]
    pub code: String,
    /// The HTTP status of an answer with this code.
    #[schemars(range(min = 400, max = 599))]
    pub http_status: u16,
    /// The standard error that this one stands for: callers of this tool get it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replaced>,
    /// The argument that has to be wrong for that; any where this is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub argument: Option<String>,
    /// When it happens and what to do about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A standard error that a contract may have a word of its own for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Replaced {
    /// The arguments do not match the contract.
    InvalidInput,
}

/// A call that shows how the tool behaves. With `output` (or neither) it succeeds, with
/// `error` it is refused with that code, with `bad_output` it shows an answer that the
/// gate must stop.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Example {
    /// A title.
    pub title: String,
    /// The files in the tool's folder before the call, by path, for built-in tools that work
    /// on files.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// The arguments.
    pub input: Map<String, Value>,
    /// The result that these arguments yield.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    pub output: Option<Value>,
    /// The code of the error that these arguments yield.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// An answer outside the contract: a provider that gives it is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_value")]
    pub bad_output: Option<Value>,
    /// A word to the reader.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notes: Option<String>,
}

impl Example {
    /// True if the example shows a call that succeeds.
    pub fn is_good(&self) -> bool {
        self.error.is_none() && self.bad_output.is_none()
    }
}

/// True for a default value, which is not written.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A JSON Schema is an object here: `true` and `false` promise nothing worth a contract.
fn any_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "description": "A JSON Schema (2020-12)." })
}

fn any_value(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "description": "Any JSON value." })
}
