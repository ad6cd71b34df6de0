//! All settings: a new one is a field here, with its default. The schema and the reference page are made from these
//! types and their comments.

use std::collections::BTreeMap;

use contract::{Effects, LimitOverrides, Limits, ProcessLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tools::settings::{
    FileIoSettings, MemorySettings, MlxSettings, RepoSettings, SearchSettings, SysAuditSettings,
    TranscriptSettings, WebFetchSettings,
};
use upstream::settings::{Allowlist, UpstreamSettings};

use super::{SettingsError, listen::ListenAddress, log::LogSection, mlx_host};

/// The settings of a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolgateSettings {
    /// Another system that reads this file too. Its sections are then ignored instead of refused, and `server.host` and
    /// `server.port` are used.
    pub compatibility: Option<Compatibility>,
    /// The HTTP server.
    pub server: ServerSection,
    /// The data folder: database, artifacts, journal, operator token.
    pub data_dir: String,
    /// The folder in which calls get a folder to work in. Default: one beside the data folder with `.work` behind its name,
    /// or, where none can be made there, one in the system's folder for temporary files.
    pub work_dir: Option<String>,
    /// Folders or files of your own contracts.
    pub contracts: Vec<String>,
    /// The toolsets of your own contracts to serve. Default: all. `tools.enable` is about the built-in ones.
    pub contracts_enable: Option<Vec<String>>,
    /// Default limits of calls.
    pub limits: CallLimits,
    /// Limits of the process of a command.
    pub process_limits: ProcessLimits,
    /// The tools that are served, and their settings.
    pub tools: ToolsSection,
    /// The language model: an OpenAI-compatible endpoint with `/chat/completions`.
    pub llm: llm::LlmSettings,
    /// `toolgate ask`: questions that are answered by at most one tool call.
    pub ask: ask::AskSettings,
    /// Calls that a person must approve.
    pub policy: PolicySection,
    /// Other MCP servers, by an id of your choice. Their tools are served as `id__tool`.
    pub upstreams: BTreeMap<String, UpstreamSettings>,
    /// Upstream tools that may be called: `{ id: [tool, …], other: "*" }`, or the path of a file with that. An upstream
    /// that is not listed has none. Without this setting all admitted tools may be called.
    pub allowlist: Option<AllowlistSetting>,
    /// The file that pins the contracts of upstreams.
    pub lock: String,
    /// The folder of overlays: files that change the contracts of upstream tools (`id/tool.yaml`) or the output schemas
    /// of your own (`toolset/tool.yaml`).
    pub overlays: String,
    /// Results that broke their contract.
    pub quarantine: QuarantineSection,
    /// MCP over stdio and HTTP.
    pub mcp: McpSection,
    /// Calls that run in the background.
    pub jobs: JobsSection,
    /// Retention of jobs and other records.
    pub retention: RetentionSection,
    /// The database.
    pub store: StoreSection,
    /// The journal: one JSON line for each call.
    pub journal: JournalSection,
    /// The log, on stderr.
    pub log: LogSection,
}

impl Default for ToolgateSettings {
    fn default() -> Self {
        Self {
            compatibility: None,
            server: ServerSection::default(),
            data_dir: "./data".into(),
            work_dir: None,
            contracts: Vec::new(),
            contracts_enable: None,
            limits: CallLimits::default(),
            process_limits: ProcessLimits::default(),
            tools: ToolsSection::default(),
            llm: llm::LlmSettings::default(),
            ask: ask::AskSettings::default(),
            policy: PolicySection::default(),
            upstreams: BTreeMap::new(),
            allowlist: None,
            lock: "./toolgate.lock".into(),
            overlays: "./overlays".into(),
            quarantine: QuarantineSection::default(),
            mcp: McpSection::default(),
            jobs: JobsSection::default(),
            retention: RetentionSection::default(),
            store: StoreSection::default(),
            journal: JournalSection::default(),
            log: LogSection::default(),
        }
    }
}

/// Upstream tools that may be called, or a file that lists them.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AllowlistSetting {
    /// In the settings file.
    Here(Allowlist),
    /// In a file of its own.
    File(String),
}

impl ToolgateSettings {
    /// Errors that the schema cannot see.
    pub fn mistakes(&self) -> Vec<SettingsError> {
        let tools = &self.tools;
        let sections = [
            ("/tools/repo/", tools.repo.mistakes()),
            ("/tools/web_fetch/", tools.web_fetch.mistakes()),
            ("/tools/search/", tools.search.mistakes()),
            ("/tools/mlx/", tools.mlx.mistakes()),
            ("/tools/transcript/", tools.transcript.mistakes(&self.llm)),
            ("/llm/", self.llm.mistakes()),
            ("/ask/", self.ask.mistakes()),
            ("/log/", self.log.mistakes()),
        ];
        let mut all = Vec::new();
        let mut add = |pointer: String, message| all.push(SettingsError::new(pointer, message));
        for (section, mistakes) in sections {
            for (key, message) in mistakes {
                add(format!("{section}{key}"), message);
            }
        }
        for (id, upstream) in &self.upstreams {
            if let Some(problem) = upstream::names::id_problem(id) {
                add(format!("/upstreams/{id}"), problem.to_owned());
            }
            for (key, message) in upstream.mistakes() {
                add(format!("/upstreams/{id}{key}"), message);
            }
        }
        let mut chosen = std::collections::HashMap::new();
        for (id, upstream) in &self.upstreams {
            for (tool, overlay) in &upstream.tools {
                let Some(name) = &overlay.serve_as else { continue };
                if let Some(other) = chosen.insert(name, (id, tool)) {
                    let message =
                        format!("`{}.{}` is already served as `{name}`", other.0, other.1);
                    add(format!("/upstreams/{id}/tools/{tool}/serve_as"), message);
                }
            }
        }
        if let Some(AllowlistSetting::Here(list)) = &self.allowlist {
            let is_there = |id: &String| {
                self.upstreams.contains_key(id)
                    || id == mlx_host::MLXCTL && mlx_host::is_remote(self)
            };
            for id in list.keys().filter(|id| !is_there(id)) {
                add(format!("/allowlist/{id}"), format!("there is no upstream `{id}`"));
            }
        }
        all
    }
}

/// Another system whose settings file can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compatibility {
    /// `adam.yaml`.
    Adam,
}

/// The HTTP server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ServerSection {
    /// Address and port, or a port alone, which only this machine reaches. An address that is not loopback needs
    /// `tokens`.
    pub listen: ListenAddress,
    /// Encryption (HTTPS). Without it the server speaks plain HTTP.
    pub tls: Option<TlsFiles>,
    /// The largest request body, in bytes.
    #[schemars(range(min = 1, max = 1_073_741_824_u64))]
    pub max_body_bytes: usize,
    /// The most calls that run at once; more get 429.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_concurrency: usize,
    /// The most connections at work; more get 429. Several callers share them.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_connections: usize,
    /// Timeout for the headers of a request, in milliseconds.
    #[schemars(range(min = 1))]
    pub header_timeout_ms: u64,
    /// Timeout for the body of a request, in milliseconds.
    #[schemars(range(min = 1))]
    pub body_timeout_ms: u64,
    /// Timeout of an idle connection, and of a client that does not read its response, in milliseconds.
    #[schemars(range(min = 1))]
    pub idle_timeout_ms: u64,
    /// The time that a call may go on after its client has closed its side of the connection, in milliseconds. It is
    /// answered within that time, and cancelled after it: a client that has gone away cannot be told from one that
    /// only has nothing more to send.
    #[schemars(range(min = 1))]
    pub half_closed_timeout_ms: u64,
    /// The most that may wait for clients that do not read their responses, in bytes. Above it the connections that have
    /// taken nothing for longest are closed.
    #[schemars(range(min = 65_536))]
    pub max_unread_bytes: u64,
    /// The time that listings, calls of unknown tools and `/readyz` wait for upstreams when the server starts, in
    /// milliseconds. Everything else is answered at once; tools of slower upstreams are served once they are there.
    pub start_wait_ms: u64,
    /// The time that running calls get to finish when the server stops, in milliseconds.
    pub drain_timeout_ms: u64,
    /// The interval at which the files of the settings are looked at for changes, in milliseconds: this file, `toolgate.env`,
    /// contracts, allowlist, lock and overlays. They are loaded again when they have been quiet for an interval. 0 turns that
    /// off; `SIGHUP` loads them in any case.
    pub watch_interval_ms: u64,
    /// Host names that the server accepts, besides addresses and `localhost`.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, besides the server's own.
    pub allowed_origins: Vec<String>,
    /// Callers and their tokens. Without tokens, everybody who can reach the server may call.
    pub tokens: Vec<TokenEntry>,
}

impl Default for ServerSection {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8000".into(),
            tls: None,
            max_body_bytes: 2_000_000,
            max_concurrency: 64,
            max_connections: 1_024,
            header_timeout_ms: 10_000,
            body_timeout_ms: 30_000,
            idle_timeout_ms: 75_000,
            half_closed_timeout_ms: 1_000,
            max_unread_bytes: 268_435_456,
            start_wait_ms: 3_000,
            drain_timeout_ms: 10_000,
            watch_interval_ms: 1_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tokens: Vec::new(),
        }
    }
}

/// The files of a certificate and its key, in PEM form. New ones are taken up while the server runs.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate, followed by those that vouch for it.
    #[schemars(length(min = 1))]
    pub cert: String,
    /// Its key, without a passphrase.
    #[schemars(length(min = 1))]
    pub key: String,
}

/// A caller and its bearer token.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TokenEntry {
    /// Name of the caller, in the journal.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The environment variable that holds the token.
    #[schemars(length(min = 1))]
    pub token_env: String,
}

/// Default limits of calls; a contract may set its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallLimits {
    /// Timeout of a call, in milliseconds (30000).
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// The most bytes of stdout that are kept (1000000).
    #[schemars(range(min = 1))]
    pub max_stdout_bytes: Option<u64>,
    /// The most bytes of stderr that are kept (1000000).
    #[schemars(range(min = 1))]
    pub max_stderr_bytes: Option<u64>,
    /// The largest artifact that is kept, in bytes (25000000).
    #[schemars(range(min = 1))]
    pub max_artifact_bytes: Option<u64>,
    /// The most artifacts of a call that are kept (64).
    #[schemars(range(min = 1))]
    pub max_artifacts: Option<u64>,
    /// The length of a summary, in characters (280).
    #[schemars(range(min = 16))]
    pub max_summary_characters: Option<u64>,
    /// The largest result, in bytes of JSON (5242880).
    #[schemars(range(min = 1))]
    pub max_output_bytes: Option<u64>,
    /// The highest limits that a request may ask for.
    pub ceilings: LimitOverrides,
}

impl CallLimits {
    /// The limits of a call that sets none.
    pub fn defaults(&self) -> Limits {
        Limits::default().with(&LimitOverrides {
            timeout_ms: self.timeout_ms,
            max_stdout_bytes: self.max_stdout_bytes,
            max_stderr_bytes: self.max_stderr_bytes,
            max_artifact_bytes: self.max_artifact_bytes,
            max_artifacts: self.max_artifacts,
            max_summary_characters: self.max_summary_characters,
            max_output_bytes: self.max_output_bytes,
        })
    }

    /// The highest limits that a request may ask for.
    pub fn ceilings(&self) -> Limits {
        Limits::default_ceilings().with(&self.ceilings)
    }
}

/// The tools that are served.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsSection {
    /// The built-in toolsets to serve; `[]` serves none. Default: all. `contracts_enable` is about your own.
    pub enable: Option<Vec<String>>,
    /// Fetching from the web.
    pub web_fetch: WebFetchSettings,
    /// The service that searches the web.
    pub search: SearchSettings,
    /// The folder that an agent may read and write.
    pub file_io: FileIoSettings,
    /// The repository that an agent may read from.
    pub repo: RepoSettings,
    /// The memory that an agent may append to.
    pub memory: MemorySettings,
    /// The model servers that agents may start and stop.
    pub mlx: MlxSettings,
    /// Cleaning of transcripts.
    pub transcript: TranscriptSettings,
    /// The audit of this machine.
    pub sys_audit: SysAuditSettings,
}

/// Calls that a person must approve.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicySection {
    /// What holds where no rule matches.
    pub preset: PolicyPreset,
    /// Rules. The first that matches a tool decides; without a match its contract does.
    pub approval: Vec<ApprovalRule>,
    /// The time that a request waits for a decision, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub approval_wait_ms: u64,
    /// The time that a decision is valid, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub approval_valid_ms: u64,
    /// The most requests that wait at once; more get 429.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_waiting_approvals: u64,
    /// The most requests of one caller that wait at once.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_waiting_approvals_per_caller: u64,
    /// Trust an MCP client on stdin and stdout to ask its user for approval.
    pub stdio_clients_ask: bool,
    /// Trust an MCP client over HTTP to ask its user for approval.
    pub http_clients_ask: bool,
}

impl Default for PolicySection {
    fn default() -> Self {
        Self {
            preset: PolicyPreset::Standard,
            approval: Vec::new(),
            approval_wait_ms: 86_400_000,
            approval_valid_ms: 900_000,
            max_waiting_approvals: 1_000,
            max_waiting_approvals_per_caller: 200,
            stdio_clients_ask: true,
            http_clients_ask: false,
        }
    }
}

/// What holds for the tools that no rule matches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PolicyPreset {
    /// Every tool needs approval whose effects are not known to be `none` or `read`. Tools of upstreams need an output
    /// schema, and their results `isError`, whatever the settings of the upstream say.
    Strict,
    /// The contract of a tool decides.
    #[default]
    Standard,
    /// No tool needs approval, whatever its contract says. For tests.
    Open,
}

/// A rule: the tools that it is about, all conditions together, and what it requires.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// The tool of this name.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tools of this toolset.
    #[serde(default)]
    pub toolset: Option<String>,
    /// The tools with these effects. With `require: always` also those with worse effects, with `require: never` also
    /// those with lesser ones.
    #[serde(default)]
    pub effects: Option<Effects>,
    /// `always`: every call needs approval. `never`: none does.
    pub require: RuleRequirement,
}

/// The requirement of a rule.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RuleRequirement {
    /// Every call needs approval.
    Always,
    /// No call needs approval, whatever the contract says.
    Never,
}

/// Results that broke their contract.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct QuarantineSection {
    /// The time that a released result waits for its caller to repeat the call, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub release_valid_ms: u64,
}

impl Default for QuarantineSection {
    fn default() -> Self {
        Self { release_valid_ms: 3_600_000 }
    }
}

/// MCP over stdio and HTTP.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct McpSection {
    /// The names of tools in listings. Calls take both.
    pub names: ToolNames,
    /// The entries of a page of a listing.
    #[schemars(range(min = 1, max = 100_000))]
    pub page_size: usize,
    /// The time that a client may cache a listing, in milliseconds.
    pub list_ttl_ms: u64,
    /// The most sessions of legacy clients (2025-11-25 and older). A new one replaces the one that was idle longest.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_sessions: usize,
    /// Timeout of an idle session, in milliseconds.
    #[schemars(range(min = 1_000))]
    pub session_idle_ms: u64,
    /// The time after which a call becomes a task, for clients that support tasks, in milliseconds.
    #[schemars(range(min = 1))]
    pub task_after_ms: u64,
    /// Timeout for the answer to a question of a tool, in milliseconds.
    #[schemars(range(min = 1))]
    pub answer_timeout_ms: u64,
}

/// The names of tools in MCP listings.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ToolNames {
    /// As their contracts say.
    #[default]
    Declared,
    /// With `_` in place of each dot, for clients whose models take no dots. A name that would then mean two tools stays.
    Portable,
}

/// The idle time of a session, in milliseconds: the server's own default.
#[allow(clippy::cast_possible_truncation, reason = "half an hour")]
const SESSION_IDLE_MS: u64 = server::mcp::DEFAULT_SESSION_IDLE.as_millis() as u64;

impl Default for McpSection {
    fn default() -> Self {
        Self {
            names: ToolNames::Declared,
            page_size: 250,
            list_ttl_ms: 60_000,
            max_sessions: server::mcp::DEFAULT_MAX_SESSIONS,
            session_idle_ms: SESSION_IDLE_MS,
            task_after_ms: 5_000,
            answer_timeout_ms: 900_000,
        }
    }
}

/// Calls that run in the background.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JobsSection {
    /// The most jobs that wait; more get 429.
    #[schemars(range(min = 1))]
    pub max_queued: usize,
    /// The most jobs that run at once.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_running: usize,
    /// The time that a job waits for the answer to a question before it is cancelled, in milliseconds.
    #[schemars(range(min = 1))]
    pub input_timeout_ms: u64,
}

impl Default for JobsSection {
    fn default() -> Self {
        Self { max_queued: 1_000, max_running: 16, input_timeout_ms: 900_000 }
    }
}

/// Retention of jobs and other records.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetentionSection {
    /// Days that finished jobs are kept.
    #[schemars(range(min = 1))]
    pub max_age_days: u64,
    /// The most finished jobs that are kept. The caller who has most loses its oldest first, here and below.
    #[schemars(range(min = 1))]
    pub max_jobs: u64,
    /// The most bytes of artifacts that are kept.
    pub max_artifact_bytes: u64,
    /// The most bytes of arguments and results of finished jobs that are kept, and as many again of quarantined
    /// results. The caller who has most loses its oldest jobs first.
    pub max_bytes: u64,
    /// The most quarantined results that are kept.
    pub max_quarantined: u64,
    /// The most approvals that are kept, besides those that wait or are still valid.
    pub max_approvals: u64,
    /// The time between two removals of old records, in seconds.
    #[schemars(range(min = 1))]
    pub sweep_interval_s: u64,
}

impl Default for RetentionSection {
    fn default() -> Self {
        Self {
            max_age_days: 30,
            max_jobs: 100_000,
            max_artifact_bytes: 10_737_418_240,
            max_bytes: 2_147_483_648,
            max_quarantined: 10_000,
            max_approvals: 10_000,
            sweep_interval_s: 600,
        }
    }
}

/// The database.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct StoreSection {
    /// The failure that an acknowledged write survives: `process` or `power`.
    pub durability: StoreDurability,
}

/// The failure that an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StoreDurability {
    /// A crash of the process. After a power failure the last writes may be missing.
    #[default]
    Process,
    /// Also a power failure; every response waits for the disk.
    Power,
}

/// The journal: one JSON line for each call.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct JournalSection {
    /// The file. Default: `journal.jsonl` in the data folder.
    pub path: Option<String>,
    /// The size in bytes at which the file is rotated.
    #[schemars(range(min = 4_096))]
    pub max_bytes: u64,
    /// The most rotated files that are kept.
    #[schemars(range(min = 1, max = 1_000))]
    pub max_files: u32,
}

impl Default for JournalSection {
    fn default() -> Self {
        Self { path: None, max_bytes: 67_108_864, max_files: 5 }
    }
}
