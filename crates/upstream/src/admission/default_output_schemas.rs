//! Output schemas for tools that declare none.

use serde_json::{Value, json};

/// Text only.
pub(super) fn text() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "The text of the result." } },
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// Blocks of MCP content.
pub(super) fn content() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let block = |kind: &str, fields: Value, required: &[&str]| {
        let mut properties = json!({ "type": { "const": kind } });
        if let (Some(all), Value::Object(fields)) = (properties.as_object_mut(), fields) {
            all.extend(fields);
        }
        let mut all = vec!["type"];
        all.extend(required);
        json!({ "type": "object", "properties": properties, "required": all })
    };
    let data = json!({ "data": { "type": "string", "contentEncoding": "base64" },
        "mimeType": text("Its media type.") });
    json!({
        "type": "object",
        "properties": {
            "content": {
                "type": "array",
                "description": "The content of the result, block by block.",
                "items": { "anyOf": [
                    block("text", json!({ "text": text("The text.") }), &["text"]),
                    block("image", data.clone(), &["data", "mimeType"]),
                    block("audio", data, &["data", "mimeType"]),
                    block(
                        "resource_link",
                        json!({ "uri": text("Where it is."), "name": text("Its name.") }),
                        &["uri", "name"],
                    ),
                    block("resource", json!({ "resource": {
                        "type": "object",
                        "properties": { "uri": text("Where it is.") },
                        "required": ["uri"],
                    } }), &["resource"]),
                ] },
            },
        },
        "required": ["content"],
        "additionalProperties": false,
    })
}
