//! Sources of contracts: contract files, MCP servers, listings, the lock, Markdown documents, and the tools that are
//! served here. A source yields tools with the parts of their contracts that it knows.
//!
//! A source is a path, the id of an upstream, a URL, `self`, or a command. `SOURCE#NAME` selects one upstream, toolset
//! or tool.

mod draft;
mod files;
mod listing;
mod served;

use std::{collections::BTreeMap, path::Path};

use anyhow::bail;
use contract::{Contract, ContractStatus, Diagnostic, Severity};
use serde_json::Value;
use workbench::compare::{self, ChangeClass, ContractChange, Inputs, PartialContract};

use crate::{
    commands,
    named_servers::{NamedServer, ServerArguments},
    settings::{FileErrors, Flags},
};

/// The source of the tools that are served here.
const ITSELF: &str = "self";

#[derive(Clone)]
pub struct SourceTool {
    /// The parts of its contract that the source has.
    pub promise: PartialContract,
    /// The whole contract: missing parts have safe defaults.
    pub contract: Contract,
    /// The entry of the server's listing, unchanged.
    pub listed: Option<Value>,
    /// Its name on its upstream, if the source uses another.
    pub own_name: Option<String>,
    /// The rule of the settings for arguments that its schema does not declare.
    pub inputs: Option<Inputs>,
}

impl SourceTool {
    /// The name under which the source has it.
    pub fn name(&self) -> &str {
        &self.promise.name
    }
}

/// The tools of a source, with errors and warnings.
pub struct ToolSource {
    /// Its name in messages.
    pub title: String,
    pub tools: Vec<SourceTool>,
    /// Errors and warnings in contract files and documents.
    pub diagnostics: Vec<Diagnostic>,
    /// Errors and warnings about tools that a server lists.
    pub findings: Vec<Diagnostic>,
    /// True if it has all tools: a document may leave some out, a server cannot.
    pub whole: bool,
    /// The upstreams that could not be reached, and why.
    pub unreached: Vec<String>,
}

impl ToolSource {
    fn new(title: impl Into<String>, whole: bool) -> Self {
        Self {
            title: title.into(),
            tools: Vec::new(),
            diagnostics: Vec::new(),
            findings: Vec::new(),
            whole,
            unreached: Vec::new(),
        }
    }

    /// True if part of it cannot be read.
    pub fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// Keeps only one upstream, toolset or tool.
    fn only(&mut self, part: &str) -> anyhow::Result<()> {
        let toolset = |one: &SourceTool| one.contract.toolset == part;
        if self.tools.iter().any(toolset) {
            self.tools.retain(toolset);
            // The tools of one upstream have the server's own names.
            for one in &mut self.tools {
                if let Some(own) = &one.own_name {
                    one.promise.name.clone_from(own);
                    one.contract.name.clone_from(own);
                }
            }
            return Ok(());
        }
        if !self.tools.iter().any(|one| one.name() == part) {
            let names = self.tools.iter().map(SourceTool::name);
            let near = contract::did_you_mean(part, names);
            bail!("{} has no toolset and no tool `{part}`{near}", self.title);
        }
        self.tools.retain(|one| one.name() == part);
        self.whole = false;
        Ok(())
    }
}

pub fn read(text: &str, terms: &ServerArguments, flags: &Flags) -> anyhow::Result<ToolSource> {
    if Path::new(text).exists() {
        return named(text, terms, flags);
    }
    let Some((source, part)) = text.rsplit_once('#') else {
        return named(text, terms, flags);
    };
    let mut set = named(source, terms, flags)?;
    set.only(part)?;
    Ok(set)
}

/// Reads the tools of a program that is started for it.
pub fn program(
    words: &[String],
    terms: &ServerArguments,
    flags: &Flags,
) -> anyhow::Result<ToolSource> {
    let Some((program, arguments)) = words.split_first() else { bail!("`--` needs a command") };
    listing::of_server(&NamedServer::program(flags, program, arguments, terms)?)
}

fn named(text: &str, terms: &ServerArguments, flags: &Flags) -> anyhow::Result<ToolSource> {
    let path = Path::new(text);
    if text == ITSELF {
        return served::read(flags);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        return listing::of_server(&NamedServer::at(text, terms)?);
    }
    // An id has neither of these, so nothing else can be meant.
    if text.contains(['.', '/']) {
        return files::read(path);
    }
    let loaded = match flags.load() {
        Err(error) if error.is::<FileErrors>() && path.exists() => return files::read(path),
        loaded => loaded?,
    };
    if loaded.settings.upstreams.contains_key(text) {
        return listing::of_upstream(&loaded, text);
    }
    if path.exists() {
        return files::read(path);
    }
    let words = format!("`{text}` is not a file, an upstream of the settings, a URL or `{ITSELF}`");
    match commands::upstream::is_known(&loaded, Some(text)) {
        Err(error) if error.to_string().contains("did you mean") => bail!("{words}; {error}"),
        _ => bail!("{words}"),
    }
}

/// The differences between two sources.
pub struct SourceComparison {
    /// The changes, by tool.
    pub changes: BTreeMap<String, Vec<ContractChange>>,
    /// The number of tools that only the second has, if the first is not complete.
    pub more: usize,
}

/// Compares two sources.
pub fn compare(old: &ToolSource, new: &ToolSource) -> SourceComparison {
    let alone = |class, text: &str| vec![ContractChange::said("tool", class, text)];
    let find = |set: &ToolSource, name: &str| set.tools.iter().position(|one| one.name() == name);
    let mut compared = SourceComparison { changes: BTreeMap::new(), more: 0 };
    for one in &old.tools {
        let found = match find(new, one.name()).map(|index| &new.tools[index]) {
            Some(other) => changes(one, other),
            None if one.promise.status == Some(ContractStatus::Planned) => Vec::new(),
            None => alone(ChangeClass::Breaking, "is not there"),
        };
        compared.changes.insert(one.name().to_owned(), found);
    }
    for one in new.tools.iter().filter(|one| find(old, one.name()).is_none()) {
        if one.promise.status == Some(ContractStatus::Planned) {
            continue;
        }
        if new.whole && !old.whole {
            compared.more += 1;
        } else {
            compared.changes.insert(one.name().to_owned(), alone(ChangeClass::Widening, "is new"));
        }
    }
    compared.changes.retain(|_, found| !found.is_empty());
    compared
}

/// The changes from one tool to another. Schemas of a server are compared as the gate enforces them.
fn changes(old: &SourceTool, new: &SourceTool) -> Vec<ContractChange> {
    let inputs = old.inputs.or(new.inputs).unwrap_or(Inputs::Closed);
    if let (Some(old), Some(new)) = (&old.listed, &new.listed) {
        return compare::tools(old, new, inputs);
    }
    let [old, new] = [old, new].map(|one| {
        let mut promise = one.promise.clone();
        if one.listed.is_some() && inputs == Inputs::Closed {
            promise.input_schema =
                promise.input_schema.map(|schema| contract::closed_schema::close(&schema).schema);
        }
        promise
    });
    compare::contracts(&old, &new)
}
