//! The fixture's tools, called through their gate.

use gate::{
    Call, CallChannel, Caller, Door, InputCapabilities, NotificationSender, Outcome, RequestId,
    ToolNotification,
};
use serde_json::{Map, Value, json};

use crate::{
    data::{Fixture, ScriptStep},
    shared::SharedFixture,
    wiring::FixtureServer,
};

const EVERYBODY: InputCapabilities =
    InputCapabilities { elicitation: true, sampling: true, roots: true };

fn fixture_server() -> FixtureServer {
    FixtureServer::open(SharedFixture::new(Fixture::load().unwrap())).unwrap()
}

fn call(fixture_server: &FixtureServer, tool: &str, input: Value) -> Call {
    let request_id = RequestId::new(fixture_server.gate.clock().now());
    Call::new(tool, input, Door::McpHttp, Caller::local(), request_id)
        .channel(CallChannel { capabilities: EVERYBODY, ..CallChannel::default() })
}

async fn answered(
    fixture_server: &FixtureServer,
    tool: &str,
    input: Value,
    replies: &Map<String, Value>,
) -> Outcome {
    let mut call = call(fixture_server, tool, input);
    call.channel.replies = replies.clone();
    fixture_server.gate.call(call).await
}

/// The names of what the tool wants to know.
fn open(outcome: &Outcome) -> Vec<String> {
    let failure = outcome.result.as_ref().unwrap_err();
    failure.questions.as_ref().unwrap().keys().cloned().collect()
}

fn text(outcome: &Outcome) -> String {
    let output: Value = serde_json::from_str(outcome.result.as_ref().unwrap().json.get()).unwrap();
    output["content"][0]["text"].as_str().unwrap().to_owned()
}

fn accepted(content: &Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[tokio::test]
async fn every_tool_ends_as_its_contract_says() {
    let fixture_server = fixture_server();
    let arguments = |tool: &str| match tool {
        "greet" => json!({ "name": "Ada" }),
        "slow_compute" => json!({ "seconds": 0 }),
        "test_custom_header" => json!({ "value": "v" }),
        "json_schema_2020_12_tool" => json!({ "email": "ada@example.com" }),
        _ => json!({}),
    };
    for data in &fixture_server.shared.fixture.tools {
        if data
            .steps
            .iter()
            .any(|step| matches!(step, ScriptStep::Ask(_) | ScriptStep::AskWhatCanBeAnswered(_)))
        {
            continue;
        }
        let contract = fixture_server.shared.fixture.contract(data).unwrap();
        let tool = contract.name.as_str();
        let outcome = fixture_server.gate.call(call(&fixture_server, tool, arguments(tool))).await;
        let code = outcome.result.as_ref().err().map(|failure| failure.code.to_string());
        let expected = data.steps.iter().find_map(|step| match step {
            ScriptStep::Fail { code, .. } => Some(code.clone()),
            ScriptStep::Break(_) => Some("internal".to_owned()),
            _ => None,
        });
        assert_eq!(code, expected, "{tool}: {outcome:?}");
    }
}

#[tokio::test]
async fn a_tool_asks_one_after_the_other() {
    let fixture_server = fixture_server();
    let tool = "test_input_required_result_multi_round";
    let mut replies = Map::new();
    let first = answered(&fixture_server, tool, json!({}), &replies).await;
    assert_eq!(open(&first), ["step1"]);
    replies.insert("step1".into(), accepted(&json!({ "name": "Ada" })));
    let second = answered(&fixture_server, tool, json!({}), &replies).await;
    assert_eq!(open(&second), ["step2"]);
    replies.insert("step2".into(), accepted(&json!({ "color": "blue" })));
    let last = answered(&fixture_server, tool, json!({}), &replies).await;
    assert_eq!(text(&last), "Ada likes blue.");
}

#[tokio::test]
async fn a_tool_asks_for_several_things_at_once() {
    let fixture_server = fixture_server();
    let mut replies = Map::new();
    let first = answered(&fixture_server, "multi_input", json!({}), &replies).await;
    assert_eq!(open(&first), ["first", "second"]);
    replies.insert("first".into(), accepted(&json!({ "name": "Ada", "confirm": true })));
    let second = answered(&fixture_server, "multi_input", json!({}), &replies).await;
    assert_eq!(open(&second), ["second"]);
}

#[tokio::test]
async fn only_who_can_answer_is_asked() {
    let fixture_server = fixture_server();
    let mut call = call(&fixture_server, "test_input_required_result_capabilities", json!({}));
    call.channel.capabilities =
        InputCapabilities { sampling: true, ..InputCapabilities::default() };
    assert_eq!(open(&fixture_server.gate.call(call).await), ["greeting"]);
}

#[tokio::test]
async fn a_question_has_the_arguments_in_it() {
    let fixture_server = fixture_server();
    let arguments = json!({ "filename": "notes.txt" });
    let outcome = answered(&fixture_server, "confirm_delete", arguments.clone(), &Map::new()).await;
    let failure = outcome.result.unwrap_err();
    let question = &failure.questions.unwrap()["confirm"];
    assert_eq!(question.params["message"], "Delete notes.txt?");
    let replies = Map::from_iter([("confirm".to_owned(), json!({ "action": "decline" }))]);
    let outcome = answered(&fixture_server, "confirm_delete", arguments, &replies).await;
    assert_eq!(text(&outcome), "notes.txt: decline, ");
}

#[tokio::test]
async fn a_tool_tells_how_far_it_has_come() {
    let fixture_server = fixture_server();
    let (notes, mut heard) = NotificationSender::channel(8);
    let mut call =
        call(&fixture_server, "slow_compute", json!({ "seconds": 0.01, "label": "a sum" }));
    call.channel.notifications = Some(notes);
    assert_eq!(text(&fixture_server.gate.call(call).await), "Computed a sum in 0.01 s.");
    let mut fractions = Vec::new();
    while let Some(ToolNotification::Progress { fraction, .. }) = heard.recv().await {
        fractions.extend(fraction);
    }
    assert_eq!(fractions, [0.0, 0.5, 1.0]);
}

#[tokio::test]
async fn a_tool_that_is_stopped_ends() {
    let fixture_server = fixture_server();
    let call = call(&fixture_server, "slow_compute", json!({ "seconds": 60 }));
    let stop = call.stop.clone();
    let running = tokio::spawn(fixture_server.gate.call(call));
    stop.cancel();
    assert_eq!(running.await.unwrap().result.unwrap_err().code, "cancelled");
}

#[tokio::test]
async fn a_listing_can_change_and_stays_the_same() {
    let fixture_server = fixture_server();
    let (mut tools, mut prompts) =
        (fixture_server.gate.changes(), fixture_server.shared.prompt_changes());
    let before = fixture_server.gate.catalogue().len();
    answered(&fixture_server, "test_trigger_tool_change", json!({}), &Map::new()).await;
    assert!(tools.has_changed().unwrap() && !prompts.has_changed().unwrap());
    assert_eq!(fixture_server.gate.catalogue().len(), before);
    tools.mark_unchanged();
    answered(&fixture_server, "test_trigger_prompt_change", json!({}), &Map::new()).await;
    assert!(!tools.has_changed().unwrap() && prompts.has_changed().unwrap());
    prompts.mark_unchanged();
}

#[test]
fn content_blocks_are_really_checked() {
    let fixture = Fixture::load().unwrap();
    let contract = fixture.contract(&fixture.tools[0]).unwrap();
    let schema = contract::Schema::compile(&contract.output_schema).unwrap();
    let check = |block: Value, expected: bool| {
        assert_eq!(schema.is_valid(&json!({ "content": [block] })), expected, "{block}");
    };
    check(json!({ "type": "text", "text": "", "annotations": { "priority": 0.5 } }), true);
    check(json!({ "type": "text", "text": "", "annotations": { "priority": 2 } }), false);
    check(json!({ "type": "text" }), false);
    check(json!({ "type": "text", "text": "", "data": "" }), false);
    check(json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" }), true);
    check(json!({ "type": "image", "data": "no, this", "mimeType": "image/png" }), false);
    check(json!({ "type": "audio", "data": "AAAA", "mimeType": "image/png" }), false);
    check(json!({ "type": "resource", "resource": { "uri": "test://a", "text": "" } }), true);
    check(json!({ "type": "resource", "resource": { "uri": "test://a" } }), false);
    check(json!({ "type": "resource_link", "uri": "test://a", "name": "a" }), true);
    check(json!({ "type": "resource_link", "uri": "a" }), false);
    check(json!({ "type": "video", "data": "AAAA", "mimeType": "video/mp4" }), false);
    assert!(!schema.is_valid(&json!({ "content": [] })));
}
