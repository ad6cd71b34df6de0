//! The schemas that the operations share.

use serde_json::{Map, Value, json};

use super::{approvals, ask, operation::schema, quarantine};
use crate::{Limits, Stability, codes};

/// The longest that `POST /v1/jobs` waits for a job.
const MAX_WAIT_MS: u32 = 120_000;
/// The letters of a ULID (Crockford's base 32).
const ULID: &str = "[0-9A-HJKMNP-TV-Z]{26}";

/// All of them by name. A request may ask for limits up to these ceilings.
pub(super) fn all(ceilings: &Limits) -> Map<String, Value> {
    let all = [
        ("Error", error()),
        ("Descriptor", descriptor()),
        ("Limits", limits(None)),
        ("RequestLimits", limits(Some(ceilings))),
        ("Artifact", artifact()),
        ("ToolResult", tool_result()),
        ("ExecuteRequest", execute_request()),
        ("JobId", json!({ "type": "string", "pattern": format!("^job_{ULID}$") })),
        ("QuarantineId", json!({ "type": "string", "pattern": format!("^q_{ULID}$") })),
        ("JobStatus", job_status()),
        ("JobRequest", job_request()),
        ("Job", job()),
        ("JobEvent", job_event()),
        ("Violation", violation()),
        ("ApprovalId", json!({ "type": "string", "pattern": format!("^apr_{ULID}$") })),
        ("ApprovalStatus", approvals::status()),
        ("Approval", approvals::approval()),
        ("ApprovalStanding", approvals::standing()),
        ("QuarantineStatus", quarantine::status()),
        ("QuarantineEntry", quarantine::entry(false)),
        ("QuarantinedResult", quarantine::entry(true)),
        ("AskAnswer", ask::answer()),
        ("AskPlan", ask::plan()),
        ("AskSummary", ask::summary()),
        ("AskTrace", ask::trace()),
    ];
    all.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect()
}

/// An object with these properties alone.
pub(super) fn closed(description: &str, required: &[&str], properties: Value) -> Value {
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
pub(super) fn whole(description: &str, properties: Value) -> Value {
    let names: Vec<String> =
        properties.as_object().map(|all| all.keys().cloned().collect()).unwrap_or_default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    closed(description, &names, properties)
}

pub(super) fn text(description: &str) -> Value {
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
    let error = closed(
        "",
        &["code", "http_status", "description"],
        json!({
            "code": text("What programs branch on."),
            "http_status": { "type": "integer", "minimum": 400, "maximum": 599 },
            "replaces": {
                "type": "string",
                "enum": [codes::INVALID_INPUT.code],
                "description": "The standard error that callers of this tool get this one for.",
            },
            "argument": text("The argument that has to be wrong for that; any where this is left out."),
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
            "large_output": {
                "type": "string",
                "enum": ["artifact"],
                "description": "A result that is too large becomes an artifact, and what points to it is handed over.",
            },
            "errors": { "type": "array", "items": error },
            "limits": schema("Limits"),
            "sha256": {
                "type": "string",
                "description": "Changes exactly when the contract does.",
                "pattern": "^[0-9a-f]{64}$",
            },
            "mode": {
                "type": "string",
                "enum": ["warn", "off"],
                "description": "The tool is not held to its contract: what breaks it passes.",
            },
        }),
    )
}

/// Any subset of the limits: of a contract, which may set what it likes, or of a request,
/// which the server bounds.
fn limits(ceilings: Option<&Limits>) -> Value {
    // The model's own words, so that they are written once.
    let model = schemars::schema_for!(Limits).to_value();
    let most: Vec<_> = ceilings.map(Limits::entries).unwrap_or_default();
    let mut properties = Map::new();
    for (index, (name, default, least)) in Limits::default().entries().into_iter().enumerate() {
        let words = model["properties"][name]["description"].as_str().unwrap_or_default();
        let description =
            format!("{words} {default} unless the server or the tool says otherwise.");
        let mut schema = json!({ "type": "integer", "minimum": least });
        if let Some((_, ceiling, _)) = most.get(index) {
            schema["maximum"] = json!(ceiling);
        }
        schema["description"] = json!(description.trim());
        properties.insert(name.to_owned(), schema);
    }
    closed("Any subset of the limits of a call.", &[], Value::Object(properties))
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
            "metrics": {
                "type": "object",
                "description": "Measurements; the error code of a failure. `spilled`: the result is an artifact. `released`: it broke its contract, and a person released it.",
            },
            "output": { "description": "The result, which matches the tool's output schema unless `metrics.released` says otherwise." },
        }),
    )
}

/// A name that a tool can have; one that none has is answered with 404.
pub(super) fn tool_name(description: &str) -> Value {
    json!({ "type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$", "description": description })
}

fn execute_properties() -> Value {
    let context = closed(
        "",
        &[],
        json!({ "limits": schema("RequestLimits"), "approval_id": approvals::given() }),
    );
    json!({
        "tool": tool_name("The name of the tool."),
        "input": { "type": "object", "description": "The arguments, as the tool's input schema says." },
        "context": context,
    })
}

fn execute_request() -> Value {
    closed("A call of any tool.", &["tool"], execute_properties())
}

fn job_request() -> Value {
    let mut properties = execute_properties();
    properties["tool_name"] = tool_name("Another word for `tool`.");
    properties["limits"] = schema("RequestLimits");
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
            "queued", "running", "waiting_approval", "waiting_input", "succeeded", "failed", "cancelled",
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
            "approval_id": { "anyOf": [schema("ApprovalId"), { "type": "null" }] },
            "released": { "anyOf": [released(), { "type": "null" }] },
        }),
    )
}

fn released() -> Value {
    whole(
        "What a person has released of an answer that broke its contract.",
        json!({
            "quarantine_id": schema("QuarantineId"),
            "released_at": { "type": "string", "format": "date-time" },
            "payload": { "description": "What the tool answered, unchecked." },
        }),
    )
}

/// One event of the stream, as the fields that its lines make.
fn job_event() -> Value {
    let data = closed(
        "",
        &["job_id"],
        json!({
            "job_id": schema("JobId"),
            "status": schema("JobStatus"),
            "message": text("What the tool says of its progress."),
            "progress": { "type": "number", "minimum": 0, "maximum": 1 },
        }),
    );
    whole(
        "One event.",
        json!({
            "id": text("Its number within the job."),
            "event": { "type": "string", "enum": ["state", "progress"] },
            "data": {
                "type": "string", "contentMediaType": "application/json", "contentSchema": data,
            },
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
