//! The smallest sensible widening of a schema, so that one more value fits.
//!
//! For results that a person takes in: a field that nobody had seen before becomes an optional one,
//! a whole number becomes any, what was always there need not be. Whatever was accepted before
//! still is. Where a change could take something away (behind `not`, `if` or `oneOf`), the schema
//! stays as it is and the value becomes a second choice beside it.

mod edit;

use std::collections::{BTreeMap, HashSet};

use jsonschema::{ValidationError, error::ValidationErrorKind as Kind};
use serde_json::{Map, Value, json};

use contract::{
    Dialect, Schema, SchemaError,
    json::kind,
    references,
    subschemas::{SubschemaId, Subschemas},
};

use crate::infer::infer;

/// The largest number of rounds: one violation may hide another.
const MAX_ROUNDS: usize = 24;

/// A schema that accepts one more value.
#[derive(Debug, Clone, PartialEq)]
pub struct Widened {
    /// The schema (2020-12).
    pub schema: Value,
    /// The changes in words; none where the value was accepted already.
    pub changes: Vec<String>,
}

/// Widens a schema of our own (2020-12) so that it accepts the value too.
pub fn widen(schema: &Value, value: &Value) -> Result<Widened, SchemaError> {
    let mut widened = Widened { schema: schema.clone(), changes: Vec::new() };
    for _ in 0..MAX_ROUNDS {
        let compiled = Schema::compile(&widened.schema)?;
        if compiled.is_valid(value) {
            return Ok(widened);
        }
        let faults = faults(&compiled, value);
        let mut next = widened.clone();
        if !apply(&mut next, &faults, value) || Schema::compile(&next.schema).is_err() {
            break;
        }
        widened = next;
    }
    let widened = beside(schema, value);
    if Schema::compile(&widened.schema)?.is_valid(value) {
        return Ok(widened);
    }
    Err(SchemaError::new("", "cannot be widened so that it accepts this value"))
}

/// The schema, or the value's own: what is left where nothing smaller will do.
fn beside(schema: &Value, value: &Value) -> Widened {
    let mut first = references::repointed(schema, &|pointer| {
        let stays = ["/$defs/", "/definitions/"].iter().any(|stays| pointer.starts_with(stays));
        if stays { pointer.to_owned() } else { format!("/anyOf/0{pointer}") }
    });
    let mut whole = Map::new();
    if schema["type"] == "object" && value.is_object() {
        whole.insert("type".to_owned(), json!("object"));
    }
    // What is about the whole, or referred to, stays at the root.
    if let Value::Object(first) = &mut first {
        for keyword in ["$schema", "$id", "title", "description", "$defs", "definitions"] {
            whole.extend(first.shift_remove_entry(keyword));
        }
    }
    let second = infer(std::slice::from_ref(value));
    let changes = vec![format!("accepts another form: {}", edit::words(&second))];
    whole.insert("anyOf".to_owned(), json!([first, second]));
    Widened { schema: Value::Object(whole), changes }
}

/// One thing that is wrong with a value, by where it is said.
struct Fault {
    /// The schema that refuses, as a pointer.
    place: String,
    /// Its keyword that does.
    keyword: String,
    /// The part of the value that is refused, as a pointer.
    part: String,
    /// Properties that are not wanted, or missing.
    names: Vec<String>,
    /// The faults of each branch, if no branch of a choice fits.
    branches: Vec<Vec<Fault>>,
}

impl Fault {
    fn of(error: &ValidationError<'_>) -> Self {
        let path = error.schema_path().to_string();
        let (place, keyword) = path.rsplit_once('/').unwrap_or(("", path.as_str()));
        let names = match error.kind() {
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => {
                unexpected.iter().map(ToString::to_string).collect()
            }
            Kind::Required { property } => {
                property.as_str().map(str::to_owned).into_iter().collect()
            }
            _ => Vec::new(),
        };
        let branches = match error.kind() {
            Kind::AnyOf { context } => {
                context.iter().map(|branch| branch.iter().map(Fault::of).collect()).collect()
            }
            _ => Vec::new(),
        };
        // A schema that is `false` has no keyword; it is itself what stands in the way.
        let (place, keyword) = match error.kind() {
            Kind::FalseSchema => (path.clone(), "false".to_owned()),
            _ => (place.to_owned(), keyword.to_owned()),
        };
        Self { place, keyword, part: error.instance_path().to_string(), names, branches }
    }
}

fn faults(schema: &Schema, value: &Value) -> Vec<Fault> {
    schema.errors(value).iter().map(Fault::of).collect()
}

/// Changes the schema at every place that refuses. Nothing is done where that may take anything
/// away, or where there is nothing to change.
fn apply(widened: &mut Widened, faults: &[Fault], value: &Value) -> bool {
    let Some(delicate) = delicate(&widened.schema) else { return false };
    let mut chosen = Vec::new();
    for fault in faults {
        choose(fault, &widened.schema, value, &mut chosen);
    }
    // Several items may break one keyword, each in its own way: they are one change.
    let mut places: BTreeMap<(&str, &str), Vec<&Fault>> = BTreeMap::new();
    for fault in chosen {
        places.entry((&*fault.place, &*fault.keyword)).or_default().push(fault);
    }
    if places.keys().any(|(place, _)| delicate.contains(*place)) {
        return false;
    }
    let mut moved: Vec<String> = Vec::new();
    for ((place, keyword), faults) in places.into_iter().rev() {
        // What stands inside a schema that was just replaced is looked at in the next round.
        if moved.iter().any(|outer| place.starts_with(outer.as_str())) {
            continue;
        }
        let parts: Vec<&Value> = faults.iter().filter_map(|one| value.pointer(&one.part)).collect();
        let names: Vec<&str> =
            faults.iter().flat_map(|one| one.names.iter().map(String::as_str)).collect();
        let Some(schema) = widened.schema.pointer_mut(place) else { return false };
        match edit::change(schema, keyword, &parts, &names) {
            None => return false,
            Some(change) => {
                if change.replaced {
                    moved.push(place.to_owned());
                }
                widened.changes.push(edit::tell(&faults[0].part, &change.text));
            }
        }
    }
    true
}

/// The faults to mend: of a choice, those of the branch that is meant.
fn choose<'f>(fault: &'f Fault, schema: &Value, value: &Value, chosen: &mut Vec<&'f Fault>) {
    let part = value.pointer(&fault.part);
    let found = part.map(kind);
    // The branch that is meant takes this kind of value and has the least to say against it.
    let meant = fault.branches.iter().enumerate().filter(|(index, faults)| {
        let branch = format!("{}/anyOf/{index}", fault.place);
        let wants = schema.pointer(&branch).map(|branch| branch["type"].clone());
        !faults.is_empty()
            && matches!(found, Some("object" | "array"))
            && wants.is_some_and(|wants| found.is_some_and(|found| wants == found))
    });
    match meant.min_by_key(|(_, faults)| faults.len()) {
        Some((_, faults)) => faults.iter().for_each(|fault| choose(fault, schema, value, chosen)),
        None => chosen.push(fault),
    }
}

/// The places where to accept more could mean to accept less somewhere: whatever `not`, `if`,
/// `oneOf` and `contains` lead to.
fn delicate(schema: &Value) -> Option<HashSet<String>> {
    let places = Subschemas::of(schema, Dialect::Draft202012).ok()?;
    let mut open: Vec<SubschemaId> = Vec::new();
    for place in &places.all {
        let inner = place.inner.iter();
        let turned =
            inner.filter(|(part, _)| matches!(part.keyword, "not" | "if" | "oneOf" | "contains"));
        open.extend(turned.map(|(_, number)| *number));
    }
    let mut seen = HashSet::new();
    let mut found = HashSet::new();
    while let Some(number) = open.pop() {
        if seen.insert(number) {
            found.insert(places.all[number].pointer.clone());
            open.extend(
                places.in_place(number).chain(places.children(number)).map(|(_, next)| next),
            );
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: &Value, value: &Value, changes: &[&str]) -> Value {
        let widened = widen(schema, value).unwrap();
        assert!(Schema::compile(&widened.schema).unwrap().is_valid(value), "{}", widened.schema);
        assert_eq!(widened.changes, changes, "{}", widened.schema);
        widened.schema
    }

    #[test]
    fn what_is_new_becomes_optional_and_what_is_missing_need_not_be_there() {
        let schema = json!({
            "type": "object",
            "description": "An issue.",
            "properties": {
                "id": { "type": "integer", "minimum": 1 },
                "state": { "type": "string", "enum": ["open", "closed"] },
                "title": { "type": "string", "description": "Its title.", "maxLength": 5 },
                "labels": { "type": "array", "items": { "type": "string" } },
            },
            "required": ["id", "title"],
            "additionalProperties": false,
        });
        let widened = check(
            &schema,
            &json!({ "id": 0.5, "state": "merged", "labels": ["a", 1, null], "url": "x", "n": 1 }),
            &[
                "`/state`: also accepts \"merged\"",
                "`/labels/1`: also accepts a whole number or null",
                "`/id`: accepts any number, not only integers",
                "`/id`: `minimum` changed from 1 to 0.5",
                "the value: `title` is no longer required",
                "the value: accepts `url` (a string), `n` (a whole number)",
            ],
        );
        assert_eq!(
            widened,
            json!({
                "type": "object",
                "description": "An issue.",
                "properties": {
                    "id": { "type": "number", "minimum": 0.5 },
                    "state": { "type": "string", "enum": ["open", "closed", "merged"] },
                    "title": { "type": "string", "description": "Its title.", "maxLength": 5 },
                    "labels": { "type": "array", "items": { "anyOf": [
                        { "type": "string" }, { "type": "integer" }, { "type": "null" },
                    ] } },
                    "url": { "type": "string" },
                    "n": { "type": "integer" },
                },
                "required": ["id"],
                "additionalProperties": false,
            })
        );
        check(&widened, &json!({ "id": 1, "title": "a" }), &[]);
        check(&schema, &json!({ "id": 1, "title": null }), &["`/title`: also accepts null"]);
        check(
            &schema,
            &json!({ "id": 1, "title": "longer than five" }),
            &["`/title`: `maxLength` changed from 5 to 16"],
        );
    }

    #[test]
    fn of_a_choice_the_branch_that_is_meant_is_widened() {
        let schema = json!({
            "anyOf": [
                { "type": "object", "properties": { "a": {} }, "additionalProperties": false },
                { "type": "null" },
            ],
        });
        let widened =
            check(&schema, &json!({ "a": 1, "b": true }), &["the value: accepts `b` (a boolean)"]);
        assert_eq!(widened["anyOf"][0]["properties"]["b"], json!({ "type": "boolean" }));
        let widened = check(&schema, &json!([1]), &["the value: also accepts an array"]);
        assert_eq!(widened["anyOf"].as_array().unwrap().len(), 3);
    }

    #[test]
    fn where_to_accept_more_could_mean_less_the_value_stands_beside() {
        let schema = json!({
            "type": "object",
            "oneOf": [{ "required": ["a"] }, { "required": ["b"] }],
            "$defs": { "x": {} },
        });
        let widened = check(&schema, &json!({ "c": 1 }), &["accepts another form: an object"]);
        assert_eq!(widened["type"], "object");
        assert_eq!(widened["$defs"], schema["$defs"]);
        let schema = json!({ "not": { "$ref": "#/$defs/s" }, "items": { "$ref": "#/$defs/s" }, "$defs": { "s": { "type": "string" } } });
        check(&schema, &json!([1]), &["accepts another form: an array"]);
        // References count from the new place, but for those to definitions and in values.
        let referring = |to: &str| {
            json!({
                "properties": {
                    "default": { "$ref": to, "default": { "$ref": "#/items" } },
                    "list": { "$ref": "#/$defs/list" },
                },
                "items": { "type": "string" },
                "oneOf": [{ "required": ["a"] }, { "required": ["b"] }],
            })
        };
        let mut schema = referring("#/items");
        schema["$defs"] = json!({ "list": { "items": { "$ref": "#/$defs/list" } } });
        let widened = check(&schema, &json!({}), &["accepts another form: an object"]);
        assert_eq!(widened["anyOf"][0], referring("#/anyOf/0/items"));
        assert_eq!(widened["$defs"], schema["$defs"]);
    }
}
