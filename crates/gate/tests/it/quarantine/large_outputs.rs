//! Results that are too large to hand over.

use contract::LimitOverrides;
use gate::{EnforcementMode, OutputPayload, Recording};
use serde_json::{Value, json};

use super::{QuarantineGate, call, executed, output, usual};

/// A tool whose answer has a text of `n` characters.
fn fixture(leaves: Option<&'static str>) -> QuarantineGate {
    let more =
        "large_output: artifact\nlimits: { max_output_bytes: 100, max_artifact_bytes: 1000 }";
    QuarantineGate::with(more, EnforcementMode::Enforce, leaves, |call| {
        let n = usize::try_from(call.input["n"].as_u64().unwrap()).unwrap();
        match n {
            // A large answer of another kind.
            500 => OutputPayload::Json(json!({ "text": vec![1; 200] })),
            n => OutputPayload::Json(json!({ "text": "x".repeat(n) })),
        }
    })
}

/// The result that a pointer leads to.
fn artifact(fixture: &QuarantineGate, pointer: &Value) -> Value {
    let path = pointer["artifact"]["path"].as_str().unwrap();
    let [_, _, _, job, _, name] = path.split('/').collect::<Vec<_>>()[..] else { panic!("{path}") };
    let file = fixture.folder().join("artifacts").join(job).join(name);
    let text = std::fs::read_to_string(file).unwrap();
    assert_eq!(pointer["artifact"]["bytes"], text.len());
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn a_result_that_is_too_large_is_an_artifact() {
    let fixture = fixture(None);
    let small = fixture.call(call(json!({ "n": 50 }))).await;
    assert_eq!(output(&small), json!({ "text": "x".repeat(50) }));
    assert!(!small.flags.spilled && small.artifacts.is_empty() && small.job_id.is_none());
    let large = fixture.call(call(json!({ "n": 300 }))).await;
    assert_eq!((large.code(), large.flags.spilled), ("ok", true));
    let pointer = output(&large);
    assert_eq!(artifact(&fixture, &pointer), json!({ "text": "x".repeat(300) }));
    // It is listed like any other, and hangs on a job.
    let job = large.job_id.as_ref().unwrap();
    assert_eq!(large.artifacts.len(), 1);
    assert_eq!(json!(large.artifacts[0]), pointer["artifact"]);
    let kept = fixture.gate.job(job).await.unwrap().unwrap();
    let recorded: Value = serde_json::from_str(kept.result.unwrap().get()).unwrap();
    assert_eq!((&recorded["output"], &recorded["metrics"]["spilled"]), (&pointer, &json!(true)));
    assert_eq!(executed(&large), recorded);
    assert_eq!(fixture.journal().pop().unwrap()["spilled"], true);
    assert_eq!(fixture.entries().await, 0);
}

#[tokio::test]
async fn large_or_not_it_matches_its_contract() {
    let fixture = fixture(None);
    let id = fixture.stopped(call(json!({ "n": 500 }))).await;
    assert_eq!(fixture.entry(&id).await.summary.violations[0].pointer, "/text");
    // Nothing of it stays where artifacts are.
    let left = std::fs::read_dir(fixture.folder().join("artifacts")).unwrap().count();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn even_an_artifact_has_a_limit() {
    let fixture = fixture(None);
    let id = fixture.stopped(call(json!({ "n": 990 }))).await;
    let reason = fixture.entry(&id).await.summary.reason;
    assert_eq!(
        reason,
        "the answer has 1001 bytes, more than its limit of 1000 (max_artifact_bytes)"
    );
    assert_eq!(fixture.call(call(json!({ "n": 989 }))).await.code(), "ok");
}

#[tokio::test]
async fn a_caller_that_takes_less_gets_a_pointer_earlier() {
    let fixture = fixture(None);
    let limits = LimitOverrides { max_output_bytes: Some(20), ..LimitOverrides::default() };
    let outcome = fixture.call(call(json!({ "n": 50 })).limits(limits)).await;
    assert!(outcome.flags.spilled);
}

#[tokio::test]
async fn a_file_of_the_same_name_is_the_tools_own() {
    let fixture = fixture(Some("output.json"));
    let outcome = fixture.call(call(json!({ "n": 300 }))).await;
    let pointer = output(&outcome);
    assert_ne!(pointer["artifact"]["name"], "output.json");
    assert_eq!(artifact(&fixture, &pointer), json!({ "text": "x".repeat(300) }));
    assert_eq!(outcome.artifacts.len(), 2);
}

#[tokio::test]
async fn the_result_is_the_first_file_to_stay() {
    let fixture = fixture(Some("a.txt"));
    let limits = LimitOverrides { max_artifacts: Some(1), ..LimitOverrides::default() };
    let outcome = fixture.call(call(json!({ "n": 300 })).limits(limits)).await;
    assert_eq!(outcome.artifacts.len(), 1);
    assert_eq!(json!(outcome.artifacts[0]), output(&outcome)["artifact"]);
    assert_eq!(executed(&outcome)["metrics"]["artifacts_removed_count_cap"], 1);
}

#[tokio::test]
async fn a_replay_points_to_the_same_artifact() {
    let fixture = fixture(None);
    let keyed = || {
        let call = call(json!({ "n": 300 })).recording(Recording::Always);
        call.idempotency_key(Some("k".into()))
    };
    let first = output(&fixture.call(keyed()).await);
    let again = fixture.call(keyed()).await;
    assert!(again.replayed && again.flags.spilled);
    assert_eq!((output(&again), fixture.runs()), (first, 1));
}

#[tokio::test]
async fn without_the_contracts_word_it_is_refused() {
    let fixture = QuarantineGate::with(
        "limits: { max_output_bytes: 100 }",
        EnforcementMode::Enforce,
        None,
        |_| OutputPayload::Json(json!({ "text": "x".repeat(300) })),
    );
    fixture.stopped(usual()).await;
}
