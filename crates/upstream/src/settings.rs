//! The settings of upstreams. A block that was pasted from the `mcpServers` of another client is valid too.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use contract::{
    ApprovalRequirement, Contract, DeclaredError, Effects, LargeOutput, LimitOverrides,
    ProcessLimitOverrides, SandboxSettings,
};
use gate::EnforcementMode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::connection::ProtocolChoice;
use crate::{connection::ConnectionLimits, names};

/// An upstream MCP server: a program (`command`) or an address (`url`).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(clippy::struct_excessive_bools)] // Each is a setting of its own.
pub struct UpstreamSettings {
    /// The program, by name or path. `${NAME}` is replaced by an environment variable, or one of `toolgate.env` beside
    /// this file, here and in `args`, `env`, `cwd`, `url` and `headers`. A value of 8 bytes or more is `[redacted]` wherever words of the server are kept or shown.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Environment variables, in addition to the few that every program needs (`HOME`, `PATH`, …).
    pub env: BTreeMap<String, String>,
    /// The working directory; the folder of this file by default.
    pub cwd: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// HTTP headers of every request. Their values are `[redacted]` too.
    pub headers: BTreeMap<String, String>,
    /// The transport; follows from `command` or `url` if not set.
    #[serde(rename = "type")]
    pub transport: Option<TransportSetting>,
    /// PEM files of certificates that are trusted in addition to those of the machine.
    pub extra_ca: Vec<String>,
    /// `false` turns the upstream off.
    pub enabled: bool,
    /// True if the server is ready (`/readyz`) only while the upstream is connected, and one of its tools is served.
    pub required: bool,
    /// The protocol version.
    pub protocol: ProtocolChoice,
    /// When the program is started.
    pub start: StartMode,
    /// A lazily started program is stopped after this time without a call, in milliseconds; 0 keeps it running.
    pub idle_stop_ms: u64,
    /// Timeout for connecting and listing the tools, in milliseconds.
    #[schemars(range(min = 1))]
    pub connect_timeout_ms: u64,
    /// Timeout of a tool call, in milliseconds; `limits.timeout_ms` if not set.
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// The number of calls that run at once; more wait.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_concurrency: usize,
    /// The number of retries after a failed connection, for calls that are safe to repeat.
    #[schemars(range(max = 10))]
    pub retries: u32,
    /// Whether the server may ask the client during a call: its person (elicitation), its model (sampling), its folders
    /// (roots). What it asks has its id in front and nothing hidden; a model gets no context of other servers.
    pub questions: bool,
    /// The most tokens that a model may answer such a question with.
    #[schemars(range(min = 1))]
    pub max_question_tokens: u32,
    /// Timeout of an input request (elicitation, sampling, roots), in milliseconds. A waiting call counts for
    /// `max_concurrency`, of which waiting calls may take half. Where there is no room for one more, the oldest of the caller who has
    /// most ends.
    #[schemars(range(min = 1))]
    pub question_timeout_ms: u64,
    /// The number of failures in a row that opens the circuit breaker.
    #[schemars(range(min = 1))]
    pub breaker_failures: u32,
    /// The time for which the circuit breaker stays open, in milliseconds; then one call tries.
    #[schemars(range(min = 1))]
    pub breaker_open_ms: u64,
    /// The longest delay between two attempts to connect, in milliseconds.
    #[schemars(range(min = 1))]
    pub max_restart_delay_ms: u64,
    /// The interval at which its listings are read again, in milliseconds; 0 turns that off.
    pub refresh_interval_ms: u64,
    /// The largest message that it may send, in bytes.
    #[schemars(range(min = 1_024))]
    pub max_message_bytes: usize,
    /// The largest number of tools, prompts or resources that it may list.
    #[schemars(range(min = 1))]
    pub max_listed: usize,
    /// The largest number of pages of a listing.
    #[schemars(range(min = 1))]
    pub max_pages: usize,
    /// The largest listing, in bytes.
    #[schemars(range(min = 1_024))]
    pub max_listing_bytes: usize,
    /// The number of bytes of stderr that are kept.
    pub max_stderr_bytes: usize,
    /// Resource limits of each process of the program; none by default.
    pub process_limits: ProcessLimitOverrides,
    /// The files and the network that the program may reach.
    pub sandbox: SandboxSettings,
    /// The output of tools without an output schema.
    pub output: OutputFormat,
    /// The treatment of results that are larger than `max_output_bytes`.
    pub large_output: LargeOutput,
    /// The treatment of arguments that the input schema does not name.
    pub unknown_arguments: UnknownArguments,
    /// Whether the server's annotations about effects are trusted.
    pub annotations: AnnotationTrust,
    /// Whether every result must have `isError`. Most servers leave it out where it is false.
    pub require_is_error: bool,
    /// Whether a tool needs an output schema. The policy decides that.
    #[serde(skip)]
    pub output_schemas: SchemaRequirement,
    /// The way in which contracts are enforced.
    pub mode: EnforcementMode,
    /// The treatment of tools that differ from the lock.
    pub changes: ChangePolicy,
    /// Reading its resources.
    pub resources: MethodSettings,
    /// Getting its prompts.
    pub prompts: MethodSettings,
    /// Completing arguments of its prompts and templates. Where that needs approval, nothing is completed.
    pub completions: MethodSettings,
    /// Overlays for single tools, by their names on the server.
    pub tools: BTreeMap<String, Overlay>,
}

impl Default for UpstreamSettings {
    fn default() -> Self {
        Self {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            transport: None,
            extra_ca: Vec::new(),
            enabled: true,
            required: false,
            protocol: ProtocolChoice::Auto,
            start: StartMode::Eager,
            idle_stop_ms: 300_000,
            connect_timeout_ms: 30_000,
            timeout_ms: None,
            max_concurrency: 256,
            retries: 2,
            questions: false,
            max_question_tokens: 4_096,
            question_timeout_ms: 600_000,
            breaker_failures: 5,
            breaker_open_ms: 5_000,
            max_restart_delay_ms: 30_000,
            refresh_interval_ms: 300_000,
            max_message_bytes: 16 << 20,
            max_listed: 1_000,
            max_pages: 1_000,
            max_listing_bytes: 16 << 20,
            max_stderr_bytes: 65_536,
            process_limits: ProcessLimitOverrides::default(),
            sandbox: SandboxSettings::default(),
            output: OutputFormat::Declared,
            large_output: LargeOutput::Refuse,
            unknown_arguments: UnknownArguments::Refuse,
            annotations: AnnotationTrust::Claim,
            require_is_error: false,
            output_schemas: SchemaRequirement::default(),
            mode: EnforcementMode::Enforce,
            changes: ChangePolicy::Review,
            resources: MethodSettings::default(),
            prompts: MethodSettings::default(),
            completions: MethodSettings::default(),
            tools: BTreeMap::new(),
        }
    }
}

impl UpstreamSettings {
    /// The resource limits of its program. Servers live long and some reserve much more than they use, so that
    /// nothing is limited by default.
    pub fn resource_limits(&self) -> guard::process::ResourceLimits {
        let own = &self.process_limits;
        guard::process::ResourceLimits {
            max_memory_bytes: own.max_memory_bytes.unwrap_or(u64::MAX),
            max_cpu_seconds: own.max_cpu_seconds.unwrap_or(u64::MAX),
            max_file_bytes: own.max_file_bytes.unwrap_or(u64::MAX),
            max_open_files: own.max_open_files.unwrap_or(u64::MAX),
        }
    }

    pub fn connection_limits(&self) -> ConnectionLimits {
        let connect_timeout = Duration::from_millis(self.connect_timeout_ms);
        ConnectionLimits {
            connect_timeout,
            request_timeout: connect_timeout,
            max_message_bytes: self.max_message_bytes,
            stderr_bytes: self.max_stderr_bytes,
            max_listed: self.max_listed,
            max_pages: self.max_pages,
            max_listing_bytes: self.max_listing_bytes,
        }
    }

    /// Mistakes that the schema cannot express, each with its JSON pointer.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut say =
            |pointer: &str, message: &str| all.push((pointer.to_owned(), message.to_owned()));
        match (&self.command, &self.url) {
            (None, None) => say("", "an upstream needs a `command` or a `url`"),
            (Some(_), Some(_)) => {
                say("", "an upstream cannot have both a `command` and a `url`; remove one");
            }
            (Some(command), None) => {
                if command.trim().is_empty() {
                    say("/command", "the command is empty");
                }
                if !matches!(self.transport, None | Some(TransportSetting::Stdio)) {
                    say("/type", "a `command` needs the type `stdio`");
                }
                if !self.headers.is_empty() {
                    say("/headers", "`headers` need a `url`; use `env` with a `command`");
                }
            }
            (None, Some(url)) => {
                let address = guard::net::Url::parse(url).ok();
                let is_http = |url: &guard::net::Url| {
                    matches!(url.scheme(), "http" | "https") && url.host().is_some()
                };
                // With variables it cannot be checked before they are replaced.
                if !url.contains("${") && !address.as_ref().is_some_and(is_http) {
                    say("/url", "this is not an http or https URL");
                }
                if self.transport == Some(TransportSetting::Stdio) {
                    say("/type", "a `url` needs the type `http` or `sse`");
                }
                if !self.args.is_empty() || !self.env.is_empty() {
                    say("", "`args` and `env` need a `command`; use `headers` with a `url`");
                }
                if self.start == StartMode::Lazy {
                    say("/start", "`start` needs a `command`");
                }
                if !self.sandbox.is_default() {
                    say("/sandbox", "`sandbox` needs a `command`");
                }
            }
        }
        if self.required && !self.enabled {
            say("/required", "an upstream that is turned off (`enabled`) cannot be required");
        } else if self.required && self.start == StartMode::Lazy {
            say(
                "/required",
                "`required` needs `start: eager`: a lazy program waits for its first call",
            );
        }
        for (name, overlay) in &self.tools {
            let reserved = |name: &String| {
                name.contains(names::SEPARATOR) || contract::lint::RESERVED_NAMES.contains(&&**name)
            };
            if overlay.serve_as.as_ref().is_some_and(reserved) {
                let pointer = format!("/tools/{name}/serve_as");
                say(&pointer, "this name is reserved, or contains `__`");
            }
            if overlay.output == Some(OutputFormat::Json) && overlay.output_schema.is_none() {
                let pointer = format!("/tools/{name}/output");
                say(&pointer, "`json` needs an `output_schema`");
            }
            let schemas = [
                ("input_schema", &overlay.input_schema),
                ("output_schema", &overlay.output_schema),
            ];
            for (key, schema) in schemas {
                if let Some(Err(error)) = schema.as_ref().map(contract::Schema::compile_foreign) {
                    let pointer = format!("/tools/{name}/{key}{}", error.pointer);
                    say(&pointer, &format!("the schema {error}"));
                }
            }
        }
        if self.output == OutputFormat::Json {
            say("/output", "`json` needs an output schema: set it for single tools");
        }
        all
    }
}

/// The transport to a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TransportSetting {
    /// The stdin and stdout of a program.
    Stdio,
    /// Streamable HTTP; HTTP+SSE if the server refuses it.
    Http,
    /// Streamable HTTP.
    #[serde(alias = "streamableHttp")]
    StreamableHttp,
    /// HTTP+SSE of 2024-11-05 (deprecated).
    Sse,
}

/// The time at which a program is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StartMode {
    /// With the server.
    #[default]
    Eager,
    /// By the first call. Until then its tools come from the lock.
    Lazy,
}

/// The settings of a method that is no tool call.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MethodSettings {
    /// Its effects: `control` if not set, or `read` with `annotations: trust`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Whether a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRequirement>,
    /// Limits of its calls. `max_output_bytes` also bounds the response while it is received.
    #[serde(skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
}

/// The part of a result that is the output of the tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// `structuredContent`, as the output schema declares it. A tool without an output schema is not served.
    #[default]
    Declared,
    /// All texts: `{ "text": … }`.
    Text,
    /// The blocks of MCP content: texts, images, audio, resources.
    Content,
    /// The text as JSON, checked against the `output_schema` of the overlay.
    Json,
}

/// Whether a tool needs an output schema.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SchemaRequirement {
    /// Only where `output` says nothing else.
    #[default]
    AsDeclared,
    /// Always: its own, or one of an overlay.
    Always,
}

/// The treatment of arguments that an input schema does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownArguments {
    /// The call is refused, unless the schema allows additional properties.
    #[default]
    Refuse,
    /// They are sent unchanged, as JSON Schema defines it.
    Allow,
}

/// Trust in the annotations of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnnotationTrust {
    /// Not trusted: a tool counts as one with effects unless an overlay says otherwise.
    #[default]
    Claim,
    /// Trusted: `readOnlyHint` means that nothing is changed.
    Trust,
}

/// The treatment of a tool that differs from the lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ChangePolicy {
    /// Not served until `toolgate lock accept`. Without a lock everything is served.
    #[default]
    Review,
    /// Not served, and `toolgate lock accept` is refused. Only pinned tools are served.
    Freeze,
    /// Served if the change is compatible for callers; otherwise as `review`.
    AcceptCompatible,
}

/// An overlay: the operator's additions to a tool of an upstream. A value that is set here replaces the server's.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overlay {
    /// The tool's name on the server, in an overlay file; the file name by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name under which it is served, in place of `id__tool`. Only in the settings, not in overlay files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"))]
    pub serve_as: Option<String>,
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// A description of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The effects of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Whether a person must approve each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalRequirement>,
    /// Whether a repeated call has no further effect, so that it may be retried after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// JSON Schema of the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_schema")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_schema")]
    pub output_schema: Option<Value>,
    /// The part of a result that is the output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<OutputFormat>,
    /// Error codes of the tool, in addition to `tool_error`. The server names the code in `_meta` as `toolgate/error`,
    /// as every Toolgate does.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<DeclaredError>,
    /// Limits of its calls.
    #[serde(skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
    /// The treatment of results that are larger than `max_output_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large_output: Option<LargeOutput>,
    /// The way in which its contract is enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<EnforcementMode>,
    /// `true` accepts texts that look suspicious (hidden characters, instructions to a model): a person has read
    /// them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_text: bool,
    /// The whole contract, whatever the server lists: for a server that is another Toolgate.
    #[serde(skip)]
    pub whole: Option<Arc<Contract>>,
}

impl Overlay {
    /// The name under which the operator wants the tool to be served.
    pub fn chosen_name(&self) -> Option<&str> {
        self.whole.as_ref().map(|contract| contract.name.as_str()).or(self.serve_as.as_deref())
    }
}

fn any_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "description": "A JSON Schema." })
}

/// The tools of an upstream that may be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AllowedTools {
    /// All of them: `"*"`.
    All(Star),
    /// These.
    These(Vec<String>),
}

/// The value `"*"`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Star {
    /// `*`
    #[serde(rename = "*")]
    Star,
}

/// The allowlist by upstream. Nothing of an upstream that it does not name may be called.
pub type Allowlist = BTreeMap<String, AllowedTools>;

/// True if the operator allows everything of an upstream.
pub fn allows_all(allowlist: Option<&Allowlist>, upstream: &str) -> bool {
    allowlist.is_none_or(|list| matches!(list.get(upstream), Some(AllowedTools::All(Star::Star))))
}

/// True if the operator allows a tool.
pub fn allows(allowlist: Option<&Allowlist>, upstream: &str, tool: &str) -> bool {
    match allowlist {
        None => true,
        Some(list) => list.get(upstream).is_some_and(|allowed| match allowed {
            AllowedTools::All(Star::Star) => true,
            AllowedTools::These(tools) => tools.iter().any(|one| one == tool),
        }),
    }
}
