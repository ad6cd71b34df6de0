//! A contract is made wide enough for an answer.

use gate::{Store, Timestamp};
use serde_json::json;

use super::{closed, json_of, runs};

/// The entry that a call leaves.
fn stopped(world: &testkit::World, tool: &str) -> String {
    let (code, _, stderr) = world.cli(&["call", tool]);
    assert_eq!(code, 1, "{stderr}");
    let id = stderr.split("toolgate quarantine show ").nth(1).unwrap();
    id.split('`').next().unwrap().to_owned()
}

#[test]
fn an_overlay_takes_the_answer_and_what_was_taken_before() {
    let world = closed("");
    let id = stopped(&world, "wrong");
    let (code, stdout, stderr) = world.cli(&["quarantine", "adopt", &id, "--reason", "new form"]);
    assert_eq!(code, 0, "{stderr}");
    let file = "overlays/commands/wrong.yaml";
    assert!(stdout.trim_end().ends_with(file), "{stdout}");
    assert!(stderr.contains("restart the server to use it"), "{stderr}");
    let text = std::fs::read_to_string(world.folder().join(file)).unwrap();
    assert!(text.starts_with(&format!("# Accepts {id}")) && text.contains("\ntool: wrong\n"));
    let (code, stdout, stderr) = world.cli(&["call", "wrong"]);
    assert_eq!((code, json_of(&stdout)), (0, json!({ "answers": [1, null] })), "{stderr}");
    let shown = json_of(&world.cli(&["quarantine", "show", &id, "--json"]).1);
    assert_eq!(
        (&shown["status"], &shown["decision_reason"]),
        (&json!("adopted"), &json!("new form"))
    );
    // What is taken already need not be adopted.
    let (code, _, stderr) = world.cli(&["quarantine", "adopt", &id]);
    assert_eq!((code, stderr), (1, format!("the contract of `wrong` already accepts {id}\n")));
    // Every other answer is judged as before, and another form can be added.
    world.write_program("contracts/wrong.sh", "#!/bin/sh\necho '{\"other\":true}'\n");
    let second = stopped(&world, "wrong");
    let printed = json_of(&world.cli(&["quarantine", "adopt", &second, "--json"]).1);
    assert_eq!(printed["id"], json!(second));
    for (answer, code) in [
        ("{\"other\":false}", 0),
        ("{\"answers\":[2]}", 0),
        ("{\"answer\":1}", 0),
        ("{\"n\":1}", 1),
    ] {
        world.write_program("contracts/wrong.sh", &format!("#!/bin/sh\necho '{answer}'\n"));
        assert_eq!(world.cli(&["call", "wrong"]).0, code, "{answer}");
    }
    assert_eq!(runs(&world), 2);
}

#[test]
fn what_no_schema_would_let_pass_is_not_adopted() {
    let world = closed("");
    crate::command(&world, "garbage", "echo no JSON", "");
    let id = stopped(&world, "garbage");
    let (code, _, stderr) = world.cli(&["quarantine", "adopt", &id]);
    assert_eq!(code, 2);
    assert!(stderr.contains("no schema can accept"), "{stderr}");
    assert!(!world.folder().join("overlays").exists());
}

#[tokio::test]
async fn a_built_in_tool_keeps_its_contract() {
    let world = closed("");
    let id = stopped(&world, "wrong");
    let database = world.folder().join("data/toolgate.db");
    let store = store::Sqlite::open(&database, store::Durability::Process).unwrap();
    let mut entry = store.quarantined(&id, Timestamp(0)).await.unwrap().unwrap();
    for (number, tool, expected) in [
        (1, "hello", "`hello` is built in and its contract cannot be changed"),
        (2, "../../hello", "there is no longer a tool `../../hello`"),
    ] {
        // An answer that none of ours gives.
        let id = format!("q_{number:026}");
        (entry.summary.id, entry.summary.tool) = (id.clone(), tool.into());
        store.quarantine(entry.clone()).await.unwrap();
        let (code, _, stderr) = world.cli(&["quarantine", "adopt", &id]);
        assert_eq!(code, 2);
        assert!(stderr.contains(expected), "{stderr}");
    }
    assert!(!world.folder().join("overlays").exists());
}

#[test]
fn a_mistake_in_an_overlay_is_shown_in_its_place() {
    let world = closed("");
    for (text, expected) in [
        ("tool: other\noutput_schema: {}\n", "the overlay of `wrong`"),
        ("tool: wrong\noutput_schema: { type: nonsense }\n", "the schema"),
        ("tool: wrong\noutput_shema: {}\n", "did you mean `output_schema`?"),
        ("", "the document is empty"),
        ("tool: wrong\neffects: read\n", "`effects` is only for tools of upstreams"),
    ] {
        world.write("overlays/commands/wrong.yaml", text);
        let (code, _, stderr) = world.cli(&["call", "wrong"]);
        assert_eq!(code, 2, "{text}");
        assert!(stderr.contains(expected) && stderr.contains("wrong.yaml"), "{stderr}");
    }
}
