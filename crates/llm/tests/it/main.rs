//! A model that behaves and one that does not, over real sockets.

#![allow(clippy::unwrap_used)] // A panic is how a test fails.

use std::time::{Duration, Instant};

use llm::{ChatPrompt, ChatReply, Error, Finish, LlmSettings, Model, diagnose};
use testkit::{Act, Peer, PeerRequest};
use tokio_util::sync::CancellationToken;

const KEY: &str = "sk-a-secret-of-the-test";

fn settings(peer: &Peer) -> LlmSettings {
    LlmSettings {
        base_url: Some(peer.url("/v1")),
        model: Some("small".into()),
        stall_timeout_ms: 500,
        max_answer_bytes: 100_000,
        ..LlmSettings::default()
    }
}

fn model(peer: &Peer) -> Model {
    Model::new(&settings(peer)).unwrap().unwrap()
}

fn event(text: &str) -> String {
    let text = serde_json::to_string(text).unwrap();
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":{text}}}}}]}}\n\n")
}

const STOP: &str =
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
const FAILED: &str = "data: {\"error\":{\"message\":\"secret words\"}}\n\n";
const DONE: &str = "data: [DONE]\n\n";

/// A stream of these events, and the end of the connection.
fn stream(events: &[&str]) -> Vec<Act> {
    vec![Act::events(), Act::say(events.concat()), Act::Close]
}

async fn ask(model: &Model) -> Result<(String, Option<Finish>), Error> {
    let question = ChatPrompt { temperature: Some(0.0), ..ChatPrompt::new("Be brief.", "Hi") };
    let mut answering = model.ask(&question, &CancellationToken::new()).await?;
    let mut text = String::new();
    while let Some(piece) = answering.next().await? {
        assert!(!piece.is_empty());
        text.push_str(&piece);
    }
    Ok((text, answering.finish()))
}

/// The result of asking an endpoint that does this.
async fn asked(acts: impl Fn() -> Vec<Act> + Send + Sync + 'static) -> Result<String, Error> {
    let peer = Peer::start(move |_: &PeerRequest| acts()).await;
    ask(&model(&peer)).await.map(|(text, _)| text)
}

#[tokio::test]
async fn an_answer_comes_in_pieces() {
    let (one, two) = (event("Par"), event("is é"));
    let peer = Peer::start(move |_| stream(&[": ping\n\n", &one, &two, STOP, DONE])).await;
    assert_eq!(ask(&model(&peer)).await, Ok(("Paris é".into(), Some(Finish::Stop))));
    let heard = &peer.heard()[0];
    assert_eq!((heard.method.as_str(), heard.path.as_str()), ("POST", "/v1/chat/completions"));
    assert_eq!(heard.field("stream"), true);
    assert_eq!(heard.field("model"), "small");
    assert_eq!(heard.field("temperature"), 0.0);
    assert_eq!(heard.header("content-type"), "application/json");
    assert_eq!(heard.header("authorization"), "");
}

#[tokio::test]
async fn a_stream_may_be_cut_anywhere() {
    let whole = [event("Grüße, "), event("Welt"), STOP.into(), DONE.into()].concat();
    let drip = move |_: &PeerRequest| {
        let bytes = whole.clone().into_bytes();
        vec![Act::events(), Act::Drip(bytes, Duration::from_micros(50)), Act::Close]
    };
    let peer = Peer::start(drip).await;
    assert_eq!(ask(&model(&peer)).await.unwrap().0, "Grüße, Welt");
}

#[tokio::test]
async fn an_endpoint_that_does_not_stream_is_fine() {
    let answer = r#"{"choices":[{"message":{"content":"Paris"},"finish_reason":"length"}]}"#;
    let peer = Peer::start(move |_| vec![Act::json(answer)]).await;
    assert_eq!(ask(&model(&peer)).await, Ok(("Paris".into(), Some(Finish::Length))));
    let question = ChatPrompt::new("", "Hi");
    let whole = model(&peer).answer(&question, &CancellationToken::new()).await;
    assert_eq!(whole, Ok(ChatReply { text: "Paris".into(), finish: Some(Finish::Length) }));
    assert_eq!(peer.heard()[1].field("stream"), false);
    // Neither is the type of the content believed.
    let odd = Peer::start(move |_| vec![Act::answer(200, "Content-Type: text/html\r\n", answer)]);
    assert_eq!(ask(&model(&odd.await)).await.unwrap().0, "Paris");
}

#[tokio::test]
async fn an_answer_without_done_ends_with_its_reason() {
    let one = event("Paris");
    assert_eq!(asked(move || stream(&[&one, STOP])).await, Ok("Paris".into()));
    let one = event("Paris");
    let cut = asked(move || stream(&[&one])).await.unwrap_err();
    assert_eq!(cut.word(), "broke_off");
}

#[tokio::test]
async fn after_the_last_word_nothing_can_go_wrong() {
    let ends: [fn() -> Vec<Act>; 4] = [
        || vec![Act::Silence],
        || vec![Act::say("data: {\"usage\":{\"total_tokens\":3}}\n\n"), Act::Close],
        || vec![Act::say("data: nonsense\n\n"), Act::Close],
        || vec![Act::Reset],
    ];
    for end in ends {
        let whole = format!("\u{feff}{}{STOP}", event("Paris"));
        let acts = move || {
            let mut acts = vec![Act::events(), Act::say(whole.clone())];
            acts.extend(end());
            acts
        };
        assert_eq!(asked(acts).await, Ok("Paris".into()));
    }
}

#[tokio::test]
async fn whatever_is_no_answer_is_told_by_its_kind() {
    let check = async |acts: fn() -> Vec<Act>, word: &str| {
        let error = asked(acts).await.unwrap_err();
        assert_eq!(error.word(), word, "{error:?}");
        assert!(!error.to_string().contains("secret words"), "{error}");
        error
    };
    check(|| vec![Act::json("{\"choices\":[]}")], "bad_answer").await;
    check(|| vec![Act::json("{\"secret words\":1}")], "bad_answer").await;
    check(|| vec![Act::json("")], "bad_answer").await;
    check(
        || vec![Act::answer(200, "Content-Type: text/html\r\n", "<html>secret words")],
        "bad_answer",
    )
    .await;
    check(|| stream(&["data: secret words\n\n"]), "bad_answer").await;
    check(|| stream(&["secret words\n\nmore\n\n"]), "bad_answer").await;
    check(|| stream(&["data: {\"choices\":[]}\n\n", DONE]), "bad_answer").await;
    let error = check(|| stream(&[&event("Pa"), FAILED]), "model_failed").await;
    assert_eq!(error.operator(), None);
    check(|| vec![Act::events(), Act::say(event("Pa")), Act::Reset], "broke_off").await;
    check(|| vec![Act::Close], "broke_off").await;
    check(|| vec![Act::Silence], "stalled").await;
    check(|| vec![Act::events(), Act::say(event("Pa")), Act::Silence], "stalled").await;
    check(|| vec![Act::events(), Act::say("data: "), Act::Endless(vec![b'x'; 1_000])], "too_large")
        .await;
    check(|| vec![Act::events(), Act::Endless(event("la ").into_bytes())], "too_large").await;
    check(|| vec![Act::events(), Act::Endless(b": ping\n\n".to_vec())], "too_large").await;
    let long = "Content-Length: 9000000\r\n\r\n{\"a\":\"";
    let acts = move || {
        vec![Act::say(format!("HTTP/1.1 200 -\r\n{long}")), Act::Endless(vec![b'x'; 1_000])]
    };
    assert_eq!(asked(acts).await.unwrap_err().word(), "too_large");
}

#[tokio::test]
async fn a_status_is_told_and_nothing_of_what_was_said() {
    for status in [400, 401, 404, 429, 500, 503] {
        let acts = move || {
            vec![Act::answer(status, "Retry-After: 7\r\n", "{\"error\":\"secret words\u{1b}[2J\"}")]
        };
        let error = asked(acts).await.unwrap_err();
        assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
        assert_eq!(error, Error::Status { status, retry_after: Some(7) });
    }
    // A refusal without an end is not waited for.
    let began = Instant::now();
    let acts = || vec![Act::say("HTTP/1.1 500 -\r\n\r\n"), Act::Endless(vec![b'x'; 1_000])];
    assert_eq!(asked(acts).await.unwrap_err().word(), "http_status");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_not_followed() {
    let acts = || vec![Act::answer(307, "Location: http://127.0.0.1:1/v1\r\n", "")];
    assert_eq!(asked(acts).await.unwrap_err().word(), "unreachable");
}

#[tokio::test]
async fn nobody_there() {
    let peer = Peer::start(|_| vec![Act::Close]).await;
    let settings =
        LlmSettings { base_url: Some("http://127.0.0.1:9/v1".into()), ..settings(&peer) };
    let model = Model::new(&settings).unwrap().unwrap();
    let error = ask(&model).await.unwrap_err();
    assert_eq!(error.word(), "unreachable");
    assert!(!error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn cancelling_closes_the_connection() {
    let one = event("Pa");
    let peer = Peer::start(move |heard| match heard.path.as_str() {
        "/v1/chat/completions" => vec![Act::events(), Act::say(one.clone()), Act::Silence],
        _ => vec![Act::Silence],
    })
    .await;
    let model = Model::new(&LlmSettings { stall_timeout_ms: 60_000, ..settings(&peer) });
    let model = model.unwrap().unwrap();
    let stop = CancellationToken::new();
    let mut answering = model.ask(&ChatPrompt::new("", "Hi"), &stop).await.unwrap();
    assert_eq!(answering.next().await, Ok(Some("Pa".into())));
    let waiting = tokio::spawn(async move { answering.next().await });
    stop.cancel();
    assert_eq!(waiting.await.unwrap(), Err(Error::Cancelled));
    let end = Instant::now() + Duration::from_secs(5);
    while peer.closed() == 0 {
        assert!(Instant::now() < end, "the connection is still open");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(matches!(model.ask(&ChatPrompt::new("", "Hi"), &stop).await, Err(Error::Cancelled)));
}

#[tokio::test]
async fn nothing_is_sent_twice() {
    let peer = Peer::start(|_| vec![Act::Close]).await;
    for _ in 0..3 {
        assert_eq!(ask(&model(&peer)).await.unwrap_err().word(), "broke_off");
    }
    assert_eq!(peer.heard().len(), 3);
    assert_eq!(peer.connections(), 3);
}

#[tokio::test]
async fn the_endpoint_is_diagnosed() {
    let listing = r#"{"data":[{"id":"small"},{"id":"large\u001b[2J"}]}"#;
    let peer = Peer::start(move |_| vec![Act::json(listing)]).await;
    let check = async |settings: LlmSettings, usable: bool, words: &str| {
        let found = diagnose(&settings).await.unwrap();
        let all = format!("{} {}", found.message, found.hint.clone().unwrap_or_default());
        assert_eq!(found.usable, usable, "{all}");
        assert!(all.contains(words) && !all.contains('\u{1b}') && !all.contains(KEY), "{all}");
    };
    assert_eq!(diagnose(&LlmSettings::default()).await, None);
    check(settings(&peer), true, "answers, with `small`").await;
    check(
        LlmSettings { model: Some("other".into()), ..settings(&peer) },
        false,
        "it has small, large",
    )
    .await;
    check(LlmSettings { model: None, ..settings(&peer) }, false, "several models").await;
    let gone = LlmSettings { base_url: Some("http://127.0.0.1:9".into()), ..settings(&peer) };
    check(gone, false, "cannot be reached (connect)").await;
    let unset = LlmSettings { api_key_env: Some("LLM_TEST_NOT_SET".into()), ..settings(&peer) };
    check(unset, false, "`LLM_TEST_NOT_SET` (llm.api_key_env) is not set").await;
    let refusing = Peer::start(|_| vec![Act::answer(401, "", "no")]).await;
    check(settings(&refusing), false, "refuses the key (status 401)").await;
    let one = event("Hi");
    let unlisted = Peer::start(move |heard| match heard.method.as_str() {
        "GET" => vec![Act::answer(404, "", "")],
        _ => stream(&[&one, STOP, DONE]),
    })
    .await;
    check(settings(&unlisted), true, "answers").await;
    assert_eq!(unlisted.heard()[1].field("max_tokens"), 1);
}
