//! Loads that come to nothing: each has its own word, and nothing of it is left.

use serde_json::{Value, json};
use testkit::until;

use super::{Studio, port};

#[test]
fn a_server_that_does_not_get_ready_fails_the_load_and_is_gone() {
    for (behaviour, expected) in [
        ("exits", "launch_failed: it ended with exit code 3"),
        ("forks", "launch_failed: it ended with exit code 0; a launch command has to stay"),
        (
            "never",
            "launch_failed: not ready within 1500 ms (`tools.mlx.ready_timeout_ms`): it does not listen on port",
        ),
        ("elsewhere", " but on "),
        ("silent", "launch_failed: not ready within 1500 ms"),
        ("wrong", "its answer is not a completion"),
        ("failing", "it answers with status 500"),
        ("dead", "launch_failed: the server could not load `test/dead`"),
        ("lost", "model_not_found: the server found no model `test/lost`"),
        ("taken", "port_busy: the server says that port "),
    ] {
        let studio = Studio::with("    ready_timeout_ms: 1500\n");
        let port = port();
        let error = studio.load(behaviour, port).unwrap_err();
        assert!(error.contains(expected), "{behaviour}: {error}");
        studio.nothing_is_left(port);
        let status = studio.status(port).unwrap();
        assert_eq!(
            (&status["state"], &status["model"]),
            (&json!("failed"), &json!(format!("test/{behaviour}")))
        );
        assert!(status["log"][0].as_str().unwrap().starts_with("serving"), "{status}");
        assert!(studio.unload(port).unwrap_err().starts_with("not_listening"));
        assert_eq!(studio.status(port), None);
    }
}

#[test]
fn a_launch_command_that_does_not_exist() {
    let studio = Studio::new();
    studio
        .world
        .write("toolgate.yaml", "tools: { mlx: { launch: [ no-such-server, \"{port}\" ] } }\n");
    let port = port();
    let error = studio.load("serves", port).unwrap_err();
    assert_eq!(
        error,
        "launch_failed: the launch command could not be started (`toolgate mlx status` says why)"
    );
    // The operator learns more.
    let status = studio.status(port).unwrap();
    let reason = status["reason"].as_str().unwrap();
    assert!(reason.ends_with("program `no-such-server` was not found"), "{reason}");
}

#[test]
fn a_port_that_something_else_holds_is_named_and_left_alone() {
    let (studio, port) = (Studio::new(), port());
    let holder = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let own = std::process::id();
    let error = studio.load("serves", port).unwrap_err();
    assert!(error.starts_with(&format!("port_busy: port {port} is held by `")), "{error}");
    assert!(error.ends_with(&format!("(process {own})")), "{error}");
    let error = studio.unload(port).unwrap_err();
    assert!(error.starts_with("not_listening: ") && error.contains(&own.to_string()), "{error}");
    assert_eq!(studio.state(port), "foreign");
    drop(holder);
}

#[test]
fn a_flood_of_output_is_bounded() {
    let (studio, port) = (Studio::with("    max_log_bytes: 10000\n"), port());
    studio.load("floods", port).unwrap();
    let folder = studio.world.folder().join(format!("data/mlx/{port}"));
    let size = || {
        let files = std::fs::read_dir(&folder).unwrap();
        files.map(|file| file.unwrap().metadata().map_or(0, |data| data.len())).sum::<u64>()
    };
    until("the log is full", || size() > 9_000);
    assert!(size() < 20_000);
    studio.unload(port).unwrap();
    studio.nothing_is_left(port);
}

/// The rows of the seed's acceptance cases.
#[test]
fn the_cases_of_the_home_lab_hold() {
    let studio = Studio::new();
    let (one, busy) = (port(), port());
    let cases: Vec<(Value, &str)> = vec![
        (json!({ "model": "m", "port": 8099 }), "invalid_port"),
        (json!({ "model": "m", "port": 8140 }), "invalid_port"),
        (json!({ "model": "m", "port": 0 }), "invalid_port"),
        (json!({ "model": "m", "port": -1 }), "invalid_port"),
        (json!({ "model": "m", "port": "abc" }), "invalid_port"),
        (json!({ "model": "m", "port": 8100.5 }), "invalid_port"),
        (json!({ "model": "m" }), "invalid_port"),
        (json!({ "model": "", "port": one }), "invalid_input"),
        (json!({ "model": "", "port": 8099 }), "invalid_port"),
        (json!({ "model": "unknown", "port": one }), "model_not_found"),
        (json!({ "model": "/etc", "port": one }), "model_not_found"),
        (json!({ "model": "--help", "port": one }), "model_not_found"),
        (json!({ "model": "test/other", "port": busy }), "port_busy"),
        (json!({ "model": "test/exits", "port": one }), "launch_failed"),
        (
            json!({ "model": format!("test/{}", "x".repeat(40_000)), "port": one }),
            "model_not_found",
        ),
    ];
    studio.load("serves", busy).unwrap();
    for (input, code) in cases {
        let arguments: Vec<String> = input
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, value)| format!("{name}:={value}"))
            .collect();
        let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let error = studio.call("mlx.load", &words).unwrap_err();
        assert!(error.starts_with(&format!("{code}: ")), "{input}: {error}");
    }
    // What failed beside it has not touched what is served.
    assert_eq!(studio.state(busy), "ready");
    let unloaded = studio.unload(busy).unwrap();
    assert_eq!(
        unloaded,
        json!({ "ok": true, "message": format!("unloaded port {busy}"), "port": busy })
    );
    assert_eq!(
        studio.unload(busy).unwrap_err(),
        format!("not_listening: nothing is loaded on port {busy}")
    );
    until("the port is free", || studio.processes(busy).is_empty());
}
