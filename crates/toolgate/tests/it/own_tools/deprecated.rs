//! Tools that are about to go: what says so, and where.

use serde_json::json;
use testkit::mcp::Modern;

use super::{contract, world};

const OLD: &str = "stability: deprecated\ndeprecated_since: 2023-07-01\nreplaced_by: new\nremoved_after: 2026-12-31\n";

#[tokio::test]
async fn every_description_says_so() {
    let world = world("");
    contract(&world, "old", "tests", OLD);
    contract(&world, "older", "tests", "stability: deprecated\n");
    contract(&world, "new", "tests", "");
    let world = world.started().await;
    let call = world.call("old", &json!({})).await;
    let wrong = world.call("old", &json!({ "x": 1 })).await;
    let execute = world.execute(&json!({ "tool": "old" })).await;
    let shown = world.get("/v1/tools/old").await;
    let job = world.post("/v1/jobs", json!({ "tool": "old" })).await;
    assert_eq!((call.status, wrong.status), (200, 400));
    for answer in [&call, &wrong, &execute, &shown, &job] {
        assert_eq!(answer.header("deprecation"), "@1688169600");
        assert_eq!(answer.header("sunset"), "Thu, 31 Dec 2026 23:59:59 GMT");
        assert_eq!(answer.header("link"), "</v1/tools/new>; rel=\"successor-version\"");
    }
    let older = world.call("older", &json!({})).await;
    assert_eq!(older.header("deprecation"), "@0");
    let new = world.call("new", &json!({})).await;
    for (answer, name) in
        [(&older, "sunset"), (&older, "link"), (&new, "deprecation"), (&new, "sunset")]
    {
        assert!(!answer.headers.contains_key(name), "{name}");
    }

    let listed = shown.json();
    for (key, value) in [
        ("stability", "deprecated"),
        ("deprecated_since", "2023-07-01"),
        ("replaced_by", "new"),
        ("removed_after", "2026-12-31"),
    ] {
        assert_eq!(listed[key], value, "{key}");
    }
    let note = "Deprecated since 2023-07-01: call `new` instead; it may be gone after 2026-12-31";
    let mcp = Modern::new(&world).ask("tools/list", json!({})).await;
    let tools = mcp["result"]["tools"].as_array().unwrap();
    let old = tools.iter().find(|tool| tool["name"] == "old").unwrap();
    assert_eq!(old["description"], format!("A tool of a test.\n\n{note}."));
    let openapi = world.get("/openapi.json").await.json();
    for (tool, deprecated) in [("old", json!(true)), ("new", json!(null))] {
        for method in ["get", "post"] {
            let operation = &openapi["paths"][format!("/v1/tools/{tool}")][method];
            assert_eq!(operation["deprecated"], deprecated, "{method} {tool}");
            let is_told = operation["responses"]["200"]["headers"]["Sunset"].is_object();
            assert_eq!(is_told, tool == "old", "{method} {tool}");
        }
    }
    world.cli("tools show old").exits(0).stdout_has(format!("- {note}"));
    world.cli("tools").exits(0).stdout_has("deprecated: new");
}

#[test]
fn notes_that_cannot_be_true_are_errors() {
    let world = world("");
    contract(&world, "new", "tests", "");
    let check = |more: &str, message: &str| {
        contract(&world, "old", "tests", more);
        world.cli("config check").exits(1).stderr_has(message);
    };
    check(
        &OLD.replace("deprecated\n", "stable\n"),
        "`removed_after` needs `stability: deprecated`",
    );
    check(&OLD.replace("by: new", "by: old"), "a tool cannot replace itself");
    check(&OLD.replace("by: new", "by: nwe"), "there is no tool `nwe`");
    check(&OLD.replace("2026-12-31", "2026-02-30"), "2026-02-30");
    check(&OLD.replace("2026-12-31", "soon"), "soon");
    check(
        &OLD.replace("2026-12-31", "2022-01-01"),
        "would be gone before it is deprecated on 2023-07-01",
    );
    contract(&world, "old", "tests", &OLD.replace("by: new", "by: hello"));
    world.cli("config check").exits(0);
    // Alone it cannot be known what else there is.
    contract(&world, "old", "tests", OLD);
    world.cli("contracts lint contracts/old.yaml").exits(0).stderr_has("there is no tool `new`");
    world.cli("contracts lint contracts").exits(0).stderr_lacks("there is no tool");
}
