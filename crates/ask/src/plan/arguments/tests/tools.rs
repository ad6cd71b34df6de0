//! The tools that the cases call.

use serde_json::{Value, json};

/// The input schema of a tool.
pub(super) fn schema(tool: &str) -> Value {
    let text = json!({ "type": "string" });
    let number = json!({ "type": "number" });
    let properties = match tool {
        "get" => json!({
            "id": { "type": "string", "description": "The id of a SharePoint document, or 'latest'" }, "section": text }),
        "search" => json!({
            "query": text,
            "top_k": { "type": "integer", "default": 5 },
            "kind": { "enum": ["v1.2", "v1.3"] },
        }),
        "look" => json!({ "what": { "type": "string", "description": "Words to look for" } }),
        "file" => json!({ "path": text, "line": number }),
        "url" => json!({ "url": { "type": "string", "format": "uri" }, "host": text }),
        "mail" => json!({ "to": text, "from": text, "subject": text, "name": text }),
        "port" => json!({
            "port": { "type": "integer" },
            "ports": { "type": "array", "items": { "type": "integer" } },
            "retries": { "type": ["integer", "null"], "default": null },
        }),
        "count" => json!({ "n": number, "share": number }),
        "place" => json!({ "city": text, "lat": number, "lon": number }),
        "date" => {
            json!({ "from": text, "to": text, "year": number, "month": number, "day": number })
        }
        "person" => json!({ "name": text, "assignee": text }),
        "page" => json!({
            "query": text,
            "limit": { "type": "integer", "default": 10, "minimum": 1, "maximum": 50 },
            "page": { "type": "integer", "default": 1 },
            "max_results": { "type": "integer", "default": 20 },
            "timeout_seconds": { "type": "integer", "default": 30 },
        }),
        "list" => json!({
            "status": { "enum": ["open", "closed"] },
            "level": { "anyOf": [{ "const": 7 }, { "const": "x-9" }] },
            "include_deleted": { "type": "boolean", "default": false },
            "unread_only": { "type": "boolean" },
            "dry_run": { "type": "boolean" },
            "verify": { "type": "boolean", "default": true },
            "label": { "type": "string", "default": "" },
        }),
        "stock" => json!({
            "query": text,
            "kind": { "enum": ["laptop", "server", "phone"] },
            "kinds": { "type": "array", "items": { "enum": ["laptop", "server", "phone"] } },
            "state": { "enum": ["open", "in_progress", "closed"], "default": "open" },
            "sort_by": { "enum": ["date", "title"] },
        }),
        "deep" => {
            return json!({
                "$defs": { "filter": {
                    "properties": {
                        "field": { "enum": ["title", "body"] },
                        "value": { "type": "string" },
                        "ids": { "type": "array", "items": { "type": "string" } },
                    },
                } },
                "properties": {
                    "where": { "$ref": "#/$defs/filter" },
                    "tags": { "type": "object", "additionalProperties": { "type": "string" } },
                },
            });
        }
        _ => panic!("no such tool: {tool}"),
    };
    json!({ "type": "object", "properties": properties })
}
