//! The route that calls any tool and always answers with a `ToolResult`.

use serde_json::json;

use super::{
    call,
    operation::{Operation, Paths, asks_to_retry, schema},
};
use crate::Contract;

pub(super) fn paths(paths: &mut Paths, contracts: &[&Contract]) {
    let mut operation = Operation::new("execute", "Tools", "Calls any tool")
        .description("Every answer is a `ToolResult`, whatever its status.")
        .parameter("IdempotencyKey")
        .body(schema("ExecuteRequest"), call::requests(contracts))
        .response(200, json!({ "$ref": "#/components/responses/ToolResult" }))
        .response(
            203,
            json!({
                "$ref": "#/components/responses/ToolResult",
                "description": call::RELEASED,
            }),
        );
    for (status, codes) in call::errors(contracts, paths.bearer()) {
        let codes: Vec<_> = codes.iter().map(|(code, _)| format!("`{code}`")).collect();
        let shape = if asks_to_retry(status) { "ToolResultLater" } else { "ToolResult" };
        let failed = json!({
            "$ref": format!("#/components/responses/{shape}"),
            "description": format!("The call failed: {}.", codes.join(", ")),
        });
        operation = operation.response(status, failed);
    }
    paths.add("/v1/tools/execute", "post", operation);
}
