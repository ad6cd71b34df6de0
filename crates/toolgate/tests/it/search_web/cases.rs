//! The cases that were written down for this tool.

use serde_json::{Value, json};
use testkit::{Reply, Upstream, mcp::Modern};

use super::{asking, failure, search};

fn cases() -> Vec<Value> {
    let lines = include_str!("../../cases/search_web.jsonl");
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What the service says in a case; several where the case names several.
fn replies(input: &Value) -> Vec<Reply> {
    if let Some(status) = input["upstream_status"].as_u64() {
        return vec![Reply::json(u16::try_from(status).unwrap(), json!({ "error": "no" }))];
    }
    match &input["upstream"] {
        Value::Null => vec![super::some_results(1)],
        Value::String(words) if words == "hangs" => vec![Reply::Stall(Vec::new())],
        Value::String(words) => words.split(" | ").map(|body| Reply::json(200, body)).collect(),
        body => vec![Reply::json(200, body)],
    }
}

/// The arguments of a case, and those that its note names beside them.
fn arguments(case: &Value) -> Vec<Value> {
    let mut input = case["input"].clone();
    for ours in ["upstream", "upstream_status"] {
        input.as_object_mut().unwrap().remove(ours);
    }
    let mut all = vec![input.clone()];
    if case["note"].as_str().unwrap_or_default().contains("also 26, true, 2.5, extra key") {
        for value in [json!(26), json!(true), json!(2.5), json!("5"), json!(null), json!(-1)] {
            all.push(json!({ "query": "ok", "max_results": value }));
        }
        all.push(json!({ "query": "ok", "language": "en" }));
        all.push(json!({}));
        all.push(json!({ "query": "" }));
        all.push(json!({ "query": 5 }));
    }
    all
}

#[tokio::test]
async fn every_case_holds() {
    let upstream = Upstream::saying(super::some_results(1));
    let world = asking(&upstream).await;
    let mut count = 0;
    for case in cases() {
        let (id, expect) = (&case["id"], &case["expect"]);
        for reply in replies(&case["input"]) {
            upstream.say(reply);
            for arguments in arguments(&case) {
                let before = upstream.requests().len();
                let answer = search(&world, &arguments).await;
                let context = format!("{id} {arguments}: {}", answer.text());
                let said = Modern::new(&world).call("search.web", &arguments).await;
                if let Some(code) = expect["error"].as_str() {
                    let (status, got, message, _) = failure(&answer);
                    assert_eq!(got, code, "{context}");
                    if let Some(wanted) = expect["http_status"].as_u64() {
                        assert_eq!(u64::from(status), wanted, "{context}");
                    }
                    if let Some(wanted) = expect["message"].as_str() {
                        assert_eq!(message, wanted, "{context}");
                    }
                    assert_eq!(said["isError"], true, "{said}");
                    // Nobody is asked what was not understood.
                    let asked = upstream.requests().len() > before;
                    assert_eq!(asked, code != "invalid_query", "{context}");
                } else {
                    assert_eq!(answer.status, 200, "{context}");
                    assert_eq!(&answer.json()["result"], expect, "{context}");
                    assert_eq!(&said["structuredContent"], expect, "{context}");
                }
                count += 1;
            }
        }
    }
    assert_eq!(count, 19);
}
