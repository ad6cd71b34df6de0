//! Generates values from a JSON Schema, to test tools with them.
//!
//! Valid ones at the edges of what is allowed, and invalid ones with a single defect each. Every
//! value is checked against the schema before it is handed out: what should be valid is, and what
//! should not be is not. The same schema and seed make the same values.

mod boundary_values;
mod defects;
mod merged_schema;
mod pattern_text;
mod value_builder;

use std::{
    collections::HashSet,
    sync::atomic::{AtomicBool, Ordering},
};

use serde_json::Value;

use contract::{Dialect, Schema, SchemaError, canonical, subschemas::Subschemas, translation};

use merged_schema::MergedSchema;
use value_builder::{Fullness, ValueBuilder};

/// The largest number of values of each sort.
pub const MAX_CASES: usize = 100;
/// The largest value, in bytes of its texts and names.
pub const MAX_VALUE_BYTES: usize = 262_144;
/// The largest size of all values of a sort together, in bytes.
pub const MAX_CASES_BYTES: usize = 8 << 20;
/// The number of parts of a value that are varied.
const MAX_SITES: usize = 60;
/// The depth up to which parts are varied.
const MAX_SITE_DEPTH: usize = 5;

/// The options of the generation.
#[derive(Debug, Clone, Copy)]
pub struct GenerateOptions<'s> {
    /// The seed: the same makes the same values.
    pub seed: u64,
    /// The largest number of values, up to [`MAX_CASES`].
    pub most: usize,
    /// Only objects, which is all that arguments can be.
    pub objects: bool,
    /// Stops the generation when set.
    pub stop: &'s AtomicBool,
}

impl GenerateOptions<'_> {
    /// All values, of every type.
    pub fn all(seed: u64) -> Self {
        static NEVER: AtomicBool = AtomicBool::new(false);
        GenerateOptions { seed, most: MAX_CASES, objects: false, stop: &NEVER }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct GeneratedValue {
    pub title: String,
    pub value: Value,
}

/// Values made from a schema.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneratedValues {
    /// The values, the plainest first.
    pub cases: Vec<GeneratedValue>,
    /// The parts that could not be generated, with the reasons.
    pub not_generated: Vec<String>,
}

/// Values that the schema accepts: the smallest, the fullest, and the edges of every part.
pub fn valid(schema: &Value, wanted: GenerateOptions<'_>) -> Result<GeneratedValues, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = translation::to_2020_12(schema)?;
    let places = Subschemas::of(&shown, Dialect::Draft202012)?;
    let mut collector = ValueCollector::new(&judge, true, wanted);
    for (style, title) in
        [(Fullness::Required, "only what is required"), (Fullness::Everything, "everything")]
    {
        match base(&places, &judge, style, wanted) {
            Ok(value) => collector.offer(title.to_owned(), value),
            Err(reason) => collector.cases.not_generated.push(format!("{title}: {reason}")),
        }
    }
    if let Ok(full) = base(&places, &judge, Fullness::Everything, wanted) {
        let mut builder = ValueBuilder::new(&places, wanted);
        for site in sites(&places, &mut builder, &full) {
            if collector.is_full() {
                break;
            }
            for (title, part) in boundary_values::of(&mut builder, &site) {
                collector
                    .offer(titled(&site.pointer, &title), replaced(&full, &site.pointer, part));
            }
        }
        collector.cases.not_generated.append(&mut builder.not_generated);
    }
    Ok(collector.finish())
}

/// Values that the schema refuses, each for one defect in a valid value to start from.
pub fn invalid(
    schema: &Value,
    wanted: GenerateOptions<'_>,
) -> Result<GeneratedValues, SchemaError> {
    let judge = Schema::compile_foreign(schema)?;
    let shown = translation::to_2020_12(schema)?;
    let places = Subschemas::of(&shown, Dialect::Draft202012)?;
    let mut collector = ValueCollector::new(&judge, false, wanted);
    let found = base(&places, &judge, Fullness::Everything, wanted)
        .or_else(|_| base(&places, &judge, Fullness::Required, wanted));
    let full = match found {
        Ok(full) => full,
        Err(reason) => {
            collector.cases.not_generated.push(format!("a valid value to start from: {reason}"));
            return Ok(collector.finish());
        }
    };
    let mut builder = ValueBuilder::new(&places, wanted);
    for site in sites(&places, &mut builder, &full) {
        if collector.is_full() {
            break;
        }
        for (title, part) in defects::of(&site) {
            let value = match part {
                Some(part) => replaced(&full, &site.pointer, part),
                None => continue,
            };
            collector.offer(titled(&site.pointer, &title), value);
        }
    }
    Ok(collector.finish())
}

fn titled(pointer: &str, title: &str) -> String {
    if pointer.is_empty() { title.to_owned() } else { format!("`{pointer}`: {title}") }
}

/// Collects the values that are as they should be, without duplicates.
struct ValueCollector<'s> {
    judge: &'s Schema,
    accepted: bool,
    wanted: GenerateOptions<'s>,
    seen: HashSet<String>,
    bytes: usize,
    cases: GeneratedValues,
}

impl<'s> ValueCollector<'s> {
    fn new(judge: &'s Schema, accepted: bool, wanted: GenerateOptions<'s>) -> Self {
        let cases = GeneratedValues::default();
        Self { judge, accepted, wanted, seen: HashSet::new(), bytes: 0, cases }
    }

    fn is_full(&self) -> bool {
        let count = self.cases.cases.len();
        count >= self.wanted.most.min(MAX_CASES)
            || self.bytes >= MAX_CASES_BYTES
            || self.wanted.is_stopped()
    }

    fn offer(&mut self, title: String, value: Value) {
        if self.is_full() || (self.wanted.objects && !value.is_object()) {
            return;
        }
        if self.judge.is_valid(&value) == self.accepted
            && self.seen.insert(canonical::sha256(&value))
        {
            self.bytes += weight(&value);
            self.cases.cases.push(GeneratedValue { title, value });
        }
    }

    fn finish(mut self) -> GeneratedValues {
        let why = if self.wanted.is_stopped() {
            Some("stopped".to_owned())
        } else if self.bytes >= MAX_CASES_BYTES {
            Some(format!("more than {MAX_CASES_BYTES} bytes"))
        } else if self.cases.cases.len() >= MAX_CASES {
            Some(format!("more than {MAX_CASES} values"))
        } else {
            None
        };
        self.cases.not_generated.extend(why);
        self.cases.not_generated.dedup();
        self.cases
    }
}

/// The size of a value in bytes: its texts and names, and a few for everything else.
fn weight(value: &Value) -> usize {
    const EACH: usize = 8;
    EACH + match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(weight).sum(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| name.len() + weight(value)).sum()
        }
        _ => 0,
    }
}

/// The number of copies of a value that are made for one part.
fn copies(value: &Value) -> usize {
    MAX_CASES_BYTES / weight(value)
}

/// A value that is accepted: the first one of several ways to make it that is.
fn base(
    places: &Subschemas,
    judge: &Schema,
    style: Fullness,
    wanted: GenerateOptions<'_>,
) -> Result<Value, String> {
    let mut reason = "no generated value is valid".to_owned();
    // What the schema does not have need not be tried in several ways.
    let branches = if says(places.all[0].schema, &["anyOf", "oneOf"]) {
        value_builder::MAX_BRANCHES_TRIED
    } else {
        1
    };
    let conditions = if says(places.all[0].schema, &["if"]) {
        &value_builder::Conditions::ALL[..]
    } else {
        &value_builder::Conditions::ALL[..1]
    };
    for examples in [true, false] {
        for conditions in conditions {
            for branch in 0..branches {
                let mut builder = ValueBuilder::new(places, wanted);
                builder.examples = examples;
                builder.conditions = *conditions;
                builder.branch = branch;
                match builder.make(&[0], style) {
                    Ok(value) if judge.is_valid(&value) => return Ok(value),
                    Ok(_) => {}
                    Err(why) => reason = why,
                }
            }
        }
    }
    Err(format!("cannot generate: {reason}"))
}

/// True if a schema has one of these keywords anywhere. (A property may be called like one; then more is
/// tried than needed.)
fn says(schema: &Value, keywords: &[&str]) -> bool {
    match schema {
        Value::Array(items) => items.iter().any(|item| says(item, keywords)),
        Value::Object(fields) => fields
            .iter()
            .any(|(key, value)| keywords.contains(&key.as_str()) || says(value, keywords)),
        _ => false,
    }
}

/// A part of a value, and the schemas that apply to it.
struct ValuePart<'v, 'a> {
    pointer: String,
    value: &'v Value,
    /// The subschemas that apply to it.
    numbers: Vec<usize>,
    view: MergedSchema<'a>,
}

/// The parts of a value that can be varied, from the outside in.
fn sites<'v, 'a>(
    places: &Subschemas<'a>,
    builder: &mut ValueBuilder<'_, 'a>,
    full: &'v Value,
) -> Vec<ValuePart<'v, 'a>> {
    let mut found = Vec::new();
    let mut open = std::collections::VecDeque::from([(String::new(), full, vec![0])]);
    while let Some((pointer, value, numbers)) = open.pop_front() {
        if found.len() >= MAX_SITES {
            builder.not_generated.push(format!("only {MAX_SITES} parts are varied (max_sites)"));
            break;
        }
        let Ok(view) = MergedSchema::of(places, &numbers, &|branches| {
            value_builder::fitting(places, branches, value)
        }) else {
            continue;
        };
        if pointer.matches('/').count() < MAX_SITE_DEPTH {
            match value {
                Value::Object(fields) => {
                    for (name, value) in fields {
                        let step = format!("{pointer}/{}", contract::escape(name));
                        open.push_back((step, value, view.property(name)));
                    }
                }
                Value::Array(items) => {
                    // One item stands for all of its kind.
                    let count = view.prefix.len() + 1;
                    for (index, value) in items.iter().enumerate().take(count) {
                        open.push_back((format!("{pointer}/{index}"), value, view.item(index)));
                    }
                }
                _ => {}
            }
        }
        found.push(ValuePart { pointer, value, numbers, view });
    }
    found
}

fn replaced(value: &Value, pointer: &str, part: Value) -> Value {
    let mut copy = value.clone();
    if let Some(place) = copy.pointer_mut(pointer) {
        *place = part;
    }
    copy
}
