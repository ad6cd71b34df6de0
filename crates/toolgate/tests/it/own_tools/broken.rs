//! Contracts with errors are left out, and nothing else takes their place.

use serde_json::json;
use testkit::{World, mcp::Modern, texts};

use super::{contract, text, world};
use crate::upstreams::{Upstreams, one, said};

/// Broken contracts of every kind: the file, its contents, and what is said of it.
fn broken() -> Vec<(&'static str, String, &'static str)> {
    let good = |name: &str| text(name, "tests", "");
    let with = |name: &str, more: &str| text(name, "tests", more);
    vec![
        ("bad.yaml", "name: bad\n  - [".to_owned(), "is left out"),
        ("bad.yaml", String::new(), "the document is empty"),
        ("bad.yaml", "- a\n".to_owned(), "is left out"),
        ("bad.yaml", format!("{}name: bad\n", good("bad")), "the key `name` appears twice"),
        ("bad.yaml", good("bad").replace("version", "verison"), "`version` is missing"),
        (
            "bad.yaml",
            good("bad").replace("run: [\"true\"]\n", "").replace("output: text\n", ""),
            "is left out",
        ),
        ("bad.yaml", with("bad", "output_schema: { type: nonsense }\n"), "line "),
        ("bad.yaml", with("bad", "output_schema: { type: array }\n"), "`output: text` needs"),
        ("bad.yaml", with("bad", "run: [t, \"{x}\"]\n"), "the input has no property `x`"),
        ("bad.yaml", with("bad", "examples: []\n"), "no example shows"),
        ("bad.yaml", "x".repeat(1_100_000), "larger than 1048576 bytes"),
        ("bad.json", "{\"name\": \"bad\",".to_owned(), "is left out"),
    ]
}

#[test]
fn a_broken_contract_stops_nothing_else() {
    for (file, contents, message) in broken() {
        let world = world("tools: { enable: [ autosage ] }\n");
        contract(&world, "fine", "tests", "");
        world.write(&format!("contracts/{file}"), &contents);
        let left_out = format!("contracts/{file}` is left out, so the tool `bad` is not served: ");
        world.cli("call fine").exits(0).stderr_has_all([&*left_out, message]);
        let listed = world.cli("tools --json").exits(0).json();
        let expected = ["echo_json", "fine", "write_text_artifact"];
        assert_eq!(texts(&listed["tools"], "name"), expected, "{contents:.80}");
        let call = world.cli("call bad").exits(1);
        call.stderr_has_all([
            "unavailable: the contract of `bad` has errors",
            "hint: correct its contract",
        ]);
        world.cli("tools show bad").exits(1).stderr_has("hint: correct its contract");
        world.cli("contracts test bad").exits(2).stderr_has("error: ");
        world.cli("config check").exits(1);
        world.cli("serve --strict --listen 127.0.0.1:0").exits(2);
        world.cli("doctor --listen 127.0.0.1:0").exits(1).stdout_has("is left out: ");
        world.cli("contracts lint self").exits(1);
        world.cli("contracts test").exits(1).stderr_has("1 contract left out");
        world.cli("contracts test fine").exits(0);
    }
}

#[test]
fn files_that_cannot_be_read_are_left_out() {
    let world = world("tools: { enable: [] }\n");
    contract(&world, "fine", "tests", "");
    let at = |path: &str| world.folder().join(path);
    std::fs::create_dir(at("contracts/folder.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", at("contracts/link.yaml")).unwrap();
    std::fs::write(at("contracts/latin.yaml"), b"name: latin\xe9\n").unwrap();
    // Reading it would wait for a writer for ever.
    #[allow(clippy::disallowed_types)] // A program of the system.
    let made = std::process::Command::new("mkfifo").arg(at("contracts/pipe.yaml")).status();
    assert!(made.unwrap().success());
    let call = world.cli("call fine").exits(0);
    for file in ["folder", "link", "latin", "pipe"] {
        assert!(
            call.stderr.contains(&format!("contracts/{file}.yaml` is left out")),
            "{}",
            call.stderr
        );
    }
}

#[tokio::test]
async fn callers_are_told_and_learn_nothing_of_the_file() {
    let world = world("");
    world.write("contracts/bad.yaml", "name: bad\ntoolset: tests\nsecret: [");
    let world = world.started().await;
    let refused = world.call("bad", &json!({})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (503, &json!("unavailable")));
    assert!(!refused.text().contains("bad.yaml"), "{}", refused.text());
    assert_eq!(refused.json()["details"]["reason"], "broken_contract");
    let mcp = Modern::new(&world).call("bad", &json!({})).await;
    assert!(mcp.to_string().contains("has errors"), "{mcp}");
    assert_eq!(world.call("hello", &json!({ "name": "Ada" })).await.status, 200);
}

/// Calls a tool of this name by every door, and expects that none of them reaches anything.
async fn reaches_nothing(world: &World, name: &str) {
    for answer in [
        world.call(name, &json!({})).await,
        world.call(name, &json!({ "command": "hello" })).await,
        world.execute(&json!({ "tool": name, "input": {} })).await,
    ] {
        assert_eq!(answer.status, 503, "{}", answer.text());
    }
    let mcp = Modern::new(world).call(name, &json!({})).await;
    assert!(mcp.to_string().contains("has errors"), "{mcp}");
    world.cli(&["call", name]).exits(1);
}

#[tokio::test]
async fn the_name_of_a_broken_contract_leads_nowhere_else() {
    // Its neighbours have its name in another spelling, as a toolset, as a built-in tool.
    let world = world("");
    for (file, name) in
        [("one", "a_b"), ("two", "c.d"), ("three", "learning-os"), ("four", "hello")]
    {
        world.write(&format!("contracts/{file}.yaml"), &format!("name: {name}\nbroken: ["));
    }
    contract(&world, "a.b", "tests", "");
    contract(&world, "c_d", "tests", "");
    let world = world.started().await;
    for name in ["a_b", "c.d", "learning-os", "hello"] {
        reaches_nothing(&world, name).await;
    }
    for name in ["a.b", "c_d"] {
        assert_eq!(world.call(name, &json!({})).await.status, 200);
    }
}

#[tokio::test]
async fn two_of_one_name_are_both_left_out() {
    let world = world("policy: { approval: [ { tool: twice, require: always } ] }\n");
    world.write("contracts/one.yaml", &text("twice", "tests", ""));
    world.write("contracts/two.yaml", &text("twice", "tests", ""));
    world.write("contracts/hello.yaml", &text("hello", "tests", ""));
    world.write("contracts/half.yaml", "name: whole\n[");
    world.write("contracts/whole.yaml", &text("whole", "tests", ""));
    world.write("contracts/toolset.yaml", &text("tests2", "fine", ""));
    world.write("contracts/of.yaml", &text("of", "tests2", ""));
    let check = world.cli("config check").exits(1);
    for file in ["one", "two", "hello", "half", "whole", "toolset", "of"] {
        assert!(check.stderr.contains(&format!("contracts/{file}.yaml")), "{}", check.stderr);
    }
    let world = world.started().await;
    for name in ["twice", "hello", "whole", "tests2", "of"] {
        reaches_nothing(&world, name).await;
    }
}

#[tokio::test]
async fn a_tool_of_an_upstream_does_not_take_the_name() {
    let world =
        Upstreams::new(&[("docs", one("search", &said("x")))], "contracts: [ ./contracts ]\n");
    let settings = world.read("toolgate.yaml");
    world.write(
        "toolgate.yaml",
        &settings.replacen("  docs:\n", "  docs:\n    tools: { search: { serve_as: find } }\n", 1),
    );
    world.write("contracts/find.yaml", "name: find\napproval: required\n[");
    let world = world.started().await;
    reaches_nothing(&world, "find").await;
}

#[test]
fn rules_stay_in_force() {
    let rules = |rules: &str| world(&format!("policy: {{ approval: [ {rules} ] }}\n"));
    // About the tool that is left out: no mistake. About nothing at all: one, as before.
    for (rule, code) in [
        ("{ tool: bad, require: always }", 0),
        ("{ toolset: tests, require: always }", 0),
        ("{ tool: baad, require: always }", 2),
        ("{ tool: bad, require: always }, { toolset: nobody, require: always }", 2),
    ] {
        let world = rules(rule);
        world.write("contracts/bad.yaml", "name: bad\ntoolset: tests\n[");
        world.cli("call hello name=Ada").exits(code);
    }
    let world = rules("{ tool: bad, require: never }, { tool: hello, require: always }");
    world.write("contracts/bad.yaml", "name: bad\n[");
    world.cli("call hello name=Ada").exits(1).stderr_has("approval_required");
    let allowed = super::world("ask: { allow: [ bad ] }\ncontracts_enable: [ tests ]\n");
    allowed.write("contracts/bad.yaml", "name: bad\n[");
    allowed.cli("call hello name=Ada").exits(0);
}
