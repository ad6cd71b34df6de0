//! The queue of jobs: bounded, and nothing that was accepted is lost.

use std::{sync::Arc, time::Duration};

use gate::{Door, JobState, Jobs, OutputPayload, jobs::JobsSettings};
use serde_json::json;

use crate::quarantine::{QuarantineGate, usual};

fn settings(max_queued: usize, max_running: usize) -> JobsSettings {
    JobsSettings { max_queued, max_running, input_timeout: Duration::from_mins(1) }
}

#[tokio::test]
async fn a_full_queue_refuses_and_a_start_takes_all_that_was_accepted() {
    let fixture = QuarantineGate::new(|_| OutputPayload::Json(json!({ "text": "done" })));
    // Without a worker everything stays queued.
    let jobs = Jobs::start(fixture.gate.clone(), settings(5, 0), true).await.unwrap();
    let submit = async |jobs: &Arc<Jobs>| jobs.submit(usual().door(Door::Jobs)).await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(submit(&jobs).await.unwrap().0);
    }
    let failure = submit(&jobs).await.unwrap_err();
    assert_eq!((&*failure.code, failure.retry_after), ("too_many_requests", Some(1)));
    assert_eq!(failure.message, "The queue is full: 5 jobs wait (jobs.max_queued).");
    // A process with a smaller queue takes over.
    let next = fixture.second_process();
    let _jobs = Jobs::start(next.gate.clone(), settings(1, 2), true).await.unwrap();
    for id in ids {
        if let Some(live) = next.gate.live(&id) {
            live.over().await;
        }
        let job = next.gate.store().job(&id).await.unwrap().unwrap();
        assert_eq!(job.state, JobState::Succeeded);
    }
    assert_eq!(fixture.runs(), 5);
}
