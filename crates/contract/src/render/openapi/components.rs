//! The responses, headers and parameters that the operations share.

use serde_json::{Map, Value, json};

use super::{
    Settings, call,
    operation::{asks_to_retry, json_response, query, response, schema, with_header},
    schemas::tool_name,
};

/// How many entries a page has at most.
const MAX_PAGE: u32 = 200;

pub(super) fn responses(settings: &Settings) -> Map<String, Value> {
    let mut responses = Map::new();
    let unchanged = response("What the caller has is current.", json!({}));
    responses.insert("NotModified".into(), with_header(unchanged, "ETag"));
    let too_large = format!("The body is larger than {} bytes.", settings.max_body_bytes);
    for (status, description) in [
        (400, "The request is not understood."),
        (401, "The server wants a bearer token."),
        (
            403,
            "The server does not answer to this `Host`, or not to pages of this `Origin`, or only \
             to the operator.",
        ),
        (404, "There is no such thing."),
        (405, "The path is there, but not for this method."),
        (409, "The request contradicts what is already there."),
        (413, too_large.as_str()),
        (416, "The asked range lies outside the artifact."),
        (429, "As many calls as the server runs at once are running."),
        (503, "The server cannot do that now."),
    ] {
        let response = with_own_header(status, json_response(description, schema("Error")));
        responses.insert(format!("Error{status}"), response);
    }
    responses.insert("Released".into(), call::released());
    for (status, codes) in call::errors(&[], settings.bearer) {
        let response = call::error_response(status, &codes);
        responses.insert(format!("CallError{status}"), response);
    }
    let result = json_response("What came of the call.", schema("ToolResult"));
    let result = with_header(result, "Idempotency-Replayed");
    responses.insert("ToolResultLater".into(), with_header(result.clone(), "Retry-After"));
    responses.insert("ToolResult".into(), result);
    responses
}

/// The response with the header that belongs to its status.
fn with_own_header(status: u16, response: Value) -> Value {
    match status {
        401 => with_header(response, "WWW-Authenticate"),
        405 => with_header(response, "Allow"),
        416 => with_header(response, "Content-Range"),
        _ if asks_to_retry(status) => with_header(response, "Retry-After"),
        _ => response,
    }
}

pub(super) fn headers() -> Value {
    let text =
        |description: &str| json!({ "description": description, "schema": { "type": "string" } });
    json!({
        "X-Request-Id": {
            "description": "The id of the request, for the logs: the caller's or a new one.",
            "required": true,
            "schema": { "type": "string" },
        },
        "ETag": text("The version of what was sent."),
        "Allow": text("The methods that the path has."),
        "Content-Range": text("Which part of the file was sent."),
        "Idempotency-Replayed": text("`true` where an earlier call with this key is answered again."),
        "Retry-After": {
            "description": "After how many seconds to try again.",
            "schema": { "type": "integer", "minimum": 0 },
        },
        "WWW-Authenticate": text("How to show who is calling."),
    })
}

pub(super) fn parameters() -> Value {
    let given = |place: &str, name: &str, description: &str, schema: Value| {
        let mut parameter = json!({ "name": name, "in": place, "description": description });
        if place == "path" {
            parameter["required"] = json!(true);
        }
        parameter["schema"] = schema;
        parameter
    };
    let text = || json!({ "type": "string" });
    json!({
        "RequestId": given(
            "header",
            "X-Request-Id",
            "The caller's own id for the request: 1 to 128 visible ASCII characters. Any other is \
             replaced by a new one.",
            text(),
        ),
        "IdempotencyKey": given(
            "header",
            "Idempotency-Key",
            "A call that is sent again under the same key is not run again.",
            json!({ "type": "string", "maxLength": 255, "pattern": "^[!-~]{1,255}$" }),
        ),
        "IfNoneMatch": given("header", "If-None-Match", "The `ETag` of what the caller has.", text()),
        "Range": given("header", "Range", "The part of the file that is wanted.", text()),
        "LastEventId": given(
            "header",
            "Last-Event-ID",
            "The `id` of the last event that the caller has seen.",
            text(),
        ),
        "Tool": given("path", "tool", "The name of the tool or toolset.", tool_name("A name.")),
        "JobId": given("path", "id", "The id of the job.", schema("JobId")),
        "ArtifactName": given("path", "name", "The name of the file.", text()),
        "ApprovalId": given("path", "id", "The id of the approval.", schema("ApprovalId")),
        "QuarantineId": given("path", "id", "The id of the entry.", schema("QuarantineId")),
        "Limit": query(
            "limit",
            "How many entries the page has at most.",
            json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 50 }),
        ),
    })
}
