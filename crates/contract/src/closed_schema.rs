//! Arguments that nobody described are refused.
//!
//! Most schemas of other people leave their root open because that is what a schema does that says
//! nothing. To a gate it means that an argument with a slip in its name is dropped in silence. So
//! what says nothing is closed here, as far as its dialect can say so.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::{
    Dialect, Schema,
    dialect::Applicator,
    subschemas::{ReferenceTarget, SubschemaId, Subschemas},
};

/// An input schema, and how far it refuses what it does not describe.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedSchema {
    /// The schema, in the dialect that it came in.
    pub schema: Value,
    /// The keyword that closes it, if any.
    pub closing: Closing,
}

/// The way in which an input schema is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Closing {
    /// Its author says what becomes of further properties; that stands.
    Stated,
    /// By `additionalProperties: false`.
    AdditionalProperties,
    /// By `unevaluatedProperties: false`: other parts of the schema name properties too.
    UnevaluatedProperties,
    /// Not at all: other parts name properties by patterns or not at all, and its dialect has no
    /// word for the rest.
    LeftOpen,
}

/// The schema of arguments, closed where its root says nothing about further properties. (Where the
/// schema refers to its own root, that holds for what is inside as well.)
pub fn close(schema: &Value) -> ClosedSchema {
    let as_it_is = |closing| ClosedSchema { schema: schema.clone(), closing };
    let stated = ["additionalProperties", "unevaluatedProperties"];
    let Value::Object(root) = schema else {
        return as_it_is(Closing::LeftOpen);
    };
    let Ok(dialect) = Dialect::of(schema) else { return as_it_is(Closing::LeftOpen) };
    let alone = dialect.reference_stands_alone() && root.contains_key("$ref");
    let says = |keyword: &&str| root.contains_key(*keyword) && dialect.knows(keyword);
    if !alone && stated.iter().any(says) {
        return as_it_is(Closing::Stated);
    }
    let Ok(subschemas) = Subschemas::of(schema, dialect) else {
        return as_it_is(Closing::LeftOpen);
    };
    let tightened = match OtherProperties::of(&subschemas) {
        OtherProperties::Names(names) if names.is_empty() && !alone => ClosedSchema {
            schema: with(root, "additionalProperties"),
            closing: Closing::AdditionalProperties,
        },
        _ if dialect >= Dialect::Draft201909 => ClosedSchema {
            schema: with(root, "unevaluatedProperties"),
            closing: Closing::UnevaluatedProperties,
        },
        OtherProperties::Names(names) => ClosedSchema {
            schema: with(&naming(root, &names, alone), "additionalProperties"),
            closing: Closing::AdditionalProperties,
        },
        OtherProperties::Open => return as_it_is(Closing::LeftOpen),
    };
    // What could be compiled still can, or it stays as it was.
    let breaks = Schema::compile_foreign(schema).is_ok()
        && Schema::compile_foreign(&tightened.schema).is_err();
    if breaks { as_it_is(Closing::LeftOpen) } else { tightened }
}

fn with(root: &Map<String, Value>, keyword: &str) -> Value {
    let mut root = root.clone();
    root.insert(keyword.to_owned(), Value::Bool(false));
    Value::Object(root)
}

/// The root with the names that other parts of the schema give, about which it says nothing.
fn naming(root: &Map<String, Value>, names: &BTreeSet<String>, alone: bool) -> Map<String, Value> {
    let mut root = root.clone();
    if alone {
        // Up to draft-07 nothing beside a reference means anything, so it goes one level down.
        let taken: Vec<String> = root
            .keys()
            .filter(|keyword| !matches!(keyword.as_str(), "$schema" | "definitions" | "$defs"))
            .cloned()
            .collect();
        let inner: Map<String, Value> =
            taken.iter().filter_map(|keyword| root.shift_remove_entry(keyword)).collect();
        root.insert("allOf".to_owned(), Value::Array(vec![Value::Object(inner)]));
    }
    let properties = root.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(properties) = properties {
        for name in names {
            properties.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
        }
    }
    root
}

/// The properties that other parts of a schema describe for the root.
enum OtherProperties {
    /// It names these, which the root does not.
    Names(BTreeSet<String>),
    /// It speaks about properties that have no names.
    Open,
}

impl OtherProperties {
    fn of(subschemas: &Subschemas) -> Self {
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open: Vec<SubschemaId> = vec![0];
        while let Some(subschema) = open.pop() {
            if !seen.insert(subschema) {
                continue;
            }
            let leads_out =
                |target: &ReferenceTarget| !matches!(target, ReferenceTarget::Subschema(_));
            if subschemas.all[subschema].references.iter().any(|one| leads_out(&one.target)) {
                return OtherProperties::Open;
            }
            for (applicator, _) in subschemas.children(subschema).filter(|_| subschema != 0) {
                match applicator {
                    Applicator::Property(name) => _ = names.insert(name.to_owned()),
                    Applicator::Pattern(_) => return OtherProperties::Open,
                    // A branch that closes itself names nothing more, one that is open does.
                    Applicator::AdditionalProperties | Applicator::UnevaluatedProperties
                        if is_open(subschemas, subschema, applicator) =>
                    {
                        return OtherProperties::Open;
                    }
                    _ => {}
                }
            }
            let beside = subschemas
                .in_place(subschema)
                .filter(|(applicator, _)| *applicator != Applicator::Not);
            open.extend(beside.map(|(_, next)| next));
        }
        for (applicator, _) in subschemas.children(0) {
            if let Applicator::Property(name) = applicator {
                names.remove(name);
            }
        }
        OtherProperties::Names(names)
    }
}

fn is_open(subschemas: &Subschemas, subschema: SubschemaId, applicator: Applicator) -> bool {
    let found = subschemas.children(subschema).find(|(other, _)| *other == applicator);
    found.is_none_or(|(_, inner)| *subschemas.all[inner].schema != Value::Bool(false))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(dialect: Dialect, schema: Value, closing: Closing, accepted: &Value, refused: &Value) {
        let mut schema = schema;
        schema["$schema"] = dialect.address().into();
        let tightened = close(&schema);
        assert_eq!(tightened.closing, closing, "{schema}");
        let compiled = Schema::compile_foreign(&tightened.schema).unwrap();
        assert!(compiled.is_valid(accepted), "{}", tightened.schema);
        assert!(!compiled.is_valid(refused), "{}", tightened.schema);
        let again = close(&tightened.schema);
        assert_eq!(again, ClosedSchema { closing: Closing::Stated, ..tightened });
    }

    #[test]
    fn undocumented_arguments_are_refused() {
        use Closing::{AdditionalProperties, UnevaluatedProperties};
        let (good, bad) = (json!({ "a": 1 }), json!({ "a": 1, "z": 1 }));
        for dialect in Dialect::ALL {
            let newer = dialect >= Dialect::Draft201909;
            let by = if newer { UnevaluatedProperties } else { AdditionalProperties };
            let plain = json!({ "properties": { "a": {} }, "patternProperties": { "^b": {} } });
            check(dialect, plain, AdditionalProperties, &json!({ "a": 1, "b1": 1 }), &bad);
            check(dialect, json!({ "type": "object" }), AdditionalProperties, &json!({}), &good);
            let choice = json!({
                "properties": { "a": {}, "b": {} },
                "anyOf": [{ "required": ["a"] }, { "required": ["b"], "properties": { "b": {} } }],
            });
            check(dialect, choice, AdditionalProperties, &good, &bad);
            let branches = json!({
                "properties": { "a": {} }, "allOf": [{ "properties": { "b": {} } }],
            });
            check(dialect, branches, by, &json!({ "a": 1, "b": 1 }), &bad);
            let reference = json!({
                "$ref": "#/definitions/root", "definitions": { "root": { "properties": { "a": {} } } },
            });
            check(dialect, reference, by, &good, &bad);
        }
    }

    #[test]
    fn what_the_author_says_stands() {
        for rest in [json!(true), json!({ "type": "string" }), json!(false)] {
            let schema = json!({ "type": "object", "additionalProperties": rest });
            assert_eq!(close(&schema), ClosedSchema { schema, closing: Closing::Stated });
        }
        let unknown =
            json!({ "$schema": Dialect::Draft07.address(), "unevaluatedProperties": true });
        assert_eq!(close(&unknown).closing, Closing::AdditionalProperties);
    }

    #[test]
    fn what_cannot_be_closed_stays_open_and_says_so() {
        let patterns = json!({
            "$schema": Dialect::Draft07.address(), "allOf": [{ "patternProperties": { "^x": {} } }],
        });
        let branch = json!({
            "$schema": Dialect::Draft07.address(), "anyOf": [{ "additionalProperties": { "type": "string" } }],
        });
        for schema in [patterns, branch, json!(true), json!({ "$schema": "unknown" })] {
            assert_eq!(close(&schema), ClosedSchema { schema, closing: Closing::LeftOpen });
        }
        let newer = json!({ "allOf": [{ "patternProperties": { "^x": {} } }] });
        assert_eq!(close(&newer).closing, Closing::UnevaluatedProperties);
    }
}
