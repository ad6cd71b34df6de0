//! What passes between an upstream and a caller while a call runs: progress, questions, cancellation.

use serde_json::{Value, json};
use testkit::mcp::{Modern, Piped, meta};

use super::{Stage, one};

const TOOL: &str = "up__act";

fn form() -> Value {
    json!({ "mode": "form", "message": "Who?", "requestedSchema": { "type": "object",
        "properties": { "name": { "type": "string" } }, "required": ["name"] } })
}

fn reply() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

/// An upstream of either era that asks.
fn asking(modern: bool) -> Stage {
    let what = if modern { "ask_again" } else { "ask" };
    let mut script = one("act", &json!({ "do": [what, "elicitation/create", form()] }));
    if modern {
        script["modern"] = json!(true);
    }
    Stage::new(&[("up", script)], "")
}

fn text(result: &Value) -> &str {
    result["structuredContent"]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_question_of_either_era_reaches_an_older_client() {
    for modern in [false, true] {
        let stage = asking(modern);
        let mut client = Piped::start(&stage.world, &[]);
        client.initialize(&json!({ "elicitation": {} }));
        let params = json!({ "name": TOOL, "arguments": { "text": "a" } });
        let asked = client.ask(1, "tools/call", &params);
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], "Who?");
        client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": reply() }));
        let answer = client.heard();
        assert!(text(&answer["result"]).contains("Ada"), "{answer}");
        if modern {
            assert!(text(&answer["result"]).contains("opaque"), "it hears its state: {answer}");
        }
    }
}

#[test]
fn a_question_of_either_era_reaches_a_modern_client() {
    for modern in [false, true] {
        let stage = asking(modern);
        let mut client = Piped::start(&stage.world, &[]);
        let able = json!({ "elicitation": {} });
        let mut params =
            json!({ "name": TOOL, "arguments": { "text": "a" }, "_meta": meta(&able) });
        let first = client.ask(1, "tools/call", &params)["result"].clone();
        assert_eq!(first["resultType"], "input_required", "{first}");
        let (name, asked) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(asked["params"]["message"], "Who?");
        params["inputResponses"] = json!({ name: reply() });
        params["requestState"] = first["requestState"].clone();
        let last = client.ask(2, "tools/call", &params)["result"].clone();
        assert!(text(&last).contains("Ada"), "{last}");
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_not() {
    for modern in [false, true] {
        let stage = asking(modern);
        let mut client = Piped::start(&stage.world, &[]);
        client.initialize(&json!({}));
        let params = json!({ "name": TOOL, "arguments": { "text": "a" } });
        let answer = client.ask(1, "tools/call", &params);
        if modern {
            let code = &answer["result"]["_meta"]["toolgate/error"]["code"];
            assert_eq!(code, "input_required", "{answer}");
        } else {
            // The server is told that nobody can be asked, and makes of it what it can.
            assert!(text(&answer["result"]).contains("-32601"), "{answer}");
        }
    }
}

#[test]
fn progress_is_passed_on() {
    let stage = Stage::new(&[("up", one("act", &json!({ "do": "progress" })))], "");
    let mut client = Piped::start(&stage.world, &[]);
    client.initialize(&json!({}));
    let params =
        json!({ "name": TOOL, "arguments": { "text": "a" }, "_meta": { "progressToken": "p" } });
    let mut seen = Vec::new();
    let mut message = client.ask(1, "tools/call", &params);
    while message.get("id").is_none() {
        assert_eq!(message["params"]["progressToken"], "p");
        seen.push(message["params"]["message"].as_str().unwrap().to_owned());
        message = client.heard();
    }
    assert_eq!(text(&message["result"]), "done");
    assert_eq!(seen, ["step 1", "step 2", "step 3"]);
}

#[tokio::test]
async fn whoever_goes_away_cancels_the_call_at_the_upstream() {
    let stage =
        Stage::new(&[("up", one("act", &json!({ "do": "until_cancelled" })))], "").run().await;
    let params = json!({ "args": { "text": "a" } }).to_string();
    let sent = stage.world.client.post(stage.world.url("/v1/tools/up__act")).body(params).send();
    let began = stage.world.folder().join("began");
    tokio::select! {
        answered = sent => panic!("{answered:?}"),
        () = testkit::eventually("it runs", async || began.exists().then_some(())) => {}
    }
    let file = stage.world.folder().join("cancelled");
    testkit::eventually("the upstream knows", async || file.exists().then_some(())).await;
}

#[tokio::test]
async fn what_an_upstream_offers_is_at_every_door() {
    let stage = Stage::new(&[("up", one("act", &super::said("fine")))], "").run().await;
    assert_eq!(stage.listed().await, [TOOL]);
    let modern = Modern::new(&stage.world);
    let listed = modern.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], TOOL, "{listed}");
    assert_eq!(listed["result"]["tools"][0]["inputSchema"]["additionalProperties"], false);
    let called = modern.call(TOOL, &json!({ "text": "a" })).await;
    assert_eq!(text(&called), "fine");
    let scoped = Modern::new(&stage.world).at("/mcp/up").ask("tools/list", json!({})).await;
    assert_eq!(scoped["result"]["tools"][0]["name"], TOOL);
    let openapi = stage.world.send("GET", "/openapi.json", &[], None).await.json();
    assert!(openapi["paths"].get(format!("/v1/tools/{TOOL}")).is_some());
    let (code, stdout, stderr) = stage.world.cli(&["call", TOOL, "text=a"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("fine"));
    let (_, stdout, _) = stage.world.cli(&["tools"]);
    assert!(stdout.contains(TOOL), "{stdout}");
    let job = json!({ "tool": TOOL, "input": { "text": "a" }, "mode": "sync" });
    let job =
        stage.world.send("POST", "/v1/jobs", &[], Some(job.to_string().into_bytes())).await.json();
    assert_eq!(job["job"]["result"]["output"]["text"], "fine", "{job}");
}
