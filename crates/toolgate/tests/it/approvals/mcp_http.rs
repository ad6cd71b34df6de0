//! MCP over HTTP: a client is not trusted to ask its person, unless the settings say so.

use serde_json::{Value, json};
use testkit::{
    Raw, World,
    mcp::{Legacy, Modern, frame, meta, request},
};

use super::{approve, ask, events, open, runs, waiting};

fn code(result: &Value) -> &Value {
    &result["_meta"]["toolgate/error"]["code"]
}

fn able() -> Value {
    json!({ "elicitation": {} })
}

#[tokio::test]
async fn a_modern_client_is_not_asked_and_calls_again() {
    let world = open("").await;
    let client = Modern::new(&world).able(able());
    for named in [true, false] {
        let before = runs(&world);
        let arguments = json!({ "value": named });
        let result = client.call("marks", &arguments).await;
        assert_eq!(code(&result), "approval_required", "{result}");
        let id = result["_meta"]["toolgate/error"]["details"]["approval_id"].clone();
        // What it says by itself is not heard.
        let name = format!("approve_{}", id.as_str().unwrap());
        let yes = json!({ name: { "action": "accept", "content": { "approve": true } } });
        let mut params = json!({ "name": "marks", "arguments": arguments, "inputResponses": yes });
        let answer = client.ask("tools/call", params.clone()).await;
        assert_eq!(code(&answer["result"]), "approval_required");
        approve(&world, id.as_str().unwrap());
        if named {
            params = json!({ "name": "marks", "arguments": arguments });
            params["_meta"] = meta(&able());
            params["_meta"]["toolgate/approval"] = id;
        }
        let answer = client.ask("tools/call", params.clone()).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        let answer = client.ask("tools/call", params).await;
        assert_eq!(code(&answer["result"]), "approval_required");
        assert_eq!(runs(&world), before + 1);
    }
}

#[tokio::test]
async fn an_older_client_is_not_asked_and_calls_again() {
    let world = open("").await;
    let client = Legacy::open_at(&world, "/mcp", "2025-11-25", &able()).await;
    for named in [true, false] {
        let before = runs(&world);
        let arguments = json!({ "value": named });
        let result = client.call("marks", &arguments).await;
        assert_eq!(code(&result), "approval_required", "{result}");
        let id = result["_meta"]["toolgate/error"]["details"]["approval_id"].clone();
        approve(&world, id.as_str().unwrap());
        let mut params = json!({ "name": "marks", "arguments": arguments });
        if named {
            params["_meta"] = json!({ "toolgate/approval": id });
        }
        let answer = client.ask("tools/call", &params).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        assert_eq!(code(&client.ask("tools/call", &params).await["result"]), "approval_required");
        assert_eq!(runs(&world), before + 1);
    }
}

#[tokio::test]
async fn a_refusal_reaches_the_model() {
    let world = open("").await;
    let client = Modern::new(&world);
    client.call("marks", &json!({})).await;
    let id = waiting(&world).await["id"].as_str().unwrap().to_owned();
    super::decide(&world, &id, "refuse").await;
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
        let mut params = json!({ "name": "marks", "arguments": {} });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        client.ask("tools/call", params).await
    };
    let asked = call(&json!({})).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let name = asked["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let yes = json!({ name: { "action": "accept", "content": { "approve": true } } });
    let reply = json!({ "inputResponses": yes, "requestState": asked["requestState"] });
    // The same state many times at once is one yes.
    let mut ran = 0;
    let answers = tokio::join!(call(&reply), call(&reply), call(&reply), call(&reply));
    for answer in [answers.0, answers.1, answers.2, answers.3] {
        ran += usize::from(answer["result"]["isError"] == false);
    }
    assert_eq!((ran, runs(&world)), (1, 1));
    assert_eq!(call(&reply).await["error"]["code"], -32602);
    assert_eq!(runs(&world), 1);
}

#[tokio::test]
async fn an_older_client_that_is_trusted_asks_its_person() {
    let world = open("policy: { http_clients_ask: true }\n").await;
    for (approve, expected) in [(true, "false"), (false, "true")] {
        let client = Legacy::open_at(&world, "/mcp", "2025-11-25", &able()).await;
        let params = json!({ "name": "marks", "arguments": { "value": approve } });
        let mut stream = ask_on_stream(&world, &client, &params).await;
        let asked = message(&mut stream, "elicitation/create").await;
        let reply = json!({ "action": "accept", "content": { "approve": approve } });
        let reply = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply }).to_string();
        assert_eq!(client.post(&reply).await.status, 202);
        let answer = message(&mut stream, "isError").await;
        assert_eq!(answer["result"]["isError"].to_string(), expected, "{answer}");
    }
    assert_eq!(runs(&world), 1);
}

/// A call whose answer is read as it comes.
async fn ask_on_stream(world: &World, client: &Legacy<'_>, params: &Value) -> Raw {
    let headers = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-session-id", client.session.as_str()),
    ];
    let body = request(7, "tools/call", params).to_string();
    let mut raw = world.connect().await;
    raw.send(frame("POST", "/mcp", &headers, &body)).await.unwrap();
    raw
}

/// The next message on a stream that has this word.
async fn message(stream: &mut Raw, word: &str) -> Value {
    let mut text = String::new();
    loop {
        let more = stream.more().await;
        assert!(!more.is_empty(), "no `{word}` in {text}");
        text += &more;
        let mut lines = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let parsed = lines.find(|line| line.contains(word)).map(serde_json::from_str);
        if let Some(Ok(message)) = parsed {
            return message;
        }
    }
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
