//! What is read of a tool, and how much each part counts.

use serde_json::Value;

use super::{ShortlistEntry, terms};

/// How much a term of the name counts: a name is chosen with care.
const NAME: f32 = 3.0;
/// How much a term of a property's name counts.
const PROPERTY: f32 = 2.0;
/// How much a term of a description, a title or a value counts.
const TEXT: f32 = 1.0;
/// How many terms of the description are read, so that a long one leaves room for the properties.
const MAX_DESCRIPTION_TERMS: usize = 1_200;
/// How much of one text is read, in bytes.
const MAX_TEXT_BYTES: usize = 65_536;
/// How deep a schema is read.
const MAX_DEPTH: usize = 6;
/// How many properties of a schema are read.
const MAX_PROPERTIES: usize = 500;
/// How many values of one list are read.
const MAX_VALUES: usize = 100;

/// Takes a term and what it counts; says whether it wants more.
type TermSink<'a> = &'a mut dyn FnMut(&str, f32) -> bool;

/// All terms of a tool, the weightiest first.
pub(super) fn terms(entry: &ShortlistEntry<'_>, sink: TermSink<'_>) {
    text(entry.name, NAME, usize::MAX, sink);
    text(entry.description, TEXT, MAX_DESCRIPTION_TERMS, sink);
    let mut walk = SchemaTerms { sink, properties: MAX_PROPERTIES };
    walk.schema(entry.schema, 0);
}

fn text(text: &str, weight: f32, most: usize, sink: TermSink<'_>) {
    let read = &text[..text.floor_char_boundary(MAX_TEXT_BYTES)];
    let mut left = most;
    terms::each(read, &mut |term| {
        left -= 1;
        sink(term, weight) && left > 0
    });
}

struct SchemaTerms<'a> {
    sink: TermSink<'a>,
    properties: usize,
}

impl SchemaTerms<'_> {
    fn schema(&mut self, schema: &Value, depth: usize) {
        let Value::Object(fields) = schema else { return };
        if depth > MAX_DEPTH {
            return;
        }
        for (key, value) in fields {
            match &**key {
                // What a pattern spells out is often the beginning of an identifier.
                "title" | "description" | "const" | "default" | "pattern" => self.value(value),
                "enum" | "examples" => {
                    let values = value.as_array().into_iter().flatten();
                    values.take(MAX_VALUES).for_each(|value| self.value(value));
                }
                "properties" => self.properties(value, depth),
                "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains" => {
                    self.schema(value, depth + 1);
                }
                "anyOf" | "oneOf" | "allOf" | "prefixItems" => {
                    let schemas = value.as_array().into_iter().flatten();
                    schemas.take(MAX_VALUES).for_each(|schema| self.schema(schema, depth + 1));
                }
                "$defs" | "definitions" => {
                    let schemas = value.as_object().into_iter().flat_map(|all| all.values());
                    schemas.take(MAX_VALUES).for_each(|schema| self.schema(schema, depth + 1));
                }
                _ => {}
            }
        }
    }

    fn properties(&mut self, properties: &Value, depth: usize) {
        for (name, schema) in properties.as_object().into_iter().flatten() {
            if self.properties == 0 {
                return;
            }
            self.properties -= 1;
            text(name, PROPERTY, usize::MAX, self.sink);
            self.schema(schema, depth + 1);
        }
    }

    fn value(&mut self, value: &Value) {
        if let Value::String(value) = value {
            text(value, TEXT, usize::MAX, self.sink);
        }
    }
}
