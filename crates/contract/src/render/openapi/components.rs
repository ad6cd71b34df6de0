//! What the operations share.

use serde_json::{Map, Value, json};

use super::{
    Settings, call,
    operation::{asks_to_retry, json_response, response, schema, with_header},
};
use crate::{Limits, Stability};

/// The longest that `POST /v1/jobs` waits for a job.
const MAX_WAIT_MS: u32 = 120_000;
/// How many entries a page has at most.
const MAX_PAGE: u32 = 200;
/// The letters of a ULID (Crockford's base 32).
const ULID: &str = "[0-9A-HJKMNP-TV-Z]{26}";

pub(super) fn schemas() -> Map<String, Value> {
    let all = [
        ("Error", error()),
        ("Descriptor", descriptor()),
        ("Limits", limits()),
        ("Artifact", artifact()),
        ("ToolResult", tool_result()),
        ("ExecuteRequest", execute_request()),
        ("JobId", json!({ "type": "string", "pattern": format!("^job_{ULID}$") })),
        ("JobStatus", job_status()),
        ("JobRequest", job_request()),
        ("Job", job()),
        ("Violation", violation()),
        ("QuarantineEntry", quarantine_entry(false)),
        ("QuarantinedResult", quarantine_entry(true)),
    ];
    all.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

pub(super) fn responses(settings: &Settings) -> Map<String, Value> {
    let mut responses = Map::new();
    let unchanged = response("What the caller has is current.", json!({}));
    responses.insert("NotModified".into(), with_header(unchanged, "ETag"));
    let too_large = format!("The body is larger than {} bytes.", settings.max_body_bytes);
    for (status, description) in [
        (400, "The request is not understood."),
        (401, "The server wants a bearer token."),
        (404, "There is no such thing."),
        (409, "The request contradicts what is already there."),
        (413, too_large.as_str()),
        (416, "The asked range lies outside the artifact."),
        (429, "As many calls as the server runs at once are running."),
        (503, "The server cannot do that now."),
    ] {
        let response = retrying(status, json_response(description, schema("Error")));
        responses.insert(format!("Error{status}"), response);
    }
    for (status, codes) in call::errors(&[]) {
        let response = call::error_response(status, &codes);
        responses.insert(format!("CallError{status}"), response);
    }
    let result = json_response("What came of the call.", schema("ToolResult"));
    responses.insert("ToolResultLater".into(), with_header(result.clone(), "Retry-After"));
    responses.insert("ToolResult".into(), result);
    responses
}

fn retrying(status: u16, response: Value) -> Value {
    if asks_to_retry(status) { with_header(response, "Retry-After") } else { response }
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
        "Content-Range": text("Which part of the file was sent."),
        "Retry-After": {
            "description": "After how many seconds to try again.",
            "schema": { "type": "integer", "minimum": 0 },
        },
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
            "The caller's own id for the request.",
            json!({ "type": "string", "maxLength": 128, "pattern": "^[!-~]{1,128}$" }),
        ),
        "IdempotencyKey": given(
            "header",
            "Idempotency-Key",
            "A call that is sent again under the same key is not run again.",
            json!({ "type": "string", "maxLength": 255, "pattern": "^[!-~]{1,255}$" }),
        ),
        "IfNoneMatch": given("header", "If-None-Match", "The `ETag` of what the caller has.", text()),
        "Range": given("header", "Range", "The part of the file that is wanted.", text()),
        "Tool": given("path", "tool", "The name of the tool.", text()),
        "JobId": given("path", "id", "The id of the job.", text()),
        "ArtifactName": given("path", "name", "The name of the file.", text()),
        "QuarantineId": given("path", "id", "The id of the entry.", text()),
        "Limit": given(
            "query",
            "limit",
            "How many entries the page has at most.",
            json!({ "type": "integer", "minimum": 1, "maximum": MAX_PAGE, "default": 50 }),
        ),
        "Cursor": given("query", "cursor", "The last id of the page before.", text()),
    })
}

/// An object with these properties alone.
fn closed(description: &str, required: &[&str], properties: Value) -> Value {
    let mut schema = json!({ "type": "object" });
    if !description.is_empty() {
        schema["description"] = json!(description);
    }
    schema["properties"] = properties;
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema["additionalProperties"] = json!(false);
    schema
}

/// An object that has all of these properties and no other.
fn whole(description: &str, properties: Value) -> Value {
    let names: Vec<String> =
        properties.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    closed(description, &names, properties)
}

fn text(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}

fn error() -> Value {
    let inner = closed(
        "",
        &["code", "message"],
        json!({
            "code": text("What programs branch on."),
            "message": text("What went wrong, for a person."),
            "details": { "type": "object" },
        }),
    );
    whole("An error outside a tool call.", json!({ "error": inner }))
}

fn descriptor() -> Value {
    let example = closed(
        "",
        &["title", "input"],
        json!({
            "title": text("What the example shows."),
            "input": { "type": "object" },
            "output": { "description": "The result that these arguments yield." },
            "notes": text("A word to the reader."),
        }),
    );
    let error = whole(
        "",
        json!({
            "code": text("What programs branch on."),
            "http_status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "description": text("When it happens."),
        }),
    );
    closed(
        "What a tool promises.",
        &[
            "name",
            "version",
            "stability",
            "toolset",
            "effects",
            "approval",
            "description",
            "input_schema",
            "output_schema",
            "sha256",
        ],
        json!({
            "name": text("The name by which the tool is called."),
            "title": text("A short name for people."),
            "version": text("The version of the contract."),
            "stability": { "type": "string", "enum": Stability::ALL.map(Stability::word) },
            "tags": { "type": "array", "items": { "type": "string" } },
            "toolset": text("The toolset that the tool is served with."),
            "effects": { "type": "string", "enum": ["none", "read", "append", "write", "control"] },
            "approval": { "type": "string", "enum": ["never", "required"] },
            "examples": { "type": "array", "items": example },
            "description": text("What the tool does."),
            "input_schema": {
                "type": "object", "description": "JSON Schema (2020-12) of the arguments.",
            },
            "output_schema": {
                "type": "object", "description": "JSON Schema (2020-12) of the result.",
            },
            "errors": { "type": "array", "items": error },
            "limits": schema("Limits"),
            "sha256": {
                "type": "string",
                "description": "Changes exactly when the contract does.",
                "pattern": "^[0-9a-f]{64}$",
            },
        }),
    )
}

fn limits() -> Value {
    // The model's own words, so that they are written once.
    let model = schemars::schema_for!(Limits).to_value();
    let entries = Limits::default().entries();
    let properties: Map<String, Value> = entries
        .into_iter()
        .map(|(name, default, least)| {
            let words = model["properties"][name]["description"].as_str().unwrap_or_default();
            let description =
                format!("{words} {default} unless the server or the tool says otherwise.");
            let schema = json!({
                "type": "integer", "minimum": least, "description": description.trim(),
            });
            (name.to_owned(), schema)
        })
        .collect();
    closed(
        "Any subset of the limits of a call. A number above the server's ceiling for it is refused.",
        &[],
        Value::Object(properties),
    )
}

fn artifact() -> Value {
    whole(
        "A file that a call left.",
        json!({
            "name": text("Its name, within the job."),
            "path": text("Where it is found."),
            "mime_type": text("Its media type."),
            "bytes": { "type": "integer", "minimum": 0, "description": "Its size." },
        }),
    )
}

fn artifacts() -> Value {
    json!({ "type": "array", "items": schema("Artifact") })
}

fn tool_result() -> Value {
    whole(
        "What came of a call.",
        json!({
            "status": { "type": "string", "enum": ["ok", "error"] },
            "solver": text("The tool that was called."),
            "summary": text("One line on what happened."),
            "stdout": text("What the tool printed."),
            "stderr": text("What the tool printed as errors."),
            "exit_code": { "type": "integer", "description": "The exit code of the tool." },
            "artifacts": artifacts(),
            "metrics": { "type": "object", "description": "Measurements; the error code of a failure." },
            "output": { "description": "The result, which matches the tool's output schema." },
        }),
    )
}

fn execute_properties() -> Value {
    let context = closed("", &[], json!({ "limits": schema("Limits") }));
    json!({
        "tool": { "type": "string", "minLength": 1, "description": "The name of the tool." },
        "input": { "type": "object", "description": "The arguments, as the tool's input schema says." },
        "context": context,
    })
}

fn execute_request() -> Value {
    closed("A call of any tool.", &["tool"], execute_properties())
}

fn job_request() -> Value {
    let mut properties = execute_properties();
    properties["tool_name"] =
        json!({ "type": "string", "minLength": 1, "description": "Another word for `tool`." });
    properties["limits"] = schema("Limits");
    properties["mode"] = json!({ "type": "string", "enum": ["async", "sync"], "default": "async" });
    properties["wait_ms"] = json!({
        "type": "integer",
        "minimum": 1,
        "maximum": MAX_WAIT_MS,
        "default": 5_000,
        "description": "How long a `sync` request waits.",
    });
    let mut request = closed(
        "A call of any tool as a job. `tool_name` is another word for `tool`, and `limits` for \
         `context.limits`.",
        &[],
        properties,
    );
    request["oneOf"] = json!([{ "required": ["tool"] }, { "required": ["tool_name"] }]);
    request
}

fn job_status() -> Value {
    json!({
        "type": "string",
        "enum": [
            "queued", "running", "waiting_approval", "succeeded", "failed", "cancelled",
            "interrupted",
        ],
    })
}

fn job() -> Value {
    let time = || json!({ "type": "string", "format": "date-time" });
    let perhaps_time = || json!({ "type": ["string", "null"], "format": "date-time" });
    let perhaps_text = || json!({ "type": ["string", "null"] });
    whole(
        "One recorded call.",
        json!({
            "id": schema("JobId"),
            "tool": text("The tool that was called."),
            "status": schema("JobStatus"),
            "caller": text("Who called it."),
            "request_id": text("The id of the request that made the job."),
            "created_at": time(),
            "started_at": perhaps_time(),
            "finished_at": perhaps_time(),
            "error_code": perhaps_text(),
            "summary": perhaps_text(),
            "input": { "description": "The arguments, as far as they are kept." },
            "artifacts": artifacts(),
            "result": { "anyOf": [schema("ToolResult"), { "type": "null" }] },
        }),
    )
}

fn violation() -> Value {
    whole(
        "Where a value breaks a schema.",
        json!({
            "pointer": text("JSON pointer into the value; empty for the whole."),
            "keyword": text("The schema keyword that refuses."),
            "message": text("What was expected."),
        }),
    )
}

fn quarantine_entry(with_payload: bool) -> Value {
    let mut properties = json!({
        "id": { "type": "string", "pattern": format!("^q_{ULID}$") },
        "tool": text("The tool that answered."),
        "request_id": text("The id of the request."),
        "job_id": { "anyOf": [schema("JobId"), { "type": "null" }] },
        "created_at": { "type": "string", "format": "date-time" },
        "reason": text("Why the result was stopped."),
        "violations": { "type": "array", "items": schema("Violation") },
    });
    if with_payload {
        properties["payload"] = json!({ "description": "What the tool answered, unchecked." });
        return whole("A result that broke its contract, with what it was.", properties);
    }
    whole("A result that broke its contract.", properties)
}
