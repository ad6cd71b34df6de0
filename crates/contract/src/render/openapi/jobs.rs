//! The routes of jobs and their artifacts.

use serde_json::{Map, Value, json};

use super::{
    listing::not_modified,
    operation::{Operation, Paths, json_response, response, schema, with_header},
};

pub(super) fn paths(paths: &mut Paths) {
    let operation = |id: &str, summary: &str| Operation::new(id, "Jobs", summary);
    let started = json!({
        "type": "object",
        "properties": {
            "job_id": schema("JobId"),
            "status": schema("JobStatus"),
            "job": schema("Job"),
        },
        "required": ["job_id", "status"],
        "additionalProperties": false,
    });
    paths.add(
        "/v1/jobs",
        "post",
        operation("create_job", "Calls a tool as a job")
            .description(
                "With `mode: async` the answer comes at once; with `mode: sync` when the job has \
                 ended, but after `wait_ms` at the latest.",
            )
            .parameter("IdempotencyKey")
            .body(schema("JobRequest"), Map::new())
            .response(200, json_response("The job has ended.", started.clone()))
            .response(202, json_response("The job is under way.", started))
            .errors(&[400, 401, 404, 409, 413, 429, 503]),
    );
    let page = page("jobs", &schema("Job"));
    paths.add(
        "/v1/jobs",
        "get",
        operation("list_jobs", "The jobs, page by page")
            .query("status", "Only jobs in this state.", schema("JobStatus"))
            .query("tool", "Only jobs of this tool.", json!({ "type": "string" }))
            .parameter("Limit")
            .parameter("Cursor")
            .response(200, json_response("A page of jobs.", page))
            .errors(&[400]),
    );
    paths.add(
        "/v1/jobs/{id}",
        "get",
        operation("get_job", "One job")
            .parameter("JobId")
            .response(200, json_response("The job.", schema("Job")))
            .errors(&[404]),
    );
    paths.add(
        "/v1/jobs/{id}",
        "delete",
        operation("cancel_job", "Stops a job")
            .parameter("JobId")
            .response(200, json_response("The job is cancelled.", schema("Job")))
            .response(202, json_response("The job is still stopping.", schema("Job")))
            .errors(&[404, 409]),
    );
    let events = json!({ "text/event-stream": { "schema": { "type": "string" } } });
    paths.add(
        "/v1/jobs/{id}/events",
        "get",
        operation("job_events", "What happens to a job, as it happens")
            .parameter("JobId")
            .response(200, response("Server-sent events.", events))
            .errors(&[404]),
    );
    artifacts(paths);
}

fn artifacts(paths: &mut Paths) {
    let files = json!({
        "type": "object",
        "properties": {
            "job_id": schema("JobId"),
            "files": { "type": "array", "items": schema("Artifact") },
        },
        "required": ["job_id", "files"],
        "additionalProperties": false,
    });
    paths.add(
        "/v1/jobs/{id}/artifacts",
        "get",
        Operation::new("list_artifacts", "Jobs", "The files that a job left")
            .parameter("JobId")
            .response(200, json_response("The files.", files))
            .errors(&[404]),
    );
    // No schema: the bytes are of whatever type the tool says they are.
    let bytes = || json!({ "*/*": {} });
    let whole = with_header(response("The file.", bytes()), "ETag");
    let part = with_header(response("The asked part of the file.", bytes()), "ETag");
    paths.add(
        "/v1/jobs/{id}/artifacts/{name}",
        "get",
        Operation::new("get_artifact", "Jobs", "One file that a job left")
            .parameter("JobId")
            .parameter("ArtifactName")
            .parameter("Range")
            .parameter("IfNoneMatch")
            .response(200, whole)
            .response(206, with_header(part, "Content-Range"))
            .response(304, not_modified())
            .errors(&[404, 416]),
    );
}

/// One page of a listing.
pub(super) fn page(name: &str, item: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            name: { "type": "array", "items": item },
            "next_cursor": {
                "type": ["string", "null"],
                "description": "The `cursor` of the next page; null on the last one.",
            },
        },
        "required": [name, "next_cursor"],
        "additionalProperties": false,
    })
}
