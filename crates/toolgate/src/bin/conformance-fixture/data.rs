//! What the fixture serves, as it stands in `fixture.json`.

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
    /// What every contract says unless it says otherwise.
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

    /// The contract of a tool.
    pub fn contract(&self, tool: &ToolData) -> anyhow::Result<Contract> {
        let mut fields = self.contract.clone();
        fields.extend(tool.contract.clone());
        let name = fields.get("name").cloned().unwrap_or_default();
        serde_json::from_value(Value::Object(fields)).with_context(|| format!("the tool {name}"))
    }

    /// What the places in texts can stand for.
    pub fn scope(&self, arguments: &impl Serialize, replies: &Map<String, Value>) -> Value {
        json!({ "values": self.values, "args": arguments, "replies": replies })
    }
}

/// A tool: its promise, and what it does.
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
    /// Asks all of this.
    Ask(BTreeMap<String, FixtureQuestion>),
    /// Asks what of this the client can answer.
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

/// What is listed and can change.
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
    /// What it wants to know first.
    #[serde(default)]
    pub ask: BTreeMap<String, FixtureQuestion>,
    /// What it yields.
    pub messages: Value,
    /// What may stand in an argument.
    #[serde(default)]
    pub completions: CompletionData,
}

/// A resource.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResourceData {
    /// As it is listed.
    pub resource: Value,
    /// What is in it.
    pub contents: Value,
}

/// A family of resources.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TemplateData {
    /// As it is listed.
    pub template: Value,
    /// What is in one of them.
    pub contents: Value,
    /// What may stand in a variable.
    #[serde(default)]
    pub completions: CompletionData,
}

/// What may stand in an argument, by its name.
pub type CompletionData = BTreeMap<String, Vec<String>>;

fn level<'de, D: Deserializer<'de>>(deserializer: D) -> Result<LogLevel, D::Error> {
    let word = String::deserialize(deserializer)?;
    LogLevel::parse(&word).ok_or_else(|| D::Error::custom(format!("`{word}` is no level")))
}
