//! Settings and contracts: mistakes are shown in place, all at once, and nothing starts.

mod checked;
mod variables;

use testkit::World;

use crate::BINARY;

fn check(settings: &str, files: &[(&str, &str)]) -> (i32, String) {
    let world = World::new(BINARY, settings);
    for (path, text) in files {
        world.write(path, text);
    }
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert!(!world.folder().join("data").exists(), "checking changes nothing");
    (code, stderr)
}

#[test]
fn every_mistake_is_shown_where_it_stands() {
    let (code, shown) = check(
        "server:\n  lisen: \"127.0.0.1:1\"\n  max_body_bytes: many\nlimits: { timeout_ms: 0 }\nretension: {}\n",
        &[],
    );
    assert_eq!(code, 1);
    for part in [
        "error: unknown key `lisen`",
        "toolgate.yaml:2:3",
        "hint: did you mean `listen`?",
        "`/server/max_body_bytes` must be a whole number",
        "toolgate.yaml:3:19",
        "`/limits/timeout_ms` must be at least 1",
        "unknown key `retension`",
        "did you mean `retention`?",
        "4 to mend",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn yaml_that_is_none_and_keys_twice_are_shown() {
    let (code, shown) = check("server: [1\n", &[]);
    assert_eq!(code, 1);
    assert!(shown.contains("toolgate.yaml"), "{shown}");
    let (code, shown) = check("data_dir: a\ndata_dir: b\n", &[]);
    assert_eq!(code, 1);
    assert!(
        shown.contains("`data_dir` is there twice") && shown.contains("toolgate.yaml:2"),
        "{shown}"
    );
}

const BROKEN: &str = "name: broken
description: TODO
version: \"1\"
stability: stabel
toolset: mine
effects: none
run: [cat]
input_schema: { type: object, properties: {}, required: [] }
output_schema: { type: object }
";

#[test]
fn contracts_are_judged_with_the_settings() {
    let (code, shown) = check("contracts: [ ./c ]\n", &[("c/broken.yaml", BROKEN)]);
    assert_eq!(code, 1);
    assert!(shown.contains("broken.yaml:4:12"), "{shown}");
    assert!(
        shown.contains("must be one of \"stable\", \"experimental\", \"deprecated\""),
        "{shown}"
    );
    let mended = BROKEN.replace("stabel", "stable");
    let (code, shown) = check("contracts: [ ./c ]\n", &[("c/broken.yaml", &mended)]);
    assert_eq!(code, 1);
    for part in [
        "`TODO` is a placeholder",
        "the input is open",
        "add `additionalProperties: false`",
        "no example shows a call that succeeds",
    ] {
        assert!(shown.contains(part), "{part}\n{shown}");
    }
}

#[test]
fn names_that_clash_or_are_reserved_are_refused() {
    let world = World::new(BINARY, "contracts: [ ./contracts ]\n");
    crate::command(&world, "hello", "cat", "");
    crate::command(&world, "execute", "cat", "");
    crate::command(&world, "autosage", "cat", "");
    let (code, _, shown) = world.cli(&["config", "check"]);
    assert_eq!(code, 1);
    assert!(shown.contains("the name `hello` is already taken"), "{shown}");
    assert!(shown.contains("the name `execute` is reserved"), "{shown}");
    assert!(shown.contains("`autosage` is the name of a tool"), "{shown}");
    let (code, stdout, _) = world.cli(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!((code, stdout.as_str()), (2, ""));
}

#[test]
fn the_environment_overrides_the_file() {
    let world = World::new(BINARY, "server: { max_body_bytes: 10 }\n")
        .with_env("TOOLGATE_SERVER__MAX_BODY_BYTES", "20");
    let (code, stdout, _) = world.cli(&["config", "show"]);
    assert_eq!(code, 0);
    assert!(stdout.contains("\"max_body_bytes\": 20"), "{stdout}");
    let world = World::new(BINARY, "").with_env("TOOLGATE_SERVER__MAX_BODY_BITES", "20");
    let (code, _, stderr) = world.cli(&["config", "show"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("TOOLGATE_SERVER__MAX_BODY_BITES"), "{stderr}");
    assert!(stderr.contains("did you mean `max_body_bytes`?"), "{stderr}");
}

#[test]
fn other_machines_are_not_let_in_without_credentials() {
    let world = World::new(BINARY, "");
    let (code, _, stderr) = world.cli(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("set server.tokens"), "{stderr}");
    let world = World::new(BINARY, "server: { tokens: [ { name: ada, token_env: NO_SUCH } ] }\n");
    let (code, _, stderr) = world.cli(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("`NO_SUCH`"), "{stderr}");
}

#[test]
fn toolsets_that_do_not_exist_are_named() {
    let world = World::new(BINARY, "tools: { enable: [ autosag ] }\n");
    let (code, _, stderr) = world.cli(&["tools"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("did you mean `autosage`?"), "{stderr}");
}

#[test]
fn what_is_ours_does_not_lie_where_an_agent_reaches() {
    let file_io = |root: &str| format!("tools: {{ file_io: {{ root: {root} }} }}\n");
    let elsewhere = |rest: &str| format!("data_dir: /tmp/elsewhere\n{rest}");
    for (settings, words) in [
        (file_io("."), "contains the data folder"),
        (file_io("./nope/.."), "contains the data folder"),
        (file_io("./data/work"), "is inside the data folder"),
        (elsewhere(&file_io(".")), "contains the memory folder"),
        (elsewhere(&file_io(".claude/memory/x")), "is inside the memory folder"),
        (
            elsewhere("tools: { memory: { dir: /tmp/m }, file_io: { root: . } }\n"),
            "contains the settings file",
        ),
        (
            elsewhere("journal: { path: ./a/b.log }\ntools: { file_io: { root: ./a } }\n"),
            "contains the journal",
        ),
        (
            elsewhere("contracts: [ ./c/d ]\ntools: { file_io: { root: ./c } }\n"),
            "contains contracts",
        ),
        ("tools: { repo: { allow: [ \"**\" ] } }\n".into(), "let an agent read `data/operator"),
        (file_io("\"~/notes\""), "is not expanded"),
        (file_io("toolgate.yaml"), "is not a folder"),
    ] {
        let (code, shown) = check(&settings, &[("c/d/.keep", "")]);
        assert_eq!(code, 2, "{settings}{shown}");
        assert!(shown.contains(words), "{settings}{words}\n{shown}");
    }
    for settings in [
        file_io("./data/files/notes"),
        file_io("./notes"),
        "tools: { enable: [ autosage ], file_io: { root: . } }\n".into(),
        "tools: { repo: { allow: [ \"**\" ], deny: [ \"data/**\" ] } }\n".into(),
    ] {
        let (code, shown) = check(&settings, &[]);
        assert_eq!(code, 0, "{settings}{shown}");
    }
}
