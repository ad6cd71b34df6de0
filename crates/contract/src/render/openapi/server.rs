//! The routes about the server itself.

use serde_json::json;

use super::{
    listing::not_modified,
    operation::{Operation, Paths, json_response, response, with_header},
};

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
    let any_object = || json!({ "type": "object" });
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
            .parameter("IfNoneMatch")
            .response(200, with_header(json_response("This document.", any_object()), "ETag"))
            .response(304, not_modified()),
    );
    let yaml =
        response("This document.", json!({ "application/yaml": { "schema": any_object() } }));
    paths.add(
        "/openapi.yaml",
        "get",
        get("openapi_yaml", "This document, in YAML")
            .parameter("IfNoneMatch")
            .response(200, with_header(yaml, "ETag"))
            .response(304, not_modified()),
    );
    paths.add(
        "/docs",
        "get",
        get("docs", "This document, for people")
            .parameter("IfNoneMatch")
            .response(200, with_header(response("A page.", text("text/html")), "ETag"))
            .response(304, not_modified()),
    );
}
