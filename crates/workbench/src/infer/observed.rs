//! Observations about values, added up.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// The depth up to which values are read. A level takes up to four of a schema.
const MAX_DEPTH: usize = 14;
/// The number of properties above which an object is a map.
const MAX_PROPERTIES: usize = 200;
/// The largest number of shapes; further ones may be anything.
const MAX_SHAPES: usize = 3_000;
/// The number of names from which on an object is a map, if no name is in all objects.
const MIN_MAP_NAMES: usize = 12;
/// The number of objects that shows that.
const MIN_MAPS: usize = 3;
/// The number of texts that shows a format.
const MIN_FORMATTED: usize = 3;
/// The number of texts that shows an enumeration, and its largest size.
const MIN_LISTED: usize = 50;
const MAX_WORDS: usize = 5;
/// The longest value of an enumeration, in bytes.
const MAX_WORD_BYTES: usize = 40;

/// Observations about some values.
#[derive(Debug, Default)]
pub(super) struct ObservedShape {
    root: ObservedValues,
    shapes: usize,
}

impl ObservedShape {
    pub(super) fn add(&mut self, value: &Value) {
        let mut left = MAX_SHAPES.saturating_sub(self.shapes);
        let before = left;
        self.root.add(value, 0, &mut left);
        self.shapes += before - left;
    }

    pub(super) fn schema(&self) -> Value {
        self.root.schema()
    }
}

/// Observations about the values at one place.
#[derive(Debug, Clone, Default)]
struct ObservedValues {
    /// True if they may be anything.
    anything: bool,
    nulls: usize,
    booleans: usize,
    integers: usize,
    numbers: usize,
    strings: ObservedStrings,
    arrays: usize,
    items: Option<Box<ObservedValues>>,
    objects: ObservedObjects,
}

impl ObservedValues {
    fn add(&mut self, value: &Value, depth: usize, left: &mut usize) {
        if depth > MAX_DEPTH {
            self.anything = true;
        }
        if self.anything {
            return;
        }
        match value {
            Value::Null => self.nulls += 1,
            Value::Bool(_) => self.booleans += 1,
            Value::Number(number) if number.is_f64() => self.numbers += 1,
            Value::Number(_) => self.integers += 1,
            Value::String(text) => self.strings.add(text),
            Value::Array(items) => {
                self.arrays += 1;
                for item in items {
                    let part =
                        self.items.get_or_insert_with(|| Box::new(ObservedValues::new(left)));
                    part.add(item, depth + 1, left);
                }
            }
            Value::Object(fields) => self.objects.add(fields, depth, left),
        }
    }

    fn new(left: &mut usize) -> Self {
        let fits = left.checked_sub(1);
        *left = fits.unwrap_or(0);
        Self { anything: fits.is_none(), ..Self::default() }
    }

    fn merge(&mut self, other: ObservedValues) {
        self.anything |= other.anything;
        self.nulls += other.nulls;
        self.booleans += other.booleans;
        self.integers += other.integers;
        self.numbers += other.numbers;
        self.strings.merge(other.strings);
        self.arrays += other.arrays;
        match (&mut self.items, other.items) {
            (Some(items), Some(more)) => items.merge(*more),
            (items @ None, more) => *items = more,
            (Some(_), None) => {}
        }
        self.objects.merge(other.objects);
    }

    fn schema(&self) -> Value {
        if self.anything {
            return json!({});
        }
        let mut kinds = Vec::new();
        if self.strings.count > 0 {
            kinds.push(self.strings.schema());
        }
        if self.numbers > 0 {
            kinds.push(json!({ "type": "number" }));
        } else if self.integers > 0 {
            kinds.push(json!({ "type": "integer" }));
        }
        if self.booleans > 0 {
            kinds.push(json!({ "type": "boolean" }));
        }
        if self.arrays > 0 {
            kinds.push(match &self.items {
                Some(items) if !items.anything => {
                    json!({ "type": "array", "items": items.schema() })
                }
                _ => json!({ "type": "array" }),
            });
        }
        if self.objects.count > 0 {
            kinds.push(self.objects.schema());
        }
        if self.nulls > 0 {
            kinds.push(json!({ "type": "null" }));
        }
        match kinds.len() {
            0 => json!({}),
            1 => kinds.remove(0),
            _ => json!({ "anyOf": kinds }),
        }
    }
}

#[derive(Debug, Clone, Default)]
struct ObservedStrings {
    count: usize,
    /// The words, while there are few.
    words: BTreeSet<String>,
    too_many_words: bool,
    /// For each format, true if one of them does not have it.
    without: [bool; FORMATS.len()],
}

type FormatCheck = fn(&str) -> bool;

/// The formats that are recognised, the narrowest first.
const FORMATS: [(&str, FormatCheck); 4] = [
    ("date-time", |text| fits("date-time", text)),
    ("uuid", |text| fits("uuid", text)),
    ("email", |text| fits("email", text)),
    // Anything with a colon is an address to the letter.
    ("uri", |text| {
        let schemes = ["http://", "https://", "ftp://", "file://", "mailto:", "urn:", "data:"];
        schemes.iter().any(|scheme| text.starts_with(scheme)) && fits("uri", text)
    }),
];

fn fits(format: &str, text: &str) -> bool {
    contract::formats::is_of(format, text)
}

impl ObservedStrings {
    fn add(&mut self, text: &str) {
        self.count += 1;
        for (without, (_, fits)) in self.without.iter_mut().zip(FORMATS) {
            *without = *without || !fits(text);
        }
        if text.len() > MAX_WORD_BYTES || text.is_empty() {
            self.forget_words();
        } else if !self.too_many_words && !self.words.contains(text) {
            self.words.insert(text.to_owned());
            if self.words.len() > MAX_WORDS {
                self.forget_words();
            }
        }
    }

    fn forget_words(&mut self) {
        self.too_many_words = true;
        self.words.clear();
    }

    fn merge(&mut self, other: ObservedStrings) {
        self.count += other.count;
        for (without, more) in self.without.iter_mut().zip(other.without) {
            *without |= more;
        }
        self.words.extend(other.words);
        if self.too_many_words || other.too_many_words || self.words.len() > MAX_WORDS {
            self.forget_words();
        }
    }

    fn schema(&self) -> Value {
        let mut schema = json!({ "type": "string" });
        let format = self.without.iter().position(|without| !without);
        if let (true, Some(format)) = (self.count >= MIN_FORMATTED, format) {
            schema["format"] = json!(FORMATS[format].0);
        } else if self.count >= MIN_LISTED && !self.too_many_words {
            schema["enum"] = json!(self.words);
        }
        schema
    }
}

#[derive(Debug, Clone, Default)]
struct ObservedObjects {
    count: usize,
    /// By name, with how many objects had it.
    properties: BTreeMap<String, (ObservedValues, usize)>,
    /// The values of all names, where the names are data.
    values: Option<Box<ObservedValues>>,
}

impl ObservedObjects {
    fn add(&mut self, fields: &Map<String, Value>, depth: usize, left: &mut usize) {
        self.count += 1;
        for (name, value) in fields {
            if let Some(values) = &mut self.values {
                values.add(value, depth + 1, left);
                continue;
            }
            let (part, count) = self
                .properties
                .entry(name.clone())
                .or_insert_with(|| (ObservedValues::new(left), 0));
            part.add(value, depth + 1, left);
            *count += 1;
            if self.properties.len() > MAX_PROPERTIES {
                self.become_map();
            }
        }
    }

    fn become_map(&mut self) {
        let mut values = self.values.take().unwrap_or_default();
        for (part, _) in std::mem::take(&mut self.properties).into_values() {
            values.merge(part);
        }
        self.values = Some(values);
    }

    fn merge(&mut self, other: ObservedObjects) {
        self.count += other.count;
        if other.values.is_some() && self.values.is_none() {
            self.become_map();
        }
        match &mut self.values {
            Some(values) => {
                if let Some(more) = other.values {
                    values.merge(*more);
                }
                for (part, _) in other.properties.into_values() {
                    values.merge(part);
                }
            }
            None => {
                for (name, (part, count)) in other.properties {
                    let known = self.properties.entry(name).or_default();
                    known.0.merge(part);
                    known.1 += count;
                }
                if self.properties.len() > MAX_PROPERTIES {
                    self.become_map();
                }
            }
        }
    }

    /// True if the names are data: there are many, and no object has all of them.
    fn is_map(&self) -> bool {
        self.count >= MIN_MAPS
            && self.properties.len() >= MIN_MAP_NAMES
            && self.properties.values().all(|(_, count)| *count < self.count)
    }

    fn schema(&self) -> Value {
        if let Some(values) = &self.values {
            return map_of(values);
        }
        if self.is_map() {
            let mut values = ObservedValues::default();
            self.properties.values().for_each(|(part, _)| values.merge(part.clone()));
            return map_of(&values);
        }
        let mut schema = json!({ "type": "object" });
        if self.properties.is_empty() {
            return schema;
        }
        let properties: Map<String, Value> =
            self.properties.iter().map(|(name, (part, _))| (name.clone(), part.schema())).collect();
        schema["properties"] = Value::Object(properties);
        let required: Vec<&String> = self
            .properties
            .iter()
            .filter(|(_, (_, count))| *count == self.count)
            .map(|(name, _)| name)
            .collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        schema
    }
}

fn map_of(values: &ObservedValues) -> Value {
    json!({ "type": "object", "additionalProperties": values.schema() })
}
