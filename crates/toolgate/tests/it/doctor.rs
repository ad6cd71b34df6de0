//! `toolgate doctor`: what it finds, and what it says about it.

mod data;

use serde_json::{Value, json};
use testkit::{Reply, Upstream, World, free_port};

use crate::BINARY;

/// What the doctor says of a folder: exit code and findings by subject.
fn examined(world: &World) -> (i32, Value) {
    let output = world.cli("doctor --json --listen 127.0.0.1:0");
    let (code, said) = (output.code, output.json());
    assert_eq!(said["ok"], code == 0, "{said}");
    let mut by_subject = json!({});
    for finding in said["findings"].as_array().unwrap() {
        by_subject[finding["subject"].as_str().unwrap()] = finding.clone();
    }
    (code, by_subject)
}

fn check(world: &World, subject: &str, state: &str, words: &str) {
    let (code, found) = examined(world);
    let finding = &found[subject];
    assert_eq!(finding["state"], state, "{found}");
    let all = format!("{} {}", finding["message"], finding["hint"]);
    assert!(all.contains(words), "{finding}");
    assert_eq!(code, i32::from(state == "problem"), "{found}");
}

#[test]
fn a_fresh_folder_is_well_and_stays_as_it_is() {
    let world = World::new(BINARY, "");
    let (code, found) = examined(&world);
    assert_eq!(code, 0, "{found}");
    for subject in ["settings", "contracts", "data folder", "listen address", "supervisor", "paths"]
    {
        assert_eq!(found[subject]["state"], "ok", "{found}");
    }
    assert_eq!(found["search"]["state"], "warning", "{found}");
    let names = std::fs::read_dir(world.folder()).unwrap().count();
    assert_eq!(names, 1, "something was left beside the settings");
    let output = world.cli("doctor --listen 127.0.0.1:0").exits(0);
    assert!(output.stdout.starts_with("ok       settings: read from `toolgate.yaml`\n"));
    let output = output.stdout_has("warning  search: no search service is configured\n");
    output.stdout_has("`tools.search.base_url`").stderr_is("0 problems, 1 warning\n");
}

#[test]
fn mistakes_in_files_are_told() {
    for (settings, subject, words) in [
        ("sevrer: {}\n", "settings", "unknown key `sevrer`"),
        ("contracts: [ ./missing ]\n", "contracts", "missing"),
        ("contracts: [ ./broken.yaml ]\n", "contracts", "errors"),
        ("data_dir: toolgate.yaml\n", "data folder", "cannot be written"),
        ("data_dir: toolgate.yaml/below\n", "data folder", "cannot be created"),
    ] {
        let world = World::new(BINARY, settings);
        world.write("broken.yaml", "name: broken\n");
        check(&world, subject, "problem", words);
    }
}

#[test]
fn the_address_is_looked_at() {
    let world = World::new(BINARY, "");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = world.cli(&["doctor", "--listen", &address]).exits(0);
    output.stdout_has(format!("warning  listen address: {address} is in use"));
    let output = world.cli("doctor --listen 0.0.0.0:0").exits(1);
    output.stdout_has("set `server.tokens`, or listen on 127.0.0.1");
    let world = World::new(BINARY, "server: { tokens: [ { name: ada, token_env: ADA } ] }\n");
    check(&world, "tokens", "problem", "`ADA` must have at least 16 characters");
    let world = world.with_env("ADA", "a-token-that-is-long-enough");
    check(&world, "tokens", "ok", "1 token set");
}

fn searching(upstream: &Upstream, provider: &str, more: &str) -> World {
    let url = upstream.url();
    let settings =
        format!("tools:\n  search: {{ provider: {provider}, base_url: \"{url}\"{more} }}\n");
    World::new(BINARY, &settings)
}

#[test]
fn the_search_service_is_asked() {
    let tools = json!({ "data": [{ "search_tool_name": "web", "search_provider": "searxng" }] });
    let upstream = Upstream::saying(Reply::json(200, &tools));
    let litellm = |more: &str| searching(&upstream, "litellm", more);
    check(&litellm(", search_tool: web"), "search", "ok", "answers");
    check(&litellm(", search_tool: news"), "search", "problem", "it has web");
    check(&litellm(""), "search", "problem", "needs the name of a search tool");
    let keyed = ", search_tool: web, api_key_env: SEARCH_KEY";
    check(&litellm(keyed), "search", "problem", "`SEARCH_KEY`");
    let world = litellm(keyed).with_env("SEARCH_KEY", "sk-test");
    check(&world, "search", "ok", "answers");
    assert!(upstream.requests().last().unwrap().header("authorization").contains("sk-test"));
    assert!(upstream.requests().iter().all(|asked| asked.path == "/v1/search/tools"));
    // The names are somebody else's text, on somebody's terminal.
    let named = |name: String| json!({ "search_tool_name": name });
    let many: Vec<_> = (0..1_000).map(|number| named(format!("\u{1b}[2Jtool{number}"))).collect();
    upstream.say(Reply::json(200, json!({ "data": many })));
    let (_, found) = examined(&litellm(""));
    let hint = found["search"]["hint"].as_str().unwrap();
    assert!(hint.contains("it has [2Jtool0, [2Jtool1, ") && hint.ends_with(", …"), "{hint}");
    assert!(!hint.contains('\u{1b}') && hint.len() < 1_000, "{hint}");
    upstream.say(Reply::json(401, json!({ "error": "sk-test" })));
    check(&world, "search", "problem", "look at the key in `SEARCH_KEY`");
    upstream.say(Reply::json(500, json!({})));
    check(&world, "search", "problem", "status 500");

    let world = searching(&upstream, "searxng", "");
    upstream.say(Reply::new(400, "text/plain", "No query"));
    check(&world, "search", "ok", "answers");
    upstream.say(Reply::new(403, "text/html", ""));
    check(&world, "search", "problem", "`search.formats`");
    let closed = free_port();
    let settings = format!(
        "tools:\n  search: {{ provider: searxng, base_url: \"http://127.0.0.1:{closed}\" }}\n"
    );
    check(&World::new(BINARY, &settings), "search", "problem", "cannot be reached");
    // Who does not serve the tool is not troubled with it.
    let world = World::new(BINARY, "tools: { enable: [ autosage ] }\n");
    assert_eq!(examined(&world).1["search"], Value::Null);
}
