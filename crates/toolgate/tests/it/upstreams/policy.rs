//! Approval rules about the tools of upstreams.

use serde_json::json;

use super::{Upstreams, one, said};

#[tokio::test]
async fn a_rule_finds_a_tool_by_each_of_its_names() {
    let renamed = "tools: { search: { serve_as: find } }";
    for (more, name, served) in [
        ("", "docs__search", "docs__search"),
        ("", "docs.search", "docs__search"),
        (renamed, "find", "find"),
        (renamed, "docs__search", "find"),
        (renamed, "docs.search", "find"),
    ] {
        let rules = format!("policy: {{ approval: [{{ tool: {name}, require: always }}] }}\n");
        let world = Upstreams::with(&[("docs", one("search", &said("found")), more)], &rules);
        let world = world.started().await;
        let answer = world.call(served, &json!({ "text": "a" })).await;
        answer.fails(403, "approval_required");
        assert!(!world.cli("upstream list").stdout.contains("matches nothing"), "{name}");
    }
}

#[tokio::test]
async fn a_rule_that_matches_nothing_is_told() {
    let rules = "policy: { approval: [{ tool: docs__serch, require: always }] }\n";
    let world = Upstreams::new(&[("docs", one("search", &said("found")))], rules);
    // The server was never seen: nobody can know yet.
    world.cli("config check").exits(0);
    let told = "the rule matches nothing: the upstream `docs` has no tool `docs__serch`; did you mean \
                `docs__search`?";
    let shown = world.cli("upstream list docs").stdout;
    assert!(shown.contains(told), "{shown}");
    let world = world.started().await;
    testkit::eventually("the log says so", async || world.stderr().contains(told).then_some(()))
        .await;
    drop(world);
    let world = Upstreams::new(&[("docs", one("search", &said("found")))], rules).pinned();
    let check = world.cli("config check").exits(1);
    assert!(check.stderr.contains("the rule matches nothing"), "{}", check.stderr);
}

/// Who wants to be asked about `write` wants to be asked about worse, and who does not about `read`, not about less.
#[tokio::test]
async fn effects_are_ranks() {
    for (effects, rule, asked) in [
        ("control", "{ effects: write, require: always }", true),
        ("append", "{ effects: write, require: always }", false),
        ("none", "{ effects: read, require: never }, { effects: none, require: always }", false),
        ("write", "{ effects: read, require: never }, { effects: none, require: always }", true),
    ] {
        let more = format!("tools: {{ search: {{ effects: {effects} }} }}");
        let rules = format!("policy: {{ approval: [{rule}] }}\n");
        let world = Upstreams::with(&[("docs", one("search", &said("found")), &more)], &rules);
        let world = world.started().await;
        let answer = world.call("docs__search", &json!({ "text": "a" })).await;
        assert_eq!(answer.status == 403, asked, "{effects} {rule}: {}", answer.text());
    }
}
