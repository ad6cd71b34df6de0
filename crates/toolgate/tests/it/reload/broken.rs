//! Files with errors: the old state stays, and everybody who should know knows.

use serde_json::{Value, json};
use testkit::World;

use super::{ONLY_SIGNALS, reload, reload_fails, status};
use crate::{
    BINARY, command,
    upstreams::{Upstreams, one, said},
};

/// What a broken file looks like, and the words that tell of it.
struct BrokenFile {
    file: &'static str,
    /// Its text; none where the file is gone.
    text: Option<&'static str>,
    words: &'static str,
}

const fn broken(file: &'static str, text: Option<&'static str>, words: &'static str) -> BrokenFile {
    BrokenFile { file, text, words }
}

const BROKEN: &[BrokenFile] = &[
    broken("toolgate.yaml", Some("server: {"), "toolgate.yaml"),
    broken("toolgate.yaml", Some("sever: {}\n"), "sever"),
    broken("toolgate.yaml", None, "cannot read the settings file"),
    broken("toolgate.yaml", Some("server: { max_body_bytes: 0 }\n"), "max_body_bytes"),
    broken("toolgate.yaml", Some("allowlist: { nobody: [ x ] }\n"), "no upstream `nobody`"),
    broken("toolgate.yaml", Some("contracts: [ ./missing ]\n"), "missing"),
    broken("toolgate.yaml", Some("journal: { path: ./missing/j.jsonl }\n"), "does not exist"),
    broken("toolgate.yaml", Some("tools: { enable: [ nothing ] }\n"), "no toolset `nothing`"),
    broken("toolgate.env", Some("no equals sign\n"), "toolgate.env"),
    broken("contracts/first.yaml", Some("name: first\n"), "first.yaml"),
    broken("contracts/first.yaml", Some("\u{0}"), "first.yaml"),
    broken("allow.yaml", Some("up: all\n"), "allow.yaml"),
    broken("allow.yaml", None, "allow.yaml"),
    broken("overlays/up/act.yaml", Some("effekts: read\n"), "effekts"),
    broken("toolgate.lock", Some("{"), "is not a lock file"),
    broken("toolgate.lock", None, "its last version stays in force"),
];

#[tokio::test]
async fn a_broken_file_keeps_everything_as_it_was() {
    let world = Upstreams::new(
        &[("up", one("act", &said("fine")))],
        &format!("allowlist: ./allow.yaml\ncontracts: [ ./contracts ]\n{ONLY_SIGNALS}"),
    );
    world.write("allow.yaml", "up: [ act ]\n");
    world.write("overlays/up/act.yaml", "effects: read\n");
    world.write("toolgate.env", "A=1\n");
    command(&world, "first", "echo '{\"answer\":1}'", "");
    let world = world.pinned().started().await;
    let listed = world.listed().await;
    assert_eq!(listed, ["first", "up__act"]);
    let [process] = world.children()[..] else { panic!("not one process") };

    for BrokenFile { file, text, words } in BROKEN {
        let whole = world.read(file);
        match text {
            Some(text) => world.write(file, text),
            None => std::fs::remove_file(world.folder().join(file)).unwrap(),
        }
        // Something right beside it is not taken either.
        command(&world, "second", "echo '{\"answer\":2}'", "");
        let failed = reload_fails(&world).await;
        let error = failed["error"].as_str().unwrap();
        assert!(error.contains(words), "{file}: no `{words}` in {failed}");
        assert_eq!(world.listed().await, listed, "{file}");
        world.call("up__act", &json!({ "text": "a" })).await.ok();
        world.call("first", &json!({})).await.ok();

        let ready = world.get("/readyz").await;
        assert_eq!((ready.status, &ready.json()["status"]), (200, &json!("ready")), "{file}");
        let reason = ready.json()["reload"].clone();
        assert_eq!(reason["status"], "failed", "{reason}");
        assert!(reason["reason"].as_str().unwrap().contains("error"), "{reason}");
        let told = world.cli(&["config", "status", "--data-dir", "data"]).exits(1);
        let told = told.stdout_has("in force as they were at").stdout_has(words);
        told.stderr_has("hint: `toolgate config check`");
        let metrics = world.get("/metrics").await.text();
        assert!(metrics.contains("toolgate_settings_reload_failed 1\n"), "{metrics}");

        world.write(file, &whole);
        std::fs::remove_file(world.folder().join("contracts/second.yaml")).unwrap();
        reload(&world).await;
        assert_eq!(world.get("/readyz").await.json(), json!({ "status": "ready" }), "{file}");
    }
    assert!(world.stderr().contains("those of before stay in force"), "{}", world.stderr());
    world.cli("config status").exits(0);
    assert_eq!(world.children(), [process], "nobody was started again");
    assert_eq!(world.listed().await, listed);
}

#[tokio::test]
async fn everybody_may_read_that_a_reload_failed_and_nobody_what_is_in_the_file() {
    let world = World::start(BINARY, ONLY_SIGNALS).await;
    let secret = "ghp_0123456789abcdefghij";
    let settings =
        format!("server: {{ watch_interval_ms: 0 }}\nllm: {{ base_url: \"{secret}\" }}\n");
    world.write("toolgate.yaml", &settings);
    reload_fails(&world).await;
    let ready = world.get("/readyz").await.text();
    assert!(ready.contains("an error in `toolgate.yaml`, line 2"), "{ready}");
    assert!(!ready.contains(secret) && !ready.contains("base_url"), "{ready}");
    let seen = status(&world).await;
    assert_eq!(seen["failed"]["diagnostics"][0]["line"], 2, "{seen}");
    // It finds its server though the settings cannot be read.
    let told: Value = world.cli("config status --json").exits(1).json();
    assert_eq!(told["failed"]["place"], "an error in `toolgate.yaml`, line 2");
    world.cli("config status").exits(1).stdout_has("toolgate.yaml:2:");
    world.write("toolgate.yaml", "data_dir: ./data\nserver: {");
    world.cli("config status").exits(1);
}
