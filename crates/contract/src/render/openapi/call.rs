//! A path for every tool and every toolset.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::{
    approvals, listing,
    operation::{
        Operation, Paths, asks_to_retry, json_content, json_response, response, schema,
        with_header, word,
    },
    toolsets,
};
use crate::{Approval, Contract, Example, Stability, codes, render::CALL_CODES};

/// How many tools the routes that call any tool show an example of. The rest is shown at
/// the tools' own paths.
const MAX_EXAMPLES: usize = 8;

/// What an answer with the status 203 is.
pub(super) const RELEASED: &str =
    "An answer that broke the tool's contract, and that a person has released.";

/// The errors that a call can end with: code and description, by status.
pub(super) type CallErrors<'a> = BTreeMap<u16, Vec<(&'a str, &'a str)>>;

pub(super) fn paths(paths: &mut Paths, contracts: &[&Contract]) {
    let bearer = paths.bearer();
    paths.add("/v1/tools/{tool}", "post", any_tool(contracts, bearer));
    for contract in contracts {
        let path = format!("/v1/tools/{}", contract.name);
        // A route of our own wins over a tool of that name.
        if !paths.contains(&path) {
            paths.add(&path, "get", describe(contract));
            paths.add(&path, "post", tool(contract, bearer));
        }
    }
    for (toolset, tools) in toolsets(contracts) {
        let path = format!("/v1/tools/{toolset}");
        if !paths.contains(&path) {
            paths.add(&path, "post", toolset_call(toolset, &tools, bearer));
        }
    }
}

fn any_tool(contracts: &[&Contract], bearer: bool) -> Operation {
    let body = json!({
        "type": "object",
        "properties": {
            "args": { "type": "object", "description": "The arguments, as the tool's input schema says." },
            "approval_id": approvals::given(),
        },
        "additionalProperties": false,
    });
    let result = json!({ "description": "The result, which matches the tool's output schema." });
    let operation = Operation::new("call_tool", "Tools", "Calls a tool by its path")
        .description(
            "What `POST` on a path of this form does, also for tools that came after this \
             document was read. Each tool has a path of its own with its schemas.",
        )
        .parameter("Tool")
        .parameter("IdempotencyKey")
        .body(body, Map::new())
        .response(200, done(success(&json!({ "type": "string" }), &result), Map::new()));
    with_errors(operation, contracts, bearer)
}

fn describe(contract: &Contract) -> Operation {
    let identifier = format!("describe_{}", contract.name);
    let summary = format!("The contract of `{}`", contract.name);
    listing::describe(&identifier, &contract.toolset, &summary)
}

fn tool(contract: &Contract, bearer: bool) -> Operation {
    let name = &contract.name;
    let body = json!({
        "type": "object",
        "properties": {
            "args": schema(&format!("{name}.input")),
            "approval_id": approvals::given(),
        },
        "additionalProperties": false,
    });
    let body = with_required(body, needs_arguments(contract));
    let asked = good_examples(contract)
        .into_iter()
        .map(|example| (example.title.as_str(), example, json!({ "args": example.input })));
    let answered = good_examples(contract).into_iter().filter_map(|example| {
        let output = example.output.as_ref()?;
        let answer = json!({ "tool": name, "ok": true, "result": output });
        Some((example.title.as_str(), example, answer))
    });
    let success = success(&exactly(name), &schema(&format!("{name}.output")));
    let summary = contract.title.as_ref().unwrap_or(name);
    let operation = Operation::new(&format!("call_{name}"), &contract.toolset, summary)
        .description(&contract.description)
        .deprecated(contract.stability == Stability::Deprecated)
        .parameter("IdempotencyKey")
        .body(body, examples(asked))
        .response(200, done(success, examples(answered)));
    with_errors(operation, &[contract], bearer)
}

fn toolset_call(toolset: &str, tools: &[&Contract], bearer: bool) -> Operation {
    let default = tools.iter().find(|tool| tool.toolset_default);
    let names: Vec<_> = tools.iter().map(|tool| &tool.name).collect();
    let otherwise =
        default.map(|tool| format!(" Without it `{}` is called.", tool.name)).unwrap_or_default();
    let command = json!({
        "type": "string", "enum": names, "description": format!("Picks the tool.{otherwise}"),
    });
    let mut arguments = json!({
        "type": "object",
        "description": "`command` picks the tool; the rest are its arguments.",
        "properties": { "command": command },
    });
    if default.is_none() {
        arguments["required"] = json!(["command"]);
    }
    let body = json!({
        "type": "object",
        "properties": { "args": arguments, "approval_id": approvals::given() },
        "additionalProperties": false,
    });
    let body = with_required(body, default.is_none_or(|tool| needs_arguments(tool)));
    let result = json!({ "description": "The result of the picked tool." });
    let success = success(&exactly(toolset), &result);
    let asked = first_examples(tools).map(|(name, example)| {
        let mut arguments = Map::from_iter([("command".to_owned(), json!(name))]);
        arguments.extend(example.input.clone());
        (name, example, json!({ "args": arguments }))
    });
    let summary = format!("A tool of `{toolset}`");
    let operation = Operation::new(&format!("call_{toolset}"), toolset, &summary)
        .parameter("IdempotencyKey")
        .body(body, examples(asked))
        .response(200, done(success, Map::new()));
    with_errors(operation, tools, bearer)
}

/// Calls of some of the tools, for the routes that take the tool's name in the body.
pub(super) fn requests(contracts: &[&Contract]) -> Map<String, Value> {
    examples(
        first_examples(contracts).map(|(name, example)| {
            (name, example, json!({ "tool": name, "input": example.input }))
        }),
    )
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

fn exactly(text: &str) -> Value {
    json!({ "type": "string", "const": text })
}

/// What a call is answered with whose answer a person has released.
pub(super) fn released() -> Value {
    let schema = json!({
        "type": "object",
        "properties": {
            "tool": { "type": "string" },
            "ok": { "type": "boolean", "const": true },
            "result": { "description": "What the tool answered, unchecked." },
            "job_id": schema("JobId"),
            "released": { "type": "boolean", "const": true },
            "quarantine_id": schema("QuarantineId"),
        },
        "required": ["tool", "ok", "result", "released", "quarantine_id"],
        "additionalProperties": false,
    });
    with_header(json_response(RELEASED, schema), "Idempotency-Replayed")
}

fn done(success: Value, examples: Map<String, Value>) -> Value {
    let response = response("The result.", json_content(success, examples));
    with_header(response, "Idempotency-Replayed")
}

fn success(tool: &Value, result: &Value) -> Value {
    json!({
        "type": "object",
        "properties": {
            "tool": tool,
            "ok": { "type": "boolean", "const": true },
            "result": result,
            "artifacts": { "type": "array", "items": schema("Artifact") },
            "job_id": schema("JobId"),
            "spilled": { "type": "boolean", "const": true, "description": "The result is an artifact." },
            "contract_warnings": {
                "type": "array",
                "items": { "type": "object" },
                "description": "What broke the contract and passed.",
            },
        },
        "required": ["tool", "ok", "result"],
        "additionalProperties": false,
    })
}

/// The good examples by title.
fn good_examples(contract: &Contract) -> Vec<&Example> {
    let mut good: Vec<_> = contract.good_examples().collect();
    good.sort_by(|one, other| one.title.cmp(&other.title));
    good
}

/// A good example of each of the first tools.
fn first_examples<'a>(contracts: &[&'a Contract]) -> impl Iterator<Item = (&'a str, &'a Example)> {
    contracts
        .iter()
        .filter_map(|tool| Some((tool.name.as_str(), *good_examples(tool).first()?)))
        .take(MAX_EXAMPLES)
}

/// Examples as the document has them, under keys that are words.
fn examples<'a>(all: impl Iterator<Item = (&'a str, &'a Example, Value)>) -> Map<String, Value> {
    let mut shown = Map::new();
    for (name, example, value) in all {
        let mut entry = json!({ "summary": example.title });
        if let Some(notes) = &example.notes {
            entry["description"] = json!(notes);
        }
        entry["value"] = value;
        let mut key = word(name);
        while shown.contains_key(&key) {
            key.push('_');
        }
        shown.insert(key, entry);
    }
    shown
}

/// What a call of any of these tools can end with. A code that a contract declares is
/// described in the contract's words; a token is missed only where one is wanted.
pub(super) fn errors<'a>(contracts: &[&'a Contract], bearer: bool) -> CallErrors<'a> {
    let mut errors = CallErrors::new();
    let declared = contracts.iter().flat_map(|contract| &contract.errors);
    let declared: Vec<_> = declared
        .map(|error| (error.http_status, error.code.as_str(), error.description.as_str()))
        .collect();
    let own_words = |contract: &&Contract| contract.input_error().0 != codes::INVALID_INPUT.code;
    let all_replaced = !contracts.is_empty() && contracts.iter().all(own_words);
    let standard = CALL_CODES
        .iter()
        .filter(|one| bearer || **one != codes::UNAUTHORIZED)
        .filter(|one| !all_replaced || **one != codes::INVALID_INPUT)
        .map(|one| (one.http_status, one.code, one.description));
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

fn with_errors(mut operation: Operation, contracts: &[&Contract], bearer: bool) -> Operation {
    let standard = errors(&[], bearer);
    operation = operation.response(203, json!({ "$ref": "#/components/responses/Released" }));
    let asks = contracts.iter().any(|contract| contract.approval == Approval::Required);
    for (status, codes) in errors(contracts, bearer) {
        let failed = if asks && status == codes::APPROVAL_REQUIRED.http_status {
            approvals::asked(error_response(status, &codes))
        } else if standard.get(&status) == Some(&codes) {
            json!({ "$ref": format!("#/components/responses/CallError{status}") })
        } else {
            error_response(status, &codes)
        };
        operation = operation.response(status, failed);
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
    let response = with_header(response, "Idempotency-Replayed");
    if asks_to_retry(status) { with_header(response, "Retry-After") } else { response }
}
