//! Proofs that a change of a schema takes nothing away.

use jsonschema::canonical::{self, CanonicalSchema, Containment, Satisfiability};
use serde_json::Value;

use super::{ChangeClass, model_texts};
use contract::{Dialect, complexity, references, subschemas::Subschemas};

/// Up to how many parts and branches a schema is compared as a set of values: the work grows much
/// faster than the schema. What is larger is not shown to be harmless.
const MAX_PARTS: usize = 2_000;
const MAX_BRANCHES: usize = 32;
/// The largest depth of schemas, references included: each level takes some twenty
/// kilobytes of a stack of two megabytes.
const MAX_STEPS: usize = 60;

/// The meaning of a change from `old` to `new` for values that have to match: whether all that did
/// still do, and, where not, those that do not.
pub(super) fn of(old: &Value, new: &Value) -> (ChangeClass, Option<Value>) {
    // Where only texts changed nothing has to be shown, however large the schema is.
    if let (Some(old), Some(new)) = (model_texts::stripped(old), model_texts::stripped(new))
        && old == new
    {
        return (ChangeClass::Cosmetic, None);
    }
    let (Some(old), Some(new)) = (read(old), read(new)) else {
        return (ChangeClass::Breaking, None);
    };
    if !matches!(new.covers(&old), Ok(Containment::Yes)) {
        return (ChangeClass::Breaking, lost(&old, &new));
    }
    match old.covers(&new) {
        Ok(Containment::Yes) => (ChangeClass::Cosmetic, None),
        _ => (ChangeClass::Widening, None),
    }
}

fn lost(old: &CanonicalSchema, new: &CanonicalSchema) -> Option<Value> {
    let rest = old.subtract(new).ok()?;
    if rest.satisfiability() == Satisfiability::No {
        return None;
    }
    let mut schema = rest.to_json_schema();
    schema.as_object_mut().map(|fields| fields.remove("$schema"));
    Some(schema)
}

fn read(schema: &Value) -> Option<CanonicalSchema> {
    let (parts, branches) = size(schema);
    if parts > MAX_PARTS || branches > MAX_BRANCHES {
        return None;
    }
    let dialect = Dialect::of(schema).ok()?;
    let subschemas = Subschemas::of(schema, dialect).ok()?;
    if complexity::longest_path(&subschemas) > MAX_STEPS {
        return None;
    }
    let rewritten = references::without_identifiers(&subschemas).ok()?;
    let schema = rewritten.as_ref().unwrap_or(schema);
    canonical::options()
        .offline()
        .with_draft(dialect.draft())
        .should_validate_formats(true)
        .canonicalize(schema)
        .ok()
}

/// The number of parts of a schema, and of the branches that a value can take.
fn size(schema: &Value) -> (usize, usize) {
    let sum = |one: (usize, usize), two: (usize, usize)| (one.0 + two.0, one.1 + two.1);
    match schema {
        Value::Array(items) => items.iter().map(size).fold((1, 0), sum),
        Value::Object(fields) => fields.iter().fold((1, 0), |all, (key, value)| {
            let branches = match (key.as_str(), value) {
                ("anyOf" | "oneOf" | "allOf", Value::Array(items)) => items.len(),
                ("not" | "if", _) => 1,
                _ => 0,
            };
            sum(sum(all, (0, branches)), size(value))
        }),
        _ => (1, 0),
    }
}
