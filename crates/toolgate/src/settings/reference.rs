//! The reference page of the settings, made from their types.

use serde_json::Value;

use super::{ToolgateSettings, schema};

/// The page in Markdown.
pub fn markdown() -> String {
    let schema = schema();
    let defaults = serde_json::to_value(ToolgateSettings::default()).unwrap_or_default();
    let mut page = String::from(
        "# Settings\n\n\
         One YAML file; every key may be left out. `toolgate init` writes one to start from.\n\n\
         | key | type | default | meaning |\n|---|---|---|---|\n",
    );
    rows(&schema, &schema, &defaults, "", &mut page);
    page
}

fn rows(schema: &Value, root: &Value, defaults: &Value, prefix: &str, page: &mut String) {
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let key = format!("{prefix}{name}");
        let target = resolve(property, root);
        let default = &defaults[name];
        let description = [property, target]
            .iter()
            .find_map(|schema| schema["description"].as_str())
            .unwrap_or_default();
        if target["properties"].is_object() {
            page.push_str(&format!("| `{key}` | object | | {} |\n", cell(description)));
            rows(target, root, default, &format!("{key}."), page);
            continue;
        }
        let default = match default {
            Value::Null => String::new(),
            value => format!("`{value}`"),
        };
        let kind = kind(property, target, root);
        page.push_str(&format!("| `{key}` | {kind} | {default} | {} |\n", cell(description)));
        let items = resolve(&target["items"], root);
        if items["properties"].is_object() {
            rows(items, root, &Value::Null, &format!("{key}[]."), page);
        }
        let named = resolve(&target["additionalProperties"], root);
        if named["properties"].is_object() {
            rows(named, root, &named_defaults(named), &format!("{key}.NAME."), page);
        }
    }
}

/// The defaults that a schema has for its properties.
fn named_defaults(schema: &Value) -> Value {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let defaults =
        properties.filter_map(|(name, one)| Some((name.clone(), one.get("default")?.clone())));
    Value::Object(defaults.collect())
}

/// The target of a `$ref`. Of an optional schema, the one that is not null.
pub(super) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    let mut meant = branches.filter(|branch| branch["type"] != "null");
    if let (Some(one), None) = (meant.next(), meant.next()) {
        return resolve(one, root);
    }
    schema["$ref"]
        .as_str()
        .and_then(|reference| root.pointer(reference.trim_start_matches('#')))
        .unwrap_or(schema)
}

/// The type in words, with its range.
fn kind(property: &Value, target: &Value, root: &Value) -> String {
    let choices: Vec<String> = target["oneOf"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|branch| branch["const"].as_str().map(|word| format!("`{word}`")))
        .chain(target["enum"].as_array().into_iter().flatten().map(|value| format!("`{value}`")))
        .collect();
    if !choices.is_empty() {
        return choices.join(" or ");
    }
    let names: Vec<&str> = match &target["type"] {
        Value::String(name) => vec![name.as_str()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    };
    let word = |name: &str| match name {
        "array" => {
            let items = resolve(&target["items"], root);
            format!("list of {}", items["type"].as_str().unwrap_or("any"))
        }
        "integer" => "whole number".to_owned(),
        "string" => "text".to_owned(),
        other => other.to_owned(),
    };
    let names: Vec<String> = names.into_iter().filter(|name| *name != "null").map(word).collect();
    let name = if names.is_empty() { "any".to_owned() } else { names.join(" or ") };
    let bound = |key: &str| property.get(key).or_else(|| target.get(key));
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => format!("{name}, {least} to {most}"),
        (Some(least), None) if least != &Value::from(0) => format!("{name}, at least {least}"),
        _ => name,
    }
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").split_whitespace().collect::<Vec<_>>().join(" ")
}
