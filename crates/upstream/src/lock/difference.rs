//! What is different between what is pinned and what is offered.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use workbench::compare::{self, Change, ChangeClass, Inputs};

use super::{Pinned, kept, told};
use crate::offer::Offer;

/// One thing that is not as it was pinned.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// What it is: `tool`, `prompt`, `resource`, `template` or `instructions`.
    pub kind: &'static str,
    /// Its own name.
    pub name: String,
    /// What happened to it.
    pub what: What,
    /// How grave that is to those who rely on it.
    pub class: ChangeClass,
    /// What changed, piece by piece; of what was added, all that models read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// All of what was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
}

/// What happened to something that is pinned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// It was not there.
    Added,
    /// It is not there any more.
    Removed,
    /// It is another.
    Changed,
}

impl What {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            What::Added => "added",
            What::Removed => "removed",
            What::Changed => "changed",
        }
    }
}

/// Everything that is different, tools first. Where nothing is pinned, everything was added.
pub fn between(pinned: &Pinned, offer: &Offer, inputs: Inputs) -> Vec<Difference> {
    let now = Pinned::of(offer);
    let tools = |old: &Value, new: &Value| compare::tools(old, new, inputs);
    let mut all = items("tool", &pinned.tools, &now.tools, tools);
    all.extend(items("prompt", &pinned.prompts, &now.prompts, compare::others));
    all.extend(items("resource", &pinned.resources, &now.resources, compare::others));
    all.extend(items("template", &pinned.templates, &now.templates, compare::others));
    let (before, after) = (pinned.instructions.as_deref(), now.instructions.as_deref());
    if before != after {
        all.push(Difference {
            kind: "instructions",
            name: String::new(),
            what: What::Changed,
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
    compare: impl Fn(&Value, &Value) -> Vec<Change>,
) -> Vec<Difference> {
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let mut all = Vec::new();
    for name in names {
        let (what, class, changes) = match (old.get(name), new.get(name)) {
            (None, Some(new)) => (What::Added, ChangeClass::Widening, compare::added(new)),
            (Some(_), None) => (What::Removed, ChangeClass::Breaking, Vec::new()),
            (Some(old), Some(new)) if kept(old) != kept(new) => {
                let changes = told(compare(old, new));
                let class =
                    changes.iter().map(|one| one.class).max().unwrap_or(ChangeClass::Wording);
                (What::Changed, class, changes)
            }
            _ => continue,
        };
        let new = new.get(name).filter(|_| what == What::Added).cloned();
        all.push(Difference { kind, name: name.clone(), what, class, changes, new });
    }
    all
}

impl Pinned {
    /// Pins everything anew, or the tool of that name alone.
    pub fn accept(&mut self, offer: &Offer, tool: Option<&str>) {
        let now = Pinned::of(offer);
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
    fn differences_are_told_and_accepted() {
        let tool = |name: &str, about: &str| json!({ "name": name, "description": about, "inputSchema": { "type": "object" } });
        let before = Offer {
            tools: vec![tool("a", "A"), tool("b", "B")],
            instructions: Some("Be kind.".into()),
            ..Offer::default()
        };
        let after = Offer {
            tools: vec![tool("a", "A, and tell nobody"), tool("c", "C")],
            prompts: vec![json!({ "name": "p" })],
            ..Offer::default()
        };
        let mut pinned = Pinned::of(&before);
        assert_eq!(between(&pinned, &before, Inputs::Closed), []);
        let told: Vec<_> = between(&pinned, &after, Inputs::Closed)
            .into_iter()
            .map(|one| (one.kind, one.name, one.what, one.class))
            .collect();
        assert_eq!(
            told,
            [
                ("tool", "a".into(), What::Changed, ChangeClass::Wording),
                ("tool", "b".into(), What::Removed, ChangeClass::Breaking),
                ("tool", "c".into(), What::Added, ChangeClass::Widening),
                ("prompt", "p".into(), What::Added, ChangeClass::Widening),
                ("instructions", String::new(), What::Changed, ChangeClass::Wording),
            ]
        );
        pinned.accept(&after, Some("a"));
        pinned.accept(&after, Some("b"));
        assert_eq!(between(&pinned, &after, Inputs::Closed).len(), 3);
        pinned.accept(&after, None);
        assert_eq!(between(&pinned, &after, Inputs::Closed), []);
    }

    #[test]
    fn a_person_sees_every_text_that_is_new() {
        let long = "Be kind. ".repeat(60);
        let offer = |more: &str| Offer {
            instructions: Some(format!("{long}{more}")),
            prompts: vec![json!({ "name": "p", "description": format!("{long}{more}") })],
            resources: vec![json!({ "uri": "a:b", "title": format!("{long}{more}") })],
            ..Offer::default()
        };
        let pinned = Pinned::of(&offer(""));
        let mut after = offer("Send all.");
        after.tools.push(json!({ "name": "c", "description": "Finds.", "inputSchema": {
            "type": "object", "properties": { "q": { "description": "Send all." } },
        } }));
        let found = between(&pinned, &after, Inputs::Closed);
        assert_eq!(found.len(), 4);
        for one in &found {
            let said: Vec<_> = one.changes.iter().map(|change| change.text.as_str()).collect();
            assert!(said.iter().any(|text| text.contains("Send all.")), "{}: {said:?}", one.kind);
        }
        assert_eq!(found[0].new, Some(after.tools[0].clone()));
        assert_eq!(found[0].changes[0].text, r#"models read anew "Finds.""#);
    }
}
