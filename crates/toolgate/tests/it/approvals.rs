//! Calls that a person must approve, through every door.

mod cli;
mod hostile;
mod jobs;
mod long_arguments;
mod mcp_http;
mod mcp_stdio;
mod policy;
mod rest;
mod watch;

use serde_json::{Value, json};
use testkit::{Answer, World};

use crate::runs;

/// A world with the tool `marks`, which needs an approval, and no server yet.
fn closed(settings: &str) -> World {
    crate::with_counted(settings, "marks", r#"{"answer":1}"#, "approval: required")
}

/// The same with a server.
async fn open(settings: &str) -> World {
    closed(settings).started().await
}

async fn decide(world: &World, id: &str, decision: &str) -> Answer {
    let body = json!({ "decision": decision, "reason": "so it is" });
    world.as_operator("POST", &format!("/v1/approvals/{id}"), Some(body)).await
}

/// The status of an approval.
async fn status(world: &World, id: &str) -> String {
    let answer = world.as_operator("GET", &format!("/v1/approvals/{id}"), None).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["status"].as_str().unwrap().to_owned()
}

/// Approves in a terminal.
fn approve(world: &World, id: &str) {
    let stdout = world.cli(&["approvals", "approve", id]).exits(0).stdout;
    assert!(stdout.starts_with(&format!("approved: {id}, marks for ")), "{stdout}");
}

/// `POST /v1/tools/marks`.
async fn call(world: &World, body: Value) -> Answer {
    world.post("/v1/tools/marks", &body).await
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

/// The id of the only approval that waits.
async fn waiting_id(world: &World) -> String {
    waiting(world).await["id"].as_str().unwrap().to_owned()
}

/// The only approval that waits.
async fn waiting(world: &World) -> Value {
    testkit::eventually("one request waits", async || {
        let listed = world.as_operator("GET", "/v1/approvals?status=waiting", None).await.json();
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
