//! The toolset `file-io` over REST, in the shapes of seed 001.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use serde_json::{Value, json};
use testkit::{TmpfsMount, World};

use crate::start;

/// A world with an agent's folder, and something outside it that is nobody's business.
struct Adam {
    world: World,
}

impl Adam {
    async fn new(settings: &str) -> Self {
        let world = start(settings).await;
        world.write("data/config/adam.yaml", "secret: true\n");
        world.write("data/files/my-notes.txt", "Buy milk.\n");
        Self { world }
    }

    fn file(&self, path: &str) -> PathBuf {
        self.world.folder().join("data/files").join(path)
    }

    fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.file(path)).unwrap()
    }

    /// `POST /v1/tools/file-io` with these arguments: status and answer.
    async fn call(&self, args: Value) -> (u16, Value) {
        let body = json!({ "args": args }).to_string();
        let answer = self.world.post("/v1/tools/file-io", &body).await;
        (answer.status, answer.json())
    }

    /// The result of a call that succeeds.
    async fn succeeds(&self, args: Value) -> Value {
        let (status, answer) = self.call(args.clone()).await;
        assert_eq!((status, &answer["ok"]), (200, &json!(true)), "{args}: {answer}");
        assert_eq!(answer["tool"], "file-io");
        answer["result"].clone()
    }

    /// A call that fails with this status, code and text, and the reason that it gives.
    async fn fails(&self, args: Value, status: u16, code: &str, error: &str) -> String {
        let (got, answer) = self.call(args.clone()).await;
        assert_eq!((got, &answer["ok"]), (status, &json!(false)), "{args}: {answer}");
        assert_eq!(answer["tool"], "file-io");
        assert_eq!((answer["code"].as_str(), answer["error"].as_str()), (Some(code), Some(error)));
        // Where the folder lies is not told.
        let whole = answer.to_string();
        assert!(!whole.contains(self.world.folder().to_str().unwrap()), "{whole}");
        answer["details"]["reason"].as_str().unwrap_or_default().to_owned()
    }
}

fn read(path: &str) -> Value {
    json!({ "command": "read_file", "path": path })
}

fn write(path: &str, content: &str) -> Value {
    json!({ "command": "write_file", "path": path, "content": content })
}

#[tokio::test]
async fn d11_a_file_is_written() {
    let adam = Adam::new("").await;
    let body = r#"{"args": {"command": "write_file", "path": "new-file.txt", "content": "Hello from Adam!"}}"#;
    let answer = adam.world.post("/v1/tools/file-io", body).await;
    let expected =
        json!({ "tool": "file-io", "ok": true, "result": { "ok": true, "bytes_written": 16 } });
    assert_eq!(answer.json(), expected);
    assert_eq!(adam.read("new-file.txt"), "Hello from Adam!");
    // Bytes are counted, not characters.
    let written = adam.succeeds(write("greeting.txt", "Grüße 🦀")).await;
    assert_eq!(written, json!({ "ok": true, "bytes_written": 12 }));
}

#[tokio::test]
async fn d12_a_file_is_read() {
    let adam = Adam::new("").await;
    let body = r#"{"args": {"command": "read_file", "path": "my-notes.txt"}}"#;
    let answer = adam.world.post("/v1/tools/file-io", body).await;
    let expected = json!({ "tool": "file-io", "ok": true,
        "result": { "ok": true, "contents": "Buy milk.\n" } });
    assert_eq!(answer.json(), expected);
    // By its absolute path too, and through a link that stays inside.
    let absolute = adam.file("my-notes.txt");
    symlink("my-notes.txt", adam.file("link.txt")).unwrap();
    for path in [absolute.to_str().unwrap(), "link.txt", "./my-notes.txt"] {
        assert_eq!(adam.succeeds(read(path)).await["contents"], "Buy milk.\n", "{path}");
    }
}

#[tokio::test]
async fn d13_nothing_outside_is_read() {
    let adam = Adam::new("").await;
    symlink("../config/adam.yaml", adam.file("out.txt")).unwrap();
    symlink("../config", adam.file("out")).unwrap();
    symlink("/etc/passwd", adam.file("passwd")).unwrap();
    std::fs::hard_link(adam.file("../config/adam.yaml"), adam.file("hard.txt")).unwrap();
    for (path, reason) in [
        ("../config/adam.yaml", "the path contains `..`"),
        ("a/../../x", "the path contains `..`"),
        ("/etc/passwd", "the path is absolute and does not lie in the folder"),
        ("out.txt", "a symbolic link in it leads out of the folder"),
        ("out/adam.yaml", "a symbolic link in it leads out of the folder"),
        ("passwd", "a symbolic link in it leads out of the folder"),
        ("hard.txt", "it has more than one name (hard links)"),
        ("..\\config\\adam.yaml", "the path contains a backslash; names are separated by `/`"),
        ("my-notes.txt\0", "the path contains a control character"),
        ("my-notes.txt.", "a name in the path ends in a dot or white space"),
    ] {
        let got = adam.fails(read(path), 403, "access_denied", "Access denied").await;
        assert_eq!(got, reason, "{path:?}");
    }
}

#[tokio::test]
async fn d14_a_missing_file_is_told() {
    let adam = Adam::new("").await;
    for path in ["missing.txt", "missing/x.txt", "%2e%2e/config/adam.yaml", "my-notes.txt/x"] {
        adam.fails(read(path), 404, "file_not_found", "File not found").await;
    }
    // The folder itself need not be there.
    std::fs::remove_dir_all(adam.file("")).unwrap();
    adam.fails(read("my-notes.txt"), 404, "file_not_found", "File not found").await;
}

#[tokio::test]
async fn d15_bytes_that_are_no_text_are_told() {
    let adam = Adam::new("").await;
    for bytes in [&b"\xff\xfe"[..], b"caf\xe9", b"\xe2\x82", b"\xed\xa0\x80"] {
        std::fs::write(adam.file("bytes"), bytes).unwrap();
        adam.fails(read("bytes"), 422, "encoding_error", "Encoding error").await;
    }
}

#[tokio::test]
async fn d16_folders_are_made_and_files_replaced() {
    let adam = Adam::new("").await;
    for content in ["first and longer", "second", ""] {
        adam.succeeds(write("a/b/c.txt", content)).await;
        assert_eq!(adam.read("a/b/c.txt"), content);
        assert_eq!(adam.succeeds(read("a/b/c.txt")).await["contents"], content);
    }
    assert_eq!(std::fs::read_dir(adam.file("a/b")).unwrap().count(), 1);
}

#[tokio::test]
async fn d17_what_cannot_be_written_stays_as_it_was() {
    let adam = Adam::new("").await;
    std::fs::create_dir(adam.file("folder")).unwrap();
    std::fs::set_permissions(adam.file("my-notes.txt"), PermissionsExt::from_mode(0o444)).unwrap();
    for (path, reason) in [
        ("folder", "it is a folder"),
        ("folder/", "it is a folder"),
        ("my-notes.txt", "it is read-only"),
        ("my-notes.txt/x", "it is not a folder"),
    ] {
        let args = write(path, "new");
        let got = adam.fails(args, 500, "write_failed", "Failed to write file").await;
        assert_eq!(got, reason, "{path}");
    }
    assert_eq!(adam.read("my-notes.txt"), "Buy milk.\n");
}

#[tokio::test]
async fn d17_a_full_disk_and_a_read_only_one_are_told() {
    let adam = Adam::new("").await;
    let Some(small) = TmpfsMount::at(&adam.file("small"), "size=256k") else { return };
    adam.succeeds(write("small/notes.txt", "old")).await;
    let large = "x".repeat(400_000);
    for path in ["small/notes.txt", "small/new.txt"] {
        let args = write(path, &large);
        let got = adam.fails(args, 500, "write_failed", "Failed to write file").await;
        assert_eq!(got, "no storage space");
    }
    assert_eq!(adam.read("small/notes.txt"), "old");
    assert_eq!(std::fs::read_dir(adam.file("small")).unwrap().count(), 1);
    adam.succeeds(write("small/notes.txt", "new")).await;

    small.remount("ro");
    for path in ["small/notes.txt", "small/new.txt", "small/a/b.txt"] {
        adam.fails(write(path, "x"), 500, "write_failed", "Failed to write file").await;
    }
    assert_eq!(adam.succeeds(read("small/notes.txt")).await["contents"], "new");
}

#[tokio::test]
async fn d18_nothing_outside_is_written() {
    let adam = Adam::new("").await;
    symlink("../config/adam.yaml", adam.file("out.txt")).unwrap();
    symlink("../config", adam.file("out")).unwrap();
    symlink("my-notes.txt", adam.file("in.txt")).unwrap();
    for path in ["../x", "a/../../x", "/tmp/toolgate-x", "out.txt", "out/x", "in.txt", "..\\x"] {
        adam.fails(write(path, "x"), 403, "access_denied", "Access denied").await;
    }
    let config = adam.file("../config");
    assert_eq!(std::fs::read_dir(&config).unwrap().count(), 1);
    assert_eq!(std::fs::read_to_string(config.join("adam.yaml")).unwrap(), "secret: true\n");
    assert_eq!(adam.read("my-notes.txt"), "Buy milk.\n");
}

#[tokio::test]
async fn d19_a_missing_or_unknown_command_is_told() {
    let adam = Adam::new("").await;
    for (args, status) in [
        (json!({}), 400),
        (json!({ "path": "my-notes.txt" }), 400),
        (json!({ "command": "delete_file" }), 404),
        (json!({ "command": "READ_FILE" }), 404),
    ] {
        let (got, answer) = adam.call(args).await;
        assert_eq!((got, &answer["ok"]), (status, &json!(false)));
        for name in ["read_file", "write_file", "list_dir", "stat", "search_text", "edit_file"] {
            assert!(answer["error"].as_str().unwrap().contains(name), "{answer}");
        }
    }
}

#[tokio::test]
async fn limits_are_named_and_exact() {
    let settings = "server: { max_body_bytes: 20000000 }\ntools: { file_io: { max_read_bytes: 1000, max_write_bytes: 2000 } }";
    let adam = Adam::new(settings).await;
    adam.succeeds(write("x.txt", &"x".repeat(2_000))).await;
    let error = "the content has more than 2000 bytes (tools.file_io.max_write_bytes)";
    adam.fails(write("x.txt", &"ü".repeat(1_001)), 413, "too_large", error).await;
    assert_eq!(adam.read("x.txt").len(), 2_000);
    let error = "the file has more than 1000 bytes (tools.file_io.max_read_bytes)";
    adam.fails(read("x.txt"), 413, "too_large", error).await;
    adam.succeeds(write("x.txt", &"x".repeat(1_000))).await;
    adam.succeeds(read("x.txt")).await;
    let sparse = std::fs::File::create(adam.file("sparse")).unwrap();
    sparse.set_len(10_737_418_240).unwrap();
    adam.fails(read("sparse"), 413, "too_large", error).await;
}

#[test]
fn a_folder_that_holds_the_servers_own_data_is_refused() {
    for (settings, is_fine) in [
        ("tools: { file_io: { root: ./files } }", true),
        ("tools: { file_io: { root: ./data/files } }", true),
        ("tools: { file_io: { root: ./data-too } }", true),
        ("tools: { file_io: { root: . }, enable: [ autosage ] }", true),
        ("tools: { file_io: { root: . } }", false),
        ("tools: { file_io: { root: / } }", false),
        ("tools: { file_io: { root: ./data } }", false),
        ("tools: { file_io: { root: ./link } }", false),
        ("data_dir: ./link/state\ntools: { file_io: { root: ./data } }", false),
    ] {
        let world = World::new(crate::BINARY, settings);
        std::fs::create_dir(world.folder().join("data")).unwrap();
        symlink("data", world.folder().join("link")).unwrap();
        let output = world.cli("tools").exits(if is_fine { 0 } else { 2 });
        assert_eq!(
            output.stderr.contains("tools.file_io.root: the folder `"),
            !is_fine,
            "{output}"
        );
    }
}

/// In JSON every byte of such a file takes six.
#[tokio::test]
async fn no_file_that_may_be_read_ends_in_quarantine() {
    let adam = Adam::new("").await;
    let worst = "\u{1}".repeat(5_242_880);
    std::fs::write(adam.file("worst"), &worst).unwrap();
    let contents = adam.succeeds(read("worst")).await["contents"].clone();
    assert_eq!(contents.as_str().map(str::len), Some(worst.len()));
    // Where the caller asked for less, it is told.
    let limits = json!({ "limits": { "max_output_bytes": 1_000 } });
    for (input, code) in
        [(json!({ "path": "worst" }), "too_large"), (json!({ "path": "my-notes.txt" }), "ok")]
    {
        let body = json!({ "tool": "read_file", "input": input, "context": limits });
        let result = adam.world.execute(&body).await.json();
        let got = result["metrics"]["error_code"].as_str().unwrap_or("ok");
        assert_eq!(got, code, "{result}");
    }
    for number in 0..100 {
        std::fs::write(adam.file(&format!("{number}.txt")), "a line to find\n").unwrap();
    }
    for (tool, input, list) in
        [("list_dir", json!({}), "entries"), ("search_text", json!({ "query": "line" }), "matches")]
    {
        let body = json!({ "tool": tool, "input": input, "context": limits });
        let result = adam.world.execute(&body).await.json();
        assert_eq!(result["status"], "ok", "{result}");
        assert_eq!(result["output"]["truncated"], true);
        assert!(!result["output"][list].as_array().unwrap().is_empty());
    }
    let quarantined = adam.world.get("/v1/quarantine").await.text();
    assert!(!quarantined.contains("\"q_"), "{quarantined}");
}

#[tokio::test]
async fn a_folder_is_listed_and_looked_at() {
    let adam = Adam::new("").await;
    adam.succeeds(write("drafts/one.md", "1")).await;
    symlink("my-notes.txt", adam.file("link")).unwrap();
    let mut listed = adam.succeeds(json!({ "command": "list_dir" })).await;
    for entry in listed["entries"].as_array_mut().unwrap() {
        let modified = entry["modified"].take();
        assert!(modified.as_str().unwrap().ends_with('Z'), "{modified}");
    }
    let entry = |name: &str, kind: &str, bytes: u64| json!({ "name": name, "kind": kind, "bytes": bytes, "modified": null });
    let entries = [
        entry("drafts", "directory", 0),
        entry("link", "symlink", 0),
        entry("my-notes.txt", "file", 10),
    ];
    assert_eq!(
        listed,
        json!({ "ok": true, "path": ".", "entries": entries, "total": 3, "unnameable": 0,
            "truncated": false })
    );
    let args = json!({ "command": "list_dir", "path": "./", "max_entries": 1 });
    let listed = adam.succeeds(args).await;
    assert_eq!((&listed["total"], &listed["truncated"]), (&json!(3), &json!(true)));

    let looked = adam.succeeds(json!({ "command": "stat", "path": "link" })).await;
    assert_eq!((&looked["kind"], &looked["bytes"]), (&json!("file"), &json!(10)));
    let looked = adam.succeeds(json!({ "command": "stat", "path": "drafts/" })).await;
    assert_eq!((&looked["kind"], &looked["path"]), (&json!("directory"), &json!("drafts")));
    for command in ["list_dir", "stat", "search_text"] {
        for (path, status, code, error) in [
            ("missing", 404, "file_not_found", "File not found"),
            ("..", 403, "access_denied", "Access denied"),
            ("/etc", 403, "access_denied", "Access denied"),
        ] {
            let mut args = json!({ "command": command, "path": path });
            if command == "search_text" {
                args["query"] = json!("x");
            }
            adam.fails(args, status, code, error).await;
        }
    }
}

#[tokio::test]
async fn files_are_searched_and_what_was_skipped_is_told() {
    let settings = "tools: { file_io: { max_read_bytes: 1000, max_search_entries: 50 } }";
    let adam = Adam::new(settings).await;
    std::fs::write(adam.file("binary"), b"milk\0").unwrap();
    std::fs::write(adam.file("latin"), b"milk \xe9").unwrap();
    std::fs::write(adam.file("large"), "milk\n".repeat(300)).unwrap();
    std::fs::write(adam.file("long"), format!("{}milk", "x".repeat(900))).unwrap();
    symlink("my-notes.txt", adam.file("link")).unwrap();
    let found = adam.succeeds(json!({ "command": "search_text", "query": "milk" })).await;
    let matches = found["matches"].as_array().unwrap();
    assert_eq!(matches[0]["path"], "long");
    assert_eq!(matches[0]["text"], format!("{}milk", "x".repeat(80)));
    assert_eq!(matches[0]["truncated"], true);
    assert_eq!(
        matches[1],
        json!({ "path": "my-notes.txt", "line": 1, "text": "Buy milk.", "truncated": false })
    );
    assert_eq!(matches.len(), 2);
    assert_eq!(found["skipped"], json!({ "not_text": 2, "too_large": 1, "unreadable": 1 }));
    assert_eq!((&found["files_searched"], &found["truncated"]), (&json!(2), &json!(false)));

    let search = |more: Value| {
        let mut args = json!({ "command": "search_text", "query": "MILK" });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let count =
        async |more: Value| adam.succeeds(search(more)).await["matches"].as_array().unwrap().len();
    assert_eq!(count(json!({})).await, 0);
    assert_eq!(count(json!({ "case_sensitive": false })).await, 2);
    assert_eq!(count(json!({ "case_sensitive": false, "include": "*.txt" })).await, 1);
    assert_eq!(count(json!({ "case_sensitive": false, "path": "my-notes.txt" })).await, 1);
    assert_eq!(count(json!({ "query": "^Buy m.*k\\.$", "regex": true })).await, 1);
    assert_eq!(count(json!({ "query": "m.*k" })).await, 0);
    for (more, words) in [
        (json!({ "query": "(", "regex": true }), "`query` is not a valid pattern"),
        (json!({ "query": "(x{1000}){1000}", "regex": true }), "takes more than 524288 bytes"),
        (json!({ "include": "[" }), "`include` is not a valid glob"),
    ] {
        let (status, answer) = adam.call(search(more)).await;
        assert_eq!((status, &answer["code"]), (400, &json!("invalid_input")));
        assert!(answer["error"].as_str().unwrap().contains(words), "{answer}");
    }
    for number in 0..60 {
        std::fs::write(adam.file(&format!("many-{number}")), "").unwrap();
    }
    let found = adam.succeeds(json!({ "command": "search_text", "query": "milk" })).await;
    assert_eq!(found["truncated"], true);
}

#[tokio::test]
async fn a_passage_is_edited_and_the_difference_shown() {
    let adam = Adam::new("").await;
    let edit = |old: &str, new: &str| json!({ "command": "edit_file", "path": "my-notes.txt", "old_text": old, "new_text": new });
    let edited = adam.succeeds(edit("milk", "bread")).await;
    assert_eq!(
        edited,
        json!({ "ok": true, "replacements": 1, "bytes_written": 11, "diff_truncated": false,
            "diff": "--- a/my-notes.txt\n+++ b/my-notes.txt\n@@ -1 +1 @@\n-Buy milk.\n+Buy bread.\n" })
    );
    assert_eq!(adam.read("my-notes.txt"), "Buy bread.\n");
    let none = "`old_text` is not in the file (0 matches)";
    adam.fails(edit("milk", "x"), 409, "no_match", none).await;
    std::fs::write(adam.file("my-notes.txt"), "a b a b a").unwrap();
    let (status, answer) = adam.call(edit("a", "x")).await;
    assert_eq!((status, &answer["code"]), (409, &json!("several_matches")));
    assert!(answer["error"].as_str().unwrap().contains("more than once"), "{answer}");
    let mut all = edit("a", "x");
    all["replace_all"] = json!(true);
    assert_eq!(adam.succeeds(all).await["replacements"], 3);
    assert_eq!(adam.read("my-notes.txt"), "x b x b x");
    for (path, status, code, error) in [
        ("missing", 404, "file_not_found", "File not found"),
        ("../config/adam.yaml", 403, "access_denied", "Access denied"),
    ] {
        let mut args = edit("a", "b");
        args["path"] = json!(path);
        adam.fails(args, status, code, error).await;
    }
    std::fs::write(adam.file("bytes"), b"a\xff").unwrap();
    let mut args = edit("a", "b");
    args["path"] = json!("bytes");
    adam.fails(args, 422, "encoding_error", "Encoding error").await;
}
