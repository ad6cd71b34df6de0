//! Does what we serve still honour the documents that people wrote?

use serde_json::Value;
use testkit::World;

use crate::{BINARY, root};

/// Where we break the word of a document, and why. Schemas are compared as a whole: where one thing in
/// one is breaking, everything else that changed in it is told so too.
const DEVIATIONS: &[(&str, &str, &str, &str)] = &[
    // Where the next part of a long page begins. There when a part was asked for, or more than one answer
    // may hold.
    ("web.fetch", "output", "/properties", "`next_start` was added: "),
    // The document's `if` is vacuously true, so that it always demands `raw_html`. It is there exactly
    // when it was asked for.
    ("web.fetch", "output", "", "`allOf` was removed: "),
    // The same values in words that more clients understand.
    ("web.fetch", "output", "/properties/title", "`type` was removed: "),
    ("web.fetch", "output", "/properties/title", "`anyOf` was added: "),
    ("web.fetch", "output", "/properties/byline", "`type` was removed: "),
    ("web.fetch", "output", "/properties/byline", "`anyOf` was added: "),
    ("web.fetch", "output", "/properties/published_at", "`type` was removed: "),
    ("web.fetch", "output", "/properties/published_at", "`anyOf` was added: "),
    ("web.fetch", "output", "/properties/lang", "`type` was removed: "),
    ("web.fetch", "output", "/properties/lang", "`anyOf` was added: "),
];

fn document(name: &str) -> String {
    root().join("crates/workbench/tests/data").join(name).display().to_string()
}

/// Every change that breaks a document's word.
fn broken(compared: &Value) -> Vec<(String, String, String, String)> {
    let mut all = Vec::new();
    for (tool, changes) in compared["tools"].as_object().unwrap() {
        for change in changes.as_array().unwrap() {
            let text = |key: &str| change[key].as_str().unwrap().to_owned();
            all.push((tool.clone(), text("part"), text("pointer"), text("text")));
        }
    }
    all
}

#[test]
fn what_is_served_honours_the_documents_but_for_what_was_decided() {
    let world = World::new(BINARY, "");
    let compared = world
        .cli(&["contracts", "diff", &document("homelab.md"), "self", "--breaking", "--json"])
        .exits(1)
        .json();
    let mut listed: Vec<_> = DEVIATIONS.iter().collect();
    for (tool, part, pointer, text) in broken(&compared) {
        let found = listed.iter().position(|(of, where_in, place, words)| {
            (*of, *where_in, *place) == (&*tool, &*part, &*pointer) && text.starts_with(words)
        });
        let found = found.unwrap_or_else(|| panic!("{tool}: {part}{pointer}: {text}"));
        listed.swap_remove(found);
    }
    assert!(listed.is_empty(), "listed, and not so: {listed:?}");
    let compared = world
        .cli(&["contracts", "diff", &document("learning-os.md"), "self", "--breaking", "--json"])
        .exits(0)
        .json();
    assert_eq!(compared["same"], true, "{compared}");
    // What a document plans and nobody has built yet is no difference.
    let text = std::fs::read_to_string(document("homelab.md")).unwrap();
    world.write("plans.md", &text.replace("## mlx.load", "## mlx.swap"));
    world
        .cli("contracts diff plans.md self")
        .stdout_lacks("mlx.swap")
        .stdout_has("widening  status: changed from planned to active")
        .stderr_has("tools that")
        .stderr_has("does not name");
}

#[test]
fn drift_is_told() {
    let world = World::new(BINARY, "");
    let text = std::fs::read_to_string(document("homelab.md")).unwrap();
    for (before, after, expected) in [
        (
            "\"maximum\": 25",
            "\"maximum\": 50",
            "input /properties/max_results/maximum: changed from 50 to 25",
        ),
        (
            "\"code\": \"invalid_query\", \"http_status\": 400",
            "\"code\": \"invalid_query\", \"http_status\": 418",
            "errors: the status of `invalid_query` changed from 418 to 400",
        ),
        ("## search.web", "## search.everything", "tool: is not there"),
    ] {
        assert!(text.contains(before), "{before}");
        world.write("document.md", &text.replacen(before, after, 1));
        world.cli("contracts diff document.md self --breaking").exits(1).stdout_has(expected);
    }
    world.write("document.md", &text.replacen("\"type\": \"object\"", "\"type\": \"objekt\"", 1));
    // What cannot be read cannot be compared.
    world.cli("contracts diff document.md self").exits(2).stderr_has("document.md:");
    world.cli("contracts lint document.md").exits(1);
    world.write("prose.md", "# Nothing\n\nof that kind.\n");
    let output = world.cli("contracts lint prose.md").exits(1);
    output.stderr_has("this document has no section for a tool");
}
