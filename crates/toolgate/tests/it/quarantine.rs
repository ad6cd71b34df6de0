//! Answers that broke their contract in the hands of a person, and large ones, through every door.

mod adopt;
mod large;
mod release;

use serde_json::{Value, json};
use testkit::{Answer, World};

use crate::{BINARY, runs};

/// A world with the tool `wrong`, which answers outside its contract, and no server yet.
fn closed() -> World {
    crate::with_counted("", "wrong", r#"{"answers":[1,null]}"#, "")
}

/// The same with a server.
async fn open() -> World {
    closed().started().await
}

/// The operator's request to release an entry.
async fn release(world: &World, id: &str, body: &str) -> Answer {
    let headers = [("authorization", &*world.operator_token())];
    let path = format!("/v1/quarantine/{id}/release");
    world.send("POST", &path, &headers, Some(body.into())).await
}

async fn call(world: &World, value: &Value) -> Answer {
    world.call("wrong", &json!({ "value": value })).await
}

/// The entry that a call of `wrong` with this value leaves.
async fn stopped(world: &World, value: &Value) -> String {
    let failure = call(world, value).await.fails(502, "invalid_output");
    failure["details"]["quarantine_id"].as_str().unwrap().to_owned()
}

/// The entry that a command line leaves whose call is stopped.
pub fn stopped_on_cli(world: &World, command: &str) -> String {
    let stderr = world.cli(command).exits(1).stderr;
    let id = stderr.split("toolgate quarantine show ").nth(1).unwrap_or_else(|| panic!("{stderr}"));
    id.split('`').next().unwrap().to_owned()
}

async fn entry(world: &World, id: &str) -> Value {
    let answer = world.get(&format!("/v1/quarantine/{id}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

#[test]
fn to_look_makes_no_data_folder() {
    let world = World::new(BINARY, "");
    for (arguments, expected, words) in [
        ("quarantine", 0, "no quarantined results"),
        ("quarantine list --json", 0, "\"entries\": []"),
        ("quarantine show q_00000000000000000000000000", 1, "there is no quarantined result"),
        ("quarantine release q_00000000000000000000000000", 1, "there is no quarantined result"),
        ("quarantine adopt q_00000000000000000000000000", 1, "there is no quarantined result"),
        ("approvals", 0, "no call is waiting for approval"),
        ("approvals show apr_00000000000000000000000000", 1, "there is no approval"),
    ] {
        let output = world.cli(arguments).exits(expected);
        assert!(output.all().contains(words), "{output}");
        assert!(!world.has("data"), "{arguments:?}");
    }
}
