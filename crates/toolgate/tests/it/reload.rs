//! A running server loads its files again: all of them, or none.

mod broken;
mod door;
mod following;
mod together;
mod upstreams;

use serde_json::{Value, json};
use testkit::World;

/// Nothing is loaded before somebody says so.
const ONLY_SIGNALS: &str = "server: { watch_interval_ms: 0 }\n";

/// The journal's events of this name.
fn events(world: &World, name: &str) -> Vec<Value> {
    let text = world.read("data/journal.jsonl");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|event| event["event"] == name).collect()
}

/// Sends the signal.
fn hang_up(world: &World) {
    assert!(testkit::signal(world.pid(), "-HUP"));
}

/// Sends the signal, and waits for this event; that event.
async fn after_hangup(world: &World, name: &str) -> Value {
    let other = ["settings_reloaded", "settings_reload_failed"];
    let (known, other) = (events(world, name).len(), other.iter().find(|one| **one != name));
    let others = events(world, other.unwrap()).len();
    hang_up(world);
    testkit::eventually(name, async || {
        assert_eq!(events(world, other.unwrap()).len(), others, "{}", world.stderr());
        events(world, name).into_iter().nth(known)
    })
    .await
}

/// Loads the files again.
async fn reload(world: &World) -> Value {
    after_hangup(world, "settings_reloaded").await
}

/// Tries to; the event.
async fn reload_fails(world: &World) -> Value {
    after_hangup(world, "settings_reload_failed").await
}

/// Writes other settings in the place of those words.
fn change(world: &World, from: &str, to: &str) {
    let settings = world.read("toolgate.yaml");
    assert!(settings.contains(from), "no `{from}` in {settings}");
    world.write("toolgate.yaml", &settings.replace(from, to));
}

/// The status as the operator sees it.
async fn status(world: &World) -> Value {
    world.as_operator("GET", "/v1/config", None).await.json()
}

/// Calls a tool without arguments; the code of its error, or `ok`.
async fn code(world: &World, tool: &str) -> String {
    let answer = world.call(tool, &json!({})).await.json();
    answer["code"].as_str().unwrap_or("ok").to_owned()
}
