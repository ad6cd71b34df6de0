//! Settings that are valid, and what overrides them. Those that are not are in `messages/settings.rs`.

use serde_json::{Value, json};
use testkit::World;

use crate::BINARY;

/// Exit code and JSON of `config check`.
fn checked(world: &World) -> (i32, Value) {
    let output = world.cli("config check --json");
    assert!(!world.has("data"), "checking changes nothing");
    (output.code, output.json())
}

#[tokio::test]
async fn each_caller_has_a_token_and_a_name_of_its_own() {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let settings =
        "server: { tokens: [ { name: ada, token_env: ADA }, { name: bob, token_env: BOB } ] }\n";
    let refused = |world: &testkit::World, words: &str, check: i32| {
        for (command, exit) in
            [("serve --listen 127.0.0.1:0", 2), ("config check", check), ("doctor", 1)]
        {
            let output = world.cli(command).exits(exit);
            let said = format!("{}{}", output.stdout, output.stderr);
            assert!(said.contains(words), "{command}: {said}");
            assert!(!said.contains(TOKEN), "{command}: {said}");
        }
    };
    let world = testkit::World::new(crate::BINARY, settings);
    let world = world.with_env("ADA", TOKEN).with_env("BOB", TOKEN);
    refused(&world, "`ada` and `bob` have the same token (`ADA`, `BOB`)", 0);
    let other = format!("{TOKEN}0");
    let world = testkit::World::new(crate::BINARY, settings);
    let world = world.with_env("ADA", &other).with_env("BOB", TOKEN);
    let mut world = world.started().await;
    assert_eq!(world.stop().await, 0);
    world.write("data/operator.token", &format!("{TOKEN}\n"));
    refused(&world, "`bob` has the token of the operator", 0);
    for (name, shown) in [("a\\u202Eb", "a\\u{202e}b"), ("a\\u0007", "a\\u{7}")] {
        let settings = settings.replace("ada", &format!("\"{name}\""));
        let world = testkit::World::new(crate::BINARY, &settings);
        let world = world.with_env("ADA", &other).with_env("BOB", TOKEN);
        refused(&world, &format!("the name `{shown}` has characters that cannot be seen"), 1);
    }
}

#[test]
fn valid_settings_have_no_findings() {
    for settings in [
        "server: { listen: \"localhost:0\" }\n",
        "server: { listen: \"[::1]:0\" }\n",
        "journal: { path: ./journal.jsonl }\n",
        "journal: { path: ./data/own.jsonl }\n",
        "log: { level: \"warn,hyper=off\" }\n",
        "log: { level: off }\n",
        "# comments alone\n",
        "tools: { file_io: { root: ./data/files/notes } }\n",
        "tools: { file_io: { root: ./notes } }\n",
        "tools: { enable: [ autosage ], file_io: { root: . } }\n",
        "tools: { repo: { allow: [ \"**\" ], deny: [ \"data/**\" ] } }\n",
        "llm: { base_url: \"http://127.0.0.1:9\" }\n",
    ] {
        let (code, checked) = checked(&World::new(BINARY, settings));
        assert_eq!((code, &checked["starts"]), (0, &true.into()), "{settings}{checked}");
        assert_eq!(checked["diagnostics"], json!([]), "{settings}");
    }
}

#[test]
fn a_token_that_is_not_set_here_may_be_set_elsewhere() {
    let settings =
        "server:\n  listen: \"0.0.0.0:0\"\n  tokens:\n    - name: ada\n      token_env: ADA\n";
    let world = World::new(BINARY, settings);
    let (code, found) = checked(&world);
    assert_eq!((code, &found["ok"], &found["starts"]), (0, &json!(true), &json!(false)), "{found}");
    assert_eq!(found["diagnostics"][0]["line"], 5, "{found}");
    world.cli("serve").exits(2);
    let world = world.with_env("ADA", "a-token-that-is-long-enough");
    assert_eq!(checked(&world).1["starts"], true);
    // A host name is resolved only where the server runs.
    let (code, found) = checked(&World::new(BINARY, "server: { listen: \"tools.example:80\" }\n"));
    assert_eq!((code, &found["starts"]), (0, &json!(true)), "{found}");
    assert_eq!(found["diagnostics"][0]["severity"], "warning", "{found}");
}

#[test]
fn the_environment_overrides_the_file() {
    let world = World::new(BINARY, "server: { max_body_bytes: 10 }\n")
        .with_env("TOOLGATE_SERVER__MAX_BODY_BYTES", "20");
    world.cli("config show").exits(0).stdout_has("\"max_body_bytes\": 20");
}

#[tokio::test]
async fn a_server_warns_of_a_variable_that_is_no_setting_and_starts() {
    let world = World::new(BINARY, "").with_env("TOOLGATE_LOG_LEVEL", "debug").started().await;
    assert!(world.stderr().contains("did you mean `TOOLGATE_LOG__LEVEL`?"), "{}", world.stderr());
}

#[test]
fn variables_that_are_used_elsewhere_get_no_warning() {
    let world = World::new(
        BINARY,
        "contracts: [ ./contracts ]\nserver: { tokens: [ { name: ada, token_env: TOOLGATE_TOKEN } ] }\n",
    );
    crate::command(&world, "mine", "cat", "env: [ TOOLGATE_MINE ]");
    let world = world
        .with_env("TOOLGATE_TOKEN", "a-token-that-is-long-enough")
        .with_env("TOOLGATE_MINE", "1")
        .with_env("TOOLGATE_DATA_DIR", "./data")
        .with_env("TOOLGATE_LOG__LEVEL", "warn")
        .with_env("MY_TOOLGATE_FOO", "1");
    let (code, found) = checked(&world);
    assert_eq!((code, &found["diagnostics"]), (0, &json!([])), "{found}");
}
