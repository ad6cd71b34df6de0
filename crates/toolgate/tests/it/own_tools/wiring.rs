//! Contracts that the settings do not name yet, and how they get there.

use testkit::World;

use super::text;
use crate::BINARY;

#[test]
fn a_tool_in_a_file_that_is_not_named_has_a_hint() {
    let world = World::new(BINARY, "");
    world.write("contracts/mine.yaml", &text("mine", "a", ""));
    let hint = "hint: the settings do not name `[..]contracts/mine.yaml`: add `contracts: [ ./contracts ]` to toolgate.yaml";
    let (before, after) = hint.split_once("[..]").unwrap();
    for command in ["call mine", "tools show mine", "contracts test mine"] {
        world.cli(command).stderr_has(before).stderr_has(after);
    }
    world.write("toolgate.yaml", "contracts: [ ./other ]\n");
    world.write("other/yours.yaml", &text("yours", "a", ""));
    world.cli("call mine").exits(1).stderr_has("add `./contracts` to `contracts` in toolgate.yaml");
    world.cli("call nobody").exits(1).stderr_lacks("hint:");
}

#[test]
fn a_test_that_ran_nothing_fails() {
    let world = World::new(BINARY, "tools: { enable: [] }\n");
    let nothing = "no example was run, so nothing is known";
    let test = world.cli("contracts test").exits(1);
    test.stderr_has_all([nothing, "hint: add `adam-sys-audit` to `tools.enable` in the settings"]);
    world.write("contracts/mine.yaml", &text("mine", "a", ""));
    world
        .cli("contracts test")
        .exits(1)
        .stderr_has_all([nothing, "hint: the settings do not name "]);
    assert_eq!(world.cli("contracts test --json").exits(1).json()["ok"], false);
    world.write("toolgate.yaml", "tools: { enable: [] }\ncontracts: [ ./contracts ]\n");
    world.cli("contracts test").exits(0).stderr_has("1 passed, 0 failed");
}

#[test]
fn a_new_contract_adds_itself_to_the_settings() {
    for (before, after) in [
        ("", "contracts: [\"./contracts\"]\n"),
        (
            "# mine\ntools: { enable: [] } # few\n",
            "# mine\ntools: { enable: [] } # few\n\ncontracts: [\"./contracts\"]\n",
        ),
        (
            "contracts: [ ./other ] # own\nlock: a\n",
            "contracts: [ ./other, \"./contracts\" ] # own\nlock: a\n",
        ),
        (
            "contracts: # own\n  # first\n  - ./other # one\n# then\nlock: a\n",
            "contracts: # own\n  # first\n  - ./other # one\n  - \"./contracts\"\n# then\nlock: a\n",
        ),
        ("contracts: [ ./contracts ]\n", "contracts: [ ./contracts ]\n"),
    ] {
        let world = World::new(BINARY, before);
        world.write("other/readme", "");
        if before.contains("./contracts") {
            world.write("contracts/readme", "");
        }
        world
            .cli("contracts new fresh --yes")
            .exits(0)
            .stderr_has("next: toolgate contracts test fresh");
        assert_eq!(world.read("toolgate.yaml"), after);
        world.cli("contracts test fresh").exits(0).stderr_has("3 passed, 0 failed");
        world.cli("contracts new second --yes").exits(0);
        assert_eq!(world.read("toolgate.yaml"), after);
        world.cli("call second text=a").exits(0);
    }
}

#[test]
fn without_a_terminal_nothing_is_added_unasked() {
    let world = World::new(BINARY, "lock: a\n");
    let new = world.cli("contracts new fresh").exits(0);
    new.stderr_has("next: add `contracts: [ ./contracts ]` to toolgate.yaml, then toolgate contracts test fresh");
    assert_eq!(world.read("toolgate.yaml"), "lock: a\n");
    world.write("toolgate.yaml", "lock: [\n");
    world.cli("contracts new second --yes").exits(2);
    assert!(!world.has("contracts/second.yaml"));
    world
        .cli("contracts new second --yes --no-config")
        .exits(2)
        .stderr_has("`--no-config` cannot be used");
}

#[test]
fn an_exported_contract_says_how_the_tool_is_reached() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    world.write("contracts/mine.yaml", &text("mine", "a", ""));
    world.write(
        "contracts/told.yaml",
        &text("told", "a", "transport: mcp (stdio)\nendpoint: other\n"),
    );
    let exported = world.cli("contracts export --format json").exits(0).json();
    let all = exported["contracts"].as_array().unwrap();
    for (name, transport, endpoint) in [
        ("search.web", "mcp (stdio or http), http", "web-fetch"),
        ("mine", "mcp (stdio or http), http", "a"),
        ("told", "mcp (stdio)", "other"),
    ] {
        let found = all.iter().find(|one| one["name"] == name).unwrap();
        assert_eq!(
            (&found["transport"], &found["endpoint"]),
            (&transport.into(), &endpoint.into())
        );
    }
    // It is a contract file again, and the promise is the same.
    let yaml = world.cli("contracts export contracts/mine.yaml").exits(0).stdout;
    world.write("again.yaml", &yaml);
    world.cli("contracts diff contracts/mine.yaml again.yaml").exits(0);
    let sha256 = |file: &str| {
        let whole = world.read(file);
        contract::read::contract(file, &whole).0.unwrap().0.sha256()
    };
    assert_eq!(sha256("contracts/mine.yaml"), sha256("again.yaml"));
    world.cli("contracts export --format markdown").exits(0).stdout_has("- Endpoint: `web-fetch`");
}
