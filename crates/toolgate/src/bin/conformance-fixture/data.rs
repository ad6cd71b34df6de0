//! The tools, prompts and resources of the fixture, as they are in `fixture.json`.

use std::collections::BTreeMap;

use anyhow::Context;
use contract::Contract;
use gate::LogLevel;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value, json};

use crate::questions::FixtureQuestion;

/// Everything that is served.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fixture {
    /// Texts that are used more than once: `{{values.…}}`.
    values: Value,
    /// The defaults of every contract.
    contract: Map<String, Value>,
    /// The tools.
    pub tools: Vec<ToolData>,
    /// The prompts.
    pub prompts: Vec<PromptData>,
    /// The resources.
    pub resources: Vec<ResourceData>,
    /// The families of resources.
    pub templates: Vec<TemplateData>,
}

impl Fixture {
    /// The one that is part of this program.
    pub fn load() -> anyhow::Result<Self> {
        serde_json::from_str(include_str!("fixture.json")).context("fixture.json")
    }

    pub fn contract(&self, tool: &ToolData) -> anyhow::Result<Contract> {
        let mut fields = self.contract.clone();
        fields.extend(tool.contract.clone());
        let name = fields.get("name").cloned().unwrap_or_default();
        serde_json::from_value(Value::Object(fields)).with_context(|| format!("the tool {name}"))
    }

    /// The values that templates can use.
    pub fn scope(&self, arguments: &impl Serialize, replies: &Map<String, Value>) -> Value {
        json!({ "values": self.values, "args": arguments, "replies": replies })
    }
}

/// A tool: its contract, and its steps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolData {
    contract: Map<String, Value>,
    /// One after the other, until one ends the call.
    pub steps: Vec<ScriptStep>,
}

/// One step of a tool.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum ScriptStep {
    /// Says how far it has come.
    Progress { fraction: f64, message: String },
    /// Logs a line.
    Log {
        #[serde(deserialize_with = "level")]
        level: LogLevel,
        data: Value,
    },
    /// Does nothing for so many milliseconds.
    SleepMs(u64),
    /// Does nothing for as many seconds as this argument says, with a word of progress.
    SleepSeconds(String),
    /// Sends all of these input requests.
    Ask(BTreeMap<String, FixtureQuestion>),
    /// Sends those of these input requests that the client can answer.
    AskWhatCanBeAnswered(BTreeMap<String, FixtureQuestion>),
    /// Lets the server say that a listing has changed.
    Change(ChangedListing),
    /// Ends with these content blocks.
    Result(Vec<Value>),
    /// Ends with an error that the contract declares.
    Fail { code: String, message: String },
    /// Ends with an error that no contract declares.
    Break(String),
}

/// A listing that can change.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangedListing {
    Tools,
    Prompts,
}

/// A prompt.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PromptData {
    /// As it is listed.
    pub prompt: Value,
    /// The input requests that come first.
    #[serde(default)]
    pub ask: BTreeMap<String, FixtureQuestion>,
    /// Its messages.
    pub messages: Value,
    /// The completions of its arguments.
    #[serde(default)]
    pub completions: CompletionData,
}

/// A resource.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceData {
    /// As it is listed.
    pub resource: Value,
    /// Its contents.
    pub contents: Value,
}

/// A family of resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateData {
    /// As it is listed.
    pub template: Value,
    /// The contents of one of them.
    pub contents: Value,
    /// The completions of its variables.
    #[serde(default)]
    pub completions: CompletionData,
}

/// Completions, by the name of the argument.
pub type CompletionData = BTreeMap<String, Vec<String>>;

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogLevel, D::Error> {
    let word = String::deserialize(deserializer)?;
    LogLevel::parse(&word).ok_or_else(|| D::Error::custom(format!("`{word}` is not a log level")))
}
