//! Models on another machine. Here the way there is a program that poses as `ssh`; `tests/mlx` takes a real one.

use super::{BINARY, Studio, port, wait_until};
use testkit::World;

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
        wait_until("the other machine is there", || socket.exists());
        let ssh = ssh.replace("FAR", FAR).replace("SOCKET", socket.to_str().unwrap());
        world.write("bin/ssh", &format!("#!/bin/sh\n{ssh}\n"));
        let path = world.folder().join("bin/ssh");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&path, mode).unwrap();
        let path =
            format!("{}:{}", path.parent().unwrap().display(), std::env::var("PATH").unwrap());
        Mini { world, path, far }
    }

    fn run(&self, words: &[&str]) -> (i32, String, String) {
        let output = self.world.command(words).env("PATH", &self.path).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        (output.status.code().unwrap(), text(&output.stdout), text(&output.stderr))
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
    let (code, stdout, stderr) = mini.run(&["call", "mlx.load", "model=test/serves", &argument]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains(&format!("loaded serves on {port}")), "{stdout}");
    assert_eq!(studio.state(port), "ready", "it is over there");
    for (words, code) in [
        (["call", "mlx.load", "model=test/late", &argument], "port_busy: "),
        (["call", "mlx.load", "model=unknown", &argument], "model_not_found: "),
        (["call", "mlx.load", "model=m", "port:=1"], "invalid_port: "),
    ] {
        let (_, _, stderr) = mini.run(&words);
        assert!(stderr.starts_with(code), "{stderr}");
    }
    let (code, _, _) = mini.run(&["call", "mlx.unload", &argument]);
    assert_eq!(code, 0);
    let (_, _, stderr) = mini.run(&["call", "mlx.unload", &argument]);
    assert_eq!(stderr, format!("not_listening: nothing is loaded on port {port}"));
    let (_, stdout, _) = mini.run(&["tools", "--json"]);
    assert!(stdout.contains("\"mlx.load\"") && !stdout.contains("mlxctl__"), "{stdout}");
    let (_, shown, _) = mini.run(&["config", "show"]);
    assert!(!shown.contains("serve_as") && !shown.contains("ConnectTimeout"), "{shown}");
    let (_, there, _) = mini.run(&["tools", "show", "mlx.load", "--json"]);
    assert!(there.contains("\"stability\": \"stable\"") && there.contains("examples"), "{there}");
    let (code, _, stderr) = mini.run(&["mlx", "status"]);
    assert!(code == 2 && stderr.contains("ssh studio toolgate mlx status"), "{stderr}");
}

#[test]
fn a_machine_that_refuses_is_unavailable() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, "echo 'Permission denied (publickey).' >&2; exit 255");
    let (code, _, stderr) = mini.run(&["call", "mlx.load", "model=m", "port:=8100"]);
    assert!(code != 0 && stderr.contains("mlxctl"), "{code}: {stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_other_machine_is_off_its_tools_are_not_unknown() {
    let studio = Studio::new();
    let mini = Mini::new(&studio, "exit 255");
    let path = mini.path.clone();
    let mut world =
        World::new(BINARY, "tools: { mlx: { host: studio } }\n").with_env("PATH", &path);
    world.run().await;
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
    wait_until("it is loading", || studio.state(port) == "loading");
    loading.kill().unwrap();
    loading.wait().unwrap();
    wait_until("it is gone", || studio.processes(port).is_empty());
    assert_ne!(studio.state(port), "loading");
}
