//! References inside a schema, made to hold wherever the schema is put.
//!
//! A schema that becomes part of a larger document must not keep references that
//! count from its own root, and its anchors and identifiers would clash with those
//! of its neighbours. So every reference becomes a JSON pointer from the root of the
//! larger document, and anchors and identifiers go.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::violation::escape;

/// The schema as it reads at `home` (`#` for a document of its own,
/// `#/components/schemas/x` for a part of one).
pub fn relocate(schema: &Value, home: &str) -> Value {
    let mut schema = schema.clone();
    let mut index = ReferenceIndex::default();
    walk(&mut schema, "", "", &mut |schema, pointer, base| index.read(schema, pointer, base));
    walk(&mut schema, "", "", &mut |schema, _, base| index.rewrite(schema, base, home));
    schema
}

/// Where a reference of the form `#/…` leads.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&decode(reference.strip_prefix('#')?))
}

/// What can be referred to, by its pointer from the root.
#[derive(Default)]
struct ReferenceIndex {
    /// By absolute identifier. The root is here under its own or the empty one.
    resources: HashMap<String, String>,
    /// By the identifier of the resource and the name.
    anchors: HashMap<(String, String), String>,
}

impl ReferenceIndex {
    fn read(&mut self, schema: &Map<String, Value>, pointer: &str, base: &str) {
        if pointer.is_empty() || schema.contains_key("$id") {
            self.resources.insert(base.to_owned(), pointer.to_owned());
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = schema.get(keyword).and_then(Value::as_str) {
                self.anchors.insert((base.to_owned(), name.to_owned()), pointer.to_owned());
            }
        }
    }

    fn rewrite(&self, schema: &mut Map<String, Value>, base: &str, home: &str) {
        for keyword in ["$schema", "$id", "$anchor", "$dynamicAnchor", "$vocabulary"] {
            schema.shift_remove(keyword);
        }
        self.rewrite_one(schema, "$ref", base, home);
        self.rewrite_one(schema, "$dynamicRef", base, home);
        // Within one document that nothing else extends, a dynamic reference is a plain
        // one. Where there is a plain one already, both must hold.
        if let Some(reference) = schema.shift_remove("$dynamicRef") {
            if schema.contains_key("$ref") {
                let all = schema.entry("allOf").or_insert_with(|| Value::Array(Vec::new()));
                if let Value::Array(all) = all {
                    all.push(Value::Object(Map::from_iter([("$ref".to_owned(), reference)])));
                }
            } else {
                schema.insert("$ref".into(), reference);
            }
        }
    }

    fn rewrite_one(&self, schema: &mut Map<String, Value>, key: &str, base: &str, home: &str) {
        let Some(reference) = schema.get(key).and_then(Value::as_str) else { return };
        match self.resolve(reference, base) {
            Some(fragment) => {
                schema.insert(key.into(), Value::String(format!("{home}{fragment}")));
            }
            // The meta-schema, and nothing else, can be meant from outside.
            None if has_scheme(reference) => {}
            // One dangling reference makes many readers refuse the whole document.
            None => {
                schema.shift_remove(key);
            }
        }
    }

    /// The fragment, counted from the root, that a reference leads to.
    fn resolve(&self, reference: &str, base: &str) -> Option<String> {
        let (address, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let resource = if address.is_empty() { base.to_owned() } else { join(base, address) };
        let pointer = self.resources.get(&resource)?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return Some(format!("{}{fragment}", encode(pointer)));
        }
        self.anchors.get(&(resource, decode(fragment))).map(|pointer| encode(pointer))
    }
}

/// Calls `change` with every `$ref` inside a schema. What only bears that name in a value is none,
/// and a property may be called as a keyword is.
pub fn each_reference(schema: &mut Value, change: &mut impl FnMut(&mut String)) {
    walk(schema, "", "", &mut |schema, _, _| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref") {
            change(reference);
        }
    });
}

type SchemaVisitor<'a> = dyn FnMut(&mut Map<String, Value>, &str, &str) + 'a;

/// Calls `visit` for every schema inside a schema, with its pointer and the identifier
/// that its references count from. Innermost first, so that what `visit` adds is not
/// visited.
fn walk(schema: &mut Value, pointer: &str, base: &str, visit: &mut SchemaVisitor) {
    match schema {
        Value::Object(map) => {
            let id = map.get("$id").and_then(Value::as_str);
            let base = id.map_or(base.to_owned(), |id| join(base, id.trim_end_matches('#')));
            for (keyword, value) in &mut *map {
                let pointer = format!("{pointer}/{}", escape(keyword));
                match (holds(keyword), value) {
                    (KeywordValue::Data, _) => {}
                    (KeywordValue::Named, Value::Object(named)) => {
                        for (name, schema) in named {
                            walk(schema, &format!("{pointer}/{}", escape(name)), &base, visit);
                        }
                    }
                    (_, value) => walk(value, &pointer, &base, visit),
                }
            }
            visit(map, pointer, &base);
        }
        Value::Array(schemas) => {
            for (index, schema) in schemas.iter_mut().enumerate() {
                walk(schema, &format!("{pointer}/{index}"), base, visit);
            }
        }
        _ => {}
    }
}

/// What stands under a keyword.
enum KeywordValue {
    /// Values of the instance, where `$ref` is a key like any other.
    Data,
    /// Schemas by names that are not keywords.
    Named,
    /// A schema or a list of them. Unknown keywords too: a reference may lead there.
    Schemas,
}

fn holds(keyword: &str) -> KeywordValue {
    match keyword {
        "const" | "enum" | "default" | "example" | "examples" | "required"
        | "dependentRequired" | "type" => KeywordValue::Data,
        "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
        | "dependencies" => KeywordValue::Named,
        _ => KeywordValue::Schemas,
    }
}

/// A relative address made absolute. Dot segments stay: identifiers that need them are
/// not found, and then the reference goes.
fn join(base: &str, address: &str) -> String {
    if has_scheme(address) {
        return address.to_owned();
    }
    let host = base.find("://").map_or(0, |scheme| scheme + 3);
    let cut = if address.starts_with('/') {
        base[host..].find('/').map_or(base.len(), |slash| host + slash)
    } else {
        base[host..].rfind('/').map_or(host, |slash| host + slash + 1)
    };
    format!("{}{address}", &base[..cut])
}

fn has_scheme(address: &str) -> bool {
    address.split_once(':').is_some_and(|(scheme, _)| {
        !scheme.is_empty()
            && scheme.chars().all(|one| one.is_ascii_alphanumeric() || "+-.".contains(one))
    })
}

/// A JSON pointer as it stands in the fragment of an address.
pub(crate) fn encode(pointer: &str) -> String {
    let mut fragment = String::with_capacity(pointer.len());
    for byte in pointer.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/?".contains(&byte) {
            fragment.push(char::from(byte));
        } else {
            fragment.push('%');
            fragment.push_str(&crate::canonical::hex(&[byte]).to_ascii_uppercase());
        }
    }
    fragment
}

fn decode(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
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

    #[test]
    fn a_reference_that_leads_nowhere_goes() {
        let schema = json!({ "items": { "$ref": "missing.json", "type": "string" } });
        assert_eq!(relocate(&schema, "#"), json!({ "items": { "type": "string" } }));
    }

    #[test]
    fn a_reference_leads_to_its_target() {
        let schema = json!({ "$defs": { "50% é": { "$anchor": "a" } }, "$ref": "#a" });
        let schema = relocate(&schema, "#");
        let reference = schema["$ref"].as_str().unwrap();
        assert_eq!(reference, "#/$defs/50%25%20%C3%A9");
        assert_eq!(target(&schema, reference), Some(&json!({})));
        assert_eq!(target(&schema, "#"), Some(&schema));
    }
}
