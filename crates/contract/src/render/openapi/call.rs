//! A path for every tool and every toolset.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    listing,
    operation::{
        Operation, Paths, asks_to_retry, json_content, json_response, response, schema,
        with_header, word,
    },
    toolsets,
};
use crate::{Contract, Example, Stability, render::CALL_CODES};

/// The errors that a call can end with: code and description, by status.
pub(super) type CallErrors<'a> = BTreeMap<u16, Vec<(&'a str, &'a str)>>;

pub(super) fn paths(paths: &mut Paths, contracts: &[&Contract]) {
    for contract in contracts {
        let path = format!("/v1/tools/{}", contract.name);
        // A route of our own wins over a tool of that name.
        if !paths.contains(&path) {
            paths.add(&path, "get", describe(contract));
            paths.add(&path, "post", tool(contract));
        }
    }
    for (toolset, tools) in toolsets(contracts) {
        let path = format!("/v1/tools/{toolset}");
        if !paths.contains(&path) {
            paths.add(&path, "post", toolset_call(toolset, &tools));
        }
    }
}

fn describe(contract: &Contract) -> Operation {
    let identifier = format!("describe_{}", contract.name);
    let summary = format!("The contract of `{}`", contract.name);
    listing::describe(&identifier, &contract.toolset, &summary)
}

fn tool(contract: &Contract) -> Operation {
    let name = &contract.name;
    let body = json!({
        "type": "object",
        "properties": { "args": schema(&format!("{name}.input")) },
        "additionalProperties": false,
    });
    let body = with_required(body, needs_arguments(contract));
    let asked = examples(contract, |example| Some(json!({ "args": example.input })));
    let answered = examples(contract, |example| {
        let output = example.output.as_ref()?;
        Some(json!({ "tool": name, "ok": true, "result": output }))
    });
    let success = success(name, &schema(&format!("{name}.output")));
    let done = response("The result.", json_content(success, answered));
    let summary = contract.title.as_ref().unwrap_or(name);
    let operation = Operation::new(&format!("call_{name}"), &contract.toolset, summary)
        .description(&contract.description)
        .deprecated(contract.stability == Stability::Deprecated)
        .parameter("IdempotencyKey")
        .body(body, asked)
        .response(200, done);
    with_errors(operation, &errors(&[contract]))
}

fn toolset_call(toolset: &str, tools: &[&Contract]) -> Operation {
    let default = tools.iter().find(|tool| tool.toolset_default);
    let names: Vec<_> = tools.iter().map(|tool| format!("`{}`", tool.name)).collect();
    let otherwise =
        default.map(|tool| format!(" Without it `{}` is called.", tool.name)).unwrap_or_default();
    let command = format!("Picks the tool: {}.{otherwise}", names.join(", "));
    let mut arguments = json!({
        "type": "object",
        "description": "`command` picks the tool; the rest are its arguments.",
        "properties": { "command": { "type": "string", "description": command } },
    });
    if default.is_none() {
        arguments["required"] = json!(["command"]);
    }
    let body = json!({
        "type": "object",
        "properties": { "args": arguments },
        "additionalProperties": false,
    });
    let body = with_required(body, default.is_none_or(|tool| needs_arguments(tool)));
    let success = success(toolset, &json!({ "description": "The result of the picked tool." }));
    let summary = format!("A tool of `{toolset}`");
    let operation = Operation::new(&format!("call_{toolset}"), toolset, &summary)
        .parameter("IdempotencyKey")
        .body(body, Map::new())
        .response(200, json_response("The result.", success));
    with_errors(operation, &errors(tools))
}

fn needs_arguments(contract: &Contract) -> bool {
    let required = contract.input_schema.get("required").and_then(Value::as_array);
    required.is_some_and(|required| !required.is_empty())
}

fn with_required(mut body: Value, arguments: bool) -> Value {
    if arguments {
        body["required"] = json!(["args"]);
    }
    body
}

fn success(tool: &str, result: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string", "const": tool },
            "ok": { "type": "boolean", "const": true },
            "result": result,
            "artifacts": { "type": "array", "items": schema("Artifact") },
            "job_id": schema("JobId"),
        },
        "required": ["tool", "ok", "result"],
        "additionalProperties": false,
    })
}

/// The good examples by title, under keys that are words.
fn examples(contract: &Contract, value: impl Fn(&Example) -> Option<Value>) -> Map<String, Value> {
    let mut good: Vec<_> = contract.good_examples().collect();
    good.sort_by(|one, other| one.title.cmp(&other.title));
    let mut shown = Map::new();
    for example in good {
        let Some(value) = value(example) else { continue };
        let mut entry = json!({ "summary": example.title });
        if let Some(notes) = &example.notes {
            entry["description"] = json!(notes);
        }
        entry["value"] = value;
        let mut key = word(&example.title);
        while shown.contains_key(&key) {
            key.push('_');
        }
        shown.insert(key, entry);
    }
    shown
}

/// What a call of any of these tools can end with. A code that a contract declares is
/// described in the contract's words.
pub(super) fn errors<'a>(contracts: &[&'a Contract]) -> CallErrors<'a> {
    let mut errors = CallErrors::new();
    let declared = contracts.iter().flat_map(|contract| &contract.errors);
    let declared: Vec<_> = declared
        .map(|error| (error.http_status, error.code.as_str(), error.description.as_str()))
        .collect();
    let standard = CALL_CODES.iter().map(|one| (one.http_status, one.code, one.description));
    for (status, code, description) in standard.chain(declared) {
        let known = errors.entry(status).or_default();
        match known.iter_mut().find(|(other, _)| *other == code) {
            Some(entry) if !description.is_empty() => entry.1 = description,
            Some(_) => {}
            None => known.push((code, description)),
        }
    }
    errors
}

fn with_errors(mut operation: Operation, errors: &CallErrors) -> Operation {
    let standard = self::errors(&[]);
    for (status, codes) in errors {
        let shared = standard.get(status) == Some(codes);
        let failed = if shared {
            json!({ "$ref": format!("#/components/responses/CallError{status}") })
        } else {
            error_response(*status, codes)
        };
        operation = operation.response(*status, failed);
    }
    operation
}

/// The answer to a call that ended with one of these codes.
pub(super) fn error_response(status: u16, codes: &[(&str, &str)]) -> Value {
    let lines: Vec<_> = codes
        .iter()
        .map(|(code, description)| match *description {
            "" => format!("- `{code}`"),
            _ => format!("- `{code}`: {description}"),
        })
        .collect();
    let names: Vec<_> = codes.iter().map(|(code, _)| *code).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string" },
            "ok": { "type": "boolean", "const": false },
            "error": { "type": "string", "description": "What went wrong, for a person." },
            "code": { "type": "string", "enum": names },
            "details": { "type": "object" },
        },
        "required": ["tool", "ok", "error", "code"],
        "additionalProperties": false,
    });
    let response = json_response(&lines.join("\n"), schema);
    if asks_to_retry(status) { with_header(response, "Retry-After") } else { response }
}
