//! A call with a key is made once, however often it is sent.

use serde_json::json;

const SCRIPT: &str = "cat > /dev/null; echo x >> \"$COUNTER\"; sleep \"${PAUSE:-0}\"
printf '{\"answer\":%s}' \"$(wc -l < \"$COUNTER\")\"";

async fn world(pause: &str) -> testkit::World {
    let world = testkit::World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    let counter = world.folder().join("counter");
    // Beside the settings a command makes no new file.
    world.write("counter", "");
    let env = format!("env: [ \"COUNTER={}\", \"PAUSE={pause}\" ]", counter.display());
    crate::command(&world, "count", SCRIPT, &env);
    world.started().await
}

async fn call(world: &testkit::World, path: &str, key: &str, body: &str) -> testkit::Answer {
    let headers = [("idempotency-key", key)];
    world.send("POST", path, &headers, Some(body.as_bytes().to_vec())).await
}

#[tokio::test]
async fn the_same_key_returns_the_recorded_outcome() {
    let mut world = world("0").await;
    let body = json!({ "tool": "count", "input": {} }).to_string();
    let path = "/v1/tools/execute";
    let first = call(&world, path, "k1", &body).await;
    assert_eq!(first.json()["output"]["answer"], 1);
    let again = call(&world, path, "k1", &body).await;
    assert_eq!(again.json(), first.json());
    assert_eq!(again.header("idempotency-replayed"), "true");
    let other = call(&world, path, "k2", &body).await;
    assert_eq!(other.json()["output"]["answer"], 2);
    // Through another door, and after a restart.
    let simple = call(&world, "/v1/tools/count", "k1", r#"{"args":{}}"#).await;
    assert_eq!(simple.json()["result"]["answer"], 1);
    world.kill();
    world.run().await;
    let after = call(&world, path, "k1", &body).await;
    assert_eq!(after.json()["output"]["answer"], 1);
}

#[tokio::test]
async fn two_keys_are_none() {
    let world = world("0").await;
    let headers = [("idempotency-key", "a"), ("idempotency-key", "b")];
    for (path, body) in [
        ("/v1/tools/execute", r#"{"tool":"count"}"#),
        ("/v1/tools/count", "{}"),
        ("/v1/jobs", r#"{"tool":"count"}"#),
    ] {
        let answer = world.send("POST", path, &headers, Some(body.as_bytes().to_vec())).await;
        assert_eq!(answer.status, 400, "{path}: {}", answer.text());
        assert!(answer.text().contains("at most one Idempotency-Key header"), "{}", answer.text());
    }
    assert_eq!(world.read("counter"), "");
}

#[tokio::test]
async fn a_key_for_other_arguments_is_a_conflict() {
    let world = world("0").await;
    let path = "/v1/tools/count";
    assert_eq!(call(&world, path, "k", r#"{"args":{"value":1}}"#).await.status, 200);
    let conflict = call(&world, path, "k", r#"{"args":{"value":2}}"#).await;
    conflict.fails(409, "conflict");
}

#[tokio::test]
async fn two_at_once_run_once() {
    let world = world("1").await;
    let path = "/v1/tools/count";
    let (one, two) = tokio::join!(
        call(&world, path, "k", r#"{"args":{}}"#),
        call(&world, path, "k", r#"{"args":{}}"#)
    );
    let mut statuses = [one.status, two.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 409]);
    let counter = world.read("counter");
    assert_eq!(counter.lines().count(), 1);
}

#[tokio::test]
async fn a_call_that_died_with_the_server_is_not_made_again() {
    let mut world = world("60").await;
    let url = world.url("/v1/tools/count");
    let sent = world.client.post(url).header("idempotency-key", "k");
    let sent = tokio::spawn(sent.body(r#"{"args":{}}"#).send());
    let counter = world.folder().join("counter");
    let runs = async || std::fs::read(&counter).is_ok_and(|text| !text.is_empty());
    testkit::eventually("the tool runs", runs).await;
    world.kill();
    assert!(sent.await.unwrap().is_err());
    world.run().await;
    let again = call(&world, "/v1/tools/count", "k", r#"{"args":{}}"#).await;
    again.fails(500, "interrupted");
    assert_eq!(std::fs::read_to_string(counter).unwrap().lines().count(), 1);
}

#[tokio::test]
async fn a_job_with_a_key_is_submitted_once() {
    let world = world("0").await;
    let body = json!({ "tool": "count", "input": {}, "mode": "sync" }).to_string();
    let first = call(&world, "/v1/jobs", "k", &body).await.json();
    let again = call(&world, "/v1/jobs", "k", &body).await.json();
    assert_eq!(first["job_id"], again["job_id"]);
    assert_eq!(again["job"]["result"]["output"]["answer"], 1);
}
