//! How upstreams come and go: lazily, idle, from another client's configuration, with secrets.

use serde_json::{Value, json};
use testkit::World;

use super::{Upstreams, one, said, tool};

#[tokio::test]
async fn a_lazy_one_is_started_by_the_first_call_and_stopped_when_it_is_idle() {
    let own = "start: lazy, idle_stop_ms: 3000";
    let world =
        Upstreams::with(&[("up", one("act", &said("fine")), own)], "").pinned().started().await;
    assert_eq!(world.listed().await, ["up__act"], "what is pinned is listed");
    assert_eq!(world.children(), [0_u32; 0]);
    for _ in 0..2 {
        assert_eq!(world.call("up__act", &json!({ "text": "a" })).await.status, 200);
        assert_eq!(world.children().len(), 1);
        testkit::eventually("it is stopped", async || world.children().is_empty()).await;
    }
}

#[tokio::test]
async fn many_start_together() {
    let scripts: Vec<(String, Value)> =
        (0..8).map(|number| (format!("up{number}"), one("act", &said("fine")))).collect();
    let scripts: Vec<_> =
        scripts.iter().map(|(id, script)| (id.as_str(), script.clone())).collect();
    let world = Upstreams::new(&scripts, "").started().await;
    assert_eq!(world.listed().await.len(), 8);
    let mut world = world;
    assert_eq!(world.stop().await, 0);
    assert_eq!(world.children(), [0_u32; 0]);
}

#[tokio::test]
async fn a_slow_one_does_not_keep_the_others_waiting_for_long() {
    let mut slow = one("act", &said("fine"));
    slow["at_start"] = json!(["sleep", 60, {}]);
    let own = "connect_timeout_ms: 1000";
    let world = Upstreams::with(&[("slow", slow, own), ("up", one("act", &said("fine")), "")], "")
        .started()
        .await;
    assert_eq!(world.call("up__act", &json!({ "text": "a" })).await.status, 200);
}

#[test]
fn another_clients_configuration_is_taken_over() {
    let world = World::new(crate::BINARY, "# mine\nserver: { max_concurrency: 8 }\n");
    world.write("servers/scripted.py", super::SCRIPTED);
    world.write("servers/one.json", &one("act", &said("fine")).to_string());
    let servers = json!({ "mcpServers": {
        "My Server": { "command": "python3", "args": ["scripted.py", "one.json"], "cwd": "servers",
            "env": { "API_KEY": "123" },
            "autoApprove": ["act"] },
        "off": { "url": "https://example.com/mcp", "type": "streamable-http", "disabled": true },
        "broken": { "nothing": true },
    } });
    world.write("claude.json", &servers.to_string());
    let output = world.cli("upstream import claude.json").exits(0);
    let output = output.stdout_has("imported My-Server").stdout_has("imported off");
    output.stderr_has_all([
        "looks like a secret",
        "`autoApprove` is ignored",
        "broken: not imported",
    ]);
    let settings = world.read("toolgate.yaml");
    assert!(settings.starts_with("# mine\n"), "{settings}");
    world.cli("upstream list").exits(0).stdout_has("disabled").stdout_has("ready");
    world.cli("call My-Server__act text=a").exits(0);
    // Once is enough.
    let output = world.cli("upstream import claude.json").exits(1);
    output.stderr_has("the settings have an upstream with this id");
}

#[tokio::test]
async fn the_operator_sees_how_they_are_and_nobody_else() {
    let script = json!({ "tools": [tool("act"), { "name": "bare" }] });
    let world = Upstreams::new(&[("up", script)], "").started().await;
    assert_eq!(world.get("/v1/upstreams").await.status, 401);
    let one = &world.as_operator("GET", "/v1/upstreams", None).await.json()["upstreams"][0];
    assert_eq!((&one["state"], &one["tools"]), (&json!("ready"), &json!(["up__act"])), "{one}");
    assert_eq!(one["rejected"][0]["reason"], "no_description", "{one}");
}

#[tokio::test]
async fn doctor_says_what_to_do() {
    let world = Upstreams::new(
        &[("up", json!({ "tools": [tool("act")] }))],
        "  gone: { command: no-such-program }\n",
    );
    world.cli("doctor").exits(1).stdout_has_all([
        "up: 1 tool (2025-11-25)",
        "program `no-such-program` was not found",
        "install the program",
        "no tools are pinned",
    ]);
}
