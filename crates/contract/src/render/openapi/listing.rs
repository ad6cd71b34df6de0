//! The routes that list the tools.

use serde_json::{Value, json};

use super::operation::{Operation, Paths, json_response, schema, with_header};
use crate::Stability;

pub(super) fn paths(paths: &mut Paths) {
    let descriptors = json!({
        "type": "object",
        "properties": { "tools": { "type": "array", "items": schema("Descriptor") } },
        "required": ["tools"],
        "additionalProperties": false,
    });
    let list = Operation::new("list_tools", "Tools", "The tools that can be called")
        .description("Sorted by name. What is listed is exactly what is callable.")
        .query(
            "stability",
            "Only tools of this stability. Spaces around the word and its case do not matter.",
            json!({ "type": "string", "enum": Stability::ALL.map(Stability::word) }),
        )
        .query(
            "tags",
            "Only tools with at least one of these tags, separated by commas.",
            json!({ "type": "string" }),
        )
        .query("toolset", "Only tools of this toolset.", json!({ "type": "string" }))
        .parameter("IfNoneMatch")
        .response(200, with_header(json_response("The tools.", descriptors), "ETag"))
        .response(304, not_modified())
        .errors(&[400]);
    paths.add("/v1/tools", "get", list);
    let describe = describe("describe_tool", "Tools", "The contract of one tool");
    // The path is a toolset's too, which can be called and not shown.
    paths.add("/v1/tools/{tool}", "get", describe.parameter("Tool").errors(&[405]));
}

/// The operation that shows one tool's contract.
pub(super) fn describe(identifier: &str, tag: &str, summary: &str) -> Operation {
    let shown = json_response("What the tool promises.", schema("Descriptor"));
    Operation::new(identifier, tag, summary)
        .parameter("IfNoneMatch")
        .response(200, with_header(shown, "ETag"))
        .response(304, not_modified())
        .errors(&[404])
}

/// What a caller gets who has the current version already.
pub(super) fn not_modified() -> Value {
    json!({ "$ref": "#/components/responses/NotModified" })
}
