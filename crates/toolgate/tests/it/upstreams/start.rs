//! A server whose upstreams take their time at the start.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use testkit::{World, eventually, mcp::Piped, texts};

use super::{one, said};

/// A world whose upstream `slow` begins to speak once the file `go` is there, beside a good one.
fn with_a_slow_one() -> World {
    let settings = "tools: { enable: [ autosage ] }\nupstreams:\n  \
        slow: { command: sh, args: [ -c, 'until [ -e ../go ]; do sleep 0.02; done; exec python3 scripted.py one.json' ], cwd: servers }\n  \
        good: { command: python3, args: [ scripted.py, one.json ], cwd: servers }\n";
    let world = World::new(crate::BINARY, settings);
    world.write("servers/scripted.py", super::SCRIPTED);
    world.write("servers/one.json", &one("act", &said("fine")).to_string());
    world
}

#[tokio::test]
async fn a_server_answers_before_its_upstreams_do() {
    let world = with_a_slow_one().with_env("TOOLGATE_SERVER__START_WAIT_MS", "0").started().await;
    world.get("/healthz").await.ok();
    let answer = world.call("echo_json", &json!({ "message": "hi" })).await.ok();
    assert_eq!(answer["result"]["message"], "hi");
    eventually("the good one serves", async || {
        world.call("good__act", &json!({ "text": "a" })).await.status == 200
    })
    .await;
    let upstreams = world.as_operator("GET", "/v1/upstreams", None).await.ok();
    assert_eq!(texts(&upstreams["upstreams"], "state"), ["ready", "starting"]);
    assert!(world.stderr().contains("still connecting to"), "{}", world.stderr());

    world.write("go", "");
    eventually("the slow one serves too", async || {
        world.call("slow__act", &json!({ "text": "a" })).await.status == 200
    })
    .await;
}

#[tokio::test]
async fn a_listing_waits_for_the_start_and_a_health_check_does_not() {
    let world = with_a_slow_one();
    let port = testkit::free_port();
    let mut server =
        world.command(&["serve", "--listen", &format!("127.0.0.1:{port}")]).spawn().unwrap();
    let get = async |path: &str| {
        world.client.get(format!("http://127.0.0.1:{port}{path}")).send().await.ok()
    };
    eventually("the server answers", async || get("/healthz").await).await;
    assert_eq!(get("/readyz").await.unwrap().status(), 503);

    let (listed, ()) = tokio::join!(get("/v1/tools"), async { world.write("go", "") });
    let listed: Value = serde_json::from_slice(&listed.unwrap().bytes().await.unwrap()).unwrap();
    let names = texts(&listed["tools"], "name");
    assert_eq!(names, ["echo_json", "good__act", "slow__act", "write_text_artifact"]);
    assert_eq!(get("/readyz").await.unwrap().status(), 200);
    server.kill().unwrap();
    server.wait().unwrap();
}

#[tokio::test]
async fn a_server_is_ready_only_while_what_it_requires_serves() {
    let settings = "tools: { enable: [ autosage ] }\nupstreams:\n  \
        must: { required: true, command: sh, cwd: servers, max_restart_delay_ms: 50, args: [ -c, 'echo $$ > pid; \
        until [ -e ../go ]; do sleep 0.02; done; [ -e ../gone ] && exit 1; exec python3 scripted.py one.json' ] }\n  \
        may: { command: /nonexistent/program }\n";
    let world = World::new(crate::BINARY, settings).with_env("TOOLGATE_SERVER__START_WAIT_MS", "0");
    world.write("servers/scripted.py", super::SCRIPTED);
    world.write("servers/one.json", &one("act", &said("fine")).to_string());
    let world = world.started().await;
    let until_ready = async || {
        eventually("it is ready", async || world.get("/readyz").await.status == 200).await;
        world.call("must__act", &json!({ "text": "a" })).await.ok();
    };
    let until_not_ready = async |reason: &str| {
        eventually(reason, async || {
            let answer = world.get("/readyz").await;
            let expected = json!({ "status": "not_ready", "reasons": [reason] });
            answer.status == 503 && answer.json() == expected
        })
        .await;
    };
    until_not_ready("the upstream `must` is being connected").await;
    world.write("go", "");
    until_ready().await;
    world.write("gone", "");
    let process = world.read("servers/pid").trim().parse().unwrap();
    assert!(testkit::signal(process, "-KILL"));
    until_not_ready("the upstream `must` cannot be reached").await;
    std::fs::remove_file(world.folder().join("gone")).unwrap();
    until_ready().await;
}

#[tokio::test]
async fn a_required_upstream_without_a_tool_that_may_be_called_does_not_serve() {
    let settings = "upstreams:\n  must: { required: true, command: python3, args: [ scripted.py, one.json ] }\n\
        allowlist: { must: [ another ] }\n";
    let world = World::new(crate::BINARY, settings);
    world.write("scripted.py", super::SCRIPTED);
    world.write("one.json", &one("act", &said("fine")).to_string());
    let world = world.started().await;
    let reasons = world.get("/readyz").await.json();
    assert_eq!(reasons["reasons"], json!(["no tool of the upstream `must` is served"]));
}

#[tokio::test]
async fn a_client_on_stdio_is_answered_before_its_upstreams_are_there() {
    let world = with_a_slow_one();
    let mut client = Piped::start(&world, &[]);
    client.initialize(&json!({}));
    client.tell(&testkit::mcp::request(7, "tools/list", &json!({})));
    assert_eq!(client.ask(8, "ping", &json!({}))["id"], 8, "nothing waits behind a listing");
    let call = json!({ "name": "slow__act", "arguments": { "text": "a" } });
    client.tell(&testkit::mcp::request(9, "tools/call", &call));
    world.write("go", "");
    // Changes of the listings are told in between.
    let mut responses = BTreeMap::new();
    while responses.len() < 2 {
        let message = client.heard();
        if let Some(id) = message["id"].as_u64() {
            responses.insert(id, message);
        }
    }
    let (listed, called) = (&responses[&7], &responses[&9]);
    assert_eq!(called["result"]["structuredContent"]["text"], "fine", "{called}");
    let names = texts(&listed["result"]["tools"], "name");
    assert!(names.contains(&"slow__act".to_owned()), "{names:?}");
}
