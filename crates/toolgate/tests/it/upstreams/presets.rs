//! What holds where no rule of the policy matches.

use serde_json::json;

use super::{Upstreams, said, tool};

/// A tool that nobody vouches for, one that the operator knows, and one without an output schema.
fn upstreams(preset: &str) -> Upstreams {
    let mut bare = tool("bare");
    bare.as_object_mut().unwrap().remove("outputSchema");
    let silent = json!({ "result": { "content": [], "structuredContent": { "text": "a" } } });
    let script = json!({ "tools": [tool("act"), tool("look"), tool("silent"), bare],
        "answers": { "act": { "*": said("done") }, "look": { "*": said("seen") }, "silent": { "*": silent },
            "bare": { "*": said("plain") } } });
    let own = "output: content, tools: { look: { effects: read }, silent: { effects: read } }";
    Upstreams::with(&[("up", script, own)], &format!("policy: {{ preset: {preset} }}\n"))
}

#[tokio::test]
async fn strict_asks_about_everything_that_is_not_known_to_change_nothing() {
    let world = upstreams("strict").started().await;
    let arguments = json!({ "text": "a" });
    let answer = world.call("up__act", &arguments).await.json();
    assert_eq!(answer["code"], "approval_required", "{answer}");
    assert_eq!(world.call("up__look", &arguments).await.json()["result"]["text"], "seen");
    let answer = world.call("up__silent", &arguments).await.json();
    assert_eq!(answer["code"], "invalid_output", "it does not say `isError`: {answer}");
    let answer = world.call("up__bare", &arguments).await.json();
    assert_eq!(answer["details"]["reason"], "output_schema_required", "{answer}");
    world.cli("upstream list").exits(0).stdout_has_all([
        "up.bare: output_schema_required: it has no output schema, which `policy.preset: strict` requires",
        "fix: infer a schema with `toolgate contracts infer up.bare`",
    ]);
    assert!(!world.stderr().contains("without approval"), "{}", world.stderr());
}

#[tokio::test]
async fn standard_says_how_many_tools_run_unasked_and_open_asks_nobody() {
    let world = upstreams("standard").started().await;
    assert_eq!(
        world.call("up__act", &json!({ "text": "a" })).await.json()["result"]["text"],
        "done"
    );
    assert_eq!(
        world.call("up__silent", &json!({ "text": "a" })).await.json()["result"]["text"],
        "a"
    );
    let said = "2 tools with effects, or unknown ones, may be called without approval";
    assert!(world.stderr().contains(said), "{}", world.stderr());
    let world = upstreams("open").started().await;
    assert_eq!(
        world.call("up__act", &json!({ "text": "a" })).await.json()["result"]["text"],
        "done"
    );
    assert!(world.stderr().contains("`open`: no call needs approval"), "{}", world.stderr());
}

#[tokio::test]
async fn a_rule_has_precedence_over_the_preset() {
    let rule = "policy: { preset: strict, approval: [{ tool: up__act, require: never }] }\n";
    let script = json!({ "tools": [tool("act")], "answers": { "act": { "*": said("done") } } });
    let world = Upstreams::new(&[("up", script.clone())], rule).started().await;
    assert_eq!(world.call("up__act", &json!({ "text": "a" })).await.status, 200);
    let rule = "policy: { preset: open, approval: [{ toolset: up, require: always }] }\n";
    let world = Upstreams::new(&[("up", script)], rule).started().await;
    assert_eq!(
        world.call("up__act", &json!({ "text": "a" })).await.json()["code"],
        "approval_required"
    );
}

#[tokio::test]
async fn effects_that_nobody_vouches_for_are_shown_as_unknown() {
    let world = upstreams("standard").started().await;
    let page = world.get("/docs").await.text();
    assert!(page.contains("effects: unknown (counts as changing)"), "{page}");
    assert!(page.contains("effects: read"), "{page}");
    // Programs get what holds.
    let tool = world.get("/v1/tools/up__act").await.json();
    assert_eq!(tool["effects"], "control", "{tool}");
}
