//! A schema made wide enough for one more value.

use serde_json::{Map, Value, json};

/// How deep a value is described; below, anything goes.
const MAX_DEPTH: usize = 16;
/// How many forms the items of a list may have; beyond, anything goes.
const MAX_FORMS: usize = 8;

/// A schema that takes what this one takes, and values of the form of this value. What the schema
/// refers to inside itself stays where references find it, as far as it stands under `$defs`.
pub fn widened(schema: &Value, value: &Value) -> Value {
    let form = form(value, 0);
    let mut own = schema.clone();
    let mut wide = Map::new();
    for keyword in ["$schema", "$defs", "definitions", "description"] {
        if let Some(part) = own.as_object_mut().and_then(|own| own.shift_remove(keyword)) {
            wide.insert(keyword.into(), part);
        }
    }
    // At first sight, for those who look no further.
    if own["type"] == "object" && value.is_object() {
        wide.insert("type".into(), json!("object"));
    }
    let mut forms = match already_wide(&own) {
        Some(forms) => forms.clone(),
        None => vec![own],
    };
    if !forms.contains(&form) {
        forms.push(form);
    }
    wide.insert("anyOf".into(), Value::Array(forms));
    Value::Object(wide)
}

/// The forms of a schema that is a choice and nothing else.
fn already_wide(schema: &Value) -> Option<&Vec<Value>> {
    let fields = schema.as_object()?;
    let only = fields.keys().all(|key| matches!(key.as_str(), "type" | "anyOf"));
    let plain = fields.get("type").is_none_or(|kind| kind == "object");
    fields.get("anyOf").filter(|_| only && plain)?.as_array()
}

/// The schema of values that look like this one.
fn form(value: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return json!({});
    }
    match value {
        Value::Null => json!({ "type": "null" }),
        Value::Bool(_) => json!({ "type": "boolean" }),
        Value::Number(number) if number.is_f64() => json!({ "type": "number" }),
        Value::Number(_) => json!({ "type": "integer" }),
        Value::String(_) => json!({ "type": "string" }),
        Value::Array(items) => {
            let mut forms: Vec<Value> = Vec::new();
            for item in items {
                let form = form(item, depth + 1);
                if !forms.contains(&form) {
                    forms.push(form);
                }
                if forms.len() > MAX_FORMS {
                    return json!({ "type": "array" });
                }
            }
            match forms.len() {
                0 => json!({ "type": "array" }),
                1 => json!({ "type": "array", "items": forms.remove(0) }),
                _ => json!({ "type": "array", "items": { "anyOf": forms } }),
            }
        }
        Value::Object(fields) => {
            let properties: Map<String, Value> =
                fields.iter().map(|(key, item)| (key.clone(), form(item, depth + 1))).collect();
            let required: Vec<&String> = fields.keys().collect();
            json!({
                "type": "object",
                "properties": properties,
                "required": required,
                "additionalProperties": false,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use contract::Schema;

    use super::*;

    #[test]
    fn takes_what_it_took_and_the_new_form() {
        let schema = json!({
            "type": "object", "description": "An answer.",
            "properties": { "n": { "$ref": "#/$defs/n" } }, "required": ["n"],
            "additionalProperties": false,
            "$defs": { "n": { "type": "integer" } },
        });
        let new = json!({ "n": null, "list": [1, "a", { "b": 2.5 }] });
        let wide = widened(&schema, &new);
        assert_eq!((&wide["type"], &wide["description"]), (&json!("object"), &json!("An answer.")));
        let compiled = Schema::compile(&wide).unwrap();
        for fits in [json!({ "n": 1 }), new.clone(), json!({ "n": null, "list": ["b"] })] {
            assert!(compiled.is_valid(&fits), "{fits}");
        }
        for wrong in [json!({}), json!({ "n": "a" }), json!([]), json!({ "n": null, "list": [[]] })]
        {
            assert!(!compiled.is_valid(&wrong), "{wrong}");
        }
        // Once more adds a form, and the same form is not added twice.
        let wider = widened(&wide, &json!({ "n": "a" }));
        assert_eq!(wider["anyOf"].as_array().unwrap().len(), 3);
        assert_eq!(widened(&wider, &new), wider);
        assert!(Schema::compile(&wider).unwrap().is_valid(&json!({ "n": "b" })));
    }
}
