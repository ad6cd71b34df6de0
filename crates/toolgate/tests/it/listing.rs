//! What is listed is exactly what can be called.

use serde_json::Value;
use testkit::texts;

/// A schema, and whether every part of it says what it is.
fn described(schema: &Value, path: &str) {
    assert!(schema["description"].as_str().is_some_and(|text| !text.is_empty()), "{path}");
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        described(property, &format!("{path}/{name}"));
    }
    if schema["items"].is_object() {
        described(&schema["items"], &format!("{path}[]"));
    }
}

#[tokio::test]
async fn every_descriptor_is_complete_and_sorted() {
    let world = crate::start("").await;
    let listing = world.get("/v1/tools").await.json();
    assert!(texts(&listing["tools"], "name").is_sorted());
    for tool in listing["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(!tool["version"].as_str().unwrap().is_empty());
        assert!(
            ["stable", "experimental", "deprecated"].contains(&tool["stability"].as_str().unwrap())
        );
        assert!(!tool["description"].as_str().unwrap().is_empty());
        let schema = &tool["input_schema"];
        assert_eq!(schema["type"], "object");
        assert!(schema["properties"].is_object() && schema["required"].is_array(), "{name}");
        described(schema, name);
        let input = contract::Schema::compile(schema).unwrap();
        for example in tool["examples"].as_array().unwrap() {
            assert!(input.is_valid(&example["input"]), "{name}: {}", example["title"]);
        }
        let one = world.get(&format!("/v1/tools/{name}")).await;
        assert_eq!(one.json(), *tool);
    }
}

#[tokio::test]
async fn a_listing_that_is_known_is_not_sent_again() {
    let world = crate::start("").await;
    for path in ["/v1/tools", "/v1/tools?tags=util", "/v1/tools/hello", "/openapi.json"] {
        let first = world.get(path).await;
        let tag = first.header("etag");
        let again = world.send("GET", path, &[("if-none-match", tag)], None).await;
        assert_eq!((again.status, again.body.len()), (304, 0), "{path}");
        let other = world.send("GET", path, &[("if-none-match", "\"other\"")], None).await;
        assert_eq!(other.body, first.body, "{path}");
    }
}

#[tokio::test]
async fn filters_are_folded_and_combined() {
    let world = crate::start("").await;
    let names = async |query: &str| -> Vec<String> {
        texts(&world.get(&format!("/v1/tools?{query}")).await.json()["tools"], "name")
    };
    let learning_os = ["hello", "read_repo_file", "write_memory_entry"];
    assert_eq!(names("toolset=Learning-OS").await, learning_os);
    assert_eq!(names("stability=%20Stable&tags=artifact").await, ["write_text_artifact"]);
    assert_eq!(names("stability=deprecated").await, Vec::<String>::new());
    assert_eq!(names("tags=nothing").await, Vec::<String>::new());
}

#[tokio::test]
async fn a_planned_tool_is_neither_listed_nor_callable() {
    let mut world = testkit::World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    crate::command(&world, "later", "echo '{}'", "status: planned");
    world.run().await;
    assert!(!world.get("/v1/tools").await.text().contains("later"));
    assert_eq!(world.get("/v1/tools/later").await.status, 404);
    assert_eq!(world.post("/v1/tools/later", r#"{"args":{}}"#).await.status, 404);
}
