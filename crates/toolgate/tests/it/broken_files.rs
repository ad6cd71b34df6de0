//! Files with mistakes: whatever reads one says where.

use testkit::World;

use crate::upstreams::SCRIPTED;

const LOCK: &str = r#"{ "version": 1, "upstreams": {} }"#;
const UPSTREAM: &str =
    "upstreams: { up: { command: python3, args: [ scripted.py, listing.json ] } }\n";

/// A world in which every file is good.
fn world(settings: &str) -> World {
    let world = World::new(crate::BINARY, settings);
    world.write("scripted.py", SCRIPTED);
    world.write("listing.json", "{}");
    world.write("toolgate.lock", LOCK);
    world
}

#[test]
fn a_mistake_is_shown_in_its_place() {
    const CONTRACTS: &str = "contracts: [ ./contracts ]\n";
    const ALLOWLIST: &str = "upstreams: { up: { command: x } }\nallowlist: ./allowed.yaml\n";
    let mut wrong = Vec::new();
    for (settings, file, text, command, place, words) in [
        // Settings.
        ("", "toolgate.yaml", "server:\n  listen: [ 1\n", "tools", "2:11", "unclosed bracket"),
        ("", "toolgate.yaml", "server:\n  lisen: 1\n", "tools", "2:3", "unknown key `lisen`"),
        ("", "toolgate.yaml", "server:\n\tlisten: 1\n", "tools", "2:2", "tabs"),
        // Contracts.
        (
            CONTRACTS,
            "contracts/a.yaml",
            "name: a\nname: b\n",
            "config check",
            "2:1",
            "appears twice",
        ),
        (CONTRACTS, "contracts/a.yaml", "name: [ a\n", "serve --strict", "1:7", "unclosed bracket"),
        (CONTRACTS, "contracts/a.json", "{ \"name\": a, }", "config check", "1:1", ""),
        ("", "a.yaml", "name: a\nversion: {\n", "contracts lint a.yaml", "2:10", "unclosed"),
        (
            "",
            "a.json",
            "{\n \"tools\": [ tru ] }",
            "contracts lint a.json",
            "2:16",
            "not valid JSON",
        ),
        // Overlays.
        (UPSTREAM, "overlays/up/a.yaml", "effects: red\n", "tools", "1:10", "/effects"),
        (UPSTREAM, "overlays/up/a.yaml", "effects: [\n", "serve", "1:10", ""),
        (
            UPSTREAM,
            "overlays/up/a.yaml",
            "output_schema: { type: objct }\n",
            "tools",
            "1:24",
            "type",
        ),
        // The allowlist.
        (ALLOWLIST, "allowed.yaml", "up: [ a\n", "config check", "1:5", "unclosed bracket"),
        (ALLOWLIST, "allowed.yaml", "up: 5\n", "config check", "1:5", ""),
        (
            ALLOWLIST,
            "allowed.yaml",
            "up: [ a ]\nupp: [ b ]\n",
            "serve",
            "2:1",
            "there is no upstream `upp`",
        ),
        // The lock.
        (
            UPSTREAM,
            "toolgate.lock",
            "{ \"version\": 1,\n  \"upstreams\": [] }",
            "upstream list",
            "2:15",
            "invalid type",
        ),
        (UPSTREAM, "toolgate.lock", "{ \"version\": 1\n", "config check", "1:16", "not valid JSON"),
        (UPSTREAM, "toolgate.lock", "x", "contracts lint toolgate.lock", "1:1", "not valid JSON"),
        // Cases of an evaluation, arguments, results, traces.
        ("", "cases.yaml", "cases:\n  - id: [\n", "eval cases.yaml", "2:9", "unclosed"),
        ("", "cases.yaml", "cases:\n  - idd: a\n", "eval cases.yaml", "2:5", "`idd`"),
        (
            "",
            "a.json",
            "{ \"a\": 1,\n\"a\": 2 }",
            "call echo_json message:=@a.json",
            "2:3",
            "appears twice",
        ),
        (
            UPSTREAM,
            "a.json",
            "[1,\n,2]",
            "contracts infer up.a --results a.json",
            "2:1",
            "not valid JSON",
        ),
        (
            UPSTREAM,
            "a.json",
            "{\"tool\": [}",
            "probe up --arguments a.json",
            "1:11",
            "not valid JSON",
        ),
        ("", "a.jsonl", "{\"trace_id\": 5}", "trace show a.jsonl", "1:14", "invalid type"),
        // Another client's servers: the line may hold a secret, so that it is not shown.
        (
            "",
            "client.json",
            "{ \"mcpServers\": {\n  \"a\": SECRET } }",
            "upstream import client.json",
            "2:8",
            "not valid JSON",
        ),
    ] {
        let world = world(settings);
        world.write(file, text);
        let output = world.cli(command);
        let shown = output.all();
        let is_shown = shown.contains(&format!("{file}:{place}\n")) && shown.contains(words);
        let is_underlined = shown.contains('^') != text.contains("SECRET");
        if output.code <= 0 || !is_shown || !is_underlined || shown.contains("SECRET") {
            wrong.push(format!("{command} with {text:?} in {file}:{place}: {shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn what_is_not_text_is_shown_at_the_first_wrong_byte() {
    for (settings, file, command) in [
        ("", "toolgate.yaml", "tools"),
        ("contracts: [ ./c.yaml ]\n", "c.yaml", "config check"),
        (UPSTREAM, "overlays/up/a.yaml", "tools"),
        ("upstreams: { up: { command: x } }\nallowlist: ./a.yaml\n", "a.yaml", "serve"),
        ("", "cases.yaml", "eval cases.yaml"),
        ("", "a.yaml", "contracts lint a.yaml"),
        ("", "a.json", "call echo_json message:=@a.json"),
        ("", "a.json", "upstream import a.json"),
    ] {
        let world = world(settings);
        world.write(file, "");
        std::fs::write(world.folder().join(file), b"a: 1\nb: \xff\n").unwrap();
        let shown = world.cli(command).all();
        assert!(shown.contains(&format!("{file}:2:4")), "{command}: {shown}");
        assert!(shown.contains("is not UTF-8 text"), "{command}: {shown}");
    }
}
