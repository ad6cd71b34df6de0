//! Stopping: what runs comes to its end, within its time.

use serde_json::json;
use testkit::eventually;

async fn running(world: &testkit::World) {
    eventually("a call runs", async || {
        world.get("/metrics").await.text().contains("toolgate_calls_running 1")
    })
    .await;
}

#[tokio::test]
async fn a_running_call_is_answered_before_the_server_ends() {
    let mut world = testkit::World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    let done = crate::command_that_waits(&world, "waiter");
    world.run().await;
    let call = world.client.post(world.url("/v1/tools/waiter"));
    let call = tokio::spawn(call.body(r#"{"args":{}}"#).send());
    running(&world).await;
    let port = world.port();
    let opened = tokio::spawn(async move {
        // As soon as nobody is let in any more, the call may end.
        eventually("nobody is let in", async || {
            tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_err()
        })
        .await;
        std::fs::write(done, "").unwrap();
    });
    assert_eq!(world.stop().await, 0);
    opened.await.unwrap();
    let answer = call.await.unwrap().unwrap();
    assert_eq!(answer.status().as_u16(), 200);
    assert_eq!(answer.json::<serde_json::Value>().await.unwrap()["result"], json!({ "answer": 1 }));
}

#[tokio::test]
async fn a_call_that_takes_too_long_is_stopped_and_on_record() {
    let settings = "server: { drain_timeout_ms: 200 }";
    let script = "cat > /dev/null; sleep 72514";
    let mut world = crate::with_commands(settings, &[("sleeper", script)]).await;
    let call = world.client.post(world.url("/v1/tools/execute"));
    let call = tokio::spawn(call.body(r#"{"tool":"sleeper"}"#).send());
    eventually("it is on record", async || {
        let jobs = world.get("/v1/jobs?status=running").await.json();
        jobs["jobs"].as_array().unwrap().len() == 1
    })
    .await;
    assert_eq!(world.stop().await, 0);
    assert_eq!(call.await.unwrap().unwrap().status().as_u16(), 500);
    assert_eq!(testkit::running("sleep 72514"), [""; 0]);
    world.run().await;
    let jobs = world.get("/v1/jobs?status=interrupted").await.json();
    assert_eq!(jobs["jobs"].as_array().unwrap().len(), 1);
    let events: Vec<_> = world.journal();
    assert!(events.iter().any(|line| line["event"] == "server_stopped"));
}

#[tokio::test]
async fn a_log_that_nobody_reads_holds_up_nobody() {
    let settings = "journal: { path: /dev/full }\nlog: { level: debug }";
    let mut world = testkit::World::new(crate::BINARY, settings).with_unread_log();
    world.run().await;
    let dropped = async || {
        let metrics = world.get("/metrics").await.text();
        let name = "toolgate_log_lines_dropped_total ";
        let line = metrics.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.parse::<u64>().unwrap()
    };
    // More than the pipe and the queue take, and then some.
    let mut calls = 0;
    while dropped().await == 0 {
        for _ in 0..50 {
            let answer = world.post("/v1/tools/echo_json", r#"{"args":{"message":"hi"}}"#).await;
            assert_eq!(answer.status, 200);
        }
        calls += 50;
        assert!(calls < 20_000, "no line was dropped");
    }
    assert_eq!(world.get("/healthz").await.status, 200);
    assert_eq!(world.stop().await, 0);
}
