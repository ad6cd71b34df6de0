//! Marks in an output, by which any part of it is recognised in a response.

use contract::Schema;
use serde_json::{Map, Value, json};

/// Replaces every text and every unknown name.
const TEXT: &str = "toolgate-leak-b5f1c7";
/// Replaces every number.
const NUMBER: i64 = 918_273_645_091;
/// The number of parts that are marked.
const MAX_MARKED: usize = 200;

/// The value with marks, as far as it stays valid or invalid.
pub fn marked(schema: &Schema, value: &Value) -> Value {
    let verdict = schema.is_valid(value);
    let mut whole = value.clone();
    for pointer in leaves(value) {
        let Some(leaf) = whole.pointer(&pointer) else { continue };
        let mark = match leaf {
            Value::String(_) => json!(TEXT),
            Value::Number(_) => json!(NUMBER),
            _ => continue,
        };
        replace(schema, verdict, &mut whole, &pointer, mark);
    }
    // Names that the schema does not have belong to the output.
    if let Value::Object(fields) = &whole {
        let known = schema.source().to_string();
        let renamed: Map<String, Value> = fields
            .iter()
            .map(|(name, value)| {
                let own = !known.contains(&json!(name).to_string());
                (if own { TEXT.to_owned() } else { name.clone() }, value.clone())
            })
            .collect();
        replace(schema, verdict, &mut whole, "", Value::Object(renamed));
    }
    whole
}

/// True if a text has any mark.
pub fn shows(text: &str) -> bool {
    text.contains(TEXT) || text.contains(&NUMBER.to_string())
}

fn replace(schema: &Schema, verdict: bool, whole: &mut Value, pointer: &str, part: Value) {
    let mut copy = whole.clone();
    if let Some(place) = copy.pointer_mut(pointer) {
        *place = part;
    }
    if schema.is_valid(&copy) == verdict {
        *whole = copy;
    }
}

/// The JSON pointers of all leaves.
fn leaves(value: &Value) -> Vec<String> {
    let mut open = vec![(String::new(), value)];
    let mut found = Vec::new();
    while let Some((pointer, value)) = open.pop() {
        match value {
            Value::Object(fields) => open.extend(fields.iter().map(|(name, value)| {
                let name = contract::escape(name);
                (format!("{pointer}/{name}"), value)
            })),
            Value::Array(items) => open.extend(
                items.iter().enumerate().map(|(index, item)| (format!("{pointer}/{index}"), item)),
            ),
            _ if found.len() < MAX_MARKED => found.push(pointer),
            _ => break,
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_change_no_verdict() {
        let schema = Schema::compile(&json!({
            "type": "object",
            "properties": { "text": { "type": "string" }, "n": { "type": "integer", "minimum": 0 } },
            "required": ["text", "n"],
            "additionalProperties": false,
        }))
        .unwrap();
        let check = |value: Value, expected: Value| {
            let marked = marked(&schema, &value);
            assert_eq!(marked, expected);
            assert_eq!(schema.is_valid(&marked), schema.is_valid(&value));
        };
        check(json!({ "text": "a", "n": 1 }), json!({ "text": TEXT, "n": NUMBER }));
        check(json!({ "text": "a", "n": -1 }), json!({ "text": TEXT, "n": -1 }));
        check(json!({ "text": 7, "n": 1 }), json!({ "text": NUMBER, "n": NUMBER }));
        check(json!({ "n": 1 }), json!({ "n": NUMBER }));
        let (one, other) = (json!({ "text": "a", "n": 1, "more": true }), TEXT);
        check(one, json!({ "text": TEXT, "n": NUMBER, other: true }));
        check(Value::Null, Value::Null);
        assert!(shows(&format!("…{TEXT}…")) && !shows("toolgate"));
    }
}
