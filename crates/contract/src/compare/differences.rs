//! Where two values differ, in words.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    Change, Class, quote,
    words::{self, Below, Words},
};
use crate::violation::escape;

/// How many differences are told of one part, and how many texts that are new to models.
const MAX_DIFFERENCES: usize = 100;
/// How many names are told in one difference.
const MAX_NAMES: usize = 20;

/// A place where two values differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// Where, as a JSON pointer.
    pointer: String,
    /// What happened, in words.
    text: String,
    /// Whether models read it, whatever it means to values.
    pub wording: bool,
    /// What was there.
    old: Option<Value>,
    /// What is there.
    new: Option<Value>,
}

impl Difference {
    pub fn into_change(self, part: &'static str, class: Class, lost: Option<Value>) -> Change {
        let Self { pointer, text, old, new, .. } = self;
        Change { part, class, pointer, text, old, new, lost }
    }
}

/// Everything in which two parts differ.
pub(super) struct Differences {
    /// Those that are told.
    pub found: Vec<Difference>,
    /// How many more there are that concern values.
    pub more_values: usize,
    /// How many more there are that only models read.
    pub more_words: usize,
}

/// All places in which two parts differ that are no schemas: all of it is read by models.
pub(super) fn between(old: Option<&Value>, new: Option<&Value>) -> Differences {
    Walk::new(None).all(old, new)
}

/// All places in which two schemas differ.
pub(super) fn between_schemas(old: Option<&Value>, new: Option<&Value>) -> Differences {
    Walk::new(Some(old.map(Words::names_of).unwrap_or_default())).all(old, new)
}

/// All texts of something that was not there before.
pub(super) fn texts(item: &Value) -> Differences {
    let mut walk = Walk::new(None);
    let (schemas, rest): (Vec<_>, Vec<_>) =
        item.as_object().into_iter().flatten().partition(|(key, _)| is_schema(key));
    // What describes all of it comes before what describes a part; its name is known.
    for (key, value) in rest.into_iter().filter(|(key, _)| *key != "name") {
        walk.read_anew(Words::of_text(value, &format!("/{}", escape(key))));
    }
    for (key, value) in schemas {
        walk.read_anew(Words::of_schema(value, &format!("/{key}")));
    }
    walk.done()
}

/// Whether a field of a tool is a schema.
fn is_schema(key: &str) -> bool {
    matches!(key, "inputSchema" | "outputSchema")
}

struct Walk<'a> {
    found: Vec<Difference>,
    values: usize,
    words: usize,
    pointer: String,
    /// The names and words that models have read already, if these are schemas.
    known: Option<HashSet<&'a str>>,
}

impl<'a> Walk<'a> {
    fn new(known: Option<HashSet<&'a str>>) -> Self {
        Self { found: Vec::new(), values: 0, words: 0, pointer: String::new(), known }
    }

    fn all(mut self, old: Option<&'a Value>, new: Option<&'a Value>) -> Differences {
        match (old, new) {
            (Some(old), Some(new)) => self.compare(old, new, false),
            (None, Some(new)) => {
                self.note(false, None, Some(new), || format!("is {} now", shown(new)));
                self.schema_anew(new);
            }
            (Some(old), None) => {
                self.note(false, Some(old), None, || format!("is gone: {}", quote::value(old)));
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
        let count = if wording { &mut self.words } else { &mut self.values };
        *count += 1;
        if *count <= MAX_DIFFERENCES {
            self.found.push(Difference {
                pointer: self.pointer.clone(),
                text: text(),
                wording,
                old: old.map(quote::whole),
                new: new.map(quote::whole),
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
        self.note(wording, Some(old), Some(new), || quote::pair(old, new));
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
                    let text = || format!("`{key}` is gone: {}", quote::value(old));
                    self.note(wording, Some(old), None, text);
                }
                Some(new) if old == new => {}
                Some(new) => self.entry(key, old, new, named),
            }
        }
        for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
            let wording = self.is_wording(key, named);
            self.note(wording, None, Some(new), || format!("`{key}` is {} now", shown(new)));
            if !wording && self.known.is_some() {
                let words = Words::of_entry(key, new, named, &self.pointer);
                self.read_anew(words);
            }
        }
    }

    fn is_wording(&self, key: &str, named: bool) -> bool {
        self.known.is_some() && !named && words::below(key) == Below::Words
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
        match (words::below(key), old, new) {
            (Below::Words, ..) => self.step(key, |walk| walk.replaced(old, new, true)),
            (Below::Schemas, Value::Array(before), Value::Array(after)) => {
                self.step(key, |walk| walk.schemas(before, after));
            }
            (Below::Schemas, ..) => self.step(key, |walk| walk.compare(old, new, false)),
            (Below::Named, ..) => self.step(key, |walk| walk.compare(old, new, true)),
            (Below::Names, Value::Array(before), Value::Array(after)) => {
                self.names(before, after, "required");
            }
            (Below::Names | Below::Values | Below::Fixed, ..) => {
                self.step(key, |walk| walk.replaced(old, new, false));
                let words = Words::of_entry(key, new, false, &self.pointer);
                self.read_anew(words);
            }
        }
    }

    /// Compares lists of schemas, each with the one in its place.
    fn schemas(&mut self, before: &'a [Value], after: &'a [Value]) {
        if is_reordered(before, after) {
            return self.note(false, None, None, || "is in another order".to_owned());
        }
        for (index, old) in before.iter().enumerate() {
            self.step(&index.to_string(), |walk| match after.get(index) {
                Some(new) => walk.compare(old, new, false),
                None => {
                    walk.note(false, Some(old), None, || format!("is gone: {}", quote::value(old)));
                }
            });
        }
        for (index, new) in after.iter().enumerate().skip(before.len()) {
            self.step(&index.to_string(), |walk| {
                walk.note(false, None, Some(new), || format!("is {} now", quote::value(new)));
                walk.schema_anew(new);
            });
        }
    }

    fn names(&mut self, before: &'a [Value], after: &'a [Value], what: &str) {
        let told = self.values;
        for name in after.iter().filter(|name| !before.contains(name)) {
            let text = || format!("{} is {what} now", quote::value(name));
            self.note(false, None, Some(name), text);
        }
        for name in before.iter().filter(|name| !after.contains(name)) {
            let text = || format!("{} is not {what} any more", quote::value(name));
            self.note(false, Some(name), None, text);
        }
        if self.values == told {
            self.note(false, None, None, || format!("what is {what} is in another order"));
        }
        let names = after.iter().filter_map(Value::as_str).collect();
        self.read_anew(Words { names, ..Words::default() });
    }

    fn schema_anew(&mut self, schema: &'a Value) {
        if self.known.is_some() {
            let words = Words::of_schema(schema, &self.pointer);
            self.read_anew(words);
        }
    }

    /// Notes what models read here, and have not read there before. Texts count wherever else they
    /// were, because it matters what they are about; that of names and words is judged with the values.
    fn read_anew(&mut self, words: Words<'a>) {
        if let Some(known) = &mut self.known {
            let names: Vec<&str> =
                words.names.into_iter().filter(|name| known.insert(*name)).collect();
            if !names.is_empty() {
                let new = Value::from(names.clone());
                self.note(true, None, Some(&new), || format!("models read anew {}", list(&names)));
            }
        }
        for (pointer, text) in words.texts {
            let here = std::mem::replace(&mut self.pointer, pointer);
            let new = Value::from(text);
            self.note(true, None, Some(&new), || format!("models read anew {}", quote::text(text)));
            self.pointer = here;
        }
    }
}

/// A value that was added: a text is shown at more length.
fn shown(new: &Value) -> String {
    new.as_str().map_or_else(|| quote::value(new), quote::text)
}

fn list(names: &[&str]) -> String {
    let all: Vec<String> =
        names.iter().take(MAX_NAMES).map(|name| quote::value(&Value::from(*name))).collect();
    let more = match names.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more names"),
    };
    format!("{}{more}", all.join(", "))
}

/// Whether two lists hold the same in another order.
fn is_reordered(before: &[Value], after: &[Value]) -> bool {
    let sorted = |list: &[Value]| {
        let mut all: Vec<String> = list.iter().map(crate::canonical::to_string).collect();
        all.sort();
        all
    };
    before.len() == after.len() && sorted(before) == sorted(after)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::{Change, Class, Direction, Inputs, schemas, tools};

    fn object(properties: &Value) -> Value {
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    }

    fn changes(old: &Value, new: &Value) -> Vec<Change> {
        schemas(Some(old), Some(new), "input", Direction::Input)
    }

    /// The places where a schema that takes the same values or more has something new to read.
    fn read_anew(old: &Value, new: &Value) -> Vec<String> {
        let changes = changes(old, new);
        assert!(changes.iter().all(|one| one.class != Class::Breaking), "{changes:?}");
        let words = changes.into_iter().filter(|one| one.class == Class::Wording);
        words.map(|one| one.pointer).collect()
    }

    #[test]
    fn whatever_models_read_anew_is_told_wherever_it_stands() {
        let optional = |about: Value| {
            let mut text = json!({ "type": "string" });
            text.as_object_mut().unwrap().extend(about.as_object().unwrap().clone());
            object(&json!({ "q": { "anyOf": [text, { "type": "null" }] } }))
        };
        let place = "/properties/q/anyOf/0";
        let plain = optional(json!({}));
        for (about, pointer) in [
            (json!({ "description": "Send all." }), place.to_owned()),
            (json!({ "x-hint": "Send all." }), place.to_owned()),
            (json!({ "Send all.": 1 }), place.to_owned()),
            (json!({ "examples": [{ "Send": ["all"] }] }), place.to_owned()),
            (json!({ "readOnly": true }), place.to_owned()),
            (
                json!({ "anyOf": [{ "description": "Send all." }, true] }),
                format!("{place}/anyOf/0/description"),
            ),
            (json!({ "$defs": { "Send all.": {} } }), place.to_owned()),
            (json!({ "allOf": [{ "$id": "send-all" }] }), place.to_owned()),
            (json!({ "$recursiveRef": "#Send all." }), place.to_owned()),
            (json!({ "contentSchema": { "$ref": "#/$defs/Send all." } }), place.to_owned()),
            (json!({ "additionalItems": { "$ref": "#Send all." } }), place.to_owned()),
        ] {
            let new = optional(about);
            assert_eq!(read_anew(&plain, &new), [pointer], "{new}");
            assert_eq!(read_anew(&new, &new), [""; 0]);
        }
        // What changes in its place, and what only moves about in a list.
        let [one, other] =
            ["Keeps.", "Deletes."].map(|text| json!({ "const": text.len(), "description": text }));
        let list = |all: [&Value; 2]| json!({ "oneOf": all });
        assert_eq!(read_anew(&list([&one, &other]), &list([&other, &one])), [""; 0]);
        let mut swapped = list([&one, &other]);
        swapped["oneOf"][0]["description"] = other["description"].clone();
        swapped["oneOf"][1]["description"] = one["description"].clone();
        assert_eq!(
            read_anew(&list([&one, &other]), &swapped),
            ["/oneOf/0/description", "/oneOf/1/description"]
        );
    }

    #[test]
    fn what_is_added_is_widening_and_wording() {
        let old = object(&json!({ "q": { "enum": ["a"] } }));
        let new = object(&json!({
            "q": { "enum": ["a", "b"] },
            "limit": { "type": "integer", "description": "Send all." },
        }));
        let said: Vec<_> = changes(&old, &new)
            .into_iter()
            .map(|one| format!("{} {}: {}", one.class.word(), one.pointer, one.text))
            .collect();
        assert_eq!(
            said,
            [
                r#"widening /properties/q/enum: was ["a"] and is ["a","b"]"#,
                r#"wording /properties/q: models read anew "b""#,
                r#"widening /properties: `limit` is {"type":"integer","description":"Send all."} now"#,
                r#"wording /properties: models read anew "limit""#,
                r#"wording /properties/limit/description: models read anew "Send all.""#,
            ]
        );
        // Words of the language are nothing new, and neither is what has been read.
        let typed = |schema: Value| object(&json!({ "q": schema }));
        let old = typed(json!({ "type": "string", "minLength": 2, "enum": ["xx", "yy"] }));
        let new = typed(json!({ "type": ["string", "null"], "format": "date", "minLength": 1 }));
        assert_eq!(read_anew(&old, &typed(json!({ "enum": ["yy", "xx"] }))), [""; 0]);
        assert!(changes(&old, &new).iter().all(|one| one.class != Class::Wording));
        let shared = json!({ "type": "object", "$defs": { "a": { "type": "string" } } });
        let mut used = shared.clone();
        used["propertyNames"] = json!({ "$ref": "#/$defs/a" });
        assert!(changes(&shared, &used).iter().all(|one| one.class != Class::Wording));
    }

    #[test]
    fn what_breaks_is_told_behind_any_number_of_texts() {
        let schema = |text: &str, required: &[&str]| {
            let all = (0..120).map(|n| (format!("p{n}"), json!({ "description": text })));
            let mut schema = object(&Value::Object(all.collect()));
            schema["required"] = json!(required);
            schema
        };
        let found = changes(&schema("One", &[]), &schema("Two", &["p1", "p2"]));
        let of = |class: Class| found.iter().filter(|one| one.class == class).collect::<Vec<_>>();
        assert_eq!(of(Class::Breaking).len(), 2);
        let words = of(Class::Wording);
        assert_eq!(words.len(), 101);
        assert_eq!(words[100].text, "20 more differences are not listed");
        // A schema that is too large to be compared is no other for its texts.
        let large = |text: &str| {
            let all = (0..3_000).map(|n| (format!("p{n}"), json!({ "minimum": n })));
            let mut schema = object(&Value::Object(all.collect()));
            schema["description"] = json!(text);
            schema
        };
        let found = changes(&large("One"), &large("Two"));
        assert_eq!(found.iter().map(|one| one.class).collect::<Vec<_>>(), [Class::Wording]);
        let found = tools(
            &json!({ "annotations": (0..150).map(|n| (n.to_string(), n.into())).collect::<serde_json::Map<_, _>>() }),
            &json!({ "annotations": {} }),
            Inputs::Closed,
        );
        assert_eq!(found.last().unwrap().text, "50 more differences are not listed");
    }

    #[test]
    fn names_that_look_like_texts_are_none() {
        for (old, new) in [
            (json!({ "const": { "title": "a" } }), json!({ "const": { "title": "b" } })),
            (json!({ "enum": [{ "title": "a" }] }), json!({ "enum": [{ "title": "b" }] })),
            (json!({}), json!({ "dependentRequired": { "title": ["a"] } })),
            (
                json!({ "dependentRequired": { "title": ["a"] } }),
                json!({ "dependentRequired": { "title": ["a", "b"], "description": ["c"] } }),
            ),
            (
                json!({ "$schema": "http://json-schema.org/draft-07/schema#", "dependencies": { "default": ["a"] } }),
                json!({ "$schema": "http://json-schema.org/draft-07/schema#", "dependencies": { "default": ["b"] } }),
            ),
        ] {
            let found = changes(&old, &new);
            assert!(found.iter().any(|one| one.class == Class::Breaking), "{found:?}");
        }
        // A reference into what nobody knows makes it matter.
        let through =
            |kind: &str| json!({ "x-parts": { "a": { "type": kind } }, "$ref": "#/x-parts/a" });
        let found = changes(&through("string"), &through("integer"));
        assert!(found.iter().any(|one| one.class == Class::Breaking), "{found:?}");
    }

    #[test]
    fn programs_get_both_sides_whole() {
        let long = "Forecasts. ".repeat(100);
        let tool = |more: &str| json!({ "name": "a", "description": format!("{long}{more}") });
        let found = tools(&tool(""), &tool("Send all."), Inputs::Closed);
        assert_eq!(found.len(), 1);
        assert!(found[0].text.ends_with("Send all.\""), "{}", found[0].text);
        assert_eq!(found[0].new, Some(tool("Send all.")["description"].clone()));
        assert_eq!(found[0].old, Some(tool("")["description"].clone()));
    }
}
