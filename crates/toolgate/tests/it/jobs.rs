//! Jobs: accepted, watched, cancelled, listed, and there again after a restart.

use serde_json::json;
use testkit::{World, eventually, running, texts};

const SLEEP: &str = "cat > /dev/null; sleep 1000";
const ANSWER: &str = "cat > /dev/null; echo '{\"answer\":1}'";

#[tokio::test]
async fn a_job_runs_by_itself() {
    let world = crate::start("").await;
    let id = world.submit(&json!({ "tool": "echo_json", "input": { "message": "alpha" } })).await;
    let job = world.until_job_is(&id, "succeeded").await;
    assert_eq!(job["result"]["output"]["message"], "alpha");
    assert_eq!(job["input"], json!({ "message": "alpha", "n": 1 }));
    for time in ["created_at", "started_at", "finished_at"] {
        let text = job[time].as_str().unwrap();
        assert!(text.len() == 24 && text.ends_with('Z'), "{time}: {text}");
    }
}

#[tokio::test]
async fn a_job_whose_tool_failed_is_failed() {
    let world = crate::start("").await;
    let id = world.submit(&json!({ "tool": "echo_json", "input": { "message": " " } })).await;
    let job = world.until_job_is(&id, "failed").await;
    assert_eq!(job["error_code"], "invalid_input");
    assert_eq!(job["result"]["stderr"], "message must be a non-empty string.");
    let unknown = world.post("/v1/jobs", r#"{"tool":"nope"}"#).await;
    unknown.fails(404, "unknown_tool");
}

#[tokio::test]
async fn waiting_has_an_end() {
    let world = crate::with_commands("", &[("sleeper", SLEEP)]).await;
    let body = r#"{"tool":"sleeper","mode":"sync","wait_ms":50}"#;
    let answer = world.post("/v1/jobs", body).await;
    assert_eq!(answer.status, 202);
    let status = answer.json()["status"].as_str().unwrap().to_owned();
    assert!(["queued", "running"].contains(&status.as_str()), "{status}");
}

#[tokio::test]
async fn a_running_job_is_cancelled_with_all_its_processes() {
    let script = "cat > /dev/null; sleep 72513 & sleep 72513";
    let world = crate::with_commands("", &[("sleeper", script)]).await;
    let id = world.submit(&json!({ "tool": "sleeper" })).await;
    world.until_job_is(&id, "running").await;
    eventually("it sleeps", async || running("sleep 72513").len() == 2).await;
    let answer = world.delete(&format!("/v1/jobs/{id}")).await;
    assert_eq!((answer.status, &answer.json()["status"]), (200, &json!("cancelled")));
    eventually("nothing sleeps", async || running("sleep 72513").is_empty()).await;
    // Once more is fine; a job that ended otherwise cannot be cancelled.
    assert_eq!(world.delete(&format!("/v1/jobs/{id}")).await.status, 200);
    let done = world.submit(&json!({ "tool": "hello", "input": { "name": "x" } })).await;
    world.until_job_is(&done, "succeeded").await;
    assert_eq!(world.delete(&format!("/v1/jobs/{done}")).await.status, 409);
    let unknown = "/v1/jobs/job_00000000000000000000000000";
    assert_eq!(world.delete(unknown).await.status, 404);
}

#[tokio::test]
async fn a_queued_job_is_cancelled_before_it_runs() {
    let settings = "jobs: { max_running: 1, max_queued: 2 }";
    let world = crate::with_commands(settings, &[("sleeper", SLEEP)]).await;
    let first = world.submit(&json!({ "tool": "sleeper" })).await;
    world.until_job_is(&first, "running").await;
    // One may be with the worker that waits for a place, two wait behind it.
    let mut queued = Vec::new();
    let busy = loop {
        let answer = world.post("/v1/jobs", r#"{"tool":"sleeper"}"#).await;
        if answer.status == 429 {
            break answer;
        }
        queued.push(answer.json()["job_id"].as_str().unwrap().to_owned());
        assert!(queued.len() <= 4);
    };
    assert_eq!(busy.header("retry-after"), "1");
    let last = queued.last().unwrap();
    let answer = world.delete(&format!("/v1/jobs/{last}")).await;
    assert_eq!(answer.json()["status"], "cancelled");
    assert!(answer.json()["started_at"].is_null());
}

#[tokio::test]
async fn what_happens_to_a_job_can_be_watched() {
    let script = "cat > /dev/null
echo '{\"progress\":0.25,\"message\":\"a quarter\"}' >&2
echo plain >&2
echo '{\"progress\":1,\"message\":\"all\"}' >&2
echo '{\"answer\":1}'";
    let world = crate::with_commands("", &[("worker", script)]).await;
    let id = world.submit(&json!({ "tool": "worker" })).await;
    let answer = world.get(&format!("/v1/jobs/{id}/events")).await;
    assert_eq!(answer.header("content-type"), "text/event-stream");
    let events = answer.text();
    let last = events.trim_end().rsplit("\n\n").next().unwrap();
    assert!(last.contains("event: state") && last.contains("succeeded"), "{events}");
    // Whoever comes late still learns how it ended.
    world.until_job_is(&id, "succeeded").await;
    let late = world.get(&format!("/v1/jobs/{id}/events")).await.text();
    assert!(late.contains("\"status\":\"succeeded\""), "{late}");
    assert_eq!(world.get("/v1/jobs/job_x/events").await.status, 404);
}

#[tokio::test]
async fn jobs_are_listed_in_pages_newest_first() {
    let world = crate::start("").await;
    let mut ids = Vec::new();
    for number in 0..5 {
        let message = format!("m{number}");
        let body = json!({ "tool": "echo_json", "input": { "message": message } });
        let answer = world.execute(&body).await.json();
        ids.push(answer["metrics"]["job_id"].as_str().unwrap().to_owned());
        testkit::next_millisecond();
    }
    world.execute(&json!({ "tool": "hello", "input": {} })).await;
    ids.reverse();
    let page = world.get("/v1/jobs?tool=echo_json&limit=3").await.json();
    assert_eq!(texts(&page["jobs"], "id"), ids[..3]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = world.get(&format!("/v1/jobs?tool=echo_json&limit=3&cursor={cursor}")).await.json();
    assert_eq!(texts(&rest["jobs"], "id"), ids[3..]);
    assert!(rest["next_cursor"].is_null());
    let failed = world.get("/v1/jobs?status=Failed").await.json();
    assert_eq!(failed["jobs"][0]["tool"], "hello");
    for query in ["limit=0", "limit=201", "limit=x", "status=done", "cursor=x"] {
        assert_eq!(world.get(&format!("/v1/jobs?{query}")).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn after_a_crash_queued_jobs_run_and_running_ones_are_interrupted() {
    let settings = "jobs: { max_running: 1 }";
    let mut world =
        crate::with_commands(settings, &[("sleeper", SLEEP), ("answerer", ANSWER)]).await;
    let running = world.submit(&json!({ "tool": "sleeper" })).await;
    world.until_job_is(&running, "running").await;
    let mut queued = Vec::new();
    for _ in 0..5 {
        queued.push(world.submit(&json!({ "tool": "answerer" })).await);
    }
    let watched = world.client.post(world.url("/v1/tools/execute"));
    let watched = tokio::spawn(watched.body(r#"{"tool":"sleeper"}"#).send());
    eventually("the other call is on record", async || {
        let jobs = world.get("/v1/jobs?status=running").await.json();
        jobs["jobs"].as_array().unwrap().len() == 2
    })
    .await;
    world.kill();
    assert!(watched.await.unwrap().is_err());
    world.run().await;
    let job = world.job(&running).await;
    assert_eq!(
        (&job["status"], &job["error_code"]),
        (&json!("interrupted"), &json!("interrupted"))
    );
    for id in queued {
        world.until_job_is(&id, "succeeded").await;
    }
    let interrupted = world.get("/v1/jobs?status=interrupted").await.json();
    assert_eq!(interrupted["jobs"].as_array().unwrap().len(), 2);
    assert!(world.journal().iter().any(|line| line["event"] == "job_interrupted"));
}

#[tokio::test]
async fn a_secret_is_not_kept_even_where_it_is_misspelt() {
    let world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    let secret = "value: { type: string, x-secret: true, description: Any value. }";
    crate::command_taking(&world, "login", ANSWER, "", secret);
    let world = world.started().await;
    for input in [json!({ "value": "hunter2" }), json!({ "valeu": "hunter2" })] {
        let done = world.execute(&json!({ "tool": "login", "input": input })).await.json();
        let id = done["metrics"]["job_id"].as_str().unwrap();
        let job = world.get(&format!("/v1/jobs/{id}")).await;
        assert!(!job.text().contains("hunter2"), "{}", job.text());
        let body = json!({ "tool": "login", "input": input, "mode": "sync", "wait_ms": 10_000 });
        let answer = world.post("/v1/jobs", &body).await;
        assert!(!answer.text().contains("hunter2"), "{}", answer.text());
    }
    let journal = world.read("data/journal.jsonl");
    assert!(!journal.contains("hunter2"), "{journal}");
}
