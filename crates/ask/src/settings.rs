//! The settings of `ask`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::policy::PolicySettings;

/// Questions that are answered with at most one call of a tool.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct AskSettings {
    /// Which questions are refused before anything else happens.
    pub policy: PolicySettings,
    /// Tools that the planner may choose although they change something or want an approval, by the
    /// names that they are served under. Every other tool with effects is out of its reach.
    pub allow: Vec<String>,
    /// When a result is summarized.
    pub summarize: SummarizeMode,
    /// How the model is told what its answers must look like. They are checked in any case.
    pub response_format: ResponseFormat,
    /// The largest question, in bytes.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_question_bytes: usize,
    /// How much of the planner's prompt tools may take, in tokens (three bytes each). Where they do not all fit, those
    /// that fit the question best are shown.
    #[schemars(range(min = 100, max = 1_000_000))]
    pub max_tools_tokens: usize,
    /// How long a plan may be, in tokens.
    #[schemars(range(min = 16, max = 100_000))]
    pub max_plan_tokens: u32,
    /// How long a summary may be, in tokens.
    #[schemars(range(min = 16, max = 100_000))]
    pub max_summary_tokens: u32,
    /// The largest answer of the model that is looked at, in bytes.
    #[schemars(range(min = 256, max = 16_777_216))]
    pub max_answer_bytes: usize,
    /// How much of a result a summary is made of, in characters.
    #[schemars(range(min = 100, max = 1_000_000))]
    pub max_source_characters: usize,
    /// How long a run may take, in milliseconds.
    #[schemars(range(min = 1, max = 86_400_000))]
    pub timeout_ms: u64,
    /// How many runs there are at once; more are answered with 429.
    #[schemars(range(min = 1, max = 65_536))]
    pub max_runs: usize,
    /// How much of what happened stands in an event of a trace, in characters.
    #[schemars(range(min = 100, max = 10_000_000))]
    pub max_payload_characters: usize,
    /// The folder in which the server keeps the traces of runs. None are kept where this is left out.
    pub trace_dir: Option<String>,
    /// How many traces are kept there; the oldest go first.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_traces: usize,
}

impl Default for AskSettings {
    fn default() -> Self {
        Self {
            policy: PolicySettings::default(),
            allow: Vec::new(),
            summarize: SummarizeMode::default(),
            response_format: ResponseFormat::default(),
            max_question_bytes: 16_384,
            max_tools_tokens: 3_000,
            max_plan_tokens: 512,
            max_summary_tokens: 800,
            max_answer_bytes: 65_536,
            max_source_characters: 8_000,
            timeout_ms: 300_000,
            max_runs: 4,
            max_payload_characters: 20_000,
            trace_dir: None,
            max_traces: 1_000,
        }
    }
}

impl AskSettings {
    /// What is wrong beyond the schema: where, and in what words.
    pub fn mistakes(&self) -> Vec<(String, String)> {
        let policy = self.policy.mistakes().into_iter();
        policy.map(|(place, words)| (format!("policy/{place}"), words)).collect()
    }
}

/// When a result is summarized.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SummarizeMode {
    /// Where the request or the question asks for it.
    #[default]
    WhenAsked,
    /// Unless the request says no.
    Always,
    /// Never.
    Never,
}

/// How the model is told what its answers must look like.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// By a schema; where the endpoint refuses that, by less.
    #[default]
    Auto,
    /// By a schema.
    JsonSchema,
    /// Only that it is JSON.
    JsonObject,
    /// Not at all but in words.
    None,
}
