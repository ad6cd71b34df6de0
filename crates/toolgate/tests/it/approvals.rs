//! Calls that a person must approve, through every door.

mod cli;
mod hostile;
mod jobs;
mod mcp_http;
mod mcp_stdio;
mod policy;
mod rest;
mod watch;

use serde_json::{Value, json};
use testkit::{Answer, World};

use crate::BINARY;

/// A world with the tool `marks`, which leaves a line in a file and needs an approval, and no
/// server yet.
fn closed(settings: &str) -> World {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    let mark = world.folder().join("mark").display().to_string();
    let script = format!("cat > /dev/null; echo x >> '{mark}'; echo '{{\"answer\":1}}'");
    crate::command(&world, "marks", &script, "approval: required");
    world
}

/// The same with a server.
async fn open(settings: &str) -> World {
    let mut world = closed(settings);
    world.run().await;
    world
}

/// How often `marks` has run.
fn runs(world: &World) -> usize {
    let text = std::fs::read_to_string(world.folder().join("mark")).unwrap_or_default();
    text.lines().count()
}

/// The header of the operator.
fn operator(world: &World) -> String {
    let token = std::fs::read_to_string(world.folder().join("data/operator.token")).unwrap();
    format!("Bearer {}", token.trim())
}

/// A request of the operator.
async fn as_operator(world: &World, method: &str, path: &str, body: Option<Value>) -> Answer {
    let authorization = operator(world);
    let headers = [("authorization", authorization.as_str())];
    let body = body.map(|body| body.to_string().into_bytes());
    world.send(method, path, &headers, body).await
}

async fn decide(world: &World, id: &str, decision: &str) -> Answer {
    let body = json!({ "decision": decision, "reason": "so it is" });
    as_operator(world, "POST", &format!("/v1/approvals/{id}"), Some(body)).await
}

/// How an approval stands.
async fn status(world: &World, id: &str) -> String {
    let answer = as_operator(world, "GET", &format!("/v1/approvals/{id}"), None).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["status"].as_str().unwrap().to_owned()
}

/// Approves in a terminal.
fn approve(world: &World, id: &str) {
    let (code, stdout, stderr) = world.cli(&["approvals", "approve", id]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.starts_with(&format!("approved: {id}, marks for ")), "{stdout}");
}

/// `POST /v1/tools/marks`.
async fn call(world: &World, body: Value) -> Answer {
    world.post("/v1/tools/marks", &body.to_string()).await
}

/// The approval that a call of `marks` with this value has to wait for.
async fn ask(world: &World, value: Value) -> String {
    let answer = call(world, json!({ "args": { "value": value } })).await;
    let said = answer.json();
    assert_eq!((answer.status, &said["code"]), (403, &json!("approval_required")), "{said}");
    let id = said["details"]["approval_id"].as_str().unwrap();
    assert!(said["error"].as_str().unwrap().contains(id), "{said}");
    id.to_owned()
}

/// The only approval that waits.
async fn waiting(world: &World) -> Value {
    testkit::eventually("one request waits", async || {
        let listed = as_operator(world, "GET", "/v1/approvals?status=waiting", None).await.json();
        let all = listed["approvals"].as_array().unwrap().clone();
        (all.len() == 1).then(|| all[0].clone())
    })
    .await
}

/// The events about approvals in the journal, in their order.
fn events(world: &World) -> Vec<String> {
    let lines = world.journal().into_iter();
    let events = lines.map(|line| line["event"].as_str().unwrap().to_owned());
    events.filter_map(|event| event.strip_prefix("approval_").map(str::to_owned)).collect()
}
