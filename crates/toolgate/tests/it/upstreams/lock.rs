//! What is pinned stays as it was, or waits for a person.

use serde_json::{Value, json};

use super::{Stage, one, said, tool};

/// Waits until a call of `docs__search` ends with this code.
async fn until(stage: &Stage, code: &str) -> Value {
    testkit::eventually(code, async || {
        let (_, answer) = stage.call("docs__search", &json!({ "text": "a" })).await;
        let now = answer["code"].as_str().unwrap_or("ok") == code;
        now.then_some(answer)
    })
    .await
}

fn worded(words: &str) -> Value {
    let mut script = one("search", &said("found"));
    script["tools"][0]["description"] = json!(words);
    script
}

#[tokio::test]
async fn a_tool_that_changes_stops_until_a_person_takes_it() {
    let stage =
        Stage::new(&[("docs", worded("Searches.")), ("other", one("echo", &said("x")))], "");
    let (code, _, stderr) = stage.world.cli(&["lock"]);
    assert_eq!(code, 0, "{stderr}");
    assert_eq!(stage.world.cli(&["lock", "diff"]).0, 0);
    let stage = stage.run().await;
    until(&stage, "ok").await;
    stage.script("docs", &worded("Searches everything, also the attic."));
    let answer = until(&stage, "contract_changed").await;
    assert_eq!(answer["details"]["reason"], "changed", "{answer}");
    assert!(!answer.to_string().contains("attic"), "what a model could read is ours: {answer}");
    assert!(!stage.listed().await.contains(&"docs__search".to_owned()));
    assert_eq!(stage.call("other__echo", &json!({ "text": "a" })).await.0, 200);
    let (code, stdout, _) = stage.world.cli(&["lock", "diff"]);
    assert_eq!(code, 1);
    assert!(stdout.contains("docs.search: tool changed (wording: models read it)"), "{stdout}");
    assert_eq!(stage.world.cli(&["lock", "diff", "other"]).0, 0);
    let (code, stdout, _) = stage.world.cli(&["lock", "--json", "diff", "docs.search"]);
    let told: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((code, &told["differences"][0]["class"]), (1, &json!("wording")), "{stdout}");
    assert_eq!(stage.world.cli(&["lock"]).0, 1, "what is pinned is not taken by itself");
    assert_eq!(stage.world.cli(&["lock", "accept", "docs.search"]).0, 0);
    // The running server takes it without a restart.
    until(&stage, "ok").await;
    assert_eq!(stage.world.cli(&["lock", "diff"]).0, 0);
}

#[tokio::test]
async fn a_change_is_judged_by_its_direction() {
    let cases = [
        ("inputSchema", json!({ "type": "object" }), "widening"),
        ("outputSchema", json!({ "type": "object" }), "breaking"),
        ("annotations", json!({ "readOnlyHint": true }), "wording"),
        ("title", json!("Another"), "wording"),
    ];
    let stage = Stage::new(&[("docs", one("search", &said("x")))], "");
    assert_eq!(stage.world.cli(&["lock"]).0, 0);
    for (key, value, class) in cases {
        let mut script = one("search", &said("x"));
        script["tools"][0][key] = value;
        stage.script("docs", &script);
        let (code, stdout, _) = stage.world.cli(&["lock", "diff"]);
        assert_eq!(code, 1);
        assert!(stdout.contains(class), "{key}: {stdout}");
    }
}

#[tokio::test]
async fn policies_decide_what_is_taken_by_itself() {
    let mut wider = one("search", &said("found"));
    wider["tools"][0]["inputSchema"] = json!({ "type": "object" });
    let mut narrower = one("search", &said("found"));
    narrower["tools"][0]["inputSchema"]["required"] = json!(["text", "more"]);
    for (policy, after_wider) in [
        ("review", "contract_changed"),
        ("freeze", "contract_changed"),
        ("accept-compatible", "ok"),
    ] {
        let own = format!("changes: {policy}");
        let stage = Stage::with(&[("docs", one("search", &said("found")), &*own)], "");
        assert_eq!(stage.world.cli(&["lock"]).0, 0);
        let stage = stage.run().await;
        until(&stage, "ok").await;
        stage.script("docs", &wider);
        if after_wider == "ok" {
            // It stays callable, and is served as it is now.
            testkit::eventually("the wider schema is listed", async || {
                let shown =
                    stage.world.send("GET", "/v1/tools/docs__search", &[], None).await.json();
                shown["input_schema"].get("required").is_none().then_some(())
            })
            .await;
        } else {
            until(&stage, after_wider).await;
        }
        stage.script("docs", &narrower);
        until(&stage, "contract_changed").await;
        let accepted = stage.world.cli(&["lock", "accept"]).0;
        assert_eq!(accepted, if policy == "freeze" { 2 } else { 0 }, "{policy}");
    }
}

#[tokio::test]
async fn a_tool_that_was_not_there_waits_and_one_that_comes_back_is_known() {
    let stage = Stage::new(&[("docs", one("search", &said("found")))], "");
    assert_eq!(stage.world.cli(&["lock"]).0, 0);
    let stage = stage.run().await;
    let mut more = one("search", &said("found"));
    more["tools"].as_array_mut().unwrap().push(tool("delete"));
    stage.script("docs", &more);
    testkit::eventually("the new one is known and refused", async || {
        let (_, answer) = stage.call("docs__delete", &json!({ "text": "a" })).await;
        (answer["code"] == "contract_changed" && answer["details"]["reason"] == "not_pinned")
            .then_some(())
    })
    .await;
    assert_eq!(stage.listed().await, ["docs__search"]);
    stage.script("docs", &json!({ "tools": [] }));
    testkit::eventually("it is gone", async || stage.listed().await.is_empty().then_some(())).await;
    stage.script("docs", &one("search", &said("found")));
    until(&stage, "ok").await;
}

#[tokio::test]
async fn a_lock_that_cannot_be_read_is_no_lock_to_ignore() {
    let stage = Stage::new(&[("docs", one("search", &said("x")))], "");
    for text in ["", "{", r#"{"version":9,"upstreams":{}}"#] {
        stage.world.write("toolgate.lock", text);
        let (code, _, stderr) = stage.world.cli(&["tools"]);
        assert_eq!(code, 2, "{stderr}");
        assert!(stderr.contains("is no lock"), "{stderr}");
    }
}
