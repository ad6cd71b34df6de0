//! Valid values at the boundaries.

use serde_json::{Map, Value, json};

use super::{
    MAX_VALUE_BYTES, ValuePart, copies,
    pattern_text::{self, MAX_TEXT},
    value_builder::{ValueBuilder, as_value},
    weight,
};

/// The largest number of listed values, and of branches of a choice, that are used.
const MAX_LISTED: usize = 16;
/// The longest list that is made, in items.
const MAX_LIST: usize = 200;

/// Valid values for this place, each with a title.
pub(super) fn of<'a>(
    builder: &mut ValueBuilder<'_, 'a>,
    site: &ValuePart<'_, 'a>,
) -> Vec<(String, Value)> {
    let mut found: Vec<(String, Value)> = Vec::new();
    let view = &site.view;
    let fits = |value: &&&Value| weight(value) <= MAX_VALUE_BYTES;
    for value in view.listed.iter().flatten().filter(fits).take(MAX_LISTED) {
        found.push(("one of the listed values".to_owned(), (*value).clone()));
    }
    for value in view.examples.iter().filter(fits).take(MAX_LISTED) {
        found.push(("an example of the schema".to_owned(), (*value).clone()));
    }
    let forms = view.choices.iter().map(Vec::len).max().unwrap_or(0).min(MAX_LISTED);
    for form in 0..forms {
        builder.branch = form;
        if let Ok(value) = builder.make(&site.numbers, super::Fullness::Required) {
            found.push((format!("form {}", form + 1), value));
        }
    }
    builder.branch = 0;
    if view.listed.is_none() {
        match site.value {
            Value::String(_) => texts(builder, site, &mut found),
            Value::Number(_) => numbers(site, !view.allows("number"), &mut found),
            Value::Bool(value) => found.push((format!("is {}", !value), json!(!value))),
            Value::Array(_) => lists(builder, site, &mut found),
            Value::Object(fields) => objects(site, fields, &mut found),
            Value::Null => {}
        }
        if view.kinds.is_some() && view.allows("null") {
            found.push(("is null".to_owned(), Value::Null));
        }
    }
    found
}

fn texts(builder: &mut ValueBuilder, site: &ValuePart, found: &mut Vec<(String, Value)>) {
    let view = &site.view;
    for sample in view.format.map(pattern_text::samples).unwrap_or_default() {
        found.push(("another text of the format".to_owned(), json!(sample)));
    }
    for (title, length) in [("the shortest", view.min_length), ("the longest", view.max_length)] {
        let Some(length) = length else { continue };
        if length > MAX_TEXT {
            let not_generated =
                format!("`{}`: {title}: a text of {length} characters", site.pointer);
            builder.not_generated.push(not_generated);
            continue;
        }
        let text = if view.patterns.is_empty() {
            Ok("a".repeat(length))
        } else {
            pattern_text::matching(view.patterns[0], length, length, &mut builder.random)
        };
        match text {
            Ok(text) => found.push((format!("{title}, {length} characters"), json!(text))),
            Err(reason) => {
                builder.not_generated.push(format!("`{}`: {title}: {reason}", site.pointer));
            }
        }
    }
    if view.min_length.is_none() && view.patterns.is_empty() && view.format.is_none() {
        found.push(("an empty text".to_owned(), json!("")));
        found.push(("a non-ASCII text".to_owned(), json!("Ω≈ç√ \u{1F600} 漢字")));
    }
}

fn numbers(site: &ValuePart, whole: bool, found: &mut Vec<(String, Value)>) {
    let view = &site.view;
    let step = view.multiple_of.unwrap_or(if whole { 1.0 } else { 0.001 });
    let edges = [
        ("the minimum", view.minimum),
        ("the maximum", view.maximum),
        ("just above the bound", view.exclusive_minimum.map(|bound| bound + step)),
        ("just below the bound", view.exclusive_maximum.map(|bound| bound - step)),
    ];
    for (title, number) in edges {
        if let Some(value) = number.and_then(|number| as_value(number, whole)) {
            found.push((format!("{title}, {value}"), value));
        }
    }
    found.push(("zero".to_owned(), json!(0)));
    if view.minimum.is_none() && view.exclusive_minimum.is_none() {
        found.push(("below zero".to_owned(), json!(-1)));
    }
}

fn lists<'a>(
    builder: &mut ValueBuilder<'_, 'a>,
    site: &ValuePart<'_, 'a>,
    found: &mut Vec<(String, Value)>,
) {
    let view = &site.view;
    found.push(("an empty list".to_owned(), json!([])));
    for (title, count) in
        [("the shortest list", view.min_items), ("the longest list", view.max_items)]
    {
        let Some(count) = count else { continue };
        let list = if count > MAX_LIST { None } else { builder.list(view, count) };
        match list {
            Some(list) => found.push((format!("{title}, {count} items"), list)),
            None => {
                builder.not_generated.push(format!("`{}`: {title}: {count} items", site.pointer));
            }
        }
    }
}

fn objects(site: &ValuePart, fields: &Map<String, Value>, found: &mut Vec<(String, Value)>) {
    let required = |name: &String| site.view.required.contains(&name.as_str());
    if site.pointer.is_empty() {
        // Each of them left out by itself; all of them at once is the smallest value.
        for name in fields.keys().filter(|name| !required(name)).take(copies(site.value)) {
            let mut fields = fields.clone();
            fields.shift_remove(name);
            found.push((format!("without `{name}`"), Value::Object(fields)));
        }
    }
    let small: Map<String, Value> = fields
        .iter()
        .filter(|(name, _)| required(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    found.push(("only what is required".to_owned(), Value::Object(small)));
}
