//! A JSON Schema, compiled once and used for every call.

use std::{borrow::Cow, panic::AssertUnwindSafe, sync::OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::{
    complexity::{self, Complexity},
    dialect::Dialect,
    formats,
    graph::Graph,
    interrupt::{self, Interrupt, Interrupted},
    pattern::{self, Pattern, Patterns},
    references,
    subschemas::Subschemas,
    violation::{MAX_VIOLATIONS, Violation},
};

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";
/// The largest depth of a schema.
pub const MAX_SCHEMA_DEPTH: usize = 64;
/// The largest schema, in nodes.
pub const MAX_SCHEMA_NODES: usize = 20_000;
/// The largest sum of the lengths of all pointers to its nodes, in bytes: a long name counts once for
/// everything inside.
pub const MAX_POINTER_BYTES: usize = 16 * 1_048_576;
/// The largest number of patterns in a schema.
pub const MAX_PATTERNS: usize = 500;
/// The longest pattern, in bytes.
pub const MAX_PATTERN_BYTES: usize = 4_096;
/// Up to how many parts of a value every violation is listed, beyond that only the first.
pub const MAX_LISTED_NODES: usize = 10_000;
/// The largest number of errors of a value that are listed.
const MAX_LISTED_ERRORS: usize = 1_000;
/// The largest compiled pattern of property names, in bytes.
pub const MAX_NAME_PATTERN_SIZE: usize = 131_072;
/// The work of a check that is worth a thread of its own: bytes of the value times the weight of its schema.
const HEAVY_WORK: u64 = 8_000_000;
/// The longest message of the validator that is repeated, in characters.
const MAX_REASON: usize = 300;

/// The reason why a schema cannot be enforced.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct SchemaError {
    /// JSON pointer to the offending place in the schema.
    pub pointer: String,
    /// The problem.
    pub message: String,
}

impl SchemaError {
    pub fn new(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

/// A JSON Schema ready to judge values: formats are asserted, references stay inside the
/// document, patterns, depth and work are bounded.
#[derive(Debug)]
pub struct Schema {
    source: Value,
    dialect: Dialect,
    validator: Validator,
    graph: Graph,
    /// The same validator, which can be interrupted.
    interruptible: OnceLock<Validator>,
    complexity: Complexity,
    /// The work of checking one byte, roughly.
    weight: u64,
    /// The sum of the sizes of the compiled patterns of property names, in bytes.
    name_pattern_size: usize,
    has_defaults: bool,
    has_secrets: bool,
    follows_all_secrets: bool,
}

impl Schema {
    /// Compiles a schema of our own (2020-12), or says why it cannot be enforced.
    pub fn compile(source: &Value) -> Result<Self, SchemaError> {
        match source.get("$schema").and_then(Value::as_str) {
            Some(other) if Dialect::named(other) != Some(Dialect::Draft202012) => {
                let message = format!("declares the dialect `{other}`; contracts must use 2020-12");
                Err(SchemaError::new("/$schema", message))
            }
            _ => Self::build(source, Dialect::Draft202012),
        }
    }

    /// Compiles a schema of somebody else in the dialect that it declares, draft-04 to 2020-12. It
    /// may be hostile: what would reach out, or ask for too much work, is refused.
    ///
    /// Two things are the same in all dialects: formats are asserted (also those that came later,
    /// as `uuid` did), and the encoding of a text is not.
    pub fn compile_foreign(source: &Value) -> Result<Self, SchemaError> {
        Self::build(source, Dialect::of(source)?)
    }

    fn build(source: &Value, dialect: Dialect) -> Result<Self, SchemaError> {
        Inspection::default().look(source, 0)?;
        let subschemas = Subschemas::of(source, dialect)?;
        let complexity = complexity::measure(&subschemas)?;
        let rewritten = references::without_identifiers(&subschemas)?;
        let patterns = Patterns::default();
        let validator = validator(rewritten.as_ref().unwrap_or(source), dialect, &patterns)?;
        let graph = Graph::of(&subschemas);
        let name_pattern_size = name_pattern_size(&subschemas)?;
        let weight = complexity.checks + patterns.weight() + pattern::weight(name_pattern_size);
        Ok(Self {
            source: source.clone(),
            dialect,
            validator,
            interruptible: OnceLock::new(),
            weight,
            name_pattern_size,
            complexity,
            has_defaults: graph.has_defaults(),
            has_secrets: marks(source) > 0,
            follows_all_secrets: !graph.incomplete && graph.secrets() >= marks(source),
            graph,
        })
    }

    /// The dialect that the schema is enforced in.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The largest number of checks of one part of a value: the cost of the schema.
    pub fn checks(&self) -> u64 {
        self.complexity.checks
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

    /// True if the schema marks anything as secret.
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

    /// The JSON pointer to a pattern with a back-reference, if the schema has one. No linear time is
    /// known for those, and a schema of strangers has no need of them.
    pub fn back_reference(&self) -> Option<String> {
        let subschemas = Subschemas::of(&self.source, self.dialect).ok()?;
        let found = subschemas.all.iter().find(|subschema| {
            let source = subschema.schema.get("pattern").and_then(Value::as_str);
            source.is_some_and(pattern::has_back_reference)
        });
        found.map(|subschema| format!("{}/pattern", subschema.pointer))
    }

    /// True if checking a value of so many bytes may take milliseconds: it belongs off the threads that
    /// serve everybody, and is done by [`Schema::check`].
    pub fn is_heavy(&self, bytes: u64) -> bool {
        bytes.saturating_mul(self.weight) > HEAVY_WORK
    }

    /// Every way in which the value does not match, as [`Schema::violations`] lists them, unless the
    /// interrupt fires before that is known.
    pub fn check(
        &self,
        value: &Value,
        interrupt: &Interrupt,
    ) -> Result<Vec<Violation>, Interrupted> {
        interrupt.guard(|| {
            if self.name_pattern_size > 0
                && names(value).saturating_mul(self.name_pattern_size) > pattern::MAX_PATTERN_WORK
            {
                let message = "has too many names to match against the patterns of property names";
                return vec![Violation::new("", "patternProperties", message)];
            }
            let validator = self.interruptible.get_or_init(|| self.make_interruptible());
            if self.matches(validator, value) { Vec::new() } else { self.list(validator, value) }
        })
    }

    fn make_interruptible(&self) -> Validator {
        let build = || {
            let subschemas = Subschemas::of(&self.source, self.dialect)?;
            let source = references::without_identifiers(&subschemas)?;
            let mut source = source.unwrap_or_else(|| self.source.clone());
            for subschema in &subschemas.all {
                if let Some(Value::Object(fields)) = source.pointer_mut(&subschema.pointer) {
                    fields.insert(interrupt::KEYWORD.to_owned(), Value::Bool(true));
                }
            }
            validator(&source, self.dialect, &Patterns::default())
        };
        build().unwrap_or_else(|_: SchemaError| self.validator.clone())
    }

    /// True if the value matches. Cheaper than a list of violations.
    pub fn is_valid(&self, value: &Value) -> bool {
        self.matches(&self.validator, value)
    }

    fn matches(&self, validator: &Validator, value: &Value) -> bool {
        self.too_deep(value).is_none()
            && pattern::check(|| validator.is_valid(value)) == (true, None)
    }

    /// The largest depth of a value, if this one is deeper. Only schemas that come back to
    /// themselves follow a value for as long as it goes on.
    fn too_deep(&self, value: &Value) -> Option<usize> {
        self.complexity.depth.filter(|most| is_deeper(value, *most))
    }

    fn too_deep_to_list(&self, value: &Value) -> bool {
        self.complexity.listing_depth.is_some_and(|most| is_deeper(value, most))
    }

    /// The errors of the validator itself, where a list of them is bounded.
    pub fn errors<'v>(&'v self, value: &'v Value) -> Vec<jsonschema::ValidationError<'v>> {
        if self.too_deep(value).is_some() || self.too_deep_to_list(value) {
            return Vec::new();
        }
        self.validator.iter_errors(value).take(MAX_LISTED_ERRORS).collect()
    }

    /// Every way in which the value does not match, up to 32 of them.
    pub fn violations(&self, value: &Value) -> Vec<Violation> {
        self.list(&self.validator, value)
    }

    fn list(&self, validator: &Validator, value: &Value) -> Vec<Violation> {
        let (mut violations, unknown) = pattern::check(|| self.list_known(validator, value));
        // It may not be in the list, or be wrong there: `not` turns it round.
        if let Some(reason) = unknown
            && !violations.iter().any(|one| one.message == reason)
        {
            let message = format!("cannot be checked: a text in it {reason}");
            violations.insert(0, Violation::new("", "pattern", &message));
        }
        violations
    }

    fn list_known(&self, validator: &Validator, value: &Value) -> Vec<Violation> {
        if let Some(most) = self.too_deep(value) {
            let message =
                format!("nests deeper than {most} levels, the most that this schema can check");
            return vec![Violation::new("", "depth", &message)];
        }
        // A list would take for ever where a schema comes back to itself by several ways.
        if self.too_deep_to_list(value) {
            let says = Violation::new("", "$ref", "does not match the schema");
            return if validator.is_valid(value) { Vec::new() } else { vec![says] };
        }
        // All errors are collected before the first is seen, and a large value can have one in
        // every part: there the first has to do.
        if is_large(value) {
            let first = validator.validate(value).err();
            return first
                .map(|error| Violation::from_error(&error, &self.source))
                .unwrap_or_default();
        }
        let mut violations = Vec::new();
        for error in validator.iter_errors(value) {
            violations.extend(Violation::from_error(&error, &self.source));
            if violations.len() >= MAX_VIOLATIONS {
                violations.truncate(MAX_VIOLATIONS);
                break;
            }
        }
        violations
    }
}

/// The sum of the sizes of all patterns of property names. They are matched by the validator itself, so
/// that only such are taken as cannot take long.
fn name_pattern_size(subschemas: &Subschemas) -> Result<usize, SchemaError> {
    let mut sum = 0;
    for subschema in &subschemas.all {
        let patterns = subschema.schema.get("patternProperties").and_then(Value::as_object);
        for source in patterns.into_iter().flat_map(|patterns| patterns.keys()) {
            let size = Pattern::compile(source).and_then(|pattern| pattern.linear_size());
            let Some(size) = size.filter(|size| *size <= MAX_NAME_PATTERN_SIZE) else {
                let pointer = &subschema.pointer;
                let pointer =
                    format!("{pointer}/patternProperties/{}", crate::violation::escape(source));
                let message = format!(
                    "has look-around, or more than {MAX_NAME_PATTERN_SIZE} bytes when it is compiled: \
                     patterns of property names must do without"
                );
                return Err(SchemaError::new(pointer, message));
            };
            sum += size;
        }
    }
    Ok(sum)
}

/// The length of all names in a value, in bytes.
fn names(value: &Value) -> usize {
    match value {
        Value::Object(map) => map.iter().map(|(name, value)| name.len() + names(value)).sum(),
        Value::Array(items) => items.iter().map(names).sum(),
        _ => 0,
    }
}

/// The number of secret marks in the whole document, wherever they are.
fn marks(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            usize::from(crate::graph::is_secret(map)) + map.values().map(marks).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(marks).sum(),
        _ => 0,
    }
}

/// True if the value has more than [`MAX_LISTED_NODES`] parts.
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

/// True if the value nests deeper than that many levels.
fn is_deeper(value: &Value, most: usize) -> bool {
    match value {
        Value::Array(items) => most == 0 || items.iter().any(|item| is_deeper(item, most - 1)),
        Value::Object(map) => most == 0 || map.values().any(|item| is_deeper(item, most - 1)),
        _ => false,
    }
}

fn validator(
    source: &Value,
    dialect: Dialect,
    patterns: &Patterns,
) -> Result<Validator, SchemaError> {
    let patterns = patterns.clone();
    let options = jsonschema::options()
        .with_draft(dialect.draft())
        .should_validate_formats(true)
        .should_ignore_unknown_formats(true)
        // Later dialects only note these, and a projection has to mean what its original does.
        .without_content_media_type_support("application/json")
        .without_content_encoding_support("base64")
        .offline()
        .with_pattern_options(
            PatternOptions::regex()
                .size_limit(MAX_NAME_PATTERN_SIZE)
                .dfa_size_limit(pattern::MAX_PATTERN_SIZE),
        )
        .with_keyword("pattern", move |_, value, _| patterns.keyword(value))
        .with_keyword(interrupt::KEYWORD, |_, _, _| Ok(interrupt::keyword()));
    let options = formats::complete(options, dialect);
    // Whatever somebody writes into a schema, it must not take more along than itself.
    let built = std::panic::catch_unwind(AssertUnwindSafe(|| options.build(source)));
    let Ok(built) = built else {
        return Err(SchemaError::new("", "makes the validator fail"));
    };
    built.map_err(|error| {
        let reason: String = error.to_string().chars().take(MAX_REASON).collect();
        let pointer = error.instance_path().to_string();
        SchemaError::new(pointer, format!("is not a valid JSON Schema: {reason}"))
    })
}

/// Refuses what is out of bounds.
#[derive(Default)]
struct Inspection<'a> {
    nodes: usize,
    patterns: usize,
    /// The sum of the lengths of the pointers to all nodes, in bytes.
    pointers: usize,
    /// The way to where we are.
    path: Vec<Cow<'a, str>>,
}

impl<'a> Inspection<'a> {
    /// Looks at a schema whose pointer has so many bytes.
    fn look(&mut self, schema: &'a Value, length: usize) -> Result<(), SchemaError> {
        self.nodes += 1;
        self.pointers += length;
        if self.nodes > MAX_SCHEMA_NODES {
            return Err(SchemaError::new("", format!("has more than {MAX_SCHEMA_NODES} nodes")));
        }
        if self.path.len() > MAX_SCHEMA_DEPTH {
            return self.refuse(format!("nests deeper than {MAX_SCHEMA_DEPTH} levels"));
        }
        if self.pointers > MAX_POINTER_BYTES {
            let message = format!(
                "has too long names: the pointers have more than {MAX_POINTER_BYTES} bytes"
            );
            return Err(SchemaError::new("", message));
        }
        match schema {
            Value::Object(map) => map.iter().try_for_each(|(key, value)| {
                self.path.push(Cow::Borrowed(key));
                match (key.as_str(), value) {
                    ("pattern", Value::String(text)) => self.pattern(text)?,
                    ("patternProperties", Value::Object(patterns)) => {
                        patterns.keys().try_for_each(|text| self.pattern(text))?;
                    }
                    _ => {}
                }
                self.look(value, length + 1 + key.len())?;
                self.path.pop();
                Ok(())
            }),
            Value::Array(items) => items.iter().enumerate().try_for_each(|(index, item)| {
                self.path.push(Cow::Owned(index.to_string()));
                self.look(item, length + 2)?;
                self.path.pop();
                Ok(())
            }),
            _ => Ok(()),
        }
    }

    fn pattern(&mut self, text: &str) -> Result<(), SchemaError> {
        self.patterns += 1;
        if self.patterns > MAX_PATTERNS {
            return Err(SchemaError::new("", format!("has more than {MAX_PATTERNS} patterns")));
        }
        if text.len() > MAX_PATTERN_BYTES {
            return self.refuse(format!("has a pattern of more than {MAX_PATTERN_BYTES} bytes"));
        }
        Ok(())
    }

    fn refuse(&self, message: String) -> Result<(), SchemaError> {
        let steps = self.path.iter().map(|step| format!("/{}", crate::violation::escape(step)));
        Err(SchemaError::new(steps.collect::<String>(), message))
    }
}
