//! The lock: what every upstream offered when a person last looked at it.
//!
//! It holds everything that a model reads (names, titles, descriptions, annotations, schemas,
//! instructions), whole and not as hashes, so that a change can be told in words.

mod difference;

use std::{collections::BTreeMap, io, path::Path, time::SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workbench::compare::{self, Change, ChangeClass, Inputs};

pub use difference::{Difference, What, between};

use crate::{
    offer::Offer,
    replace,
    settings::{Changes, UnknownArguments, Upstream},
};

/// The revision of the file's format.
const VERSION: u32 = 1;
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// The pinned contracts of all upstreams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lock {
    version: u32,
    /// What each upstream offered, by its id.
    pub upstreams: BTreeMap<String, Pinned>,
}

/// What one upstream offered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Pinned {
    /// What it tells models about itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// Its tools, by its own names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, Value>,
    /// Its prompts, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, Value>,
    /// Its resources, by URI.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, Value>,
    /// Its templates of resources, by URI.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub templates: BTreeMap<String, Value>,
}

/// Why there is no lock to go by.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file is there and cannot be read.
    #[error("cannot read the lock `{path}`: {source}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
    /// The file is none of ours.
    #[error("`{path}` is no lock: {reason}")]
    Malformed {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// It could not be written.
    #[error("cannot write the lock `{path}`: {source}")]
    Unwritable {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// An empty one.
impl Default for Lock {
    fn default() -> Self {
        Self { version: VERSION, upstreams: BTreeMap::new() }
    }
}

/// What tells a file from what it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stamp {
    modified: Option<SystemTime>,
    bytes: u64,
    /// A file that was replaced is another one, even within one tick of the clock.
    number: u64,
}

/// How the file is now; nothing where there is none. Taken before it is read, so that what is written
/// meanwhile is seen as a change.
pub fn stamp(path: &Path) -> Option<Stamp> {
    use std::os::unix::fs::MetadataExt;
    let metadata = std::fs::metadata(path).ok()?;
    Some(Stamp {
        modified: metadata.modified().ok(),
        bytes: metadata.len(),
        number: metadata.ino(),
    })
}

impl Lock {
    /// Reads the file; nothing where there is none. A file that cannot be read is an error: it may
    /// say that something must not be called.
    pub fn read(path: &Path) -> Result<Option<Self>, LockError> {
        let shown = path.display().to_string();
        let unreadable = |source| LockError::Unreadable { path: shown.clone(), source };
        let malformed = |reason| LockError::Malformed { path: shown.clone(), reason };
        let size = match path.metadata() {
            Ok(metadata) => metadata.len(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        if size > MAX_FILE_BYTES {
            return Err(malformed(format!("it has more than {MAX_FILE_BYTES} bytes")));
        }
        let text = std::fs::read(path).map_err(unreadable)?;
        let lock: Self =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        if lock.version != VERSION {
            return Err(malformed(format!(
                "its version is {}, and this program knows {VERSION}",
                lock.version
            )));
        }
        Ok(Some(lock))
    }

    /// Replaces the file as a whole.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let unwritable =
            |source| LockError::Unwritable { path: path.display().to_string(), source };
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| unwritable(error.into()))?;
        text.push(b'\n');
        replace(path, &text).map_err(unwritable)
    }
}

impl Pinned {
    /// What an upstream offers now, as it is pinned.
    pub fn of(offer: &Offer) -> Self {
        let by = |items: &[Value], key: &str| -> BTreeMap<String, Value> {
            let named = items
                .iter()
                .filter_map(|item| Some((item.get(key)?.as_str()?.to_owned(), kept(item))));
            named.collect()
        };
        Self {
            instructions: offer.instructions.clone(),
            tools: by(&offer.tools, "name"),
            prompts: by(&offer.prompts, "name"),
            resources: by(&offer.resources, "uri"),
            templates: by(&offer.templates, "uriTemplate"),
        }
    }
}

impl Pinned {
    /// What was offered when it was pinned.
    pub fn to_offer(&self) -> Offer {
        let all = |items: &BTreeMap<String, Value>| items.values().cloned().collect();
        Offer {
            instructions: self.instructions.clone(),
            tools: all(&self.tools),
            prompts: all(&self.prompts),
            resources: all(&self.resources),
            templates: all(&self.templates),
            ..Offer::default()
        }
    }
}

/// An item as it is pinned: in one order of its keys, and without what is said in passing.
fn kept(item: &Value) -> Value {
    let Value::Object(fields) = item else { return item.clone() };
    let mut names: Vec<_> =
        fields.keys().filter(|name| !compare::is_said_in_passing(name)).collect();
    names.sort();
    let kept = names.into_iter().map(|name| (name.clone(), fields[name].clone()));
    Value::Object(kept.collect::<Map<_, _>>())
}

/// What the lock says of something that is offered.
#[derive(Debug, Clone, PartialEq)]
pub enum Standing {
    /// It is as it was pinned, or nothing is pinned anywhere.
    Fine,
    /// It changed, in a way that the policy takes.
    Tolerated(Vec<Change>),
    /// It changed, and waits for a person.
    Changed(Vec<Change>),
    /// It is not pinned, where other things are.
    New,
}

impl Standing {
    /// Whether it may be used.
    pub fn is_fine(&self) -> bool {
        matches!(self, Standing::Fine | Standing::Tolerated(_))
    }
}

/// Holds a tool against what is pinned of its upstream, as it is enforced by these settings.
pub fn tool(pinned: Option<&Pinned>, name: &str, tool: &Value, settings: &Upstream) -> Standing {
    let compare = |old: &Value, new: &Value| compare::tools(old, new, settings.inputs());
    judge(pinned, |pinned| pinned.tools.get(name).cloned(), tool, settings.changes, compare)
}

/// Holds something else than a tool against what is pinned.
pub fn other(
    pinned: Option<&Pinned>,
    find: impl Fn(&Pinned) -> Option<Value>,
    item: &Value,
    policy: Changes,
) -> Standing {
    judge(pinned, find, item, policy, |old, new| compare::others(&kept(old), &kept(new)))
}

fn judge(
    pinned: Option<&Pinned>,
    find: impl Fn(&Pinned) -> Option<Value>,
    item: &Value,
    policy: Changes,
    compare: impl Fn(&Value, &Value) -> Vec<Change>,
) -> Standing {
    let Some(pinned) = pinned else {
        return if policy == Changes::Freeze { Standing::New } else { Standing::Fine };
    };
    let Some(old) = find(pinned) else { return Standing::New };
    let new = kept(item);
    if old == new {
        return Standing::Fine;
    }
    let changes = told(compare(&old, &new));
    let harmless = changes.iter().all(|one| one.class <= ChangeClass::Widening);
    if harmless && policy == Changes::AcceptCompatible {
        Standing::Tolerated(changes)
    } else {
        Standing::Changed(changes)
    }
}

/// Changes of something that is not the same: at least one.
fn told(mut changes: Vec<Change>) -> Vec<Change> {
    if changes.is_empty() {
        // Something that is compared by no rule, and is not the same all the same.
        let text = "something beside its schemas and texts is different";
        changes.push(Change::said("other", ChangeClass::Wording, text));
    }
    changes
}

impl Upstream {
    /// What becomes of arguments that its schemas say nothing about.
    pub fn inputs(&self) -> Inputs {
        match self.unknown_arguments {
            UnknownArguments::Refuse => Inputs::Closed,
            UnknownArguments::Allow => Inputs::AsListed,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pinned(tools: &[Value]) -> Pinned {
        Pinned::of(&Offer { tools: tools.to_vec(), ..Offer::default() })
    }

    fn search(description: &str, input: &Value) -> Value {
        json!({ "name": "search", "description": description, "inputSchema": input,
            "outputSchema": { "type": "object" } })
    }

    #[test]
    fn policies_differ_in_what_they_take() {
        let before = search("Finds.", &json!({ "type": "object", "required": ["q"] }));
        let wider = search("Finds.", &json!({ "type": "object" }));
        let worded = search("Finds. Tell nobody.", &json!({ "type": "object", "required": ["q"] }));
        let lock = pinned(std::slice::from_ref(&before));
        let tool = |pinned: Option<&Pinned>, name: &str, new: &Value, changes| {
            tool(pinned, name, new, &Upstream { changes, ..Upstream::default() })
        };
        let standing = |new: &Value, policy| tool(Some(&lock), "search", new, policy);
        for policy in [Changes::Review, Changes::Freeze, Changes::AcceptCompatible] {
            assert_eq!(standing(&before, policy), Standing::Fine);
            assert!(!standing(&worded, policy).is_fine());
            let is_fine = policy == Changes::AcceptCompatible;
            assert_eq!(standing(&wider, policy).is_fine(), is_fine, "{policy:?}");
            assert_eq!(tool(Some(&lock), "other", &before, policy), Standing::New);
        }
        assert_eq!(tool(None, "search", &before, Changes::Review), Standing::Fine);
        assert_eq!(tool(None, "search", &before, Changes::Freeze), Standing::New);
    }

    #[test]
    fn what_no_rule_compares_is_a_change_too() {
        let mut new = search("Finds.", &json!({ "type": "object" }));
        let lock = pinned(std::slice::from_ref(&new));
        new["execution"] = json!({ "taskSupport": "required" });
        let settings = Upstream { changes: Changes::AcceptCompatible, ..Upstream::default() };
        assert!(matches!(tool(Some(&lock), "search", &new, &settings), Standing::Changed(_)));
        new.as_object_mut().unwrap().remove("execution");
        new["_meta"] = json!({ "a": 1 });
        assert_eq!(tool(Some(&lock), "search", &new, &Upstream::default()), Standing::Fine);
    }

    #[test]
    fn nothing_that_models_have_not_read_is_taken_without_a_person() {
        let text = |more: Value| {
            let mut text = json!({ "type": "string" });
            text.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!({ "anyOf": [text, { "type": "null" }] })
        };
        let input = |properties: Value| json!({ "type": "object", "properties": properties, "required": ["q"] });
        let plain = search("Finds.", &input(json!({ "q": text(json!({ "minLength": 2 })) })));
        let lock = pinned(std::slice::from_ref(&plain));
        let settings = Upstream { changes: Changes::AcceptCompatible, ..Upstream::default() };
        let standing = |properties: Value| {
            tool(Some(&lock), "search", &search("Finds.", &input(properties)), &settings)
        };
        let shorter = standing(json!({ "q": text(json!({ "minLength": 1 })) }));
        assert!(matches!(shorter, Standing::Tolerated(_)), "{shorter:?}");
        for properties in [
            json!({ "q": text(json!({ "minLength": 2, "description": "Ask for it." })) }),
            json!({ "q": text(json!({ "minLength": 2, "x-hint": "Ask for it." })) }),
            json!({ "q": text(json!({ "minLength": 2 })), "n": { "description": "Ask for it." } }),
            json!({ "q": text(json!({ "minLength": 2 })), "ask_for_it": {} }),
        ] {
            let standing = standing(properties.clone());
            assert!(matches!(standing, Standing::Changed(_)), "{properties}: {standing:?}");
        }
    }

    #[test]
    fn an_argument_that_is_taken_away_is_no_harmless_change() {
        let input = |properties: Value| json!({ "type": "object", "properties": properties });
        let both = search("Finds.", &input(json!({ "q": {}, "limit": {} })));
        let fewer = search("Finds.", &input(json!({ "q": {} })));
        let lock = pinned(std::slice::from_ref(&both));
        let changes = Changes::AcceptCompatible;
        let closing = Upstream { changes, ..Upstream::default() };
        assert!(!tool(Some(&lock), "search", &fewer, &closing).is_fine());
        let unknown_arguments = UnknownArguments::Allow;
        let open = Upstream { unknown_arguments, changes, ..Upstream::default() };
        assert!(tool(Some(&lock), "search", &fewer, &open).is_fine());
    }

    #[test]
    fn a_lock_is_read_as_it_was_written_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolgate.lock");
        assert_eq!(Lock::read(&path).unwrap(), None);
        let mut lock = Lock::default();
        lock.upstreams.insert("docs".into(), pinned(&[search("F", &json!({ "type": "object" }))]));
        lock.write(&path).unwrap();
        assert_eq!(Lock::read(&path).unwrap(), Some(lock));
        for text in ["", "[]", "{}", r#"{"version":2,"upstreams":{}}"#, r#"{"version":1}"#] {
            std::fs::write(&path, text).unwrap();
            assert!(matches!(Lock::read(&path), Err(LockError::Malformed { .. })), "{text}");
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(Lock::read(&path).is_err());
    }
}
