//! Which calls need an approval: the operator's rules, and then the contract.

use serde_json::json;
use testkit::World;

use super::{open, runs};

/// The code of a call of `hello`.
async fn hello(world: &World) -> String {
    let answer = world.post("/v1/tools/hello", r#"{"args":{"name":"x"}}"#).await.json();
    answer["code"].as_str().unwrap_or("ok").to_owned()
}

#[tokio::test]
async fn the_first_rule_that_fits_decides() {
    let hello_asks = "approval_required";
    for (rules, expected) in [
        ("", "ok"),
        ("{ tool: hello, require: always }", hello_asks),
        ("{ toolset: learning-os, require: always }", hello_asks),
        ("{ effects: none, require: always }", hello_asks),
        ("{ effects: write, require: always }", "ok"),
        ("{ tool: hello, toolset: learning-os, effects: none, require: always }", hello_asks),
        ("{ tool: hello, require: never }, { toolset: learning-os, require: always }", "ok"),
        ("{ toolset: learning-os, require: always }, { tool: hello, require: never }", hello_asks),
        ("{ tool: marks, require: always }, { effects: none, require: always }", hello_asks),
    ] {
        let world = open(&format!("policy: {{ approval: [ {rules} ] }}\n")).await;
        assert_eq!(hello(&world).await, expected, "{rules}");
        // The listing says what holds.
        let told = world.get("/v1/tools/hello").await.json()["approval"].clone();
        let says = if expected == "ok" { "never" } else { "required" };
        assert_eq!(told, says, "{rules}");
    }
}

#[tokio::test]
async fn a_rule_lifts_what_the_contract_asks() {
    let world = open("policy: { approval: [ { tool: marks, require: never } ] }\n").await;
    let answer = super::call(&world, json!({ "args": {} })).await;
    assert_eq!((answer.status, runs(&world)), (200, 1));
    assert_eq!(world.get("/v1/tools/marks").await.json()["approval"], "never");
}

#[tokio::test]
async fn a_rule_for_a_tool_that_is_not_served_is_no_mistake() {
    let settings = "tools: { enable: [] }
policy: { approval: [ { toolset: learning-os, require: always } ] }\n";
    let world = open(settings).await;
    assert_eq!(hello(&world).await, "unknown_tool");
}
