//! A YAML (or JSON) document that remembers where everything stands.
//!
//! A document is checked against the JSON Schema of the type that it should become,
//! with the same validator that judges calls. That finds every mistake in one run,
//! and the pointer of each leads back to its place in the text.

pub mod edit;

use std::{
    any::TypeId,
    collections::{BTreeMap, HashMap},
    fmt,
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::{
    Deserialize,
    de::{DeserializeOwned, Deserializer, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Map, Number, Value};
use serde_saphyr::Spanned;

use crate::{Diagnostic, Schema, SchemaError, Severity, Violation, violation::escape};

/// The largest document that is read, in bytes.
pub const MAX_DOCUMENT_BYTES: usize = 1_048_576;

/// A parsed document and the places of its parts.
#[derive(Debug, Clone)]
pub struct Document {
    name: String,
    text: Arc<str>,
    value: Value,
    places: HashMap<String, SourceSpan>,
}

#[derive(Debug, Clone)]
struct SourceSpan {
    key: Option<Range<usize>>,
    value: Range<usize>,
}

impl Document {
    /// Reads one document; `name` is what messages call it.
    pub fn parse(name: &str, text: &str) -> Result<Self, Box<Diagnostic>> {
        let text: Arc<str> = Arc::from(text);
        let refuse = |span, message: String| {
            Box::new(Diagnostic::new(Severity::Error, name, &text, span, message))
        };
        if text.len() > MAX_DOCUMENT_BYTES {
            let message = format!("the document is larger than {MAX_DOCUMENT_BYTES} bytes");
            return Err(refuse(0..0, message));
        }
        if text.trim().is_empty() {
            return Err(refuse(0..0, "the document is empty".into()));
        }
        let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
        let root: Spanned<YamlNode> =
            serde_saphyr::from_str_with_options(&text, options).map_err(|error| {
                let at = error.location().map_or(0..0, |location| bytes_of(&location, &text));
                refuse(at, plain_words(&error))
            })?;
        let mut places = HashMap::new();
        let value = unfold(root, &text, String::new(), None, &mut places);
        Ok(Self { name: name.to_owned(), text, value, places })
    }

    /// The name of the document in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Puts a value in place of another, for overrides from outside the text.
    pub fn set(&mut self, path: &[&str], value: Value) {
        let mut place = &mut self.value;
        for step in path {
            if !place.is_object() {
                *place = Value::Object(Map::new());
            }
            let Value::Object(map) = place else { return };
            place = map.entry((*step).to_owned()).or_insert(Value::Null);
        }
        *place = value;
    }

    /// Takes a value out, for settings files of other systems.
    pub fn remove(&mut self, path: &[&str]) {
        let Some((last, parents)) = path.split_last() else { return };
        let parent = parents.iter().try_fold(&mut self.value, |place, step| place.get_mut(*step));
        if let Some(Value::Object(map)) = parent {
            map.shift_remove(*last);
        }
    }

    /// The typed content, or everything that keeps it from being that.
    pub fn check<T: JsonSchema + DeserializeOwned + 'static>(&self) -> Result<T, Vec<Diagnostic>> {
        let schema = compiled_schema_of::<T>()
            .map_err(|error| vec![self.error("", format!("internal schema: {error}"))])?;
        let violations = schema.violations(&self.value);
        if !violations.is_empty() {
            let mut found: Vec<_> =
                violations.iter().map(|violation| self.violation(violation)).collect();
            found.sort_by_key(|one| (one.line, one.column));
            return Err(found);
        }
        serde_json::from_value(self.value.clone())
            .map_err(|error| vec![self.error("", error.to_string())])
    }

    /// Reads the document without the parts that are refused, and returns the places of those too: for more
    /// to say about the rest in the same run.
    pub fn without_refused<T: JsonSchema + DeserializeOwned + 'static>(
        &self,
    ) -> Option<(T, Vec<String>)> {
        let schema = compiled_schema_of::<T>().ok()?;
        let mut value = self.value.clone();
        let mut places = Vec::new();
        for Violation { pointer, .. } in schema.violations(&value) {
            let (parent, key) = pointer.rsplit_once('/')?;
            let key = key.replace("~1", "/").replace("~0", "~");
            value.pointer_mut(parent)?.as_object_mut()?.shift_remove(&key);
            places.push(pointer);
        }
        Some((serde_json::from_value(value).ok()?, places))
    }

    /// A refusal at the place that the pointer names.
    pub fn error(&self, pointer: &str, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Error, pointer, message)
    }

    /// A remark at the place that the pointer names.
    pub fn warning(&self, pointer: &str, message: impl Into<String>) -> Diagnostic {
        self.diagnostic(Severity::Warning, pointer, message)
    }

    fn diagnostic(
        &self,
        severity: Severity,
        pointer: &str,
        message: impl Into<String>,
    ) -> Diagnostic {
        Diagnostic::new(severity, &self.name, &self.text, self.find(pointer), message)
    }

    fn violation(&self, violation: &Violation) -> Diagnostic {
        let name = violation.pointer.rsplit('/').next().unwrap_or_default();
        match violation.keyword.as_str() {
            // The key itself is what is wrong, so the key is underlined and the nearest
            // known one becomes the hint.
            "additionalProperties" => {
                let message = format!("unknown key `{name}`");
                let diagnostic = self.key_error(&violation.pointer, message);
                match violation.message.split('`').nth(1) {
                    Some(near) => diagnostic.hint(format!("did you mean `{near}`?")),
                    None => diagnostic,
                }
            }
            "required" => {
                let parent = violation.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
                self.error(parent, format!("`{name}` is missing"))
            }
            // A key whose lines were all commented out is not the same as none: somebody meant something.
            _ if self.value.pointer(&violation.pointer).is_some_and(Value::is_null) => self
                .key_error(&violation.pointer, format!("`{name}` has no value"))
                .hint("set a value, or remove the key"),
            _ => self.error(&violation.pointer, violation.to_string()),
        }
    }

    /// The place of the pointer, or the nearest one above it that exists in the text.
    fn find(&self, pointer: &str) -> Range<usize> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                // A mapping or list is shown by its key: its own range is many lines.
                let whole = &self.text[place.value.clone()];
                return match &place.key {
                    Some(key) if whole.is_empty() || whole.contains('\n') => key.clone(),
                    _ => place.value.clone(),
                };
            }
            match pointer.rsplit_once('/') {
                Some((parent, _)) => pointer = parent,
                None => return 0..0,
            }
        }
    }

    /// An error at the key of the pointer, not at its value.
    pub fn key_error(&self, pointer: &str, message: impl Into<String>) -> Diagnostic {
        let span = self
            .places
            .get(pointer)
            .and_then(|place| place.key.clone())
            .unwrap_or_else(|| self.find(pointer));
        Diagnostic::new(Severity::Error, &self.name, &self.text, span, message)
    }
}

/// The schema of a type, compiled once however many documents there are of it.
fn compiled_schema_of<T: JsonSchema + 'static>() -> Result<Arc<Schema>, SchemaError> {
    static COMPILED: Mutex<BTreeMap<TypeId, Arc<Schema>>> = Mutex::new(BTreeMap::new());
    let mut compiled = COMPILED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(schema) = compiled.get(&TypeId::of::<T>()) {
        return Ok(schema.clone());
    }
    let schema = Arc::new(Schema::compile(&schema_of::<T>())?);
    compiled.insert(TypeId::of::<T>(), schema.clone());
    Ok(schema)
}

/// The JSON Schema of a type, in which what may be left out may not be null: a key without a value is
/// a mistake, and may not quietly mean that a thing is off.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut schema = schemars::schema_for!(T).to_value();
    refuse_null(&mut schema);
    schema
}

fn refuse_null(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let null = Value::from("null");
            if fields.get("default") == Some(&Value::Null) {
                fields.shift_remove("default");
            }
            if let Some(Value::Array(types)) = fields.get_mut("type") {
                types.retain(|one| *one != null);
                if let [only] = &types[..] {
                    let only = only.clone();
                    fields.insert("type".into(), only);
                }
            }
            if let Some(Value::Array(branches)) = fields.get_mut("anyOf") {
                branches.retain(|one| one.get("type") != Some(&null));
                if let [Value::Object(only)] = &mut branches[..] {
                    let only = std::mem::take(only);
                    fields.shift_remove("anyOf");
                    for (key, value) in only {
                        fields.entry(key).or_insert(value);
                    }
                }
            }
            fields.values_mut().for_each(refuse_null);
        }
        Value::Array(items) => items.iter_mut().for_each(refuse_null),
        _ => {}
    }
}

/// The start of the parser's message about a duplicate key; the rest is about an option of its own.
const DUPLICATE: &str = "duplicate mapping key: ";

/// The parser's message without the place, which the diagnostic shows itself.
fn plain_words(error: &serde_saphyr::Error) -> String {
    let text = error.without_snippet().to_string();
    let text = text.lines().next().unwrap_or("is not YAML").to_owned();
    let words = text.split(" at line ").next().unwrap_or(&text);
    if words.contains("multiple YAML documents") {
        return "a second document begins here; only one is read".to_owned();
    }
    if words.contains("budget breached: Depth") {
        return "this is nested too deeply".to_owned();
    }
    if let Some(key) = words.strip_prefix("error: ").unwrap_or(words).strip_prefix(DUPLICATE) {
        let key = key.split(", set ").next().unwrap_or(key);
        return format!("the key `{key}` appears twice");
    }
    words.strip_prefix("error: ").unwrap_or(words).trim_end_matches(':').to_owned()
}

fn unfold(
    node: Spanned<YamlNode>,
    text: &str,
    pointer: String,
    key: Option<Range<usize>>,
    places: &mut HashMap<String, SourceSpan>,
) -> Value {
    let value = match node.value {
        YamlNode::Scalar(value) => value,
        YamlNode::Sequence(items) => {
            let items = items.into_iter().enumerate();
            let unfolded = items.map(|(index, item)| {
                unfold(item, text, format!("{pointer}/{index}"), None, places)
            });
            Value::Array(unfolded.collect())
        }
        YamlNode::Mapping(entries) => {
            let mut map = Map::new();
            for (key, item) in entries {
                let pointer = format!("{pointer}/{}", escape(&key.value));
                let place = bytes_of(&key.referenced, text);
                let value = unfold(item, text, pointer, Some(place), places);
                map.insert(key.value, value);
            }
            Value::Object(map)
        }
    };
    places.insert(pointer, SourceSpan { key, value: bytes_of(&node.referenced, text) });
    value
}

fn bytes_of(location: &serde_saphyr::Location, text: &str) -> Range<usize> {
    let span = location.span();
    let number = |number: Option<u64>| usize::try_from(number?).ok();
    let start = number(span.byte_offset()).unwrap_or_else(|| byte_of(location, text));
    let start = start.min(text.len());
    let length = number(span.byte_len()).unwrap_or(1);
    start..start.saturating_add(length).min(text.len())
}

/// The place of an error of syntax, of which the parser knows only the line and the characters before it in there.
fn byte_of(location: &serde_saphyr::Location, text: &str) -> usize {
    let before = |number: u64| usize::try_from(number).unwrap_or(usize::MAX).saturating_sub(1);
    let mut lines = text.split_inclusive('\n');
    let above: usize = lines.by_ref().take(before(location.line())).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let inside = line.char_indices().nth(before(location.column()));
    above + inside.map_or(line.len(), |(at, _)| at)
}

/// Any YAML value whose parts know where they stand.
enum YamlNode {
    Scalar(Value),
    Sequence(Vec<Spanned<YamlNode>>),
    Mapping(Vec<(Spanned<String>, Spanned<YamlNode>)>),
}

impl<'de> Deserialize<'de> for YamlNode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(YamlVisitor)
    }
}

struct YamlVisitor;

impl<'de> Visitor<'de> for YamlVisitor {
    type Value = YamlNode;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Number(value.into())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::Number(value.into())))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<YamlNode, E> {
        let number = Number::from_f64(value).ok_or_else(|| E::custom("number is out of range"))?;
        Ok(YamlNode::Scalar(Value::Number(number)))
    }

    fn visit_str<E>(self, value: &str) -> Result<YamlNode, E> {
        Ok(YamlNode::Scalar(Value::String(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<YamlNode, A::Error> {
        let mut sequence = Vec::new();
        while let Some(item) = items.next_element()? {
            sequence.push(item);
        }
        Ok(YamlNode::Sequence(sequence))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<YamlNode, A::Error> {
        let mut mapping = Vec::new();
        while let Some(entry) = entries.next_entry()? {
            mapping.push(entry);
        }
        Ok(YamlNode::Mapping(mapping))
    }
}

/// A value as YAML, for people.
pub fn to_yaml(value: &Value) -> String {
    serde_saphyr::to_string(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, serde::Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    struct Doors {
        open: Option<Vec<String>>,
        inner: Option<Inner>,
        wide: Option<u64>,
    }

    #[derive(Debug, Default, serde::Serialize, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, default)]
    struct Inner {
        narrow: Option<bool>,
    }

    fn refused(text: &str) -> Vec<String> {
        let document = Document::parse("doors.yaml", text).unwrap();
        let found = document.check::<Doors>().err().unwrap_or_default();
        found.into_iter().map(|one| one.message).collect()
    }

    #[test]
    fn a_key_without_a_value_is_a_mistake() {
        assert_eq!(refused("open:\n"), ["`open` has no value"]);
        assert_eq!(
            refused("inner: { narrow: }\nwide: null\n"),
            ["`narrow` has no value", "`wide` has no value"]
        );
        assert_eq!(refused("inner: ~\n"), ["`inner` has no value"]);
        assert_eq!(refused("open: []\ninner: {}\nwide: 1\n"), Vec::<String>::new());
    }

    #[test]
    fn the_rest_can_be_read_without_what_is_refused() {
        let document =
            Document::parse("doors.yaml", "wide: 2\nopne: [a]\ninner: { narrow: x }\n").unwrap();
        let (doors, places) = document.without_refused::<Doors>().unwrap();
        assert_eq!((doors.wide, doors.inner.unwrap().narrow), (Some(2), None));
        assert_eq!(places.len(), 2, "{places:?}");
    }

    #[test]
    fn a_key_that_is_there_twice_is_told_in_our_words() {
        let found = Document::parse("doors.yaml", "wide: 1\nwide: 2\n").unwrap_err();
        assert_eq!((found.message.as_str(), found.line), ("the key `wide` appears twice", 2));
    }

    #[test]
    fn what_is_not_yaml_is_shown_in_its_place() {
        for (text, line, column) in [
            ("server:\n  listen: [ 1\n", 2, 11),
            ("é: ü\r\nb: {\r\n", 2, 4),
            ("a:\n\tb: 1\n", 2, 2),
            ("a: 1\nb: 'x\n", 3, 1),
            ("a: 1\nb: \"é\" x: y\n", 2, 8),
            ("a: 1\n b: 2\n", 2, 3),
            ("a: 1\nb: *x\n", 2, 4),
            ("- a\nb: 1\n", 2, 1),
            ("a: 1\n---\nb: 2\n", 3, 1),
            ("a: 1\nb: @x\n", 2, 4),
            ("a: 1\nb: 1e999\n", 2, 4),
        ] {
            let found = Document::parse("x.yaml", text).unwrap_err();
            assert_eq!((found.line, found.column), (line, column), "{text:?}: {}", found.message);
        }
    }

    #[test]
    fn a_line_that_may_hold_a_secret_is_not_shown() {
        let document = Document::parse("doors.yaml", "open: [SECRET]\n").unwrap();
        let shown = document.warning("/open", "is odd").secret().render(false);
        assert!(!shown.contains("SECRET") && shown.contains("doors.yaml:1:7"), "{shown}");
    }
}
