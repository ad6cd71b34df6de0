//! The routes of jobs and their artifacts.

use serde_json::{Value, json};

use super::{
    call,
    listing::not_modified,
    operation::{Operation, Paths, json_response, response, schema, with_header, with_link},
};
use crate::Contract;

pub(super) fn paths(paths: &mut Paths, contracts: &[&Contract]) {
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
    let accepted = |description: &str| {
        let response = json_response(description, started.clone());
        ["get_job", "cancel_job", "job_events", "list_artifacts"]
            .into_iter()
            .fold(response, |response, next| with_link(response, next, "/job_id"))
    };
    let mut asked = call::requests(contracts);
    // One of them shows how to wait.
    if let Some(first) = asked.values_mut().next() {
        first["value"]["mode"] = json!("sync");
    }
    paths.add(
        "/v1/jobs",
        "post",
        operation("create_job", "Calls a tool as a job")
            .description(
                "With `mode: async` the answer comes at once; with `mode: sync` when the job has \
                 ended, but after `wait_ms` at the latest.",
            )
            .parameter("IdempotencyKey")
            .body(schema("JobRequest"), asked)
            .response(200, accepted("The job has ended."))
            .response(202, accepted("The job is under way."))
            .errors(&[400, 404, 409, 413, 429, 503]),
    );
    let page = page("jobs", &schema("Job"));
    paths.add(
        "/v1/jobs",
        "get",
        operation("list_jobs", "The jobs, page by page")
            .query("status", "Only jobs in this state.", schema("JobStatus"))
            .query("tool", "Only jobs of this tool.", json!({ "type": "string" }))
            .parameter("Limit")
            .query("cursor", "The last id of the page before.", schema("JobId"))
            .response(
                200,
                with_link(json_response("A page of jobs.", page), "get_job", "/jobs/0/id"),
            )
            .errors(&[400, 503]),
    );
    paths.add(
        "/v1/jobs/{id}",
        "get",
        operation("get_job", "One job")
            .parameter("JobId")
            .response(200, json_response("The job.", schema("Job")))
            .errors(&[404, 503]),
    );
    paths.add(
        "/v1/jobs/{id}",
        "delete",
        operation("cancel_job", "Stops a job")
            .parameter("JobId")
            .response(200, json_response("The job is cancelled.", schema("Job")))
            .response(202, json_response("The job is still stopping.", schema("Job")))
            .errors(&[404, 409, 503]),
    );
    let events = json!({ "text/event-stream": { "schema": schema("JobEvent") } });
    paths.add(
        "/v1/jobs/{id}/events",
        "get",
        operation("job_events", "What happens to a job, as it happens")
            .parameter("JobId")
            .parameter("LastEventId")
            .response(200, response("Server-sent events, each as the schema says.", events))
            .response(204, response("The job is over, and the client has seen it.", json!({})))
            .errors(&[404, 503]),
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
            .errors(&[404, 503]),
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
            .errors(&[404, 416, 503]),
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
