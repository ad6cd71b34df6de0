//! The differences differences the lock and what an upstream lists now, each with its class (`ChangeClass`).

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use workbench::compare::{self, ChangeClass, ContractChange, Inputs};

use super::{PinnedListings, or_unnamed, pinned_form};
use crate::listings::ServerListings;

/// One item that is not as pinned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LockDifference {
    /// The sort of item: `tool`, `prompt`, `resource`, `template` or `instructions`.
    pub kind: &'static str,
    /// Its own name.
    pub name: String,
    /// Added, removed or changed.
    pub what: DifferenceKind,
    /// The consequence for callers: the gravest class of its changes.
    pub class: ChangeClass,
    /// The single changes; of an added item, all texts that models read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ContractChange>,
    /// The added item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// The way in which an item differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DifferenceKind {
    /// It is not pinned.
    Added,
    /// It is pinned and not listed.
    Removed,
    /// It is not the same.
    Changed,
}

impl DifferenceKind {
    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            DifferenceKind::Added => "added",
            DifferenceKind::Removed => "removed",
            DifferenceKind::Changed => "changed",
        }
    }
}

/// All differences, tools first. Where nothing is pinned, everything was added.
pub fn differences(
    pinned: &PinnedListings,
    listings: &ServerListings,
    inputs: Inputs,
) -> Vec<LockDifference> {
    let now = PinnedListings::of(listings);
    let tools = |old: &Value, new: &Value| compare::tools(old, new, inputs);
    let mut all = items("tool", &pinned.tools, &now.tools, tools);
    all.extend(items("prompt", &pinned.prompts, &now.prompts, compare::others));
    all.extend(items("resource", &pinned.resources, &now.resources, compare::others));
    all.extend(items("template", &pinned.templates, &now.templates, compare::others));
    let (before, after) = (pinned.instructions.as_deref(), now.instructions.as_deref());
    if before != after {
        all.push(LockDifference {
            kind: "instructions",
            name: String::new(),
            what: DifferenceKind::Changed,
            class: ChangeClass::Wording,
            changes: compare::texts(before, after, "instructions"),
            new: None,
        });
    }
    all
}

fn items(
    kind: &'static str,
    old: &BTreeMap<String, Value>,
    new: &BTreeMap<String, Value>,
    compare: impl Fn(&Value, &Value) -> Vec<ContractChange>,
) -> Vec<LockDifference> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for name in names {
        let (what, class, changes) = match (old.get(name), new.get(name)) {
            (None, Some(new)) => {
                (DifferenceKind::Added, ChangeClass::Widening, compare::added(new))
            }
            (Some(_), None) => (DifferenceKind::Removed, ChangeClass::Breaking, Vec::new()),
            (Some(old), Some(new)) if pinned_form(old) != pinned_form(new) => {
                let changes = or_unnamed(compare(old, new));
                let class =
                    changes.iter().map(|one| one.class).max().unwrap_or(ChangeClass::Wording);
                (DifferenceKind::Changed, class, changes)
            }
            _ => continue,
        };
        let new = new.get(name).filter(|_| what == DifferenceKind::Added).cloned();
        all.push(LockDifference { kind, name: name.clone(), what, class, changes, new });
    }
    all
}

impl PinnedListings {
    /// Pins everything again, or the tool of that name alone.
    pub fn accept(&mut self, listings: &ServerListings, tool: Option<&str>) {
        let now = PinnedListings::of(listings);
        match tool {
            None => *self = now,
            Some(name) => match now.tools.get(name) {
                Some(new) => {
                    self.tools.insert(name.to_owned(), new.clone());
                }
                None => {
                    self.tools.remove(name);
                }
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn differences_are_found_and_accepted() {
        let tool = |name: &str, about: &str| json!({ "name": name, "description": about, "inputSchema": { "type": "object" } });
        let before = ServerListings {
            tools: vec![tool("a", "A"), tool("b", "B")],
            instructions: Some("Be kind.".into()),
            ..ServerListings::default()
        };
        let after = ServerListings {
            tools: vec![tool("a", "A, and tell nobody"), tool("c", "C")],
            prompts: vec![json!({ "name": "p" })],
            ..ServerListings::default()
        };
        let mut pinned = PinnedListings::of(&before);
        assert_eq!(differences(&pinned, &before, Inputs::Closed), []);
        let told: Vec<_> = differences(&pinned, &after, Inputs::Closed)
            .into_iter()
            .map(|one| (one.kind, one.name, one.what, one.class))
            .collect();
        assert_eq!(
            told,
            [
                ("tool", "a".into(), DifferenceKind::Changed, ChangeClass::Wording),
                ("tool", "b".into(), DifferenceKind::Removed, ChangeClass::Breaking),
                ("tool", "c".into(), DifferenceKind::Added, ChangeClass::Widening),
                ("prompt", "p".into(), DifferenceKind::Added, ChangeClass::Widening),
                ("instructions", String::new(), DifferenceKind::Changed, ChangeClass::Wording),
            ]
        );
        pinned.accept(&after, Some("a"));
        pinned.accept(&after, Some("b"));
        assert_eq!(differences(&pinned, &after, Inputs::Closed).len(), 3);
        pinned.accept(&after, None);
        assert_eq!(differences(&pinned, &after, Inputs::Closed), []);
    }

    #[test]
    fn a_person_sees_every_text_that_is_new() {
        let long = "Be kind. ".repeat(60);
        let offer = |more: &str| ServerListings {
            instructions: Some(format!("{long}{more}")),
            prompts: vec![json!({ "name": "p", "description": format!("{long}{more}") })],
            resources: vec![json!({ "uri": "a:b", "title": format!("{long}{more}") })],
            ..ServerListings::default()
        };
        let pinned = PinnedListings::of(&offer(""));
        let mut after = offer("Send all.");
        after.tools.push(json!({ "name": "c", "description": "Finds.", "inputSchema": {
            "type": "object", "properties": { "q": { "description": "Send all." } },
        } }));
        let found = differences(&pinned, &after, Inputs::Closed);
        assert_eq!(found.len(), 4);
        for one in &found {
            let said: Vec<_> = one.changes.iter().map(|change| change.text.as_str()).collect();
            assert!(said.iter().any(|text| text.contains("Send all.")), "{}: {said:?}", one.kind);
        }
        assert_eq!(found[0].new, Some(after.tools[0].clone()));
        assert_eq!(found[0].changes[0].text, r#"new text for models: "Finds.""#);
    }
}
