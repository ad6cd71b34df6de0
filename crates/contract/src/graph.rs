//! Which parts of a schema speak about which parts of a value.
//!
//! Filling in defaults and taking out secrets both walk a value along its schema.
//! A schema may refer to itself in any way it likes, so the walk goes over a graph
//! whose nodes are the places of the schema, and carries the *set* of places that
//! speak about the value at hand. The work is bounded by the size of the value
//! times the size of the schema, whatever the references do.

use std::collections::HashMap;

use serde_json::Value;

/// An index into the nodes of a graph.
type Place = usize;

#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Whether a reference led to a place that we could not find.
    pub(crate) incomplete: bool,
}

#[derive(Debug, Default)]
struct Node {
    properties: Vec<(String, Place)>,
    items: Option<Place>,
    prefix_items: Vec<Place>,
    additional: Option<Place>,
    /// Places that speak about the same value, all of them.
    certain: Vec<Place>,
    /// Places that may or may not speak about the same value.
    possible: Vec<Place>,
    default: Option<Value>,
    secret: bool,
}

impl Graph {
    pub(crate) fn of(schema: &Value) -> Self {
        Builder::new(schema).build()
    }

    pub(crate) fn has_defaults(&self) -> bool {
        self.nodes.iter().any(|node| node.default.is_some())
    }

    /// How many places are marked as secret.
    pub(crate) fn secrets(&self) -> usize {
        self.nodes.iter().filter(|node| node.secret).count()
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

    fn fill(&self, value: &mut Value, places: &[Place]) {
        if let Value::Object(map) = value {
            for (name, place) in places.iter().flat_map(|place| &self.nodes[*place].properties) {
                if !map.contains_key(name)
                    && let Some(default) = self.default_at(*place)
                {
                    map.insert(name.clone(), default.clone());
                }
            }
        }
        self.for_each_child(value, places, false, &mut |child, places| self.fill(child, places));
    }

    fn hide(&self, value: &mut Value, places: &[Place], replacement: &str) {
        if places.iter().any(|place| self.nodes[*place].secret) {
            *value = Value::String(replacement.into());
            return;
        }
        self.for_each_child(value, places, true, &mut |child, places| {
            self.hide(child, places, replacement);
        });
    }

    fn default_at(&self, place: Place) -> Option<&Value> {
        self.close(vec![place], false)
            .into_iter()
            .find_map(|place| self.nodes[place].default.as_ref())
    }

    fn for_each_child(
        &self,
        value: &mut Value,
        places: &[Place],
        with_possible: bool,
        visit: &mut dyn FnMut(&mut Value, &[Place]),
    ) {
        let nodes = || places.iter().map(|place| &self.nodes[*place]);
        match value {
            Value::Object(map) => {
                for (name, child) in map {
                    let named = nodes().filter_map(|node| {
                        let named = node.properties.iter().find(|(known, _)| known == name);
                        named.map(|(_, place)| *place).or(node.additional)
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

    /// The given places and all that speak about the same value.
    fn close(&self, mut places: Vec<Place>, with_possible: bool) -> Vec<Place> {
        let mut next = 0;
        while next < places.len() {
            let node = &self.nodes[places[next]];
            let possible = if with_possible { node.possible.as_slice() } else { &[] };
            for place in node.certain.iter().chain(possible) {
                if !places.contains(place) {
                    places.push(*place);
                }
            }
            next += 1;
        }
        places
    }
}

/// Makes the graph place by place, without recursion.
struct Builder<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, String>,
    known: HashMap<String, Place>,
    open: Vec<(Place, String)>,
    graph: Graph,
}

impl<'a> Builder<'a> {
    fn new(root: &'a Value) -> Self {
        let mut anchors = HashMap::new();
        find_anchors(root, "", &mut anchors);
        Self { root, anchors, known: HashMap::new(), open: Vec::new(), graph: Graph::default() }
    }

    fn build(mut self) -> Graph {
        self.place(String::new());
        while let Some((place, pointer)) = self.open.pop() {
            if let Some(schema) = self.root.pointer(&pointer) {
                let node = self.read(schema, &pointer);
                self.graph.nodes[place] = node;
            }
        }
        self.graph
    }

    fn place(&mut self, pointer: String) -> Place {
        if let Some(place) = self.known.get(&pointer) {
            return *place;
        }
        let place = self.graph.nodes.len();
        self.graph.nodes.push(Node::default());
        self.known.insert(pointer.clone(), place);
        self.open.push((place, pointer));
        place
    }

    fn read(&mut self, schema: &Value, pointer: &str) -> Node {
        let Value::Object(schema) = schema else { return Node::default() };
        let mut node = Node {
            default: schema.get("default").cloned(),
            secret: is_secret(schema),
            ..Node::default()
        };
        for (key, value) in schema {
            let below = |last: &str| format!("{pointer}/{key}/{}", crate::violation::escape(last));
            match (key.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    for name in properties.keys() {
                        node.properties.push((name.clone(), self.place(below(name))));
                    }
                }
                ("items", Value::Object(_)) => {
                    node.items = Some(self.place(format!("{pointer}/{key}")));
                }
                ("additionalProperties", Value::Object(_)) => {
                    node.additional = Some(self.place(format!("{pointer}/{key}")));
                }
                ("prefixItems", Value::Array(items)) => {
                    for index in 0..items.len() {
                        node.prefix_items.push(self.place(below(&index.to_string())));
                    }
                }
                ("allOf", Value::Array(branches)) => {
                    for index in 0..branches.len() {
                        node.certain.push(self.place(below(&index.to_string())));
                    }
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    for index in 0..branches.len() {
                        node.possible.push(self.place(below(&index.to_string())));
                    }
                }
                ("if" | "then" | "else", _) => {
                    node.possible.push(self.place(format!("{pointer}/{key}")));
                }
                ("dependentSchemas", Value::Object(schemas)) => {
                    for name in schemas.keys() {
                        node.possible.push(self.place(below(name)));
                    }
                }
                ("$ref" | "$dynamicRef", Value::String(target)) => match self.resolve(target) {
                    Some(pointer) => node.certain.push(self.place(pointer)),
                    None => self.graph.incomplete = true,
                },
                _ => {}
            }
        }
        node
    }

    /// The pointer that a reference inside the document leads to.
    fn resolve(&self, reference: &str) -> Option<String> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() || fragment.starts_with('/') {
            return self.root.pointer(fragment).map(|_| fragment.to_owned());
        }
        self.anchors.get(fragment).cloned()
    }
}

fn find_anchors<'a>(schema: &'a Value, pointer: &str, anchors: &mut HashMap<&'a str, String>) {
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                if let ("$anchor" | "$dynamicAnchor", Some(name)) = (key.as_str(), value.as_str()) {
                    anchors.insert(name, pointer.to_owned());
                }
                find_anchors(
                    value,
                    &format!("{pointer}/{}", crate::violation::escape(key)),
                    anchors,
                );
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                find_anchors(item, &format!("{pointer}/{index}"), anchors);
            }
        }
        _ => {}
    }
}

/// Whether the schema marks its value as secret.
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
