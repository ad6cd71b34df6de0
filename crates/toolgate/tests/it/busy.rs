//! As many calls run at once as the settings say; one more is told to come back.

use serde_json::json;
use testkit::{World, eventually};

#[tokio::test]
async fn one_call_too_many_is_answered_with_429() {
    let settings = "contracts: [ ./contracts ]\nserver: { max_concurrency: 1 }\n";
    let mut world = World::new(crate::BINARY, settings);
    let done = crate::command_that_waits(&world, "blocking.tool");
    world.run().await;
    let first = world.client.post(world.url("/v1/tools/execute"));
    let first = tokio::spawn(first.body(r#"{"tool":"blocking.tool"}"#).send());
    eventually("the first call runs", async || {
        world.get("/metrics").await.text().contains("toolgate_calls_running 1")
    })
    .await;
    let busy = world.execute(&json!({ "tool": "blocking.tool", "input": {} })).await;
    assert_eq!((busy.status, busy.header("retry-after")), (429, "1"));
    let result = busy.json();
    assert_eq!(result["status"], "error");
    assert_eq!(result["summary"], "Server is busy; retry shortly.");
    assert_eq!(result["stderr"], "too_many_requests");
    assert_eq!(result["metrics"]["error_code"], "too_many_requests");
    assert!(result["metrics"]["job_id"].is_null(), "no job was made");
    let simple = world.post("/v1/tools/hello", r#"{"args":{"name":"x"}}"#).await;
    simple.fails(429, "too_many_requests");
    // A job waits for its turn instead.
    let job = world.submit(&json!({ "tool": "hello", "input": { "name": "x" } })).await;
    std::fs::write(done, "").unwrap();
    assert_eq!(first.await.unwrap().unwrap().status().as_u16(), 200);
    world.until_job_is(&job, "succeeded").await;
}
