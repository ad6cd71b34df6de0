//! MCP over HTTP and stdio, as clients of both protocol versions see it.

use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Legacy, Modern, Piped, with_tasks},
    texts,
};

/// Three tools, so that a listing can be told by heart.
const FEW: &str = "tools: { enable: [ autosage, learning-os ] }\n";

/// A tool whose result is a list.
fn list_tool(world: &World) {
    world.write_program("contracts/list.sh", "#!/bin/sh\necho '[\"a\",\"b\"]'\n");
    world.write(
        "contracts/list.yaml",
        "name: list
title: A list
description: Answers a list.
version: \"1\"
stability: stable
toolset: lists
effects: append
run: [./list.sh]
icons: [ { src: 'https://example.com/list.png', mime_type: image/png, sizes: [48x48], theme: dark } ]
input_schema: { type: object, description: Nothing., properties: {}, required: [], additionalProperties: false }
output_schema: { type: array, description: Names., items: { $ref: '#/$defs/name' }, $defs: { name: { type: string } } }
examples: [ { title: A call, input: {}, output: [a, b] } ]
",
    );
}

fn names(listing: &Value) -> Vec<String> {
    texts(&listing["result"]["tools"], "name")
}

#[tokio::test]
async fn a_listing_says_what_contracts_say() {
    let settings = "contracts: [ ./contracts ]\ntools: { enable: [ autosage ] }\n";
    let mut world = World::new(crate::BINARY, settings);
    list_tool(&world);
    world.run().await;
    let modern = Modern::new(&world).ask("tools/list", json!({})).await;
    assert_eq!(names(&modern), ["echo_json", "list", "write_text_artifact"]);
    let result = &modern["result"];
    assert_eq!((&result["resultType"], &result["ttlMs"]), (&json!("complete"), &json!(60_000)));
    assert_eq!(result["cacheScope"], "public");
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "toolgate");
    let list = &result["tools"][1];
    assert_eq!(list["title"], "A list");
    assert_eq!(list["icons"][0]["mimeType"], "image/png");
    let hints = json!({ "title": "A list", "readOnlyHint": false, "destructiveHint": false,
        "idempotentHint": false, "openWorldHint": true });
    assert_eq!(list["annotations"], hints);
    assert_eq!(list["outputSchema"]["type"], "array");

    let legacy = Legacy::open(&world).await;
    let listing = legacy.ask("tools/list", &json!({})).await;
    assert_eq!(names(&listing), names(&modern));
    assert_eq!(listing["result"].as_object().unwrap().len(), 1, "{listing}");
    let wrapped = &listing["result"]["tools"][1]["outputSchema"];
    assert_eq!((&wrapped["type"], &wrapped["required"]), (&json!("object"), &json!(["result"])));
    assert_eq!(wrapped["properties"]["result"]["items"]["$ref"], "#/properties/result/$defs/name");
}

#[tokio::test]
async fn what_is_no_object_is_wrapped_for_legacy_clients_alone() {
    let mut world = World::new(crate::BINARY, "contracts: [ ./contracts ]\n");
    list_tool(&world);
    world.run().await;
    let modern = Modern::new(&world).call("list", &json!({})).await;
    assert_eq!(modern["structuredContent"], json!(["a", "b"]));
    assert_eq!(modern["content"][0]["text"], r#"["a","b"]"#);
    let legacy = Legacy::open(&world).await.call("list", &json!({})).await;
    assert_eq!(legacy["structuredContent"], json!({ "result": ["a", "b"] }));
    assert_eq!(legacy["content"][0]["text"], r#"{"result":["a","b"]}"#);
    // Before 2025-06-18 there was text alone.
    let old = Legacy::open_at(&world, "/mcp", "2024-11-05", &json!({})).await;
    assert_eq!(old.opened["result"]["protocolVersion"], "2024-11-05");
    let result = old.call("list", &json!({})).await;
    assert_eq!(result.get("structuredContent"), None);
    assert_eq!(result["isError"], false);
}

#[tokio::test]
async fn long_listings_come_in_pages() {
    let settings = "mcp: { page_size: 1 }\ntools: { enable: [ autosage ] }\n";
    let world = crate::start(settings).await;
    let client = Modern::new(&world);
    let first = client.ask("tools/list", json!({})).await;
    assert_eq!(names(&first), ["echo_json"]);
    let cursor = first["result"]["nextCursor"].clone();
    let second = client.ask("tools/list", json!({ "cursor": cursor })).await;
    assert_eq!(names(&second), ["write_text_artifact"]);
    assert_eq!(second["result"].get("nextCursor"), None);
}

#[tokio::test]
async fn a_toolset_is_a_server_of_its_own_name() {
    let world = crate::start("").await;
    let client = Modern::new(&world).at("/mcp/autosage");
    let listing = client.ask("tools/list", json!({})).await;
    assert_eq!(names(&listing), ["echo_json", "write_text_artifact"]);
    let info = &listing["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(info["name"], "autosage");
    // What is not listed cannot be called, and nothing is said of it.
    let params = json!({ "name": "hello", "arguments": { "name": "Ada" } });
    let refused = client.ask("tools/call", params.clone()).await;
    assert_eq!(refused["error"], json!({ "code": -32602, "message": "Unknown tool: hello" }));
    let missing = Modern::new(&world).at("/mcp/nothing").send("tools/list", json!({})).await;
    assert_eq!((missing.status, &missing.json()["error"]["code"]), (404, &json!(-32600)));

    let legacy = Legacy::open_at(&world, "/mcp/learning-os", "2025-11-25", &json!({})).await;
    assert_eq!(legacy.opened["result"]["serverInfo"]["name"], "learning-os");
    let learning_os = ["hello", "read_repo_file", "write_memory_entry"];
    assert_eq!(names(&legacy.ask("tools/list", &json!({})).await), learning_os);

    let mut stdio = Piped::start(&world, &["--toolset", "learning-os"]);
    assert_eq!(stdio.initialize(&json!({}))["result"]["serverInfo"]["name"], "learning-os");
    assert_eq!(names(&stdio.ask(1, "tools/list", &json!({}))), learning_os);
    assert_eq!(stdio.close(), (0, Vec::new()));
    world.cli("mcp --toolset learning-so").exits(2).stderr_has("did you mean `learning-os`?");
}

#[tokio::test]
async fn artifacts_jobs_and_contracts_are_resources() {
    let world = crate::start(FEW).await;
    let client = Modern::new(&world);
    let arguments = json!({ "text": "Grüße", "filename": "a b.txt" });
    let result = client.call("write_text_artifact", &arguments).await;
    let job = result["_meta"]["toolgate/job_id"].as_str().unwrap();
    let blocks = result["content"].as_array().unwrap();
    let link = blocks.iter().find(|block| block["type"] == "resource_link").unwrap();
    assert_eq!(link["uri"], format!("toolgate://jobs/{job}/artifacts/a%20b.txt"));
    assert_eq!((&link["name"], &link["size"]), (&json!("a b.txt"), &json!(7)));
    let read = |uri: Value| {
        let client = &client;
        async move { client.ask("resources/read", json!({ "uri": uri })).await }
    };
    let text = read(link["uri"].clone()).await;
    assert_eq!(text["result"]["contents"][0]["text"], "Grüße");
    let recorded = read(json!(format!("toolgate://jobs/{job}"))).await;
    let recorded: Value =
        serde_json::from_str(recorded["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&recorded["id"], &recorded["status"]), (&json!(job), &json!("succeeded")));
    let contract = read(json!("toolgate://contracts/hello")).await;
    let contract: Value =
        serde_json::from_str(contract["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(contract, world.get("/v1/tools/hello").await.json());

    let listed = client.ask("resources/list", json!({})).await;
    assert_eq!(listed["result"]["resources"][0]["uri"], "toolgate://contracts/echo_json");
    let templates = client.ask("resources/templates/list", json!({})).await;
    assert_eq!(templates["result"]["resourceTemplates"].as_array().unwrap().len(), 3);
    let reference = json!({ "type": "ref/resource", "uri": "toolgate://contracts/{tool}" });
    let asked = json!({ "ref": reference, "argument": { "name": "tool", "value": "he" } });
    let completed = client.ask("completion/complete", asked).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["hello"]));
    // A door to one toolset shows what belongs to it.
    let other = Modern::new(&world).at("/mcp/learning-os");
    let uri = format!("toolgate://jobs/{job}");
    assert_eq!(other.ask("resources/read", json!({ "uri": uri })).await["error"]["code"], -32602);
}

#[tokio::test]
async fn a_binary_artifact_is_base64() {
    let world = crate::with_commands(
        "",
        &[("bytes", "printf '\\377\\000' > x.bin; echo '{\"answer\":1}'")],
    )
    .await;
    let client = Modern::new(&world);
    let result = client.call("bytes", &json!({})).await;
    let uri = &result["content"][1]["uri"];
    let read = client.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(read["result"]["contents"][0]["blob"], "/wA=");
}

#[tokio::test]
async fn a_long_call_becomes_a_task_and_is_the_same_job() {
    let world = crate::with_commands(
        "mcp: { task_after_ms: 300 }\n",
        &[("slow", "sleep 1; echo '{\"answer\":42}'"), ("endless", "sleep 60")],
    )
    .await;
    let client = Modern::new(&world).able(with_tasks());
    let task = client.call("slow", &json!({})).await;
    assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
    let id = task["taskId"].as_str().unwrap().to_owned();
    assert_eq!(world.job(&id).await["status"], "running");
    let ended = poll(&client, &id).await;
    assert_eq!(ended["status"], "completed");
    assert_eq!(ended["result"]["structuredContent"], json!({ "answer": 42 }));
    assert_eq!(world.job(&id).await["status"], "succeeded");
    // A quick call is no task, and a client that knows no tasks waits.
    let quick = client.call("echo_json", &json!({ "message": "hi" })).await;
    assert_eq!(quick["resultType"], "complete");
    let waited = Modern::new(&world).call("slow", &json!({})).await;
    assert_eq!(waited["structuredContent"], json!({ "answer": 42 }));

    let task = client.call("endless", &json!({})).await;
    let id = task["taskId"].as_str().unwrap().to_owned();
    let cancelled = client.ask("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(cancelled["result"]["resultType"], "complete");
    assert_eq!(poll(&client, &id).await["status"], "cancelled");
    assert_eq!(world.job(&id).await["status"], "cancelled");
}

async fn poll(client: &Modern<'_>, id: &str) -> Value {
    testkit::eventually("the task ends", async || {
        let task = client.ask("tasks/get", json!({ "taskId": id })).await["result"].clone();
        (task["status"] != "working").then_some(task)
    })
    .await
}

#[tokio::test]
async fn a_job_of_rest_is_a_task_and_a_failure_is_one_too() {
    let world = crate::start("").await;
    let client = Modern::new(&world).able(with_tasks());
    let body = json!({ "tool": "echo_json", "input": { "message": "", "n": 1 } });
    let task = poll(&client, &world.submit(&body).await).await;
    assert_eq!((&task["status"], &task["result"]["isError"]), (&json!("completed"), &json!(true)));
    assert_eq!(task["result"]["_meta"]["toolgate/error"]["code"], "invalid_input");
}

#[tokio::test]
async fn the_journal_knows_the_door() {
    let world = crate::start("").await;
    Modern::new(&world).call("hello", &json!({ "name": "Ada" })).await;
    assert_eq!(world.journal().last().unwrap()["door"], "mcp_http");
    let mut stdio = Piped::start(&world, &[]);
    stdio.initialize(&json!({}));
    stdio.ask(1, "tools/call", &json!({ "name": "hello", "arguments": { "name": "Ada" } }));
    stdio.close();
    let last = world.journal().pop().unwrap();
    assert_eq!((&last["door"], &last["caller"]), (&json!("mcp_stdio"), &json!("stdio")));
}

#[tokio::test]
async fn a_client_is_told_how_to_start_us() {
    let world = World::new(crate::BINARY, "");
    let print = |client: &str| {
        let output = world.cli(&format!("mcp --print-config {client}")).exits(0);
        assert!(output.stderr.starts_with("paste it"), "{output}");
        output.json()
    };
    let claude = print("claude");
    let server = &claude["mcpServers"]["toolgate"];
    assert_eq!(server["args"][0], "mcp");
    let folder = world.folder().canonicalize().unwrap();
    let arguments: Vec<_> =
        server["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(arguments[1], "--config");
    assert!(arguments[2].ends_with("/toolgate.yaml") && arguments[2].starts_with('/'));
    assert_eq!(arguments[4], folder.join("data").to_str().unwrap());
    let vscode = print("vscode --toolset autosage");
    assert_eq!(vscode["servers"]["autosage"]["type"], "stdio");
    assert_eq!(print("cursor"), claude);
    assert_eq!(print("generic")["mcpServers"]["toolgate"]["type"], "stdio");
    // What was printed works, from anywhere.
    let program = server["command"].as_str().unwrap();
    let world = World::new(program, "");
    let mut stdio = Piped::start(&world, &arguments[1..]);
    assert_eq!(stdio.initialize(&json!({}))["result"]["serverInfo"]["name"], "toolgate");
}

#[tokio::test]
async fn what_is_printed_without_settings_reads_none_wherever_it_is_started() {
    let world = World::new(crate::BINARY, "");
    std::fs::remove_file(world.folder().join("toolgate.yaml")).unwrap();
    let printed = world.cli("mcp --print-config claude").exits(0).json();
    let arguments: Vec<_> = printed["mcpServers"]["toolgate"]["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one.as_str().unwrap())
        .collect();
    assert_eq!(arguments[..2], ["mcp", "--no-config"]);
    let data = world.folder().canonicalize().unwrap().join("data");
    assert_eq!(arguments[2..], ["--data-dir", data.to_str().unwrap()]);
    // A folder of somebody else's, whose settings would start a program.
    let theirs = World::new(
        crate::BINARY,
        "tools: { enable: [] }\nupstreams: { evil: { command: touch, args: [state/started] } }\n",
    );
    std::fs::create_dir(theirs.folder().join("state")).unwrap();
    let mut stdio = Piped::start(&theirs, &arguments[1..]);
    stdio.initialize(&json!({}));
    let called =
        stdio.ask(1, "tools/call", &json!({ "name": "hello", "arguments": { "name": "Ada" } }));
    assert_eq!(called["result"]["isError"], false, "{called}");
    stdio.close();
    assert!(!theirs.has("state/started"));
    // Nor the one that the environment names.
    let theirs = theirs.with_env("TOOLGATE_CONFIG", "toolgate.yaml");
    theirs.cli("config show --no-config").exits(0).stdout_lacks("evil");
    theirs.cli("upstream import toolgate.yaml --no-config").exits(2);
}
