//! The commands of the seed documents, as they are written there.

use serde_json::{Value, json};
use testkit::{Shell, World};

use crate::BINARY;

async fn adam() -> World {
    let world = World::new(BINARY, "");
    world.write("data/files/my-notes.txt", "notes");
    world.started().await
}

/// Every curl command of seed 001 is taken from its text.
#[tokio::test]
async fn the_curl_commands_of_seed_001_work_as_written() {
    let world = adam().await;
    let shell = Shell::new(&world, 8_000);
    let cases = [
        (
            r#"# Read a file
curl -X POST http://127.0.0.1:8000/v1/tools/file-io \
  -H "Content-Type: application/json" \
  -d '{"args": {"command": "read_file", "path": "my-notes.txt"}}'"#,
            json!({ "tool": "file-io", "ok": true,
                "result": { "ok": true, "contents": "notes" } }),
        ),
        (
            r#"# Write a file
curl -X POST http://127.0.0.1:8000/v1/tools/file-io \
  -H "Content-Type: application/json" \
  -d '{"args": {"command": "write_file", "path": "new-file.txt", "content": "Hello from Adam!"}}'"#,
            json!({ "tool": "file-io", "ok": true,
                "result": { "ok": true, "bytes_written": 16 } }),
        ),
    ];
    for (command, expected) in cases {
        assert_eq!(shell.run(command).json(), expected, "{command}");
    }
    let web = shell.run(
        r#"curl -X POST http://127.0.0.1:8000/v1/tools/web-fetch \
  -H "Content-Type: application/json" \
  -d '{"args": {"url": "https://example.com"}}'"#,
    );
    let got = web.json();
    assert_eq!(got["tool"], "web-fetch");
    // With or without a network.
    let failed = got["error"].as_str().is_some_and(|error| error.starts_with("Network error: "));
    assert!(failed || got["result"]["ok"] == json!(true), "{got}");
    let audit = shell.run(
        r#"curl -X POST http://127.0.0.1:8000/v1/tools/adam-sys-audit \
  -H "Content-Type: application/json" \
  -d '{"args": {"command": "list_hardware"}}'"#,
    );
    let got = audit.json();
    assert_eq!((&got["tool"], &got["ok"]), (&json!("adam-sys-audit"), &json!(true)));
    assert_eq!(got["result"]["os"], "linux");
}

#[tokio::test]
async fn a_toolset_is_called_by_command_or_by_its_default() {
    let world = adam().await;
    let check = async |path: &str, args: Value, status: u16, part: &str| {
        let answer = world.post(path, json!({ "args": args })).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert!(answer.text().contains(part), "{}", answer.text());
    };
    let (files, web) = ("/v1/tools/file-io", "/v1/tools/web-fetch");
    check(web, json!({ "command": "fetch_url", "url": "ftp://x/" }), 403, "Disallowed protocol")
        .await;
    check(web, json!({ "url": "ftp://x/" }), 403, "Disallowed protocol").await;
    check(web, json!({ "command": "read_file" }), 404, "`web-fetch` has no command").await;
    check(files, json!({ "command": "chmod" }), 404, "read_file, search_text").await;
    check(files, json!({ "path": "x" }), 400, "`command` is required").await;
    check(files, json!({ "command": 1 }), 400, "`command` must be a string").await;
    check(files, json!({ "command": "read_file", "mode": 1 }), 400, "`/mode`").await;
    check("/v1/tools/read_file", json!({ "path": "my-notes.txt" }), 200, "notes").await;
    check("/v1/tools/read_file", json!({ "command": "read_file" }), 400, "`/command`").await;
}

/// Seed 004 shows a descriptor; ours has every field of it.
#[tokio::test]
async fn the_descriptor_of_seed_004_is_ours() {
    let world = crate::start("").await;
    let got = world.get("/v1/tools/echo_json").await.json();
    let shown = json!({
        "name": "echo_json",
        "version": "1",
        "stability": "stable",
        "tags": ["deterministic", "util"],
        "description": "Echoes a message deterministically and optionally repeats it n times.",
    });
    for (key, value) in shown.as_object().unwrap() {
        assert_eq!(&got[key], value, "{key}");
    }
    assert_eq!(got["examples"][0]["title"], "Echo message twice");
    assert_eq!(got["examples"][0]["input"], json!({ "message": "hello", "n": 2 }));
    let schema = &got["input_schema"];
    assert_eq!(schema["description"], "Input parameters for echo_json.");
    assert_eq!(schema["required"], json!(["message"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    assert_eq!(schema["properties"]["n"]["maximum"], 64);
}
