//! `toolgate backup` and `toolgate restore`.

mod hostile;
mod targets;

use std::{os::unix::fs::PermissionsExt, path::Path};

use serde_json::{Value, json};
use testkit::{CliOutput, World};

use crate::{BINARY, command};

/// A world with a tool that leaves an artifact, one that needs an approval, and one that answers outside its contract.
fn world() -> World {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    command(&world, "guarded", "echo '{\"answer\":1}'", "approval: required");
    command(&world, "wrong", "echo '{\"answers\":1}'", "");
    world
}

/// The names in a folder, hidden ones too.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// The same world with the restored folder as its data.
async fn restored(world: &mut World) {
    world.kill();
    std::fs::rename(world.folder().join("data"), world.folder().join("lost")).unwrap();
    world.cli("restore all.tar.gz").exits(0);
    world.run().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_acknowledged_is_in_a_backup_of_a_running_server() {
    let mut world = world().started().await;
    let artifact = json!({ "tool": "write_text_artifact", "input": { "text": "kept" } });
    let artifact = world.execute(&artifact).await.json();
    let path = artifact["artifacts"][0]["path"].as_str().unwrap().to_owned();
    let long = json!({ "text": "long", "filename": format!("{}.txt", "ü".repeat(100)) });
    let long = world.execute(&json!({ "tool": "write_text_artifact", "input": long })).await.json();
    let long = long["artifacts"][0]["path"].as_str().map(str::to_owned);
    let quarantined = world.call("wrong", &json!({})).await.fails(502, "invalid_output");
    let asked = world.call("guarded", &json!({})).await.fails(403, "approval_required");
    let token = world.operator_token();
    let call = json!({ "tool": "hello", "input": { "name": "Ada" } });
    // Some of these are in the spool while the backup is made, and more are coming.
    let mut acknowledged = Vec::new();
    for _ in 0..50 {
        let answer = world.execute(&call).await.json();
        acknowledged.push(answer["metrics"]["job_id"].as_str().unwrap().to_owned());
    }
    let mut command = world.command(&["backup", "all.tar.gz", "--json"]);
    let mut backup = tokio::task::spawn_blocking(move || CliOutput::of(&mut command));
    let output = loop {
        tokio::select! {
            output = &mut backup => break output.unwrap(),
            answer = world.execute(&call) => assert_eq!(answer.status, 200),
        }
    };
    let told = output.exits(0).stderr_is("").json();
    let artifacts = 1 + u64::from(long.is_some());
    assert_eq!((&told["artifacts"], &told["left_out"]), (&artifacts.into(), &json!(0)), "{told}");
    assert!(told["records"]["jobs"].as_u64().unwrap() >= 50, "{told}");
    let mode = world.folder().join("all.tar.gz").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    restored(&mut world).await;
    for id in &acknowledged {
        assert_eq!(world.job(id).await["status"], "succeeded", "{id}");
    }
    assert_eq!(world.get(&path).await.text(), "kept");
    if let Some(long) = long {
        assert_eq!(world.get(&long).await.text(), "long");
    }
    let id = quarantined["details"]["quarantine_id"].as_str().unwrap();
    world.cli(&["quarantine", "show", id]).exits(0).stdout_has("answers");
    let id = asked["details"]["approval_id"].as_str().unwrap();
    world.cli(&["approvals", "approve", id]).exits(0);
    assert_eq!(world.operator_token(), token);
    let journal = world.journal();
    assert!(journal.iter().filter(|line| line["event"] == "tool_call").count() >= 53);
    for (name, expected) in
        [("toolgate.db", 0o600), ("operator.token", 0o600), ("artifacts", 0o700)]
    {
        let mode = world.folder().join("data").join(name).metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, expected, "{name}");
    }
}

#[tokio::test]
async fn ordinary_tools_open_it() {
    let world = world();
    let long = format!("filename={}.txt", "x".repeat(110));
    world.cli(&["call", "write_text_artifact", "text=kept", &long]);
    world.cli("call write_text_artifact text=kept").exits(0);
    let output = world.cli("backup all.tar.gz").exits(0);
    output.stdout_has("artifact").stdout_has(" to all.tar.gz (").stderr_has_all([
        "not in it: settings,",
        "whoever can read it, programs of upstreams too, can approve calls",
    ]);
    #[allow(clippy::disallowed_types)] // Programs of the system, as a person starts them.
    let mut shell = std::process::Command::new("sh");
    let script =
        "mkdir out && tar -xzf all.tar.gz -C out && cd out && sha256sum -c SHA256SUMS && ls -R";
    let output = CliOutput::of(shell.args(["-c", script]).current_dir(world.folder())).exits(0);
    output.stdout_has_all(["backup.json: OK", "toolgate.db: OK", "journal.jsonl: OK"]);
    let info: Value = serde_json::from_str(&world.read("out/backup.json")).unwrap();
    assert_eq!(
        (&info["format"], &info["toolgate"]),
        (&json!(1), &env!("CARGO_PKG_VERSION").into())
    );
    // And what they hold is what was there.
    assert_eq!(world.read("out/journal.jsonl"), world.read("data/journal.jsonl"));
}

#[tokio::test]
async fn every_part_of_the_journal_is_in_it() {
    let settings = "journal: { path: ./logs/calls.jsonl, max_bytes: 65536, max_files: 2 }\n";
    let mut world = World::new(BINARY, settings);
    std::fs::create_dir(world.folder().join("logs")).unwrap();
    world.run().await;
    while !world.has("logs/calls.jsonl.2") {
        world.call("hello", &json!({ "name": "Ada" })).await;
    }
    assert_eq!(world.stop().await, 0);
    let told = world.cli("backup all.tar.gz --json").exits(0).json();
    assert_eq!(told["journals"], 3);
    let output = world.cli("--data-dir new restore all.tar.gz").exits(0);
    output.stderr_has("and `journal.path` is `");
    for (before, after) in [("", ""), (".1", ".1"), (".2", ".2")] {
        let before = world.read(&format!("logs/calls.jsonl{before}"));
        assert_eq!(world.read(&format!("new/journal.jsonl{after}")), before);
    }
    // A pipe or a device cannot be read back.
    let world = World::new(BINARY, "journal: { path: /dev/null }\n");
    world.cli("call hello name=Ada").exits(0);
    world.cli("backup all.tar.gz").exits(0).stderr_has("no journal is in it: `/dev/null`");
}

#[test]
fn artifacts_that_are_gone_are_left_out_and_counted() {
    let world = world();
    for text in ["one", "two", "three"] {
        world.cli(&["call", "write_text_artifact", &format!("text={text}")]).exits(0);
    }
    let folder = world.folder().join("data/artifacts");
    std::fs::remove_dir_all(folder.join(&names(&folder)[1])).unwrap();
    let output = world.cli("backup all.tar.gz").exits(0);
    output.stdout_has("3 jobs and 2 artifacts").stderr_has("1 artifact left out");
    let told = world.cli("--data-dir new restore all.tar.gz --json").exits(0).json();
    assert_eq!((&told["records"]["jobs"], &told["artifacts"]), (&json!(3), &json!(2)));
}

/// A folder whose server was killed has jobs in its spool, and a log beside its database.
#[tokio::test]
async fn a_folder_after_a_crash_is_backed_up_whole() {
    let mut world = world().started().await;
    let mut ids = Vec::new();
    for _ in 0..20 {
        let answer = world.execute(&json!({ "tool": "hello", "input": { "name": "Ada" } })).await;
        ids.push(answer.json()["metrics"]["job_id"].as_str().unwrap().to_owned());
    }
    world.kill();
    // One that was cut short was never acknowledged.
    world.write("data/spool/99999999999999999999.jsonl", "{\"id\":\"job_01");
    let before = names(&world.folder().join("data/spool"));
    world.cli("backup all.tar.gz").exits(0);
    assert_eq!(names(&world.folder().join("data/spool")), before);
    restored(&mut world).await;
    for id in &ids {
        assert_eq!(world.job(id).await["status"], "succeeded", "{id}");
    }
}
