//! What passes between an upstream and a caller while a call runs: progress, questions, cancellation.

use serde_json::{Value, json};
use testkit::mcp::{Modern, Piped, meta};

use super::{Upstreams, one};

const TOOL: &str = "up__act";

fn form() -> Value {
    json!({ "mode": "form", "message": "Who?", "requestedSchema": { "type": "object",
        "properties": { "name": { "type": "string" } }, "required": ["name"] } })
}

fn reply() -> Value {
    json!({ "action": "accept", "content": { "name": "Ada" } })
}

/// An upstream of either protocol version that asks.
fn asking(modern: bool) -> Upstreams {
    let what = if modern { "ask_again" } else { "ask" };
    let mut script = one("act", &json!({ "do": [what, "elicitation/create", form()] }));
    if modern {
        script["modern"] = json!(true);
    }
    Upstreams::with(&[("up", script, "questions: true")], "")
}

fn text(result: &Value) -> &str {
    result["structuredContent"]["text"].as_str().unwrap_or_else(|| panic!("{result}"))
}

#[test]
fn a_question_of_either_protocol_version_reaches_a_legacy_client() {
    for modern in [false, true] {
        let world = asking(modern);
        let mut client = Piped::start(&world, &[]);
        client.initialize(&json!({ "elicitation": {} }));
        let params = json!({ "name": TOOL, "arguments": { "text": "a" } });
        let asked = client.ask(1, "tools/call", &params);
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], "`up` asks: Who?");
        let answer = client.respond(&asked, &reply());
        assert!(text(&answer["result"]).contains("Ada"), "{answer}");
        if modern {
            assert!(text(&answer["result"]).contains("opaque"), "it hears its state: {answer}");
        }
    }
}

#[test]
fn a_question_of_either_protocol_version_reaches_a_modern_client() {
    for modern in [false, true] {
        let world = asking(modern);
        let mut client = Piped::start(&world, &[]);
        let able = json!({ "elicitation": {} });
        let mut params =
            json!({ "name": TOOL, "arguments": { "text": "a" }, "_meta": meta(&able) });
        let first = client.ask(1, "tools/call", &params)["result"].clone();
        assert_eq!(first["resultType"], "input_required", "{first}");
        let (name, asked) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(asked["params"]["message"], "`up` asks: Who?");
        params["inputResponses"] = json!({ name: reply() });
        params["requestState"] = first["requestState"].clone();
        let last = client.ask(2, "tools/call", &params)["result"].clone();
        assert!(text(&last).contains("Ada"), "{last}");
    }
}

#[test]
fn a_client_that_cannot_be_asked_is_not() {
    for modern in [false, true] {
        let world = asking(modern);
        let mut client = Piped::start(&world, &[]);
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
    let world = Upstreams::new(&[("up", one("act", &json!({ "do": "progress" })))], "");
    let mut client = Piped::start(&world, &[]);
    client.initialize(&json!({}));
    let params =
        json!({ "name": TOOL, "arguments": { "text": "a" }, "_meta": { "progressToken": "p" } });
    let mut seen = Vec::new();
    let mut message = client.ask(1, "tools/call", &params);
    while message.get("id").is_none() {
        assert_eq!(message["params"]["progressToken"], "p");
        seen.push(message["params"]["message"].as_str().unwrap().to_owned());
        message = client.heard_beside_listings();
    }
    assert_eq!(text(&message["result"]), "done");
    assert_eq!(seen, ["step 1", "step 2", "step 3"]);
}

#[tokio::test]
async fn a_closed_connection_cancels_the_call_at_the_upstream() {
    let world = Upstreams::new(&[("up", one("act", &json!({ "do": "until_cancelled" })))], "")
        .started()
        .await;
    let params = json!({ "args": { "text": "a" } }).to_string();
    let sent = world.client.post(world.url("/v1/tools/up__act")).body(params).send();
    let began = world.folder().join("servers/began");
    tokio::select! {
        answered = sent => panic!("{answered:?}"),
        () = testkit::eventually("it runs", async || began.exists()) => {}
    }
    let file = world.folder().join("servers/cancelled");
    testkit::eventually("the upstream knows", async || file.exists()).await;
}

#[tokio::test]
async fn what_an_upstream_offers_is_at_every_door() {
    let world = Upstreams::new(&[("up", one("act", &super::said("fine")))], "").started().await;
    assert_eq!(world.listed().await, [TOOL]);
    let modern = Modern::new(&world);
    let listed = modern.ask("tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"][0]["name"], TOOL, "{listed}");
    assert_eq!(listed["result"]["tools"][0]["inputSchema"]["additionalProperties"], false);
    let called = modern.call(TOOL, &json!({ "text": "a" })).await;
    assert_eq!(text(&called), "fine");
    let scoped = Modern::new(&world).at("/mcp/up").ask("tools/list", json!({})).await;
    assert_eq!(scoped["result"]["tools"][0]["name"], TOOL);
    let openapi = world.get("/openapi.json").await.json();
    assert!(openapi["paths"].get(format!("/v1/tools/{TOOL}")).is_some());
    world.cli(&["call", TOOL, "text=a"]).exits(0).stdout_has("fine");
    world.cli("tools").stdout_has(TOOL);
    let job = json!({ "tool": TOOL, "input": { "text": "a" }, "mode": "sync" });
    let job = world.send("POST", "/v1/jobs", &[], Some(job.to_string().into_bytes())).await.json();
    assert_eq!(job["job"]["result"]["output"]["text"], "fine", "{job}");
}
