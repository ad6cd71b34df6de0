//! Ctrl-C and SIGTERM: what was there stays, or what is new is whole; children and temporary files are gone.

use std::process::Stdio;

use serde_json::{Value, json};
use testkit::{CliOutput, World, eventually};

use crate::{
    BINARY,
    backup::names,
    upstreams::{Upstreams, said, tool},
};

/// A line of a shell that says that it is there, and hangs.
const HANGS: &str = "echo > work/here; exec sleep 86439";

/// Starts a command, sends the signal once `is_there`, and waits for the end.
async fn interrupted(
    world: &World,
    arguments: &[&str],
    signal: &str,
    is_there: impl Fn() -> bool,
) -> CliOutput {
    let mut command = world.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    eventually("the work has begun", || {
        assert!(child.try_wait().unwrap().is_none(), "{arguments:?} has ended before");
        std::future::ready(listens(child.id()) && is_there())
    })
    .await;
    assert!(testkit::signal(child.id(), signal));
    // stdin stays open: a command that reads it must not wait for its end.
    let stdin = child.stdin.take();
    let output = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap());
    let output = tokio::time::timeout(std::time::Duration::from_mins(1), output);
    let output = output.await.unwrap_or_else(|_| panic!("{arguments:?} goes on")).unwrap();
    drop(stdin);
    CliOutput {
        command: format!("{arguments:?} and {signal}"),
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// True if a process has a handler of its own for SIGINT.
fn listens(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    caught.is_some_and(|mask| mask & 0b10 != 0)
}

/// Nothing that hangs is left.
async fn children_are_gone() {
    eventually("the children are gone", async || testkit::running("sleep 86439").is_empty()).await;
}

#[tokio::test]
async fn servers_that_are_looked_at_leave_the_settings_as_they_are() {
    let world = World::new(
        BINARY,
        "upstreams:\n  one: { command: sh, args: [ -c, \"HANGS\" ], cwd: . } # mine\n",
    );
    let settings = world.read("toolgate.yaml").replace("HANGS", HANGS);
    world.write("toolgate.yaml", &settings);
    std::fs::create_dir(world.folder().join("work")).unwrap();
    let client = json!({ "mcpServers": { "two": { "command": "sh", "args": ["-c", HANGS], "env": { "API_KEY": "s3cret-value" } } } });
    world.write("client.json", &client.to_string());
    let before = names(world.folder());
    for arguments in [
        &["upstream", "add", "two", "--", "sh", "-c", HANGS][..],
        &["upstream", "import", "client.json"],
        &["upstream", "list"],
        &["lock"],
        &["lock", "accept"],
        &["contracts", "infer", "one.act", "--arguments", "{}", "--save"],
        &["contracts", "diff", "one", "self"],
        &["probe", "one"],
        &["call", "one__act"],
        &["tools"],
    ] {
        for signal in ["-INT", "-TERM"] {
            let here = world.folder().join("work/here");
            let _ = std::fs::remove_file(&here);
            let output = interrupted(&world, arguments, signal, || here.exists()).await;
            // The probe reports what it knows, and that is not enough.
            let (code, words) = match arguments[0] {
                "probe" => (2, "the probe ended early"),
                _ => (130, "interrupted"),
            };
            output.exits(code).stdout_is("").stderr_has(words);
            children_are_gone().await;
            let mut now = names(world.folder());
            now.retain(|name| !name.starts_with("data"));
            assert_eq!(now, before, "{arguments:?}");
            assert_eq!(world.read("toolgate.yaml"), settings);
        }
    }
}

#[tokio::test]
async fn a_call_that_hangs_is_recorded_as_cancelled() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    std::fs::create_dir(world.folder().join("work")).unwrap();
    let here = world.folder().join("work/here");
    crate::command(
        &world,
        "hangs",
        &format!("echo > '{}'; exec sleep 86439", here.display()),
        "sandbox: { enabled: false }",
    );
    let output = interrupted(&world, &["call", "hangs"], "-INT", || here.exists()).await;
    output.exits(130).stderr_has("cancelled");
    children_are_gone().await;
    assert_eq!(world.journal().last().unwrap()["code"], "cancelled");
    std::fs::remove_file(&here).unwrap();
    let output =
        interrupted(&world, &["contracts", "test", "hangs"], "-TERM", || here.exists()).await;
    output.exits(130);
    children_are_gone().await;
}

#[tokio::test]
async fn adopting_a_result_leaves_no_overlay() {
    let mut broken = said("fine");
    broken["result"]["structuredContent"] = json!({ "words": 1 });
    let script = json!({ "tools": [tool("act")], "answers": { "act": { "*": broken } } });
    let world = Upstreams::new(&[("up", script)], "");
    let id = crate::quarantine::stopped_on_cli(&world, "call up__act text=x");
    world.write("servers/scripted.py", "import time\nopen('here', 'w')\ntime.sleep(86439)\n");
    let here = world.folder().join("servers/here");
    let before = names(world.folder());
    let output = interrupted(&world, &["quarantine", "adopt", &id], "-INT", || here.exists()).await;
    output.exits(130).stdout_is("");
    assert_eq!(names(world.folder()), before);
    eventually("the server is gone", async || world.children().is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_evaluation_reports_what_it_has() {
    let peer = testkit::Peer::start(|_| vec![testkit::Act::Silence]).await;
    let world = crate::ask::world(&peer).with_env("TOOLGATE_LLM__STALL_TIMEOUT_MS", "60000");
    world.write("cases.yaml", "cases:\n  - { id: a, question: what does policy-002 say? }\n  - { id: b, question: and this? }\n");
    let arguments = ["eval", "cases.yaml", "--json"];
    let output = interrupted(&world, &arguments, "-INT", || !peer.heard().is_empty()).await;
    let report: Value = output.exits(130).json();
    assert_eq!(report["cases"], 1, "{report}");
}

#[tokio::test]
async fn a_command_that_waits_ends_at_once() {
    let world = World::new(BINARY, "upstreams: { up: { command: sh } }\n");
    let settings = world.read("toolgate.yaml");
    // Another command changes the settings.
    let folder = std::fs::File::open(world.folder()).unwrap();
    folder.lock().unwrap();
    let before = names(world.folder());
    let set = ["upstream", "set", "up", "output=content"];
    interrupted(&world, &set, "-INT", || true).await.exits(130).stderr_is("interrupted\n");
    assert_eq!(names(world.folder()), before);
    assert_eq!(world.read("toolgate.yaml"), settings);
    drop(folder);
    // Nobody writes to stdin.
    for arguments in [&["call", "hello", "-"][..], &["ask", "-"]] {
        for signal in ["-INT", "-TERM"] {
            interrupted(&world, arguments, signal, || true).await.exits(130).stdout_is("");
        }
    }
}

#[tokio::test]
async fn a_backup_and_a_restore_leave_nothing_half_done() {
    let world = World::new(BINARY, "");
    world.cli("call write_text_artifact text=kept").exits(0);
    // Larger than could be read before somebody presses Ctrl-C.
    let artifacts = world.folder().join("data/artifacts");
    let job = artifacts.join(&names(&artifacts)[0]);
    let artifact = job.join(&names(&job)[0]);
    std::fs::File::options().write(true).open(artifact).unwrap().set_len(1 << 40).unwrap();
    let before = names(world.folder());
    let is_writing = |prefix: &'static str| {
        let folder = world.folder();
        move || {
            let found = names(folder).into_iter().find(|name| name.starts_with(prefix));
            found.is_some_and(|name| !names(&folder.join(name)).is_empty())
        }
    };
    for signal in ["-INT", "-TERM"] {
        let began = is_writing(".toolgate-backup-");
        let output = interrupted(&world, &["backup", "all.tar.gz"], signal, began).await;
        output.exits(130).stdout_is("").stderr_is("interrupted\n");
        assert_eq!(names(world.folder()), before);
    }
    // A restore that never comes to an end.
    let script = r"
import gzip, tarfile
old = gzip.open('small.tar.gz').read()
head = old[:1024]
size = 1 << 40
one = tarfile.TarInfo('toolgate.db'); one.size = size
with gzip.open('large.tar.gz', 'wb', compresslevel=1) as new:
    new.write(head + one.tobuf(tarfile.GNU_FORMAT))
    for _ in range(300): new.write(bytes(1 << 20))
";
    let small = World::new(BINARY, "");
    small.cli("call hello name=Ada").exits(0);
    small.cli(&["backup", &world.folder().join("small.tar.gz").display().to_string()]).exits(0);
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut python = std::process::Command::new("python3");
    assert!(python.args(["-c", script]).current_dir(world.folder()).status().unwrap().success());
    let before = names(world.folder());
    for signal in ["-INT", "-TERM"] {
        let began = is_writing(".toolgate-restore-");
        let arguments = ["--data-dir", "new", "restore", "large.tar.gz"];
        let output = interrupted(&world, &arguments, signal, began).await;
        output.exits(130).stdout_is("").stderr_is("interrupted\n");
        assert_eq!(names(world.folder()), before);
    }
}
