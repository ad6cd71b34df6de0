//! What happens to upstreams and their tools is told: in the log with the command that shows more, in the journal, and by a
//! counter.

use serde_json::{Value, json};

use super::{Upstreams, one, said, tool};

const CALLED: &str = "up__act";

/// The events of a kind in the journal.
fn events(world: &Upstreams, event: &str) -> Vec<Value> {
    let journal = world.read("data/journal.jsonl");
    let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["event"] == event).collect()
}

/// Waits for an event with these fields, and for its counter and its words in the log.
async fn told(world: &Upstreams, event: &str, fields: Value, counter: &str, words: &str) {
    testkit::eventually(&format!("`{event}` is told"), async || {
        let is_it = |line: &Value| {
            fields.as_object().unwrap().iter().all(|(name, value)| line[name] == *value)
        };
        events(world, event).iter().any(is_it)
            && world.get("/metrics").await.text().contains(&format!("\n{counter}\n"))
            && world.stderr().contains(words)
    })
    .await;
}

fn args(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn rejected_tools_are_told_and_their_calls_are_not_of_unknown_tools() {
    let mut script = one("act", &said("fine"));
    let mut bare = tool("bare");
    bare.as_object_mut().unwrap().remove("outputSchema");
    script["tools"].as_array_mut().unwrap().push(bare);
    let world = Upstreams::new(&[("up", script)], "").started().await;
    let rejected = json!({ "upstream": "up", "reason": "uncontracted", "tools": ["bare"] });
    let fix = "fix: `toolgate upstream set up output=content`";
    told(&world, "tools_rejected", rejected, "toolgate_tools_rejected_total 1", fix).await;
    let connected = json!({ "upstream": "up", "tools": 1 });
    told(
        &world,
        "upstream_connected",
        connected,
        "toolgate_upstream_connected_total 1",
        "connected",
    )
    .await;
    assert_eq!(world.call("up__bare", &args("a")).await.json()["code"], "not_allowed");
    let metrics = world.get("/metrics").await.text();
    assert!(metrics.contains("\ntoolgate_withheld_tool_total 1\n"), "{metrics}");
    assert!(metrics.contains("\ntoolgate_unknown_tool_total 0\n"), "{metrics}");
    assert_eq!(world.call("up__none", &args("a")).await.json()["code"], "unknown_tool");
    let metrics = world.get("/metrics").await.text();
    assert!(metrics.contains("\ntoolgate_unknown_tool_total 1\n"), "{metrics}");
    world.cli("call up__bare text=a").exits(1).stderr_has("hint: `toolgate upstream set up");
}

#[tokio::test]
async fn a_tool_that_changed_since_it_was_pinned_is_told() {
    let world = Upstreams::new(&[("up", one("act", &said("fine")))], "").pinned();
    let mut changed = one("act", &said("fine"));
    changed["tools"][0]["description"] = json!("Does something else.");
    world.script("up", &changed);
    let world = world.started().await;
    let fields = json!({ "upstream": "up", "count": 1, "tools": ["act"] });
    let command = "`toolgate lock diff up.act`";
    told(&world, "tools_changed", fields, "toolgate_tools_changed_total 1", command).await;
    assert_eq!(events(&world, "tools_rejected"), Vec::<Value>::new());
    assert_eq!(world.call(CALLED, &args("a")).await.json()["code"], "contract_changed");
}

#[tokio::test]
async fn a_server_that_is_lost_and_back_is_told_once_each() {
    let mut script = one("act", &said("fine"));
    script["answers"]["act"]["die"] = json!({ "do": ["die"] });
    let world = Upstreams::with(&[("up", script, "max_restart_delay_ms: 200")], "").started().await;
    assert_eq!(world.call(CALLED, &args("a")).await.status, 200);
    assert_ne!(world.call(CALLED, &args("die")).await.status, 200);
    let (fields, command) = (json!({ "upstream": "up" }), "`toolgate upstream show up`");
    told(&world, "upstream_failed", fields.clone(), "toolgate_upstream_failed_total 1", command)
        .await;
    told(&world, "upstream_connected", fields, "toolgate_upstream_connected_total 2", "connected")
        .await;
    assert_eq!(events(&world, "upstream_failed").len(), 1);
}

#[tokio::test]
async fn a_server_that_never_starts_is_told_once() {
    let mut dead = one("act", &said("fine"));
    dead["at_start"] = json!("die");
    let own = "max_restart_delay_ms: 100";
    let world = Upstreams::with(&[("dead", dead, own), ("up", one("act", &said("fine")), "")], "");
    let world = world.started().await;
    testkit::eventually("it was tried again", async || {
        world.stderr().matches("connection lost").count() >= 3
    })
    .await;
    assert_eq!(events(&world, "upstream_failed").len(), 1);
    world.cli("call dead__act text=a").exits(2).stderr_has("hint: `toolgate upstream show dead`");
    let shown = world.cli("upstream show dead").exits(1);
    shown.stdout_has("dead").stdout_has("down");
}

#[tokio::test]
async fn approvals_that_wait_and_outputs_in_quarantine_are_told() {
    let wrong = json!({ "result": { "content": [], "structuredContent": { "text": 5 }, "isError": false } });
    let scripts = [("up", one("act", &wrong)), ("asks", one("act", &said("fine")))];
    let world =
        Upstreams::new(&scripts, "policy: { approval: [ { toolset: asks, require: always } ] }\n")
            .started()
            .await;
    assert_eq!(world.call(CALLED, &args("a")).await.json()["code"], "invalid_output");
    assert_eq!(world.call("asks__act", &args("a")).await.json()["code"], "approval_required");
    let command = "`toolgate quarantine show q_";
    let counter = "toolgate_quarantined_total 1";
    told(&world, "output_quarantined", json!({ "tool": CALLED }), counter, command).await;
    let command = "`toolgate approvals approve ";
    let counter = "toolgate_approvals_requested_total 1";
    told(&world, "approval_requested", json!({ "tool": "asks__act" }), counter, command).await;
}
