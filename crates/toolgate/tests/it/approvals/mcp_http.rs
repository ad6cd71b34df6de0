//! MCP over HTTP: a client is not trusted to ask its person, unless the settings say so.

use serde_json::{Value, json};
use testkit::mcp::{Legacy, Modern, extended, meta, request};

use super::{approve, ask, events, open, runs, waiting_id};

fn code(result: &Value) -> &Value {
    &result["_meta"]["toolgate/error"]["code"]
}

fn able() -> Value {
    json!({ "elicitation": {} })
}

#[tokio::test]
async fn a_client_of_either_version_is_not_asked_and_calls_again() {
    let world = open("").await;
    let (modern, legacy) = (Modern::new(&world).able(able()), Legacy::able(&world, &able()).await);
    for (is_modern, names_it) in [(true, true), (true, false), (false, true), (false, false)] {
        let call = async |more: Value| {
            let params = json!({ "name": "marks", "arguments": { "value": names_it } });
            let params = extended(params, &more);
            let answer = if is_modern {
                modern.ask("tools/call", params).await
            } else {
                legacy.ask("tools/call", &params).await
            };
            answer["result"].clone()
        };
        let before = runs(&world);
        let result = call(json!({})).await;
        assert_eq!(code(&result), "approval_required", "{result}");
        let id = result["_meta"]["toolgate/error"]["details"]["approval_id"].clone();
        // What a client says by itself does not count.
        let name = format!("approve_{}", id.as_str().unwrap());
        let yes = json!({ name: { "action": "accept", "content": { "approve": true } } });
        let said = json!({ "inputResponses": yes });
        let result = call(said.clone()).await;
        assert_eq!(code(&result), "approval_required", "{result}");
        approve(&world, id.as_str().unwrap());
        let mut named = if is_modern { meta(&able()) } else { json!({}) };
        named["toolgate/approval"] = id;
        let more = if names_it { json!({ "_meta": named }) } else { said };
        let result = call(more.clone()).await;
        assert_eq!(result["isError"], false, "{result}");
        assert_eq!(code(&call(more).await), "approval_required");
        assert_eq!(runs(&world), before + 1);
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_model() {
    let world = open("").await;
    let client = Modern::new(&world);
    client.call("marks", &json!({})).await;
    super::decide(&world, &waiting_id(&world).await, "refuse").await;
    let result = client.call("marks", &json!({})).await;
    assert_eq!((code(&result), &result["isError"]), (&json!("not_allowed"), &json!(true)));
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("a person refused this call: so it is"), "{text}");
}

#[tokio::test]
async fn a_modern_client_that_is_trusted_asks_its_person() {
    let world = open("policy: { http_clients_ask: true }\n").await;
    let client = Modern::new(&world).able(able());
    let call = async |more: &Value| {
        let params = json!({ "name": "marks", "arguments": {} });
        client.ask("tools/call", extended(params, more)).await
    };
    let asked = call(&json!({})).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({ name: { "action": "accept", "content": { "approve": true } } });
    let reply = json!({ "inputResponses": yes, "requestState": asked["requestState"] });
    // The same state many times at once is one yes.
    let answers = tokio::join!(call(&reply), call(&reply), call(&reply), call(&reply));
    let answers = [answers.0, answers.1, answers.2, answers.3];
    let ran = answers.iter().filter(|answer| answer["result"]["isError"] == false).count();
    assert_eq!((ran, runs(&world)), (1, 1));
    assert_eq!(call(&reply).await["error"]["code"], -32602);
    assert_eq!(runs(&world), 1);
}

#[tokio::test]
async fn a_legacy_client_that_is_trusted_asks_its_person() {
    let world = open("policy: { http_clients_ask: true }\n").await;
    for (approve, is_error) in [(true, false), (false, true)] {
        let client = Legacy::able(&world, &able()).await;
        let params = json!({ "name": "marks", "arguments": { "value": approve } });
        let mut stream = client.stream(&request(7, "tools/call", &params)).await;
        let asked = stream.message("elicitation/create").await;
        let reply = json!({ "action": "accept", "content": { "approve": approve } });
        let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply }).to_string();
        assert_eq!(client.post(&reply).await.status, 202);
        let answer = stream.message("isError").await;
        assert_eq!(answer["result"]["isError"], is_error, "{answer}");
    }
    assert_eq!(runs(&world), 1);
}

#[tokio::test]
async fn doors_over_http_share_what_belongs_to_one_caller() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    approve(&world, &id);
    // Where nobody logs in, REST and MCP are the same caller.
    let result = Modern::new(&world).call("marks", &json!({ "value": 1 })).await;
    assert_eq!((&result["isError"], runs(&world)), (&json!(false), 1));
    assert_eq!(events(&world), ["requested", "approved", "used"]);
}
