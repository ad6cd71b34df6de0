//! Results that are too large to hand over, as every door shows them.

use contract::Schema;
use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Legacy, Modern},
};

use crate::BINARY;

/// A server with the tool `big`, whose answer has 300 characters.
async fn world() -> World {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    let script = "cat > /dev/null; printf '{\"answer\":\"%0300d\"}' 0";
    crate::command(
        &world,
        "big",
        script,
        "large_output: artifact\nlimits: { max_output_bytes: 200, max_artifact_bytes: 1000 }",
    );
    world.started().await
}

fn whole() -> Value {
    json!({ "answer": "0".repeat(300) })
}

/// What a pointer leads to.
async fn follow(world: &World, pointer: &Value) -> Value {
    let path = pointer["artifact"]["path"].as_str().unwrap();
    let answer = world.get(path).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    answer.json()
}

#[tokio::test]
async fn rest_points_to_the_artifact() {
    let world = world().await;
    let simple = world.post("/v1/tools/big", "{}").await.json();
    assert_eq!((&simple["ok"], &simple["spilled"]), (&json!(true), &json!(true)));
    assert_eq!(simple["result"]["artifact"], simple["artifacts"][0]);
    assert_eq!(follow(&world, &simple["result"]).await, whole());
    let executed = world.execute(&json!({ "tool": "big" })).await.json();
    assert_eq!(
        (&executed["status"], &executed["metrics"]["spilled"]),
        (&json!("ok"), &json!(true))
    );
    assert_eq!(follow(&world, &executed["output"]).await, whole());
    let job =
        world.post("/v1/jobs", r#"{"tool":"big","mode":"sync","wait_ms":60000}"#).await.json();
    assert_eq!(follow(&world, &job["job"]["result"]["output"]).await, whole());
    // A caller that takes more gets it whole.
    let limits = json!({ "max_output_bytes": 1000 });
    let more = json!({ "tool": "big", "context": { "limits": limits } });
    let more = world.execute(&more).await.json();
    assert_eq!((&more["output"], more["metrics"].get("spilled")), (&whole(), None));
    world.cli("call big").exits(0).stdout_has("output.json").stderr_has("artifact ");
}

#[tokio::test]
async fn mcp_links_to_it_and_its_listing_allows_for_it() {
    let world = world().await;
    let (modern, legacy) = (Modern::new(&world), Legacy::open(&world).await);
    let listings = [
        modern.ask("tools/list", json!({})).await["result"].clone(),
        legacy.ask("tools/list", &json!({})).await["result"].clone(),
    ];
    let results = [modern.call("big", &json!({})).await, legacy.call("big", &json!({})).await];
    for (listing, result) in listings.iter().zip(&results) {
        let tools = listing["tools"].as_array().unwrap();
        let schema = &tools.iter().find(|tool| tool["name"] == "big").unwrap()["outputSchema"];
        assert_eq!(schema["type"], "object");
        let compiled = Schema::compile(schema).unwrap();
        let content = &result["structuredContent"];
        assert!(compiled.is_valid(content) && compiled.is_valid(&whole()), "{result}");
        assert!(!compiled.is_valid(&json!({ "artifact": 1 })));
        assert_eq!(result["_meta"]["toolgate/spilled"], true);
        let blocks = result["content"].as_array().unwrap();
        let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
        assert_eq!(link["name"], content["artifact"]["name"]);
        let read = modern.ask("resources/read", json!({ "uri": link["uri"] })).await;
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), whole());
    }
}

#[tokio::test]
async fn every_description_of_the_tool_says_so() {
    let world = world().await;
    let descriptor = world.get("/v1/tools/big").await.json();
    assert_eq!(descriptor["large_output"], "artifact");
    let pointer = json!({ "artifact": {
        "name": "output.json", "path": "/x", "mime_type": "application/json", "bytes": 1,
    } });
    assert!(Schema::compile(&descriptor["output_schema"]).unwrap().is_valid(&pointer));
    let openapi = world.get("/openapi.json").await.json();
    let schema = &openapi["components"]["schemas"]["big.output"];
    assert_eq!(schema["anyOf"].as_array().unwrap().len(), 2);
    world
        .cli("contracts export --format markdown")
        .stdout_has("A result larger than `max_output_bytes` becomes an artifact");
    assert!(world.get("/docs").await.text().contains("becomes an artifact"));
    world.cli("contracts lint contracts/big.yaml").exits(0).stderr_is("no errors in 1 tool\n");
}
