//! Jobs that wait for a person.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::{World, eventually};

use super::{approve, as_operator, decide, events, open, runs, status, waiting};

async fn submit(world: &World, body: &Value) -> String {
    let answer = world.post("/v1/jobs", &body.to_string()).await;
    assert_eq!(answer.status, 202, "{}", answer.text());
    answer.json()["job_id"].as_str().unwrap().to_owned()
}

async fn until(world: &World, id: &str, status: &str) -> Value {
    eventually(&format!("{id} is {status}"), async || {
        let job = world.get(&format!("/v1/jobs/{id}")).await.json();
        (job["status"] == status).then_some(job)
    })
    .await
}

/// A job that waits, and for what.
async fn waits(world: &World) -> (String, String) {
    let id = submit(world, &json!({ "tool": "marks", "input": { "value": 1.25 } })).await;
    let job = until(world, &id, "waiting_approval").await;
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
        let job = until(&world, &id, "succeeded").await;
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
    let (code, _, stderr) = world.cli(&["approvals", "refuse", &approval, "--reason", "not now"]);
    assert_eq!(code, 0, "{stderr}");
    let settings = std::fs::read_to_string(world.folder().join("toolgate.yaml")).unwrap();
    let lax = "policy: { approval: [ { tool: marks, require: never } ] }\n";
    world.write("toolgate.yaml", &format!("{settings}{lax}"));
    world.run().await;
    let job = until(&world, &id, "failed").await;
    assert_eq!(job["error_code"], "not_allowed", "{job}");
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn every_job_waits_for_a_request_of_its_own() {
    let world = open("policy: { max_waiting_approvals: 3 }\n").await;
    let asked = super::ask(&world, json!(1)).await;
    let body = json!({ "tool": "marks", "input": { "value": 1 },
        "context": { "approval_id": asked } });
    for _ in 0..2 {
        let id = submit(&world, &body).await;
        let job = until(&world, &id, "waiting_approval").await;
        assert_ne!(job["approval_id"], asked);
    }
    let id = submit(&world, &body).await;
    assert_eq!(until(&world, &id, "failed").await["error_code"], "too_many_requests");
}

#[tokio::test]
async fn a_refused_job_fails_with_the_reason() {
    let world = open("").await;
    let (id, approval) = waits(&world).await;
    decide(&world, &approval, "refuse").await;
    let job = until(&world, &id, "failed").await;
    assert_eq!(job["error_code"], "not_allowed");
    assert_eq!(job["result"]["stderr"], "a person refused this call: so it is");
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn a_cancelled_job_asks_no_more() {
    let world = open("").await;
    let (id, approval) = waits(&world).await;
    let cancelled = world.delete(&format!("/v1/jobs/{id}")).await;
    assert_eq!((cancelled.status, &cancelled.json()["status"]), (200, &json!("cancelled")));
    assert_eq!(status(&world, &approval).await, "cancelled");
    assert_eq!(decide(&world, &approval, "approve").await.status, 409);
    assert_eq!(events(&world), ["requested", "cancelled"]);
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn whoever_watches_sees_it_wait_and_go_on() {
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
        } else {
            let began = Instant::now();
            assert_eq!(world.stop().await, 0);
            assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
        }
        if killed {
            // Decided while no server runs.
            approve(&world, &approval);
            world.run().await;
        } else {
            world.run().await;
            until(&world, &id, "waiting_approval").await;
            approve(&world, &approval);
        }
        until(&world, &id, "succeeded").await;
        assert_eq!(runs(&world), 1);
        world.kill();
        world.run().await;
        until(&world, &id, "succeeded").await;
        assert_eq!((runs(&world), status(&world, &approval).await.as_str()), (1, "used"));
    }
}

#[tokio::test]
async fn a_kill_at_any_moment_runs_nothing_twice() {
    let mut world = open("").await;
    for round in 0..6_u64 {
        let (id, approval) = waits(&world).await;
        let before = runs(&world);
        let authorization = super::operator(&world);
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
            let job = world.get(&format!("/v1/jobs/{id}")).await.json();
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
async fn a_job_that_nobody_decides_ends() {
    let world = open("policy: { approval_wait_ms: 1000 }\n").await;
    let id = submit(&world, &json!({ "tool": "marks" })).await;
    let job = until(&world, &id, "failed").await;
    assert_eq!(job["error_code"], "approval_required");
    assert!(job["result"]["stderr"].as_str().unwrap().contains("policy.approval_wait_ms"));
    assert_eq!(runs(&world), 0);
}

#[tokio::test]
async fn a_job_may_bring_its_approval_and_waits_within_its_key() {
    let world = open("").await;
    let plain = super::ask(&world, json!(1.25)).await;
    approve(&world, &plain);
    let input = json!({ "value": 1.25 });
    let body = json!({ "tool": "marks", "input": input, "context": { "approval_id": plain } });
    let brought = submit(&world, &body).await;
    until(&world, &brought, "succeeded").await;
    let send = async || {
        let headers = [("content-type", "application/json"), ("idempotency-key", "k")];
        let body = json!({ "tool": "marks", "input": {} }).to_string();
        let answer = world.send("POST", "/v1/jobs", &headers, Some(body.into())).await;
        answer.json()["job_id"].as_str().unwrap().to_owned()
    };
    let id = send().await;
    until(&world, &id, "waiting_approval").await;
    assert_eq!(send().await, id);
    let approval = waiting(&world).await["id"].as_str().unwrap().to_owned();
    approve(&world, &approval);
    until(&world, &id, "succeeded").await;
    assert_eq!((send().await, runs(&world)), (id, 2));
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
        let id = submit(&world, &body).await;
        let job = until(&world, &id, "waiting_approval").await;
        waiting.push((id, job["approval_id"].as_str().unwrap().to_owned()));
    }
    let quick = submit(&world, &json!({ "tool": "hello", "input": { "name": "x" } })).await;
    until(&world, &quick, "succeeded").await;
    for (_, approval) in &waiting {
        decide(&world, approval, "approve").await;
    }
    for (id, _) in &waiting {
        until(&world, id, "succeeded").await;
    }
    assert_eq!(runs(&world), 20);
    let used = as_operator(&world, "GET", "/v1/approvals?status=used", None).await.json();
    assert_eq!(used["approvals"].as_array().unwrap().len(), 20);
}
