//! The routes about the server itself.

use serde_json::json;

use super::operation::{Operation, Paths, json_response, response};

pub(super) fn paths(paths: &mut Paths) {
    let get = |id: &str, summary: &str| Operation::new(id, "Server", summary);
    let health = json!({
        "type": "object",
        "properties": {
            "status": { "type": "string", "const": "ok" },
            "name": { "type": "string", "const": "toolgate" },
            "version": { "type": "string" },
        },
        "required": ["status", "name", "version"],
        "additionalProperties": false,
    });
    paths.add(
        "/healthz",
        "get",
        get("health", "Whether the process is alive")
            .open()
            .response(200, json_response("It is.", health)),
    );
    let ready = json!({
        "type": "object",
        "properties": { "status": { "type": "string", "const": "ready" } },
        "required": ["status"],
        "additionalProperties": false,
    });
    let not_ready = json!({
        "type": "object",
        "properties": {
            "status": { "type": "string", "const": "not_ready" },
            "reasons": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["status", "reasons"],
        "additionalProperties": false,
    });
    paths.add(
        "/readyz",
        "get",
        get("ready", "Whether the server takes calls")
            .open()
            .response(200, json_response("It does.", ready))
            .response(503, json_response("It does not, and why.", not_ready)),
    );
    let text = |kind: &str| json!({ kind: { "schema": { "type": "string" } } });
    paths.add(
        "/metrics",
        "get",
        get("metrics", "Counters for Prometheus")
            .response(200, response("The counters.", text("text/plain"))),
    );
    paths.add(
        "/openapi.json",
        "get",
        get("openapi_json", "This document, in JSON")
            .response(200, json_response("This document.", json!({ "type": "object" }))),
    );
    paths.add(
        "/openapi.yaml",
        "get",
        get("openapi_yaml", "This document, in YAML")
            .response(200, response("This document.", text("application/yaml"))),
    );
    paths.add(
        "/docs",
        "get",
        get("docs", "This document, for people")
            .response(200, response("A page.", text("text/html"))),
    );
}
