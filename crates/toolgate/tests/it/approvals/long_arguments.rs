//! What a person decides on is shown whole: a long argument hides no other.

use serde_json::{Value, json};
use testkit::{World, mcp::Piped};

const SCRIPT: &str = r#"cat > /dev/null; echo '{"answer":1}'"#;
const PROPERTIES: &str = "comment: { description: A remark. }\nsql: { description: A statement. }";

fn world() -> World {
    let world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    crate::command_taking(&world, "query", SCRIPT, "approval: required", PROPERTIES);
    world
}

fn arguments() -> Value {
    json!({ "comment": "-- ordinary ".repeat(2_000), "sql": "DROP TABLE users" })
}

#[test]
fn the_form_of_a_client_names_every_argument() {
    let world = world();
    let mut client = Piped::start(&world, &[]);
    client.initialize(&json!({ "elicitation": {} }));
    let params = json!({ "name": "query", "arguments": arguments() });
    let asked = client.ask(1, "tools/call", &params);
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.contains("\"sql\": \"DROP TABLE users\""), "{message}");
    assert!(message.contains("more bytes; all of it: toolgate approvals show apr_"), "{message}");
    assert!(message.len() < 10_000, "{}", message.len());
    // The way to the whole leads to the whole.
    let id = message.split("approvals show ").nth(1).unwrap().split(']').next().unwrap();
    let shown = world.cli(&["approvals", "show", id]).exits(0).stdout;
    assert!(shown.contains(arguments()["comment"].as_str().unwrap()), "{}", shown.len());
}

#[tokio::test]
async fn the_list_and_the_rest_door_name_every_argument() {
    let world = world().started().await;
    let answer = world.call("query", &arguments()).await;
    let id = answer.json()["details"]["approval_id"].as_str().unwrap().to_owned();
    let listed = world.cli("approvals").exits(0);
    listed.stdout_has("comment=\"-- ordinary").stdout_has("sql=\"DROP TABLE users\"");
    let path = format!("/v1/approvals/{id}");
    let whole = world.as_operator("GET", &path, None).await.json();
    assert_eq!(whole["input"], arguments());
}
