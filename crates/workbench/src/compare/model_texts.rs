//! The texts of a schema that models read: everything that is not a keyword of JSON Schema.
//!
//! Descriptions and the like change no value, and neither do keywords that nobody knows. Names of
//! properties, lists of words and patterns do change values; that they are read too is another matter.

use std::collections::HashSet;

use serde_json::{Map, Value};

use contract::{
    Dialect,
    dialect::{KeywordContent, content_of},
    escape,
};

/// Keywords that are known, and change no value.
fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "examples"
            | "default"
            | "$comment"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
    )
}

/// The texts of a schema that models read.
#[derive(Debug, Default)]
pub(super) struct ModelTexts<'a> {
    /// Texts that change no value, with the places where they are.
    pub texts: Vec<(String, &'a str)>,
    /// Words that values are compared with, and names.
    pub names: Vec<&'a str>,
}

impl<'a> ModelTexts<'a> {
    /// Those of a schema, or of a list of schemas, at a place.
    pub fn of_schema(schema: &'a Value, pointer: &str) -> Self {
        let mut words = Self::default();
        words.schema(schema, &mut pointer.to_owned());
        words
    }

    /// Those of something that is no schema.
    pub fn of_text(value: &'a Value, pointer: &str) -> Self {
        let mut words = Self::default();
        words.text(value, &mut pointer.to_owned());
        words
    }

    /// Those of what stands under a key, and the key itself.
    pub fn of_entry(key: &'a str, value: &'a Value, named: bool, pointer: &str) -> Self {
        let mut words = Self::default();
        let mut pointer = pointer.to_owned();
        if named {
            words.named(key, value, &mut pointer);
        } else {
            words.keyword(key, value, &mut pointer);
        }
        words
    }

    /// Names and words of a schema alone, for looking them up.
    pub fn names_of(schema: &'a Value) -> HashSet<&'a str> {
        Self::of_schema(schema, "").names.into_iter().collect()
    }

    fn schema(&mut self, schema: &'a Value, pointer: &mut String) {
        match schema {
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.keyword(key, value, pointer);
                }
            }
            Value::Array(items) => {
                let length = pointer.len();
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.schema(item, pointer);
                    pointer.truncate(length);
                }
            }
            other => self.text(other, pointer),
        }
    }

    fn keyword(&mut self, key: &'a str, value: &'a Value, pointer: &mut String) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escape(key));
        match (content_of(key), value) {
            (KeywordContent::Schemas, _) => self.schema(value, pointer),
            (KeywordContent::Named, Value::Object(fields)) => {
                for (name, value) in fields {
                    self.named(name, value, pointer);
                }
            }
            (KeywordContent::Fixed, Value::String(target))
                if key.ends_with("Ref") || key == "$ref" =>
            {
                self.reference(target);
            }
            (KeywordContent::Fixed, _) if is_of_the_language(key, value) => {}
            (KeywordContent::Names | KeywordContent::Values | KeywordContent::Fixed, _) => {
                self.every_name(value);
            }
            (KeywordContent::Text | KeywordContent::Named, _) => {
                if !is_annotation(key) && content_of(key) == KeywordContent::Text {
                    self.names.push(key);
                }
                self.text(value, pointer);
            }
        }
        pointer.truncate(length);
    }

    fn named(&mut self, name: &'a str, value: &'a Value, pointer: &mut String) {
        let length = pointer.len();
        pointer.push('/');
        pointer.push_str(&escape(name));
        self.names.push(name);
        match value {
            Value::Array(names) => names.iter().for_each(|name| self.every_name(name)),
            schema => self.schema(schema, pointer),
        }
        pointer.truncate(length);
    }

    /// The target of a reference within the document has its names there. Nothing says that it leads
    /// anywhere: whatever else stands in it is read.
    fn reference(&mut self, target: &'a str) {
        let is_language = |part: &str| {
            content_of(part) != KeywordContent::Text
                || part.bytes().all(|byte| byte.is_ascii_digit())
        };
        match target.strip_prefix("#/") {
            Some(pointer) => {
                self.names.extend(pointer.split('/').filter(|part| !is_language(part)));
            }
            None if target == "#" => {}
            None => self.names.push(target),
        }
    }

    fn every_name(&mut self, value: &'a Value) {
        match value {
            Value::String(name) => self.names.push(name),
            Value::Array(items) => items.iter().for_each(|item| self.every_name(item)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.names.push(name);
                    self.every_name(value);
                }
            }
            _ => {}
        }
    }

    fn text(&mut self, value: &'a Value, pointer: &mut String) {
        let length = pointer.len();
        match value {
            Value::String(text) => self.texts.push((pointer.clone(), text)),
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.text(item, pointer);
                    pointer.truncate(length);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    self.names.push(name);
                    pointer.push('/');
                    pointer.push_str(&escape(name));
                    self.text(value, pointer);
                    pointer.truncate(length);
                }
            }
            _ => {}
        }
    }
}

/// True if a value is only words of JSON Schema.
fn is_of_the_language(key: &str, value: &Value) -> bool {
    let is_type = |value: &Value| {
        value.as_str().is_some_and(|word| {
            matches!(
                word,
                "array" | "boolean" | "integer" | "null" | "number" | "object" | "string"
            )
        })
    };
    match (key, value) {
        ("type", Value::Array(all)) => all.iter().all(is_type),
        ("type", one) => is_type(one),
        ("format", Value::String(word)) => contract::formats::is_known(word),
        ("$schema", Value::String(address)) => Dialect::named(address).is_some(),
        _ => false,
    }
}

/// A schema without everything that changes no value; nothing where a reference leads to something
/// that would be lost with it, or might.
pub(super) fn stripped(schema: &Value) -> Option<Value> {
    let bare = bare(schema);
    let mut references = Vec::new();
    collect_references(&bare, &mut references);
    let leads = |target: &&str| {
        target.strip_prefix('#').is_some_and(|pointer| bare.pointer(pointer).is_some())
    };
    references.iter().all(leads).then_some(bare)
}

fn bare(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(bare).collect(),
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (key, value) in fields {
                let value = match (content_of(key), value) {
                    (KeywordContent::Text, _) => continue,
                    (KeywordContent::Schemas, value) => bare(value),
                    (KeywordContent::Named, Value::Object(named)) => {
                        named.iter().map(|(name, value)| (name.clone(), bare(value))).collect()
                    }
                    (_, value) => value.clone(),
                };
                kept.insert(key.clone(), value);
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

/// All targets of references; what only looks like one does no harm.
fn collect_references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_references(item, found)),
        Value::Object(fields) => {
            for (key, value) in fields {
                match (key.as_str(), value) {
                    ("$ref" | "$dynamicRef" | "$recursiveRef", Value::String(target)) => {
                        found.push(target);
                    }
                    (_, value) => collect_references(value, found),
                }
            }
        }
        _ => {}
    }
}
