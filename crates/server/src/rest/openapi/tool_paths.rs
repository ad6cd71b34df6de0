//! A path for every tool and every toolset, made from the contracts.

use std::collections::BTreeMap;

use contract::{
    ApprovalRequirement, Contract, Example, codes,
    render::{CALL_CODES, deprecation},
};
use serde_json::{Map, Value, json};

use super::{
    NOUNS,
    operations::{Paths, word},
    toolsets,
};

/// The path of any tool. What a tool's own path says is a copy of it with the tool's schemas.
pub(super) const ANY_TOOL: &str = "/v1/tools/{tool}";
const JSON: &str = "application/json";

/// The number of tools of which the routes that call any tool show an example. The rest is shown at
/// the tools' own paths.
const MAX_EXAMPLES: usize = 8;

/// The errors that a call can end with: code and description, by status.
pub(super) type CallErrors<'a> = BTreeMap<u16, Vec<(&'a str, &'a str)>>;

/// Adds the paths of the tools and toolsets.
pub(super) fn add(paths: &mut Paths, contracts: &[&Contract]) {
    let bearer = paths.bearer();
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

/// A fixed operation with what it takes from the contracts: examples, and errors of calls.
pub(super) fn with_contracts(
    mut operation: Value,
    contracts: &[&Contract],
    paths: &Paths,
) -> Value {
    match operation["operationId"].as_str() {
        Some("call_tool") => add_errors(&mut operation, contracts, paths.bearer()),
        Some("execute") => {
            set_examples(&mut operation["requestBody"], requests(contracts));
            for (status, codes) in errors(contracts, paths.bearer()) {
                let codes: Vec<_> = codes.iter().map(|(code, _)| format!("`{code}`")).collect();
                let shape = if asks_to_retry(status) { "ToolResultLater" } else { "ToolResult" };
                operation["responses"][status.to_string()] = json!({
                    "$ref": format!("#/components/responses/{shape}"),
                    "description": format!("The call failed: {}.", codes.join(", ")),
                });
            }
        }
        Some("create_job") => {
            let mut examples = requests(contracts);
            // One of them shows how to wait.
            if let Some(first) = examples.values_mut().next() {
                first["value"]["mode"] = json!("sync");
            }
            set_examples(&mut operation["requestBody"], examples);
        }
        _ => {}
    }
    operation
}

/// A copy of an operation of [`ANY_TOOL`] for a path of its own.
fn copy_of(method: &str, identifier: &str, tag: &str, summary: &str) -> Value {
    let any = NOUNS.iter().find_map(|noun| noun["paths"].get(ANY_TOOL));
    let mut operation = any.map(|item| item[method].clone()).unwrap_or_default();
    operation["operationId"] = json!(identifier);
    operation["tags"] = json!([tag]);
    operation["summary"] = json!(summary);
    // The path names the tool already.
    if let Some(Value::Array(parameters)) = operation.get_mut("parameters") {
        parameters.retain(|one| one["$ref"] != "#/components/parameters/Tool");
    }
    operation
}

fn describe(contract: &Contract) -> Value {
    let identifier = format!("describe_{}", contract.name);
    let summary = format!("The contract of `{}`", contract.name);
    let mut operation = copy_of("get", &identifier, &contract.toolset, &summary);
    // Unlike the path of any tool this one is never a toolset's, which can be called and not shown.
    operation["x-errors"] = json!([404]);
    deprecate(&mut operation, contract);
    operation
}

fn tool(contract: &Contract, bearer: bool) -> Value {
    let name = &contract.name;
    let schema = |part: &str| json!({ "$ref": format!("#/components/schemas/{name}.{part}") });
    let summary = contract.title.as_ref().unwrap_or(name);
    let mut operation = copy_of("post", &format!("call_{name}"), &contract.toolset, summary);
    operation["description"] = json!(contract.description);
    set_call(&mut operation, name, schema("input"), needs_arguments(contract), schema("output"));
    let asked = good_examples(contract)
        .into_iter()
        .map(|example| (example.title.as_str(), example, json!({ "args": example.input })));
    set_examples(&mut operation["requestBody"], examples(asked));
    let answered = good_examples(contract).into_iter().filter_map(|example| {
        let output = example.output.as_ref()?;
        let answer = json!({ "tool": name, "ok": true, "result": output });
        Some((example.title.as_str(), example, answer))
    });
    set_examples(&mut operation["responses"]["200"], examples(answered));
    add_errors(&mut operation, &[contract], bearer);
    deprecate(&mut operation, contract);
    operation
}

/// Marks the operations of a deprecated tool, with the headers of their responses.
fn deprecate(operation: &mut Value, contract: &Contract) {
    let headers = deprecation::headers(contract);
    if headers.is_empty() {
        return;
    }
    operation["deprecated"] = json!(true);
    if let (Some(note), Some(about)) = (deprecation::note(contract), operation.get("description")) {
        let about = about.as_str().unwrap_or_default().trim_end();
        operation["description"] = json!(format!("{about}\n\n{note}."));
    }
    for (name, value) in headers {
        let name = match name {
            "deprecation" => "Deprecation",
            "sunset" => "Sunset",
            _ => "Link",
        };
        let header = json!({ "schema": { "type": "string" }, "example": value });
        operation["responses"]["200"]["headers"][name] = header;
    }
}

fn toolset_call(toolset: &str, tools: &[&Contract], bearer: bool) -> Value {
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
    let summary = format!("A tool of `{toolset}`");
    let mut operation = copy_of("post", &format!("call_{toolset}"), toolset, &summary);
    if let Value::Object(fields) = &mut operation {
        fields.shift_remove("description");
    }
    let needed = default.is_none_or(|tool| needs_arguments(tool));
    let result = json!({ "description": "The result of the picked tool." });
    set_call(&mut operation, toolset, arguments, needed, result);
    let asked = first_examples(tools).map(|(name, example)| {
        let mut arguments = Map::from_iter([("command".to_owned(), json!(name))]);
        arguments.extend(example.input.clone());
        (name, example, json!({ "args": arguments }))
    });
    set_examples(&mut operation["requestBody"], examples(asked));
    add_errors(&mut operation, tools, bearer);
    operation
}

/// Puts the schemas of a tool into a copy of the operation that calls any tool.
fn set_call(operation: &mut Value, name: &str, arguments: Value, needed: bool, result: Value) {
    let body = &mut operation["requestBody"]["content"][JSON]["schema"];
    body["properties"]["args"] = arguments;
    if needed {
        body["required"] = json!(["args"]);
    }
    let success = &mut operation["responses"]["200"]["content"][JSON]["schema"]["properties"];
    success["tool"] = json!({ "type": "string", "const": name });
    success["result"] = result;
}

fn set_examples(carrier: &mut Value, examples: Map<String, Value>) {
    if !examples.is_empty() {
        carrier["content"][JSON]["examples"] = Value::Object(examples);
    }
}

/// True if a response of that status says when to try again.
fn asks_to_retry(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// Calls of some of the tools, for the routes that take the tool's name in the body.
fn requests(contracts: &[&Contract]) -> Map<String, Value> {
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

/// The errors that a call of any of these tools can end with. A code that a contract declares is
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

fn add_errors(operation: &mut Value, contracts: &[&Contract], bearer: bool) {
    let standard = errors(&[], bearer);
    let asks = contracts.iter().any(|contract| contract.approval == ApprovalRequirement::Required);
    for (status, codes) in errors(contracts, bearer) {
        let needs_approval = asks && status == codes::APPROVAL_REQUIRED.http_status;
        let mut failed = if standard.get(&status) == Some(&codes) && !needs_approval {
            json!({ "$ref": format!("#/components/responses/CallError{status}") })
        } else {
            error_response(status, &codes)
        };
        // The answer names the approval that now waits.
        if needs_approval {
            for next in ["get_approval", "decide_approval"] {
                let id = json!({ "id": "$response.body#/details/approval_id" });
                failed["links"][next] = json!({ "operationId": next, "parameters": id });
            }
        }
        operation["responses"][status.to_string()] = failed;
    }
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
    let header = |name: &str| json!({ "$ref": format!("#/components/headers/{name}") });
    let mut response = json!({
        "description": lines.join("\n"),
        "headers": { "Idempotency-Replayed": header("Idempotency-Replayed") },
        "content": { JSON: { "schema": schema } },
    });
    if asks_to_retry(status) {
        response["headers"]["Retry-After"] = header("Retry-After");
    }
    response
}
