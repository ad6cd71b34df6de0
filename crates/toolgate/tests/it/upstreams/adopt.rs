//! Answers that broke a server's own contract make that contract wider.

use serde_json::{Value, json};

use super::{Upstreams, one, said, tool};

fn odd() -> Value {
    json!({ "result": { "content": [], "structuredContent": { "text": null, "more": 1 }, "isError": false } })
}

fn script(name: &str) -> Value {
    let mut script = one(name, &said("fine"));
    script["answers"][name]["odd"] = odd();
    // In another dialect: an overlay is in ours.
    script["tools"][0]["outputSchema"] = json!({
        "$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "definitions": { "t": { "type": "string" } },
        "properties": { "text": { "$ref": "#/definitions/t" } }, "required": ["text"],
        "additionalProperties": false,
    });
    script
}

/// The entry that a call of the tool leaves.
fn stopped(world: &Upstreams, served: &str) -> String {
    crate::quarantine::stopped_on_cli(world, &format!("call {served} text=odd"))
}

#[tokio::test]
async fn an_adopted_answer_passes_from_then_on() {
    let own = "tools: { act: { effects: read } }";
    let world = Upstreams::with(&[("up", script("act"), own), ("other", script("act"), "")], "");
    let id = stopped(&world, "up__act");
    let adopted = world.cli(&["quarantine", "adopt", &id]).exits(0);
    adopted.stdout_has("overlays/up/act.yaml\n").stderr_has_all([
        "`/text`: also accepts null",
        "accepts `more`",
        "a running server reloads it",
    ]);
    let output = world.cli(&["quarantine", "adopt", &id]).exits(1);
    output.stderr_is(format!("the contract of `up__act` already accepts {id}\n"));
    let world = world.started().await;
    for (word, expected) in
        [("odd", json!({ "text": null, "more": 1 })), ("x", json!({ "text": "fine" }))]
    {
        let answer = world.call("up__act", &json!({ "text": word })).await.json();
        assert_eq!(answer["result"], expected, "{answer}");
    }
    let answer = world.call("other__act", &json!({ "text": "odd" })).await.json();
    assert_eq!(answer["code"], "invalid_output", "another server keeps its word: {answer}");
    // What the settings say of the tool still holds.
    let shown = world.get("/v1/tools/up__act").await.json();
    assert_eq!(shown["effects"], "read");
    let held = world.cli("quarantine --json").stdout;
    assert!(held.contains("adopted"), "{held}");
}

#[tokio::test]
async fn a_running_server_follows_overlays() {
    let world = Upstreams::new(&[("up", script("act"))], "").started().await;
    let until = async |word: &str, code: &str| {
        testkit::eventually(code, async || {
            let answer = world.call("up__act", &json!({ "text": word })).await.json();
            answer["code"].as_str().unwrap_or("ok") == code
        })
        .await;
    };
    until("odd", "invalid_output").await;
    let id = stopped(&world, "up__act");
    world.cli(&["quarantine", "adopt", &id]).exits(0);
    until("odd", "ok").await;
    // A file with a mistake changes nothing; one that is gone does.
    let file = world.folder().join("overlays/up/act.yaml");
    world.write("overlays/up/act.yaml", "effekts: read\n");
    testkit::eventually("the mistake is told", async || {
        world.stderr().contains("those of before stay in force")
    })
    .await;
    until("odd", "ok").await;
    std::fs::remove_file(file).unwrap();
    until("odd", "invalid_output").await;
    until("x", "ok").await;
}

#[test]
fn an_overlay_that_is_there_keeps_what_else_it_says() {
    let world = Upstreams::with(&[("up", script("act"), "")], "overlays: ./mine\n");
    world.write("mine/up/whatever.yml", "tool: act\ndescription: Acts, says the operator.\n");
    let id = stopped(&world, "up__act");
    world.cli(&["quarantine", "adopt", &id]).exits(0);
    let text = world.read("mine/up/whatever.yml");
    for line in ["tool: act", "description: Acts, says the operator.", "output_schema:"] {
        assert!(text.contains(line), "{text}");
    }
    world.cli("call up__act text=odd").exits(0);
    world.write("mine/up/act.yaml", "effects: read\n");
    // Two overlays for one tool.
    world.cli("tools").exits(2).stderr_has("`act` has more than one overlay");
}

#[test]
fn a_name_that_is_no_name_of_a_file_gets_one() {
    let world = Upstreams::new(&[("up", script("../a b"))], "");
    let served = world.cli("tools").stdout;
    let served =
        served.split_whitespace().find(|word| word.starts_with("up__")).unwrap().to_owned();
    let id = stopped(&world, &served);
    let stdout = world.cli(&["quarantine", "adopt", &id]).exits(0).stdout;
    assert!(stdout.trim_end().ends_with(&format!("overlays/up/{served}.yaml")), "{stdout}");
    world.cli(&["call", &served, "text=odd"]).exits(0);
}

#[test]
fn what_is_not_served_any_more_is_not_adopted() {
    let world = Upstreams::new(&[("up", script("act"))], "");
    let id = stopped(&world, "up__act");
    let mut silent = script("act");
    silent["tools"][0].as_object_mut().unwrap().remove("outputSchema");
    for (script, expected) in [
        (silent, "is not served: it has no output schema"),
        (json!({ "tools": [tool("else")] }), "there is no longer a tool `up__act`"),
        (json!({ "tools": [], "at_start": "die" }), "cannot be reached"),
    ] {
        world.script("up", &script);
        world.cli(&["quarantine", "adopt", &id]).exits(2).stderr_has(expected);
    }
}
