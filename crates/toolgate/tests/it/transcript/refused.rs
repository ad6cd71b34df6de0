//! `transcript.clean` through the door: what is refused, and with which words.

use serde_json::json;
use testkit::{Answer, World};

use crate::start;

async fn clean(world: &World, text: &str) -> Answer {
    world.execute(&json!({ "tool": "transcript.clean", "input": { "text": text } })).await
}

#[tokio::test]
async fn a_text_over_the_limit_is_too_large() {
    let world = start("tools: { transcript: { max_input_bytes: 20 } }").await;
    let answer = clean(&world, "Um, that is the end.").await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    assert_eq!(answer.tool_result()["output"]["clean_text"], "That is the end.");
    // Bytes are counted, not characters.
    for text in ["This has more than twenty bytes.", "ééééééééééé"] {
        let answer = clean(&world, text).await;
        assert_eq!(answer.status, 413, "{}", answer.json());
        let error = answer.tool_result()["stderr"].to_string();
        assert!(error.contains("20 bytes (`tools.transcript.max_input_bytes`)"), "{error}");
        assert_eq!(answer.json()["metrics"]["error_code"], "too_large");
    }
}

#[tokio::test]
async fn what_cannot_be_read_is_refused_with_the_reason() {
    let world = start("").await;
    let nothing = "the input has no words to read";
    for (text, words) in [
        (
            "\0\u{1}\u{2}\u{fffd}\u{fffd}PK\u{3}\u{4}\0\0".repeat(50).as_str(),
            "the input looks binary",
        ),
        ("\u{fffd}".repeat(2_000).as_str(), "the input looks binary"),
        ("WEBVTT\n\n00:00.000 --> 00:01.000\n\n", nothing),
        (" \n\t ", nothing),
    ] {
        let answer = clean(&world, text).await;
        assert_eq!(answer.status, 400, "{}", answer.json());
        let error = answer.tool_result()["stderr"].to_string();
        assert!(error.contains(words), "{error}");
        assert_eq!(answer.json()["metrics"]["error_code"], "invalid_input");
    }
}

#[tokio::test]
async fn marks_alone_are_returned_as_they_are() {
    let world = start("").await;
    let answer = clean(&world, "[Music]\n\n[Applause]").await;
    assert_eq!(answer.tool_result()["output"]["clean_text"], "[Music]\n\n[Applause]");
}
