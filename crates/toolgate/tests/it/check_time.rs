//! No check outlasts its call, and none keeps the others waiting.

use serde_json::{Value, json};
use testkit::World;

use crate::{BINARY, command, command_taking};

/// It looks at many states for each character of a text without an end in sight.
const SLOW: &str = "(?:[a-zé]{0,40}[a-m]){40}[0-9]";
/// The longest text that it is matched against: minutes for a hundred of them.
const LENGTH: usize = 16_000;

/// Letters that come in no order.
fn letters(length: usize) -> String {
    let mut state: u32 = 7;
    let next = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        char::from(b"abxyz"[(state >> 24) as usize % 5])
    };
    (0..length).map(next).collect()
}

fn texts() -> Value {
    json!(vec![letters(LENGTH); 100])
}

/// Calls, and asks all the time until it ends how the server is.
async fn call_and_stay_healthy(world: &World, body: &Value) -> (u16, Value) {
    let call = async { world.execute(body).await };
    tokio::pin!(call);
    let mut healthy = 0;
    loop {
        tokio::select! {
            answer = &mut call => {
                assert!(healthy > 0, "/healthz answered while the value was checked");
                return (answer.status, answer.tool_result());
            }
            answer = world.get("/healthz") => {
                assert_eq!(answer.status, 200);
                healthy += 1;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_take_long_to_check_are_a_timeout() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]");
    let texts_of =
        format!("type: array, items: {{ description: A text., type: string, pattern: '{SLOW}' }}");
    let property = format!("value: {{ description: Texts., {texts_of} }}");
    command_taking(&world, "match_texts", "echo '{\"answer\":1}'", "", &property);
    let world = world.started().await;
    let limits = json!({ "limits": { "timeout_ms": 2_000 } });
    let body = json!({ "tool": "match_texts", "input": { "value": texts() }, "context": limits });
    let (status, result) = call_and_stay_healthy(&world, &body).await;
    assert_eq!((status, &result["metrics"]["error_code"]), (504, &"timeout".into()), "{result}");
    let message = "the arguments could not be checked against the input schema within 2000 ms (timeout_ms); send \
                   fewer, or shorter ones";
    assert_eq!(result["stderr"], message);
    // A text that is too long for the pattern is no match, and takes no time.
    let body = json!({ "tool": "match_texts", "input": { "value": [letters(LENGTH * 2)] } });
    let result = world.execute(&body).await.tool_result();
    assert_eq!(result["metrics"]["error_code"], "invalid_input");
    assert!(result["stderr"].as_str().unwrap().contains("is too long to match"), "{result}");
}

#[tokio::test]
async fn a_text_that_cannot_be_matched_does_not_pass_for_one_that_does_not_match() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]");
    let refused = r"(?i)\b(drop|delete)\b[\s\w]{0,60}\btable\b";
    let property =
        format!("value: {{ description: SQL., type: string, not: {{ pattern: '{refused}' }} }}");
    command_taking(&world, "query", "echo '{\"answer\":1}'", "", &property);
    let world = world.started().await;
    let call = async |sql: String| {
        let body = json!({ "tool": "query", "input": { "value": sql } });
        world.execute(&body).await.tool_result()
    };
    assert_eq!(call("select 1".to_owned()).await["status"], "ok");
    for sql in ["DROP TABLE users".to_owned(), format!("DROP TABLE users{}", " x".repeat(400_000))]
    {
        assert_eq!(call(sql).await["metrics"]["error_code"], "invalid_input");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_takes_long_to_check_is_quarantined() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]");
    world.write("texts.json", &json!({ "answer": texts() }).to_string());
    command(&world, "slow", &format!("cat '{}/texts.json'", world.folder().display()), "");
    let contract = world.read("contracts/slow.yaml").replace(
        "answer: { description: Any value. }",
        &format!("answer: {{ description: Texts., type: array, items: {{ description: A text., type: string, pattern: '{SLOW}' }} }}"),
    );
    world.write("contracts/slow.yaml", &contract);
    let world = world.started().await;
    let limits = json!({ "limits": { "timeout_ms": 2_000, "max_stdout_bytes": 10_000_000 } });
    let body = json!({ "tool": "slow", "input": {}, "context": limits });
    let (status, result) = call_and_stay_healthy(&world, &body).await;
    assert_eq!((status, &result["metrics"]["error_code"]), (502, &"invalid_output".into()));
    let id = result["metrics"]["error_details"]["quarantine_id"].as_str().unwrap();
    let entry = world.get(&format!("/v1/quarantine/{id}")).await.json();
    assert_eq!(entry["reason"], "the output took too long to check against its schema");
}
