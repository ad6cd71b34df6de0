//! Answers that broke their contract in the hands of a person, and large ones, through every door.

mod adopt;
mod large;
mod release;

use serde_json::{Value, json};
use testkit::{Answer, World};

use crate::BINARY;

/// A world with the tool `wrong`, which leaves a line in a file and answers outside its contract,
/// and no server yet.
fn closed(settings: &str) -> World {
    let world = World::new(BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    let mark = world.folder().join("mark").display().to_string();
    let script = format!("cat > /dev/null; echo x >> '{mark}'; echo '{{\"answers\":[1,null]}}'");
    crate::command(&world, "wrong", &script, "");
    world
}

/// The same with a server.
async fn open(settings: &str) -> World {
    let mut world = closed(settings);
    world.run().await;
    world
}

/// How often `wrong` has run.
fn runs(world: &World) -> usize {
    let text = std::fs::read_to_string(world.folder().join("mark")).unwrap_or_default();
    text.lines().count()
}

/// A request of the operator.
async fn as_operator(world: &World, path: &str, body: &str) -> Answer {
    let token = std::fs::read_to_string(world.folder().join("data/operator.token")).unwrap();
    let authorization = format!("Bearer {}", token.trim());
    let headers = [("authorization", authorization.as_str())];
    world.send("POST", path, &headers, Some(body.as_bytes().to_vec())).await
}

async fn call(world: &World, value: &Value) -> Answer {
    world.post("/v1/tools/wrong", &json!({ "args": { "value": value } }).to_string()).await
}

/// The entry that a call of `wrong` with this value leaves.
async fn stopped(world: &World, value: &Value) -> String {
    let answer = call(world, value).await;
    assert_eq!((answer.status, &answer.json()["code"]), (502, &json!("invalid_output")));
    answer.json()["details"]["quarantine_id"].as_str().unwrap().to_owned()
}

async fn entry(world: &World, id: &str) -> Value {
    let answer = world.get(&format!("/v1/quarantine/{id}")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn to_look_makes_no_data_folder() {
    let world = World::new(BINARY, "");
    let id = "q_00000000000000000000000000";
    let approval = "apr_00000000000000000000000000";
    for (arguments, expected, words) in [
        (&["quarantine"][..], 0, "no quarantined results"),
        (&["quarantine", "list", "--json"][..], 0, "\"entries\": []"),
        (&["quarantine", "show", id][..], 1, "there is no quarantined result"),
        (&["quarantine", "release", id][..], 1, "there is no quarantined result"),
        (&["quarantine", "adopt", id][..], 1, "there is no quarantined result"),
        (&["approvals"][..], 0, "no call is waiting for approval"),
        (&["approvals", "show", approval][..], 1, "there is no approval"),
    ] {
        let (code, stdout, stderr) = world.cli(arguments);
        assert_eq!(code, expected, "{arguments:?}: {stdout}{stderr}");
        assert!((stdout + &stderr).contains(words), "{arguments:?}");
        assert!(!world.folder().join("data").exists(), "{arguments:?}");
    }
}
