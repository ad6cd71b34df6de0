//! The root of the schema of arguments.
//!
//! Clients want `type: object` there, and the largest of them refuse every call of a listing in
//! which one tool has `allOf`, `anyOf` or `oneOf` at the root. So these go behind a condition that
//! always holds, and what they say about properties is told at the root as far as it is certain.

use std::cell::Cell;

use serde_json::{Map, Value, json};

use crate::references;

const CHOICES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The schema with a root that says `type: object`. It accepts the same objects. (Where the root of
/// a 2020-12 schema has a name of its own that is referred to from inside, what is inside must be
/// an object too then.)
pub(super) fn of_object(schema: &Value) -> Value {
    let original = match schema {
        Value::Object(_) => schema.clone(),
        Value::Bool(true) => json!({}),
        _ => json!({ "not": {} }),
    };
    let has = |keyword: &&str| original.get(*keyword).is_some();
    // Where there is a condition already, the choices stay.
    let moves = CHOICES.iter().any(has) && !["if", "then", "else"].iter().any(has);
    let changed = moves || original.get("type") != Some(&json!("object"));
    let mut copy = "root".to_owned();
    while original["$defs"].get(&copy).is_some() {
        copy.push('_');
    }
    let refers_to_root = Cell::new(false);
    let repointed = references::repointed(&original, &|pointer| {
        let first = pointer.split('/').nth(1).unwrap_or_default();
        if pointer.is_empty() && changed {
            // A reference to the root means the root as it was.
            refers_to_root.set(true);
            format!("/$defs/{copy}")
        } else if moves && CHOICES.contains(&first) {
            format!("/then{pointer}")
        } else {
            pointer.to_owned()
        }
    });
    let Value::Object(mut root) = repointed else { return original };
    let mut unchanged = root.clone();
    let may_be_object = match root.shift_remove("type") {
        None => true,
        Some(Value::Array(types)) => types.contains(&json!("object")),
        Some(kind) => kind == "object",
    };
    if !may_be_object {
        root.insert("not".to_owned(), json!({}));
    }
    if moves {
        let choices: Map<String, Value> =
            CHOICES.iter().filter_map(|keyword| root.shift_remove_entry(*keyword)).collect();
        tell(&mut root, &choices);
        root.insert("if".to_owned(), json!({}));
        root.insert("then".to_owned(), Value::Object(choices));
    }
    if refers_to_root.get() {
        unchanged.shift_remove("$defs");
        unchanged.shift_remove("definitions");
        if let Value::Object(definitions) = root.entry("$defs").or_insert_with(|| json!({})) {
            definitions.insert(copy, Value::Object(unchanged));
        }
    }
    // Arguments are objects, so nothing is lost by saying only that.
    let mut written = Map::from_iter([("type".to_owned(), json!("object"))]);
    written.extend(root);
    Value::Object(written)
}

/// Names the properties of the choices at the root, and requires what all of them require.
fn tell(root: &mut Map<String, Value>, choices: &Map<String, Value>) {
    // A root that refuses all other properties would take them in.
    if !root.contains_key("additionalProperties") {
        let mut properties = match root.get("properties") {
            Some(Value::Object(properties)) => properties.clone(),
            _ => Map::new(),
        };
        for branch in choices.values().filter_map(Value::as_array).flatten() {
            let named = branch.get("properties").and_then(Value::as_object);
            for (name, schema) in named.into_iter().flatten() {
                properties.entry(name.clone()).or_insert_with(|| words(schema));
            }
        }
        // `unevaluatedProperties` counts what is named at the root as evaluated.
        if !properties.is_empty() && !root.contains_key("unevaluatedProperties") {
            root.insert("properties".to_owned(), Value::Object(properties));
        }
    }
    let mut required = match root.get("required") {
        Some(Value::Array(names)) => names.clone(),
        _ => Vec::new(),
    };
    for (keyword, branches) in choices {
        let mut lists = branches.as_array().into_iter().flatten().map(|branch| {
            branch.get("required").and_then(Value::as_array).cloned().unwrap_or_default()
        });
        let certain: Vec<Value> = if keyword == "allOf" {
            lists.flatten().collect()
        } else {
            let first = lists.next().unwrap_or_default();
            lists
                .fold(first, |all, list| all.into_iter().filter(|one| list.contains(one)).collect())
        };
        for name in certain {
            if !required.contains(&name) {
                required.push(name);
            }
        }
    }
    if !required.is_empty() {
        root.insert("required".to_owned(), Value::Array(required));
    }
}

/// The annotations of a property, which decide nothing.
fn words(schema: &Value) -> Value {
    let words = ["title", "description", "examples"];
    let kept =
        words.iter().filter_map(|word| Some(((*word).to_owned(), schema.get(*word)?.clone())));
    Value::Object(kept.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Schema;

    #[test]
    fn choices_go_behind_a_condition_and_are_told_at_the_root() {
        let shown = of_object(&json!({
            "oneOf": [
                { "properties": { "id": { "type": "integer", "description": "Its number." } }, "required": ["id"] },
                { "properties": { "name": { "type": "string" }, "id": {} }, "required": ["name", "id"] },
            ],
            "description": "One of two.",
        }));
        assert_eq!(shown["type"], "object");
        assert_eq!(
            shown["properties"],
            json!({ "id": { "description": "Its number." }, "name": {} })
        );
        assert_eq!(shown["required"], json!(["id"]));
        assert!(CHOICES.iter().all(|keyword| shown.get(*keyword).is_none()));
        let schema = Schema::compile(&shown).unwrap();
        assert!(schema.is_valid(&json!({ "id": 1 })));
        assert!(!schema.is_valid(&json!({ "id": "x" })));
        assert!(!schema.is_valid(&json!({ "name": "x" })));
        assert!(!schema.is_valid(&json!({ "id": 1, "name": "x" })), "both match");
    }

    #[test]
    fn what_cannot_be_an_object_accepts_none() {
        for schema in [json!(false), json!({ "type": "string" })] {
            let shown = of_object(&schema);
            assert!(!Schema::compile(&shown).unwrap().is_valid(&json!({})), "{shown}");
        }
        assert_eq!(of_object(&json!(true)), json!({ "type": "object" }));
    }

    #[test]
    fn references_to_the_root_mean_the_root_as_it_was() {
        let shown = of_object(&json!({
            "anyOf": [{ "type": "integer" }, { "properties": { "next": { "$ref": "#" } } }],
            "$defs": { "first": { "$ref": "#/anyOf/0" } },
            "properties": { "first": { "$ref": "#/$defs/first" } },
        }));
        let schema = Schema::compile(&shown).unwrap();
        assert!(schema.is_valid(&json!({ "next": 3, "first": 1 })), "{shown}");
        assert!(!schema.is_valid(&json!({ "next": { "next": { "first": "x" } } })), "{shown}");
    }

    #[test]
    fn properties_may_be_called_as_keywords_are() {
        for name in ["default", "const", "enum", "examples", "example", "required", "type", "$ref"]
        {
            let shown = of_object(&json!({
                "anyOf": [{ "type": "integer" }, { "properties": { name: { "$ref": "#" } } }],
                "properties": { "first": { "properties": { name: { "$ref": "#/anyOf/0" } } } },
                "default": { "$ref": "#" },
            }));
            let schema = Schema::compile(&shown).unwrap();
            assert!(schema.is_valid(&json!({ name: 3, "first": { name: 1 } })), "{shown}");
            let wrong = json!({ "first": { name: "x" } });
            assert!(!schema.is_valid(&wrong), "{shown}");
            assert!(!schema.is_valid(&json!({ name: wrong })), "{shown}");
            assert_eq!(shown["default"], json!({ "$ref": "#" }), "a value is left alone");
        }
    }
}
