//! What the operator adds to tools: output schemas, effects, modes; and what may be called at all.

use serde_json::{Value, json};

use super::{Stage, one, said, tool};

fn silent_tool(name: &str) -> Value {
    let mut tool = tool(name);
    tool.as_object_mut().unwrap().remove("outputSchema");
    tool
}

fn text_only() -> Value {
    json!({ "tools": [silent_tool("act")], "answers": { "act": {
        "*": { "result": { "content": [{ "type": "text", "text": "one" }, { "type": "text", "text": "two" }] } },
        "image": { "result": { "content": [{ "type": "image", "data": "AAAA", "mimeType": "image/png" }] } },
        "json": { "result": { "content": [{ "type": "text", "text": "{\"n\": 7}" }] } },
    } } })
}

fn say(text: &str) -> Value {
    json!({ "text": text })
}

#[tokio::test]
async fn without_an_output_schema_a_tool_is_off_until_there_is_one() {
    let stage = Stage::new(&[("up", text_only())], "").run().await;
    let (status, answer) = stage.call("up__act", &say("a")).await;
    assert_eq!((status, &answer["code"]), (403, &json!("not_allowed")));
    assert_eq!(answer["details"]["reason"], "uncontracted", "{answer}");
    assert!(stage.listed().await.is_empty());

    let stage = Stage::with(&[("up", text_only(), "output: text")], "").run().await;
    let (_, answer) = stage.call("up__act", &say("a")).await;
    assert_eq!(answer["result"], json!({ "text": "one\ntwo" }), "{answer}");
    let (_, answer) = stage.call("up__act", &say("image")).await;
    assert_eq!(answer["code"], "invalid_output", "an image is no text: {answer}");

    let stage = Stage::with(&[("up", text_only(), "output: content")], "").run().await;
    let (_, answer) = stage.call("up__act", &say("image")).await;
    assert_eq!(answer["result"]["content"][0]["mimeType"], "image/png", "{answer}");
}

#[tokio::test]
async fn an_overlay_may_be_a_file() {
    let stage = Stage::new(&[("up", text_only())], "");
    stage.world.write(
        "overlays/up/act.yaml",
        "effects: read\noutput: json\noutput_schema:\n  type: object\n  properties: { n: { type: integer } }\n  \
         required: [n]\n  additionalProperties: false\n",
    );
    let stage = stage.run().await;
    let (_, answer) = stage.call("up__act", &say("json")).await;
    assert_eq!(answer["result"], json!({ "n": 7 }), "{answer}");
    let (_, answer) = stage.call("up__act", &say("other")).await;
    assert_eq!(answer["code"], "invalid_output", "{answer}");
    let shown = stage.world.send("GET", "/v1/tools/up__act", &[], None).await.json();
    assert_eq!(shown["effects"], "read");
    stage.world.write("overlays/up/act.yaml", "effekts: read\n");
    let (code, _, stderr) = stage.world.cli(&["tools"]);
    assert_eq!(code, 2);
    assert!(stderr.contains("act.yaml") && stderr.contains("effekts"), "{stderr}");
}

#[tokio::test]
async fn effects_are_claims_unless_they_are_trusted() {
    let mut script = one("act", &said("fine"));
    script["tools"][0]["annotations"] = json!({ "readOnlyHint": true });
    for (own, effects) in [
        ("", "control"),
        ("annotations: trust", "read"),
        ("tools: { act: { effects: none } }", "none"),
    ] {
        let stage = Stage::with(&[("up", script.clone(), own)], "").run().await;
        let shown = stage.world.send("GET", "/v1/tools/up__act", &[], None).await.json();
        assert_eq!(shown["effects"], effects, "{own}");
    }
    // And policy goes by effects.
    let policy = "policy: { approval: [{ effects: control, require: always }] }\n";
    let stage = Stage::new(&[("up", script)], policy).run().await;
    assert_eq!(stage.call("up__act", &say("a")).await.1["code"], "approval_required");
}

#[tokio::test]
async fn modes_are_per_tool_and_in_the_journal() {
    let bad = json!({ "result": { "isError": false, "structuredContent": { "text": 7 } } });
    for (mode, code) in [("enforce", "invalid_output"), ("warn", "ok"), ("off", "ok")] {
        let own = format!("tools: {{ act: {{ mode: {mode} }} }}");
        let stage = Stage::with(&[("up", one("act", &bad), &*own)], "").run().await;
        let (_, answer) = stage.call("up__act", &say("a")).await;
        assert_eq!(answer["code"].as_str().unwrap_or("ok"), code, "{mode}: {answer}");
        let journal =
            std::fs::read_to_string(stage.world.folder().join("data/journal.jsonl")).unwrap();
        assert_eq!(journal.contains("mode_changed"), mode != "enforce", "{mode}: {journal}");
    }
}

#[tokio::test]
async fn nothing_goes_around_the_allowlist() {
    let script = json!({ "tools": [tool("read"), tool("delete")],
        "answers": { "read": { "*": said("fine") }, "delete": { "*": said("gone") } } });
    let stage =
        Stage::new(&[("up", script.clone()), ("other", script)], "allowlist: { up: [read] }\n")
            .run()
            .await;
    assert_eq!(stage.listed().await, ["up__read"]);
    for name in ["up__delete", "other__read", "other__delete"] {
        assert_eq!(stage.call(name, &say("a")).await.1["code"], "not_allowed", "{name}");
        let (code, _, stderr) = stage.world.cli(&["call", name, "text=a"]);
        assert_eq!(code, 1);
        assert!(stderr.contains("not_allowed"), "{stderr}");
        let execute = json!({ "tool": name, "input": say("a") }).to_string().into_bytes();
        let answer = stage.world.send("POST", "/v1/tools/execute", &[], Some(execute)).await;
        assert_eq!(answer.status, 403);
        let job =
            json!({ "tool": name, "input": say("a"), "mode": "sync" }).to_string().into_bytes();
        assert_eq!(stage.world.send("POST", "/v1/jobs", &[], Some(job)).await.status, 403);
        let (toolset, command) = name.split_once("__").unwrap();
        let alias = json!({ "command": command, "text": "a" });
        assert_ne!(stage.call(toolset, &alias).await.0, 200, "{name}");
        let alias = json!({ "command": name, "text": "a" });
        assert_ne!(stage.call(toolset, &alias).await.0, 200, "{name}");
    }
}

#[tokio::test]
async fn an_allowlist_that_cannot_be_read_is_an_error_and_not_everything() {
    let stage = Stage::new(&[("up", one("act", &said("fine")))], "allowlist: ./allow.yaml\n");
    for (text, words) in [
        (None, "cannot be read"),
        (Some(""), "empty"),
        (Some("up: all"), "up"),
        (Some("upp: [act]"), "there is no upstream `upp`"),
    ] {
        if let Some(text) = text {
            stage.world.write("allow.yaml", text);
        }
        for command in
            [&["tools"][..], &["serve", "--listen", "127.0.0.1:0"], &["call", "up__act", "text=a"]]
        {
            let (code, _, stderr) = stage.world.cli(command);
            assert_eq!(code, 2, "{stderr}");
            assert!(stderr.contains("allow.yaml") && stderr.contains(words), "{stderr}");
        }
    }
    stage.world.write("allow.yaml", "up: \"*\"\n");
    assert_eq!(stage.world.cli(&["call", "up__act", "text=a"]).0, 0);
}

/// A running server follows its overlays, also in what is no part of a contract; and holds on to them when
/// they are all gone at once.
#[tokio::test]
async fn overlays_are_followed_and_do_not_vanish() {
    let schema =
        "output_schema: { type: object, properties: { n: { type: integer } }, required: [n] }\n";
    let stage = Stage::new(&[("up", text_only())], "");
    stage.world.write("overlays/up/act.yaml", schema);
    let stage = stage.run().await;
    let (_, answer) = stage.call("up__act", &say("json")).await;
    assert_eq!(answer["code"], "invalid_output", "there is no structured content: {answer}");
    stage.world.write("overlays/up/act.yaml", &format!("output: json\n{schema}"));
    testkit::eventually("it is followed", async || {
        let (_, answer) = stage.call("up__act", &say("json")).await;
        (answer["result"] == json!({ "n": 7 })).then_some(())
    })
    .await;
    let folder = stage.world.folder();
    std::fs::rename(folder.join("overlays"), folder.join("elsewhere")).unwrap();
    testkit::eventually("the missing folder is noticed", async || {
        stage.world.stderr().contains("the last overlays stay in force").then_some(())
    })
    .await;
    let (_, answer) = stage.call("up__act", &say("json")).await;
    assert_eq!(answer["result"], json!({ "n": 7 }), "{answer}");
}
