//! How upstreams come and go: lazily, idle, from another client's configuration, with secrets.

use std::time::Duration;

use serde_json::{Value, json};
use testkit::World;

use super::{Stage, one, said, tool};

#[tokio::test]
async fn a_lazy_one_is_started_by_the_first_call_and_stopped_when_it_is_idle() {
    let own = "start: lazy, idle_stop_ms: 3000";
    let stage = Stage::with(&[("up", one("act", &said("fine")), own)], "");
    assert_eq!(stage.world.cli(&["lock"]).0, 0);
    let stage = stage.run().await;
    assert_eq!(stage.listed().await, ["up__act"], "what is pinned is listed");
    assert_eq!(stage.children(), [0_u32; 0]);
    for _ in 0..2 {
        assert_eq!(stage.call("up__act", &json!({ "text": "a" })).await.0, 200);
        assert_eq!(stage.children().len(), 1);
        testkit::eventually("it is stopped", async || stage.children().is_empty().then_some(()))
            .await;
    }
}

#[tokio::test]
async fn many_start_together() {
    let scripts: Vec<(String, Value)> =
        (0..8).map(|number| (format!("up{number}"), one("act", &said("fine")))).collect();
    let scripts: Vec<_> =
        scripts.iter().map(|(id, script)| (id.as_str(), script.clone())).collect();
    let stage = Stage::new(&scripts, "").run().await;
    assert_eq!(stage.listed().await.len(), 8);
    let mut stage = stage;
    assert_eq!(stage.world.stop().await, 0);
    assert_eq!(stage.children(), [0_u32; 0]);
}

#[tokio::test]
async fn a_slow_one_does_not_keep_the_others_waiting_for_long() {
    let mut slow = one("act", &said("fine"));
    slow["at_start"] = json!(["sleep", 60, {}]);
    let own = "connect_timeout_ms: 1000";
    let stage =
        Stage::with(&[("slow", slow, own), ("up", one("act", &said("fine")), "")], "").run().await;
    assert_eq!(stage.call("up__act", &json!({ "text": "a" })).await.0, 200);
}

#[test]
fn another_clients_configuration_is_taken_over() {
    let world = World::new(crate::BINARY, "# mine\nserver: { max_concurrency: 8 }\n");
    world.write("scripted.py", super::SCRIPTED);
    world.write("one.json", &one("act", &said("fine")).to_string());
    let servers = json!({ "mcpServers": {
        "My Server": { "command": "python3", "args": ["scripted.py", "one.json"], "env": { "API_KEY": "123" },
            "autoApprove": ["act"] },
        "off": { "url": "https://example.com/mcp", "type": "streamable-http", "disabled": true },
        "broken": { "nothing": true },
    } });
    world.write("claude.json", &servers.to_string());
    let (code, stdout, stderr) = world.cli(&["upstream", "import", "claude.json"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("imported My-Server") && stdout.contains("imported off"), "{stdout}");
    for words in ["looks like a secret", "`autoApprove` is ignored", "broken: not imported"] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
    let settings = std::fs::read_to_string(world.folder().join("toolgate.yaml")).unwrap();
    assert!(settings.starts_with("# mine\n"), "{settings}");
    let (code, stdout, stderr) = world.cli(&["upstream", "list"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    assert!(stdout.contains("disabled") && stdout.contains("ready"), "{stdout}");
    assert_eq!(world.cli(&["call", "My-Server__act", "text=a"]).0, 0);
    // Once is enough.
    let (code, _, stderr) = world.cli(&["upstream", "import", "claude.json"]);
    assert_eq!(code, 1);
    assert!(stderr.contains("the settings have an upstream with this id"), "{stderr}");
}

#[test]
fn mistakes_in_the_settings_are_told_where_they_stand() {
    for (settings, words) in [
        ("upstreams: { a__b: { command: x } }", "must not contain `__`"),
        ("upstreams: { a: {} }", "needs a `command` or a `url`"),
        ("upstreams: { a: { command: x, url: \"http://h/\" } }", "both"),
        ("upstreams: { a: { url: \"http://h/\", start: lazy } }", "`start` needs a `command`"),
        ("upstreams: { a: { command: x, ouptut: text } }", "ouptut"),
        ("upstreams: { a: { command: x } }\nallowlist: { b: [c] }", "there is no upstream `b`"),
        ("upstreams: { a: { url: \"ftp://h/\" } }", "not an http or https URL"),
    ] {
        let world = World::new(crate::BINARY, &format!("{settings}\n"));
        let (code, stdout, stderr) = world.cli(&["tools"]);
        assert_eq!(code, 2, "{settings}");
        assert!(stderr.contains(words) || stdout.contains(words), "{settings}: {stdout}{stderr}");
    }
}

#[tokio::test]
async fn the_operator_sees_how_they_are_and_nobody_else() {
    let script = json!({ "tools": [tool("act"), { "name": "bare" }] });
    let stage = Stage::new(&[("up", script)], "").run().await;
    assert_eq!(stage.world.send("GET", "/v1/upstreams", &[], None).await.status, 401);
    let token = std::fs::read_to_string(stage.world.folder().join("data/operator.token")).unwrap();
    let bearer = format!("Bearer {}", token.trim());
    let answer =
        stage.world.send("GET", "/v1/upstreams", &[("authorization", &bearer)], None).await;
    let one = &answer.json()["upstreams"][0];
    assert_eq!((&one["state"], &one["tools"]), (&json!("ready"), &json!(["up__act"])), "{one}");
    assert_eq!(one["rejected"][0]["reason"], "no_description", "{one}");
    tokio::time::sleep(Duration::from_millis(1)).await;
}

#[tokio::test]
async fn doctor_says_what_to_do() {
    let stage = Stage::new(
        &[("up", json!({ "tools": [tool("act")] }))],
        "  gone: { command: no-such-program }\n",
    );
    let (code, stdout, _) = stage.world.cli(&["doctor"]);
    assert_eq!(code, 1);
    for words in [
        "up: 1 tool (2025-11-25)",
        "program `no-such-program` was not found",
        "install the program",
        "no tools are pinned",
    ] {
        assert!(stdout.contains(words), "{words}: {stdout}");
    }
}
