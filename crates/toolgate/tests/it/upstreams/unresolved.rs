//! One upstream that cannot be started takes nothing else along, and what was written for nothing is told.

use serde_json::json;
use testkit::World;

use super::{Upstreams, one, said, tool};

#[tokio::test]
async fn an_unset_variable_is_the_trouble_of_its_upstream_alone() {
    let more = "  off: { command: x, enabled: false, env: { A: \"${NOT_SET_0}\" } }\n\
                \x20 dead: { command: x, env: { A: \"${NOT_SET_1}\", B: \"${NOT_SET_2}\" } }\n\
                \x20 far: { url: \"http://127.0.0.1:1/\", headers: { Authorization: \"Bearer sk-SECRET${\" } }\n";
    let world = Upstreams::new(&[("up", one("act", &said("fine")))], more);
    world.cli("tools").exits(0).stdout_has("up__act");
    for (arguments, expected) in [("upstream list", 1), ("doctor", 1), ("config check", 0)] {
        let all = world.cli(arguments).exits(expected).all();
        for words in ["`NOT_SET_1` is not set", "`NOT_SET_2` is not set", "`${` is not closed"] {
            assert!(all.contains(words), "{arguments:?}: {words}: {all}");
        }
        assert!(!all.contains("NOT_SET_0") && !all.contains("SECRET"), "{arguments:?}: {all}");
    }
    let output = world.cli("call dead__x").exits(2);
    output.stderr_has("the upstream `dead` cannot be reached: ").stderr_has("NOT_SET_1");
    let world = world.started().await;
    assert_eq!(world.call("up__act", &json!({ "text": "a" })).await.status, 200);
    assert!(!world.stderr().contains("SECRET"));
}

#[test]
fn what_is_written_for_no_tool_is_told() {
    let world = Upstreams::with(
        &[(
            "up",
            json!({ "tools": [tool("search"), tool("read")] }),
            "tools: { serach: { approval: required } }",
        )],
        "allowlist: { up: [search, raed] }\n",
    );
    world.write("overlays/up/reed.yaml", "approval: required\n");
    world.write("overlays/upp/read.yaml", "approval: required\n");
    for arguments in
        [&["upstream", "list"][..], &["doctor"][..], &["upstream", "list", "--json"][..]]
    {
        let stdout = world.cli(arguments).stdout;
        for (name, near) in [("serach", "search"), ("raed", "read"), ("reed", "read")] {
            assert!(
                stdout.contains(name) && stdout.contains(&format!("did you mean `{near}`?")),
                "{name}: {stdout}"
            );
        }
    }
    world.cli("config check").exits(0).stderr_has_all([
        "named `upp`",
        "did you mean `up`?",
        "overlays/upp",
    ]);
    assert!(world.cli("doctor").stdout.contains("named `upp`"));
}

#[test]
fn an_overlay_from_files_does_not_claim_that_there_is_such_a_tool() {
    let world = Upstreams::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    world.write("r.json", r#"{"n":1}"#);
    let infer = |name: &str| {
        let infer = ["contracts", "infer", name, "--results", "r.json", "--save"];
        world.cli(&infer).exits(0).stderr
    };
    let said = infer("up.nosuch");
    assert!(
        !said.contains("a running server reloads it") && said.contains("if `up` lists a tool"),
        "{said}"
    );
    world.cli("lock").exits(0);
    assert!(infer("up.serach").contains("did you mean `search`?"));
    assert!(infer("up.search").contains("a running server reloads it"));
}

#[test]
fn what_a_server_would_refuse_is_told_by_the_check() {
    let bad = "output_schema: { type: object, properties: { a: { type: nonsense } } }\n";
    let world = Upstreams::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    world.write("overlays/up/search.yaml", bad);
    let output = world.cli("config check").exits(1);
    output.stderr_has("overlays/up/search.yaml:1").stderr_has("the schema");
    world.cli("serve").exits(2);
    let settings = "upstreams: { up: { command: x, tools: { t: { input_schema: { type: 5 } } } } }\nserver: { lisen: x }\n";
    let world = World::new(crate::BINARY, settings);
    let stderr = world.cli("config check").exits(1).stderr;
    // Of both kinds in one run.
    assert!(
        stderr.contains("the schema") && stderr.contains("`lisen`") && stderr.contains("2 errors"),
        "{stderr}"
    );
    let world =
        World::new(crate::BINARY, "upstreams: { up: { command: x } }\nallowlist: ./gone.yaml\n");
    let told = world.cli("config check --json").exits(1).json();
    assert_eq!(told["diagnostics"][0]["line"], 2, "{told}");
    assert!(told["diagnostics"][0]["message"].as_str().unwrap().contains("gone.yaml"), "{told}");
}

#[test]
fn an_overlay_without_a_value_opens_nothing_and_what_is_shown_can_be_read() {
    let world = Upstreams::new(&[("up", json!({ "tools": [tool("search")] }))], "");
    world.write("overlays/up/search.yaml", "approval:\n");
    world.cli("config check").exits(1).stderr_has("`approval` has no value");
    let shown = World::new(crate::BINARY, "").cli("config show").stdout;
    World::new(crate::BINARY, &shown).cli("config check").exits(0);
}
