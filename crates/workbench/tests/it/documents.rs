//! Contracts in Markdown, and whether what is served keeps them.

use contract::{
    ApprovalRequirement, ContractStatus, Effects,
    Severity::{Error, Warning},
};
use serde_json::json;
use workbench::{
    compare::{ChangeClass, ContractChange, PartialContract, contracts},
    documents,
};

const HOMELAB: &str = include_str!("../data/homelab.md");
const LEARNING_OS: &str = include_str!("../data/learning-os.md");

/// Our own contracts, as far as they have these names.
fn served(names: &[&str]) -> Vec<PartialContract> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contracts");
    let read = |name: &&str| {
        let text = std::fs::read_to_string(format!("{folder}/{name}.yaml")).ok()?;
        Some(PartialContract::of_contract(&contract::read::trusted(&text).unwrap()))
    };
    names.iter().filter_map(read).collect()
}

fn said(changes: &[ContractChange]) -> Vec<String> {
    let line = |one: &ContractChange| {
        format!("{} {}{}: {}", one.class.word(), one.part, one.pointer, one.text)
    };
    changes.iter().map(line).collect()
}

#[test]
fn a_document_of_lists_is_read() {
    let (tools, found) = documents::read("homelab.md", HOMELAB);
    assert!(found.is_empty(), "{found:?}");
    let seen: Vec<_> =
        tools.iter().map(|tool| (tool.name.as_str(), tool.line, tool.status)).collect();
    let planned = Some(ContractStatus::Planned);
    assert_eq!(
        seen,
        [
            ("search.web", 20, Some(ContractStatus::Active)),
            ("web.fetch", 69, planned),
            ("transcript.clean", 117, planned),
            ("mlx.load", 151, planned),
            ("mlx.unload", 191, planned),
        ]
    );
    let search = &tools[0];
    assert_eq!(search.endpoint.as_deref(), Some("web-fetch"));
    assert_eq!(search.transport.as_deref(), Some("mcp (stdio)"));
    assert_eq!(search.input_schema.as_ref().unwrap()["properties"]["max_results"]["maximum"], 25);
    assert_eq!(search.output_schema.as_ref().unwrap()["required"], json!(["results"]));
    let errors = [("invalid_query", 400), ("upstream_failure", 502), ("timeout", 504)];
    assert_eq!(
        search.errors,
        Some(errors.map(|(code, status)| (code.to_owned(), status)).to_vec())
    );
}

#[test]
fn a_document_of_parts_is_read() {
    let (tools, found) = documents::read("learning-os.md", LEARNING_OS);
    assert!(found.is_empty(), "{found:?}");
    let seen: Vec<_> = tools.iter().map(|tool| (tool.name.as_str(), tool.line)).collect();
    // The template of a contract is in a block, and none.
    assert_eq!(seen, [("hello", 16), ("read_repo_file", 55), ("write_memory_entry", 110)]);
    let [hello, read, write] = &tools[..] else { panic!() };
    assert_eq!(
        hello.description.as_deref(),
        Some("A simple greeting tool for testing MCP connectivity.")
    );
    assert_eq!(hello.effects, Some(Effects::Read));
    assert_eq!(read.limits, [("maximum file size".to_owned(), 1_048_576)]);
    assert_eq!(write.limits, [("maximum entry size".to_owned(), 10_240)]);
    assert_eq!(
        (write.effects, write.approval),
        (Some(Effects::Append), Some(ApprovalRequirement::Required))
    );
    assert_eq!((&write.errors, write.status), (&None, None));
    assert_eq!(read.constraints.len(), 13);
}

#[test]
fn what_is_wrong_is_shown_in_place() {
    let text = "\
# Tools

## good
- input_schema:
```yaml
type: object
properties: { a: { type: string } }
```

## Tool: broken

### Input Schema
```json
{
  \"type\": \"object\",
  // a remark
}
```

### Output Schema
```json
{ \"type\": \"strin\" }
```

## bad name!
- input_schema:

## good
- status: perhaps
- input_schema:
- errors:
```json
[{ \"code\": \"x\", \"http_status\": 99 }]
```
";
    let (tools, found) = documents::read("tools.md", text);
    let seen: Vec<_> = found
        .iter()
        .map(|one| (one.line, one.column, one.severity, one.message.as_str()))
        .collect();
    assert_eq!(
        seen,
        [
            (16, 3, Error, "key must be a string"),
            (
                22,
                1,
                Error,
                "the schema `/type` is not a valid JSON Schema: \"strin\" is not valid under any of the schemas listed in the 'anyOf' keyword"
            ),
            (10, 1, Warning, "the input schema of `broken` is missing"),
            (25, 1, Error, "`bad name!` cannot be the name of a tool"),
            (29, 1, Warning, "the status `perhaps` is neither `active` nor `planned`"),
            (30, 1, Error, "no block follows `input_schema`"),
            (
                33,
                1,
                Error,
                "errors are a list of `{ code, http_status }`, with a status from 400 to 599"
            ),
            (28, 1, Warning, "the input schema of `good` is missing"),
            (28, 1, Error, "`good` is already in line 3"),
        ]
    );
    assert_eq!(tools.len(), 3);
    assert_eq!(
        tools[0].input_schema,
        Some(json!({ "type": "object", "properties": { "a": { "type": "string" } } }))
    );
    let (none, found) = documents::read("big.md", &"a".repeat(2_000_000));
    assert_eq!((none.len(), found.len()), (0, 1));
}

#[test]
fn our_contracts_keep_the_documents_but_for_what_was_decided() {
    let mut promises: Vec<PartialContract> = Vec::new();
    for text in [HOMELAB, LEARNING_OS] {
        promises.extend(
            documents::read("document.md", text).0.iter().map(documents::DocumentedTool::promise),
        );
    }
    let names: Vec<&str> = promises.iter().map(|one| one.name.as_str()).collect();
    let served = served(&names);
    let mut broken = Vec::new();
    for promise in &promises {
        let Some(found) = served.iter().find(|one| one.name == promise.name) else {
            assert_eq!(
                promise.status,
                Some(ContractStatus::Planned),
                "{} is not there",
                promise.name
            );
            continue;
        };
        let mut changes = contracts(promise, found);
        changes.retain(|one| one.class == ChangeClass::Breaking);
        broken.extend(said(&changes).into_iter().map(|line| format!("{}: {line}", promise.name)));
    }
    insta::assert_snapshot!(broken.join("\n"));
}

#[test]
fn every_part_of_a_promise_is_compared() {
    let old = PartialContract {
        name: "t".into(),
        description: Some("Reads.".into()),
        status: Some(ContractStatus::Active),
        effects: Some(Effects::Read),
        approval: Some(ApprovalRequirement::Never),
        input_schema: Some(json!({ "type": "object" })),
        output_schema: Some(json!({ "type": "string" })),
        errors: Some(vec![("a".into(), 400), ("b".into(), 404), ("timeout".into(), 504)]),
        limits: vec![("timeout_ms".into(), 1000)],
    };
    assert_eq!(said(&contracts(&old, &old)), [""; 0]);
    let new = PartialContract {
        name: "t".into(),
        description: Some("Writes.".into()),
        status: Some(ContractStatus::Planned),
        effects: Some(Effects::Write),
        approval: Some(ApprovalRequirement::Required),
        input_schema: Some(json!({ "type": "object", "required": ["x"] })),
        output_schema: Some(json!({ "type": ["string", "null"] })),
        errors: Some(vec![("a".into(), 409), ("c".into(), 500), ("conflict".into(), 409)]),
        limits: vec![("timeout_ms".into(), 500)],
    };
    assert_eq!(
        said(&contracts(&old, &new)),
        [
            "breaking status: changed from active to planned",
            "breaking effects: changed from `read` to `write`",
            "breaking approval: is required now",
            "breaking errors: the status of `a` changed from 400 to 409",
            "widening errors: `b` was removed",
            "breaking errors: `c` was added, with the status 500",
            "breaking limits: `timeout_ms` changed from 1000 to 500",
            "wording description: changed from \"Reads.\" to \"Writes.\"",
            "breaking input: `required` was added: [\"x\"]",
            "wording input: new text for models: \"x\"",
            "breaking output/type: changed from \"string\" to [\"string\",\"null\"]",
        ]
    );
    // What nobody says is not compared.
    assert_eq!(
        said(&contracts(&old, &PartialContract { name: "t".into(), ..PartialContract::default() })),
        [""; 0]
    );
    let listed = PartialContract::of_tool(
        &json!({ "name": "t", "description": "Reads.", "inputSchema": { "type": "object" } }),
    );
    assert_eq!(said(&contracts(&old, &listed)), [""; 0]);
}

#[test]
fn a_block_that_does_not_end_is_an_error_where_it_begins() {
    let tool = |name: &str, end: &str| {
        format!("## Tool: {name}\n### Input Schema\n```json\n{{ \"type\": \"object\" }}\n{end}\n")
    };
    for (text, line) in [
        (tool("a", "```") + &tool("b", "") + &tool("c", ""), 8),
        (tool("a", "```") + "~~~\n" + &tool("b", "```"), 6),
        (tool("a", "```") + "````markdown\n```\n", 6),
    ] {
        let (tools, found) = documents::read("tools.md", &text);
        assert_eq!(tools[0].name, "a");
        let one = found.iter().find(|one| one.severity == Error).expect("an error");
        assert!(one.message.contains("is not closed"), "{}", one.message);
        assert_eq!(one.line, line, "{text}");
    }
    assert!(
        documents::read("tools.md", &tool("a", "```")).1.iter().all(|one| one.severity != Error)
    );
}
