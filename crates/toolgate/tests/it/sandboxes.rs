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
    // Everything beside it is as it was.
    for path in ["notes/here", "notes/new"] {
        let path = format!("{base}/{path}");
        assert_eq!(attempts(&world, "write", &path).await, ["written", "written"]);
        assert_eq!(attempts(&world, "read", &path).await, ["x", "x"]);
    }
    assert!(attempts(&world, "names", &base).await.iter().all(|names| names.contains("notes")));
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
