//! The differences of two values, in words.

use std::collections::HashSet;

use serde_json::Value;

use super::{ChangeClass, ContractChange, excerpt, model_texts::ModelTexts};
use contract::{
    dialect::{KeywordContent, content_of},
    escape,
};

/// The largest number of listed differences of one part, and of listed texts that are new to models.
const MAX_DIFFERENCES: usize = 100;
/// The largest number of names in one difference.
const MAX_NAMES: usize = 20;

/// A place where two values differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct ValueDifference {
    /// Where, as a JSON pointer.
    pointer: String,
    /// The difference, in words.
    text: String,
    /// True if models read it, whatever it means to values.
    pub wording: bool,
    old: Option<Value>,
    new: Option<Value>,
}

impl ValueDifference {
    pub fn into_change(
        self,
        part: &'static str,
        class: ChangeClass,
        lost: Option<Value>,
    ) -> ContractChange {
        let Self { pointer, text, old, new, .. } = self;
        ContractChange { part, class, pointer, text, old, new, lost }
    }
}

/// Everything in which two parts differ.
pub(super) struct Differences {
    /// Those that are told.
    pub found: Vec<ValueDifference>,
    /// The number of further ones that concern values.
    pub more_values: usize,
    /// The number of further ones that only models read.
    pub more_words: usize,
}

/// All places in which two parts differ that are no schemas: all of it is read by models.
pub(super) fn between(old: Option<&Value>, new: Option<&Value>) -> Differences {
    DifferenceWalk::new(None).all(old, new)
}

/// All places in which two schemas differ.
pub(super) fn between_schemas(old: Option<&Value>, new: Option<&Value>) -> Differences {
    DifferenceWalk::new(Some(old.map(ModelTexts::names_of).unwrap_or_default())).all(old, new)
}

/// All texts of something that was not there before.
pub(super) fn texts(item: &Value) -> Differences {
    let mut walk = DifferenceWalk::new(None);
    let (schemas, rest): (Vec<_>, Vec<_>) =
        item.as_object().into_iter().flatten().partition(|(key, _)| is_schema(key));
    // What describes all of it comes before what describes a part; its name is known.
    for (key, value) in rest.into_iter().filter(|(key, _)| *key != "name") {
        walk.read_anew(ModelTexts::of_text(value, &format!("/{}", escape(key))));
    }
    for (key, value) in schemas {
        walk.read_anew(ModelTexts::of_schema(value, &format!("/{key}")));
    }
    walk.done()
}

/// True if a field of a tool is a schema.
fn is_schema(key: &str) -> bool {
    matches!(key, "inputSchema" | "outputSchema")
}

struct DifferenceWalk<'a> {
    found: Vec<ValueDifference>,
    values: usize,
    words: usize,
    pointer: String,
    /// The names and words that models have read already, if these are schemas.
    known: Option<HashSet<&'a str>>,
}

impl<'a> DifferenceWalk<'a> {
    fn new(known: Option<HashSet<&'a str>>) -> Self {
        Self { found: Vec::new(), values: 0, words: 0, pointer: String::new(), known }
    }

    fn all(mut self, old: Option<&'a Value>, new: Option<&'a Value>) -> Differences {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(old, new, false),
            (None, Some(new)) => {
                self.note(false, None, Some(new), || format!("was added: {}", shown(new)));
                self.schema_anew(new);
            }
            (Some(old), None) => {
                self.note(false, Some(old), None, || {
                    format!("was removed: {}", excerpt::value(old))
                });
            }
            (None, None) => {}
        }
        self.done()
    }

    fn done(self) -> Differences {
        Differences {
            more_values: self.values.saturating_sub(MAX_DIFFERENCES),
            more_words: self.words.saturating_sub(MAX_DIFFERENCES),
            found: self.found,
        }
    }

    /// Texts do not crowd out what concerns values, nor the other way round.
    fn note(
        &mut self,
        wording: bool,
        old: Option<&Value>,
        new: Option<&Value>,
        text: impl FnOnce() -> String,
    ) {
        let given = |value| excerpt::at_most(value, excerpt::MAX_VALUE_BYTES, "max_value_bytes");
        let count = if wording { &mut self.words } else { &mut self.values };
        *count += 1;
        if *count <= MAX_DIFFERENCES {
            self.found.push(ValueDifference {
                pointer: self.pointer.clone(),
                text: text(),
                wording,
                old: old.map(given),
                new: new.map(given),
            });
        }
    }

    fn step(&mut self, key: &str, inside: impl FnOnce(&mut Self)) {
        let length = self.pointer.len();
        self.pointer.push('/');
        self.pointer.push_str(&escape(key));
        inside(self);
        self.pointer.truncate(length);
    }

    fn replaced(&mut self, old: &Value, new: &Value, wording: bool) {
        self.note(wording, Some(old), Some(new), || excerpt::pair(old, new));
    }

    /// Compares two values whose keys are keywords, or names of somebody's own.
    fn compare(&mut self, old: &'a Value, new: &'a Value, named: bool) {
        if old == new {
            return;
        }
        let (Value::Object(before), Value::Object(after)) = (old, new) else {
            self.replaced(old, new, false);
            self.schema_anew(new);
            return;
        };
        for (key, old) in before {
            match after.get(key) {
                None => {
                    let wording = self.is_wording(key, named);
                    let text = || format!("`{key}` was removed: {}", excerpt::value(old));
                    self.note(wording, Some(old), None, text);
                }
                Some(new) if old == new => {}
                Some(new) => self.entry(key, old, new, named),
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            let wording = self.is_wording(key, named);
            self.note(wording, None, Some(new), || format!("`{key}` was added: {}", shown(new)));
            if !wording && self.known.is_some() {
                let words = ModelTexts::of_entry(key, new, named, &self.pointer);
                self.read_anew(words);
            }
        }
    }

    fn is_wording(&self, key: &str, named: bool) -> bool {
        self.known.is_some() && !named && content_of(key) == KeywordContent::Text
    }

    /// Compares what stands under one key.
    fn entry(&mut self, key: &'a str, old: &'a Value, new: &'a Value, named: bool) {
        if self.known.is_none() {
            return self.step(key, |walk| walk.compare(old, new, false));
        }
        if named {
            return self.step(key, |walk| match (old, new) {
                (Value::Array(before), Value::Array(after)) => walk.names(before, after, "needed"),
                _ => walk.compare(old, new, false),
            });
        }
        match (content_of(key), old, new) {
            (KeywordContent::Text, ..) => self.step(key, |walk| walk.replaced(old, new, true)),
            (KeywordContent::Schemas, Value::Array(before), Value::Array(after)) => {
                self.step(key, |walk| walk.schemas(before, after));
            }
            (KeywordContent::Schemas, ..) => self.step(key, |walk| walk.compare(old, new, false)),
            (KeywordContent::Named, ..) => self.step(key, |walk| walk.compare(old, new, true)),
            (KeywordContent::Names, Value::Array(before), Value::Array(after)) => {
                self.names(before, after, "required");
            }
            (KeywordContent::Names | KeywordContent::Values | KeywordContent::Fixed, ..) => {
                self.step(key, |walk| walk.replaced(old, new, false));
                let words = ModelTexts::of_entry(key, new, false, &self.pointer);
                self.read_anew(words);
            }
        }
    }

    /// Compares lists of schemas, each with the one in its place.
    fn schemas(&mut self, before: &'a [Value], after: &'a [Value]) {
        if is_reordered(before, after) {
            return self.note(false, None, None, || "the order has changed".to_owned());
        }
        for (index, old) in before.iter().enumerate() {
            self.step(&index.to_string(), |walk| match after.get(index) {
                Some(new) => walk.compare(old, new, false),
                None => {
                    walk.note(false, Some(old), None, || {
                        format!("was removed: {}", excerpt::value(old))
                    });
                }
            });
        }
        for (index, new) in after.iter().enumerate().skip(before.len()) {
            self.step(&index.to_string(), |walk| {
                walk.note(false, None, Some(new), || format!("was added: {}", excerpt::value(new)));
                walk.schema_anew(new);
            });
        }
    }

    fn names(&mut self, before: &'a [Value], after: &'a [Value], what: &str) {
        let told = self.values;
        for name in after.iter().filter(|name| !before.contains(name)) {
            let text = || format!("{} is {what} now", excerpt::value(name));
            self.note(false, None, Some(name), text);
        }
        for name in before.iter().filter(|name| !after.contains(name)) {
            let text = || format!("{} is no longer {what}", excerpt::value(name));
            self.note(false, Some(name), None, text);
        }
        if self.values == told {
            self.note(false, None, None, || format!("the order of the {what} names has changed"));
        }
        let names = after.iter().filter_map(Value::as_str).collect();
        self.read_anew(ModelTexts { names, ..ModelTexts::default() });
    }

    fn schema_anew(&mut self, schema: &'a Value) {
        if self.known.is_some() {
            let words = ModelTexts::of_schema(schema, &self.pointer);
            self.read_anew(words);
        }
    }

    /// Notes what models read here, and have not read there before. Texts count wherever else they
    /// were, because it matters what they are about; that of names and words is judged with the values.
    fn read_anew(&mut self, words: ModelTexts<'a>) {
        if let Some(known) = &mut self.known {
            let names: Vec<&str> =
                words.names.into_iter().filter(|name| known.insert(*name)).collect();
            if !names.is_empty() {
                let new = Value::from(names.clone());
                self.note(true, None, Some(&new), || {
                    format!("new text for models: {}", list(&names))
                });
            }
        }
        for (pointer, text) in words.texts {
            let here = std::mem::replace(&mut self.pointer, pointer);
            let new = Value::from(text);
            self.note(true, None, Some(&new), || {
                format!("new text for models: {}", excerpt::text(text))
            });
            self.pointer = here;
        }
    }
}

/// A value that was added: a text is shown at more length.
fn shown(new: &Value) -> String {
    new.as_str().map_or_else(|| excerpt::value(new), excerpt::text)
}

fn list(names: &[&str]) -> String {
    let all: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| excerpt::value(&Value::from(*name))).collect();
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more names"),
    };
    format!("{}{more}", all.join(", "))
}

/// True if two lists hold the same in another order.
fn is_reordered(before: &[Value], after: &[Value]) -> bool {
    let sorted = |list: &[Value]| {
        let mut all: Vec<String> = list.iter().map(contract::canonical::to_string).collect();
        all.sort();
        all
    };
    before.len() == after.len() && sorted(before) == sorted(after)
}

#[cfg(test)]
#[path = "differences/tests.rs"]
mod tests;
