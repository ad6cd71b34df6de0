//! Summaries, from the question to the bullets.

use std::sync::Arc;

use serde_json::{Value, json};
use testkit::Peer;

use crate::hall::{FETCH, Hall, POLICY, Plan, QUESTION, events, in_turn, request, told};

fn bullet(claim: &str, evidence: &str) -> Value {
    json!({ "evidence": evidence, "claim": claim })
}

fn summary(bullets: &[Value]) -> String {
    json!({ "type": "summary", "bullets": bullets }).to_string()
}

async fn summarized(hall: &Hall) -> Value {
    let mut asked = request(QUESTION);
    asked.summarize = Some(true);
    told(&hall.run(asked).await.unwrap())
}

#[tokio::test]
async fn whole_lines_are_quoted_with_their_places_and_nothing_else_is() {
    let said = summary(&[
        bullet("retain logs for 30 days.", "- Retain logs for 30 days"),
        bullet("Logs are retained for 60 days", "Retain logs for 30 days"),
        bullet("log secrets", "log secrets"),
        json!({ "evidence": "Never log secrets" }),
    ]);
    let (hall, peer) = Hall::of(&[FETCH, &said]).await;
    let answer = summarized(&hall).await;
    assert_eq!(answer["type"], "tool_result_with_summary", "{answer}");
    let summary = &answer["summary"];
    assert_eq!((&summary["type"], &summary["dropped"]), (&json!("summary"), &json!(2)), "{answer}");
    let bullets = summary["bullets"].as_array().unwrap();
    assert_eq!(bullets.len(), 2, "{summary}");
    for bullet in bullets {
        let (start, end) = (&bullet["location"]["start"], &bullet["location"]["end"]);
        assert_eq!(bullet["location"]["pointer"], "/content");
        let range = usize::try_from(start.as_u64().unwrap()).unwrap()
            ..usize::try_from(end.as_u64().unwrap()).unwrap();
        assert_eq!(bullet["evidence"], POLICY[range]);
        let claim = format!("Data Retention Policy: {}", bullet["evidence"].as_str().unwrap());
        assert_eq!(bullet["claim"], claim);
    }
    assert_eq!(
        bullets[0].as_object().unwrap().keys().collect::<Vec<_>>(),
        ["claim", "evidence", "location"]
    );
    // The model was shown lines, and a schema that lets it choose among them.
    let format = peer.heard()[1].field("response_format");
    let item = &format["json_schema"]["schema"]["properties"]["bullets"]["items"];
    let keys: Vec<_> = item["properties"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["evidence"]);
    assert!(
        item["properties"]["evidence"]["enum"]
            .as_array()
            .unwrap()
            .contains(&json!("Retain logs for 30 days")),
        "{item}"
    );
}

#[tokio::test]
async fn a_summary_with_nothing_left_is_blocked_and_the_result_stays() {
    let said = summary(&[bullet("Encrypt all logs", "Encrypt all logs")]);
    let (hall, _) = Hall::of(&[FETCH, &said]).await;
    let mut asked = request(QUESTION);
    asked.summarize = Some(true);
    let outcome = hall.run(asked).await.unwrap();
    let answer = told(&outcome);
    assert_eq!(answer["type"], "tool_result");
    assert_eq!(answer["typed"]["content"], POLICY);
    assert!(
        answer["note"].as_str().unwrap().starts_with("Summary blocked (grounding failed): "),
        "{answer}"
    );
    assert_eq!(events(&outcome).last(), Some(&"summary_blocked"));
}

#[tokio::test]
async fn a_summary_that_is_none_may_be_mended_once() {
    let good = summary(&[bullet("Never log secrets", "Never log secrets")]);
    let (hall, peer) = Hall::of(&[FETCH, "Here is your summary!", &good]).await;
    assert_eq!(summarized(&hall).await["type"], "tool_result_with_summary");
    assert_eq!(peer.heard().len(), 3);
    let many = summary(&vec![bullet("Never log secrets", "Never log secrets"); 100]);
    let (hall, peer) = Hall::of(&[FETCH, &many]).await;
    let answer = summarized(&hall).await;
    assert!(answer["note"].as_str().unwrap().contains("100 bullets; at most 5"), "{answer}");
    assert_eq!(peer.heard().len(), 3);
}

#[tokio::test]
async fn a_model_that_fails_at_the_summary_does_not_take_the_result_along() {
    let next = in_turn(&[FETCH]);
    let (hall, _) = Hall::saying(move |heard| {
        if heard.body.contains("<source>") {
            return vec![testkit::Act::answer(503, "", "")];
        }
        next(heard)
    })
    .await;
    let answer = summarized(&hall).await;
    assert_eq!(
        (&answer["type"], &answer["typed"]["content"]),
        (&json!("tool_result"), &json!(POLICY))
    );
    assert!(
        answer["note"]
            .as_str()
            .unwrap()
            .starts_with("Summary blocked: the model's endpoint answered with status 503"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_summary_is_made_when_it_is_wanted_and_there_is_something_to_say() {
    let good = summary(&[bullet("Never log secrets", "Never log secrets")]);
    let check = async |question: &str, summarize: Option<bool>, says: Value, expected: &str| {
        let peer = Peer::start(in_turn(&[FETCH, &good])).await;
        let mut plan = Plan::new(&peer);
        plan.says = Arc::new(move |_| says.clone());
        let mut asked = request(question);
        asked.summarize = summarize;
        let answer = told(&plan.build().run(asked).await.unwrap());
        let got = answer.get("note").unwrap_or(&answer["type"]);
        assert_eq!(got, expected, "{question}");
    };
    let fine = json!({ "policy_id": "policy-002", "content": POLICY });
    let with = "tool_result_with_summary";
    check("Summarize policy-002", None, fine.clone(), with).await;
    check("give me a SUMMARY of policy-002", None, fine.clone(), with).await;
    check("Summarize policy-002", Some(false), fine.clone(), "tool_result").await;
    check("show policy-002", None, fine.clone(), "tool_result").await;
    check("show policy-002", Some(true), fine, with).await;
    let missing = json!({ "policy_id": "policy-002", "content": "NOT_FOUND" });
    check("Summarize policy-002", None, missing, "Summary skipped: content is NOT_FOUND.").await;
    let empty = json!({ "policy_id": "", "content": " \n" });
    check(
        "Summarize policy-002",
        None,
        empty,
        "Summary skipped: the result has no text that fits into the prompt.",
    )
    .await;
}

#[tokio::test]
async fn of_a_long_result_the_beginning_is_shown() {
    let good = summary(&[bullet("Never log secrets", "Never log secrets")]);
    let peer = Peer::start(in_turn(&[FETCH, &good])).await;
    let mut plan = Plan::new(&peer);
    let content = format!("{POLICY}{}", "- One more line of it, with words\n".repeat(100_000));
    plan.says = Arc::new(move |_| json!({ "policy_id": "policy-002", "content": content }));
    let hall = plan.build();
    let answer = summarized(&hall).await;
    assert_eq!(answer["summary"]["source_truncated"], false, "lines that are the same count once");
    assert!(peer.heard()[1].body.len() < 60_000);
    let peer = Peer::start(in_turn(&[FETCH, &good])).await;
    let mut plan = Plan::new(&peer);
    let lines: String =
        (0..5_000).map(|number| format!("- Line {number} of it, with words\n")).collect();
    let content = format!("{POLICY}{lines}");
    plan.says = Arc::new(move |_| json!({ "policy_id": "policy-002", "content": content }));
    let answer = summarized(&plan.build()).await;
    assert_eq!(answer["summary"]["source_truncated"], true, "{}", answer["note"]);
    assert!(peer.heard()[1].body.len() < 60_000, "{}", peer.heard()[1].body.len());
}
