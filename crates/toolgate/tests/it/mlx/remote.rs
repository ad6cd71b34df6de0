//! Models on another machine. Here the way there is a program that poses as `ssh`; `tests/mlx` takes a real one.

use super::{BINARY, Studio, port};
use testkit::{CliOutput, World, until};

/// Where the program is that poses as `ssh`.
const FAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mlx/far.py");

/// A machine that reaches the studio by a program called `ssh`, which stands first in its `PATH`.
struct Mini {
    world: World,
    path: String,
    /// The other machine.
    far: std::process::Child,
}

impl Mini {
    /// `ssh` is a script, in which `SOCKET` is where the studio can be reached.
    #[allow(clippy::disallowed_types, reason = "a test starts what it needs")]
    fn new(studio: &Studio, ssh: &str) -> Mini {
        let world = World::new(BINARY, "tools: { mlx: { host: studio } }\n");
        let socket = world.folder().join("socket");
        let config = studio.world.folder().join("toolgate.yaml");
        let far = std::process::Command::new("python3")
            .args([FAR, "listen", socket.to_str().unwrap(), BINARY, "--config"])
            .arg(config)
            .args(["mcp", "--toolset", "mlxctl"])
            .spawn()
            .unwrap();
        until("the other machine is there", || socket.exists());
        let ssh = ssh.replace("FAR", FAR).replace("SOCKET", socket.to_str().unwrap());
        world.write_program("bin/ssh", &format!("#!/bin/sh\n{ssh}\n"));
        let bin = world.folder().join("bin");
        let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
        Mini { world, path, far }
    }

    fn run(&self, words: &[&str]) -> CliOutput {
        CliOutput::of(self.world.command(words).env("PATH", &self.path))
    }
}

impl Drop for Mini {
    fn drop(&mut self) {
        let _ = self.far.kill();
        let _ = self.far.wait();
    }
}

/// It looks at where it is to go and what it is to run there.
const SSH: &str = r#"
while [ "$1" != -- ]; do shift; done
[ "$2" = studio ] || exit 255
shift 2
[ "$*" = "toolgate mcp --toolset mlxctl" ] || exit 99
exec python3 "FAR" connect "SOCKET"
"#;

#[test]
fn the_tools_have_their_names_and_their_errors() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, SSH);
    let port = port();
    let argument = format!("port:={port}");
    mini.run(&["call", "mlx.load", "model=test/serves", &argument])
        .exits(0)
        .stdout_has(format!("loaded serves on {port}"));
    assert_eq!(studio.state(port), "ready", "it is over there");
    for (words, code) in [
        (["call", "mlx.load", "model=test/late", &argument], "port_busy: "),
        (["call", "mlx.load", "model=unknown", &argument], "model_not_found: "),
        (["call", "mlx.load", "model=m", "port:=1"], "invalid_port: "),
    ] {
        let stderr = mini.run(&words).stderr;
        assert!(stderr.starts_with(code), "{stderr}");
    }
    mini.run(&["call", "mlx.unload", &argument]).exits(0);
    let nothing = format!("not_listening: nothing is loaded on port {port}\n");
    mini.run(&["call", "mlx.unload", &argument]).stderr_is(nothing);
    mini.run(&["tools", "--json"]).stdout_has("\"mlx.load\"").stdout_lacks("mlxctl__");
    mini.run(&["config", "show"]).stdout_lacks("serve_as").stdout_lacks("ConnectTimeout");
    mini.run(&["tools", "show", "mlx.load", "--json"])
        .stdout_has("\"stability\": \"stable\"")
        .stdout_has("examples");
    mini.run(&["mlx", "status"]).exits(2).stderr_has("ssh studio toolgate mlx status");
}

#[test]
fn a_machine_that_refuses_is_unavailable() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, "echo 'Permission denied (publickey).' >&2; exit 255");
    let output = mini.run(&["call", "mlx.load", "model=m", "port:=8100"]).stderr_has("mlxctl");
    assert_ne!(output.code, 0, "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_other_machine_is_off_its_tools_are_not_unknown() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, "exit 255");
    let world = World::new(BINARY, "tools: { mlx: { host: studio } }\n");
    let world = world.with_env("PATH", &mini.path).started().await;
    let answer = world.post("/v1/tools/mlx.load", r#"{"args":{"model":"m","port":8100}}"#).await;
    assert_eq!(answer.status, 503, "{}", answer.text());
    assert_eq!(answer.json()["code"], "unavailable");
}

#[test]
fn a_connection_that_is_lost_while_a_model_loads_leaves_nothing_there() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, SSH);
    let port = port();
    let mut loading = mini
        .world
        .command(&["call", "mlx.load", "model=test/never", &format!("port:={port}")])
        .env("PATH", &mini.path)
        .spawn()
        .unwrap();
    until("it is loading", || studio.state(port) == "loading");
    loading.kill().unwrap();
    loading.wait().unwrap();
    until("it is gone", || studio.processes(port).is_empty());
    assert_ne!(studio.state(port), "loading");
}
