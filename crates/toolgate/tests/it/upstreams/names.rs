//! Names with dots, for clients whose models take none.

use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Legacy, Modern, Piped},
    texts,
};

use super::{Upstreams, said, tool};

const NAMES: [&str; 5] = ["a.b", "a_b", "p.q_r", "p_q.r", "x.y"];

fn dotted() -> Value {
    let answers: serde_json::Map<_, _> =
        NAMES.iter().map(|name| ((*name).to_owned(), json!({ "*": said(name) }))).collect();
    json!({ "tools": NAMES.map(tool), "answers": answers })
}

async fn called(world: &World, name: &str) -> Value {
    let params = json!({ "name": name, "arguments": { "text": "a" } });
    Modern::new(world).ask("tools/call", params).await
}

#[tokio::test]
async fn a_call_takes_a_name_and_its_portable_spelling() {
    let world = Upstreams::new(&[("up", dotted())], "").started().await;
    for (spelled, meant) in
        [("x.y", "x.y"), ("x_y", "x.y"), ("a.b", "a.b"), ("a_b", "a_b"), ("p_q.r", "p_q.r")]
    {
        let answer = called(&world, &format!("up__{spelled}")).await;
        assert_eq!(answer["result"]["structuredContent"]["text"], meant, "{answer}");
        assert_eq!(world.journal().pop().unwrap()["tool"], format!("up__{meant}"));
    }
    // Two tools could be meant.
    let answer = called(&world, "up__p_q_r").await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("Unknown tool"), "{answer}");
    // Other doors know the names that they list.
    assert_eq!(world.call("up__x_y", &json!({ "text": "a" })).await.status, 404);
}

#[tokio::test]
async fn listings_have_portable_names_where_the_settings_say_so() {
    let world = Upstreams::new(&[("up", dotted())], "mcp: { names: portable }\n").started().await;
    let expected = ["up__a.b", "up__a_b", "up__p.q_r", "up__p_q.r", "up__x_y"];
    let listed = Modern::new(&world).ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert_eq!(texts(&listed, "name"), expected);
    let mut client = Legacy::open(&world).await;
    client.path = "/mcp".into();
    let listed = client.ask("tools/list", &json!({})).await["result"]["tools"].clone();
    assert_eq!(texts(&listed, "name"), expected);
    let result = client.call("up__x_y", &json!({ "text": "a" })).await;
    assert_eq!(result["structuredContent"]["text"], "x.y", "{result}");
    assert_eq!(
        texts(&world.get("/v1/tools").await.json()["tools"], "name").last().unwrap(),
        "up__x.y"
    );
}

#[test]
fn clients_whose_models_take_no_dots_get_portable_names() {
    let world = Upstreams::new(&[("up", dotted())], "");
    let print = |client: &str| world.cli(&format!("mcp --print-config {client}")).exits(0).json();
    let variable = "TOOLGATE_MCP__NAMES";
    for (client, servers) in
        [("claude", "mcpServers"), ("cursor", "mcpServers"), ("vscode", "servers")]
    {
        let server = &print(client)[servers]["toolgate"];
        assert_eq!(server["env"], json!({ variable: "portable" }), "{client}");
    }
    assert!(print("generic")["mcpServers"]["toolgate"].get("env").is_none());
    let portable = World::copy_of(crate::BINARY, world.folder()).with_env(variable, "portable");
    let mut client = Piped::start(&portable, &[]);
    client.initialize(&json!({}));
    let listed = client.ask(1, "tools/list", &json!({}))["result"]["tools"].clone();
    assert!(texts(&listed, "name").contains(&"up__x_y".to_owned()), "{listed}");
}
