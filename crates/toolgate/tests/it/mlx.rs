//! `mlx.load`, `mlx.unload` and `toolgate mlx status`, with a model server that misbehaves on demand.
//! The real one is asked by `tests/mlx`.

mod faults;
mod life;
mod remote;

use std::sync::atomic::{AtomicU16, Ordering};

use serde_json::{Value, json};
use testkit::{World, signal};

use crate::BINARY;

/// Where the misbehaving server is.
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mlx/server.py");

/// Text of a document or an example with free ports in the place of those that it names.
pub fn with_free_ports(text: &str) -> String {
    let text = text.to_owned();
    ["8136", "8137", "8138"].iter().fold(text, |text, named| {
        if text.contains(named) { text.replace(named, &port().to_string()) } else { text }
    })
}

/// A port that no other test uses now. There are forty; documents and examples name the last.
fn port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    for _ in 0..200 {
        let port = 8100 + NEXT.fetch_add(1, Ordering::Relaxed) % 36;
        // Others have some, and a run that was killed may have left a server.
        if std::net::TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
    panic!("no port is free");
}

/// A folder with settings, and whatever is loaded from it, which ends with it.
struct Studio {
    world: World,
}

impl Studio {
    fn new() -> Studio {
        Studio::with("")
    }

    /// With more settings of the toolset.
    fn with(more: &str) -> Studio {
        Studio { world: World::new(BINARY, &settings(more)) }
    }

    async fn serving(more: &str) -> Studio {
        Studio { world: World::start(BINARY, &settings(more)).await }
    }

    /// Calls a tool from the command line: its result, or its error as `code: message`.
    fn call(&self, tool: &str, arguments: &[&str]) -> Result<Value, String> {
        let words = [&["call", tool], arguments].concat();
        let output = self.world.cli(&words);
        if output.code == 0 { Ok(output.json()) } else { Err(output.stderr.trim().to_owned()) }
    }

    fn load(&self, behaviour: &str, port: u16) -> Result<Value, String> {
        self.call("mlx.load", &[&format!("model=test/{behaviour}"), &format!("port:={port}")])
    }

    fn unload(&self, port: u16) -> Result<Value, String> {
        self.call("mlx.unload", &[&format!("port:={port}")])
    }

    /// What is known of a port.
    fn status(&self, port: u16) -> Option<Value> {
        let all = self.world.cli("mlx status --json").json();
        let servers = all["servers"].as_array().unwrap();
        servers.iter().find(|server| server["port"] == port).cloned()
    }

    fn state(&self, port: u16) -> String {
        let server = self.status(port).unwrap_or(json!({ "state": "nothing" }));
        server["state"].as_str().unwrap().to_owned()
    }

    /// The processes of model servers on a port.
    fn processes(&self, port: u16) -> Vec<String> {
        testkit::running(&format!("{SERVER} {port} "))
    }

    fn nothing_is_left(&self, port: u16) {
        assert_eq!(self.processes(port), Vec::<String>::new());
        assert!(std::net::TcpListener::bind(("127.0.0.1", port)).is_ok(), "{port} is not free");
    }

    fn ask(port: u16, path: &str) {
        use std::io::{Read, Write};
        #[allow(clippy::disallowed_methods, reason = "a test reaches its own server")]
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = write!(stream, "GET {path} HTTP/1.0\r\n\r\n");
        let _ = stream.read_to_end(&mut Vec::new());
    }
}

impl Drop for Studio {
    fn drop(&mut self) {
        let Ok(places) = std::fs::read_dir(self.world.folder().join("data/mlx")) else { return };
        for place in places {
            let Ok(text) = std::fs::read(place.unwrap().path().join("server.json")) else {
                continue;
            };
            let record: Value = serde_json::from_slice(&text).unwrap_or_default();
            if let Some(keeper) = record["keeper"]["pid"].as_u64().filter(|pid| *pid > 1) {
                signal(u32::try_from(keeper).unwrap(), "-TERM");
            }
        }
    }
}

/// The command that launches the misbehaving server, as a setting.
pub fn launch() -> String {
    json!(["python3", SERVER, "{port}", "{model}"]).to_string()
}

fn settings(more: &str) -> String {
    format!(
        "tools:\n  mlx:\n    launch: {}\n    \
         stop_patience_ms: 1000\n    models: {{ old: test/serves }}\n{more}",
        launch()
    )
}
