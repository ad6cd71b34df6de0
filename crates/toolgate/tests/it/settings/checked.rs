//! `toolgate config check` says what `serve` would say, and says it to programs as well.

use serde_json::Value;
use testkit::World;

use crate::BINARY;

/// What a program is told of these settings: exit code and document.
fn told(world: &World) -> (i32, Value) {
    let (code, stdout, stderr) = world.cli(&["config", "check", "--json"]);
    let told =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    assert!(!world.folder().join("data").exists(), "checking changes nothing");
    (code, told)
}

/// Settings that a server refuses are refused, in the same place for people and programs.
fn refused(settings: &str, line: u64, words: &str) {
    let world = World::new(BINARY, settings);
    let (code, told) = told(&world);
    assert_eq!((code, &told["ok"], &told["starts"]), (1, &false.into(), &false.into()), "{told}");
    let all = told["diagnostics"].as_array().unwrap();
    let found = all.iter().find(|one| one["message"].as_str().unwrap().contains(words));
    let found = found.unwrap_or_else(|| panic!("{settings}: no `{words}` in {told}"));
    assert_eq!((&found["severity"], &found["line"]), (&"error".into(), &line.into()), "{told}");
    assert_eq!(found["file"], "toolgate.yaml");
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains(&format!("toolgate.yaml:{line}:")), "{stderr}");
    let (code, _, stderr) = world.cli(&["serve"]);
    assert_eq!(code, 2, "{settings}{stderr}");
}

#[test]
fn what_keeps_a_server_from_starting_is_told() {
    for listen in
        ["foo", "8000", "127.0.0.1", "127.0.0.1:http", "localhost:99999", ":8000", "a b:1"]
    {
        let settings = format!("server:\n  listen: \"{listen}\"\n");
        refused(&settings, 2, &format!("`{listen}` is no address and port"));
    }
    for listen in ["0.0.0.0:0", "192.0.2.1:80", "[::]:0"] {
        let settings = format!("server:\n  listen: \"{listen}\"\n");
        refused(&settings, 2, "can be reached from other machines");
    }
    let taken = "server:\n  tokens:\n    - name: cli\n      token_env: PATH\n";
    refused(taken, 3, "the name `cli` is taken");
    refused("journal: { path: /nope/x }\n", 1, "there is no folder `/nope`");
    refused("\njournal:\n  path: ./data/deeper/x\n", 3, "there is no folder");
    refused("journal: { path: . }\n", 1, "is a folder");
    refused("log: { level: loud }\n", 1, "`loud` is no level");
    refused("\n\nlog: { level: \"info,hyper=loud\" }\n", 3, "`info`, `debug`");
}

#[test]
fn what_does_not_is_not() {
    for settings in [
        "server: { listen: \"localhost:0\" }\n",
        "server: { listen: \"[::1]:0\" }\n",
        "journal: { path: ./journal.jsonl }\n",
        "journal: { path: ./data/own.jsonl }\n",
        "log: { level: \"warn,hyper=off\" }\n",
        "log: { level: off }\n",
    ] {
        let (code, told) = told(&World::new(BINARY, settings));
        assert_eq!((code, &told["starts"]), (0, &true.into()), "{settings}{told}");
        assert_eq!(told["diagnostics"], serde_json::json!([]), "{settings}");
    }
    // What a name stands for is another machine's to say.
    let world = World::new(BINARY, "server: { listen: \"tools.example:80\" }\n");
    let (code, said) = told(&world);
    assert_eq!((code, &said["starts"]), (0, &true.into()), "{said}");
    assert_eq!(said["diagnostics"][0]["severity"], "warning", "{said}");
}

#[test]
fn a_token_that_is_not_set_here_may_be_elsewhere() {
    let settings =
        "server:\n  listen: \"0.0.0.0:0\"\n  tokens:\n    - name: ada\n      token_env: ADA\n";
    let world = World::new(BINARY, settings);
    let (code, said) = told(&world);
    assert_eq!((code, &said["ok"], &said["starts"]), (0, &true.into(), &false.into()), "{said}");
    assert_eq!(said["diagnostics"][0]["line"], 5, "{said}");
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stderr.contains("but `toolgate serve` would not start here"), "{stderr}");
    assert_eq!(world.cli(&["serve"]).0, 2);
    let world = world.with_env("ADA", "a-token-that-is-long-enough");
    let (_, said) = told(&world);
    assert_eq!(said["starts"], true, "{said}");
    assert!(world.cli(&["config", "check"]).2.starts_with("the settings are fine"));
}

#[test]
fn mistakes_that_only_show_with_the_contracts_have_their_place() {
    refused(
        "policy:\n  approval:\n    - { tool: echo_json, require: never }\n    - { tool: echo_jsn, require: always }\n",
        4,
        "did you mean `echo_json`?",
    );
    refused(
        "policy:\n  approval:\n    - { toolset: nobody, require: always }\n",
        3,
        "no toolset `nobody`",
    );
    refused("policy:\n  approval: [ { require: always } ]\n", 2, "a rule needs a `tool`");
    refused("tools:\n  enable:\n    - autosage\n    - autosag\n", 4, "did you mean `autosage`?");
    refused("contracts:\n  - ./missing\n", 2, "missing");
    let twice = "tools:\n  mlx:\n    host: studio\nupstreams: { mlxctl: { command: x } }\n";
    refused(twice, 3, "one of them is enough");
    refused("ask:\n  allow:\n    - hello\n    - nobody_has_this\n", 4, "no tool `nobody_has_this`");
}

#[test]
fn a_file_that_is_no_text_is_told_where() {
    let world = World::new(BINARY, "");
    std::fs::write(world.folder().join("toolgate.yaml"), b"data_dir: ./data\nlock: \xff\n")
        .unwrap();
    let (code, said) = told(&world);
    assert_eq!((code, &said["diagnostics"][0]["line"]), (1, &2.into()), "{said}");
    let (code, _, stderr) = world.cli(&["tools"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("not UTF-8") && stderr.contains("toolgate.yaml:2"), "{stderr}");
}

#[test]
fn a_program_that_asks_for_json_gets_some_whatever_is_wrong() {
    for (world, words) in [
        (World::new(BINARY, "tools:\n  file_io: { root: . }\n"), "contains the data folder"),
        (World::new(BINARY, "").with_env("TOOLGATE_LOG__LEVEL", "loud"), "`loud` is no level"),
        (World::new(BINARY, "").with_env("TOOLGATE_LOG__LEVLE", "info"), "TOOLGATE_LOG__LEVLE"),
        (World::new(BINARY, "").with_env("TOOLGATE_CONFIG", "none.yaml"), "none.yaml"),
    ] {
        let (code, said) = told(&world);
        assert_eq!((code, &said["ok"]), (2, &false.into()), "{said}");
        assert!(said["diagnostics"][0]["message"].as_str().unwrap().contains(words), "{said}");
        assert_eq!(world.cli(&["config", "check"]).0, 2);
    }
    let (_, said) = told(&World::new(BINARY, "tools:\n  file_io:\n    root: .\n"));
    assert_eq!(said["diagnostics"][0]["line"], 3, "{said}");
}
