//! Answers that broke a server's own contract make that contract wider.

use serde_json::{Value, json};

use super::{Stage, one, said, tool};

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
fn stopped(stage: &Stage, served: &str) -> String {
    let (code, _, stderr) = stage.world.cli(&["call", served, "text=odd"]);
    assert_eq!(code, 1, "{stderr}");
    let id = stderr.split("toolgate quarantine show ").nth(1).unwrap_or_else(|| panic!("{stderr}"));
    id.split('`').next().unwrap().to_owned()
}

#[tokio::test]
async fn an_adopted_answer_passes_from_then_on() {
    let own = "tools: { act: { effects: read } }";
    let stage = Stage::with(&[("up", script("act"), own), ("other", script("act"), "")], "");
    let id = stopped(&stage, "up__act");
    let (code, stdout, stderr) = stage.world.cli(&["quarantine", "adopt", &id]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.trim_end().ends_with("overlays/up/act.yaml"), "{stdout}");
    for expected in ["`/text`: may also be null", "may have `more`", "a running server reloads it"]
    {
        assert!(stderr.contains(expected), "{stderr}");
    }
    let (code, _, stderr) = stage.world.cli(&["quarantine", "adopt", &id]);
    assert_eq!((code, stderr), (1, format!("the contract of `up__act` already accepts {id}\n")));
    let stage = stage.run().await;
    for (word, expected) in
        [("odd", json!({ "text": null, "more": 1 })), ("x", json!({ "text": "fine" }))]
    {
        let (_, answer) = stage.call("up__act", &json!({ "text": word })).await;
        assert_eq!(answer["result"], expected, "{answer}");
    }
    let (_, answer) = stage.call("other__act", &json!({ "text": "odd" })).await;
    assert_eq!(answer["code"], "invalid_output", "another server keeps its word: {answer}");
    // What the settings say of the tool still holds.
    let shown = stage.world.send("GET", "/v1/tools/up__act", &[], None).await.json();
    assert_eq!(shown["effects"], "read");
    let held = stage.world.cli(&["quarantine", "--json"]).1;
    assert!(held.contains("adopted"), "{held}");
}

#[tokio::test]
async fn a_running_server_follows_overlays() {
    let stage = Stage::new(&[("up", script("act"))], "").run().await;
    let until = async |word: &str, code: &str| {
        testkit::eventually(code, async || {
            let (_, answer) = stage.call("up__act", &json!({ "text": word })).await;
            (answer["code"].as_str().unwrap_or("ok") == code).then_some(())
        })
        .await;
    };
    until("odd", "invalid_output").await;
    let id = stopped(&stage, "up__act");
    assert_eq!(stage.world.cli(&["quarantine", "adopt", &id]).0, 0);
    until("odd", "ok").await;
    // A file with a mistake changes nothing; one that is gone does.
    let file = stage.world.folder().join("overlays/up/act.yaml");
    stage.world.write("overlays/up/act.yaml", "effekts: read\n");
    testkit::eventually("the mistake is told", async || {
        stage.world.stderr().contains("the last overlays stay in force").then_some(())
    })
    .await;
    until("odd", "ok").await;
    std::fs::remove_file(file).unwrap();
    until("odd", "invalid_output").await;
    until("x", "ok").await;
}

#[test]
fn an_overlay_that_is_there_keeps_what_else_it_says() {
    let stage = Stage::with(&[("up", script("act"), "")], "overlays: ./mine\n");
    stage.world.write("mine/up/whatever.yml", "tool: act\ndescription: Acts, says the operator.\n");
    let id = stopped(&stage, "up__act");
    assert_eq!(stage.world.cli(&["quarantine", "adopt", &id]).0, 0);
    let text = std::fs::read_to_string(stage.world.folder().join("mine/up/whatever.yml")).unwrap();
    for line in ["tool: act", "description: Acts, says the operator.", "output_schema:"] {
        assert!(text.contains(line), "{text}");
    }
    assert_eq!(stage.world.cli(&["call", "up__act", "text=odd"]).0, 0);
    stage.world.write("mine/up/act.yaml", "effects: read\n");
    let (code, _, stderr) = stage.world.cli(&["tools"]);
    assert_eq!(code, 2, "two overlays for one tool");
    assert!(stderr.contains("`act` has more than one overlay"), "{stderr}");
}

#[test]
fn a_name_that_is_no_name_of_a_file_gets_one() {
    let stage = Stage::new(&[("up", script("../a b"))], "");
    let served = stage.world.cli(&["tools"]).1;
    let served =
        served.split_whitespace().find(|word| word.starts_with("up__")).unwrap().to_owned();
    let id = stopped(&stage, &served);
    let (code, stdout, stderr) = stage.world.cli(&["quarantine", "adopt", &id]);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.trim_end().ends_with(&format!("overlays/up/{served}.yaml")), "{stdout}");
    assert_eq!(stage.world.cli(&["call", &served, "text=odd"]).0, 0);
}

#[test]
fn what_is_not_served_any_more_is_not_adopted() {
    let stage = Stage::new(&[("up", script("act"))], "");
    let id = stopped(&stage, "up__act");
    let mut silent = script("act");
    silent["tools"][0].as_object_mut().unwrap().remove("outputSchema");
    for (script, expected) in [
        (silent, "is not served: it has no output schema"),
        (json!({ "tools": [tool("else")] }), "there is no longer a tool `up__act`"),
        (json!({ "tools": [], "at_start": "die" }), "cannot be reached"),
    ] {
        stage.script("up", &script);
        let (code, _, stderr) = stage.world.cli(&["quarantine", "adopt", &id]);
        assert_eq!(code, 2);
        assert!(stderr.contains(expected), "{stderr}");
    }
}
