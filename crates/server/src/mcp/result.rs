//! An outcome as the result of `tools/call`.

use contract::{Contract, Presentation, render::mcp::is_object};
use gate::{Failure, Outcome, OutputJson};
use mcp::{
    json_text::{append, append_field, append_string},
    params::SERVER_INFO,
};
use serde::Deserialize;
use serde_json::{json, value::RawValue};

use super::{context::McpContext, resources};

/// Where a result says which request and which job it belongs to, and how it failed.
const REQUEST_ID: &str = "toolgate/request_id";
const JOB_ID: &str = "toolgate/job_id";
const ERROR: &str = "toolgate/error";
/// What is out of the ordinary about a result.
const SPILLED: &str = "toolgate/spilled";
const RELEASED: &str = "toolgate/released";
const QUARANTINE_ID: &str = "toolgate/quarantine_id";
const WARNINGS: &str = "toolgate/contract_warnings";

/// The outcome in the form that the client's protocol version wants.
pub(crate) fn of_call(
    context: &McpContext,
    contract: Option<&Contract>,
    outcome: &Outcome,
) -> Vec<u8> {
    let mut text = Vec::with_capacity(512);
    text.extend_from_slice(b"{\"content\":[");
    match &outcome.result {
        Ok(output) if outcome.flags.released.is_some() => released(&mut text, outcome, output),
        Ok(output) => succeeded(&mut text, context, contract, outcome, output),
        Err(failure) => failed(&mut text, failure),
    }
    if context.client.is_modern() {
        text.extend_from_slice(b",\"resultType\":\"complete\"");
    }
    meta(&mut text, context, outcome);
    text.push(b'}');
    text
}

fn succeeded(
    text: &mut Vec<u8>,
    context: &McpContext,
    contract: Option<&Contract>,
    outcome: &Outcome,
    output: &OutputJson,
) {
    let json = output.json.get();
    if contract.is_some_and(|contract| contract.presentation == Presentation::Content)
        && let Some(blocks) = blocks(json)
    {
        text.extend_from_slice(blocks.as_bytes());
        links(text, context, outcome, blocks.is_empty());
        text.extend_from_slice(b"],\"isError\":false");
        return;
    }
    // Legacy clients take objects only.
    let wrap = !context.client.is_modern() && !contract.is_some_and(is_object);
    let wrapped;
    let json = if wrap {
        wrapped = format!("{{\"result\":{json}}}");
        &wrapped
    } else {
        json
    };
    // Once as it is, and once as a text in which quotes are escaped.
    text.reserve(json.len() * 2 + json.len() / 4);
    block(text, json);
    if outcome.own_summary {
        text.push(b',');
        block(text, &outcome.summary);
    }
    links(text, context, outcome, false);
    text.extend_from_slice(b"],\"isError\":false");
    if context.client.version.has_structured_content() {
        text.extend_from_slice(b",\"structuredContent\":");
        text.extend_from_slice(json.as_bytes());
    }
}

/// A failure: in words, and with its code and details as JSON. Not as structured content: some
/// clients hold that against the schema of the result, and then show their own complaint in
/// place of ours.
fn failed(text: &mut Vec<u8>, failure: &Failure) {
    block(text, &failure.message);
    text.push(b',');
    block(text, &error_object(failure).to_string());
    text.extend_from_slice(b"],\"isError\":true");
}

/// What a person has released: in words, and as it is. As an error, because clients hold any
/// other result against the schema that it breaks, and the caller would get nothing of it.
fn released(text: &mut Vec<u8>, outcome: &Outcome, output: &OutputJson) {
    block(text, &outcome.summary);
    text.push(b',');
    block(text, output.json.get());
    text.extend_from_slice(b"],\"isError\":true");
}

fn error_object(failure: &Failure) -> serde_json::Value {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(details) = &failure.details {
        error["details"] = details.clone();
    }
    error
}

fn meta(text: &mut Vec<u8>, context: &McpContext, outcome: &Outcome) {
    text.extend_from_slice(b",\"_meta\":{");
    append(text, REQUEST_ID);
    text.push(b':');
    append(text, &outcome.request_id);
    if let Some(job) = &outcome.job_id {
        append_field(text, JOB_ID, job);
    }
    let flags = &outcome.flags;
    if flags.spilled {
        append_field(text, SPILLED, &true);
    }
    if let Some(id) = &flags.released {
        append_field(text, RELEASED, &true);
        append_field(text, QUARANTINE_ID, id);
    }
    if !flags.warnings.is_empty() {
        append_field(text, WARNINGS, &flags.warnings);
    }
    if let Err(failure) = &outcome.result {
        append_field(text, ERROR, &error_object(failure));
    }
    if context.client.is_modern() {
        text.extend_from_slice(format!(",\"{SERVER_INFO}\":{}", context.server_info()).as_bytes());
    }
    text.push(b'}');
}

fn block(text: &mut Vec<u8>, words: &str) {
    text.extend_from_slice(b"{\"type\":\"text\",\"text\":");
    append_string(text, words);
    text.push(b'}');
}

/// The content blocks that a result consists of, without their brackets.
fn blocks(json: &str) -> Option<&str> {
    #[derive(Deserialize)]
    struct ContentFields<'a> {
        #[serde(borrow)]
        content: &'a RawValue,
    }
    let fields: ContentFields<'_> = serde_json::from_str(json).ok()?;
    fields.content.get().strip_prefix('[')?.strip_suffix(']').map(str::trim)
}

/// A link to each artifact, for clients that know links.
fn links(text: &mut Vec<u8>, context: &McpContext, outcome: &Outcome, mut first: bool) {
    let Some(job) = &outcome.job_id else { return };
    if !context.client.version.has_structured_content() {
        return;
    }
    for artifact in &outcome.artifacts {
        if !first {
            text.push(b',');
        }
        first = false;
        let link = json!({
            "type": "resource_link",
            "uri": resources::artifact_uri(job, &artifact.name),
            "name": artifact.name,
            "mimeType": artifact.mime_type,
            "size": artifact.bytes,
        });
        append(text, &link);
    }
}
