//! Jobs that wait for a person.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{World, eventually};

use super::{approve, decide, events, open, runs, status, waiting, waiting_id};

/// A job that waits, and for what.
async fn waits(world: &World) -> (String, String) {
    let id = world.submit(&json!({ "tool": "marks", "input": { "value": 1.25 } })).await;
    let job = world.until_job_is(&id, "waiting_approval").await;
    let approval = job["approval_id"].as_str().unwrap().to_owned();
    assert_eq!(job["summary"], format!("Waits for the approval {approval}."));
    let asked = waiting(world).await;
    assert_eq!((&asked["id"], &asked["job_id"]), (&json!(approval), &json!(id)));
    (id, approval)
}

#[tokio::test]
async fn a_job_goes_on_by_itself() {
    let world = open("").await;
    for over_rest in [true, false] {
        let (id, approval) = waits(&world).await;
        if over_rest {
            assert_eq!(decide(&world, &approval, "approve").await.status, 200);
        } else {
            approve(&world, &approval);
        }
        let job = world.until_job_is(&id, "succeeded").await;
        assert_eq!(job["result"]["output"], json!({ "answer": 1 }));
        assert_eq!(job["approval_id"], approval);
        assert_eq!(status(&world, &approval).await, "used");
    }
    assert_eq!(runs(&world), 2);
    let expected = ["requested", "approved", "used"];
    assert_eq!(events(&world), [expected, expected].concat());
}

#[tokio::test]
async fn a_no_stands_though_the_policy_no_longer_asks() {
    let mut world = open("").await;
    let (id, approval) = waits(&world).await;
    world.kill();
    world.cli(&["approvals", "refuse", &approval, "--reason", "not now"]).exits(0);
    let settings = world.read("toolgate.yaml");
    let lax = "policy: { approval: [ { tool: marks, require: never } ] }\n";
    world.write("toolgate.yaml", &format!("{settings}{lax}"));
    world.run().await;
    let job = world.until_job_is(&id, "failed").await;
    assert_eq!(job["error_code"], "not_allowed", "{job}");
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn the_events_of_a_job_show_that_it_waits_and_goes_on() {
    let world = open("").await;
    let (id, approval) = waits(&world).await;
    let (client, url) = (world.client.clone(), world.url(&format!("/v1/jobs/{id}/events")));
    let events = tokio::spawn(async move { client.get(url).send().await.unwrap().text().await });
    approve(&world, &approval);
    let events = tokio::time::timeout(Duration::from_secs(20), events).await.unwrap().unwrap();
    let events = events.unwrap();
    let states: Vec<&str> =
        events.split("\"status\":\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let expected = ["queued", "running", "waiting_approval", "running", "succeeded"];
    assert_eq!(states, expected, "{events}");
}

#[tokio::test]
async fn it_waits_through_a_restart_and_through_a_kill() {
    for killed in [false, true] {
        let mut world = open("").await;
        let (id, approval) = waits(&world).await;
        if killed {
            world.kill();
            // Decided while no server runs.
            approve(&world, &approval);
            world.run().await;
        } else {
            let began = Instant::now();
            assert_eq!(world.stop().await, 0);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
            world.run().await;
            world.until_job_is(&id, "waiting_approval").await;
            approve(&world, &approval);
        }
        world.until_job_is(&id, "succeeded").await;
        assert_eq!(runs(&world), 1);
        world.kill();
        world.run().await;
        world.until_job_is(&id, "succeeded").await;
        assert_eq!((runs(&world), status(&world, &approval).await.as_str()), (1, "used"));
    }
}

#[tokio::test]
async fn a_kill_at_any_moment_runs_nothing_twice() {
    let mut world = open("").await;
    for round in 0..6_u64 {
        let (id, approval) = waits(&world).await;
        let before = runs(&world);
        let authorization = world.operator_token();
        let url = world.url(&format!("/v1/approvals/{approval}"));
        let request = world.client.post(url).header("authorization", authorization);
        let decision = tokio::spawn(request.body(r#"{"decision":"approve"}"#).send());
        tokio::time::sleep(Duration::from_millis(round * 4)).await;
        world.kill();
        let _ = decision.await;
        world.run().await;
        if status(&world, &approval).await == "waiting" {
            decide(&world, &approval, "approve").await;
        }
        let job = eventually("the job is over", async || {
            let job = world.job(&id).await;
            ["succeeded", "interrupted"].contains(&job["status"].as_str().unwrap()).then_some(job)
        })
        .await;
        // What was under way when the process died may have run, and is not run again.
        let ran = runs(&world) - before;
        assert!(ran <= 1 && (ran == 1 || job["status"] == "interrupted"), "{ran}: {job}");
        assert!(!job.to_string().contains("Waits for the approval"), "{job}");
    }
}

#[tokio::test]
async fn a_job_with_a_key_waits_once() {
    let world = open("").await;
    let send = async || {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
        let body = json!({ "tool": "marks", "input": {} }).to_string();
        let answer = world.send("POST", "/v1/jobs", &headers, Some(body.into())).await;
        answer.json()["job_id"].as_str().unwrap().to_owned()
    };
    let id = send().await;
    world.until_job_is(&id, "waiting_approval").await;
    assert_eq!(send().await, id);
    let approval = waiting_id(&world).await;
    approve(&world, &approval);
    world.until_job_is(&id, "succeeded").await;
    assert_eq!((send().await, runs(&world)), (id, 1));
}

#[tokio::test]
async fn waiting_for_a_job_that_waits_has_an_end() {
    let world = open("").await;
    let body = json!({ "tool": "marks", "mode": "sync", "wait_ms": 300 }).to_string();
    let answer = world.post("/v1/jobs", &body).await;
    assert_eq!((answer.status, &answer.json()["status"]), (202, &json!("waiting_approval")));
    let listed = world.get("/v1/jobs?status=waiting_approval").await.json();
    assert_eq!(listed["jobs"].as_array().unwrap().len(), 1);
    let metrics = world.get("/metrics").await.text();
    assert!(metrics.contains("toolgate_jobs_queued 0\n"), "{metrics}");
    assert!(metrics.contains("toolgate_calls_running 0\n"), "{metrics}");
}

#[tokio::test]
async fn many_jobs_wait_without_taking_a_worker() {
    let world = open("jobs: { max_running: 1 }\n").await;
    let mut waiting = Vec::new();
    for value in 0..20 {
        let body = json!({ "tool": "marks", "input": { "value": value } });
        let id = world.submit(&body).await;
        let job = world.until_job_is(&id, "waiting_approval").await;
        waiting.push((id, job["approval_id"].as_str().unwrap().to_owned()));
    }
    let quick = world.submit(&json!({ "tool": "hello", "input": { "name": "x" } })).await;
    world.until_job_is(&quick, "succeeded").await;
    for (_, approval) in &waiting {
        decide(&world, approval, "approve").await;
    }
    for (id, _) in &waiting {
        world.until_job_is(id, "succeeded").await;
    }
    assert_eq!(runs(&world), 20);
    let used = world.as_operator("GET", "/v1/approvals?status=used", None).await.json();
    assert_eq!(used["approvals"].as_array().unwrap().len(), 20);
}
