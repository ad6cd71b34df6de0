//! References replaced by what they lead to.
//!
//! Many clients, and most models, read a schema from top to bottom and follow nothing. Where
//! everything can be written out in a small schema, it is.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    Dialect,
    dialect::{ChildKey, KeywordContent, content_of},
    references::push_all_of,
    subschemas::{ReferenceTarget, SubschemaId, Subschemas},
};

/// The largest schema without references, in nodes.
const MAX_INLINED_NODES: usize = 2_000;
/// Its largest depth.
const MAX_INLINED_DEPTH: usize = 40;

/// The schema without references, or as it is where it refers to itself or would become large.
pub(super) fn inlined(schema: &Value) -> Value {
    let Ok(subschemas) = Subschemas::of(schema, Dialect::Draft202012) else {
        return schema.clone();
    };
    let plain = subschemas.all.iter().all(|subschema| {
        let named = ["$id", "$anchor", "$dynamicAnchor", "$dynamicRef"];
        named.iter().all(|keyword| subschema.schema.get(*keyword).is_none())
    });
    let refers = subschemas.all.iter().any(|subschema| !subschema.references.is_empty());
    if !plain || !refers {
        return schema.clone();
    }
    let mut writer =
        ReferenceInliner { subschemas: &subschemas, left: MAX_INLINED_NODES, open: Vec::new() };
    match writer.write(0) {
        Some(Value::Object(mut written)) => {
            written.shift_remove("$defs");
            written.shift_remove("definitions");
            Value::Object(written)
        }
        _ => schema.clone(),
    }
}

struct ReferenceInliner<'p, 'a> {
    subschemas: &'p Subschemas<'a>,
    left: usize,
    /// The subschemas that we are inside of.
    open: Vec<SubschemaId>,
}

impl ReferenceInliner<'_, '_> {
    fn write(&mut self, number: SubschemaId) -> Option<Value> {
        if self.open.contains(&number) || self.open.len() > MAX_INLINED_DEPTH {
            return None;
        }
        self.open.push(number);
        let written = self.write_open(number);
        self.open.pop();
        written
    }

    fn write_open(&mut self, number: SubschemaId) -> Option<Value> {
        let subschema = &self.subschemas.all[number];
        self.left = self.left.checked_sub(nodes_of_its_own(subschema.schema))?;
        let Value::Object(schema) = subschema.schema else { return Some(subschema.schema.clone()) };
        let mut inner: HashMap<&str, Vec<(Option<String>, Value)>> = HashMap::new();
        for (part, number) in &subschema.inner {
            // What is only there to be referred to is written where it is referred to.
            if matches!(part.keyword, "$defs" | "definitions") {
                continue;
            }
            let key = match part.key {
                Some(ChildKey::Name(name)) => Some(name.to_owned()),
                _ => None,
            };
            let written = self.write(*number)?;
            inner.entry(part.keyword).or_default().push((key, written));
        }
        let mut written = Map::new();
        for (keyword, value) in schema {
            let value = match (keyword.as_str(), inner.remove(keyword.as_str())) {
                ("$ref" | "$defs" | "definitions", _) => continue,
                (_, None) => value.clone(),
                (_, Some(parts)) => put(value, parts),
            };
            written.insert(keyword.clone(), value);
        }
        for reference in &subschema.references {
            let ReferenceTarget::Subschema(target) = reference.target else { return None };
            match self.write(target)? {
                Value::Object(target) => merge(&mut written, target),
                target => push_all_of(&mut written, target),
            }
        }
        Some(Value::Object(written))
    }
}

fn put(value: &Value, parts: Vec<(Option<String>, Value)>) -> Value {
    match value {
        Value::Array(_) => parts.into_iter().map(|(_, schema)| schema).collect(),
        _ if parts.iter().all(|(key, _)| key.is_some()) => {
            // Names whose values are no schemas stay.
            let mut named = value.as_object().cloned().unwrap_or_default();
            named.extend(parts.into_iter().filter_map(|(key, schema)| Some((key?, schema))));
            Value::Object(named)
        }
        _ => parts.into_iter().next().map_or(Value::Null, |(_, schema)| schema),
    }
}

/// Adds what a reference led to: side by side where only words stand beside the reference.
fn merge(written: &mut Map<String, Value>, target: Map<String, Value>) {
    let words = ["title", "description", "default", "examples", "$comment", "deprecated"];
    if written.keys().all(|keyword| words.contains(&keyword.as_str())) {
        for (keyword, value) in target {
            written.entry(keyword).or_insert(value);
        }
    } else {
        push_all_of(written, Value::Object(target));
    }
}

/// A rough count: schemas inside count for themselves, everything else here.
fn nodes_of_its_own(schema: &Value) -> usize {
    fn all(value: &Value) -> usize {
        match value {
            Value::Object(map) => 1 + map.values().map(all).sum::<usize>(),
            Value::Array(items) => 1 + items.iter().map(all).sum::<usize>(),
            _ => 1,
        }
    }
    let own = |(keyword, value): (&String, &Value)| match content_of(keyword) {
        KeywordContent::Schemas | KeywordContent::Named => 1,
        _ => all(value),
    };
    1 + schema.as_object().into_iter().flatten().map(own).sum::<usize>()
}
