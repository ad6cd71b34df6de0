//! Which parts of a schema speak about which parts of a value.
//!
//! Filling in defaults and taking out secrets both walk a value along its schema.
//! A schema may refer to itself in any way it likes, so the walk goes over a graph
//! whose nodes are the subschemas of the schema, and carries the *set* of subschemas that
//! speak about the value at hand. The work is bounded by the size of the value
//! times the size of the schema, whatever the references do.

use serde_json::Value;

use crate::{
    dialect::Applicator,
    subschemas::{ReferenceTarget, SubschemaId, Subschemas},
};

#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// One for each subschema of the schema.
    nodes: Vec<GraphNode>,
    /// True if a reference leads out of the schema.
    pub(crate) incomplete: bool,
}

#[derive(Debug, Default)]
struct GraphNode {
    properties: Vec<(String, SubschemaId)>,
    items: Option<SubschemaId>,
    prefix_items: Vec<SubschemaId>,
    additional: Option<SubschemaId>,
    /// Subschemas that speak about the same value, all of them.
    certain: Vec<SubschemaId>,
    /// Subschemas that may or may not speak about the same value.
    possible: Vec<SubschemaId>,
    default: Option<Value>,
    secret: bool,
}

impl Graph {
    pub(crate) fn of(subschemas: &Subschemas) -> Self {
        let incomplete = subschemas.all.iter().any(|subschema| {
            subschema.references.iter().any(|one| one.target == ReferenceTarget::Outside)
        });
        let nodes = (0..subschemas.all.len()).map(|number| node(subschemas, number)).collect();
        Self { nodes, incomplete }
    }

    pub(crate) fn has_defaults(&self) -> bool {
        self.nodes.iter().any(|node| node.default.is_some())
    }

    /// The number of subschemas marked as secret that a walk along a value can reach.
    pub(crate) fn secrets(&self) -> usize {
        let mut seen = vec![false; self.nodes.len()];
        let mut open = vec![0];
        let mut secrets = 0;
        while let Some(subschema) = open.pop() {
            if std::mem::replace(&mut seen[subschema], true) {
                continue;
            }
            let node = &self.nodes[subschema];
            secrets += usize::from(node.secret);
            open.extend(node.properties.iter().map(|(_, subschema)| *subschema));
            open.extend(node.items.iter().chain(&node.additional).chain(&node.prefix_items));
            open.extend(node.certain.iter().chain(&node.possible));
        }
        secrets
    }

    /// Puts defaults where they are certain: behind `properties`, `items`, `allOf` and
    /// references, never behind a branch that may not apply.
    pub(crate) fn fill_defaults(&self, value: &mut Value) {
        self.fill(value, &self.close(vec![0], false));
    }

    /// Replaces what any branch calls secret, whether it applies or not.
    pub(crate) fn redact(&self, value: &mut Value, replacement: &str) {
        self.hide(value, &self.close(vec![0], true), replacement);
    }

    fn fill(&self, value: &mut Value, subschemas: &[SubschemaId]) {
        if let Value::Object(map) = value {
            for (name, subschema) in
                subschemas.iter().flat_map(|subschema| &self.nodes[*subschema].properties)
            {
                if !map.contains_key(name)
                    && let Some(default) = self.default_at(*subschema)
                {
                    map.insert(name.clone(), default.clone());
                }
            }
        }
        self.for_each_child(value, subschemas, false, &mut |child, subschemas| {
            self.fill(child, subschemas);
        });
    }

    fn hide(&self, value: &mut Value, subschemas: &[SubschemaId], replacement: &str) {
        if subschemas.iter().any(|subschema| self.nodes[*subschema].secret) {
            *value = Value::String(replacement.into());
            return;
        }
        self.for_each_child(value, subschemas, true, &mut |child, subschemas| {
            self.hide(child, subschemas, replacement);
        });
    }

    fn default_at(&self, subschema: SubschemaId) -> Option<&Value> {
        self.close(vec![subschema], false)
            .into_iter()
            .find_map(|subschema| self.nodes[subschema].default.as_ref())
    }

    fn for_each_child(
        &self,
        value: &mut Value,
        subschemas: &[SubschemaId],
        with_possible: bool,
        visit: &mut dyn FnMut(&mut Value, &[SubschemaId]),
    ) {
        let nodes = || subschemas.iter().map(|subschema| &self.nodes[*subschema]);
        match value {
            Value::Object(map) => {
                for (name, child) in map {
                    let named = nodes().filter_map(|node| {
                        let named = node.properties.iter().find(|(known, _)| known == name);
                        named.map(|(_, subschema)| *subschema).or(node.additional)
                    });
                    let inner = self.close(named.collect(), with_possible);
                    if !inner.is_empty() {
                        visit(child, &inner);
                    }
                }
            }
            Value::Array(array) => {
                for (index, child) in array.iter_mut().enumerate() {
                    let nth = nodes()
                        .filter_map(|node| node.prefix_items.get(index).copied().or(node.items));
                    let inner = self.close(nth.collect(), with_possible);
                    if !inner.is_empty() {
                        visit(child, &inner);
                    }
                }
            }
            _ => {}
        }
    }

    /// The given subschemas and all that speak about the same value.
    fn close(&self, mut subschemas: Vec<SubschemaId>, with_possible: bool) -> Vec<SubschemaId> {
        let mut next = 0;
        while next < subschemas.len() {
            let node = &self.nodes[subschemas[next]];
            let possible = if with_possible { node.possible.as_slice() } else { &[] };
            for subschema in node.certain.iter().chain(possible) {
                if !subschemas.contains(subschema) {
                    subschemas.push(*subschema);
                }
            }
            next += 1;
        }
        subschemas
    }
}

fn node(subschemas: &Subschemas, number: SubschemaId) -> GraphNode {
    let subschema = &subschemas.all[number];
    let Value::Object(schema) = subschema.schema else { return GraphNode::default() };
    // Beside a reference these are read in every dialect: that is where people write them.
    let mut node = GraphNode {
        default: schema.get("default").cloned(),
        secret: is_secret(schema),
        ..GraphNode::default()
    };
    for (applicator, next) in subschemas.in_place(number) {
        match applicator {
            Applicator::All => node.certain.push(next),
            Applicator::Not => {}
            _ => node.possible.push(next),
        }
    }
    for (applicator, next) in subschemas.children(number) {
        match applicator {
            Applicator::Property(name) => node.properties.push((name.to_owned(), next)),
            Applicator::AdditionalProperties => node.additional = Some(next),
            Applicator::Prefix(_) => node.prefix_items.push(next),
            Applicator::Items => node.items = Some(next),
            _ => {}
        }
    }
    node
}

/// True if the schema marks its value as secret.
pub(crate) fn is_secret(schema: &serde_json::Map<String, Value>) -> bool {
    let marked = |key: &str| schema.get(key) == Some(&Value::Bool(true));
    marked("x-secret")
        || marked("writeOnly")
        || schema.get("format").and_then(Value::as_str) == Some("password")
}

#[cfg(test)]
mod tests {
    use crate::Schema;
    use serde_json::{Value, json};

    fn check(schema: &Value, mut value: Value, expected: &Value) {
        Schema::compile(schema).unwrap().fill_defaults(&mut value);
        assert_eq!(&value, expected);
    }

    #[test]
    fn fills_in_only_what_is_certain() {
        let schema = json!({
            "properties": {
                "n": { "default": 1 },
                "inner": { "properties": { "deep": { "default": "x" } } },
                "list": { "items": { "$ref": "#/$defs/entry" } },
                "referred": { "$ref": "#/$defs/number" },
            },
            "allOf": [{ "properties": { "all": { "default": true } } }],
            "anyOf": [{ "properties": { "any": { "default": true } } }, {}],
            "$defs": {
                "entry": { "$anchor": "entry", "properties": { "kind": { "default": "plain" } } },
                "number": { "default": 7 },
            },
        });
        check(&schema, json!({}), &json!({ "n": 1, "referred": 7, "all": true }));
        check(
            &schema,
            json!({ "n": null, "referred": 0, "inner": {}, "list": [{}, { "kind": "k" }, 3] }),
            &json!({
                "n": null,
                "referred": 0,
                "inner": { "deep": "x" },
                "list": [{ "kind": "plain" }, { "kind": "k" }, 3],
                "all": true,
            }),
        );
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({
            "$ref": "#/$defs/node",
            "$defs": { "node": { "properties": {
                "a": { "$ref": "#/$defs/node" }, "b": { "$ref": "#/$defs/node" },
                "c": { "$ref": "#/$defs/node" }, "kind": { "default": 0 },
            } } },
        });
        check(&schema, json!({ "a": {} }), &json!({ "a": { "kind": 0 }, "kind": 0 }));
    }

    #[test]
    fn a_secret_that_cannot_be_followed_hides_everything() {
        for schema in [
            json!({ "patternProperties": { "^p": { "writeOnly": true } } }),
            json!({ "not": { "properties": { "p": { "x-secret": true } } } }),
        ] {
            let schema = Schema::compile(&schema).unwrap();
            assert_eq!(*schema.redacted(&json!({ "p": "secret" })), json!("[redacted]"));
        }
    }

    #[test]
    fn secrets_are_replaced_wherever_they_are() {
        let schema = json!({
            "properties": {
                "user": { "type": "string" },
                "password": { "type": "string", "format": "password" },
                "keys": { "items": { "$ref": "#/$defs/key" } },
            },
            "oneOf": [{ "properties": { "pin": { "writeOnly": true } } }, { "type": "object" }],
            "$defs": { "key": { "properties": { "value": { "x-secret": true } } } },
        });
        let schema = Schema::compile(&schema).unwrap();
        let value = json!({
            "user": "ada", "password": "p", "pin": 4711, "keys": [{ "id": 1, "value": { "s": 1 } }],
        });
        assert_eq!(
            *schema.redacted(&value),
            json!({
                "user": "ada", "password": "[redacted]", "pin": "[redacted]",
                "keys": [{ "id": 1, "value": "[redacted]" }],
            })
        );
    }
}
