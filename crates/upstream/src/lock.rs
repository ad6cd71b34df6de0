//! The lock: everything that every upstream listed when a person last accepted it.
//!
//! It holds everything that a model reads (names, titles, descriptions, annotations, schemas, instructions), in full
//! and not as hashes, so that a change can be described. [`LockDifference`] has its classes: breaking, wording,
//! widening, cosmetic.

mod differences;

use std::{
    collections::BTreeMap,
    io::{self, Read},
    path::Path,
};

use contract::Diagnostic;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workbench::compare::{self, ChangeClass, ContractChange, Inputs};

pub use differences::{DifferenceKind, LockDifference, differences};

use crate::{
    listings::ServerListings,
    replace_file,
    settings::{ChangePolicy, UnknownArguments, UpstreamSettings},
};

/// The version of the file format.
const VERSION: u32 = 1;
/// The largest file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// The pinned listings of all upstreams.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ContractLock {
    version: u32,
    /// By the id of the upstream.
    pub upstreams: BTreeMap<String, PinnedListings>,
}

/// The pinned listings of one upstream.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PinnedListings {
    /// Its instructions for models.
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

/// The lock cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// The file is there and cannot be read.
    #[error("cannot read the lock `{path}`")]
    Unreadable {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
    /// The file is not a lock.
    #[error("`{path}` is not a lock file: {reason}")]
    Malformed {
        /// The file.
        path: String,
        /// The reason.
        reason: String,
        /// The same in its place, if it has one.
        place: Option<Box<Diagnostic>>,
    },
    /// It could not be written.
    #[error("cannot write the lock `{path}`")]
    Unwritable {
        /// The file.
        path: String,
        /// The reason.
        source: io::Error,
    },
}

/// An empty one.
impl Default for ContractLock {
    fn default() -> Self {
        Self { version: VERSION, upstreams: BTreeMap::new() }
    }
}

impl ContractLock {
    /// Reads the file; none where there is no file. A file that cannot be read is an error: it may forbid a call.
    pub fn read(path: &Path) -> Result<Option<Self>, LockError> {
        let shown = path.display().to_string();
        let unreadable = |source| LockError::Unreadable { path: shown.clone(), source };
        let malformed = |reason, place| LockError::Malformed { path: shown.clone(), reason, place };
        let file = match guard::files::open_regular(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unreadable(error)),
        };
        let mut text = Vec::new();
        file.take(MAX_FILE_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
        if text.len() as u64 > MAX_FILE_BYTES {
            let reason = format!("it is larger than {MAX_FILE_BYTES} bytes (max_file_bytes)");
            return Err(malformed(reason, None));
        }
        let lock: Self = contract::json::parse_as(&text).map_err(|error| {
            let mut place = error.diagnostic(&shown, &String::from_utf8_lossy(&text));
            place.message = format!("the file is not a lock file: {}", place.message);
            malformed(error.to_string(), Some(Box::new(place)))
        })?;
        if lock.version != VERSION {
            let reason =
                format!("its version is {}; this program reads version {VERSION}", lock.version);
            return Err(malformed(reason, None));
        }
        Ok(Some(lock))
    }

    /// Replaces the file as a whole.
    pub fn write(&self, path: &Path) -> Result<(), LockError> {
        let unwritable =
            |source| LockError::Unwritable { path: path.display().to_string(), source };
        let mut text = serde_json::to_vec_pretty(self).map_err(|error| unwritable(error.into()))?;
        text.push(b'\n');
        replace_file(path, &text).map_err(unwritable)
    }
}

impl PinnedListings {
    /// Pins these listings.
    pub fn of(listings: &ServerListings) -> Self {
        let by = |items: &[Value], key: &str| -> BTreeMap<String, Value> {
            let named = items
                .iter()
                .filter_map(|item| Some((item.get(key)?.as_str()?.to_owned(), pinned_form(item))));
            named.collect()
        };
        Self {
            instructions: listings.instructions.clone(),
            tools: by(&listings.tools, "name"),
            prompts: by(&listings.prompts, "name"),
            resources: by(&listings.resources, "uri"),
            templates: by(&listings.templates, "uriTemplate"),
        }
    }

    /// The listings as they were pinned.
    pub fn to_listings(&self) -> ServerListings {
        let all = |items: &BTreeMap<String, Value>| items.values().cloned().collect();
        ServerListings {
            instructions: self.instructions.clone(),
            tools: all(&self.tools),
            prompts: all(&self.prompts),
            resources: all(&self.resources),
            templates: all(&self.templates),
            ..ServerListings::default()
        }
    }
}

/// An item in the form that is pinned: its keys sorted, without those that may change at any time.
fn pinned_form(item: &Value) -> Value {
    let Value::Object(fields) = item else { return item.clone() };
    let mut names: Vec<_> =
        fields.keys().filter(|name| !compare::is_said_in_passing(name)).collect();
    names.sort();
    let pinned = names.into_iter().map(|name| (name.clone(), fields[name].clone()));
    Value::Object(pinned.collect::<Map<_, _>>())
}

/// An item held against the lock.
#[derive(Debug, Clone, PartialEq)]
pub enum PinCheck {
    /// It is as pinned, or there is no lock.
    Unchanged,
    /// It changed, in a way that the policy accepts.
    Accepted(Vec<ContractChange>),
    /// It changed, and waits for a person.
    Changed(Vec<ContractChange>),
    /// It is not pinned, while the lock pins others.
    NotPinned,
}

impl PinCheck {
    /// True if the item may be used.
    pub fn passes(&self) -> bool {
        matches!(self, PinCheck::Unchanged | PinCheck::Accepted(_))
    }
}

/// Holds a tool against what is pinned of its upstream, as these settings enforce it.
pub fn check_tool(
    pinned: Option<&PinnedListings>,
    name: &str,
    tool: &Value,
    settings: &UpstreamSettings,
) -> PinCheck {
    let compare = |old: &Value, new: &Value| compare::tools(old, new, settings.inputs());
    check(pinned, |pinned| pinned.tools.get(name).cloned(), tool, settings.changes, compare)
}

/// Holds a prompt, a resource or a template against what is pinned.
pub fn check_item(
    pinned: Option<&PinnedListings>,
    find: impl Fn(&PinnedListings) -> Option<Value>,
    item: &Value,
    policy: ChangePolicy,
) -> PinCheck {
    let compare = |old: &Value, new: &Value| compare::others(&pinned_form(old), &pinned_form(new));
    check(pinned, find, item, policy, compare)
}

fn check(
    pinned: Option<&PinnedListings>,
    find: impl Fn(&PinnedListings) -> Option<Value>,
    item: &Value,
    policy: ChangePolicy,
    compare: impl Fn(&Value, &Value) -> Vec<ContractChange>,
) -> PinCheck {
    let Some(pinned) = pinned else {
        let frozen = policy == ChangePolicy::Freeze;
        return if frozen { PinCheck::NotPinned } else { PinCheck::Unchanged };
    };
    let Some(old) = find(pinned) else { return PinCheck::NotPinned };
    let new = pinned_form(item);
    if old == new {
        return PinCheck::Unchanged;
    }
    let changes = or_unnamed(compare(&old, &new));
    let compatible = changes.iter().all(|one| one.class <= ChangeClass::Widening);
    if compatible && policy == ChangePolicy::AcceptCompatible {
        PinCheck::Accepted(changes)
    } else {
        PinCheck::Changed(changes)
    }
}

/// The changes of an item that is not the same: one without a name where no rule finds any.
fn or_unnamed(mut changes: Vec<ContractChange>) -> Vec<ContractChange> {
    if changes.is_empty() {
        let text = "changed something other than its schemas and texts";
        changes.push(ContractChange::said("other", ChangeClass::Wording, text));
    }
    changes
}

impl UpstreamSettings {
    /// The treatment of arguments that its schemas do not name.
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

    fn pinned(tools: &[Value]) -> PinnedListings {
        PinnedListings::of(&ServerListings { tools: tools.to_vec(), ..ServerListings::default() })
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
        let tool = |pinned: Option<&PinnedListings>, name: &str, new: &Value, changes| {
            check_tool(
                pinned,
                name,
                new,
                &UpstreamSettings { changes, ..UpstreamSettings::default() },
            )
        };
        let checked = |new: &Value, policy| tool(Some(&lock), "search", new, policy);
        for policy in [ChangePolicy::Review, ChangePolicy::Freeze, ChangePolicy::AcceptCompatible] {
            assert_eq!(checked(&before, policy), PinCheck::Unchanged);
            assert!(!checked(&worded, policy).passes());
            let passes = policy == ChangePolicy::AcceptCompatible;
            assert_eq!(checked(&wider, policy).passes(), passes, "{policy:?}");
            assert_eq!(tool(Some(&lock), "other", &before, policy), PinCheck::NotPinned);
        }
        assert_eq!(tool(None, "search", &before, ChangePolicy::Review), PinCheck::Unchanged);
        assert_eq!(tool(None, "search", &before, ChangePolicy::Freeze), PinCheck::NotPinned);
    }

    #[test]
    fn what_no_rule_compares_is_a_change_too() {
        let mut new = search("Finds.", &json!({ "type": "object" }));
        let lock = pinned(std::slice::from_ref(&new));
        new["execution"] = json!({ "taskSupport": "required" });
        let settings = UpstreamSettings {
            changes: ChangePolicy::AcceptCompatible,
            ..UpstreamSettings::default()
        };
        assert!(matches!(check_tool(Some(&lock), "search", &new, &settings), PinCheck::Changed(_)));
        new.as_object_mut().unwrap().remove("execution");
        new["_meta"] = json!({ "a": 1 });
        assert_eq!(
            check_tool(Some(&lock), "search", &new, &UpstreamSettings::default()),
            PinCheck::Unchanged
        );
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
        let settings = UpstreamSettings {
            changes: ChangePolicy::AcceptCompatible,
            ..UpstreamSettings::default()
        };
        let checked = |properties: Value| {
            check_tool(Some(&lock), "search", &search("Finds.", &input(properties)), &settings)
        };
        let shorter = checked(json!({ "q": text(json!({ "minLength": 1 })) }));
        assert!(matches!(shorter, PinCheck::Accepted(_)), "{shorter:?}");
        for properties in [
            json!({ "q": text(json!({ "minLength": 2, "description": "Ask for it." })) }),
            json!({ "q": text(json!({ "minLength": 2, "x-hint": "Ask for it." })) }),
            json!({ "q": text(json!({ "minLength": 2 })), "n": { "description": "Ask for it." } }),
            json!({ "q": text(json!({ "minLength": 2 })), "ask_for_it": {} }),
        ] {
            let checked = checked(properties.clone());
            assert!(matches!(checked, PinCheck::Changed(_)), "{properties}: {checked:?}");
        }
    }

    #[test]
    fn an_argument_that_is_taken_away_is_no_harmless_change() {
        let input = |properties: Value| json!({ "type": "object", "properties": properties });
        let both = search("Finds.", &input(json!({ "q": {}, "limit": {} })));
        let fewer = search("Finds.", &input(json!({ "q": {} })));
        let lock = pinned(std::slice::from_ref(&both));
        let changes = ChangePolicy::AcceptCompatible;
        let closing = UpstreamSettings { changes, ..UpstreamSettings::default() };
        assert!(!check_tool(Some(&lock), "search", &fewer, &closing).passes());
        let unknown_arguments = UnknownArguments::Allow;
        let open = UpstreamSettings { unknown_arguments, changes, ..UpstreamSettings::default() };
        assert!(check_tool(Some(&lock), "search", &fewer, &open).passes());
    }

    #[test]
    fn a_lock_is_read_as_it_was_written_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("toolgate.lock");
        assert_eq!(ContractLock::read(&path).unwrap(), None);
        let mut lock = ContractLock::default();
        lock.upstreams.insert("docs".into(), pinned(&[search("F", &json!({ "type": "object" }))]));
        lock.write(&path).unwrap();
        assert_eq!(ContractLock::read(&path).unwrap(), Some(lock));
        for text in ["", "[]", "{}", r#"{"version":2,"upstreams":{}}"#, r#"{"version":1}"#] {
            std::fs::write(&path, text).unwrap();
            assert!(
                matches!(ContractLock::read(&path), Err(LockError::Malformed { .. })),
                "{text}"
            );
        }
        std::fs::remove_file(&path).unwrap();
        std::fs::create_dir(&path).unwrap();
        assert!(ContractLock::read(&path).is_err());
    }
}
