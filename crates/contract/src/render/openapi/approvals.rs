//! The routes of approvals.

use serde_json::{Map, Value, json};

use super::{
    jobs::page,
    operation::{Operation, Paths, json_response, schema, with_link},
    schemas::{text, whole},
};

pub(super) fn paths(paths: &mut Paths) {
    let operation = |id: &str, summary: &str| Operation::new(id, "Approvals", summary);
    let all = json_response("A page of approvals.", page("approvals", &schema("Approval")));
    paths.add(
        "/v1/approvals",
        "get",
        operation("list_approvals", "Calls that wait for a person's word, and those that had it")
            .operator()
            .query("status", "Only approvals in this state.", schema("ApprovalStatus"))
            .parameter("Limit")
            .query("cursor", "The last id of the page before.", schema("ApprovalId"))
            .response(200, linked(all, "/approvals/0/id"))
            .errors(&[400, 503]),
    );
    paths.add(
        "/v1/approvals/{id}",
        "get",
        operation("get_approval", "One approval")
            .description(
                "The operator sees all of it; the caller who asked for it sees how it stands; to \
                 anybody else it is not there.",
            )
            .parameter("ApprovalId")
            .response(200, {
                let seen = json!({ "anyOf": [schema("Approval"), schema("ApprovalStanding")] });
                json_response("The approval.", seen)
            })
            .errors(&[404, 503]),
    );
    let decision = json!({
        "type": "object",
        "properties": {
            "decision": { "type": "string", "enum": ["approve", "refuse"] },
            "reason": {
                "type": ["string", "null"],
                "maxLength": 500,
                "description": "Why; the caller reads it.",
            },
        },
        "required": ["decision"],
        "additionalProperties": false,
    });
    let examples = json!({
        "approve": { "summary": "Let it run, once", "value": { "decision": "approve" } },
        "refuse": {
            "summary": "Refuse it",
            "value": { "decision": "refuse", "reason": "not on a Friday" },
        },
    });
    let examples = examples.as_object().cloned().unwrap_or_else(Map::new);
    paths.add(
        "/v1/approvals/{id}",
        "post",
        operation("decide_approval", "Approves or refuses a call that waits")
            .operator()
            .parameter("ApprovalId")
            .body(decision, examples)
            .response(200, json_response("It is decided.", schema("Approval")))
            .errors(&[400, 404, 409, 413, 503]),
    );
}

/// The answer to a call that a person must agree to first. It names the approval that now waits.
pub(super) fn asked(response: Value) -> Value {
    linked(response, "/details/approval_id")
}

/// The response with pointers to what can be done with the approval that it names there.
fn linked(response: Value, pointer: &str) -> Value {
    ["get_approval", "decide_approval"]
        .into_iter()
        .fold(response, |response, next| with_link(response, next, pointer))
}

/// The approval that a caller has for its call.
pub(super) fn given() -> Value {
    json!({
        "anyOf": [schema("ApprovalId"), { "type": "null" }],
        "description": "The approval that a person gave for this very call.",
    })
}

pub(super) fn status() -> Value {
    json!({
        "type": "string",
        "enum": ["waiting", "approved", "refused", "used", "expired", "cancelled"],
    })
}

/// What the operator sees.
pub(super) fn approval() -> Value {
    let mut properties = seen_by_caller();
    for (name, value) in [
        ("caller", text("Who wants to call it.")),
        ("door", text("By which door.")),
        ("request_id", text("The id of the request that asked.")),
        (
            "input",
            json!({
                "description": "The arguments without their secrets; null in a list, where they are large.",
            }),
        ),
        (
            "preview",
            perhaps(
                "What the call would do, as the tool shows it; null in a list, where it is large.",
            ),
        ),
        ("decided_by", perhaps("Who decided.")),
    ] {
        properties[name] = value;
    }
    whole("A request for a person's word, and the word.", properties)
}

/// What the caller who asked for it sees.
pub(super) fn standing() -> Value {
    whole("How a request for a person's word stands.", seen_by_caller())
}

fn seen_by_caller() -> Value {
    let time = |description: &str| json!({ "type": "string", "format": "date-time", "description": description });
    let mut decided = perhaps("When it was decided.");
    decided["format"] = json!("date-time");
    json!({
        "id": schema("ApprovalId"),
        "status": schema("ApprovalStatus"),
        "tool": text("The tool that would be called."),
        "job_id": { "anyOf": [schema("JobId"), { "type": "null" }] },
        "input_sha256": text("The hash of the arguments that it is for."),
        "created_at": time("When it was asked for."),
        "expires_at": time("Until when it waits, or until when the decision is good."),
        "decided_at": decided,
        "reason": perhaps("Why, in the person's words."),
    })
}

fn perhaps(description: &str) -> Value {
    json!({ "type": ["string", "null"], "description": description })
}
