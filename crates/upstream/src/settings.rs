//! The settings of upstream servers, as they stand in the settings file. A block that was pasted from
//! the `mcpServers` of another client is one too.

use std::{collections::BTreeMap, sync::Arc};

use contract::{
    Approval, Contract, DeclaredError, Effects, LargeOutput, LimitOverrides, ProcessLimitOverrides,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::connection::Protocol;
use crate::names;

/// An upstream server: a program that is started (`command`), or an address (`url`).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Upstream {
    /// The program, by name or path. `${NAME}` stands for a variable of our environment, here and in
    /// `args`, `env`, `cwd`, `url` and `headers`.
    pub command: Option<String>,
    /// Its arguments.
    pub args: Vec<String>,
    /// Its environment, beside the few variables that every program needs (`HOME`, `PATH`, …).
    pub env: BTreeMap<String, String>,
    /// The folder that it starts in; the folder of this file by default.
    pub cwd: Option<String>,
    /// The address.
    pub url: Option<String>,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// How it is spoken to; told from `command` and `url` where it is not set.
    #[serde(rename = "type")]
    pub transport: Option<Transport>,
    /// Files of certificates (PEM) that are trusted beside those of the machine.
    pub extra_ca: Vec<String>,
    /// Whether it is used at all.
    pub enabled: bool,
    /// The revision of the protocol.
    pub protocol: Protocol,
    /// When a program is started.
    pub start: Start,
    /// After how long without a call a program that is started lazily is stopped, in milliseconds; 0
    /// keeps it.
    pub idle_stop_ms: u64,
    /// How long it may take to connect and to list its tools, in milliseconds.
    #[schemars(range(min = 1))]
    pub connect_timeout_ms: u64,
    /// How long a call of its tools may take, in milliseconds; `limits.timeout_ms` where it is not set.
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How many calls it gets at once; more wait.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_concurrency: usize,
    /// How often a call that is safe to repeat is made again after the connection failed.
    #[schemars(range(max = 10))]
    pub retries: u32,
    /// How long a question of its may wait for an answer, in milliseconds. An open call holds its place
    /// among `max_concurrency` as long.
    #[schemars(range(min = 1))]
    pub question_timeout_ms: u64,
    /// After how many failures of the connection in a row nothing is sent for a while.
    #[schemars(range(min = 1))]
    pub breaker_failures: u32,
    /// For how long, in milliseconds; then one call tries.
    #[schemars(range(min = 1))]
    pub breaker_open_ms: u64,
    /// The longest pause before a server that went away is tried again, in milliseconds.
    #[schemars(range(min = 1))]
    pub max_restart_delay_ms: u64,
    /// How often its listings are read again, in milliseconds; 0 is never.
    pub refresh_interval_ms: u64,
    /// The largest message that is read from it, in bytes.
    #[schemars(range(min = 1_024))]
    pub max_message_bytes: usize,
    /// How many tools, prompts or resources it may list.
    #[schemars(range(min = 1))]
    pub max_listed: usize,
    /// How many pages one of its listings may have.
    #[schemars(range(min = 1))]
    pub max_pages: usize,
    /// How large one of its listings may be, in bytes.
    #[schemars(range(min = 1_024))]
    pub max_listing_bytes: usize,
    /// How many bytes of what a program prints on stderr are kept.
    pub max_stderr_bytes: usize,
    /// What each process of a program may use; nothing is limited where nothing is set.
    pub process_limits: ProcessLimitOverrides,
    /// Which files a program may touch; any that we may where it is not set.
    pub sandbox: Option<Sandbox>,
    /// What a tool without an output schema is taken to return.
    pub output: Output,
    /// What becomes of a result that is larger than `max_output_bytes`.
    pub large_output: LargeOutput,
    /// What becomes of arguments that an input schema does not name.
    pub unknown_arguments: UnknownArguments,
    /// Whether what a server says of its tools' effects is believed.
    pub annotations: Annotations,
    /// Whether every result must say `isError`, as the strictest hosts want it. Most servers leave it
    /// out where it is false.
    pub require_is_error: bool,
    /// How contracts are enforced.
    pub mode: Mode,
    /// What becomes of a tool that is not as it was pinned.
    pub changes: Changes,
    /// What is to be added to single tools, by the server's own names for them.
    pub tools: BTreeMap<String, Overlay>,
}

impl Default for Upstream {
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
            protocol: Protocol::Auto,
            start: Start::Eager,
            idle_stop_ms: 300_000,
            connect_timeout_ms: 30_000,
            timeout_ms: None,
            max_concurrency: 256,
            retries: 2,
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
            sandbox: None,
            output: Output::Declared,
            large_output: LargeOutput::Refuse,
            unknown_arguments: UnknownArguments::Refuse,
            annotations: Annotations::Claim,
            require_is_error: false,
            mode: Mode::Enforce,
            changes: Changes::Review,
            tools: BTreeMap::new(),
        }
    }
}

impl Upstream {
    /// What each process of its program may use. Servers live long and some reserve much more than
    /// they take, so that nothing is limited that is not set.
    pub fn resource_limits(&self) -> guard::process::ResourceLimits {
        let own = &self.process_limits;
        guard::process::ResourceLimits {
            max_memory_bytes: own.max_memory_bytes.unwrap_or(u64::MAX),
            max_cpu_seconds: own.max_cpu_seconds.unwrap_or(u64::MAX),
            max_file_bytes: own.max_file_bytes.unwrap_or(u64::MAX),
            max_open_files: own.max_open_files.unwrap_or(u64::MAX),
        }
    }

    /// What the schema cannot see: the place of each mistake, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let mut all = Vec::new();
        let mut say = |place: &str, words: &str| all.push((place.to_owned(), words.to_owned()));
        match (&self.command, &self.url) {
            (None, None) => say("", "has neither a `command` nor a `url`"),
            (Some(_), Some(_)) => {
                say("", "has both a `command` and a `url`; it can be one of them");
            }
            (Some(command), None) => {
                if command.trim().is_empty() {
                    say("/command", "it is empty");
                }
                if !matches!(self.transport, None | Some(Transport::Stdio)) {
                    say("/type", "a `command` is spoken to by `stdio`");
                }
                if !self.headers.is_empty() {
                    say("/headers", "a `command` has no headers; use `env`");
                }
            }
            (None, Some(url)) => {
                let address = guard::net::Url::parse(url).ok();
                let is_http = |url: &guard::net::Url| {
                    matches!(url.scheme(), "http" | "https") && url.host().is_some()
                };
                // With variables in it nobody can tell until they are filled in.
                if !url.contains("${") && !address.as_ref().is_some_and(is_http) {
                    say("/url", "this is no http or https address");
                }
                if self.transport == Some(Transport::Stdio) {
                    say("/type", "a `url` is spoken to by `http` or `sse`");
                }
                if !self.args.is_empty() || !self.env.is_empty() {
                    say("", "a `url` has no `args` and no `env`; use `headers`");
                }
                if self.start == Start::Lazy {
                    say("/start", "only a `command` is started");
                }
                if self.sandbox.is_some() {
                    say("/sandbox", "only a `command` can be kept in a sandbox");
                }
            }
        }
        for (name, overlay) in &self.tools {
            let reserved = |name: &String| {
                name.contains(names::BETWEEN) || contract::lint::RESERVED_NAMES.contains(&&**name)
            };
            if overlay.serve_as.as_ref().is_some_and(reserved) {
                let place = format!("/tools/{name}/serve_as");
                say(&place, "this name is kept for others: it is reserved, or has `__` in it");
            }
            if overlay.output == Some(Output::Json) && overlay.output_schema.is_none() {
                let place = format!("/tools/{name}/output");
                say(&place, "`json` wants an `output_schema` beside it");
            }
        }
        for (name, overlay) in &self.tools {
            let schemas = [
                ("input_schema", &overlay.input_schema),
                ("output_schema", &overlay.output_schema),
            ];
            for (key, schema) in schemas {
                if let Some(Err(error)) = schema.as_ref().map(contract::Schema::compile_foreign) {
                    let place = format!("/tools/{name}/{key}{}", error.pointer);
                    say(&place, &format!("the schema {error}"));
                }
            }
        }
        if self.output == Output::Json {
            say("/output", "`json` wants an output schema, so it is set for single tools");
        }
        all
    }
}

/// How a server is spoken to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Through the pipes of a program.
    Stdio,
    /// Streamable HTTP; where a server refuses that, HTTP with SSE.
    Http,
    /// Streamable HTTP.
    #[serde(alias = "streamableHttp")]
    StreamableHttp,
    /// HTTP with SSE, as of 2024-11-05.
    Sse,
}

/// When a program is started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// With the server.
    #[default]
    Eager,
    /// By the first call. What it offers until then is what the lock says.
    Lazy,
}

/// Which files a program may touch.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Sandbox {
    /// Folders and files that it may read.
    pub read: Vec<String>,
    /// Folders and files that it may change.
    pub write: Vec<String>,
    /// Whether the program is started where the kernel cannot enforce this.
    pub optional: bool,
}

/// What a tool without an output schema is taken to return.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// Nothing: only what has an output schema is served.
    #[default]
    Declared,
    /// Text alone: `{ "text": … }`.
    Text,
    /// Blocks of MCP content: texts, images, audio, resources.
    Content,
    /// One text that is JSON, and fits the `output_schema` of its overlay.
    Json,
}

/// What becomes of arguments that an input schema does not name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownArguments {
    /// The call is refused, unless the schema says that there may be more.
    #[default]
    Refuse,
    /// They are sent as they are, as JSON Schema has it.
    Allow,
}

/// Whether what a server says of its tools' effects is believed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Annotations {
    /// It is a claim: a tool is taken to change things until an overlay says otherwise.
    #[default]
    Claim,
    /// It is believed: `readOnlyHint` means that nothing is changed.
    Trust,
}

/// What becomes of a tool that is not as it was pinned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Changes {
    /// It waits for `toolgate lock accept`. Without a lock everything is served.
    #[default]
    Review,
    /// It stays out, `toolgate lock accept` is refused, and nothing is served that is not pinned.
    Freeze,
    /// It is served if the change is harmless to callers; otherwise it waits.
    AcceptCompatible,
}

/// How a contract is enforced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// What breaks it does not pass.
    #[default]
    Enforce,
    /// What breaks it passes, and is written down.
    Warn,
    /// Nothing is checked.
    Off,
}

/// What the operator adds to a tool of an upstream. What is set here counts.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Overlay {
    /// The tool's own name, where this is a file of its own; else the file is named after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The name under which it is served, in place of `id__tool`. Only in the settings, where it can be seen that no
    /// two tools have one name; one that a tool of ours has is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"))]
    pub serve_as: Option<String>,
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it changes in the world.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Whether a person must agree to each call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approval: Option<Approval>,
    /// Whether the same call twice has the effect of one, so that it may be repeated after a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// JSON Schema of the arguments, in place of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_schema")]
    pub input_schema: Option<Value>,
    /// JSON Schema of the result, in place of the server's.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "any_schema")]
    pub output_schema: Option<Value>,
    /// What it is taken to return where it has no output schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Output>,
    /// Errors of its own, beside `tool_error`. A server that is a Toolgate names them; from any other the code is
    /// taken out of `_meta` as `toolgate/error`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub errors: Vec<DeclaredError>,
    /// Limits of its calls.
    #[serde(skip_serializing_if = "LimitOverrides::is_empty")]
    pub limits: LimitOverrides,
    /// What becomes of a result that is larger than `max_output_bytes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub large_output: Option<LargeOutput>,
    /// How its contract is enforced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Whether texts that look like instructions to a model, or hide characters, were read by a person
    /// and found to be fine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accept_text: bool,
    /// The whole contract, whatever the server says: for a server that is known to be another of our own.
    #[serde(skip)]
    pub whole: Option<Arc<Contract>>,
}

impl Overlay {
    /// The name under which the tool is to be served, if it was chosen.
    pub fn chosen_name(&self) -> Option<&str> {
        self.whole.as_ref().map(|contract| contract.name.as_str()).or(self.serve_as.as_deref())
    }
}

fn any_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    schemars::json_schema!({ "type": "object", "description": "A JSON Schema." })
}

/// Which tools of which upstream may be called.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Allowed {
    /// All of them: `"*"`.
    All(Star),
    /// These.
    These(Vec<String>),
}

/// The word for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Star {
    /// `*`
    #[serde(rename = "*")]
    Star,
}

/// The allowlist: an upstream that it does not name has nothing that may be called.
pub type Allowlist = BTreeMap<String, Allowed>;

/// Whether the operator allows everything of an upstream.
pub fn allows_all(allowlist: Option<&Allowlist>, upstream: &str) -> bool {
    allowlist.is_none_or(|list| matches!(list.get(upstream), Some(Allowed::All(Star::Star))))
}

/// Whether the operator allows a tool.
pub fn allows(allowlist: Option<&Allowlist>, upstream: &str, tool: &str) -> bool {
    match allowlist {
        None => true,
        Some(list) => list.get(upstream).is_some_and(|allowed| match allowed {
            Allowed::All(Star::Star) => true,
            Allowed::These(tools) => tools.iter().any(|one| one == tool),
        }),
    }
}
