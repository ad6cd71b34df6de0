//! What a reload changes behind HTTP and MCP, and what stays as it is.

use serde_json::{Value, json};
use testkit::{
    Raw, World,
    mcp::{ACCEPT, JSON, Legacy, frame},
    texts,
};

use super::{ONLY_SIGNALS, change, code, events, reload, reload_fails, status};
use crate::{BINARY, command, command_that_waits};

const ADA: &str = "ada-0123456789abcdef0123456789abcdef";
const BOB: &str = "bob-0123456789abcdef0123456789abcdef";

async fn as_caller(world: &World, token: &str, path: &str) -> u16 {
    let token = format!("Bearer {token}");
    world.send("GET", path, &[("authorization", &token)], None).await.status
}

#[tokio::test]
async fn tokens_come_and_go() {
    let world = World::new(
        BINARY,
        "server: { watch_interval_ms: 0, tokens: [ { name: ada, token_env: ADA_TOKEN } ] }\n",
    );
    world.write("toolgate.env", &format!("ADA_TOKEN={ADA}\nBOB_TOKEN={BOB}\n"));
    let world = world.started().await;
    assert_eq!(as_caller(&world, ADA, "/v1/tools").await, 200);
    assert_eq!(as_caller(&world, BOB, "/v1/tools").await, 401);
    let before = listening(&world, ADA).await;

    change(&world, "name: ada, token_env: ADA_TOKEN", "name: bob, token_env: BOB_TOKEN");
    reload(&world).await;
    assert_eq!(as_caller(&world, ADA, "/v1/tools").await, 401);
    assert_eq!(as_caller(&world, BOB, "/v1/tools").await, 200);
    // A stream that was opened with it ends too.
    before.closed().await;

    // The same name with another token is another token.
    let after = listening(&world, BOB).await;
    world.write("toolgate.env", &format!("BOB_TOKEN={ADA}\n"));
    reload(&world).await;
    assert_eq!(as_caller(&world, ADA, "/v1/tools").await, 200);
    assert_eq!(as_caller(&world, BOB, "/v1/tools").await, 401);
    after.closed().await;

    // A variable that is missing keeps those of before.
    world.write("toolgate.env", "");
    let failed = reload_fails(&world).await;
    assert!(failed["error"].as_str().unwrap().contains("BOB_TOKEN"), "{failed}");
    assert_eq!(as_caller(&world, ADA, "/v1/tools").await, 200);
}

/// A stream of notifications that was opened with this token.
async fn listening(world: &World, token: &str) -> Raw {
    let token = format!("Bearer {token}");
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } });
    let body = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let headers = [JSON, ACCEPT, ("authorization", &*token)];
    let opened = world.send("POST", "/mcp", &headers, Some(body.to_string().into_bytes())).await;
    let session = ("mcp-session-id", opened.header("mcp-session-id"));
    let close = ("connection", "close");
    let headers = [ACCEPT, ("authorization", &*token), session, close];
    let mut raw = world.sent(frame("GET", "/mcp", &headers, "")).await;
    assert_eq!(raw.head().await.status, 200);
    raw
}

#[tokio::test]
async fn a_server_that_others_reach_keeps_its_tokens() {
    let settings = "server:
  listen: 0.0.0.0:0
  watch_interval_ms: 0
  tokens: [ { name: ada, token_env: ADA_TOKEN } ]
";
    let mut world = World::new(BINARY, settings).with_env("ADA_TOKEN", ADA);
    world.run_with(&["serve"]).await;
    // The settings alone would be right: they name a loopback address.
    world.write("toolgate.yaml", "server: { watch_interval_ms: 0 }\n");
    let failed = reload_fails(&world).await;
    assert!(failed["error"].as_str().unwrap().contains("server.tokens"), "{failed}");
    assert_eq!(world.get("/v1/tools").await.status, 401);
    assert_eq!(as_caller(&world, ADA, "/v1/tools").await, 200);
}

#[tokio::test]
async fn contracts_policy_limits_and_names_are_those_of_the_files() {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{ONLY_SIGNALS}"));
    command(&world, "first", "echo '{\"answer\":1}'", "");
    let world = world.started().await;
    assert_eq!(code(&world, "first").await, "ok");
    assert_eq!(code(&world, "second").await, "unknown_tool");
    let calls = "toolgate_calls_total{tool=\"first\",code=\"ok\"}";

    command(&world, "second", "echo '{\"answer\":2}'", "");
    command(&world, "first", "echo '{\"answer\":1, \"more\":1}'", "");
    change(
        &world,
        ONLY_SIGNALS,
        "server: { watch_interval_ms: 0, max_body_bytes: 200 }
mcp: { names: portable }
limits: { ceilings: { timeout_ms: 1234 } }
policy: { approval: [ { tool: second, require: always } ] }
retention: { max_jobs: 7 }
",
    );
    reload(&world).await;
    assert_eq!(code(&world, "first").await, "invalid_output");
    assert_eq!(code(&world, "second").await, "approval_required");
    let long = json!({ "args": { "value": "x".repeat(300) } });
    assert_eq!(world.post("/v1/tools/first", long).await.status, 413);
    let call =
        json!({ "tool": "first", "input": {}, "context": { "limits": { "timeout_ms": 2_000 } } });
    let refused = world.execute(&call).await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    let listed = Legacy::open(&world).await.ask("tools/list", &json!({})).await;
    let names = texts(&listed["result"]["tools"], "name");
    assert!(names.contains(&"search_web".to_owned()), "{names:?}");
    // Counters go on.
    let metrics = world.get("/metrics").await.text();
    assert!(metrics.contains(&format!("{calls} 1")), "{metrics}");
    assert!(metrics.contains("toolgate_settings_reloads_total{result=\"ok\"} 1"), "{metrics}");

    std::fs::remove_file(world.folder().join("contracts/second.yaml")).unwrap();
    // A rule that matches nothing leaves a tool unguarded.
    let failed = reload_fails(&world).await;
    assert!(failed["error"].as_str().unwrap().contains("there is no tool `second`"), "{failed}");
    assert_eq!(code(&world, "second").await, "approval_required");
    change(&world, "policy: { approval: [ { tool: second, require: always } ] }\n", "");
    reload(&world).await;
    assert_eq!(code(&world, "second").await, "unknown_tool");
}

#[tokio::test]
async fn running_calls_and_jobs_end_under_the_contract_that_they_began_with() {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{ONLY_SIGNALS}"));
    let go = command_that_waits(&world, "slow");
    let world = world.started().await;
    let job = world.submit(&json!({ "tool": "slow", "input": {} })).await;
    world.until_job_is(&job, "running").await;
    let arguments = json!({});
    let calling = world.call("slow", &arguments);
    let reloading = async {
        testkit::eventually("both run", async || {
            world.get("/metrics").await.text().contains("toolgate_calls_running 2")
        })
        .await;
        // The tool is another now, and its answer of before would break its contract.
        world.write_program("contracts/other.sh", "#!/bin/sh\necho '{\"other\":1}'\n");
        let contract = world.read("contracts/slow.yaml").replace("./slow.sh", "./other.sh");
        world.write("contracts/slow.yaml", &contract.replace("answer", "other"));
        reload(&world).await;
        let answer = world.call("slow", &json!({})).await.json();
        assert_eq!(answer["result"], json!({ "other": 1 }), "{answer}");
        std::fs::write(&go, "").unwrap();
    };
    let (answer, ()) = tokio::join!(calling, reloading);
    assert_eq!(answer.json()["result"], json!({ "answer": 1 }), "{}", answer.text());
    world.until_job_is(&job, "succeeded").await;
}

#[tokio::test]
async fn sessions_and_approvals_stay_and_clients_hear_of_other_tools() {
    let settings = "contracts: [ ./contracts ]
policy: { approval: [ { tool: marks, require: always } ] }
";
    let world = World::new(BINARY, &format!("{settings}{ONLY_SIGNALS}"));
    command(&world, "marks", "echo '{\"answer\":1}'", "");
    let world = world.started().await;
    assert_eq!(code(&world, "marks").await, "approval_required");
    let job = world.submit(&json!({ "tool": "marks", "input": { "value": 2 } })).await;
    world.until_job_is(&job, "waiting_approval").await;
    let client = Legacy::open(&world).await;
    let session = ("mcp-session-id", &*client.session);
    let mut hears = world.sent(frame("GET", "/mcp", &[ACCEPT, session], "")).await;
    assert_eq!(hears.head().await.status, 200);

    // The listing is the same: there is nothing to hear.
    change(&world, "policy:", "retention: { max_jobs: 9 }\npolicy:");
    reload(&world).await;
    command(&world, "more", "echo '{\"answer\":1}'", "");
    reload(&world).await;
    let mut text = String::new();
    while !text.contains("notifications/resources/list_changed") {
        text += &hears.more().await;
    }
    assert_eq!(text.matches("notifications/tools/list_changed").count(), 1, "{text}");
    let listed = client.ask("tools/list", &json!({})).await;
    assert!(texts(&listed["result"]["tools"], "name").contains(&"more".to_owned()));

    let waiting = world.as_operator("GET", "/v1/approvals", None).await.json();
    let waiting = texts(&waiting["approvals"], "id");
    assert_eq!(waiting.len(), 2);
    for id in waiting {
        world.cli(&["approvals", "approve", &id]).exits(0);
    }
    assert_eq!(code(&world, "marks").await, "ok");
    world.until_job_is(&job, "succeeded").await;
}

#[tokio::test]
async fn the_model_of_ask_is_that_of_the_settings() {
    let world = World::start(BINARY, ONLY_SIGNALS).await;
    let question = json!({ "question": "What does retention.md say?" });
    let asked = world.post("/v1/ask", &question).await.text();
    assert!(asked.contains("no language model is configured"), "{asked}");
    let model = crate::ask::model().await;
    let llm = format!("llm: {{ base_url: \"{}\", model: scripted }}\n", model.url("/v1"));
    world.write("toolgate.yaml", &format!("{llm}{ONLY_SIGNALS}"));
    reload(&world).await;
    let asked = world.post("/v1/ask", &question).await.json();
    assert_eq!(asked["plan"]["tool"], "read_file", "{asked}");
    // Counters go on.
    let metrics = world.get("/metrics").await.text();
    let runs = metrics.lines().filter(|line| line.starts_with("toolgate_ask_runs_total"));
    assert_eq!(runs.count(), 2, "{metrics}");
}

#[tokio::test]
async fn what_is_bound_at_the_start_is_named_and_the_rest_is_applied() {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{ONLY_SIGNALS}"));
    command(&world, "first", "echo '{\"answer\":1}'", "");
    let world = world.started().await;
    world.cli("config status").exits(0).stdout_has("are in force since").stdout_lacks("restart");
    let settings = "contracts: [ ./contracts ]
data_dir: ./elsewhere
work_dir: ./work
journal: { path: ./lines.jsonl }
server: { watch_interval_ms: 0, listen: \"127.0.0.1:1\", max_concurrency: 7 }
mcp: { max_sessions: 9, page_size: 3 }
policy: { approval: [ { tool: first, require: always } ] }
";
    world.write("toolgate.yaml", settings);
    let event = reload(&world).await;
    // `--listen` on the command line goes before the file.
    let named = ["server.max_concurrency", "mcp.max_sessions", "data_dir", "work_dir", "journal"];
    assert_eq!(event["after_restart"], json!(named), "{event}");
    assert_eq!(code(&world, "first").await, "approval_required");
    assert!(!world.has("elsewhere") && !world.has("lines.jsonl"));
    assert_eq!(status(&world).await["after_restart"], json!(named));
    let shown = world.cli(&["config", "status", "--data-dir", "data"]).exits(0);
    shown.stdout_has("`journal` has changed; it takes effect after a restart");
    assert!(world.stderr().contains("`data_dir` has changed; it takes effect after a restart"));
    // An agent gets at nothing of the folder that is really used.
    change(&world, "data_dir: ./elsewhere\n", "tools: { file_io: { root: ./data } }\n");
    let failed = reload_fails(&world).await;
    assert!(failed["error"].as_str().unwrap().contains("tools.file_io.root"), "{failed}");

    change(&world, "tools: { file_io: { root: ./data } }\n", "");
    change(&world, "max_concurrency: 7", "max_concurrency: 64");
    let event = reload(&world).await;
    assert_eq!(event["after_restart"], json!(["mcp.max_sessions", "work_dir", "journal"]));
}

#[tokio::test]
async fn only_the_operator_sees_the_state_of_the_settings() {
    let world = World::start(BINARY, ONLY_SIGNALS).await;
    assert_eq!(world.get("/v1/config").await.status, 401);
    let seen = status(&world).await;
    assert_eq!((&seen["reloads"], &seen["after_restart"]), (&json!(0), &json!([])), "{seen}");
    assert!(seen["file"].as_str().unwrap().ends_with("/toolgate.yaml"), "{seen}");
    assert_eq!(reload(&world).await["trigger"], "signal");
    assert_eq!(status(&world).await["reloads"], 1);
    let as_json: Value = world.cli("config status --json").exits(0).json();
    assert_eq!(as_json["reloads"], 1);
    assert_eq!(events(&world, "server_started").len(), 1);
}

#[tokio::test]
async fn the_status_of_a_server_that_does_not_run_is_not_known() {
    let mut world = World::new(BINARY, ONLY_SIGNALS);
    let told = world.cli("config status").exits(2);
    told.stderr_has("no server runs on the data folder").stderr_has("toolgate serve");
    assert!(!world.has("data"), "asking makes nothing");
    world.run().await;
    world.cli("config status").exits(0);
    world.kill();
    assert!(world.has("data/server.address"), "a server that was killed leaves it");
    world.cli("config status").exits(2).stderr_has("no server runs");
    world.run().await;
    assert_eq!(world.stop().await, 0);
    assert!(!world.has("data/server.address"));
}
