//! Files that change are loaded without a signal.

use serde_json::json;
use testkit::{World, eventually, mcp::Piped, texts};

use super::{change, code, events, status};
use crate::{
    BINARY, command,
    upstreams::{Upstreams, one, said},
};

const OFTEN: &str = "server: { watch_interval_ms: 20 }\n";

#[tokio::test]
async fn settings_variables_contracts_and_the_allowlist_are_followed() {
    let world = Upstreams::new(
        &[("up", one("act", &said("fine")))],
        &format!("allowlist: ./allow.yaml\ncontracts: [ ./contracts ]\n{OFTEN}"),
    );
    world.write("allow.yaml", "up: [ act ]\n");
    command(&world, "first", "echo \"{\\\"answer\\\":\\\"$WORD\\\"}\"", "env: [ WORD ]");
    world.write("toolgate.env", "WORD=one\n");
    let world = world.started().await;
    let answer = async || world.call("first", &json!({})).await.json()["result"]["answer"].clone();
    assert_eq!(answer().await, "one");

    world.write("toolgate.env", "WORD=two\n");
    eventually("the variable is followed", async || answer().await == "two").await;
    command(&world, "second", "echo '{\"answer\":2}'", "");
    eventually("a new contract is", async || code(&world, "second").await == "ok").await;
    std::fs::remove_file(world.folder().join("contracts/second.yaml")).unwrap();
    eventually("and a removed one", async || code(&world, "second").await == "unknown_tool").await;
    world.write("allow.yaml", "up: []\n");
    eventually("the allowlist is", async || world.listed().await == ["first"]).await;
    change(&world, OFTEN, &format!("policy: {{ preset: strict }}\n{OFTEN}"));
    eventually("the settings are", async || {
        world.read("data/journal.jsonl").contains("settings_reloaded") && {
            let shown = world.get("/v1/tools/first").await.json();
            shown["approval"] == "never"
        }
    })
    .await;
    let all = events(&world, "settings_reloaded");
    assert!(all.iter().all(|event| event["trigger"] == "file_change"), "{all:?}");

    // An error is told once, and mended by the next change.
    world.write("allow.yaml", "up: everything\n");
    eventually("the error is told", async || !status(&world).await["failed"].is_null()).await;
    assert_eq!(events(&world, "settings_reload_failed").len(), 1);
    world.write("allow.yaml", "up: [ act ]\n");
    eventually("it is mended", async || world.listed().await == ["first", "up__act"]).await;
    eventually("it is told", async || status(&world).await["failed"].is_null()).await;
}

#[tokio::test]
async fn a_server_on_a_pipe_follows_its_files_too() {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{OFTEN}"));
    command(&world, "first", "echo '{\"answer\":1}'", "");
    let mut client = Piped::start(&world, &[]);
    client.initialize(&json!({}));
    command(&world, "second", "echo '{\"answer\":2}'", "");
    let mut id = 1;
    testkit::until("the new tool is listed", || {
        id += 1;
        client.tell(&testkit::mcp::request(id, "tools/list", &json!({})));
        let listed = client.heard_beside_listings();
        texts(&listed["result"]["tools"], "name").contains(&"second".to_owned())
    });
    client.close();
}
