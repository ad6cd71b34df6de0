//! What is different between what is pinned and what is offered.

use std::collections::{BTreeMap, BTreeSet};

use contract::compare::{self, Change, Class};
use serde::Serialize;
use serde_json::Value;

use super::{Pinned, kept, wording};
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
    pub class: Class,
    /// What changed, piece by piece.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
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
pub fn between(pinned: &Pinned, offer: &Offer) -> Vec<Difference> {
    let now = Pinned::of(offer);
    let mut all = items("tool", &pinned.tools, &now.tools, compare::tools);
    let other = |old: &Value, new: &Value| {
        let changed =
            old.as_object().into_iter().flatten().chain(new.as_object().into_iter().flatten());
        let keys: BTreeSet<&String> = changed.map(|(key, _)| key).collect();
        let different = keys.into_iter().filter(|key| old.get(*key) != new.get(*key));
        different.map(|key| wording("text", &format!("`{key}` is another"))).collect()
    };
    all.extend(items("prompt", &pinned.prompts, &now.prompts, other));
    all.extend(items("resource", &pinned.resources, &now.resources, other));
    all.extend(items("template", &pinned.templates, &now.templates, other));
    if pinned.instructions != now.instructions {
        let text = match (&pinned.instructions, &now.instructions) {
            (None, _) => "there were none",
            (_, None) => "there are none any more",
            _ => "are others",
        };
        all.push(Difference {
            kind: "instructions",
            name: String::new(),
            what: What::Changed,
            class: Class::Wording,
            changes: vec![wording("instructions", text)],
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
            (None, Some(_)) => (What::Added, Class::Widening, Vec::new()),
            (Some(_), None) => (What::Removed, Class::Breaking, Vec::new()),
            (Some(old), Some(new)) if kept(old) != kept(new) => {
                let mut changes = compare(old, new);
                if changes.is_empty() {
                    changes.push(wording(
                        "other",
                        "something beside its schemas and texts is different",
                    ));
                }
                let class = changes.iter().map(|one| one.class).max().unwrap_or(Class::Wording);
                (What::Changed, class, changes)
            }
            _ => continue,
        };
        all.push(Difference { kind, name: name.clone(), what, class, changes });
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
        assert_eq!(between(&pinned, &before), []);
        let told: Vec<_> = between(&pinned, &after)
            .into_iter()
            .map(|one| (one.kind, one.name, one.what, one.class))
            .collect();
        assert_eq!(
            told,
            [
                ("tool", "a".into(), What::Changed, Class::Wording),
                ("tool", "b".into(), What::Removed, Class::Breaking),
                ("tool", "c".into(), What::Added, Class::Widening),
                ("prompt", "p".into(), What::Added, Class::Widening),
                ("instructions", String::new(), What::Changed, Class::Wording),
            ]
        );
        pinned.accept(&after, Some("a"));
        pinned.accept(&after, Some("b"));
        assert_eq!(between(&pinned, &after).len(), 3);
        pinned.accept(&after, None);
        assert_eq!(between(&pinned, &after), []);
    }
}
