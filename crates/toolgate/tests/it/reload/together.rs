//! Reloads at the same time as everything else, and as each other.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use testkit::World;

use super::{change, events, hang_up, reload};
use crate::{BINARY, command, upstreams::SCRIPTED};

#[tokio::test(flavor = "multi_thread")]
async fn calls_jobs_approvals_and_an_import_go_on_while_it_reloads_again_and_again() {
    let settings = "contracts: [ ./contracts ]
server: { watch_interval_ms: 20 }
policy: { approval: [ { tool: asks, require: always } ] }
";
    let world = World::new(BINARY, settings);
    command(&world, "works", "echo '{\"answer\":1}'", "");
    command(&world, "asks", "echo '{\"answer\":1}'", "");
    let world = Arc::new(world.started().await);
    let done = Arc::new(AtomicBool::new(false));
    let work = (0..4).map(|_| {
        let (world, done) = (world.clone(), done.clone());
        tokio::spawn(async move {
            let mut jobs = Vec::new();
            while !done.load(Ordering::SeqCst) {
                let answer = world.call("works", &json!({})).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                jobs.push(world.submit(&json!({ "tool": "works", "input": {} })).await);
            }
            for job in jobs {
                world.until_job_is(&job, "succeeded").await;
            }
        })
    });
    let work: Vec<_> = work.collect();
    let waiting = world.submit(&json!({ "tool": "asks", "input": {} })).await;
    for number in 0..10 {
        world.write("toolgate.env", &format!("NUMBER={number}\n"));
        for _ in 0..3 {
            hang_up(&world);
        }
        if number == 5 {
            world.write("servers/scripted.py", SCRIPTED);
            let script = crate::upstreams::one("act", &crate::upstreams::said("fine"));
            world.write("servers/up.json", &script.to_string());
            let client = json!({ "mcpServers": { "up": { "command": "python3",
                "args": ["scripted.py", "up.json"], "cwd": "servers" } } });
            world.write("client.json", &client.to_string());
            world.cli("upstream import client.json").exits(0);
        }
        reload(&world).await;
    }
    done.store(true, Ordering::SeqCst);
    for one in work {
        one.await.unwrap();
    }
    testkit::eventually("the imported server is served", async || {
        world.call("up__act", &json!({ "text": "a" })).await.status == 200
    })
    .await;
    let approvals = world.as_operator("GET", "/v1/approvals", None).await.json();
    let id = approvals["approvals"][0]["id"].as_str().unwrap().to_owned();
    world.cli(&["approvals", "approve", &id]).exits(0);
    world.until_job_is(&waiting, "succeeded").await;
    assert_eq!(events(&world, "settings_reload_failed"), Vec::<serde_json::Value>::new());
}

/// Files that are swapped while they are read are never mixed: all contracts are of one state.
#[tokio::test(flavor = "multi_thread")]
async fn two_states_of_the_files_are_never_mixed() {
    let world = World::new(BINARY, "contracts: [ ./now ]\nserver: { watch_interval_ms: 0 }\n");
    let names: Vec<String> = (0..8).map(|number| format!("tool{number}")).collect();
    for state in ["one", "two"] {
        for name in &names {
            command(&world, name, "echo '{\"answer\":1}'", "");
            let contract = world.read(&format!("contracts/{name}.yaml"));
            let contract = contract.replace("A command of a test", &format!("State {state}"));
            world.write(&format!("{state}/{name}.yaml"), &contract);
            let script = world.read(&format!("contracts/{name}.sh"));
            world.write_program(&format!("{state}/{name}.sh"), &script);
        }
    }
    let folder = world.folder().to_owned();
    std::os::unix::fs::symlink("one", folder.join("now")).unwrap();
    let world = Arc::new(world.started().await);
    let done = Arc::new(AtomicBool::new(false));
    let swapping = {
        let (done, folder) = (done.clone(), folder.clone());
        std::thread::spawn(move || {
            for state in ["two", "one"].into_iter().cycle() {
                if done.load(Ordering::SeqCst) {
                    break;
                }
                let _ = std::fs::remove_file(folder.join("next"));
                std::os::unix::fs::symlink(state, folder.join("next")).unwrap();
                std::fs::rename(folder.join("next"), folder.join("now")).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(3));
            }
        })
    };
    for _ in 0..30 {
        hang_up(&world);
        let listed = world.get("/v1/tools?toolset=commands").await.json();
        let mut texts = testkit::texts(&listed["tools"], "description");
        assert_eq!(texts.len(), names.len());
        texts.dedup();
        assert_eq!(texts.len(), 1, "{texts:?}");
    }
    done.store(true, Ordering::SeqCst);
    swapping.join().unwrap();
    reload(&world).await;
}

#[tokio::test]
async fn a_hangup_while_the_server_starts_or_stops_does_no_harm() {
    let mut world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    let go = crate::command_that_waits(&world, "slow");
    world.run().await;
    for _ in 0..20 {
        hang_up(&world);
    }
    let job = world.submit(&json!({ "tool": "slow", "input": {} })).await;
    world.until_job_is(&job, "running").await;
    change(&world, "contracts:", "retention: { max_jobs: 5 }\ncontracts:");
    let server = world.pid();
    let hanging_up = async {
        for _ in 0..20 {
            testkit::signal(server, "-HUP");
        }
        std::fs::write(go, "").unwrap();
    };
    let (code, ()) = tokio::join!(world.stop(), hanging_up);
    assert_eq!(code, 0);
}

/// A person who closes the window wants the server to end. One that never had a terminal reloads.
#[test]
fn a_server_ends_with_its_terminal() {
    let world = World::new(BINARY, "");
    let script = "import os, pty, sys
process, terminal = pty.fork()
if process == 0:
    os.execv(sys.argv[1], [sys.argv[1], 'serve', '--listen', '127.0.0.1:0'])
said = b''
while b'stop with Ctrl-C' not in said:
    said += os.read(terminal, 65536)
os.close(terminal)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
";
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut python = std::process::Command::new("python3");
    python.args(["-c", script, BINARY]).current_dir(world.folder());
    testkit::CliOutput::of(&mut python).exits(0);
    assert!(world.read("data/journal.jsonl").contains("server_stopped"));
}
