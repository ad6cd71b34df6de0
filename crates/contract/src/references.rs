//! References rewritten as JSON pointers.
//!
//! Identifiers and anchors only hold inside the document that declares them, and some validators never
//! end on a few dozen identifiers that refer to each other: they track every path between identified
//! schemas, because a dynamic reference could ask for it. A pointer from the root has neither problem.

use serde_json::{Map, Value, json};

use crate::{
    Dialect, SchemaError, canonical,
    subschemas::{ReferenceTarget, Subschema, Subschemas},
};

/// The number of schemas with identifiers from which on dynamic references are refused.
pub const MAX_DYNAMIC_RESOURCES: usize = 5;
/// Keywords that name a schema or its dialect (2020-12).
const NAMING: [&str; 5] = ["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary"];

/// The schema without the identifiers inside it; nothing where it has none.
pub fn without_identifiers(subschemas: &Subschemas) -> Result<Option<Value>, SchemaError> {
    let keyword = if subschemas.dialect == Dialect::Draft04 { "id" } else { "$id" };
    let resources = resources(subschemas, keyword);
    if resources == 0 {
        return Ok(None);
    }
    if is_dynamic(subschemas) {
        if resources < MAX_DYNAMIC_RESOURCES {
            return Ok(None);
        }
        let message = format!(
            "has dynamic references among more than {MAX_DYNAMIC_RESOURCES} schemas with identifiers"
        );
        return Err(SchemaError::new("", message));
    }
    Ok(Some(rewritten(subschemas, &[keyword], &|pointer| format!("#{}", encode(pointer)))))
}

/// The schema (2020-12) as part of a larger document: all references count from the root of that, and names are
/// removed, because they could clash there. `home` is its place (`#/components/schemas/x`), or `#`.
pub fn relocate(schema: &Value, home: &str) -> Value {
    let Ok(subschemas) = Subschemas::of(schema, Dialect::Draft202012) else {
        return schema.clone();
    };
    let mut moved =
        rewritten(&subschemas, &NAMING, &|pointer| format!("{home}{}", encode(pointer)));
    if let Value::Object(root) = &mut moved {
        for keyword in NAMING {
            root.shift_remove(keyword);
        }
    }
    moved
}

/// The schema (2020-12) with references to the new pointers of what they lead to. Where references are
/// dynamic among several identified schemas it stays as it is.
pub fn repointed(schema: &Value, new_pointer: &dyn Fn(&str) -> String) -> Value {
    match Subschemas::of(schema, Dialect::Draft202012) {
        Ok(subschemas) if !is_dynamic(&subschemas) || resources(&subschemas, "$id") == 0 => {
            let new = |pointer: &str| format!("#{}", encode(&new_pointer(pointer)));
            rewritten(&subschemas, &["$id"], &new)
        }
        _ => schema.clone(),
    }
}

/// Puts a schema among those that must all hold beside the other keywords.
pub(crate) fn push_all_of(fields: &mut Map<String, Value>, schema: Value) {
    if let Value::Array(all) = fields.entry("allOf").or_insert_with(|| json!([])) {
        all.push(schema);
    }
}

/// A JSON pointer as it stands in the fragment of a URI.
pub(crate) fn encode(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push('%');
            fragment.push_str(&canonical::hex(&[byte]).to_ascii_uppercase());
        }
    }
    fragment
}

/// The number of schemas inside the root that have an identifier.
fn resources(subschemas: &Subschemas, keyword: &str) -> usize {
    let identified = |one: &&Subschema| one.schema.get(keyword).is_some_and(Value::is_string);
    subschemas.all.iter().skip(1).filter(identified).count()
}

fn is_dynamic(subschemas: &Subschemas) -> bool {
    let mut references = subschemas.all.iter().flat_map(|subschema| &subschema.references);
    references.any(|one| matches!(one.target, ReferenceTarget::OneOf(_)))
}

/// The schema with new references, and without these keywords in the schemas inside it. A reference that
/// leads out of the schema stays.
fn rewritten(
    subschemas: &Subschemas,
    removed: &[&str],
    new_reference: &dyn Fn(&str) -> String,
) -> Value {
    let mut schema = subschemas.all[0].schema.clone();
    for subschema in &subschemas.all {
        let Some(Value::Object(fields)) = schema.pointer_mut(&subschema.pointer) else { continue };
        if !subschema.pointer.is_empty() {
            for keyword in removed {
                fields.shift_remove(*keyword);
            }
        }
        for reference in &subschema.references {
            let Some(target) = reference.target.subschemas().first() else { continue };
            let text = new_reference(&subschemas.all[*target].pointer);
            if reference.keyword != "$ref" {
                fields.shift_remove(reference.keyword);
                // Beside a plain reference both must hold.
                if fields.contains_key("$ref") {
                    push_all_of(fields, json!({ "$ref": text }));
                    continue;
                }
            }
            fields.insert("$ref".to_owned(), Value::String(text));
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(schema: &Value, expected: &Value) {
        assert_eq!(&relocate(schema, "#/home"), expected);
        // The same schema in its new place still finds everything.
        let placed = json!({ "$ref": "#/home", "home": relocate(schema, "#/home") });
        crate::Schema::compile(schema).unwrap();
        crate::Schema::compile(&placed).unwrap();
    }

    #[test]
    fn references_count_from_the_new_root() {
        check(
            &json!({
                "$schema": "https://json-schema.org/draft/2020-12/schema",
                "$id": "https://example.com/tree",
                "items": { "$ref": "#" },
                "not": { "$ref": "#/$defs/a~1b" },
                "if": { "$ref": "https://example.com/tree#/$defs/c%20d" },
                "$defs": { "a/b": {}, "c d": {} },
            }),
            &json!({
                "items": { "$ref": "#/home" },
                "not": { "$ref": "#/home/$defs/a~1b" },
                "if": { "$ref": "#/home/$defs/c%20d" },
                "$defs": { "a/b": {}, "c d": {} },
            }),
        );
    }

    #[test]
    fn anchors_become_pointers() {
        check(
            &json!({
                "prefixItems": [{ "$ref": "#leaf" }, { "$dynamicRef": "#node", "$ref": "#/$defs/x" }],
                "$dynamicAnchor": "node",
                "$defs": { "x": {}, "50%": { "$anchor": "leaf", "type": "string" } },
            }),
            &json!({
                "prefixItems": [
                    { "$ref": "#/home/$defs/50%25" },
                    { "$ref": "#/home/$defs/x", "allOf": [{ "$ref": "#/home" }] },
                ],
                "$defs": { "x": {}, "50%": { "type": "string" } },
            }),
        );
    }

    #[test]
    fn an_embedded_resource_has_a_root_of_its_own() {
        check(
            &json!({
                "$id": "https://example.com/a/root",
                "prefixItems": [{ "$ref": "leaf" }, { "$ref": "/a/leaf#/$defs/deep" }],
                "$defs": { "leaf": {
                    "$id": "leaf", "items": { "$ref": "#" }, "$defs": { "deep": { "$ref": "root" } },
                } },
            }),
            &json!({
                "prefixItems": [
                    { "$ref": "#/home/$defs/leaf" }, { "$ref": "#/home/$defs/leaf/$defs/deep" },
                ],
                "$defs": { "leaf": {
                    "items": { "$ref": "#/home/$defs/leaf" }, "$defs": { "deep": { "$ref": "#/home" } },
                } },
            }),
        );
    }

    #[test]
    fn data_that_looks_like_a_reference_stays() {
        let schema = json!({
            "properties": {
                "$ref": { "const": { "$ref": "#/x" } },
                "$anchor": { "enum": [{ "$id": "y" }], "default": { "$anchor": "z" } },
                "meta": { "$ref": "https://json-schema.org/draft/2020-12/schema" },
            },
        });
        check(&schema, &schema);
    }
}
