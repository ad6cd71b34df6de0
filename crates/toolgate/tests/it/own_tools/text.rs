//! Commands whose stdout is the text of their result.

use serde_json::json;
use testkit::mcp::Modern;

use super::{contract, world};

#[tokio::test]
async fn stdout_is_the_text() {
    let world = world("limits: { max_output_bytes: 200 }\n");
    for (name, script) in [
        ("plain", "printf ' a\\n\"b\" {}\\n'"),
        ("empty", "true"),
        ("json", "printf '{\"status\":\"ok\",\"output\":{\"text\":\"other\"}}'"),
        ("binary", "printf 'a\\377b'"),
        ("long", "head -c 300 /dev/zero | tr '\\0' x"),
        ("fails", "echo text; exit 3"),
        ("says", "echo '{\"error\":{\"code\":\"not_found\",\"message\":\"no\"}}'; exit 1"),
    ] {
        contract(&world, name, "tests", &format!("run: [sh, -c, {}]\n", json!(script)));
    }
    let world = world.started().await;
    for (name, text) in [
        ("plain", " a\n\"b\" {}\n"),
        ("empty", ""),
        ("json", "{\"status\":\"ok\",\"output\":{\"text\":\"other\"}}"),
    ] {
        let answer = world.call(name, &json!({})).await;
        assert_eq!(answer.json()["result"], json!({ "text": text }), "{name}");
        let mcp = Modern::new(&world).call(name, &json!({})).await;
        assert_eq!(mcp["content"], json!([{ "type": "text", "text": text }]), "{mcp}");
        assert_eq!(mcp["structuredContent"], json!({ "text": text }));
    }
    for (name, status, code) in [
        ("binary", 502, "invalid_output"),
        ("long", 502, "invalid_output"),
        ("fails", 500, "internal"),
    ] {
        let answer = world.call(name, &json!({})).await;
        assert_eq!((answer.status, &answer.json()["code"]), (status, &json!(code)), "{name}");
    }
    world.cli("quarantine list").stdout_has("binary").stdout_has("long");
    let shape = world.get("/v1/tools/plain").await.json()["output_schema"].clone();
    assert_eq!(shape["properties"]["text"]["type"], "string");
    assert_eq!(
        (&shape["required"], &shape["additionalProperties"]),
        (&json!(["text"]), &json!(false))
    );
}

#[tokio::test]
async fn an_output_schema_may_say_more_of_the_text() {
    let world = world("");
    let schema = "{ type: object, description: It., properties: { text: { type: string, description: It., \
                  maxLength: 2 } }, required: [text], additionalProperties: false }";
    contract(&world, "short", "tests", &format!("run: [printf, abc]\noutput_schema: {schema}\n"));
    let world = world.started().await;
    assert_eq!(world.call("short", &json!({})).await.json()["code"], "invalid_output");
}
