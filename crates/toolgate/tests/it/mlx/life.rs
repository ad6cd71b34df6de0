//! From loading to unloading: who sees what, and what is left when somebody is killed.

use serde_json::{Value, json};
use testkit::{Answer, mcp::Piped, running, signal, until};

use super::{Studio, port};

async fn post(studio: &Studio, tool: &str, arguments: Value) -> Answer {
    let body = json!({ "args": arguments }).to_string();
    studio.world.post(&format!("/v1/tools/{tool}"), &body).await
}

#[test]
fn a_model_is_loaded_seen_and_unloaded() {
    let (studio, port) = (Studio::new(), port());
    let loaded = studio.call("mlx.load", &["model=test/serves", &format!("port:={port}")]).unwrap();
    assert_eq!(
        loaded,
        json!({ "ok": true, "message": format!("loaded serves on {port}"), "port": port,
                "model": "test/serves" })
    );
    let status = studio.status(port).unwrap();
    assert_eq!(status["state"], "ready");
    assert_eq!(status["health"], json!({ "status": 200 }));
    assert_eq!(status["log"], json!(["serving serves"]));
    assert!(status["since"].as_str().unwrap().ends_with('Z'), "{status}");
    // However the port is written.
    let again =
        studio.call("mlx.load", &["model=test/serves", &format!("port:={port}.0")]).unwrap();
    assert_eq!(again["port"], port);
    // Once more, also by the operator's name for it.
    let again = studio.call("mlx.load", &["model=old", &format!("port:={port}")]).unwrap();
    assert_eq!(again["message"], format!("old is already loaded on {port}"));
    let other = studio.load("late", port).unwrap_err();
    assert_eq!(other, format!("port_busy: port {port} already has `test/serves`; unload it first"));
    studio.unload(port).unwrap();
    studio.nothing_is_left(port);
    assert_eq!(studio.status(port), None);
}

#[test]
fn everything_that_a_server_started_ends_with_it() {
    let (studio, port) = (Studio::new(), port());
    studio.load("stubborn", port).unwrap();
    let sleeps = || running("sleep 987654").len();
    // A program that has just been started has no command line for a moment.
    until("it has started a program", || sleeps() == 1);
    studio.unload(port).unwrap();
    assert_eq!(sleeps(), 0);
    studio.nothing_is_left(port);
}

#[test]
fn a_late_server_is_waited_for() {
    let (studio, port) = (Studio::new(), port());
    let whole = studio
        .world
        .cli(&["call", "mlx.load", "model=test/late", &format!("port:={port}"), "--json"])
        .exits(0)
        .json();
    assert!(whole["metrics"]["ready_ms"].as_u64().unwrap() >= 1_000, "{whole}");
    studio.unload(port).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_loads_of_one_port_one_wins_and_of_one_model_both_do() {
    let studio = Studio::serving("").await;
    let port = port();
    let load = |model| post(&studio, "mlx.load", json!({ "model": model, "port": port }));
    let (one, two, three) = tokio::join!(load("test/late"), load("test/serves"), load("test/late"));
    let results = [one.json(), two.json(), three.json()];
    let ok = results.iter().filter(|one| one["ok"] == true).count();
    let busy = results.iter().filter(|one| one["code"] == "port_busy").count();
    assert!((ok, busy) == (2, 1) || (ok, busy) == (1, 2), "{results:?}");
    assert_eq!(results[0]["ok"], results[2]["ok"], "they want the same");
    assert_eq!(studio.processes(port).len(), 2, "a server and its keeper");
    studio.unload(port).unwrap();
    studio.nothing_is_left(port);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_loading_can_be_unloaded() {
    let studio = Studio::serving("").await;
    let port = port();
    let loading = post(&studio, "mlx.load", json!({ "model": "test/never", "port": port }));
    let unloading = async {
        testkit::eventually("it is loading", async || studio.state(port) == "loading").await;
        studio.unload(port)
    };
    let (loaded, unloaded) = tokio::join!(loading, unloading);
    assert_eq!(unloaded.unwrap()["ok"], true);
    loaded.fails(500, "launch_failed");
    assert_eq!(loaded.json()["error"], "it was unloaded while it was loading");
    studio.nothing_is_left(port);
    assert_eq!(studio.status(port), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_who_hangs_up_stops_the_launch() {
    let studio = Studio::serving("").await;
    let port = port();
    let loading = post(&studio, "mlx.load", json!({ "model": "test/never", "port": port }));
    let watching = testkit::eventually("it is loading", async || studio.state(port) == "loading");
    tokio::select! {
        _ = loading => panic!("it never ends"),
        () = watching => {}
    }
    testkit::eventually("it is gone", async || studio.processes(port).is_empty()).await;
    let state = studio.state(port);
    assert!(state == "failed" || state == "ended", "{state}");
}

#[test]
fn progress_is_told_and_a_client_that_goes_away_stops_the_launch() {
    let (studio, port) = (Studio::new(), port());
    let mut client = Piped::start(&studio.world, &["--toolset", "mlxctl"]);
    client.initialize(&json!({}));
    client.tell(&json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": "mlx.load", "arguments": { "model": "test/never", "port": port },
                    "_meta": { "progressToken": "p" } },
    }));
    let note = client.heard();
    assert_eq!(note["method"], "notifications/progress", "{note}");
    assert_eq!(note["params"]["message"], "started; waiting for it to listen");
    until("it runs", || !studio.processes(port).is_empty());
    drop(client.take_input());
    until("it is gone", || studio.processes(port).is_empty());
}

#[test]
fn killed_while_loading_it_leaves_no_orphan() {
    let (studio, port) = (Studio::new(), port());
    let mut loading = studio
        .world
        .command(&["call", "mlx.load", "model=test/never", &format!("port:={port}")])
        .spawn()
        .unwrap();
    until("it is loading", || studio.state(port) == "loading");
    loading.kill().unwrap();
    loading.wait().unwrap();
    until("it is gone", || studio.processes(port).is_empty());
    let status = studio.status(port).unwrap();
    assert_eq!(
        (&status["state"], &status["reason"]),
        (&json!("ended"), &json!("the process that was loading it ended"))
    );
    // And nothing is in the way.
    studio.load("serves", port).unwrap();
    studio.unload(port).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_killed_and_started_again_finds_its_models() {
    let mut studio = Studio::serving("").await;
    let port = port();
    let model = json!({ "model": "test/serves", "port": port });
    assert_eq!(post(&studio, "mlx.load", model.clone()).await.status, 200);
    studio.world.kill();
    assert_eq!(studio.state(port), "ready");
    studio.world.run().await;
    let again = post(&studio, "mlx.load", model).await.json();
    assert_eq!(again["result"]["message"], format!("serves is already loaded on {port}"));
    let gone = post(&studio, "mlx.unload", json!({ "port": port })).await;
    assert_eq!(gone.status, 200);
    studio.nothing_is_left(port);
}

#[test]
fn a_server_that_dies_later_is_told_and_can_be_loaded_again() {
    let (studio, port) = (Studio::new(), port());
    studio.load("serves", port).unwrap();
    Studio::ask(port, "/die");
    until("it is gone", || studio.state(port) == "ended");
    let status = studio.status(port).unwrap();
    assert_eq!(
        status["log"],
        json!(["serving serves", "fatal: out of memory", "[toolgate] it ended with exit code 9"])
    );
    assert_eq!(studio.world.cli("mlx status").code, 1, "something is not as it should be");
    studio.load("serves", port).unwrap();
    assert_eq!(studio.state(port), "ready");
    studio.unload(port).unwrap();
}

#[test]
fn a_server_that_is_ill_is_not_called_loaded() {
    let (studio, port) = (Studio::new(), port());
    studio.load("serves", port).unwrap();
    Studio::ask(port, "/ill");
    let error = studio.load("serves", port).unwrap_err();
    assert!(error.ends_with("which is failing (503); unload it first"), "{error}");
    studio.world.cli("mlx status").exits(1).stdout_has("failing (503)");
    studio.unload(port).unwrap();
}

#[test]
fn a_keeper_that_is_killed_takes_its_server_along() {
    let (studio, port) = (Studio::new(), port());
    studio.load("serves", port).unwrap();
    let process = studio.status(port).unwrap()["process"].as_str().unwrap().to_owned();
    signal(process.trim_start_matches("process ").parse().unwrap(), "-KILL");
    until("it is gone", || studio.processes(port).is_empty());
    assert_eq!(studio.state(port), "ended");
    assert!(studio.unload(port).unwrap_err().starts_with("not_listening"));
}

#[test]
fn a_damaged_state_is_no_obstacle() {
    let (studio, port) = (Studio::new(), port());
    let place = format!("data/mlx/{port}/server.json");
    for text in [
        "",
        "{",
        "{\"keeper\":{\"pid\":1,\"started\":1},\"model\":\"m\",\"target\":\"m\",\"phase\":\"ready\",\"since\":0}",
    ] {
        studio.world.write(&place, text);
        assert!(studio.unload(port).unwrap_err().starts_with("not_listening"), "{text}");
        studio.world.write(&place, text);
        studio.load("serves", port).unwrap();
        studio.unload(port).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_after_a_failed_one_is_not_unloaded_by_half() {
    let studio = Studio::serving("").await;
    let port = port();
    for pause in [0, 10, 20, 30, 50, 100] {
        let failed =
            post(&studio, "mlx.load", json!({ "model": "test/exits", "port": port })).await;
        assert_eq!(failed.status, 500);
        let load = post(&studio, "mlx.load", json!({ "model": "test/serves", "port": port }));
        let unload = async {
            tokio::time::sleep(std::time::Duration::from_millis(pause)).await;
            post(&studio, "mlx.unload", json!({ "port": port })).await.status
        };
        let (loaded, unloaded) = tokio::join!(load, unload);
        // Whoever says that it is unloaded has unloaded it.
        let there = !studio.processes(port).is_empty();
        match (loaded.status, unloaded) {
            (200, 404) => assert!(there),
            (200 | 500, 200) => assert!(!there),
            other => panic!("{other:?}"),
        }
        if there {
            assert_eq!(post(&studio, "mlx.unload", json!({ "port": port })).await.status, 200);
        }
        studio.nothing_is_left(port);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_load_that_waited_has_its_turn_after_an_unload() {
    let studio = Studio::serving("").await;
    let port = port();
    let model = json!({ "model": "test/late", "port": port });
    for _ in 0..4 {
        let one = post(&studio, "mlx.load", model.clone());
        let two = post(&studio, "mlx.load", model.clone());
        let unload = async {
            testkit::eventually("it is loading", async || studio.state(port) == "loading").await;
            post(&studio, "mlx.unload", json!({ "port": port })).await
        };
        let (one, two, unloaded) = tokio::join!(one, two, unload);
        assert_eq!(unloaded.status, 200, "{}", unloaded.text());
        let mut both = [one.status, two.status];
        both.sort_unstable();
        // One was unloaded and the other one loaded, unless both were there before the unload came.
        assert!(both == [200, 500] || both == [200, 200], "{both:?}");
        let there = !studio.processes(port).is_empty();
        let status = post(&studio, "mlx.unload", json!({ "port": port })).await.status;
        assert_eq!(status, if there { 200 } else { 404 });
    }
}

#[test]
fn what_a_killed_keeper_has_left_is_cleared_up() {
    // Behind a shell, so that the server is no child of the keeper and outlives it.
    let script = "python3 \"$0\" \"$1\" test/serves & wait";
    let launch = json!(["sh", "-c", script, super::SERVER, "{port}", "{model}"]);
    let settings = format!("tools: {{ mlx: {{ launch: {launch} }} }}\n");
    let studio = Studio::new();
    studio.world.write("toolgate.yaml", &settings);
    let port = port();
    for _ in 0..2 {
        studio.load("serves", port).unwrap();
        let process = studio.status(port).unwrap()["process"].as_str().unwrap().to_owned();
        signal(process.trim_start_matches("process ").parse().unwrap(), "-KILL");
        until("the keeper is gone", || studio.state(port) == "ended");
        until("nothing is left", || studio.processes(port).is_empty());
    }
    assert!(studio.unload(port).unwrap_err().starts_with("not_listening: nothing is loaded"));
}

#[test]
fn what_the_caller_of_toolgate_has_open_is_not_passed_on() {
    let (studio, port) = (Studio::new(), port());
    let words = format!("exec 9>leak; exec \"$0\" call mlx.load model=test/serves port:={port}");
    #[allow(clippy::disallowed_types, reason = "a shell that leaves a file open")]
    let loaded = std::process::Command::new("sh")
        .args(["-c", &words, crate::BINARY])
        .current_dir(studio.world.folder())
        .output()
        .unwrap();
    assert!(loaded.status.success(), "{loaded:?}");
    let leak = studio.world.folder().join("leak");
    let holders = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let files = std::fs::read_dir(entry.ok()?.path().join("fd")).ok()?;
        let holds =
            |file: std::fs::DirEntry| std::fs::read_link(file.path()).is_ok_and(|it| it == leak);
        files.filter_map(Result::ok).any(holds).then_some(())
    });
    assert_eq!(holders.count(), 0);
    studio.unload(port).unwrap();
}
