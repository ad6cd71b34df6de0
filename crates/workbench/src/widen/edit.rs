//! One change to one schema, and the words for it.

use serde_json::{Map, Value, json};

use crate::infer::infer;

/// The longest quote of a value, in characters.
const MAX_TOLD: usize = 80;

/// A change of a schema.
pub(super) struct SchemaEdit {
    pub(super) text: String,
    /// True if the schema is one level deeper now.
    pub(super) replaced: bool,
}

impl SchemaEdit {
    fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), replaced: false }
    }
}

/// Changes a schema whose keyword refuses these parts of a value, or does not know how.
pub(super) fn change(
    schema: &mut Value,
    keyword: &str,
    parts: &[&Value],
    names: &[&str],
) -> Option<SchemaEdit> {
    if keyword == "false" {
        *schema = infer(&owned(parts));
        return Some(SchemaEdit { text: format!("may be {}", words(schema)), replaced: true });
    }
    let fields = schema.as_object_mut()?;
    let change = match keyword {
        "required" => required(fields, names),
        "additionalProperties" | "unevaluatedProperties" => properties(fields, parts, names),
        "type" => return kind_of(schema, parts),
        "enum" => one_more(fields, parts),
        "const" => {
            let was = fields.shift_remove("const")?;
            fields.insert("enum".to_owned(), json!([was]));
            one_more(fields, parts)
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
            size(fields, keyword, parts)
        }
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" => {
            bound(fields, keyword, parts)
        }
        "pattern" | "format" | "multipleOf" | "uniqueItems" | "propertyNames"
        | "dependentRequired" => {
            let was = fields.shift_remove(keyword)?;
            Some(SchemaEdit::new(format!("`{keyword}` was removed: {}", quote(&was))))
        }
        "anyOf" => another(fields, parts),
        _ => None,
    }?;
    Some(change)
}

/// A change, with the part of a value that it is about.
pub(super) fn tell(part: &str, text: &str) -> String {
    if part.is_empty() { format!("the value: {text}") } else { format!("`{part}`: {text}") }
}

/// The type of a schema, in a few words.
pub(super) fn words(schema: &Value) -> String {
    match (&schema["type"], &schema["anyOf"]) {
        (Value::String(kind), _) => match kind.as_str() {
            "integer" => "a whole number".to_owned(),
            "null" => "null".to_owned(),
            "array" | "object" => format!("an {kind}"),
            kind => format!("a {kind}"),
        },
        (_, Value::Array(branches)) => branches.iter().map(words).collect::<Vec<_>>().join(" or "),
        _ => "anything".to_owned(),
    }
}

fn owned(parts: &[&Value]) -> Vec<Value> {
    parts.iter().map(|part| (*part).clone()).collect()
}

fn required(fields: &mut Map<String, Value>, names: &[&str]) -> Option<SchemaEdit> {
    let Value::Array(list) = fields.get_mut("required")? else { return None };
    let before = list.len();
    list.retain(|name| !names.iter().any(|missing| name == missing));
    if list.len() == before {
        return None;
    }
    if list.is_empty() {
        fields.shift_remove("required");
    }
    let mut names = names.to_vec();
    names.sort_unstable();
    names.dedup();
    Some(SchemaEdit::new(format!("{} is no longer required", listed(&names))))
}

fn properties(
    fields: &mut Map<String, Value>,
    parts: &[&Value],
    names: &[&str],
) -> Option<SchemaEdit> {
    let known = fields.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    let Value::Object(known) = known else { return None };
    let mut told = Vec::new();
    for name in names {
        let values: Vec<Value> = parts.iter().filter_map(|part| part.get(*name)).cloned().collect();
        if values.is_empty() || known.contains_key(*name) {
            continue;
        }
        let schema = infer(&values);
        told.push(format!("`{name}` ({})", words(&schema)));
        known.insert((*name).to_owned(), schema);
    }
    (!told.is_empty()).then(|| SchemaEdit::new(format!("accepts {}", told.join(", "))))
}

/// A whole number becomes any; everything else becomes a choice.
fn kind_of(schema: &mut Value, parts: &[&Value]) -> Option<SchemaEdit> {
    if schema["type"] == "integer" && parts.iter().all(|part| part.is_number()) {
        schema["type"] = json!("number");
        return Some(SchemaEdit::new("accepts any number, not only integers"));
    }
    let fields = schema.as_object_mut()?;
    let mut outside = Map::new();
    // Words are about the whole, and definitions are found where they are.
    for keyword in ["$defs", "definitions", "$id", "$schema", "$anchor", "title", "description"] {
        if let Some((keyword, kept)) = fields.shift_remove_entry(keyword) {
            outside.insert(keyword, kept);
        }
    }
    let second = infer(&owned(parts));
    let text = format!("also accepts {}", words(&second));
    let mut branches = vec![Value::Object(fields.clone())];
    branches.extend(forms(second));
    outside.insert("anyOf".to_owned(), Value::Array(branches));
    *schema = Value::Object(outside);
    Some(SchemaEdit { text, replaced: true })
}

fn one_more(fields: &mut Map<String, Value>, parts: &[&Value]) -> Option<SchemaEdit> {
    let Value::Array(options) = fields.get_mut("enum")? else { return None };
    let mut told = Vec::new();
    for part in parts {
        if !options.contains(part) {
            options.push((*part).clone());
            told.push(quote(part));
        }
    }
    (!told.is_empty()).then(|| SchemaEdit::new(format!("also accepts {}", told.join(", "))))
}

fn size(fields: &mut Map<String, Value>, keyword: &str, parts: &[&Value]) -> Option<SchemaEdit> {
    let measure = |part: &&Value| match part {
        Value::String(text) => Some(text.chars().count()),
        Value::Array(items) => Some(items.len()),
        Value::Object(fields) => Some(fields.len()),
        _ => None,
    };
    let sizes = parts.iter().filter_map(measure);
    let new = if keyword.starts_with("min") { sizes.min() } else { sizes.max() }?;
    let was = fields.insert(keyword.to_owned(), json!(new))?;
    Some(SchemaEdit::new(format!("`{keyword}` changed from {was} to {new}")))
}

fn bound(fields: &mut Map<String, Value>, keyword: &str, parts: &[&Value]) -> Option<SchemaEdit> {
    let lower = keyword.ends_with("inimum");
    let number = |part: &&&Value| part.as_f64().unwrap_or_default();
    let furthest = |one: &&&Value, other: &&&Value| number(one).total_cmp(&number(other));
    let found = parts.iter().filter(|part| part.is_number());
    let new = if lower { found.min_by(furthest) } else { found.max_by(furthest) }?;
    let was = fields.shift_remove(keyword)?;
    // A bound that excludes what it names becomes one that does not.
    let keyword = if lower { "minimum" } else { "maximum" };
    fields.insert(keyword.to_owned(), (**new).clone());
    Some(SchemaEdit::new(format!("`{keyword}` changed from {was} to {new}")))
}

fn another(fields: &mut Map<String, Value>, parts: &[&Value]) -> Option<SchemaEdit> {
    let Value::Array(branches) = fields.get_mut("anyOf")? else { return None };
    let schema = infer(&owned(parts));
    let text = format!("also accepts {}", words(&schema));
    branches.extend(forms(schema));
    Some(SchemaEdit::new(text))
}

/// The forms of a schema that is nothing but a choice, or the schema.
fn forms(schema: Value) -> Vec<Value> {
    match schema {
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("anyOf") => {
            fields["anyOf"].as_array().cloned().unwrap_or_default()
        }
        schema => vec![schema],
    }
}

fn listed(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn quote(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(MAX_TOLD) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
