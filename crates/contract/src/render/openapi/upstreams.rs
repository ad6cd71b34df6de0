//! The route of upstreams.

use serde_json::{Value, json};

use super::operation::{Operation, Paths, json_response};

pub(super) fn paths(paths: &mut Paths) {
    let all = json!({
        "type": "object",
        "properties": { "upstreams": { "type": "array", "items": upstream() } },
        "required": ["upstreams"],
        "additionalProperties": false,
    });
    paths.add(
        "/v1/upstreams",
        "get",
        Operation::new("list_upstreams", "Upstreams", "How every upstream server is")
            .operator()
            .response(200, json_response("All of them, in the order of their ids.", all))
            .errors(&[401, 403]),
    );
}

fn upstream() -> Value {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let number = |about: &str| json!({ "type": "integer", "minimum": 0, "description": about });
    let rejected = json!({
        "type": "object",
        "properties": {
            "tool": text("The tool's own name."),
            "served_as": text("The name under which it would be served."),
            "reason": text("Why, in a word."),
            "message": text("Why, in a sentence."),
            "fix": text("What to do about it."),
            "changes": { "type": "array", "items": { "type": "object" },
                "description": "What changed since it was pinned." },
        },
        "required": ["tool", "served_as", "reason", "message", "fix"],
        "additionalProperties": false,
    });
    let remark = json!({
        "type": "object",
        "properties": { "tool": text("The tool's own name."), "message": text("What about it.") },
        "required": ["tool", "message"],
        "additionalProperties": false,
    });
    let list = |items: Value, about: &str| json!({ "type": "array", "items": items, "description": about });
    json!({
        "type": "object",
        "properties": {
            "id": text("Its id."),
            "target": text("The program or the address, without secrets."),
            "state": { "enum": ["disabled", "starting", "ready", "idle", "down"] },
            "error": text("Why it is down."),
            "protocol": text("The revision of the protocol."),
            "server": text("Its own name and version."),
            "tools": list(json!({ "type": "string" }), "The names of what may be called."),
            "rejected": list(rejected, "What may not be called, and why."),
            "remarks": list(remark, "What a person should look at."),
            "prompts": number("How many prompts it offers."),
            "resources": number("How many resources and templates it offers."),
            "restarts": number("How often it went away."),
            "breaker_open": { "type": "boolean",
                "description": "Whether it failed so often that nothing is sent for a while." },
            "stderr": text("The end of what it printed for people."),
        },
        "required": ["id", "target", "state", "tools", "rejected", "remarks", "prompts", "resources",
            "restarts", "breaker_open"],
        "additionalProperties": false,
    })
}
