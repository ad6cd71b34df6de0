//! The gates of the multi-MCP host that concern the allowlist, schemas and typed output.

use serde_json::{Map, Value, json};

use super::Upstreams;

const CASES: &str = include_str!("gates.jsonl");

fn cases() -> Vec<Value> {
    CASES.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The catalogue of the cases: what they list, completed to tools that can be admitted.
fn catalogue(answers: &Map<String, Value>) -> (Vec<(String, Value, &'static str)>, String) {
    let fixture = cases().remove(0);
    let scripts = fixture["catalog"].as_object().unwrap().iter().map(|(server, tools)| {
        let tools: Vec<Value> = tools
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| {
                let mut tool = tool.clone();
                let key = tool["inputSchema"]["required"][0].as_str().unwrap().to_owned();
                tool["outputSchema"] = json!({ "type": "object",
                    "properties": { &key: { "type": "string" }, "content": { "type": "string" } },
                    "required": [key, "content"] });
                if tool.get("description").is_none() {
                    tool["description"] = json!("Fetches.");
                }
                tool
            })
            .collect();
        let script = json!({ "tools": tools, "answers": { "fetch_sharepoint_doc": answers } });
        (server.clone(), script, "require_is_error: true")
    });
    (scripts.collect(), format!("allowlist: {}\n", fixture["allowlist"]))
}

#[tokio::test]
async fn every_gate_holds() {
    // The answers of the typed-output cases, each under its own id as the document.
    let mut answers = Map::new();
    for case in cases().iter().filter(|case| case["gate"] == "typed_output") {
        let result = case["input"]["result"].clone();
        answers.insert(case["id"].as_str().unwrap().to_owned(), json!({ "result": result }));
    }
    answers.insert(
        "sp-001".into(),
        json!({ "result": { "isError": false,
        "structuredContent": { "doc_id": "sp-001", "content": "text" } } }),
    );
    let (scripts, allowlist) = catalogue(&answers);
    let scripts: Vec<_> =
        scripts.iter().map(|(id, script, own)| (id.as_str(), script.clone(), *own)).collect();
    let world = Upstreams::with(&scripts, &allowlist).started().await;
    let mut count = 0;
    for case in cases().iter().skip(1) {
        let id = case["id"].as_str().unwrap();
        let (server, tool, args) = match case["gate"].as_str().unwrap() {
            "plan_gate" if case["input"]["type"] == "call_tool" => {
                let plan = &case["input"];
                (&plan["server"], &plan["tool"], plan["args"].clone())
            }
            "typed_output" => (&case["server"], &case["tool"], json!({ "doc_id": id })),
            // What a planner says is another gate's business.
            _ => continue,
        };
        count += 1;
        let name = format!("{}__{}", server.as_str().unwrap(), tool.as_str().unwrap());
        let answer = world.call(&name, &args).await;
        let (status, answer) = (answer.status, answer.json());
        let code = answer["code"].as_str().unwrap_or("ok");
        let expected: &[&str] = match case["expect"].as_str().unwrap() {
            "allow" => &["ok"],
            "block_allowlist" => &["not_allowed"],
            "block_validate_plan" => &["invalid_input", "unknown_tool"],
            "block" => &["invalid_output", "tool_error", "unknown_tool"],
            other => panic!("{other}"),
        };
        assert!(expected.contains(&code), "{id}: {status} {answer}");
        assert_eq!(status == 200, code == "ok", "{id}: {answer}");
        if code == "invalid_output" {
            assert!(!answer.to_string().contains("sp-001"), "{id}: {answer}");
        }
    }
    assert_eq!(count, 14);
}
