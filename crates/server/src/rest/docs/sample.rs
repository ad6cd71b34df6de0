//! Calls that a reader can copy: JSON and commands for a shell.

use std::fmt::Write;

use contract::Contract;
use serde_json::{Map, Value, json};

use super::untrusted::{encoded, is_hidden};

/// The address that the server is taken to have; the script of the page puts its own address there.
pub(super) const SERVER: &str = "http://127.0.0.1:8000/";

/// The route that calls any tool, from the root of the server.
pub(super) const EXECUTE: &str = "v1/tools/execute";

/// JSON up to so many characters stands on one line.
const MAX_LINE_CHARACTERS: usize = 60;

/// A value as JSON for people. What cannot be seen in it is written as an escape, which
/// means the same, so that whoever copies it knows what they copy.
pub(super) fn printed(value: &Value) -> String {
    let short = value.to_string();
    let text =
        if short.chars().count() <= MAX_LINE_CHARACTERS { short } else { format!("{value:#}") };
    if !text.chars().any(is_hidden) {
        return text;
    }
    let mut visible = String::with_capacity(text.len());
    for one in text.chars() {
        if is_hidden(one) {
            for unit in one.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(visible, "\\u{unit:04x}");
            }
        } else {
            visible.push(one);
        }
    }
    visible
}

/// Arguments as JSON, a line or more for each: for a field in which they are edited.
pub(super) fn editable(arguments: &Map<String, Value>) -> String {
    let lines: Vec<String> = arguments
        .iter()
        .map(|(name, value)| {
            let value = printed(value).replace('\n', "\n  ");
            format!("  {}: {value}", printed(&json!(name)))
        })
        .collect();
    if lines.is_empty() { "{}".to_owned() } else { format!("{{\n{}\n}}", lines.join(",\n")) }
}

/// The route that calls a tool, from the root of the server.
pub(super) fn path(tool: &str) -> String {
    format!("v1/tools/{}", encoded(tool))
}

/// A request as a command; `bearer` where the server wants a token.
pub(super) fn curl(path: &str, body: &Value, bearer: bool) -> String {
    let token = if bearer { "-H \"Authorization: Bearer $TOOLGATE_TOKEN\" \\\n  " } else { "" };
    let body = quoted(&printed(body));
    format!("curl {SERVER}{path} \\\n  {token}-H 'Content-Type: application/json' \\\n  -d {body}")
}

/// A text as one word of a shell: inside these quotes nothing but the quote means anything.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Arguments to start from: those of the first example, or the required ones with values
/// of the right type.
pub(super) fn arguments(contract: &Contract) -> Map<String, Value> {
    if let Some(example) = contract.good_examples().next() {
        return example.input.clone();
    }
    let schema = &contract.input_schema;
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    required
        .filter_map(Value::as_str)
        .map(|name| (name.to_owned(), placeholder(&schema["properties"][name])))
        .collect()
}

fn placeholder(schema: &Value) -> Value {
    let named = ["const", "default"].iter().find_map(|keyword| schema.get(keyword));
    let listed = ["examples", "enum"].iter().find_map(|keyword| schema.get(keyword)?.get(0));
    if let Some(value) = named.or(listed) {
        return value.clone();
    }
    let kind = match &schema["type"] {
        Value::Array(kinds) => kinds.first().unwrap_or(&Value::Null),
        one => one,
    };
    match kind.as_str() {
        Some("string") => json!(""),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_safe_to_paste() {
        let body = json!({ "args": { "text": "it's $(rm -rf /) `x` \u{202e}\u{e0041}" } });
        assert_eq!(
            curl(&path("a b'"), &body, false),
            "curl http://127.0.0.1:8000/v1/tools/a%20b%27 \\\n  \
             -H 'Content-Type: application/json' \\\n  \
             -d '{\"args\":{\"text\":\"it'\\''s $(rm -rf /) `x` \\u202e\\udb40\\udc41\"}}'"
        );
    }

    #[test]
    fn a_command_names_the_token_where_one_is_wanted() {
        let command = curl(EXECUTE, &json!({}), true);
        assert!(command.contains("-H \"Authorization: Bearer $TOOLGATE_TOKEN\""));
    }

    #[test]
    fn an_escape_means_what_it_stands_for() {
        let value = json!({ "a\u{200b}": "b\u{e0041}\u{7f}c", "d": [1, { "e": null }] });
        assert_eq!(serde_json::from_str::<Value>(&printed(&value)).unwrap(), value);
        assert_eq!(
            serde_json::from_str::<Value>(&editable(value.as_object().unwrap())).unwrap(),
            value
        );
        assert!(!printed(&value).chars().any(is_hidden));
    }

    #[test]
    fn arguments_to_edit_have_a_line_each() {
        let check = |value: Value, expected| {
            assert_eq!(editable(value.as_object().unwrap()), expected);
        };
        check(json!({}), "{}");
        check(json!({ "a": 1, "b": [1, 2] }), "{\n  \"a\": 1,\n  \"b\": [1,2]\n}");
    }

    #[test]
    fn required_arguments_are_there_without_an_example() {
        let text = r"
name: x
description: x
version: '1'
stability: stable
toolset: x
effects: none
input_schema:
  type: object
  required: [mode, count, names, text]
  properties:
    mode: { enum: [fast, slow] }
    count: { type: integer, minimum: 3 }
    names: { type: array }
    text: { type: [string, 'null'] }
    more: { type: string }
output_schema: { type: object }
";
        let contract = contract::read::trusted(text).unwrap();
        let expected = json!({ "mode": "fast", "count": 3, "names": [], "text": "" });
        assert_eq!(Value::Object(arguments(&contract)), expected);
    }
}
