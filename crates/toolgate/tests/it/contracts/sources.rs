//! Every kind of source is read, judged, compared and exported.

use serde_json::{Value, json};
use testkit::texts;

use crate::upstreams::{Upstreams, one, said, tool};

fn names(world: &Upstreams, source: &[&str]) -> Vec<String> {
    let arguments = [&["contracts", "export", "--format", "json"], source].concat();
    texts(&world.cli(&arguments).exits(0).json()["contracts"], "name")
}

fn two() -> Value {
    json!({ "tools": [tool("search"), tool("fetch")], "answers": {} })
}

#[tokio::test]
async fn a_source_can_be_anything() {
    let world =
        Upstreams::new(&[("docs", two()), ("more", one("search", &said("x")))], "").pinned();
    let listing = json!({ "tools": [tool("search")] });
    world.write("listing.json", &listing.to_string());
    let message = json!({ "jsonrpc": "2.0", "id": 1, "result": listing });
    world.write("message.json", &message.to_string());
    world.cli("contracts new own_tool --folder own");
    let world = world.started().await;
    let rest = world.get("/v1/tools").await.text();
    world.write("rest.json", &rest);
    let address = world.url("/mcp");
    let all = ["docs__search", "docs__fetch", "more__search"];
    let sorted = ["docs__fetch", "docs__search", "more__search"];
    let cases: [(&[&str], &[&str]); 13] = [
        (&["docs"], &["search", "fetch"]),
        (&["docs#fetch"], &["fetch"]),
        (&["--", "python3", "servers/scripted.py", "servers/docs.json"], &["search", "fetch"]),
        (&[&address], &sorted),
        (&["listing.json"], &["search"]),
        (&["message.json"], &["search"]),
        (&["rest.json"], &sorted),
        (&["toolgate.lock"], &sorted),
        (&["toolgate.lock#docs"], &["fetch", "search"]),
        (&["self"], &all),
        (&["self#more"], &["search"]),
        (&["own"], &["own_tool"]),
        (&["own/own_tool.yaml"], &["own_tool"]),
    ];
    for (source, expected) in cases {
        assert_eq!(names(&world, source), expected, "{source:?}");
    }
    for (old, new) in [
        ("docs", "toolgate.lock#docs"),
        ("toolgate.lock#more", "listing.json"),
        ("self", &*address),
        ("rest.json", "self"),
    ] {
        world.cli(&["contracts", "diff", old, new]).exits(0);
    }
}

#[test]
fn what_changed_is_told_and_counted_by_the_exit_code() {
    let world = Upstreams::new(&[("docs", two())], "");
    let mut other = two();
    other["tools"][0]["inputSchema"]["required"] = json!(["text", "more"]);
    other["tools"][0]["annotations"] = json!({ "title": "A\u{202e}B" });
    other["tools"][1]["name"] = json!("read");
    world.write("other.json", &other.to_string());
    let stdout = world
        .cli("contracts diff docs -- python3 servers/scripted.py other.json")
        .exits(1)
        .stdout_has_all([
            "search\n",
            "breaking  input: \"more\" is required now",
            "wording   annotations",
            "fetch\n  breaking  tool: is not there",
            "read\n  widening  tool: is new",
        ])
        .stdout;
    assert!(!stdout.contains('\u{202e}'), "what deceives a reader is written out: {stdout}");
    let told = world.cli("contracts diff docs docs --json").exits(0).json();
    assert_eq!(told, json!({ "same": true, "tools": {}, "more": 0 }));
    let told = world.cli("contracts diff docs other.json --json --breaking").exits(1).json();
    assert_eq!(told["tools"]["read"], Value::Null);
    assert_eq!(told["tools"]["search"][0]["class"], "breaking");
}

#[test]
fn what_cannot_be_told_is_2() {
    let world = Upstreams::new(&[("docs", two())], "  dead: { command: /does/not/exist }\n");
    world.write("bad.yaml", "name: bad\n");
    world.write("bad.json", "{");
    world.write("other.json", "{\"a\": 1}");
    for (arguments, expected) in [
        (vec!["diff", "docs", "doks"], "did you mean `docs`?"),
        (vec!["diff", "docs"], "name two sources"),
        (vec!["diff", "docs", "dead"], "cannot reach `dead`"),
        (vec!["diff", "docs", "self"], "cannot be reached: dead"),
        (vec!["diff", "docs", "bad.yaml"], "bad.yaml"),
        (vec!["diff", "docs", "bad.json"], "not valid JSON"),
        (vec!["diff", "docs", "other.json"], "is not a `tools/list` response"),
        (vec!["diff", "docs", "gone.md"], "cannot read `gone.md`"),
        (vec!["diff", "docs", "docs#serch"], "did you mean `search`?"),
        (vec!["diff", "docs", "http://127.0.0.1:9/mcp"], "cannot reach"),
        (vec!["export", "--", "/does/not/exist"], "cannot reach"),
        (vec!["lint", "self"], "cannot be reached: dead"),
    ] {
        world.cli(&[vec!["contracts"], arguments.clone()].concat()).exits(2).stderr_has(expected);
    }
}

#[test]
fn tools_of_servers_are_judged_in_their_place() {
    let mut script = two();
    script["tools"][0]["description"] = json!("Searches.\u{202e}\u{1b}[31m");
    script["tools"][1]["outputSchema"] = json!({ "type": "objekt" });
    script["tools"].as_array_mut().unwrap().push(json!({ "name": "act", "description": "Acts.",
        "inputSchema": { "type": "object" } }));
    let world = Upstreams::new(&[("docs", script)], "");
    for source in [
        vec!["docs"],
        vec!["self"],
        vec!["--", "python3", "servers/scripted.py", "servers/docs.json"],
    ] {
        let stderr =
            world.cli(&[vec!["contracts", "lint"], source.clone()].concat()).exits(1).stderr;
        for expected in [".search:", ".fetch:", ".act:", "\"type\": \"objekt\"", "no output schema"]
        {
            let place = expected == "\"type\": \"objekt\"";
            assert!(place || stderr.contains(expected), "{source:?} {expected}: {stderr}");
        }
        assert!(!stderr.contains(['\u{202e}', '\u{1b}']), "{stderr}");
        assert_eq!(stderr.contains("hint:"), source.len() == 1, "{source:?}: {stderr}");
    }
    // What is not allowed is not served, and of no concern.
    world.write("allowed.yaml", "docs: []\n");
    let settings = world.read("toolgate.yaml");
    world.write("toolgate.yaml", &format!("{settings}allowlist: ./allowed.yaml\n"));
    world.cli("contracts lint self").exits(0);
    let told = world.cli("contracts lint docs --json").exits(1).json();
    assert_eq!(told["ok"], false);
    assert_eq!(told["diagnostics"].as_array().unwrap().len(), 3, "{told}");
}

#[test]
fn what_is_exported_can_be_read_again() {
    let world = testkit::World::new(crate::BINARY, "");
    for format in ["yaml", "json", "mcp"] {
        let stdout =
            world.cli(&["contracts", "export", "self", "--format", format]).exits(0).stdout;
        let file = format!("all.{}", if format == "yaml" { "yaml" } else { "json" });
        world.write(&file, &stdout);
        world.cli(&["contracts", "diff", &file, "self"]).exits(0);
        assert_eq!(world.cli(&["contracts", "lint", &file]).code, 0, "{format}");
    }
    // A mistake in the second of two is shown in its line.
    let one = world.cli("contracts export self#hello").stdout;
    world.write("two.yaml", &format!("{one}---\n{}", one.replace("effects: none", "effects: nun")));
    let lines = one.lines().count();
    let told = world.cli("contracts lint two.yaml --json").exits(1).json();
    assert!(told["diagnostics"][0]["line"].as_u64().unwrap() > lines as u64, "{told}");
    world.cli("contracts export self --format openapi").exits(0).stdout_has("/v1/tools/hello");
}

#[test]
fn what_is_pinned_is_compared_as_it_is_served() {
    for (own, fewer) in [("", 1), ("unknown_arguments: allow", 0)] {
        let mut script = two();
        for tool in script["tools"].as_array_mut().unwrap() {
            let input = tool["inputSchema"].as_object_mut().unwrap();
            input.remove("additionalProperties");
            input["properties"]["limit"] = json!({ "type": "integer" });
        }
        let world = Upstreams::with(&[("docs", script.clone(), own)], "").pinned();
        for (old, new) in
            [("toolgate.lock", "self"), ("toolgate.lock#docs", "docs"), ("docs", "self#docs")]
        {
            world.cli(&["contracts", "diff", old, new]).exits(0);
        }
        let mut after = script.clone();
        after["tools"][0]["execution"] = json!({ "taskSupport": "required" });
        after["tools"][1]["inputSchema"]["properties"].as_object_mut().unwrap().remove("limit");
        world.script("docs", &after);
        let told = world.cli("contracts diff toolgate.lock#docs docs --json").exits(1).json();
        assert_eq!(told["tools"]["search"][0]["pointer"], "", "{told}");
        assert!(told["tools"]["search"][0]["text"].as_str().unwrap().contains("execution"));
        world.cli("contracts diff toolgate.lock#docs docs --json --breaking").exits(fewer).json();
    }
}

#[test]
fn programs_are_told_what_was_not_judged() {
    let world = Upstreams::new(&[("docs", two())], "  dead: { command: /does/not/exist }\n");
    let told = world.cli("contracts lint self --json").exits(2).json();
    assert_eq!(told["ok"], false, "{told}");
    assert!(told["unreached"][0].as_str().unwrap().starts_with("dead: "), "{told}");
    world.write("TOOLS.md", "## Tool: a\n### Input Schema\n```json\n{ \"type\": \"object\" }\n");
    let told = world.cli("contracts lint TOOLS.md --json").exits(1).json();
    assert_eq!(told["diagnostics"][1]["line"], 3, "{told}");
}
