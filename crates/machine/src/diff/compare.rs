//! Then and now, part by part.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{
    Addition, MachineChanges, Modification, Removal,
    fields::{BaselinePart, Field, Tolerance},
    packages,
};

type Object = Map<String, Value>;

/// Half of the last decimal that sizes have: what is nearer is the same number.
const SAME: f64 = 0.005;

/// Compares one part of an answer.
pub(super) fn part(part: &BaselinePart, old: &Object, new: &Object, changes: &mut MachineChanges) {
    let path = format!("/{}", part.name());
    let (old, new) = match (old.get(part.name()), new.get(part.name())) {
        (Some(old), Some(new)) => (old, new),
        (None, Some(new)) if part.is_of_seed() => {
            changes.added.push(Addition { path, value: new.clone() });
            return;
        }
        _ => return,
    };
    match part {
        BaselinePart::One(field) => value(field, (old, new), &Object::new(), path, changes),
        BaselinePart::Object(_, all) | BaselinePart::Extra(_, all) => {
            if let (Value::Object(old), Value::Object(new)) = (old, new) {
                fields(all, old, new, &path, changes);
            }
        }
        BaselinePart::List(_, fields) => list(fields, elements(old), elements(new), &path, changes),
        BaselinePart::Packages(_) => {
            packages::compare(elements(old), elements(new), &path, changes);
        }
        BaselinePart::About(..) => {}
    }
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn fields(fields: &[Field], old: &Object, new: &Object, path: &str, changes: &mut MachineChanges) {
    for field in fields {
        let path = format!("{path}/{}", field.name);
        match (old.get(field.name), new.get(field.name)) {
            (Some(then), Some(now)) => value(field, (then, now), new, path, changes),
            (None, Some(now)) => changes.added.push(Addition { path, value: now.clone() }),
            _ => {}
        }
    }
}

fn value(
    field: &Field,
    (old, new): (&Value, &Value),
    siblings: &Object,
    path: String,
    changes: &mut MachineChanges,
) {
    let is_same = match (old.as_f64(), new.as_f64()) {
        (Some(old), Some(new)) => within(field.tolerance, old, new, siblings),
        _ => old == new,
    };
    if !is_same {
        changes.modified.push(Modification { path, old: old.clone(), new: new.clone() });
    }
}

fn within(tolerance: Tolerance, old: f64, new: f64, siblings: &Object) -> bool {
    let allowed = match tolerance {
        Tolerance::Exact => 0.0,
        Tolerance::ShareWhereKnown(_) if old == 0.0 || new == 0.0 => return true,
        Tolerance::Share(share) | Tolerance::ShareWhereKnown(share) => {
            share * old.abs().max(new.abs())
        }
        Tolerance::ShareOf(name, share) => {
            share * siblings.get(name).and_then(Value::as_f64).unwrap_or(0.0)
        }
    };
    (old - new).abs() <= allowed + SAME
}

/// Elements are the same where their first field is; the second of the same name is the second
/// of that name.
fn list(all: &[Field], old: &[Value], new: &[Value], path: &str, changes: &mut MachineChanges) {
    let Some(identity) = all.first() else { return };
    let mut before: HashMap<(&str, usize), (usize, &Value)> = HashMap::new();
    for (index, name, which) in named(old, identity.name) {
        before.insert((name, which), (index, &old[index]));
    }
    for (index, name, which) in named(new, identity.name) {
        let path = format!("{path}/{index}");
        match (before.remove(&(name, which)), &new[index]) {
            (Some((_, Value::Object(then))), Value::Object(now)) => {
                fields(all, then, now, &path, changes);
            }
            (_, now) => changes.added.push(Addition { path, value: now.clone() }),
        }
    }
    let mut gone: Vec<_> = before.into_values().collect();
    gone.sort_unstable_by_key(|(index, _)| *index);
    changes.removed.extend(
        gone.into_iter().map(|(index, value)| Removal {
            path: format!("{path}/{index}"),
            value: value.clone(),
        }),
    );
}

/// Index and name of each element, and how many of that name came before it.
fn named<'a>(
    elements: &'a [Value],
    identity: &'a str,
) -> impl Iterator<Item = (usize, &'a str, usize)> {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    elements.iter().enumerate().map(move |(index, element)| {
        let name = element.get(identity).and_then(Value::as_str).unwrap_or_default();
        let which = seen.entry(name).or_insert(0);
        *which += 1;
        (index, name, *which)
    })
}
