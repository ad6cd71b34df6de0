//! Variables of the environment that are meant to set something, and do not.

use serde_json::Value;
use testkit::World;

use crate::BINARY;

/// What is said of the environment: the messages and hints of all remarks on it.
fn remarks(world: &World) -> Vec<String> {
    let (code, stdout, stderr) = world.cli(&["config", "check", "--json"]);
    assert_eq!(code, 0, "{stdout}{stderr}");
    let told: Value = serde_json::from_str(&stdout).unwrap();
    let all = told["diagnostics"].as_array().unwrap().iter();
    all.filter(|one| one["file"] == "environment")
        .map(|one| format!("{} {}", one["message"], one["hint"]))
        .collect()
}

#[test]
fn a_name_that_sets_nothing_is_told() {
    for (name, words) in [
        ("TOOLGATE_LLM_BASE_URL", "did you mean `TOOLGATE_LLM__BASE_URL`?"),
        ("TOOLGATE_TOOLS_SEARCH_TIMEOUT_MS", "did you mean `TOOLGATE_TOOLS__SEARCH__TIMEOUT_MS`?"),
        ("TOOLGATE_LISTN", "did you mean `TOOLGATE_LISTEN`?"),
        ("TOOLGATE_FOO", "TOOLGATE_SERVER__LISTEN"),
    ] {
        let world = World::new(BINARY, "").with_env(name, "1");
        let found = remarks(&world);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains(&format!("`{name}` sets nothing")), "{found:?}");
        assert!(found[0].contains(words), "{found:?}");
        let (code, stdout, _) = world.cli(&["doctor", "--listen", "127.0.0.1:0"]);
        assert_eq!(code, 0, "{stdout}");
        assert!(stdout.contains(&format!("environment: the variable `{name}`")), "{stdout}");
    }
}

#[tokio::test]
async fn a_server_tells_it_and_starts() {
    let mut world = World::new(BINARY, "").with_env("TOOLGATE_LOG_LEVEL", "debug");
    world.run().await;
    assert!(world.stderr().contains("did you mean `TOOLGATE_LOG__LEVEL`?"), "{}", world.stderr());
}

#[test]
fn names_that_are_somebodys_are_not() {
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
    assert_eq!(remarks(&world), Vec::<String>::new());
}
