//! A JSON Schema, compiled once and used for every call.

use std::borrow::Cow;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

use crate::{
    graph::Graph,
    violation::{MAX_VIOLATIONS, Violation},
};

/// What stands in place of a secret.
pub const REDACTED: &str = "[redacted]";
/// How deep a schema may nest.
pub const MAX_SCHEMA_DEPTH: usize = 64;
/// How large a schema may be, in nodes.
pub const MAX_SCHEMA_NODES: usize = 20_000;
/// Up to how many parts of a value every violation is listed, beyond that only the first.
pub const MAX_LISTED_NODES: usize = 10_000;
/// How large a compiled pattern may be, in bytes.
pub const MAX_REGEX_BYTES: usize = 1_048_576;
/// How often a pattern with look-around may step back in one match.
pub const MAX_REGEX_BACKTRACKS: usize = 100_000;

/// Why a document is not a schema that we can enforce.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct SchemaError {
    /// JSON pointer to the offending place in the schema.
    pub pointer: String,
    /// What is wrong with it.
    pub message: String,
}

impl SchemaError {
    fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// A JSON Schema (2020-12) ready to judge values: formats are asserted, references
/// stay inside the document, patterns and depth are bounded.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    validator: Validator,
    graph: Graph,
    has_defaults: bool,
    has_secrets: bool,
    follows_all_secrets: bool,
}

impl Schema {
    /// Compiles the schema, or says why it cannot be enforced.
    pub fn compile(source: &Value) -> Result<Self, SchemaError> {
        let mut nodes = 0;
        inspect(source, "", 0, &mut nodes)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .should_ignore_unknown_formats(true)
            .offline()
            .with_pattern_options(
                PatternOptions::fancy_regex()
                    .backtrack_limit(MAX_REGEX_BACKTRACKS)
                    .size_limit(MAX_REGEX_BYTES)
                    .dfa_size_limit(MAX_REGEX_BYTES),
            )
            .build(source)
            .map_err(|error| {
                SchemaError::new(
                    error.instance_path().to_string(),
                    format!("is not a valid JSON Schema: {error}"),
                )
            })?;
        let graph = Graph::of(source);
        Ok(Self {
            source: source.clone(),
            validator,
            has_defaults: graph.has_defaults(),
            has_secrets: marks(source) > 0,
            follows_all_secrets: !graph.incomplete && graph.secrets() >= marks(source),
            graph,
        })
    }

    /// The schema as it was written.
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// Puts the declared defaults where the value says nothing.
    pub fn fill_defaults(&self, value: &mut Value) {
        if self.has_defaults {
            self.graph.fill_defaults(value);
        }
    }

    /// Whether the schema marks anything as secret.
    pub fn has_secrets(&self) -> bool {
        self.has_secrets
    }

    /// The value without what the schema marks as secret (`x-secret: true`,
    /// `writeOnly: true` or `format: password`). Where the marks cannot all be
    /// followed, nothing of the value is shown.
    pub fn redacted<'a>(&self, value: &'a Value) -> Cow<'a, Value> {
        if !self.has_secrets {
            return Cow::Borrowed(value);
        }
        if !self.follows_all_secrets {
            return Cow::Owned(Value::String(REDACTED.into()));
        }
        let mut copy = value.clone();
        self.graph.redact(&mut copy, REDACTED);
        Cow::Owned(copy)
    }

    /// Whether the value matches; the cheap question, asked first.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.validator.is_valid(value)
    }

    /// Every way in which the value does not match, up to 32 of them.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        // All errors are collected before the first is seen, and a large value can have one in
        // every part: there the first has to do.
        if is_large(value) {
            let first = self.validator.validate(value).err();
            return first
                .map(|error| Violation::from_error(&error, &self.source))
                .unwrap_or_default();
        }
        let mut violations = Vec::new();
        for error in self.validator.iter_errors(value) {
            violations.extend(Violation::from_error(&error, &self.source));
            if violations.len() >= MAX_VIOLATIONS {
                violations.truncate(MAX_VIOLATIONS);
                break;
            }
        }
        violations
    }
}

/// How many marks of secrecy there are in the whole document, wherever they stand.
fn marks(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            usize::from(crate::graph::is_secret(map)) + map.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

/// Whether the value has more parts than are all looked at for errors.
fn is_large(value: &Value) -> bool {
    fn count(value: &Value, left: &mut usize) {
        *left = left.saturating_sub(1);
        if *left == 0 {
            return;
        }
        match value {
            Value::Array(items) => items.iter().take(*left).for_each(|item| count(item, left)),
            Value::Object(map) => map.values().take(*left).for_each(|item| count(item, left)),
            _ => {}
        }
    }
    let mut left = MAX_LISTED_NODES;
    count(value, &mut left);
    left == 0
}

/// Refuses what would reach out of the document or out of bounds.
fn inspect(
    schema: &Value,
    pointer: &str,
    depth: usize,
    nodes: &mut usize,
) -> Result<(), SchemaError> {
    *nodes += 1;
    if *nodes > MAX_SCHEMA_NODES {
        return Err(SchemaError::new("", format!("has more than {MAX_SCHEMA_NODES} nodes")));
    }
    if depth > MAX_SCHEMA_DEPTH {
        return Err(SchemaError::new(
            pointer,
            format!("nests deeper than {MAX_SCHEMA_DEPTH} levels"),
        ));
    }
    match schema {
        Value::Object(map) => {
            for (key, value) in map {
                let pointer = format!("{pointer}/{}", crate::violation::escape(key));
                if let ("$schema", Some(dialect)) = (key.as_str(), value.as_str())
                    && !is_2020_12(dialect)
                {
                    return Err(SchemaError::new(
                        pointer,
                        format!("names the dialect `{dialect}`; only 2020-12 is enforced"),
                    ));
                }
                inspect(value, &pointer, depth + 1, nodes)?;
            }
            Ok(())
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                inspect(item, &format!("{pointer}/{index}"), depth + 1, nodes)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn is_2020_12(dialect: &str) -> bool {
    dialect.trim_end_matches('#') == "https://json-schema.org/draft/2020-12/schema"
}
