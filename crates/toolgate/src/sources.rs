//! Contracts from anywhere: files of ours, servers, listings, the lock, documents of people, and what
//! this installation serves. Each yields tools with as much of their promises as it knows.
//!
//! A source is named as a person would: a path, the id of an upstream, an address, `self`, or a command
//! line. `SOURCE#NAME` is one upstream, toolset or tool of it.

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
    named_servers::{HeaderArguments, NamedServer},
    settings::{FileErrors, Flags},
};

/// The word for what this installation serves.
const ITSELF: &str = "self";

/// One tool of a source.
#[derive(Clone)]
pub struct SourceTool {
    /// What it promises, as far as the source says so.
    pub promise: PartialContract,
    /// The same as a contract: what the source does not say is a guess on the safe side.
    pub contract: Contract,
    /// What a server lists, as it came.
    pub listed: Option<Value>,
    /// Its own name on its upstream, where the source has it under another.
    pub own_name: Option<String>,
    /// What becomes of arguments that its schema says nothing about, where the settings say so.
    pub inputs: Option<Inputs>,
}

impl SourceTool {
    /// The name under which the source has it.
    pub fn name(&self) -> &str {
        &self.promise.name
    }
}

/// What a source has.
pub struct ToolSource {
    /// What messages call it.
    pub title: String,
    /// Its tools.
    pub tools: Vec<SourceTool>,
    /// What is wrong or could be better in files of ours and of people.
    pub diagnostics: Vec<Diagnostic>,
    /// What is to be said about tools that a server lists.
    pub findings: Vec<Diagnostic>,
    /// Whether this is all that there is: a document may leave out tools, a server cannot.
    pub whole: bool,
    /// What could not be reached, and why.
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

    /// Whether some of it cannot be read, so that nobody can tell what it says.
    pub fn is_refused(&self) -> bool {
        self.diagnostics.iter().any(|one| one.severity == Severity::Error)
    }

    /// Leaves one upstream, toolset or tool.
    fn only(&mut self, part: &str) -> anyhow::Result<()> {
        let toolset = |one: &SourceTool| one.contract.toolset == part;
        if self.tools.iter().any(toolset) {
            self.tools.retain(toolset);
            // Of one upstream the server's own names are enough, and what others know it by.
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
            match contract::nearest(part, names) {
                Some(near) => bail!("{} has no `{part}`; did you mean `{near}`?", self.title),
                None => bail!("{} has no toolset and no tool `{part}`", self.title),
            }
        }
        self.tools.retain(|one| one.name() == part);
        // A part is not all that there is.
        self.whole = false;
        Ok(())
    }
}

/// Reads a source.
pub fn read(text: &str, headers: &HeaderArguments, flags: &Flags) -> anyhow::Result<ToolSource> {
    if Path::new(text).exists() {
        return named(text, headers, flags);
    }
    let Some((source, part)) = text.rsplit_once('#') else {
        return named(text, headers, flags);
    };
    let mut set = named(source, headers, flags)?;
    set.only(part)?;
    Ok(set)
}

/// Reads the tools of a program that is started for it.
pub fn program(words: &[String]) -> anyhow::Result<ToolSource> {
    let Some((program, arguments)) = words.split_first() else { bail!("`--` wants a command") };
    listing::of_server(&NamedServer::program(program, arguments)?)
}

fn named(text: &str, headers: &HeaderArguments, flags: &Flags) -> anyhow::Result<ToolSource> {
    let path = Path::new(text);
    if text == ITSELF {
        return served::read(flags);
    }
    if text.starts_with("http://") || text.starts_with("https://") {
        return listing::of_server(&NamedServer::at(text, headers)?);
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
    let words =
        format!("`{text}` is no file, no upstream of the settings, no address and not `{ITSELF}`");
    match commands::upstream::is_known(&loaded, Some(text)) {
        Err(error) if error.to_string().contains("did you mean") => bail!("{words}; {error}"),
        _ => bail!("{words}"),
    }
}

/// What is different between two sources.
pub struct SourceComparison {
    /// What changed, by tool.
    pub changes: BTreeMap<String, Vec<ContractChange>>,
    /// How many tools the second has that the first, which does not claim to know all, does not name.
    pub more: usize,
}

/// What changed from one source to another.
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

/// What changed from one tool to another. What only a server says is compared as the gate enforces it.
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
