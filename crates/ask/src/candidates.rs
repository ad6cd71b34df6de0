//! The tools that a planner may choose from.

mod listing;

use std::{collections::BTreeMap, sync::Arc};

pub(crate) use listing::{fenced, first_sentence};

use contract::ApprovalRequirement;
use gate::{Catalogue, Tool};
use serde_json::{Value, json};

use crate::{
    plan::{PlanRefusal, shown},
    shortlist::{ShortlistEntry, ToolIndex},
};

/// A tool that a planner may choose.
pub struct Candidate {
    pub tool: Arc<Tool>,
    /// Its toolset.
    pub server: String,
    /// The name that it has there.
    pub name: String,
    /// The text that the model reads of it.
    pub(crate) listing: String,
    /// The same in short, for where there is not room for all.
    pub(crate) brief: String,
}

/// A catalogue as a planner sees it. Made once for each catalogue.
pub struct Candidates {
    pub(crate) catalogue: Arc<Catalogue>,
    /// Every tool that may be chosen.
    pub(crate) visible: Vec<Candidate>,
    /// Tools that are known and may not be chosen, by server and tool, with the reason.
    hidden: BTreeMap<(String, String), &'static str>,
    index: ToolIndex,
}

/// The tools that a planner is shown.
pub(crate) struct ShownTools<'a> {
    pub tools: Vec<&'a Candidate>,
    /// True if they are shown in short.
    pub is_brief: bool,
}

/// The most allowed tools that the trace names.
const MAX_NAMED: usize = 100;

/// The fewest bytes of a token in the texts that models read of tools.
const BYTES_PER_TOKEN: usize = 3;

fn tokens(listing: &str) -> usize {
    listing.len() / BYTES_PER_TOKEN + 1
}

impl Candidate {
    /// Its name as `server.tool`.
    pub(crate) fn path(&self) -> String {
        format!("{}.{}", self.server, self.name)
    }
}

impl Candidates {
    /// The view of this catalogue, where these tools may be chosen whatever they do.
    pub fn new(catalogue: Arc<Catalogue>, allow: &[String]) -> Self {
        let mut visible = Vec::new();
        let mut hidden = BTreeMap::new();
        for tool in catalogue.tools() {
            let contract = &tool.contract;
            let server = contract.toolset.clone();
            let name = local_name(&server, &contract.name).to_owned();
            let path = format!("{server}.{name}");
            let why = if allow.iter().any(|allowed| *allowed == contract.name || *allowed == path) {
                None
            } else if contract.effects.changes_the_world() {
                Some("it has effects; `ask.allow` can let a planner choose it")
            } else if contract.approval == ApprovalRequirement::Required {
                Some("every call of it wants an approval; `ask.allow` can let a planner choose it")
            } else {
                None
            };
            if let Some(why) = why {
                hidden.insert((server, name), why);
                continue;
            }
            let listing = listing::of(&server, &name, tool, false);
            let brief = listing::of(&server, &name, tool, true);
            visible.push(Candidate { tool: tool.clone(), server, name, listing, brief });
        }
        for (name, withheld) in catalogue.withheld() {
            let server = withheld.toolset.clone();
            let name = local_name(&server, name).to_owned();
            let why = match withheld.reason {
                "not_allowed" => "it is not on the allowlist",
                _ => "it is not served; `toolgate upstream list` says why",
            };
            hidden.insert((server, name), why);
        }
        let index = ToolIndex::new(visible.iter().map(|one| ShortlistEntry {
            name: &one.name,
            description: &one.tool.contract.description,
            schema: &one.tool.contract.input_schema,
            tokens: tokens(&one.brief),
        }));
        Self { catalogue, visible, hidden, index }
    }

    /// The server of each tool.
    fn servers(&self) -> impl Iterator<Item = &str> {
        let hidden = self.hidden.keys().map(|(server, _)| server.as_str());
        hidden.chain(self.visible.iter().map(|one| one.server.as_str()))
    }

    /// The number of tools by server, for the trace.
    pub(crate) fn discovered(&self) -> Value {
        let mut servers: BTreeMap<&str, usize> = BTreeMap::new();
        for server in self.servers() {
            *servers.entry(server).or_default() += 1;
        }
        json!({ "servers": servers, "tools": self.visible.len() + self.hidden.len() })
    }

    /// The allowed tools, for the trace. Of the others there is only the number: who asks need not know them.
    pub(crate) fn allowed(&self) -> Value {
        let allowed: Vec<_> = self.visible.iter().take(MAX_NAMED).map(Candidate::path).collect();
        let more = self.visible.len().saturating_sub(MAX_NAMED);
        json!({ "allowed": allowed, "more_allowed": more, "not_allowed": self.hidden.len() })
    }

    /// Picks the tools that a planner is shown for a question: all tools whole, where there is room; else all of them in short; else those
    /// that fit the question best.
    pub(crate) fn pick(&self, question: &str, max_tokens: usize) -> ShownTools<'_> {
        let whole: usize = self.visible.iter().map(|one| tokens(&one.listing)).sum();
        if whole <= max_tokens {
            return ShownTools { tools: self.visible.iter().collect(), is_brief: false };
        }
        let picked = self.index.pick(question, max_tokens);
        let tools = picked.into_iter().map(|place| &self.visible[place]).collect();
        ShownTools { tools, is_brief: true }
    }

    /// The tool of that name on that server, if it may be chosen.
    pub fn find(&self, server: &str, tool: &str) -> Result<&Candidate, PlanRefusal> {
        if let Some(found) = self.meant(|known, name| known == server && name == tool)?.first() {
            return Ok(found);
        }
        Err(PlanRefusal::Invalid(if self.servers().any(|known| known == server) {
            format!("Unknown tool '{}' on server '{}'", shown(tool), shown(server))
        } else {
            format!("Unknown server: {}", shown(server))
        }))
    }

    /// The tool that a person means by a name: the one that it is served under, `server.tool`, or that on its server
    /// where there is only one.
    pub fn named(&self, name: &str) -> Result<&Candidate, PlanRefusal> {
        if let Some(exact) = self.visible.iter().find(|one| one.tool.contract.name == name) {
            return Ok(exact);
        }
        let meant = self.meant(|server, tool| names(name, server, tool, str::eq))?;
        Err(PlanRefusal::Invalid(match meant[..] {
            [only] => return Ok(only),
            [first, other, ..] => format!(
                "'{}' is a tool of '{}' and of '{}'",
                first.name, first.server, other.server
            ),
            [] => {
                let known = self.visible.iter().map(|one| one.tool.contract.name.as_str());
                format!("Unknown tool '{}'{}", shown(name), contract::did_you_mean(name, known))
            }
        }))
    }

    /// A tool that the question asks for by name and that may not be chosen. A name that could be a word is no
    /// name here: somebody may just say `search` or `check-in`.
    pub fn asked_for(&self, question: &str) -> Option<PlanRefusal> {
        let is_part = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.' | '-');
        let tokens = question.split(|one: char| !is_part(one)).filter(|token| !token.is_empty());
        let mut before = "";
        for token in tokens.map(|token| token.trim_matches(['.', '-'])) {
            let is_called = CALLING.iter().any(|word| before.eq_ignore_ascii_case(word));
            before = token;
            if !(token.contains(['_', '.']) || is_called && token.contains('-')) {
                continue;
            }
            let is_meant =
                |server: &str, tool: &str| names(token, server, tool, str::eq_ignore_ascii_case);
            if let Err(refused) = self.meant(is_meant) {
                return Some(refused);
            }
        }
        None
    }

    /// The tools that are meant, by server and tool. Where they are known and none may be chosen, the refusal of the first.
    fn meant(&self, is_meant: impl Fn(&str, &str) -> bool) -> Result<Vec<&Candidate>, PlanRefusal> {
        let visible = self.visible.iter().filter(|one| is_meant(&one.server, &one.name));
        let visible: Vec<_> = visible.collect();
        let mut hidden = self.hidden.iter();
        match hidden.find(|((server, tool), _)| is_meant(server, tool)) {
            Some(((server, tool), why)) if visible.is_empty() => {
                Err(self.not_allowed(server, tool, why))
            }
            _ => Ok(visible),
        }
    }

    fn not_allowed(&self, server: &str, tool: &str, why: &'static str) -> PlanRefusal {
        // Where there is something of a server it is the tool that is not allowed, though all of that may have effects.
        if self.catalogue.toolset(server).is_some() {
            let what = format!("Tool not allowed: {}.{}", shown(server), shown(tool));
            PlanRefusal::NotAllowed { what, why }
        } else {
            let what = format!("Server not allowed: {}", shown(server));
            PlanRefusal::NotAllowed { what, why: "nothing of it is on the allowlist" }
        }
    }
}

/// Words before the name of a tool.
const CALLING: [&str; 8] = ["call", "execute", "invoke", "run", "tool", "trigger", "use", "using"];

/// True if a text is the name of a tool: `tool`, `server.tool` or `server__tool`.
fn names(text: &str, server: &str, tool: &str, is_same: fn(&str, &str) -> bool) -> bool {
    let local = text.split_at_checked(server.len()).and_then(|(head, rest)| {
        let local = rest.strip_prefix("__").or_else(|| rest.strip_prefix('.'));
        local.filter(|_| is_same(head, server))
    });
    is_same(text, tool) || local.is_some_and(|local| is_same(local, tool))
}

/// The name that a tool has on its server: those of upstreams are served under both names.
pub fn local_name<'a>(server: &str, name: &'a str) -> &'a str {
    let rest = name.strip_prefix(server).and_then(|rest| rest.strip_prefix("__"));
    rest.filter(|rest| !rest.is_empty()).unwrap_or(name)
}
