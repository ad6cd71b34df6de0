//! Output schemas for tools that declare none.

use serde_json::{Value, json};

/// The most blocks of a result.
const MAX_BLOCKS: usize = 1_000;
/// The longest URI in a block, in characters.
const MAX_URI_CHARS: usize = 65_536;
/// The longest media type, in characters.
const MAX_MEDIA_TYPE_CHARS: usize = 255;
/// The longest name, title or description of a resource, in characters.
const MAX_LABEL_CHARS: usize = 32_768;

/// For whom a block is, and how much it matters.
fn annotations() -> Value {
    json!({
        "type": "object",
        "properties": {
            "audience": { "type": "array", "items": { "enum": ["user", "assistant"] }, "description": "For whom it is." },
            "priority": { "type": "number", "description": "How much it matters, from 0 to 1." },
            "lastModified": { "type": "string", "maxLength": MAX_MEDIA_TYPE_CHARS, "description": "When it last changed." },
        },
        "additionalProperties": false,
    })
}

/// Blocks of MCP content. Texts and data are bounded by `max_output_bytes`.
pub(super) fn content() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let short = |about: &str, max: usize| json!({ "type": "string", "maxLength": max, "description": about });
    let uri = || short("Where it is.", MAX_URI_CHARS);
    let media_type = || short("Its media type.", MAX_MEDIA_TYPE_CHARS);
    let label = |about: &str| short(about, MAX_LABEL_CHARS);
    let block = |kind: &str, fields: Value, required: &[&str]| {
        let mut properties = json!({ "type": { "const": kind }, "annotations": annotations() });
        if let (Some(all), Value::Object(fields)) = (properties.as_object_mut(), fields) {
            all.extend(fields);
        }
        let mut all = vec!["type"];
        all.extend(required);
        json!({ "type": "object", "properties": properties, "required": all, "additionalProperties": false })
    };
    let base64 = || json!({ "type": "string", "contentEncoding": "base64", "description": "The data, as Base64." });
    let data = || json!({ "data": base64(), "mimeType": media_type() });
    let link = json!({ "uri": uri(), "name": label("Its name."), "title": label("Its title."),
        "description": label("What it is."), "mimeType": media_type(),
        "size": { "type": "integer", "minimum": 0, "description": "Its size, in bytes." } });
    let resource = json!({
        "type": "object",
        "properties": { "uri": uri(), "mimeType": media_type(), "text": text("The text."), "blob": base64() },
        "required": ["uri"],
        "additionalProperties": false,
        "oneOf": [{ "required": ["text"] }, { "required": ["blob"] }],
    });
    json!({
        "type": "object",
        "properties": {
            "content": {
                "type": "array",
                "maxItems": MAX_BLOCKS,
                "description": "The content of the result, block by block.",
                "items": { "anyOf": [
                    block("text", json!({ "text": text("The text.") }), &["text"]),
                    block("image", data(), &["data", "mimeType"]),
                    block("audio", data(), &["data", "mimeType"]),
                    block("resource_link", link, &["uri", "name"]),
                    block("resource", json!({ "resource": resource }), &["resource"]),
                ] },
            },
        },
        "required": ["content"],
        "additionalProperties": false,
    })
}
