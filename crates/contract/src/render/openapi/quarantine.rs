//! The routes of the quarantine.

use serde_json::{Map, Value, json};

use super::{
    jobs::page,
    operation::{Operation, Paths, json_response, schema, with_link},
    schemas::{text, whole},
};

pub(super) fn paths(paths: &mut Paths) {
    let operation = |id: &str, summary: &str| Operation::new(id, "Quarantine", summary);
    let entries = page("entries", &schema("QuarantineEntry"));
    let entries = json_response("A page of entries, without their payloads.", entries);
    let entries = ["get_quarantine_entry", "release_quarantine_entry"]
        .into_iter()
        .fold(entries, |entries, next| with_link(entries, next, "/entries/0/id"));
    paths.add(
        "/v1/quarantine",
        "get",
        operation("list_quarantine", "The results that broke their contract, page by page")
            .query("status", "Only entries in this state.", schema("QuarantineStatus"))
            .query("tool", "Only answers of this tool.", json!({ "type": "string" }))
            .query("caller", "Only answers to this caller.", json!({ "type": "string" }))
            .parameter("Limit")
            .query("cursor", "The last id of the page before.", schema("QuarantineId"))
            .response(200, entries)
            .errors(&[400, 503]),
    );
    paths.add(
        "/v1/quarantine/{id}",
        "get",
        operation("get_quarantine_entry", "One result that broke its contract")
            .description(
                "The payload is what the tool answered. It was never checked: distrust it.",
            )
            .parameter("QuarantineId")
            .response(200, json_response("The entry.", schema("QuarantinedResult")))
            .errors(&[404, 503]),
    );
    let reason = json!({
        "type": "object",
        "properties": {
            "reason": { "type": ["string", "null"], "maxLength": 500, "description": "Why." },
        },
        "additionalProperties": false,
    });
    let examples = json!({
        "release": { "summary": "Say why", "value": { "reason": "the date is null, and may be" } },
    });
    paths.add(
        "/v1/quarantine/{id}/release",
        "post",
        operation("release_quarantine_entry", "Releases a result to the caller of its call")
            .description(
                "Who makes the same call again, with the same arguments and in time, gets the \
                 result once, marked, and the tool does not run. The job of the call shows it.",
            )
            .operator()
            .parameter("QuarantineId")
            .body(reason, examples.as_object().cloned().unwrap_or_else(Map::new))
            .or_nothing()
            .response(200, json_response("It is released.", schema("QuarantineEntry")))
            .errors(&[400, 404, 409, 413, 503]),
    );
}

pub(super) fn status() -> Value {
    json!({ "type": "string", "enum": ["held", "passed", "released", "delivered", "adopted"] })
}

/// One entry.
pub(super) fn entry(with_payload: bool) -> Value {
    let perhaps =
        |description: &str| json!({ "type": ["string", "null"], "description": description });
    let time = |description: &str| {
        let mut time = perhaps(description);
        time["format"] = json!("date-time");
        time
    };
    let mut properties = json!({
        "id": schema("QuarantineId"),
        "status": schema("QuarantineStatus"),
        "tool": text("The tool that answered."),
        "caller": text("Who called it."),
        "request_id": text("The id of the request."),
        "job_id": { "anyOf": [schema("JobId"), { "type": "null" }] },
        "input_sha256": text("The hash of the arguments."),
        "created_at": { "type": "string", "format": "date-time" },
        "reason": text("Why the result was stopped."),
        "violations": { "type": "array", "items": schema("Violation") },
        "whole": { "type": "boolean", "description": "Whether all of the answer was kept." },
        "decided_at": time("When a person last decided about it."),
        "decided_by": perhaps("Who did."),
        "decision_reason": perhaps("Why, in the person's words."),
        "expires_at": time("Until when the caller can come for it, or could."),
        "delivered_at": time("When the caller got it."),
    });
    if with_payload {
        properties["payload"] = json!({ "description": "What the tool answered, unchecked." });
        return whole("A result that broke its contract, with what it was.", properties);
    }
    whole("A result that broke its contract.", properties)
}
