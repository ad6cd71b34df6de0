//! Jobs that wait for a person, and go on by themselves.

use std::{sync::Arc, time::Duration};

use gate::{
    ApprovalId, ApprovalState, Call, Door, Job, JobId, JobState, Jobs,
    jobs::{CancelResult, JobsSettings},
};
use serde_json::{Value, json};

use super::{ApprovalGate, Preview, call, with};

const SETTINGS: JobsSettings =
    JobsSettings { max_queued: 100, max_running: 4, input_timeout: Duration::from_mins(1) };

async fn jobs(fixture: &ApprovalGate) -> Arc<Jobs> {
    Jobs::start(fixture.gate.clone(), SETTINGS, true).await.unwrap()
}

/// A gate and its jobs.
async fn started() -> (ApprovalGate, Arc<Jobs>) {
    let fixture = ApprovalGate::new(Preview::Nothing);
    let jobs = jobs(&fixture).await;
    (fixture, jobs)
}

fn usual() -> Call {
    call("one", json!({ "path": "a" })).door(Door::Jobs)
}

async fn submit(jobs: &Arc<Jobs>, call: Call) -> JobId {
    jobs.submit(call).await.unwrap().0
}

/// The job, once it is in that state.
async fn until(fixture: &ApprovalGate, id: &JobId, state: JobState) -> Job {
    for _ in 0..1_000 {
        let job = fixture.gate.store().job(id).await.unwrap().unwrap();
        if job.state == state {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let job = fixture.gate.store().job(id).await.unwrap();
    panic!("not {state:?}: {job:?}");
}

async fn waits(fixture: &ApprovalGate, jobs: &Arc<Jobs>, call: Call) -> (JobId, ApprovalId) {
    let id = submit(jobs, call).await;
    let job = until(fixture, &id, JobState::WaitingApproval).await;
    let approval = job.approval_id.unwrap();
    assert_eq!(job.summary.unwrap(), format!("Waits for the approval {approval}."));
    (id, approval)
}

#[tokio::test]
async fn a_job_goes_on_when_this_or_another_process_decides() {
    let (fixture, jobs) = started().await;
    let other = fixture.second_process();
    for (runs, decider) in [(1, &fixture), (2, &other)] {
        let (id, approval) = waits(&fixture, &jobs, usual()).await;
        decider.decide(&approval, true).await;
        until(&fixture, &id, JobState::Succeeded).await;
        assert_eq!(fixture.runs(), runs);
        assert_eq!(fixture.state(&approval).await, ApprovalState::Used);
    }
    // Two jobs of one call want two approvals.
    let (first, one) = waits(&fixture, &jobs, usual()).await;
    let (second, two) = waits(&fixture, &jobs, usual()).await;
    assert_ne!(one, two);
    fixture.decide(&two, true).await;
    until(&fixture, &second, JobState::Succeeded).await;
    assert_eq!(
        (until(&fixture, &first, JobState::WaitingApproval).await.id, fixture.runs()),
        (first, 3)
    );
}

#[tokio::test]
async fn a_no_ends_it_with_the_reason() {
    let (fixture, jobs) = started().await;
    let (id, approval) = waits(&fixture, &jobs, usual()).await;
    fixture.decide(&approval, false).await;
    let job = until(&fixture, &id, JobState::Failed).await;
    assert_eq!(job.error_code.as_deref(), Some("not_allowed"));
    assert_eq!(job.error_message.as_deref(), Some("a person refused this call: so it is"));
    assert_eq!((fixture.runs(), job.http_status), (0, 403));
}

#[tokio::test]
async fn nobody_deciding_ends_it_too() {
    let (fixture, jobs) = started().await;
    let (id, approval) = waits(&fixture, &jobs, usual()).await;
    fixture.clock.advance_ms(100_000);
    let job = until(&fixture, &id, JobState::Failed).await;
    assert_eq!(job.error_code.as_deref(), Some("approval_required"));
    let words = job.error_message.unwrap();
    assert!(words.contains("policy.approval_wait_ms"), "{words}");
    assert_eq!(fixture.state(&approval).await, ApprovalState::Expired);
    assert_eq!(fixture.events(), ["approval_requested", "approval_expired"]);
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn a_job_whose_request_is_gone_waits_for_nothing() {
    let (fixture, jobs) = started().await;
    let (id, _) = waits(&fixture, &jobs, usual()).await;
    let database = rusqlite::Connection::open(fixture.database()).unwrap();
    database.execute("DELETE FROM approvals", []).unwrap();
    let job = until(&fixture, &id, JobState::Failed).await;
    assert_eq!(job.error_code.as_deref(), Some("approval_required"));
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn a_cancelled_job_takes_its_request_with_it() {
    let (fixture, jobs) = started().await;
    let (id, approval) = waits(&fixture, &jobs, usual()).await;
    assert!(matches!(jobs.cancel(&id).await.unwrap(), CancelResult::Done(_)));
    assert_eq!(fixture.state(&approval).await, ApprovalState::Cancelled);
    fixture.decide(&approval, true).await;
    let (other, second) = waits(&fixture, &jobs, usual()).await;
    fixture.decide(&second, true).await;
    until(&fixture, &other, JobState::Succeeded).await;
    assert_eq!(until(&fixture, &id, JobState::Cancelled).await.error_code.unwrap(), "cancelled");
    assert_eq!(fixture.runs(), 1);
    let expected = ["requested", "cancelled", "requested", "approved", "used"];
    assert_eq!(fixture.events(), expected.map(|event| format!("approval_{event}")));
}

#[tokio::test]
async fn a_job_that_is_cancelled_before_it_waits_does_not_wait() {
    let fixture = ApprovalGate::new(Preview::Hangs);
    let jobs = jobs(&fixture).await;
    let id = submit(&jobs, usual()).await;
    until(&fixture, &id, JobState::Running).await;
    // It is asking the tool what it would do, which takes its time.
    let _ = jobs.cancel(&id).await.unwrap();
    let job = until(&fixture, &id, JobState::Cancelled).await;
    assert!(job.finished_at.is_some());
    let filter = gate::approvals::ApprovalFilter { limit: 9, ..Default::default() };
    let all = fixture.gate.store().approvals(filter, fixture.gate.clock().now()).await.unwrap();
    assert!(all.iter().all(|one| one.state == ApprovalState::Cancelled), "{all:?}");
    assert!(fixture.gate.live(&id).is_none());
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn it_waits_through_a_restart_and_runs_once() {
    let (fixture, first) = started().await;
    let (id, approval) = waits(&fixture, &first, usual()).await;
    let (decided, other) = waits(&fixture, &first, usual()).await;
    fixture.gate.begin_stopping();
    drop(first);
    // Decided while no server runs.
    let next = fixture.second_process();
    next.decide(&other, true).await;
    let _second = jobs(&next).await;
    until(&next, &decided, JobState::Succeeded).await;
    until(&next, &id, JobState::WaitingApproval).await;
    next.decide(&approval, true).await;
    until(&next, &id, JobState::Succeeded).await;
    assert_eq!(fixture.runs(), 2);
}

#[tokio::test]
async fn every_number_is_still_the_same_when_it_goes_on() {
    let (fixture, jobs) = started().await;
    let mut seed = 0x2545_F491_4F6C_DD1D_u64;
    let mut numbers = vec![0.1 + 0.2, 5e-324, f64::MAX, 1.0, -0.0, 123_456_789.012_345_68];
    while numbers.len() < 40 {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        let number = f64::from_bits(seed);
        if number.is_finite() {
            numbers.push(number);
        }
    }
    for number in numbers {
        let input = json!({ "number": number, "path": "é\u{0}\u{2028}" });
        let (id, approval) = waits(&fixture, &jobs, usual().input(input)).await;
        fixture.decide(&approval, true).await;
        until(&fixture, &id, JobState::Succeeded).await;
    }
}

#[tokio::test]
async fn a_job_may_bring_an_approval_and_keeps_nobody_elses() {
    let (fixture, jobs) = started().await;
    let id = fixture.ask(call("one", json!({ "path": "a" }))).await;
    fixture.decide(&id, true).await;
    let job = submit(&jobs, with(usual(), &id)).await;
    until(&fixture, &job, JobState::Succeeded).await;
    let again = submit(&jobs, with(usual(), &id)).await;
    let failed = until(&fixture, &again, JobState::Failed).await;
    assert!(failed.error_message.unwrap().contains("was used already"));
    assert_eq!(fixture.runs(), 1);
    // The approval of a job is good for that job alone.
    let (waiting, approval) = waits(&fixture, &jobs, usual()).await;
    let plain = call("one", json!({ "path": "a" }));
    fixture.ask(with(plain, &approval)).await;
    fixture.decide(&approval, true).await;
    until(&fixture, &waiting, JobState::Succeeded).await;
    assert_eq!(fixture.runs(), 2);
}

#[tokio::test]
async fn of_two_processes_one_goes_on_with_it() {
    let (fixture, server) = started().await;
    let visitor = fixture.second_process();
    let visiting = Jobs::visiting(visitor.gate.clone(), SETTINGS);
    for round in 1..=5 {
        let (id, approval) = waits(&fixture, &visiting, usual()).await;
        fixture.decide(&approval, true).await;
        until(&fixture, &id, JobState::Succeeded).await;
        assert_eq!(fixture.runs(), round);
    }
    // A visitor leaves the server's alone.
    let (id, approval) = waits(&fixture, &server, usual()).await;
    visitor.decide(&approval, true).await;
    until(&fixture, &id, JobState::Succeeded).await;
    assert_eq!(fixture.runs(), 6);
}

#[tokio::test]
async fn a_visitor_lets_go_of_what_the_server_has_ended() {
    let (fixture, server) = started().await;
    let visitor = fixture.second_process();
    let visiting = Jobs::visiting(visitor.gate.clone(), SETTINGS);
    for round in 0..6 {
        let (id, live) = visiting.submit(usual()).await.unwrap();
        let approval = until(&fixture, &id, JobState::WaitingApproval).await.approval_id.unwrap();
        if round % 2 == 0 {
            assert!(matches!(server.cancel(&id).await.unwrap(), CancelResult::Done(_)));
        } else {
            fixture.decide(&approval, false).await;
        }
        tokio::time::timeout(Duration::from_secs(10), live.over()).await.unwrap();
        assert!(!visitor.gate.has_live_jobs());
    }
    assert_eq!(fixture.runs(), 0);
}

#[tokio::test]
async fn too_many_that_wait_end_a_job_at_once() {
    let (fixture, jobs) = started().await;
    for _ in 0..5 {
        waits(&fixture, &jobs, usual()).await;
    }
    let id = submit(&jobs, usual()).await;
    let job = until(&fixture, &id, JobState::Failed).await;
    assert_eq!(job.error_code.as_deref(), Some("too_many_requests"));
}

#[tokio::test]
async fn secrets_of_a_job_are_gone_when_it_is_over() {
    let (fixture, jobs) = started().await;
    let input: Value = json!({ "key": "hunter2-hunter2" });
    let (id, approval) = waits(&fixture, &jobs, usual().input(input)).await;
    fixture.decide(&approval, true).await;
    let job = until(&fixture, &id, JobState::Succeeded).await;
    assert!(job.pending.is_none());
    assert!(!format!("{job:?}").contains("hunter2"));
    assert!(!fixture.journal_has("hunter2"));
}
