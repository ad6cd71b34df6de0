//! What a tool returns is proposed from results of it, saved, and enforced from then on.

use serde_json::{Value, json};

use crate::upstreams::{Upstreams, tool};

fn silent(name: &str, reads: bool) -> Value {
    let mut tool = tool(name);
    tool.as_object_mut().unwrap().remove("outputSchema");
    tool["annotations"] = json!({ "readOnlyHint": reads });
    tool
}

fn text(words: &str) -> Value {
    json!({ "result": { "content": [{ "type": "text", "text": words }], "isError": false } })
}

/// Three tools that do not say what they return, and one that changes things.
fn script() -> Value {
    json!({
        "tools": [silent("find", true), silent("count", true), silent("say", true), silent("delete", false)],
        "answers": {
            "find": {
                "a": { "result": { "content": [], "structuredContent": { "hits": [{ "id": 1, "title": "A" }] } } },
                "b": { "result": { "content": [], "structuredContent": { "hits": [], "more": true } } },
                "odd": { "result": { "content": [], "structuredContent": { "hits": "many" } } },
            },
            "count": { "a": text("{\"n\": 7}"), "b": text("{\"n\": 8.5}"), "odd": text("seven") },
            "say": { "*": text("hello") },
            "delete": { "*": text("gone") },
        },
    })
}

fn world(more: &str) -> Upstreams {
    Upstreams::new(&[("up", script())], more)
}

#[tokio::test]
async fn a_tool_runs_under_the_contract_that_was_inferred() {
    let world = world("");
    let infer = |tool: &str, more: &[&str]| {
        let whole = format!("up.{tool}");
        let mut arguments = vec!["contracts", "infer", &whole];
        arguments.extend(["--arguments", r#"{"text":"a"}"#, "--arguments", r#"{"text":"b"}"#]);
        arguments.extend(more);
        world.cli(&arguments)
    };
    let inferred = infer("find", &[]).exits(0).stderr_has("not written; --save writes it to");
    assert!(inferred.stdout.starts_with("# Inferred from 2 results by"), "{inferred}");
    assert!(!world.has("overlays"));
    for tool in ["find", "count", "say"] {
        infer(tool, &["--save"]).exits(0).stderr_has("a running server reloads it");
    }
    let saved = |tool: &str| world.read(&format!("overlays/up/{tool}.yaml"));
    assert!(saved("find").contains("\ntool: find\noutput_schema:\n"), "{}", saved("find"));
    assert!(saved("count").contains("\noutput: json\n") || saved("count").contains("output: json"));
    assert!(saved("say").ends_with("\ntool: say\noutput: text\n"), "{}", saved("say"));
    // What a person may have edited is not written over.
    infer("say", &["--save"]).exits(2).stderr_has("--force");
    infer("say", &["--save", "--force"]).exits(0);
    let world = world.started().await;
    assert_eq!(world.listed().await, ["up__count", "up__find", "up__say"]);
    for (tool, word, expected) in [
        ("find", "a", Ok(json!({ "hits": [{ "id": 1, "title": "A" }] }))),
        ("find", "b", Ok(json!({ "hits": [], "more": true }))),
        ("find", "odd", Err("invalid_output")),
        ("count", "b", Ok(json!({ "n": 8.5 }))),
        ("count", "odd", Err("invalid_output")),
        ("say", "x", Ok(json!({ "text": "hello" }))),
    ] {
        let answer = world.call(&format!("up__{tool}"), &json!({ "text": word })).await.json();
        match expected {
            Ok(result) => assert_eq!(answer["result"], result, "{answer}"),
            Err(code) => assert_eq!(answer["code"], code, "{answer}"),
        }
    }
    let journal = world.read("data/journal.jsonl");
    assert!(journal.contains("\"event\":\"tool_sampled\",\"tool\":\"up__find\""), "{journal}");
}

#[test]
fn results_may_be_files() {
    let world = world("");
    world.write("result.json", &script()["answers"]["find"]["a"]["result"].to_string());
    world.write("bare.json", r#"{"hits": [{"id": 2, "title": null}]}"#);
    world.write("error.json", r#"{"isError": true, "content": []}"#);
    world.write(
        "image.json",
        r#"{"content": [{"type": "image", "data": "", "mimeType": "image/png"}]}"#,
    );
    let told = world
        .cli("contracts infer up.find --json --results result.json bare.json error.json")
        .exits(0)
        .json();
    assert_eq!((&told["results"], &told["errors"]), (&json!(2), &json!(1)), "{told}");
    let items = &told["overlay"]["output_schema"]["properties"]["hits"]["items"];
    assert_eq!(items["required"], json!(["id", "title"]), "{told}");
    assert_eq!((&told["overlay"]["tool"], &told["file"]), (&json!("find"), &Value::Null));
    let told = world.cli("contracts infer up.find --json --results image.json").json();
    assert_eq!(told["overlay"], json!({ "tool": "find", "output": "content" }));
    let output = world.cli("contracts infer up.find --results error.json").exits(1);
    output.stderr_has("reports an error");
}

#[tokio::test]
async fn what_jobs_and_quarantine_keep_is_enough() {
    let world = Upstreams::with(&[("up", script(), "output: text")], "");
    world
        .cli("contracts infer up.count")
        .exits(1)
        .stderr_has("no results of `up.count` are stored");
    for word in ["a", "b"] {
        world.cli(&["call", "up__count", &format!("text={word}")]).exits(0);
    }
    let told = world.cli("contracts infer up.count --save --json").exits(0).json();
    assert_eq!(told["results"], 2, "{told}");
    assert_eq!(told["overlay"]["output"], "json");
    assert_eq!(world.cli("call up__count text=a").exits(0).json(), json!({ "n": 7 }));
    // What broke that contract is kept too, and widens the next proposal.
    world.cli("call up__count text=odd").exits(1);
    let told = world.cli("contracts infer up.count --json").json();
    assert_eq!(
        (&told["results"], &told["overlay"]["output"]),
        (&json!(4), &json!("text")),
        "{told}"
    );
}

#[test]
fn nothing_is_called_that_may_not_be() {
    let world = world("allowlist: { up: [find, delete] }\n");
    let infer = |tool: &str, given: &str, more: &[&str]| {
        let mut arguments = vec!["contracts", "infer", tool, "--arguments", given];
        arguments.extend(more);
        world.cli(&arguments)
    };
    let fine = r#"{"text":"a"}"#;
    for (tool, given, expected) in [
        ("up.delete", fine, "does not say that it only reads"),
        ("up.say", fine, "it is not on the allowlist"),
        ("up.find", r#"{"text":1}"#, "`/text` must be a string"),
        ("up.find", "[1]", "is not a JSON object"),
        ("up.find", "{", "is not JSON"),
        ("up.fnd", fine, "did you mean `find`?"),
        ("upp.find", fine, "did you mean `up`?"),
        ("find", fine, "is not of the form SERVER.TOOL"),
    ] {
        infer(tool, given, &[]).exits(2).stderr_has(expected);
    }
    infer("up.delete", fine, &["--effects"]).exits(0).stdout_has("output: text");
    // Nothing goes around the allowlist.
    infer("up.say", fine, &["--effects"]).exits(2);
    // The operator's word counts more than the server's.
    world.write("overlays/up/find.yaml", "effects: write\n");
    infer("up.find", fine, &[]).exits(2);
    world.write("overlays/up/delete.yaml", "effects: read\ndescription: Only looks.\n");
    infer("up.delete", fine, &["--save", "--force"]).exits(0);
    let kept = world.read("overlays/up/delete.yaml");
    for line in ["tool: delete", "description: Only looks.", "effects: read", "output: text"] {
        assert!(kept.contains(line), "{kept}");
    }
}
