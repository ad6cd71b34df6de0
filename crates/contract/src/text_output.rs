//! The result of a tool whose output is a text: `{ "text": … }`.

use serde_json::{Value, json};

/// The output schema where nobody wrote another.
pub fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "The text of the result." } },
        "required": ["text"],
        "additionalProperties": false,
    })
}

/// True if a result with a text alone can match the schema: it has a string `text`, and needs nothing else.
pub fn fits(schema: &Value) -> bool {
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    schema["properties"]["text"]["type"] == "string" && required == ["text"]
}
