//! Summaries, from the question to the bullets.

use std::sync::Arc;

use ask::AskRequest;
use serde_json::{Value, json};
use testkit::Act;

use crate::fixture::{FETCH, Fixture, POLICY, QUESTION, Setup, events, has, in_turn, request};

fn bullet(claim: &str, evidence: &str) -> Value {
    json!({ "evidence": evidence, "claim": claim })
}

fn summary(bullets: &[Value]) -> String {
    json!({ "type": "summary", "bullets": bullets }).to_string()
}

/// A summary of one line of the policy.
fn good() -> String {
    summary(&[bullet("Never log secrets", "Never log secrets")])
}

#[tokio::test]
async fn whole_lines_are_quoted_with_their_places_and_nothing_else_is() {
    let picked = summary(&[
        bullet("retain logs for 30 days.", "- Retain logs for 30 days"),
        bullet("Logs are retained for 60 days", "Retain logs for 30 days"),
        bullet("log secrets", "log secrets"),
        json!({ "evidence": "Never log secrets" }),
    ]);
    let fixture = Fixture::replying(&[FETCH, &picked]).await;
    let (response, _) = fixture.summarize(QUESTION).await;
    assert_eq!(response["type"], "tool_result_with_summary", "{response}");
    let quote = |evidence: &str| {
        let start = POLICY.find(evidence).unwrap();
        json!({
            "claim": format!("Data Retention Policy: {evidence}"),
            "evidence": evidence,
            "location": { "pointer": "/content", "start": start, "end": start + evidence.len() },
        })
    };
    let expected = json!({
        "type": "summary",
        "bullets": [quote("Retain logs for 30 days"), quote("Never log secrets")],
        "risks": [],
        "recommendations": [],
        "dropped": 2,
        "source_truncated": false,
    });
    assert_eq!(response["summary"], expected);
    // The model was shown lines, and a schema that lets it choose among them.
    let format = fixture.model.heard()[1].field("response_format");
    let item = &format["json_schema"]["schema"]["properties"]["bullets"]["items"]["properties"];
    assert_eq!(item.as_object().unwrap().len(), 1, "{item}");
    let choices = item["evidence"]["enum"].as_array().unwrap();
    assert!(choices.contains(&json!("Retain logs for 30 days")), "{item}");
}

#[tokio::test]
async fn a_summary_with_nothing_left_is_blocked_and_the_result_stays() {
    let picked = summary(&[bullet("Encrypt all logs", "Encrypt all logs")]);
    let fixture = Fixture::replying(&[FETCH, &picked]).await;
    let (response, outcome) = fixture.summarize(QUESTION).await;
    assert_eq!(response["type"], "tool_result");
    assert_eq!(response["typed"]["content"], POLICY);
    has(&response, "note", "Summary blocked (grounding failed): ");
    assert_eq!(events(&outcome).last(), Some(&"summary_blocked"));
}

#[tokio::test]
async fn a_summary_that_is_none_may_be_mended_once() {
    let fixture = Fixture::replying(&[FETCH, "Here is your summary!", &good()]).await;
    assert_eq!(fixture.summarize(QUESTION).await.0["type"], "tool_result_with_summary");
    assert_eq!(fixture.model.heard().len(), 3);
    let many = summary(&vec![bullet("Never log secrets", "Never log secrets"); 100]);
    let fixture = Fixture::replying(&[FETCH, &many]).await;
    has(&fixture.summarize(QUESTION).await.0, "note", "100 bullets; at most 5");
    assert_eq!(fixture.model.heard().len(), 3);
}

#[tokio::test]
async fn a_model_that_fails_at_the_summary_does_not_take_the_result_along() {
    let next = in_turn(&[FETCH]);
    let script = move |request: &testkit::PeerRequest| {
        if request.body.contains("<source>") {
            vec![Act::answer(503, "", "")]
        } else {
            next(request)
        }
    };
    let (response, _) = Setup::scripted(script).await.build().summarize(QUESTION).await;
    assert_eq!(response["type"], "tool_result");
    assert_eq!(response["typed"]["content"], POLICY);
    has(&response, "note", "Summary blocked: the model's endpoint answered with status 503");
}

#[tokio::test]
async fn a_summary_is_made_when_it_is_wanted_and_there_is_something_to_say() {
    let with = "tool_result_with_summary";
    let missing = "Summary skipped: content is NOT_FOUND.";
    let empty = "Summary skipped: the result has no text that fits into the prompt.";
    for (question, summarize, id, content, expected) in [
        ("Summarize policy-002", None, "policy-002", POLICY, with),
        ("give me a SUMMARY of policy-002", None, "policy-002", POLICY, with),
        ("Summarize policy-002", Some(false), "policy-002", POLICY, "tool_result"),
        ("show policy-002", None, "policy-002", POLICY, "tool_result"),
        ("show policy-002", Some(true), "policy-002", POLICY, with),
        ("Summarize policy-002", None, "policy-002", "NOT_FOUND", missing),
        ("Summarize policy-002", None, "", " \n", empty),
    ] {
        let mut setup = Setup::replying(&[FETCH, &good()]).await;
        setup.result = Arc::new(move |_| json!({ "policy_id": id, "content": content }));
        let request = AskRequest { summarize, ..request(question) };
        let (response, _) = setup.build().run(request).await;
        let got = response.get("note").unwrap_or(&response["type"]);
        assert_eq!(got, expected, "{question}");
    }
}

#[tokio::test]
async fn of_a_long_result_the_beginning_is_shown() {
    // Lines that are the same count once.
    let same = "- One more line of it, with words\n".repeat(100_000);
    let lines = (0..5_000).map(|number| format!("- Line {number} of it, with words\n")).collect();
    for (more, is_cut) in [(same, false), (lines, true)] {
        let setup = Setup::replying(&[FETCH, &good()]).await;
        let fixture = setup.with_content(format!("{POLICY}{more}")).build();
        let (response, _) = fixture.summarize(QUESTION).await;
        assert_eq!(response["summary"]["source_truncated"], is_cut, "{}", response["note"]);
        let size = fixture.model.heard()[1].body.len();
        assert!(size < 60_000, "{size}");
    }
}
