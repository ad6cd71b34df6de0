//! One upstream that cannot be started takes nothing else along, and what was written for nothing is told.

use serde_json::{Value, json};
use testkit::World;

use super::{Stage, one, said, tool};

#[tokio::test]
async fn an_unset_variable_is_the_trouble_of_its_upstream_alone() {
    let more = "  off: { command: x, enabled: false, env: { A: \"${NOT_SET_0}\" } }\n\
                \x20 dead: { command: x, env: { A: \"${NOT_SET_1}\", B: \"${NOT_SET_2}\" } }\n\
                \x20 far: { url: \"http://127.0.0.1:1/\", headers: { Authorization: \"Bearer sk-SECRET${\" } }\n";
    let stage = Stage::new(&[("up", one("act", &said("fine")))], more);
    let (code, stdout, stderr) = stage.world.cli(&["tools"]);
    assert_eq!((code, stdout.contains("up__act")), (0, true), "{stdout}{stderr}");
    for (arguments, expected) in
        [(&["upstream", "list"][..], 1), (&["doctor"][..], 1), (&["config", "check"][..], 0)]
    {
        let (code, stdout, stderr) = stage.world.cli(arguments);
        let all = stdout + &stderr;
        assert_eq!(code, expected, "{all}");
        for words in ["`NOT_SET_1` is not set", "`NOT_SET_2` is not set", "`${` is not closed"] {
            assert!(all.contains(words), "{arguments:?}: {words}: {all}");
        }
        assert!(!all.contains("NOT_SET_0") && !all.contains("SECRET"), "{arguments:?}: {all}");
    }
    let (code, _, stderr) = stage.world.cli(&["call", "dead__x"]);
    assert_eq!(code, 2);
    assert!(
        stderr.contains("the upstream `dead` cannot be reached: ") && stderr.contains("NOT_SET_1"),
        "{stderr}"
    );
    let stage = stage.run().await;
    assert_eq!(stage.call("up__act", &json!({ "text": "a" })).await.0, 200);
    assert!(!stage.world.stderr().contains("SECRET"));
}

#[test]
fn what_is_written_for_no_tool_is_told() {
    let stage = Stage::with(
        &[(
            "up",
            json!({ "tools": [tool("search"), tool("read")] }),
            "tools: { serach: { approval: required } }",
        )],
        "allowlist: { up: [search, raed] }\n",
    );
    stage.world.write("overlays/up/reed.yaml", "approval: required\n");
    stage.world.write("overlays/upp/read.yaml", "approval: required\n");
    for arguments in
        [&["upstream", "list"][..], &["doctor"][..], &["upstream", "list", "--json"][..]]
    {
        let (_, stdout, _) = stage.world.cli(arguments);
        for (name, near) in [("serach", "search"), ("raed", "read"), ("reed", "read")] {
            assert!(
                stdout.contains(name) && stdout.contains(&format!("did you mean `{near}`?")),
                "{name}: {stdout}"
            );
        }
    }
    let (code, _, stderr) = stage.world.cli(&["config", "check"]);
    assert_eq!(code, 0, "{stderr}");
    for words in ["named `upp`", "did you mean `up`?", "overlays/upp"] {
        assert!(stderr.contains(words), "{words}: {stderr}");
    }
    assert!(stage.world.cli(&["doctor"]).1.contains("named `upp`"));
}

#[test]
fn an_overlay_from_files_does_not_claim_that_there_is_such_a_tool() {
    let stage = Stage::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    stage.world.write("r.json", r#"{"n":1}"#);
    let infer = |name: &str| {
        let (code, _, stderr) =
            stage.world.cli(&["contracts", "infer", name, "--results", "r.json", "--save"]);
        assert_eq!(code, 0, "{stderr}");
        stderr
    };
    let said = infer("up.nosuch");
    assert!(
        !said.contains("a running server reloads it") && said.contains("if `up` lists a tool"),
        "{said}"
    );
    assert_eq!(stage.world.cli(&["lock"]).0, 0);
    assert!(infer("up.serach").contains("did you mean `search`?"));
    assert!(infer("up.search").contains("a running server reloads it"));
}

#[test]
fn what_a_server_would_refuse_is_told_by_the_check() {
    let bad = "output_schema: { type: object, properties: { a: { type: nonsense } } }\n";
    let stage = Stage::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    stage.world.write("overlays/up/search.yaml", bad);
    let (code, _, stderr) = stage.world.cli(&["config", "check"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(
        stderr.contains("overlays/up/search.yaml:1") && stderr.contains("the schema"),
        "{stderr}"
    );
    assert_eq!(stage.world.cli(&["serve"]).0, 2);
    let settings = "upstreams: { up: { command: x, tools: { t: { input_schema: { type: 5 } } } } }\nserver: { lisen: x }\n";
    let world = World::new(crate::BINARY, settings);
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert_eq!(code, 1);
    // Of both kinds in one run.
    assert!(
        stderr.contains("the schema") && stderr.contains("`lisen`") && stderr.contains("2 errors"),
        "{stderr}"
    );
    let world =
        World::new(crate::BINARY, "upstreams: { up: { command: x } }\nallowlist: ./gone.yaml\n");
    let (code, stdout, stderr) = world.cli(&["config", "check", "--json"]);
    assert_eq!(code, 1, "{stderr}");
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(told["diagnostics"][0]["line"], 2, "{told}");
    assert!(told["diagnostics"][0]["message"].as_str().unwrap().contains("gone.yaml"), "{told}");
}

#[test]
fn a_key_without_a_value_opens_nothing() {
    for (settings, words) in [
        (
            "upstreams: { up: { command: x } }\nallowlist:\n#  up: [t]\n",
            "`allowlist: {}` allows no tools",
        ),
        ("tools:\n  enable:\n#  - hello\n", "`enable` has no value"),
        ("upstreams: { up: { command: x, sandbox: } }\n", "`sandbox` has no value"),
        (
            "upstreams: { up: { command: x, tools: { t: { approval: } } } }\n",
            "`approval` has no value",
        ),
        ("policy: { approval: [ { tool: , require: never } ] }\n", "`tool` has no value"),
    ] {
        let world = World::new(crate::BINARY, settings);
        let (code, _, stderr) = world.cli(&["config", "check"]);
        assert_eq!(code, 1, "{settings}: {stderr}");
        assert!(stderr.contains(words), "{settings}: {stderr}");
        assert_eq!(world.cli(&["serve"]).0, 2);
    }
    let stage = Stage::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    stage.world.write("overlays/up/search.yaml", "approval:\n");
    let (code, _, stderr) = stage.world.cli(&["config", "check"]);
    assert_eq!(code, 1, "{stderr}");
    assert!(stderr.contains("`approval` has no value"), "{stderr}");
    // What is shown can be written into a file.
    let (_, shown, _) = World::new(crate::BINARY, "").cli(&["config", "show"]);
    let world = World::new(crate::BINARY, &shown);
    let (code, _, stderr) = world.cli(&["config", "check"]);
    assert_eq!(code, 0, "{stderr}");
}
