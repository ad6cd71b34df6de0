//! What a person has released goes to its caller, once.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use gate::{
    Caller, Door, JobState, Jobs, OutputPayload, Recording,
    jobs::JobsSettings,
    quarantine::{
        MAX_QUARANTINED_BYTES, NOTICED_AFTER, QuarantineState, ReleaseError, ReleaseResult,
    },
};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{QuarantineGate, RELEASE_VALID, call, executed, output, usual};

/// A tool that is always wrong.
fn fixture() -> QuarantineGate {
    QuarantineGate::new(|call| OutputPayload::Json(json!({ "text": call.input["n"] })))
}

/// The same with an answer that was released to the usual call.
async fn released() -> (QuarantineGate, String) {
    let fixture = fixture();
    let id = fixture.stopped(usual()).await;
    fixture.release(&id).await;
    (fixture, id)
}

fn of(outcome: &gate::Outcome, id: &str) {
    assert_eq!((outcome.code(), outcome.http_status()), ("ok", 203));
    assert_eq!(outcome.flags.released.as_deref(), Some(id));
    let metrics = &executed(outcome)["metrics"];
    assert_eq!((&metrics["released"], &metrics["quarantine_id"]), (&json!(true), &json!(id)));
}

#[tokio::test]
async fn the_caller_gets_it_once_and_nothing_runs_for_it() {
    let fixture = fixture();
    let id = fixture.stopped(usual()).await;
    let ReleaseResult::Done(entry) = fixture.release(&id).await else { panic!("not released") };
    assert_eq!(
        (entry.state, entry.decided_by.as_deref()),
        (QuarantineState::Released, Some("operator"))
    );
    assert_eq!(entry.decision_reason.as_deref(), Some("it is fine"));
    // The default is filled in, so these are the same arguments.
    let given = fixture.call(call(json!({ "n": 1 }))).await;
    of(&given, &id);
    assert_eq!((output(&given), fixture.runs()), (json!({ "text": 1 }), 1));
    let line = fixture.journal().pop().unwrap();
    assert_eq!((&line["code"], &line["released"]), (&json!("ok"), &json!(id)));
    assert_eq!(fixture.state(&id).await, QuarantineState::Delivered);
    // That was the once.
    let next = fixture.stopped(usual()).await;
    assert_ne!(next, id);
    assert_eq!(fixture.runs(), 2);
    // It can be released again.
    assert!(matches!(fixture.release(&id).await, ReleaseResult::Done(_)));
    of(&fixture.call(usual()).await, &id);
    let events: Vec<_> = fixture.journal().into_iter().map(|line| line["event"].clone()).collect();
    assert_eq!(
        events,
        [
            "output_quarantined",
            "tool_call",
            "quarantine_released",
            "tool_call",
            "output_quarantined",
            "tool_call",
            "quarantine_released",
            "tool_call"
        ]
    );
}

#[tokio::test]
async fn another_caller_and_other_arguments_get_nothing_of_it() {
    let (fixture, id) = released().await;
    let eve = usual().caller(Caller::named("eve"));
    assert_ne!(fixture.stopped(eve).await, id);
    for n in [json!(2), json!(1.0)] {
        assert_ne!(fixture.stopped(call(json!({ "n": n }))).await, id);
    }
    assert_eq!((fixture.state(&id).await, fixture.runs()), (QuarantineState::Released, 4));
    of(&fixture.call(usual()).await, &id);
}

#[tokio::test]
async fn a_release_ends_to_the_millisecond() {
    let (fixture, id) = released().await;
    let valid = i64::try_from(RELEASE_VALID.as_millis()).unwrap();
    fixture.clock.advance_ms(valid - 1);
    assert_eq!(fixture.state(&id).await, QuarantineState::Released);
    assert!(matches!(fixture.release(&id).await, ReleaseResult::Refused(_, ReleaseError::Already)));
    fixture.clock.advance_ms(1);
    assert_eq!(fixture.state(&id).await, QuarantineState::Held);
    fixture.stopped(usual()).await;
    // Whoever thinks again may release it again.
    fixture.release(&id).await;
    fixture.clock.advance_ms(valid - 1);
    of(&fixture.call(usual()).await, &id);
}

#[tokio::test]
async fn other_processes_and_later_ones_know_it() {
    let fixture = fixture();
    let (id, other) = (fixture.stopped(usual()).await, fixture.second_process());
    // It has looked, and there was nothing.
    fixture.clock.advance_ms(1);
    assert_ne!(other.stopped(call(json!({ "n": 5 }))).await, id);
    fixture.release(&id).await;
    tokio::time::sleep(NOTICED_AFTER).await;
    of(&other.call(usual()).await, &id);
    fixture.release(&id).await;
    of(&fixture.second_process().call(usual()).await, &id);
    assert_eq!(fixture.runs(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_come_at_once_one_gets_it() {
    let fixture = fixture();
    let processes: Vec<_> = (0..4).map(|_| fixture.second_process()).collect();
    for round in 0..5 {
        let id = fixture.stopped(call(json!({ "n": round }))).await;
        let mut released = 0;
        for process in &processes {
            released += usize::from(matches!(process.release(&id).await, ReleaseResult::Done(_)));
        }
        assert_eq!(released, 1);
        tokio::time::sleep(NOTICED_AFTER).await;
        let calls = (0..64).map(|number| {
            let gate = processes[number % 4].gate.clone();
            async move { gate.call(call(json!({ "n": round }))).await.code().to_owned() }
        });
        let mut codes = calls.collect::<JoinSet<_>>().join_all().await;
        codes.sort();
        assert_eq!(codes.pop().unwrap(), "ok");
        assert!(codes.iter().all(|code| code == "invalid_output"), "{codes:?}");
    }
}

#[tokio::test]
async fn a_key_is_answered_with_what_was_released() {
    let fixture = fixture();
    let keyed = |key: &str| usual().idempotency_key(Some(key.into())).recording(Recording::Always);
    let id = fixture.stopped(keyed("k")).await;
    assert!(fixture.call(keyed("k")).await.replayed);
    fixture.release(&id).await;
    // The same key means the same call: it shows what its job shows, as often as it is asked.
    for _ in 0..2 {
        let again = fixture.call(keyed("k")).await;
        of(&again, &id);
        assert!(again.replayed);
        assert_eq!(executed(&again)["metrics"].get("error_code"), None);
    }
    assert_eq!(fixture.state(&id).await, QuarantineState::Released);
    // Another key is another call, and its record is what it got.
    of(&fixture.call(keyed("l")).await, &id);
    let replayed = fixture.call(keyed("l")).await;
    of(&replayed, &id);
    assert!(replayed.replayed);
    assert_eq!(fixture.runs(), 1);
}

#[tokio::test]
async fn the_job_of_the_call_shows_it() {
    let fixture = fixture();
    let failed = fixture.call(usual().recording(Recording::Always)).await;
    let job = failed.job_id.clone().unwrap();
    let told = failed.result.unwrap_err().details.unwrap();
    let id = told["quarantine_id"].as_str().unwrap();
    assert!(fixture.gate.job(&job).await.unwrap().unwrap().released.is_none());
    fixture.release(id).await;
    let shown = fixture.gate.job(&job).await.unwrap().unwrap();
    assert_eq!(
        (shown.state, shown.error_code.as_deref()),
        (JobState::Failed, Some("invalid_output"))
    );
    let released = shown.released.unwrap();
    assert_eq!((&*released.quarantine_id, released.payload.get()), (id, r#"{"text":1}"#));
    // It stays there when the caller has it, and not when nobody came for it.
    fixture.call(usual()).await;
    assert!(fixture.gate.job(&job).await.unwrap().unwrap().released.is_some());
    fixture.release(id).await;
    fixture.clock.advance_ms(60_000);
    assert!(fixture.gate.job(&job).await.unwrap().unwrap().released.is_none());
}

#[tokio::test]
async fn a_job_gets_it_like_any_call() {
    let (fixture, id) = released().await;
    let settings = JobsSettings {
        max_queued: 10,
        max_running: 2,
        input_timeout: std::time::Duration::from_mins(1),
    };
    let jobs = Jobs::start(fixture.gate.clone(), settings, true).await.unwrap();
    let submitted = jobs.submit(usual().door(Door::Jobs)).await.unwrap();
    submitted.1.over().await;
    let job = fixture.gate.job(&submitted.0).await.unwrap().unwrap();
    assert_eq!((job.state, job.http_status, fixture.runs()), (JobState::Succeeded, 203, 1));
    let result: Value = serde_json::from_str(job.result.unwrap().get()).unwrap();
    assert_eq!(result["metrics"]["quarantine_id"], id);
}

#[tokio::test]
async fn no_approval_is_needed_for_what_does_not_run() {
    let fixture =
        QuarantineGate::with("approval: required", gate::EnforcementMode::Enforce, None, |_| {
            OutputPayload::Json(json!({ "text": 1 }))
        });
    let failure = fixture.call(usual()).await.result.unwrap_err();
    let verdict =
        || gate::approvals::ApprovalDecision { approve: true, by: "operator".into(), reason: None };
    fixture.gate.decide(&failure.approval.unwrap(), verdict()).await.unwrap();
    let id = fixture.stopped(usual()).await;
    fixture.release(&id).await;
    of(&fixture.call(usual()).await, &id);
    assert_eq!((fixture.call(usual()).await.code(), fixture.runs()), ("approval_required", 1));
}

#[tokio::test]
async fn what_was_cut_cannot_be_released_and_says_so() {
    let whole = Arc::new(AtomicBool::new(false));
    let says = whole.clone();
    let fixture = QuarantineGate::new(move |_| {
        // With what stands around it, all that is kept whole, or one byte more.
        let around = r#"{"text":[],"x":""}"#.len();
        let size = MAX_QUARANTINED_BYTES - around + usize::from(!says.load(Ordering::SeqCst));
        OutputPayload::Json(json!({ "text": [], "x": "x".repeat(size) }))
    });
    let id = fixture.stopped(usual()).await;
    assert!(!fixture.entry(&id).await.summary.whole);
    let ReleaseResult::Refused(_, why) = fixture.release(&id).await else { panic!("released") };
    assert!(why.to_string().contains("1048576 bytes"), "{why}");
    whole.store(true, Ordering::SeqCst);
    let id = fixture.stopped(usual()).await;
    assert!(fixture.entry(&id).await.summary.whole);
    fixture.release(&id).await;
    assert_eq!(output(&fixture.call(usual()).await)["text"], json!([]));
}

#[tokio::test]
async fn adopting_withdraws_a_release() {
    let (fixture, id) = released().await;
    let decision = gate::quarantine::ReleaseDecision { by: "operator".into(), reason: None };
    let adopted = fixture.gate.adopt(&id, decision.clone()).await.unwrap().unwrap();
    assert_eq!(adopted.state, QuarantineState::Adopted);
    assert!(matches!(fixture.release(&id).await, ReleaseResult::Refused(_, ReleaseError::Adopted)));
    assert_eq!(fixture.entry(&id).await.summary.state, QuarantineState::Adopted);
    fixture.stopped(usual()).await;
    assert!(fixture.gate.adopt("q_00000000000000000000000000", decision).await.unwrap().is_none());
    let event = fixture.journal().into_iter().find(|line| line["event"] == "quarantine_adopted");
    assert_eq!(event.unwrap()["quarantine_id"], id);
}

#[tokio::test]
async fn where_it_cannot_be_taken_nothing_runs() {
    let (fixture, id) = released().await;
    let database = rusqlite::Connection::open(fixture.folder().join("toolgate.db")).unwrap();
    database
        .execute_batch(
            "CREATE TRIGGER forbidden BEFORE UPDATE ON quarantine
             BEGIN SELECT RAISE(ABORT, 'not today'); END;",
        )
        .unwrap();
    assert_eq!(fixture.call(usual()).await.code(), "unavailable");
    assert_eq!(fixture.runs(), 1);
    database.execute_batch("DROP TRIGGER forbidden").unwrap();
    of(&fixture.call(usual()).await, &id);
}
