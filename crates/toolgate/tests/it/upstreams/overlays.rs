//! What the operator adds to tools: output schemas, effects, modes; and what may be called at all.

use serde_json::{Value, json};

use super::{Upstreams, one, said, tool};

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
    let world = Upstreams::new(&[("up", text_only())], "").started().await;
    let answer = world.call("up__act", &say("a")).await.fails(403, "not_allowed");
    assert_eq!(answer["details"]["reason"], "uncontracted", "{answer}");
    assert!(world.listed().await.is_empty());

    let world = Upstreams::with(&[("up", text_only(), "output: text")], "").started().await;
    let answer = world.call("up__act", &say("a")).await.json();
    assert_eq!(answer["result"], json!({ "text": "one\ntwo" }), "{answer}");
    let answer = world.call("up__act", &say("image")).await.json();
    assert_eq!(answer["code"], "invalid_output", "an image is no text: {answer}");

    let world = Upstreams::with(&[("up", text_only(), "output: content")], "").started().await;
    let answer = world.call("up__act", &say("image")).await.json();
    assert_eq!(answer["result"]["content"][0]["mimeType"], "image/png", "{answer}");
}

#[tokio::test]
async fn an_overlay_may_be_a_file() {
    let world = Upstreams::new(&[("up", text_only())], "");
    world.write(
        "overlays/up/act.yaml",
        "effects: read\noutput: json\noutput_schema:\n  type: object\n  properties: { n: { type: integer } }\n  \
         required: [n]\n  additionalProperties: false\n",
    );
    let world = world.started().await;
    let answer = world.call("up__act", &say("json")).await.json();
    assert_eq!(answer["result"], json!({ "n": 7 }), "{answer}");
    let answer = world.call("up__act", &say("other")).await.json();
    assert_eq!(answer["code"], "invalid_output", "{answer}");
    let shown = world.get("/v1/tools/up__act").await.json();
    assert_eq!(shown["effects"], "read");
    world.write("overlays/up/act.yaml", "effekts: read\n");
    world.cli("tools").exits(2).stderr_has("act.yaml").stderr_has("effekts");
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
        let world = Upstreams::with(&[("up", script.clone(), own)], "").started().await;
        let shown = world.get("/v1/tools/up__act").await.json();
        assert_eq!(shown["effects"], effects, "{own}");
    }
    // And policy goes by effects.
    let policy = "policy: { approval: [{ effects: control, require: always }] }\n";
    let world = Upstreams::new(&[("up", script)], policy).started().await;
    assert_eq!(world.call("up__act", &say("a")).await.json()["code"], "approval_required");
}

#[tokio::test]
async fn modes_are_per_tool_and_in_the_journal() {
    let bad = json!({ "result": { "isError": false, "structuredContent": { "text": 7 } } });
    for (mode, code) in [("enforce", "invalid_output"), ("warn", "ok"), ("off", "ok")] {
        let own = format!("tools: {{ act: {{ mode: {mode} }} }}");
        let world = Upstreams::with(&[("up", one("act", &bad), &*own)], "").started().await;
        let answer = world.call("up__act", &say("a")).await.json();
        assert_eq!(answer["code"].as_str().unwrap_or("ok"), code, "{mode}: {answer}");
        let journal = world.read("data/journal.jsonl");
        assert_eq!(journal.contains("mode_changed"), mode != "enforce", "{mode}: {journal}");
    }
}

#[tokio::test]
async fn nothing_goes_around_the_allowlist() {
    let script = json!({ "tools": [tool("read"), tool("delete")],
        "answers": { "read": { "*": said("fine") }, "delete": { "*": said("gone") } } });
    let world =
        Upstreams::new(&[("up", script.clone()), ("other", script)], "allowlist: { up: [read] }\n")
            .started()
            .await;
    assert_eq!(world.listed().await, ["up__read"]);
    for name in ["up__delete", "other__read", "other__delete"] {
        assert_eq!(world.call(name, &say("a")).await.json()["code"], "not_allowed", "{name}");
        world.cli(&["call", name, "text=a"]).exits(1).stderr_has("not_allowed");
        let call = json!({ "tool": name, "input": say("a") });
        for path in ["/v1/tools/execute", "/v1/jobs"] {
            assert_eq!(world.post(path, &call).await.status, 403, "{path} {name}");
        }
        let (toolset, command) = name.split_once("__").unwrap();
        for command in [command, name] {
            let alias = json!({ "command": command, "text": "a" });
            assert_ne!(world.call(toolset, &alias).await.status, 200, "{name}");
        }
    }
}

#[tokio::test]
async fn an_allowlist_that_cannot_be_read_is_an_error_and_not_everything() {
    let world = Upstreams::new(&[("up", one("act", &said("fine")))], "allowlist: ./allow.yaml\n");
    for (text, words) in [
        (None, "cannot be read"),
        (Some(""), "empty"),
        (Some("up: all"), "up"),
        (Some("upp: [act]"), "there is no upstream `upp`"),
    ] {
        if let Some(text) = text {
            world.write("allow.yaml", text);
        }
        for command in
            [&["tools"][..], &["serve", "--listen", "127.0.0.1:0"], &["call", "up__act", "text=a"]]
        {
            world.cli(command).exits(2).stderr_has("allow.yaml").stderr_has(words);
        }
    }
    world.write("allow.yaml", "up: \"*\"\n");
    world.cli("call up__act text=a").exits(0);
}

/// A running server follows its overlays, also in what is no part of a contract; and holds on to them when
/// they are all gone at once.
#[tokio::test]
async fn overlays_are_followed_and_do_not_vanish() {
    let schema =
        "output_schema: { type: object, properties: { n: { type: integer } }, required: [n] }\n";
    let world = Upstreams::new(&[("up", text_only())], "");
    world.write("overlays/up/act.yaml", schema);
    let world = world.started().await;
    let answer = world.call("up__act", &say("json")).await.json();
    assert_eq!(answer["code"], "invalid_output", "there is no structured content: {answer}");
    world.write("overlays/up/act.yaml", &format!("output: json\n{schema}"));
    testkit::eventually("it is followed", async || {
        let answer = world.call("up__act", &say("json")).await.json();
        answer["result"] == json!({ "n": 7 })
    })
    .await;
    let folder = world.folder();
    std::fs::rename(folder.join("overlays"), folder.join("elsewhere")).unwrap();
    testkit::eventually("the missing folder is noticed", async || {
        world.stderr().contains("the last overlays stay in force")
    })
    .await;
    let answer = world.call("up__act", &say("json")).await.json();
    assert_eq!(answer["result"], json!({ "n": 7 }), "{answer}");
}

/// A pattern with a back-reference may take any time to match. A server does not decide that it is worth it.
#[tokio::test]
async fn a_back_reference_in_a_pattern_is_the_operators_decision() {
    let mut hostile = tool("act");
    hostile["inputSchema"]["properties"]["text"]["pattern"] = json!("^(a*)*\\1$");
    let mut mail = tool("mail");
    mail["inputSchema"]["properties"]["text"]["pattern"] = json!("^(?!\\.)[a-z.]*@[a-z]+$");
    let answers = json!({ "act": { "*": said("fine") }, "mail": { "*": said("fine") } });
    let script = json!({ "tools": [hostile.clone(), mail], "answers": answers });
    let world = Upstreams::new(&[("up", script)], "").started().await;
    assert_eq!(world.listed().await, ["up__mail"]);
    world.call("up__mail", &say("a@b")).await.ok();
    world.call("up__mail", &say(".a@b")).await.fails(400, "invalid_input");
    let seen = world.cli("upstream --json list up").json();
    let rejected = seen["upstreams"][0]["rejected"][0].to_string();
    assert!(rejected.contains("/properties/text/pattern"), "{rejected}");
    assert!(rejected.contains("is only taken from an overlay"), "{rejected}");

    world.write(
        "overlays/up/act.yaml",
        &json!({ "input_schema": hostile["inputSchema"] }).to_string(),
    );
    testkit::eventually("the overlay lifts it", async || world.listed().await.len() == 2).await;
    world.call("up__act", &say("aa")).await.ok();
}
