//! Models that do everything wrong.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::{Act, Peer, PeerRequest, World, eventually, free_port};

use super::{KEY, asked, asking, clean, failure, many_words, punctuated, saying, text};

const SAID: &str = "so the build is red again can you look at it today i will be home at nine";
const BY_RULES: &str = "So the build is red again can you look at it today I will be home at nine.";

/// A model that answers like this is not believed: the rules' text stands, and it is counted.
async fn falls_back(acts: impl Fn() -> Vec<Act> + Send + Sync + 'static, reason: &str) {
    let peer = Peer::start(move |_| acts()).await;
    let world = asking(&peer, "", "").await;
    let answer = clean(&world, SAID).await;
    assert_eq!(text(&answer), BY_RULES, "{reason}");
    let metrics = &answer.json()["metrics"];
    assert_eq!(metrics["chunks"], 1);
    assert_eq!(metrics["fallbacks"], 1);
    assert_eq!(metrics["fallback_reasons"], json!({ reason: 1 }));
}

#[tokio::test]
async fn answers_with_other_words_fall_back_to_the_rules() {
    falls_back(|| saying("I'm sorry, but I can't help with that."), "words_changed").await;
    falls_back(|| saying("So the build is red again."), "words_missing").await;
    falls_back(|| saying(""), "empty").await;
    let invented = format!("{SAID} and then we all went out for dinner");
    falls_back(move || saying(&invented), "words_added").await;
}

#[tokio::test]
async fn a_model_that_repeats_for_ever_is_cut_off() {
    let event = json!({ "choices": [{ "delta": { "content": "la la la " } }] });
    let event = format!("data: {event}\n\n").into_bytes();
    let began = Instant::now();
    falls_back(move || vec![Act::events(), Act::Endless(event.clone())], "too_long").await;
    assert!(began.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn an_answer_that_was_not_finished_falls_back() {
    let cut = json!({ "choices": [{ "message": { "content": "So the build" }, "finish_reason": "length" }] });
    falls_back(move || vec![Act::json(&cut)], "cut_off").await;
}

#[tokio::test]
async fn what_models_say_around_an_answer_is_taken_off() {
    let right = "So the build is red again. Can you look at it today? I will be home at nine.";
    let peer = Peer::start(move |_| saying(&format!("**Cleaned Transcript**: {right}"))).await;
    let world = asking(&peer, "", "").await;
    let answer = clean(&world, SAID).await;
    assert_eq!(text(&answer), right);
    assert_eq!(answer.json()["metrics"]["fallbacks"], 0);
}

#[tokio::test]
async fn an_endpoint_that_repeats_the_question_and_the_key_tells_nobody() {
    let echo = |heard: &PeerRequest| {
        let all = format!("{} {}", heard.header("authorization"), heard.body);
        vec![Act::answer(401, "", all)]
    };
    let peer = Peer::start(echo).await;
    let world = asking(&peer, "", "").await;
    let answer = clean(&world, SAID).await;
    assert_eq!(failure(&answer).0, json!("model_error"));
    let journal = world.read("data/journal.jsonl");
    for secret in ["Bearer", "build is red"] {
        assert!(!journal.contains(secret) && !answer.text().contains(secret), "{journal}");
    }
}

/// An endpoint that does this fails the call.
async fn fails(acts: impl Fn() -> Vec<Act> + Send + Sync + 'static, code: &str, reason: &str) {
    let peer = Peer::start(move |_| acts()).await;
    let world = asking(&peer, ", max_answer_bytes: 50000", "").await;
    let began = Instant::now();
    let answer = clean(&world, SAID).await;
    let (found, details) = failure(&answer);
    assert_eq!((found, &details["reason"]), (json!(code), &json!(reason)), "{}", answer.text());
    assert!(began.elapsed() < Duration::from_secs(8), "{reason}");
    is_silent(&world, &answer.text());
    assert_eq!(peer.heard().len(), 1, "it was asked again");
    // The simple door has the statuses of the contract.
    let body = json!({ "args": { "text": SAID } }).to_string();
    let answer = world.post("/v1/tools/transcript.clean", &body).await;
    assert_eq!(answer.status, if code == "timeout" { 504 } else { 502 }, "{}", answer.text());
    is_silent(&world, &answer.text());
}

/// Callers are told nothing that an endpoint said, nor where it is, nor the key.
fn is_silent(world: &World, told: &str) {
    for secret in ["secret words", "127.0.0.1", KEY] {
        assert!(!told.contains(secret), "{told}");
    }
    assert!(!world.stderr().contains(KEY));
}

fn events(text: &'static str) -> Vec<Act> {
    vec![Act::events(), Act::say(text), Act::Close]
}

/// One endpoint for each word that `llm` has; what else leads to a word is tested there.
#[tokio::test]
async fn an_endpoint_that_fails_fails_the_call() {
    let failed = "{\"error\":\"secret words\"}";
    fails(move || vec![Act::answer(500, "", failed)], "model_error", "http_status").await;
    fails(move || vec![Act::json(failed)], "model_error", "model_failed").await;
    fails(|| events("data: secret words\n\n"), "model_error", "bad_answer").await;
    fails(|| vec![Act::Close], "model_error", "broke_off").await;
    let endless = || vec![Act::events(), Act::Endless(b": x\n\n".to_vec())];
    fails(endless, "model_error", "too_large").await;
    fails(|| vec![Act::Silence], "timeout", "stalled").await;
}

#[tokio::test]
async fn nobody_there_is_a_failure_and_no_fallback() {
    let peer = Peer::start(|_| vec![Act::Close]).await;
    let mut world = asking(&peer, "", "").await;
    world.stop().await;
    world.write(
        "toolgate.yaml",
        &format!("llm: {{ base_url: \"http://127.0.0.1:{}\" }}\ntools: {{ transcript: {{ mode: model }} }}\n", free_port()),
    );
    world.run().await;
    let answer = clean(&world, SAID).await;
    assert_eq!(failure(&answer), (json!("model_error"), json!({ "reason": "unreachable" })));
    // What has nothing to ask about needs no model.
    assert_eq!(text(&clean(&world, "okay then").await), "Okay then.");
}

#[tokio::test]
async fn the_first_failure_ends_the_call() {
    let peer = Peer::start(|heard| match heard.connection {
        0 => saying(&punctuated(&asked(heard))),
        _ => vec![Act::answer(503, "", "")],
    })
    .await;
    let world = asking(&peer, "", ", max_chunk_characters: 100").await;
    let answer = clean(&world, &many_words(40)).await;
    let details = json!({ "reason": "http_status", "status": 503 });
    assert_eq!(failure(&answer), (json!("model_error"), details));
    assert_eq!(peer.heard().len(), 2);
}

/// A model that writes for ever, slowly.
async fn slow() -> Peer {
    Peer::start(|_| {
        let event = b"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\n".repeat(1_000);
        vec![Act::events(), Act::Drip(event, Duration::from_millis(20))]
    })
    .await
}

async fn closed(peer: &Peer) {
    eventually("the connection is closed", async || peer.closed() == 1).await;
}

#[tokio::test]
async fn a_call_whose_time_is_up_closes_the_connection() {
    let peer = slow().await;
    let world = asking(&peer, "", "").await;
    let call = json!({
        "tool": "transcript.clean",
        "input": { "text": SAID },
        "context": { "limits": { "timeout_ms": 400 } },
    });
    let answer = world.execute(&call).await;
    assert_eq!(failure(&answer).0, "timeout", "{}", answer.text());
    closed(&peer).await;
}

#[tokio::test]
async fn a_cancelled_job_closes_the_connection() {
    let peer = slow().await;
    let world = asking(&peer, "", "").await;
    let body = json!({ "tool": "transcript.clean", "input": { "text": SAID } });
    let id = world.submit(&body).await;
    eventually("the model is asked", async || peer.heard().len() == 1).await;
    world.delete(&format!("/v1/jobs/{id}")).await;
    closed(&peer).await;
}
