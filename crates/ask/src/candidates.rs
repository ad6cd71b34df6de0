//! Which tools a planner may choose from.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use contract::Approval;
use gate::{Catalogue, Tool};
use serde_json::{Value, json};

use crate::{
    plan::Refused,
    shortlist::{Entry, Index, Picked},
};

/// A tool that a planner may choose.
pub struct Candidate {
    /// The tool.
    pub tool: Arc<Tool>,
    /// Its toolset.
    pub server: String,
    /// The name that it has there.
    pub name: String,
    /// What the model reads of it.
    pub(crate) listing: String,
}

/// What a catalogue means for a planner. Made once for each catalogue.
pub struct Candidates {
    catalogue: Arc<Catalogue>,
    visible: Vec<Candidate>,
    by_name: HashMap<(String, String), usize>,
    /// What is known and may not be chosen, with the reason.
    hidden: BTreeMap<(String, String), &'static str>,
    servers: BTreeSet<String>,
    index: Index,
}

/// How many bytes a token has, at the least, in what models read of tools.
const BYTES_PER_TOKEN: usize = 3;
/// Keywords of schemas that tell a model nothing.
const NOT_SHOWN: [&str; 7] =
    ["$schema", "$id", "$comment", "title", "examples", "x-secret", "writeOnly"];

impl Candidates {
    /// What this catalogue means, where these tools may be chosen whatever they do.
    pub fn new(catalogue: Arc<Catalogue>, allow: &[String]) -> Self {
        let mut visible = Vec::new();
        let mut hidden = BTreeMap::new();
        let mut servers = BTreeSet::new();
        for tool in catalogue.tools() {
            let contract = &tool.contract;
            let server = contract.toolset.clone();
            let name = local_name(&server, &contract.name).to_owned();
            servers.insert(server.clone());
            let why = if allow.contains(&contract.name) {
                None
            } else if contract.effects.changes_the_world() {
                Some("it has effects")
            } else if contract.approval == Approval::Required {
                Some("every call wants an approval")
            } else {
                None
            };
            match why {
                Some(why) => {
                    hidden.insert((server, name), why);
                }
                None => {
                    let listing = listing(&server, &name, tool);
                    visible.push(Candidate { tool: tool.clone(), server, name, listing });
                }
            }
        }
        for (name, withheld) in catalogue.withheld() {
            let server = withheld.toolset.clone();
            let name = local_name(&server, name).to_owned();
            servers.insert(server.clone());
            hidden.insert((server, name), withheld.reason);
        }
        let key = |one: &Candidate| (one.server.clone(), one.name.clone());
        let by_name = visible.iter().map(key).zip(0..).collect();
        let index = Index::new(visible.iter().map(|one| Entry {
            name: &one.name,
            description: &one.tool.contract.description,
            schema: &one.tool.contract.input_schema,
            tokens: one.listing.len() / BYTES_PER_TOKEN + 1,
        }));
        Self { catalogue, visible, by_name, hidden, servers, index }
    }

    /// Whether this is about that catalogue.
    pub(crate) fn is_of(&self, catalogue: &Arc<Catalogue>) -> bool {
        Arc::ptr_eq(&self.catalogue, catalogue)
    }

    /// Every tool that may be chosen.
    pub fn visible(&self) -> &[Candidate] {
        &self.visible
    }

    /// How many tools there are by server, for the trace.
    pub(crate) fn discovered(&self) -> Value {
        let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
        let hidden = self.hidden.keys().map(|(server, _)| server.as_str());
        for server in hidden.chain(self.visible.iter().map(|one| one.server.as_str())) {
            *servers.entry(server).or_default() += 1;
        }
        json!({ "servers": servers, "tools": self.visible.len() + self.hidden.len() })
    }

    /// What may be chosen and what may not, for the trace.
    pub(crate) fn allowed(&self) -> Value {
        let path = |server: &str, name: &str| format!("{server}.{name}");
        let allowed: Vec<_> = self.visible.iter().map(|one| path(&one.server, &one.name)).collect();
        let hidden: BTreeMap<_, _> =
            self.hidden.iter().map(|((server, name), why)| (path(server, name), why)).collect();
        json!({ "allowed": allowed, "not_allowed": hidden })
    }

    /// The tools that a question's prompt has room for.
    pub(crate) fn pick(&self, question: &str, tokens: usize) -> Picked {
        self.index.pick(question, tokens)
    }

    /// The tool of that name on that server, if it may be chosen.
    pub fn find(&self, server: &str, tool: &str) -> Result<&Candidate, Refused> {
        let key = (server.to_owned(), tool.to_owned());
        if let Some(place) = self.by_name.get(&key) {
            return Ok(&self.visible[*place]);
        }
        let (server, tool) = (super::plan::shown(server), super::plan::shown(tool));
        if !self.servers.contains(&server) {
            return Err(Refused::Invalid(format!("Unknown server: {server}")));
        }
        if !self.hidden.contains_key(&key) {
            return Err(Refused::Invalid(format!("Unknown tool '{tool}' on server '{server}'")));
        }
        Err(self.not_allowed(server, tool))
    }

    /// The tool that a person means by a name: the one that it is served under, `server.tool`, or that on its server
    /// where there is only one.
    pub fn named(&self, name: &str) -> Result<&Candidate, Refused> {
        let is_meant = |server: &str, tool: &str| {
            name == tool
                || name.strip_prefix(server).and_then(|rest| rest.strip_prefix('.')) == Some(tool)
                || name.strip_prefix(server).and_then(|rest| rest.strip_prefix("__")) == Some(tool)
        };
        if let Some(exact) = self.visible.iter().find(|one| one.tool.contract.name == name) {
            return Ok(exact);
        }
        let mut meant = self.visible.iter().filter(|one| is_meant(&one.server, &one.name));
        if let Some(first) = meant.next() {
            return match meant.next() {
                None => Ok(first),
                Some(other) => Err(Refused::Invalid(format!(
                    "'{}' is a tool of '{}' and of '{}'",
                    first.name, first.server, other.server
                ))),
            };
        }
        let mut hidden = self.hidden.keys();
        match hidden.find(|(server, tool)| is_meant(server, tool)) {
            Some((server, tool)) => Err(self.not_allowed(server.clone(), tool.clone())),
            None => Err(Refused::Invalid(format!("Unknown tool '{}'", super::plan::shown(name)))),
        }
    }

    /// A tool that the question asks for by name and that may not be chosen. A name that is a plain word is
    /// no name here: somebody may just say `search`.
    pub fn asked_for(&self, question: &str) -> Option<Refused> {
        let is_part = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.' | '-');
        let tokens = question.split(|one: char| !is_part(one));
        for token in tokens.map(|token| token.trim_matches(['.', '-'])) {
            if !token.contains(['_', '.', '-']) {
                continue;
            }
            let is_meant = |server: &str, tool: &str| {
                let rest =
                    token.get(..server.len()).filter(|head| head.eq_ignore_ascii_case(server));
                let rest = rest.map(|_| &token[server.len()..]);
                let rest = rest
                    .and_then(|rest| rest.strip_prefix("__").or_else(|| rest.strip_prefix('.')));
                token.eq_ignore_ascii_case(tool)
                    || rest.is_some_and(|rest| rest.eq_ignore_ascii_case(tool))
            };
            if self.visible.iter().any(|one| is_meant(&one.server, &one.name)) {
                continue;
            }
            let mut hidden = self.hidden.keys();
            if let Some((server, tool)) = hidden.find(|(server, tool)| is_meant(server, tool)) {
                return Some(self.not_allowed(server.clone(), tool.clone()));
            }
        }
        None
    }

    /// Whether what models read of the tools has this in it.
    pub(crate) fn mention(&self, token: &str) -> bool {
        self.visible.iter().any(|one| one.listing.to_lowercase().contains(token))
    }

    fn not_allowed(&self, server: String, tool: String) -> Refused {
        if self.visible.iter().any(|one| one.server == server) {
            Refused::ToolNotAllowed { server, tool }
        } else if self.catalogue.toolset(&server).is_some() {
            // There is something of it, and all of that has effects.
            Refused::ToolNotAllowed { server, tool }
        } else {
            Refused::ServerNotAllowed(server)
        }
    }
}

/// The name that a tool has on its server: those of upstreams are served under both names.
pub fn local_name<'a>(server: &str, name: &'a str) -> &'a str {
    let rest = name.strip_prefix(server).and_then(|rest| rest.strip_prefix("__"));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}

/// What a model reads of a tool: one line of JSON that cannot end what it stands in.
fn listing(server: &str, name: &str, tool: &Tool) -> String {
    let mut schema = tool.contract.input_schema.clone();
    trim(&mut schema, true);
    let listing = json!({
        "server": server,
        "tool": name,
        "description": tool.contract.description,
        "inputSchema": schema,
    });
    fenced(&listing)
}

/// JSON in which nothing looks like a mark of ours: `<` only stands inside of strings.
pub(crate) fn fenced(value: &Value) -> String {
    value.to_string().replace('<', "\\u003c")
}

/// Takes out what tells a model nothing; `properties` are names and not keywords.
fn trim(schema: &mut Value, is_schema: bool) {
    match schema {
        Value::Object(fields) => {
            if is_schema {
                fields.retain(|keyword, _| !NOT_SHOWN.contains(&keyword.as_str()));
            }
            for (keyword, value) in fields.iter_mut() {
                let holds_names = is_schema && (keyword == "properties" || keyword == "$defs");
                trim(value, !holds_names);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| trim(item, true)),
        _ => {}
    }
}
