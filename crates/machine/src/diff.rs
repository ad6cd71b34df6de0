//! Changes since a baseline: an earlier answer about the hardware or the software.
//!
//! A machine at work is never twice the same, so values that move by themselves are compared
//! with a tolerance; `fields` has the table. Extra values that a baseline of an older version
//! does not have are not compared; the seed's own are, and count as added.

mod compare;
mod fields;
mod packages;

use serde::Serialize;
use serde_json::{Map, Value};

use self::fields::{BaselinePart, HARDWARE, SOFTWARE};
use crate::{KeyPackages, MachineEnvironment, Selection, hardware, software};

/// Changes since a baseline.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct MachineChanges {
    /// Values that are there now and were not.
    pub added: Vec<Addition>,
    /// Values that were there and are not.
    pub removed: Vec<Removal>,
    /// Values that are others now.
    pub modified: Vec<Modification>,
}

impl MachineChanges {
    /// True if nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }
}

/// Something that is new.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Addition {
    /// Where it is in the answer that was compared, as a JSON pointer. Its packages are those
    /// that the baseline can be compared with.
    pub path: String,
    /// It.
    pub value: Value,
}

/// Something that is gone.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Removal {
    /// Where it was in the baseline, as a JSON pointer.
    pub path: String,
    /// It.
    pub value: Value,
}

/// Something that has another value.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Modification {
    /// Where it is in the answer that was compared, as a JSON pointer. Its packages are those
    /// that the baseline can be compared with.
    pub path: String,
    /// The value in the baseline.
    pub old: Value,
    /// The value now.
    pub new: Value,
}

/// The reason why something is no baseline.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BaselineError {
    /// It has nothing of an answer.
    #[error("baseline must be a previous output of `list_hardware` or `list_software`; {0}")]
    Unknown(&'static str),
    /// A part of it is not what such an answer has there.
    #[error("`/baseline{pointer}` must be {expected}")]
    Shape {
        /// Which part.
        pointer: String,
        /// The expected type.
        expected: &'static str,
    },
}

/// The subject of a baseline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BaselineKind {
    Hardware,
    Software,
}

/// An earlier answer whose shape was checked.
#[derive(Debug, Clone, Copy)]
struct Baseline<'a> {
    kind: BaselineKind,
    values: &'a Map<String, Value>,
}

impl<'a> Baseline<'a> {
    /// Recognises an earlier answer by its keys.
    fn read(value: &'a Value) -> Result<Self, BaselineError> {
        let Some(values) = value.as_object() else {
            return Err(BaselineError::Unknown("this is no object"));
        };
        let has = |parts: &[BaselinePart]| {
            parts.iter().any(|part| part.is_of_seed() && values.contains_key(part.name()))
        };
        let wrapped = ["result", "output"].iter().any(|name| values.contains_key(*name));
        let (kind, parts) = match (has(HARDWARE), has(SOFTWARE)) {
            (true, false) => (BaselineKind::Hardware, HARDWARE),
            (false, true) => (BaselineKind::Software, SOFTWARE),
            (true, true) => {
                let both = "this has keys of both; compare them one at a time";
                return Err(BaselineError::Unknown(both));
            }
            (false, false) if wrapped => {
                let inside = "this is a whole answer; give what is in its `result` or `output`";
                return Err(BaselineError::Unknown(inside));
            }
            (false, false) => {
                return Err(BaselineError::Unknown("this has none of their keys"));
            }
        };
        for part in parts {
            if let Some(value) = values.get(part.name()) {
                part.check(value)?;
            }
        }
        Ok(Self { kind, values })
    }

    /// Its subject.
    fn kind(&self) -> BaselineKind {
        self.kind
    }

    /// The packages that it can be compared with: all of them where it had all, else the key
    /// packages and those that it names.
    fn selection(&self, key: &'a KeyPackages) -> Selection<'a> {
        if self.values.get("packages_scope").and_then(Value::as_str) == Some("all") {
            return Selection::all();
        }
        let named = self.values.get("packages").and_then(Value::as_array);
        let named = named.into_iter().flatten().filter_map(Value::as_str);
        Selection::key(key).and(named.map(|package| packages::split(package).0))
    }

    /// The changes from then to `now`, an answer of the same kind.
    fn changes(&self, now: &Map<String, Value>) -> MachineChanges {
        let parts = match self.kind {
            BaselineKind::Hardware => HARDWARE,
            BaselineKind::Software => SOFTWARE,
        };
        let mut changes = MachineChanges::default();
        for part in parts {
            compare::part(part, self.values, now, &mut changes);
        }
        changes
    }
}

/// The changes on this machine since a baseline.
pub fn diff(
    machine: &MachineEnvironment,
    key: &KeyPackages,
    baseline: &Value,
) -> Result<MachineChanges, BaselineError> {
    let baseline = Baseline::read(baseline)?;
    let now = match baseline.kind() {
        BaselineKind::Hardware => serde_json::to_value(hardware(machine)),
        BaselineKind::Software => serde_json::to_value(software(machine, &baseline.selection(key))),
    };
    match now {
        Ok(Value::Object(now)) => Ok(baseline.changes(&now)),
        // Both are structures, with texts for keys and numbers that are finite.
        _ => unreachable!("facts are printed as an object"),
    }
}

#[cfg(test)]
mod tests;
