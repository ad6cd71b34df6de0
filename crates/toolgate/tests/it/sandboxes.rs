//! Programs that we start are not the operator: what they reach of the machine, and what widens or narrows it.

use serde_json::{Value, json};
use testkit::{TmpfsMount, World};

use crate::{BINARY, command, with_commands};

const THIEF: &str = include_str!("sandboxes/thief.py");

/// What a program gets that is kept from something.
const REFUSED: &str = "PermissionError";

/// A world with the same program as an upstream and as a command, and no server yet.
fn world(settings: &str) -> World {
    let world = World::new(
        BINARY,
        &format!(
            "contracts: [ ./contracts ]\n{settings}upstreams:\n  thief: {{ command: ./bin/thief.py, args: [ mcp ] }}\n  \
             other: {{ command: ./other/start.py, enabled: false }}\n"
        ),
    );
    world.write_program("other/start.py", "#!/bin/sh\n");
    world.write_program("bin/thief.py", &format!("#!/usr/bin/env python3\n{THIEF}"));
    world.write("notes/here", "a note");
    let script = format!("exec {}/bin/thief.py", world.folder().display());
    command(&world, "steal", &script, "env: [PATH]\n");
    // Told of nothing.
    let contract = world.read("contracts/steal.yaml").replace(", ..]", "]");
    world.write("contracts/steal.yaml", &contract);
    command(&world, "asks", "echo '{\"answer\":1}'", "approval: required\n");
    world
}

/// What the upstream, and then the command, says of an attempt.
async fn attempts(world: &World, what: &str, value: &str) -> [String; 2] {
    let upstream = json!({ "tool": "thief__attempt", "input": { "what": what, "value": value } });
    let command = json!({ "tool": "steal", "input": { "value": [what, value] } });
    let mut answers = Vec::new();
    for call in [upstream, command] {
        let result = world.execute(&call).await.tool_result();
        assert_eq!(result["status"], "ok", "{result}");
        answers.push(result["output"]["answer"].as_str().unwrap().to_owned());
    }
    answers.try_into().unwrap()
}

/// The id of an approval that waits.
async fn waiting(world: &World) -> String {
    let answer: Value = world.execute(&json!({ "tool": "asks", "input": {} })).await.json();
    assert_eq!(answer["metrics"]["error_code"], "approval_required", "{answer}");
    let list = world.cli("approvals --json").exits(0).json();
    let list = list.as_array().or(list["approvals"].as_array()).unwrap();
    list[0]["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_program_cannot_approve_a_call() {
    let world = world("").started().await;
    let id = waiting(&world).await;
    let token = world.folder().join("data/operator.token");
    let attempt = format!("{} {id} {}", world.port(), token.display());
    assert_eq!(attempts(&world, "approve", &attempt).await, [REFUSED, "PermissionError"]);
    assert_eq!(waiting(&world).await, id, "it still waits");
    // The credential is what it lacks: with it the same request is good.
    std::fs::copy(&token, world.folder().join("notes/token")).unwrap();
    let attempt = format!("{} {id} {}/notes/token", world.port(), world.folder().display());
    assert_eq!(attempts(&world, "approve", &attempt).await[0], "200");
}

#[tokio::test]
async fn our_files_are_kept_from_programs_by_every_road() {
    let settings = "journal: { path: ./log/calls.jsonl }\nask: { trace_dir: ./traces }\noverlays: ./overlays\n";
    let world = world(settings);
    world.write("traces/one.json", "{}");
    world.write("toolgate.env", "KEY=s3cret\n");
    world.write("overlays/readme.txt", "");
    std::fs::create_dir(world.folder().join("log")).unwrap();
    let world = world.started().await;
    let base = world.folder().display().to_string();
    for path in [
        "data/operator.token",
        "data/state.key",
        "data/toolgate.db",
        "toolgate.yaml",
        "toolgate.env",
        "log/calls.jsonl",
        "traces/one.json",
    ] {
        assert!(world.has(path), "{path}");
        for road in [
            format!("{base}/{path}"),
            format!("{base}/notes/../{path}"),
            format!("/proc/self/root{base}/{path}"),
            format!("/proc/GATE/root{base}/{path}"),
            format!("/proc/GATE/cwd/{path}"),
        ] {
            assert_eq!(attempts(&world, "read", &road).await, [REFUSED, REFUSED], "{road}");
        }
    }
    for road in ["/proc/GATE/environ", "/proc/GATE/mem", "/proc/GATE/maps"] {
        assert_eq!(attempts(&world, "read", road).await, [REFUSED, REFUSED], "{road}");
    }
    assert_eq!(attempts(&world, "open_any", "/proc/GATE/fd").await, [REFUSED, REFUSED]);
    // What decides can be read, and is not theirs to change.
    let contract = format!("{base}/contracts/steal.yaml");
    assert!(attempts(&world, "read", &contract).await.iter().all(|text| text.contains("steal")));
    for path in [
        "contracts/steal.yaml",
        "contracts/steal.sh",
        "contracts/new.yaml",
        "overlays/steal/steal.yaml",
        "toolgate.lock",
        "toolgate.yaml",
        "data/new",
        // Another program starts with it.
        "other/start.py",
    ] {
        let tried = attempts(&world, "write", &format!("{base}/{path}")).await;
        assert!(tried.iter().all(|said| said == REFUSED || said == "FileNotFoundError"), "{path}");
    }
    // Beside it they can read everything, and change what is their own.
    let note = format!("{base}/notes/here");
    assert_eq!(attempts(&world, "read", &note).await, ["a note", "a note"]);
    for path in ["notes/here", "notes/new"] {
        let path = format!("{base}/{path}");
        assert_eq!(attempts(&world, "write", &path).await, [REFUSED, REFUSED], "{path}");
    }
    let own = format!("{base}/bin/new");
    // The command is told of a script elsewhere only by its own.
    assert_eq!(attempts(&world, "write", &own).await, ["written", REFUSED]);
    assert_eq!(attempts(&world, "read", &own).await, ["x", "x"]);
    assert!(attempts(&world, "names", &base).await.iter().all(|names| names.contains("notes")));
}

/// A server for files or for a repository is told the folder that it works on.
#[tokio::test]
async fn a_program_that_is_told_the_folder_of_the_settings_works_on_it() {
    let world = world("overlays: ./overlays\n");
    world.write("overlays/readme.txt", "");
    let settings = world.read("toolgate.yaml").replace("args: [ mcp ]", "args: [ mcp, . ]");
    world.write("toolgate.yaml", &settings);
    let world = world.started().await;
    for (path, said) in [
        ("notes/here", "written"),
        ("notes/new", "written"),
        ("other/start.py", REFUSED),
        ("overlays/readme.txt", REFUSED),
        ("toolgate.yaml", REFUSED),
        ("data/operator.token", REFUSED),
    ] {
        let path = format!("{}/{path}", world.folder().display());
        assert_eq!(attempts(&world, "write", &path).await[0], said, "{path}");
    }
}

#[tokio::test]
async fn the_sandbox_is_widened_by_its_settings() {
    for sandbox in
        ["{ enabled: false }", "{ write: [ /, DATA ] }", "{ read: [ DATA ], write: [ / ] }"]
    {
        let world = sandboxed(sandbox).await;
        let token = format!("{}/data/operator.token", world.folder().display());
        for said in attempts(&world, "read", &token).await {
            assert_eq!(said.trim().len(), 64, "{sandbox}: {said}");
        }
    }
}

#[tokio::test]
async fn the_sandbox_is_narrowed_by_its_settings() {
    let world = sandboxed("{ read: [ BASE/notes, BASE/bin ] }").await;
    let base = world.folder().display().to_string();
    assert_eq!(attempts(&world, "read", &format!("{base}/notes/here")).await, ["a note", "a note"]);
    for path in ["notes/here", "elsewhere/new"] {
        let path = format!("{base}/{path}");
        assert_eq!(attempts(&world, "write", &path).await, [REFUSED, REFUSED]);
    }
    assert_eq!(attempts(&world, "read", &format!("{base}/elsewhere/x")).await, [REFUSED, REFUSED]);
}

/// The same with `DATA` and `BASE` for these folders in a sandbox, which has to be known before the world is.
async fn sandboxed(sandbox: &str) -> World {
    let world = world("");
    let base = world.folder().display().to_string();
    let sandbox = sandbox.replace("DATA", &format!("{base}/data")).replace("BASE", &base);
    let settings = world.read("toolgate.yaml");
    let own = format!("args: [ mcp ], sandbox: {sandbox}");
    world.write("toolgate.yaml", &settings.replace("args: [ mcp ]", &own));
    world.write("elsewhere/x", "x");
    std::fs::create_dir(world.folder().join("data")).unwrap();
    let script = format!("exec {base}/bin/thief.py");
    command(&world, "steal", &script, &format!("env: [PATH]\nsandbox: {sandbox}\n"));
    world.started().await
}

#[tokio::test]
async fn a_command_has_a_network_only_if_it_is_given_one() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    for (sandbox, expected) in [
        ("{}", ["connected", REFUSED]),
        ("{ network: true }", ["connected", "connected"]),
        ("{ network: false }", [REFUSED, REFUSED]),
    ] {
        let world = sandboxed(sandbox).await;
        assert_eq!(attempts(&world, "connect", &port).await, expected, "{sandbox}");
    }
}

#[tokio::test]
async fn calls_work_outside_of_the_data_folder_and_leave_artifacts_in_it() {
    // Beside the data folder, and on another file system.
    let mount = TmpfsMount::new("size=4m");
    let elsewhere = mount.as_ref().map(|mount| mount.path().display().to_string());
    for work_dir in [None, elsewhere] {
        let settings =
            work_dir.as_ref().map_or(String::new(), |folder| format!("work_dir: {folder}\n"));
        let script = "pwd > where.txt; head -c 300000 /dev/zero > large.bin
            for token in ../../operator.token ../data/operator.token ../../data/operator.token; do
                cat $token 2>/dev/null
            done
            echo '{\"answer\":1}'";
        let world = with_commands(&settings, &[("leaves", script)]).await;
        let result = world.execute(&json!({ "tool": "leaves", "input": {} })).await.tool_result();
        assert_eq!(result["output"], json!({ "answer": 1 }), "{result}");
        let path = |index: usize| result["artifacts"][index]["path"].as_str().unwrap().to_owned();
        assert_eq!(world.get(&path(0)).await.body.len(), 300_000);
        let folder = world.get(&path(1)).await.text();
        let beside = world.folder().canonicalize().unwrap().join("data.work");
        let work = work_dir.unwrap_or(beside.display().to_string());
        assert!(folder.starts_with(&work), "{folder}");
        let above = std::path::Path::new(folder.trim()).parent().unwrap();
        assert_eq!(std::fs::read_dir(above).unwrap().count(), 0, "nothing is left there");
    }
}

#[tokio::test]
async fn a_program_changes_nothing_about_the_gate() {
    let world = world("").started().await;
    for limit in ["RLIMIT_CPU", "RLIMIT_FSIZE", "RLIMIT_CORE", "RLIMIT_NOFILE"] {
        assert_eq!(attempts(&world, "limit", limit).await, [REFUSED, REFUSED], "{limit}");
    }
    assert_eq!(attempts(&world, "slow_down", "").await, [REFUSED, REFUSED]);
    // Nothing of its memory gets into a file.
    let limits = std::fs::read_to_string(format!("/proc/{}/limits", world.pid())).unwrap();
    let core = limits.lines().find(|line| line.starts_with("Max core file size")).unwrap();
    assert_eq!(core.split_ascii_whitespace().collect::<Vec<_>>()[4..6], ["0", "0"], "{core}");
    let file = std::fs::metadata(format!("/proc/{}/maps", world.pid())).unwrap();
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&file), 0, "it can be dumped");
}

#[tokio::test]
async fn a_folder_of_agents_that_a_program_replaces_is_refused() {
    let world = world(
        "tools: { file_io: { root: ./area/ws }, memory: { dir: ./area/memory }, repo: { root: ./area/repo } }\n",
    );
    for folder in ["ws", "repo", "memory"] {
        world.write(&format!("area/{folder}/x.txt"), "ours");
    }
    // It may change what is there.
    let settings = world.read("toolgate.yaml").replace("args: [ mcp ]", "args: [ mcp, . ]");
    world.write("toolgate.yaml", &settings);
    let world = world.started().await;
    let data = world.folder().join("data").display().to_string();
    let read = async |tool: &str, path: &str| {
        world.execute(&json!({ "tool": tool, "input": { "path": path } })).await.text()
    };
    for used in [false, true] {
        for folder in ["ws", "repo", "memory"] {
            let path = format!("{}/area/{folder}", world.folder().display());
            let upstream = |what: &str, value: &str| json!({ "tool": "thief__attempt", "input": { "what": what, "value": value } });
            let replaced = world.execute(&upstream("replace", &format!("{path} {data}"))).await;
            assert_eq!(replaced.tool_result()["output"]["answer"], "replaced");
            for tool in ["read_file", "read_repo_file"] {
                for path in ["operator.token", "../data/operator.token"] {
                    let token = world.read("data/operator.token");
                    let text = read(tool, path).await;
                    assert!(!text.contains(token.trim()), "{tool}: {text}");
                    assert!(!text.contains("\"ok\""), "{tool}: {text}");
                }
            }
            let entry = json!({ "file": "decisions.jsonl", "entry": { "a": 1 } });
            let call = json!({ "tool": "write_memory_entry", "input": entry });
            let _ = world.execute(&call).await;
            let write = json!({ "path": "new.txt", "content": "x" });
            let _ = world.execute(&json!({ "tool": "write_file", "input": write })).await;
            for file in ["data/new.txt", "data/decisions.jsonl"] {
                assert!(!world.has(file), "{file}");
            }
            let back = world.execute(&upstream("put_back", &path)).await.tool_result();
            assert_eq!(back["output"]["answer"], "put back");
        }
        let text = read("read_file", "x.txt").await;
        assert!(text.contains("ours"), "{used}: {text}");
    }
    let told = world.stderr();
    assert!(told.contains("was replaced since the server started; restart it"), "{told}");
}

/// The commands that start a program which a person names.
#[test]
fn what_is_named_behind_dashes_starts_as_an_upstream_does() {
    let world = World::new(BINARY, "").with_env("A_SECRET", "of-nobody-elses");
    world.cli("call hello name=Ada").exits(0);
    world.write("data/operator.token", "the-token");
    let script =
        "(cat data/operator.token; echo \"<$A_SECRET>\"; echo $HOME) >seen/file 2>/dev/null";
    for command in [
        &["probe"][..],
        &["contracts", "lint"],
        &["contracts", "export", "--format", "openapi"],
        &["contracts", "diff", "self"],
    ] {
        for (flag, token) in [(None, ""), (Some("--no-sandbox"), "the-token")] {
            world.write("seen/file", "");
            let words: Vec<_> =
                command.iter().copied().chain(flag).chain(["--", "sh", "-c", script]).collect();
            // It speaks no MCP.
            let output = world.cli(&words[..]);
            assert_ne!(output.code, 0, "{output}");
            let seen = world.read("seen/file");
            assert!(seen.starts_with(&format!("{token}<>\n/")), "{words:?}: {seen} {output}");
        }
    }
}

/// Where nothing can be made beside the data folder, calls work in the folder for temporary files, as every program does.
#[tokio::test]
async fn the_work_folder_is_kept_from_programs_wherever_it_is() {
    let world = world("");
    world.write("data.work", "in the way");
    let place = "pwd > where.txt; echo mine > here && cat here >/dev/null && echo '{\"answer\":1}'";
    command(&world, "works", place, "");
    let world = world.started().await;
    let result = world.execute(&json!({ "tool": "works", "input": {} })).await.tool_result();
    assert_eq!(result["output"], json!({ "answer": 1 }), "{result}");
    let artifacts = result["artifacts"].as_array().unwrap();
    let path = artifacts.iter().find_map(|one| {
        one["path"].as_str().filter(|path| path.ends_with("where.txt")).map(str::to_owned)
    });
    let folder = world.get(&path.unwrap()).await.text();
    let above = std::path::Path::new(folder.trim()).parent().unwrap();
    assert!(above.starts_with(std::env::temp_dir()), "{}", above.display());
    let other = above.join("another-call");
    std::fs::write(&other, "a result").unwrap();
    for what in ["read", "write"] {
        let tried = attempts(&world, what, &other.display().to_string()).await;
        assert_eq!(tried, [REFUSED, REFUSED], "{what}");
    }
    std::fs::remove_dir_all(above).unwrap();
}

#[tokio::test]
async fn what_another_program_imports_is_not_theirs_to_change() {
    let world = world("");
    for path in ["other/helper.py", "app/part.py", "lib/found.py", "site/a", "docs/text"] {
        world.write(path, "print()");
    }
    let settings = world.read("toolgate.yaml");
    world.write(
        "toolgate.yaml",
        &format!(
            "{settings}  app: {{ command: python3, args: [ ./app ], enabled: false }}\n  \
             docs: {{ command: cat, args: [ ./site, --root=./docs ], env: {{ PYTHONPATH: ./lib }}, enabled: false,\n    \
             sandbox: {{ data: [ ./docs ] }} }}\n"
        ),
    );
    let world = world.started().await;
    for path in
        ["other/helper.py", "other/new.py", "app/part.py", "app/new.py", "lib/found.py", "site/a"]
    {
        let path = format!("{}/{path}", world.folder().display());
        assert_eq!(attempts(&world, "write", &path).await, [REFUSED, REFUSED], "{path}");
    }
    // Nor is anything else in the folder of the settings, but for the program's own folder.
    for path in ["docs/text", "notes/here"] {
        let path = format!("{}/{path}", world.folder().display());
        assert_eq!(attempts(&world, "write", &path).await, [REFUSED, REFUSED], "{path}");
    }
    let own = format!("{}/bin/new", world.folder().display());
    assert_eq!(attempts(&world, "write", &own).await[0], "written");
}

#[tokio::test]
async fn a_program_without_a_sandbox_that_another_can_change_is_told() {
    const WORDS: &str =
        "upstream `free` has no sandbox, and upstream `boxed` can change what it runs";
    let outside = tempfile::tempdir().unwrap();
    let script = outside.path().join("server.sh");
    std::fs::write(&script, "").unwrap();
    for (args, boxed, told) in [
        (script.display().to_string(), "{}", true),
        // In the folder of the settings it is kept from others.
        ("./servers/free.sh".to_owned(), "{}", false),
        (script.display().to_string(), "{ write: [ ./docs ] }", false),
        (script.display().to_string(), "{ enabled: false }", false),
    ] {
        let settings = format!(
            "upstreams:\n  free: {{ command: /bin/sh, args: [ {args} ], sandbox: {{ enabled: false }} }}\n  \
             boxed: {{ command: cat, sandbox: {boxed} }}\n"
        );
        let world = World::new(BINARY, &settings);
        world.write("servers/free.sh", "");
        world.write("docs/x", "");
        let check = world.cli("config check").exits(0);
        assert_eq!(check.stderr.contains(WORDS), told, "{check}");
        let doctor = world.cli("doctor");
        assert_eq!(doctor.stdout.contains(WORDS), told, "{doctor}");
        let world = world.started().await;
        assert_eq!(world.stderr().contains(WORDS), told, "{}", world.stderr());
    }
}

#[test]
fn a_work_folder_that_cannot_be_made_is_told() {
    let world = World::new(BINARY, "work_dir: ./file/below\n");
    world.write("file", "");
    world.cli("doctor").exits(1).stdout_has("problem  work folder: ").stdout_has("`work_dir`");
    world
        .cli("serve --listen 127.0.0.1:0")
        .exits(2)
        .stderr_has("the work folder `")
        .stderr_has("work_dir");
}

/// A list of a sandbox opens what it named when the settings were read, and not what somebody has put there since.
#[tokio::test]
async fn a_link_in_place_of_a_listed_folder_opens_nothing() {
    let world = world("");
    world.write("work/docs/a", "a document");
    let settings = world.read("toolgate.yaml").replace(
        "args: [ mcp ] }",
        "args: [ mcp ], start: lazy, sandbox: { read: [ ./bin, ./work/docs ] } }",
    );
    world.write("toolgate.yaml", &settings);
    let world = world.started().await;
    std::fs::rename(world.folder().join("work/docs"), world.folder().join("work/old")).unwrap();
    std::os::unix::fs::symlink(world.folder().join("data"), world.folder().join("work/docs"))
        .unwrap();
    let call = json!({ "tool": "thief__attempt", "input": { "what": "read",
        "value": format!("{}/work/docs/operator.token", world.folder().display()) } });
    let result = world.execute(&call).await.tool_result();
    assert_eq!(result["output"]["answer"], REFUSED, "{result}");
}

#[test]
fn a_listed_link_to_what_is_the_operators_is_refused() {
    let world =
        World::new(BINARY, "upstreams: { db: { command: cat, sandbox: { read: [ ./docs ] } } }\n");
    std::os::unix::fs::symlink("data", world.folder().join("docs")).unwrap();
    let told = "leads through a link to the data folder";
    world.cli("config check").stderr_has("upstreams.db.sandbox.read").stderr_has(told);
    world.cli("serve --listen 127.0.0.1:0").exits(2).stderr_has(told);
}

/// A rotated journal is the operator's also if it came after a program was started.
#[tokio::test]
async fn rotated_journals_are_kept_from_programs() {
    let world = world("journal: { path: ./log/j.jsonl, max_bytes: 4096 }\n");
    std::fs::create_dir(world.folder().join("log")).unwrap();
    let world = world.started().await;
    testkit::eventually("the journal is rotated", async || {
        world.execute(&json!({ "tool": "echo_json", "input": { "message": "a" } })).await;
        world.has("log/j.jsonl.1")
    })
    .await;
    let path = format!("{}/log/j.jsonl.1", world.folder().display());
    for what in ["read", "write"] {
        assert_eq!(attempts(&world, what, &path).await, [REFUSED, REFUSED], "{what}");
    }
}

#[tokio::test]
async fn the_repository_never_shows_what_is_the_operators() {
    let settings = "tools: { repo: { root: ., allow: [ \"**\" ], deny: [ \"data/**\" ] } }\n\
                    journal: { path: ./docs/j.jsonl }\nask: { trace_dir: ./docs/traces }\n";
    let world = World::new(BINARY, settings);
    for file in ["docs/here", "docs/traces/a.json", "toolgate.env"] {
        world.write(file, "KEY=text");
    }
    let world = world.started().await;
    for (path, status) in [
        ("docs/here", 200),
        ("docs/j.jsonl", 403),
        ("docs/j.jsonl.1", 403),
        ("docs/traces/a.json", 403),
        ("toolgate.yaml", 403),
        ("toolgate.env", 403),
        ("data/operator.token", 403),
    ] {
        let answer = world.call("read_repo_file", &json!({ "path": path })).await;
        assert_eq!(answer.status, status, "{path}: {}", answer.text());
    }
}
