//! Questions, at the doors: three real servers behind the gate, and a scripted model on a socket.

mod cli;
mod eval;
mod rest;

use serde_json::{Value, json};
use testkit::{Act, Peer, PeerRequest, World};

/// The model: it understands the questions of these tests, and of the documents.
pub async fn model() -> Peer {
    Peer::start(answer).await
}

/// What a good model says.
fn answer(heard: &PeerRequest) -> Vec<Act> {
    let messages = heard.field("messages");
    let user = messages[1]["content"].as_str().unwrap();
    let text = if user.contains("<source>") { summary(user) } else { plan(user).to_string() };
    vec![Act::json(json!({
        "model": "scripted",
        "choices": [{ "index": 0, "message": { "content": text }, "finish_reason": "stop" }],
    }))]
}

fn plan(user: &str) -> Value {
    let call = |server: &str, tool: &str, args: Value| json!({ "type": "call_tool", "server": server, "tool": tool, "args": args });
    let id = |start: &str| {
        let from = user.find(start)?;
        let end = user[from..].find(|one: char| !one.is_ascii_alphanumeric() && one != '-')?;
        Some(user[from..from + end].to_owned())
    };
    if let Some(id) = id("policy-0") {
        return call("mcp-policy-kb", "fetch_policy_entry", json!({ "policy_id": id }));
    }
    if let Some(id) = id("sp-") {
        return call("mcp-sharepoint", "fetch_sharepoint_doc", json!({ "doc_id": id }));
    }
    if user.contains("retention.md") {
        return call("file-io", "read_file", json!({ "path": "retention.md" }));
    }
    if user.contains("doc_id") {
        return call("mcp-sharepoint", "fetch_sharepoint_doc", json!({ "doc_id": 123 }));
    }
    if user.contains("PII Logging") {
        return call("mcp-sharepoint", "search_sharepoint", json!({ "query": "PII Logging" }));
    }
    json!({ "type": "final_answer", "tool": "mcp-sharepoint.fetch_sharepoint_doc", "needs_more_info": true })
}

/// The first lines of the source but for ids; of a document those about logs.
fn summary(user: &str) -> String {
    let (source, _) = user.split_once("</source>").unwrap();
    let lines = source.lines().filter(|line| line.starts_with('"'));
    let is_meant = |line: &String| {
        !line.contains("_id: ") && (!user.contains("retention.md") || line.contains("log"))
    };
    let lines = lines.map(|line| serde_json::from_str::<String>(line).unwrap()).filter(is_meant);
    let bullets: Vec<_> = lines.take(3).map(|line| json!({ "evidence": line })).collect();
    json!({ "type": "summary", "bullets": bullets }).to_string()
}

/// Three servers, an allowlist, and this model.
pub fn world(peer: &Peer) -> World {
    World::copy_of(crate::BINARY, &crate::root().join("examples/multi-host"))
        .with_env("TOOLGATE_LLM__BASE_URL", &peer.url("/v1"))
        .with_env("TOOLGATE_LLM__MODEL", "scripted")
        .with_env("TOOLGATE_LLM__STALL_TIMEOUT_MS", "2000")
}

/// The same with a server, and a model that understands the questions of these tests.
async fn serving() -> World {
    world(&model().await).started().await
}

/// How often tools were called, as the journal has it.
fn calls(world: &World) -> Vec<String> {
    let journal = world.journal();
    let calls = journal.iter().filter(|line| line["event"] == "tool_call");
    calls.map(|line| line["tool"].as_str().unwrap().to_owned()).collect()
}
