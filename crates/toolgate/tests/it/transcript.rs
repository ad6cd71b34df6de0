//! `transcript.clean` in model mode, with an endpoint on the other side that does as a test wants.

mod hostile;
mod refused;
mod settings;

use serde_json::{Value, json};
use testkit::{Act, Answer, Peer, PeerRequest, World};

use crate::BINARY;

/// The key that the endpoint wants.
const KEY: &str = "sk-a-secret-of-the-test";

/// A server whose transcripts go to this endpoint.
async fn asking(peer: &Peer, more: &str, transcript: &str) -> World {
    let url = peer.url("/v1");
    let settings = format!(
        "llm: {{ base_url: \"{url}\", model: small, api_key_env: MODEL_KEY, stall_timeout_ms: 700{more} }}\n\
         tools: {{ transcript: {{ mode: model{transcript} }} }}\n"
    );
    World::new(BINARY, &settings).with_env("MODEL_KEY", KEY).started().await
}

/// A call whose result comes with metrics.
async fn clean(world: &World, text: &str) -> Answer {
    let input = json!({ "text": text });
    world.execute(&json!({ "tool": "transcript.clean", "input": input })).await
}

fn text(answer: &Answer) -> String {
    let result = answer.json();
    result["output"]["clean_text"].as_str().unwrap_or_else(|| panic!("{result}")).to_owned()
}

/// What stands between the marks of a question.
fn asked(heard: &PeerRequest) -> String {
    let messages = heard.field("messages");
    let user = messages[1]["content"].as_str().unwrap();
    user.strip_prefix("<text>\n").unwrap().strip_suffix("\n</text>").unwrap().to_owned()
}

/// A stream that says this, a word at a time.
fn saying(text: &str) -> Vec<Act> {
    let mut events = String::new();
    for piece in text.split_inclusive(' ') {
        let chunk = json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
        events.push_str(&format!("data: {chunk}\n\n"));
    }
    let end = json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": "stop" }] });
    events.push_str(&format!("data: {end}\n\ndata: [DONE]\n\n"));
    vec![Act::events(), Act::say(events), Act::Close]
}

/// What a good model makes of a text: a sentence for every four words.
fn punctuated(text: &str) -> String {
    let words: Vec<_> = text.trim_end_matches('.').split_whitespace().collect();
    let sentences = words.chunks(4).map(|words| {
        let sentence = words.join(" ");
        let (first, rest) = sentence.split_at(1);
        format!("{}{rest}.", first.to_uppercase())
    });
    sentences.collect::<Vec<_>>().join(" ")
}

const MEETING: &str = "WEBVTT

1
00:00:01.000 --> 00:00:04.000
<v Dana Levi>um so the build is red again write to ops@acme.io for the the logs</v>

2
00:00:04.500 --> 00:00:06.000
<v Kofi Mensah>okay i will look at https://ci.example/42 now and then go home</v>

3
00:00:07.500 --> 00:00:08.000
<v Dana Levi>thanks</v>
";

#[tokio::test]
async fn a_model_adds_punctuation_and_sees_no_names() {
    let peer = Peer::start(|heard| saying(&punctuated(&asked(heard)))).await;
    let world = asking(&peer, "", "").await;
    let answer = clean(&world, MEETING).await;
    assert_eq!(
        text(&answer),
        "Dana Levi: So the build is. Red again write to. ops@acme.io for the logs.\n\n\
         Kofi Mensah: Okay I will look. At https://ci.example/42 now and. Then go home.\n\n\
         Dana Levi: Thanks."
    );
    let result = answer.json();
    let metrics = &result["metrics"];
    assert_eq!((&metrics["chunks"], &metrics["fallbacks"]), (&json!(2), &json!(0)), "{result}");
    assert_eq!(metrics["format"], "cues");
    assert_eq!(result["output"].as_object().unwrap().len(), 1);
    assert_eq!(peer.heard().len(), 2);
    for heard in peer.heard() {
        assert_eq!(heard.header("authorization"), format!("Bearer {KEY}"));
        assert_eq!(heard.field("temperature"), 0.0);
        assert_eq!(heard.field("stream"), true);
        assert!(!heard.body.contains("Dana") && !heard.body.contains("Kofi"), "{}", heard.body);
    }
    let journal = format!("{:?}", world.journal());
    assert!(!journal.contains(KEY) && !world.stderr().contains(KEY));
}

#[tokio::test]
async fn a_long_turn_is_asked_about_in_pieces_and_its_progress_is_told() {
    let peer = Peer::start(|heard| saying(&punctuated(&asked(heard)))).await;
    let world = asking(&peer, "", ", max_chunk_characters: 200").await;
    let said = many_words(600);
    let body = json!({ "tool": "transcript.clean", "input": { "text": said } });
    let id = world.submit(&body).await;
    let events = world.get(&format!("/v1/jobs/{id}/events")).await.text();
    let chunks = peer.heard().len();
    assert!(chunks >= 14, "{chunks}");
    assert!(events.contains(&format!("chunk 1 of {chunks}")), "{events}");
    assert!(events.contains(&format!("chunk {chunks} of {chunks}")), "{events}");
    assert!(peer.heard().iter().all(|heard| asked(heard).chars().count() <= 200));
    let job = world.job(&id).await;
    let clean = job["result"]["output"]["clean_text"].as_str().unwrap_or_else(|| panic!("{job}"));
    let bare = |text: &str| text.replace('.', "").to_lowercase();
    assert_eq!(bare(clean), bare(said.trim()));
    assert!(
        !clean.contains("..") && clean.starts_with("Waaaa waaab waaac waaad. Waaae"),
        "{clean}"
    );
}

#[tokio::test]
async fn code_and_single_words_are_not_shown_to_a_model() {
    let peer = Peer::start(|heard| saying(&punctuated(&asked(heard)))).await;
    let world = asking(&peer, "", "").await;
    let said = "run this now please\n\n```\nlet x = 1\n```\n\nokay";
    let answer = clean(&world, said).await;
    assert_eq!(text(&answer), "Run this now please.\n\n```\nlet x = 1\n```\n\nOkay.");
    assert_eq!(peer.heard().len(), 1);
    assert!(!peer.heard()[0].body.contains("let x"), "{}", peer.heard()[0].body);
}

#[tokio::test]
async fn a_large_text_is_cleaned_piece_by_piece() {
    let peer = Peer::start(|heard| saying(&punctuated(&asked(heard)))).await;
    let world = asking(&peer, "", ", max_chunk_characters: 20000").await;
    let answer = clean(&world, &many_words(150_000)).await;
    assert_eq!(text(&answer).split_whitespace().count(), 150_000);
    assert_eq!(answer.json()["metrics"]["fallbacks"], 0);
    assert_eq!(peer.heard().len(), 46);
}

/// A text without punctuation in which no word comes twice: repetitions would be taken for a loop.
fn many_words(count: usize) -> String {
    let letters: Vec<_> = ('a'..='z').collect();
    let letter = |number: usize, place: u32| letters[number / 26_usize.pow(place) % 26];
    let word = |number| {
        let letters = (0..4).rev().map(|place| letter(number, place));
        format!("w{}", letters.collect::<String>())
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// The failure of a call: code and details.
fn failure(answer: &Answer) -> (Value, Value) {
    let result = answer.json();
    let metrics = &result["metrics"];
    (metrics["error_code"].clone(), metrics["error_details"].clone())
}
