//! Every setting, its default and what it means. The schema and the reference page are
//! made from these types.

use std::collections::BTreeMap;

use contract::{Effects, LimitOverrides, Limits, ProcessLimits};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tools::settings::{FileIo, Memory, Mlx, Repo, Search, SysAudit, Transcript, WebFetch};
use upstream::settings::{Allowlist, Upstream};

use super::{log::Log, model_host};

/// The settings of a server.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// Whose file this is, if other programs read it too: their sections are then left out
    /// instead of refused, and `server.host` and `server.port` are taken.
    pub compatibility: Option<Compatibility>,
    /// The HTTP server.
    pub server: Server,
    /// Where everything is kept.
    pub data_dir: String,
    /// Folders or files of your own contracts.
    pub contracts: Vec<String>,
    /// The defaults of every call.
    pub limits: CallLimits,
    /// What the process of a command may use.
    pub process_limits: ProcessLimits,
    /// Which tools are served.
    pub tools: Tools,
    /// The language model that tools may ask: an endpoint that has `/chat/completions`.
    pub llm: llm::Settings,
    /// Questions that are answered with at most one call of a tool.
    pub ask: ask::Settings,
    /// Which calls a person must approve.
    pub policy: Policy,
    /// Other people's MCP servers, by an id of your choice. Their tools are served as `id__tool`.
    pub upstreams: BTreeMap<String, Upstream>,
    /// Which tools of upstreams may be called: `{ id: [tool, …], other: "*" }`, or the path of a file that
    /// says so. Of an upstream that it does not name, none; where it is left out, all that are admitted.
    pub allowlist: Option<AllowlistSetting>,
    /// The file that pins the contracts of upstreams.
    pub lock: String,
    /// The folder of what you add to the tools of upstreams (`id/tool.yaml`), and of output schemas for
    /// contracts of your own (`toolset/tool.yaml`).
    pub overlays: String,
    /// What a person may do about results that broke their contract.
    pub quarantine: Quarantine,
    /// The MCP doors.
    pub mcp: Mcp,
    /// Calls that run by themselves.
    pub jobs: Jobs,
    /// How long finished jobs are kept.
    pub retention: Retention,
    /// The database.
    pub store: Store,
    /// The record of what happened.
    pub journal: Journal,
    /// What the server says on stderr.
    pub log: Log,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            compatibility: None,
            server: Server::default(),
            data_dir: "./data".into(),
            contracts: Vec::new(),
            limits: CallLimits::default(),
            process_limits: ProcessLimits::default(),
            tools: Tools::default(),
            llm: llm::Settings::default(),
            ask: ask::Settings::default(),
            policy: Policy::default(),
            upstreams: BTreeMap::new(),
            allowlist: None,
            lock: "./toolgate.lock".into(),
            overlays: "./overlays".into(),
            quarantine: Quarantine::default(),
            mcp: Mcp::default(),
            jobs: Jobs::default(),
            retention: Retention::default(),
            store: Store::default(),
            journal: Journal::default(),
            log: Log::default(),
        }
    }
}

/// Which tools of upstreams may be called, or the file that says so.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AllowlistSetting {
    /// Here.
    Here(Allowlist),
    /// In a file.
    File(String),
}

impl Settings {
    /// What the schema cannot see: the place of each mistake, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let tools = self.tools.mistakes().into_iter();
        let mut all: Vec<_> =
            tools.map(|(place, words)| (format!("/tools/{place}"), words)).collect();
        let llm = self.llm.mistakes().into_iter();
        all.extend(llm.map(|(place, words)| (format!("/llm/{place}"), words)));
        let ask = self.ask.mistakes().into_iter();
        all.extend(ask.map(|(place, words)| (format!("/ask/{place}"), words)));
        let transcript = self.tools.transcript.mistakes(&self.llm).into_iter();
        all.extend(transcript.map(|(place, words)| (format!("/tools/transcript/{place}"), words)));
        let log = self.log.mistakes().into_iter();
        all.extend(log.map(|(place, words)| (format!("/log/{place}"), words)));
        for (id, upstream) in &self.upstreams {
            if let Some(problem) = upstream::names::id_problem(id) {
                all.push((format!("/upstreams/{id}"), problem.to_owned()));
            }
            let own = upstream.mistakes().into_iter();
            all.extend(own.map(|(place, words)| (format!("/upstreams/{id}{place}"), words)));
        }
        let mut chosen = std::collections::HashMap::new();
        for (id, upstream) in &self.upstreams {
            for (tool, overlay) in &upstream.tools {
                let Some(name) = &overlay.serve_as else { continue };
                if let Some(other) = chosen.insert(name, (id, tool)) {
                    let words = format!("{}.{} is served as `{name}` already", other.0, other.1);
                    all.push((format!("/upstreams/{id}/tools/{tool}/serve_as"), words));
                }
            }
        }
        if let Some(AllowlistSetting::Here(list)) = &self.allowlist {
            let is_there = |id: &String| {
                self.upstreams.contains_key(id)
                    || id == model_host::MLXCTL && model_host::is_meant(self)
            };
            for id in list.keys().filter(|id| !is_there(id)) {
                all.push((format!("/allowlist/{id}"), format!("there is no upstream `{id}`")));
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
pub struct Server {
    /// Address and port. Anything but loopback wants `tokens`.
    pub listen: String,
    /// The largest request body, in bytes.
    #[schemars(range(min = 1, max = 1_073_741_824_u64))]
    pub max_body_bytes: usize,
    /// How many calls run at once; more are answered with 429.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_concurrency: usize,
    /// How many connections are open at once; more wait.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_connections: usize,
    /// How long a client may take to send the head of a request, in milliseconds.
    #[schemars(range(min = 1))]
    pub header_timeout_ms: u64,
    /// How long a client may take to send a body, in milliseconds.
    #[schemars(range(min = 1))]
    pub body_timeout_ms: u64,
    /// How long a connection may do nothing, or a client take nothing of an answer, in
    /// milliseconds.
    #[schemars(range(min = 1))]
    pub idle_timeout_ms: u64,
    /// How long running calls may take to end when the server stops, in milliseconds.
    pub drain_timeout_ms: u64,
    /// Names that the server answers to, beside addresses and `localhost`.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, beside the server's own.
    pub allowed_origins: Vec<String>,
    /// Who may call. Where there are none, everybody who can reach the server may.
    pub tokens: Vec<Token>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8000".into(),
            max_body_bytes: 2_000_000,
            max_concurrency: 64,
            max_connections: 1_024,
            header_timeout_ms: 10_000,
            body_timeout_ms: 30_000,
            idle_timeout_ms: 75_000,
            drain_timeout_ms: 10_000,
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            tokens: Vec::new(),
        }
    }
}

/// A caller and its bearer token.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Token {
    /// What the journal calls the caller.
    #[schemars(length(min = 1, max = 64))]
    pub name: String,
    /// The environment variable that holds the token.
    #[schemars(length(min = 1))]
    pub token_env: String,
}

/// The defaults of every call; a contract may set its own.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct CallLimits {
    /// How long a call may take, in milliseconds (30000).
    #[schemars(range(min = 1))]
    pub timeout_ms: Option<u64>,
    /// How much of what a tool prints is kept, in bytes (1000000).
    #[schemars(range(min = 1))]
    pub max_stdout_bytes: Option<u64>,
    /// How much of what a tool prints as errors is kept, in bytes (1000000).
    #[schemars(range(min = 1))]
    pub max_stderr_bytes: Option<u64>,
    /// The largest artifact that is kept, in bytes (25000000).
    #[schemars(range(min = 1))]
    pub max_artifact_bytes: Option<u64>,
    /// How many artifacts of a call are kept (64).
    #[schemars(range(min = 1))]
    pub max_artifacts: Option<u64>,
    /// The length of a summary, in characters (280).
    #[schemars(range(min = 16))]
    pub max_summary_characters: Option<u64>,
    /// The largest result, in bytes of JSON (5242880).
    #[schemars(range(min = 1))]
    pub max_output_bytes: Option<u64>,
    /// The most that a request may ask for.
    pub ceilings: LimitOverrides,
}

impl CallLimits {
    /// The limits of a call that asks for nothing.
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

    /// The most that a request may ask for.
    pub fn ceilings(&self) -> Limits {
        Limits::default_ceilings().with(&self.ceilings)
    }
}

/// Which tools are served.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Tools {
    /// The toolsets to serve; all where this is left out.
    pub enable: Option<Vec<String>>,
    /// What may be fetched from the web.
    pub web_fetch: WebFetch,
    /// The service that searches the web.
    pub search: Search,
    /// The folder that an agent may read and write.
    pub file_io: FileIo,
    /// The repository that an agent may read from.
    pub repo: Repo,
    /// The memory that an agent may append to.
    pub memory: Memory,
    /// The model servers that agents may start and stop.
    pub mlx: Mlx,
    /// How transcripts are cleaned.
    pub transcript: Transcript,
    /// What the audit of this machine looks at.
    pub sys_audit: SysAudit,
}

impl Tools {
    /// What the schema cannot see: the key and the place in its list, and what is wrong.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let below = |section: &str, mistakes: Vec<(String, String)>| {
            let section = section.to_owned();
            mistakes.into_iter().map(move |(place, words)| (format!("{section}/{place}"), words))
        };
        let mut all: Vec<_> = below("repo", self.repo.mistakes()).collect();
        all.extend(below("web_fetch", self.web_fetch.mistakes()));
        all.extend(below("search", self.search.mistakes()));
        all.extend(below("mlx", self.mlx.mistakes()));
        all
    }
}

/// Which calls a person must approve.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Policy {
    /// Rules; the first that fits a tool decides, and where none does its contract.
    pub approval: Vec<ApprovalRule>,
    /// How long a request waits for a person, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub approval_wait_ms: u64,
    /// How long a decision is good once it is made, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub approval_valid_ms: u64,
    /// How many requests may wait at once; more are answered with 429.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_waiting_approvals: u64,
    /// How many of them may be of one caller.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_waiting_approvals_per_caller: u64,
    /// Whether an MCP client on stdin and stdout is trusted to ask the person in front of it.
    pub stdio_clients_ask: bool,
    /// Whether an MCP client over HTTP is.
    pub http_clients_ask: bool,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
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

/// Which tools a rule is for, and what it asks. What it names must all fit.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApprovalRule {
    /// The tool of this name.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tools of this toolset.
    #[serde(default)]
    pub toolset: Option<String>,
    /// The tools with these effects.
    #[serde(default)]
    pub effects: Option<Effects>,
    /// Whether a person must approve every call of them.
    pub require: Require,
}

/// Whether a person must approve.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Require {
    /// Every call.
    Always,
    /// No call, whatever the contract says.
    Never,
}

/// What a person may do about results that broke their contract.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Quarantine {
    /// How long a released result waits for its caller to make the call again, in milliseconds.
    #[schemars(range(min = 1_000, max = 31_536_000_000_u64))]
    pub release_valid_ms: u64,
}

impl Default for Quarantine {
    fn default() -> Self {
        Self { release_valid_ms: 3_600_000 }
    }
}

/// The MCP doors.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Mcp {
    /// How many entries a page of a listing has.
    #[schemars(range(min = 1, max = 100_000))]
    pub page_size: usize,
    /// For how long a client may keep a listing, in milliseconds.
    pub list_ttl_ms: u64,
    /// How many sessions of clients of 2025-11-25 and older there are at once. A new one takes
    /// the place of the one that was idle for longest.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_sessions: usize,
    /// How long such a session may do nothing before it is forgotten, in milliseconds.
    #[schemars(range(min = 1_000))]
    pub session_idle_ms: u64,
    /// How long a call may take before a client that knows tasks is handed one, in
    /// milliseconds.
    #[schemars(range(min = 1))]
    pub task_after_ms: u64,
    /// How long a client may take to answer a question of a tool, in milliseconds.
    #[schemars(range(min = 1))]
    pub answer_timeout_ms: u64,
}

impl Default for Mcp {
    fn default() -> Self {
        Self {
            page_size: 250,
            list_ttl_ms: 60_000,
            max_sessions: 10_000,
            session_idle_ms: 1_800_000,
            task_after_ms: 5_000,
            answer_timeout_ms: 900_000,
        }
    }
}

/// Calls that run by themselves.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Jobs {
    /// How many jobs may wait; more are answered with 429.
    #[schemars(range(min = 1))]
    pub max_queued: usize,
    /// How many jobs run at once.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_running: usize,
    /// How long a job waits for the answer to a question before it is cancelled, in
    /// milliseconds.
    #[schemars(range(min = 1))]
    pub input_timeout_ms: u64,
}

impl Default for Jobs {
    fn default() -> Self {
        Self { max_queued: 1_000, max_running: 16, input_timeout_ms: 900_000 }
    }
}

/// How long finished jobs are kept.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// For so many days.
    #[schemars(range(min = 1))]
    pub max_age_days: u64,
    /// So many of them.
    #[schemars(range(min = 1))]
    pub max_jobs: u64,
    /// With so many bytes of artifacts in all.
    pub max_artifact_bytes: u64,
    /// So many answers in quarantine.
    pub max_quarantined: u64,
    /// So many approvals, beside those that wait or may still be used.
    pub max_approvals: u64,
    /// How often the old ones are removed, in seconds.
    #[schemars(range(min = 1))]
    pub sweep_interval_s: u64,
}

impl Default for Retention {
    fn default() -> Self {
        Self {
            max_age_days: 30,
            max_jobs: 100_000,
            max_artifact_bytes: 10_737_418_240,
            max_quarantined: 10_000,
            max_approvals: 10_000,
            sweep_interval_s: 600,
        }
    }
}

/// The database.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Store {
    /// What an acknowledged write survives.
    pub durability: Durability,
}

/// What an acknowledged write survives.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// The death of the process at any moment. After a power failure the last moments
    /// may be missing.
    #[default]
    Process,
    /// Also a power failure; every answer waits for the disk.
    Power,
}

/// The record of what happened.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Journal {
    /// The file; `journal.jsonl` in the data folder where this is left out.
    pub path: Option<String>,
    /// Put aside when it has grown to so many bytes.
    #[schemars(range(min = 4_096))]
    pub max_bytes: u64,
    /// How many of those are kept.
    #[schemars(range(min = 1, max = 1_000))]
    pub max_files: u32,
}

impl Default for Journal {
    fn default() -> Self {
        Self { path: None, max_bytes: 67_108_864, max_files: 5 }
    }
}
