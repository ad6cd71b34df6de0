//! Seed 002, the learning OS: every row of its cases, over REST where that leads to the tool.

mod memory;

use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use testkit::World;

use crate::BINARY;

/// A repository with what the cases speak of.
async fn repository(settings: &str) -> World {
    let world = World::new(BINARY, settings);
    for (path, text) in [
        ("docs/a.md", "hi\n"),
        ("docs/dir/inner.md", "inner\n"),
        ("docs/empty.md", ""),
        ("docs/umlaut.md", "Grüße\r\n"),
        ("docs/secrets/key.md", "hidden words\n"),
        ("docs/.env", "hidden words\n"),
        ("docs/.git/config", "hidden words\n"),
        ("docs/exact.md", &"x".repeat(1_048_576)),
        ("docs/big.md", &"x".repeat(1_048_577)),
        ("docs/controls.md", &"\u{1}".repeat(1_048_576)),
        ("paths/p.md", "path\n"),
        ("stacks/s.md", "stack\n"),
        (".claude/memory/progress_log.jsonl", "{}\n"),
        (".claude/settings.json", "hidden words\n"),
        ("README.md", "readme\n"),
        ("CLAUDE.md", "claude\n"),
        ("SETUP.md", "hidden words\n"),
        (".env", "hidden words\n"),
        (".env.local", "hidden words\n"),
        (".git/config", "hidden words\n"),
        ("outside/secret.md", "hidden words\n"),
    ] {
        world.write(path, text);
    }
    let docs = world.folder().join("docs");
    std::fs::write(docs.join("bin.md"), [0xff, 0xfe]).unwrap();
    symlink("../outside/secret.md", docs.join("link.md")).unwrap();
    symlink("../outside", docs.join("linked")).unwrap();
    symlink("a.md", docs.join("inside.md")).unwrap();
    std::fs::hard_link(world.folder().join(".env"), docs.join("hard.md")).unwrap();
    std::os::unix::net::UnixListener::bind(docs.join("socket")).unwrap();
    world.started().await
}

async fn call(world: &World, tool: &str, args: Value) -> (u16, Value) {
    let answer = world.call(tool, &args).await;
    assert!(!answer.text().contains("hidden words"), "{}", answer.text());
    (answer.status, answer.json())
}

/// The status, the code and the text of a refused read.
async fn refused(world: &World, path: &str) -> (u16, String, String) {
    let (status, answer) = call(world, "read_repo_file", json!({ "path": path })).await;
    assert_eq!(answer["ok"], false, "{path}: {answer}");
    let text = |key: &str| answer[key].as_str().unwrap().to_owned();
    (status, text("code"), text("error"))
}

#[tokio::test]
async fn hello_l01_to_l03() {
    let world = crate::start("").await;
    let (status, answer) = call(&world, "hello", json!({ "name": "Test" })).await;
    assert_eq!((status, &answer["result"]), (200, &json!({ "greeting": "Hello, Test!" })));
    let (status, answer) = call(&world, "hello", json!({})).await;
    assert_eq!((status, &answer["error"]), (400, &"`/name` is required".into()));
    let (status, answer) = call(&world, "hello", json!({ "name": "x".repeat(101) })).await;
    let words = "`/name` must have at most 100 characters";
    assert_eq!((status, &answer["error"]), (400, &words.into()));
}

#[tokio::test]
async fn read_repo_file_l05_to_l10_and_l19() {
    let world = repository("").await;
    for (path, content) in [
        ("docs/a.md", "hi\n"),
        ("docs/dir/inner.md", "inner\n"),
        ("docs/empty.md", ""),
        ("docs/umlaut.md", "Grüße\r\n"),
        ("paths/p.md", "path\n"),
        ("stacks/s.md", "stack\n"),
        (".claude/memory/progress_log.jsonl", "{}\n"),
        ("README.md", "readme\n"),
        ("CLAUDE.md", "claude\n"),
        ("docs/exact.md", &"x".repeat(1_048_576)),
        ("docs/controls.md", &"\u{1}".repeat(1_048_576)),
    ] {
        let (status, answer) = call(&world, "read_repo_file", json!({ "path": path })).await;
        let expected = json!({ "content": content, "size": content.len() });
        assert!(status == 200 && answer["result"] == expected, "{path}: {status}");
    }
}

#[tokio::test]
async fn read_repo_file_l11_to_l21() {
    let world = repository("").await;
    let not_allowed = |path: &str| format!("Path not allowed: {path}");
    for (path, status, code, words) in [
        (".env", 403, "path_not_allowed", "Path not allowed: .env"),
        ("../outside.txt", 403, "path_not_allowed", "Path not allowed: ../outside.txt"),
        ("/etc/passwd", 403, "path_not_allowed", "Path not allowed: /etc/passwd"),
        ("docs/nope.md", 404, "file_not_found", "File not found: docs/nope.md"),
        ("docs/a.md/b", 404, "file_not_found", "File not found: docs/a.md/b"),
        ("docs/bin.md", 415, "not_text", "File is not valid UTF-8 text"),
        ("docs/dir", 400, "not_a_file", "Not a file: docs/dir"),
        ("docs/socket", 400, "not_a_file", "Not a file: docs/socket"),
        ("docs/big.md", 413, "too_large", "File too large: 1048577 bytes (max 1048576)"),
        ("SETUP.md", 403, "path_not_allowed", "Path not allowed: SETUP.md"),
    ] {
        assert_eq!(refused(&world, path).await, (status, code.into(), words.into()));
    }
    for path in ["docs/a b.md", "docs/a.md\n", "docs\\a.md", "docs/ä.md", "", "docs/*.md"] {
        let (status, code, words) = refused(&world, path).await;
        assert_eq!((status, code.as_str()), (400, "invalid_input"), "{path:?}");
        assert!(words.contains("`/path` must match"), "{words}");
    }
    let (status, code, words) = refused(&world, &"a".repeat(257)).await;
    assert_eq!((status, code.as_str()), (400, "invalid_input"));
    assert_eq!(words, "`/path` must have at most 256 characters");
    // What is not allowed answers the same whether it is there or not.
    for path in [
        ".env.local",
        ".env.none",
        ".git/config",
        ".git/none",
        ".git",
        "docs/.env",
        "docs/.env.none",
        "docs/.ENV",
        "docs/secrets/key.md",
        "docs/secrets/none",
        "docs/secrets",
        "docs/SECRETS/key.md",
        "docs/.git/config",
        ".claude/settings.json",
        ".claude/none.json",
        "toolgate.yaml",
        "data/operator.token",
        "none",
        "docs",
        "docs/",
        ".",
        "..",
        "docs/..",
        "docs/../docs/a.md",
        "docs/a..md",
        "./docs/a.md",
        "docs//a.md",
        "docs/./a.md",
        "docs/a.md/",
        "Docs/a.md",
        "readme.md",
        "docs/a.md.",
        // Links, and a file with a second name.
        "docs/link.md",
        "docs/linked/secret.md",
        "docs/inside.md",
        "docs/hard.md",
    ] {
        let expected = (403, "path_not_allowed".to_owned(), not_allowed(path));
        assert_eq!(refused(&world, path).await, expected);
    }
    let (status, answer) =
        call(&world, "read_repo_file", json!({ "path": "README.md", "mode": 1 })).await;
    assert_eq!((status, &answer["code"]), (400, &"invalid_input".into()));
}

#[tokio::test]
async fn the_lists_of_the_repository_are_settings() {
    let world = repository(
        "tools: { repo: { root: ./docs, allow: ['**'], deny: ['dir/**', '*.exact', 'se*'], max_bytes: 4 } }\n",
    )
    .await;
    let (status, answer) = call(&world, "read_repo_file", json!({ "path": "a.md" })).await;
    assert_eq!((status, &answer["result"]["size"]), (200, &3.into()));
    assert_eq!(refused(&world, "dir/inner.md").await.1, "path_not_allowed");
    assert_eq!(refused(&world, "secrets/key.md").await.1, "path_not_allowed");
    let words = "File too large: 9 bytes (max 4)";
    assert_eq!(refused(&world, "umlaut.md").await.2, words);
    assert_eq!(refused(&world, "../README.md").await.1, "path_not_allowed");
    // A repository that is not there is the operator's to see.
    let world = crate::start("tools: { repo: { root: ./none } }\n").await;
    let (status, code, words) = refused(&world, "docs/a.md").await;
    let expected = (500, "internal", "the file could not be read");
    assert_eq!((status, code.as_str(), words.as_str()), expected);
}

/// What is wrong with the request itself, in the shapes of our doors; the server goes on.
#[tokio::test]
async fn requests_that_name_no_tool_l30_to_l32() {
    let world = crate::start("").await;
    let (status, answer) = call(&world, "nope", json!({})).await;
    let expected = (404, &"Unsupported tool: nope.".into(), &"unknown_tool".into());
    assert_eq!((status, &answer["error"], &answer["code"]), expected);
    let answer = world.execute(&json!({ "tool": "nope", "input": {} })).await;
    assert_eq!(answer.status, 404);
    let answer = world.execute(&json!({ "input": {} })).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.tool_result()["metrics"]["error_code"], "invalid_request");
    let answer = world.post("/v1/tools/execute", "not json").await;
    assert_eq!(answer.status, 400);
    let answer = world.post("/v1/tools/hello", "not json").await;
    assert_eq!(answer.status, 400);
    let (status, _) = call(&world, "hello", json!({ "name": "Test" })).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn nothing_is_written_without_approval_l35() {
    let world = repository("").await;
    let entry = json!({ "timestamp": "2026-01-09T12:00:00Z", "type": "task_complete" });
    let (status, answer) =
        call(&world, "write_memory_entry", json!({ "file": "progress_log.jsonl", "entry": entry }))
            .await;
    assert_eq!((status, &answer["code"]), (403, &"approval_required".into()), "{answer}");
    let path = world.folder().join(".claude/memory/progress_log.jsonl");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "{}\n");
    // What a person would be asked about is checked first.
    let (status, answer) =
        call(&world, "write_memory_entry", json!({ "file": "../x", "entry": entry })).await;
    assert_eq!((status, &answer["code"]), (400, &"invalid_input".into()), "{answer}");
}

/// Where the operator's policy trusts the agent with its memory.
#[tokio::test]
async fn entries_are_written_and_counted_over_rest_l22_and_l36() {
    let policy = "policy: { approval: [ { tool: write_memory_entry, require: never } ] }\n";
    let mut world = repository(policy).await;
    let entry = json!({ "timestamp": "2026-01-09T12:00:00Z", "type": "task_complete" });
    let args = json!({ "file": "progress_log.jsonl", "entry": entry });
    for number in 2..=21 {
        let (status, answer) = call(&world, "write_memory_entry", args.clone()).await;
        let expected = json!({ "success": true, "line_number": number });
        assert_eq!((status, &answer["result"]), (200, &expected), "{answer}");
        if number == 10 {
            // What was written before counts after a crash, too.
            world.kill();
            world.run().await;
        }
    }
    let body = json!({ "args": args }).to_string();
    let answer = world.post("/v1/tools/write_memory_entry", &body).await;
    answer.fails(429, "rate_limited");
    let seconds: u32 = answer.header("retry-after").parse().unwrap();
    assert!((3_000..=3_600).contains(&seconds), "{seconds}");
    let path = ".claude/memory/progress_log.jsonl";
    let (_, answer) = call(&world, "read_repo_file", json!({ "path": path })).await;
    let content = answer["result"]["content"].as_str().unwrap();
    assert_eq!(content, format!("{{}}\n{}", format!("{entry}\n").repeat(20)));
    assert!(world.has("data/memory/progress_log.jsonl.times"));
}

#[tokio::test]
async fn a_text_without_room_in_the_result_is_too_large() {
    let world = repository("tools: { repo: { max_bytes: 67108864 } }\n").await;
    world.write("docs/nine.md", &"x".repeat(9_000_000));
    let (status, answer) = call(&world, "read_repo_file", json!({ "path": "docs/nine.md" })).await;
    assert_eq!((status, &answer["result"]["size"]), (200, &json!(9_000_000)));
    let body = json!({
        "tool": "read_repo_file",
        "input": { "path": "docs/exact.md" },
        "context": { "limits": { "max_output_bytes": 50_000 } },
    });
    let answer = world.execute(&body).await;
    assert_eq!(answer.status, 413);
    assert_eq!(answer.json()["metrics"]["error_code"], "too_large");
}
