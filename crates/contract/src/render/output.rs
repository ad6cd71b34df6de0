//! The schema of what a caller gets, which is the tool's own where every result is handed over as
//! it is.

use std::borrow::Cow;

use serde_json::{Value, json};

use crate::{Contract, LargeOutput, references::relocate};

/// The schema of what a caller gets: the result, or where the contract says so what points to one
/// that was too large. `home` is where the schema stands (`#` for a document of its own).
pub fn served<'a>(contract: &'a Contract, home: &str) -> Cow<'a, Value> {
    let own = &contract.output_schema;
    if contract.large_output == LargeOutput::Refuse {
        return match home {
            "#" => Cow::Borrowed(own),
            _ => Cow::Owned(relocate(own, home)),
        };
    }
    let mut either = json!({
        "anyOf": [relocate(own, &format!("{home}/anyOf/0")), pointer()],
    });
    // At first sight, for clients that look no further.
    if super::mcp::is_object(contract) {
        either["type"] = json!("object");
    }
    if let Some(description) = own.get("description") {
        either["description"] = description.clone();
    }
    Cow::Owned(either)
}

/// A note about large results for readers of the contract, in Markdown.
pub const LARGE: &str = "A result larger than `max_output_bytes` becomes an artifact, and \
    `{ \"artifact\": { \"name\", \"path\", \"mime_type\", \"bytes\" } }` stands in its place.";

/// The schema of the pointer that replaces a result which is too large.
pub fn pointer() -> Value {
    let text = |description: &str| json!({ "type": "string", "description": description });
    json!({
        "type": "object",
        "description": "In place of a result larger than `max_output_bytes`: the artifact that holds it.",
        "properties": {
            "artifact": {
                "type": "object",
                "description": "The file with the result, as JSON.",
                "properties": {
                    "name": text("Its name, within the job."),
                    "path": text("Where it is found."),
                    "mime_type": text("Its media type."),
                    "bytes": { "type": "integer", "minimum": 0, "description": "Its size." },
                },
                "required": ["name", "path", "mime_type", "bytes"],
                "additionalProperties": false,
            },
        },
        "required": ["artifact"],
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        Schema,
        render::{fixtures, mcp},
    };

    #[test]
    fn a_result_or_what_points_to_it() {
        let mut contract = fixtures::named("clock");
        contract.output_schema = json!({
            "type": "object", "description": "A list.",
            "properties": { "next": { "$ref": "#" }, "name": { "$ref": "#/$defs/name" } },
            "$defs": { "name": { "type": "string" } },
            "additionalProperties": false,
        });
        assert_eq!(*served(&contract, "#"), contract.output_schema);
        contract.large_output = LargeOutput::Artifact;
        let pointer = json!({ "artifact": {
            "name": "output.json", "path": "/v1/jobs/j/artifacts/output.json",
            "mime_type": "application/json", "bytes": 9_000_000,
        } });
        let own = json!({ "name": "a", "next": { "name": "b" } });
        let listed = served(&contract, "#");
        assert_eq!(
            (&listed["type"], &listed["description"]),
            (&json!("object"), &json!("A list."))
        );
        let listed = Schema::compile(&listed).unwrap();
        assert!(listed.is_valid(&pointer) && listed.is_valid(&own));
        for wrong in [json!({ "next": { "name": 1 } }), json!({ "artifact": {} }), json!([])] {
            assert!(!listed.is_valid(&wrong), "{wrong}");
        }
        // A result that is no object is wrapped for older clients, and so is its pointer.
        contract.output_schema = json!({ "type": "array", "items": { "$ref": "#/$defs/a" }, "$defs": { "a": { "type": "integer" } } });
        for (form, wrap) in [(mcp::OutputForm::Object, true), (mcp::OutputForm::Any, false)] {
            let schema = mcp::tool(&contract, form)["outputSchema"].clone();
            assert_eq!(schema["type"] == "object", wrap, "{schema}");
            let schema = Schema::compile(&schema).unwrap();
            for (value, fits) in
                [(json!([1]), true), (pointer.clone(), true), (json!(["a"]), false)]
            {
                let value = if wrap { json!({ "result": value }) } else { value };
                assert_eq!(schema.is_valid(&value), fits, "{value}");
            }
        }
    }
}
