//! Tasks: what belongs to whom, and what becomes of them.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{
    World, eventually,
    mcp::{Modern, Piped, meta, with_tasks},
};

use crate::runs;

/// A world with a tool that is always a task and leaves a file behind, and no server yet.
fn world(settings: &str) -> World {
    let world = World::new(crate::BINARY, &format!("contracts: [ ./contracts ]\n{settings}"));
    let mark = world.folder().join("mark").display().to_string();
    world.write("mark", "");
    let script = format!("sleep 1; echo x >> '{mark}'; echo '{{\"answer\":1}}'");
    crate::command(&world, "marks", &script, "tasks: always");
    crate::command(&world, "must", "echo '{\"answer\":1}'", "tasks: required");
    world
}

/// Runs a job behind all that are queued, and waits for its end.
async fn runs_last(world: &World) -> String {
    let id = world.submit(&json!({ "tool": "echo_json", "input": { "message": "last" } })).await;
    world.until_job_is(&id, "succeeded").await;
    id
}

#[tokio::test]
async fn a_door_to_one_toolset_starts_no_task_of_another() {
    let world = world("").started().await;
    for able in [json!({}), with_tasks()] {
        let other = Modern::new(&world).at("/mcp/autosage").able(able);
        for tool in ["marks", "must", "nothing_at_all"] {
            let answer = other.ask("tools/call", json!({ "name": tool, "arguments": {} })).await;
            let expected = json!({ "code": -32602, "message": format!("Unknown tool: {tool}") });
            assert_eq!(answer["error"], expected);
        }
    }
    let last = runs_last(&world).await;
    assert_eq!(runs(&world), 0);
    let jobs = world.get("/v1/jobs").await.json();
    assert_eq!((&jobs["jobs"][0]["id"], &jobs["jobs"][1]), (&json!(last), &Value::Null), "{jobs}");
}

#[tokio::test]
async fn a_quick_call_of_a_client_that_knows_tasks_leaves_no_job() {
    let world = crate::start("").await;
    let client = Modern::new(&world).able(with_tasks());
    client.call("echo_json", &json!({ "message": "hi" })).await;
    assert_eq!(world.get("/v1/jobs").await.json()["jobs"], json!([]));
    // One that leaves a file does, under the name that its answer says.
    let result = client.call("write_text_artifact", &json!({ "text": "x" })).await;
    let id = result["_meta"]["toolgate/job_id"].as_str().unwrap();
    assert_eq!(world.job(id).await["status"], "succeeded");
}

#[tokio::test]
async fn an_error_of_a_task_is_the_error_of_its_call() {
    let mut world = world("");
    let more =
        "tasks: always\nerrors: [ { code: no_backend, http_status: 503, description: Down. } ]";
    crate::command(
        &world,
        "fails",
        r#"echo '{"error":{"code":"no_backend","message":"down","details":{"host":"a"}}}'; exit 1"#,
        more,
    );
    world.run().await;
    let direct = Modern::new(&world).call("fails", &json!({})).await;
    let client = Modern::new(&world).able(with_tasks());
    let task = client.call("fails", &json!({})).await;
    let id = task["taskId"].clone();
    let ended = eventually("the task ends", async || {
        let task = client.ask("tasks/get", json!({ "taskId": id })).await["result"].clone();
        (task["status"] != "working").then_some(task)
    })
    .await;
    assert_eq!(ended["status"], "completed", "{ended}");
    let error = |result: &Value| result["_meta"]["toolgate/error"].clone();
    assert_eq!(error(&direct)["code"], "no_backend");
    assert_eq!(error(&ended["result"]), error(&direct));
}

#[tokio::test]
async fn tasks_of_a_client_that_is_gone_never_run() {
    let mut world = world("jobs: { max_running: 1 }\n");
    let mut client = Piped::start(&world, &[]);
    for id in 0..3 {
        let params = json!({ "name": "marks", "arguments": {}, "_meta": meta(&with_tasks()) });
        let task = client.ask(id, "tools/call", &params);
        assert_eq!(task["result"]["resultType"], "task", "{task}");
    }
    assert_eq!(client.close().0, 0);
    world.run().await;
    let last = runs_last(&world).await;
    assert_eq!(runs(&world), 0);
    let jobs = world.get("/v1/jobs").await.json();
    for job in jobs["jobs"].as_array().unwrap().iter().filter(|job| job["id"] != last) {
        assert!(["cancelled", "interrupted"].contains(&job["status"].as_str().unwrap()), "{job}");
    }
}

#[tokio::test]
async fn tasks_that_nobody_waited_for_never_run_either() {
    let mut world = world("jobs: { max_running: 1 }\n");
    let mut client = Piped::start(&world, &[]);
    let params = json!({ "name": "marks", "arguments": {}, "_meta": meta(&with_tasks()) });
    let all: String = (0..20)
        .map(|id| format!("{}\n", testkit::mcp::request(id, "tools/call", &params)))
        .collect();
    client.send(all);
    let began = Instant::now();
    assert_eq!(client.close().0, 0);
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    world.run().await;
    runs_last(&world).await;
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn jobs_that_are_cancelled_as_they_begin_are_counted_once() {
    let world =
        crate::with_commands("jobs: { max_running: 2 }\n", &[("quick", "echo '{\"answer\":1}'")])
            .await;
    let one = async || {
        let id = world.submit(&json!({ "tool": "quick" })).await;
        world.delete(&format!("/v1/jobs/{id}")).await;
        // Whoever watches sees the end.
        let path = format!("/v1/jobs/{id}/events");
        tokio::time::timeout(Duration::from_secs(20), world.get(&path)).await.expect("an end");
    };
    for _ in 0..10 {
        tokio::join!(one(), one(), one(), one(), one(), one(), one(), one());
    }
    eventually("nothing is queued", async || {
        let metrics = world.get("/metrics").await.text();
        metrics.contains("toolgate_jobs_queued 0\n")
    })
    .await;
}

#[tokio::test]
async fn a_call_that_cannot_write_keeps_no_other_request_waiting() {
    let world = world("");
    let mut client = Piped::start(&world, &[]);
    client.initialize(&json!({}));
    let mut holder = crate::lock_database(&world, 3);
    let params = json!({ "name": "write_text_artifact", "arguments": { "text": "x" } });
    client.tell(&testkit::mcp::request(1, "tools/call", &params));
    let began = Instant::now();
    assert_eq!(client.ask(2, "ping", &json!({}))["id"], 2);
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(client.heard()["result"]["isError"], false);
    holder.wait().unwrap();
}

#[tokio::test]
async fn a_client_that_is_gone_without_reading_keeps_nothing_alive() {
    let world = world("");
    let mut client = Piped::start_unheard(&world, &[]);
    let mut input = client.take_input();
    let sending = std::thread::spawn(move || {
        for id in 0..400 {
            let list =
                testkit::mcp::request(id, "tools/list", &json!({ "_meta": meta(&json!({})) }));
            if std::io::Write::write_all(&mut input, format!("{list}\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    sending.join().unwrap();
    eventually("the server ends", || std::future::ready(client.ended())).await;
}
