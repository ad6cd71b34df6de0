//! A contract is made wide enough for an answer.

use gate::{Store, Timestamp};
use serde_json::json;

use super::{closed, runs, stopped_on_cli};

#[test]
fn an_overlay_takes_the_answer_and_what_was_taken_before() {
    let world = closed();
    let id = stopped_on_cli(&world, "call wrong");
    let adopted = world.cli(&["quarantine", "adopt", &id, "--reason", "new form"]).exits(0);
    let file = "overlays/commands/wrong.yaml";
    adopted.stdout_has(format!("{file}\n")).stderr_has("a running server reloads it");
    let text = world.read(file);
    assert!(text.starts_with(&format!("# Accepts {id}")) && text.contains("\ntool: wrong\n"));
    assert_eq!(world.cli("call wrong").exits(0).json(), json!({ "answers": [1, null] }));
    let shown = world.cli(&["quarantine", "show", &id, "--json"]).json();
    assert_eq!(
        (&shown["status"], &shown["decision_reason"]),
        (&json!("adopted"), &json!("new form"))
    );
    // What is taken already need not be adopted.
    let output = world.cli(&["quarantine", "adopt", &id]).exits(1);
    output.stderr_is(format!("the contract of `wrong` already accepts {id}\n"));
    // Every other answer is judged as before, and another form can be added.
    world.write_program("contracts/wrong.sh", "#!/bin/sh\necho '{\"other\":true}'\n");
    let second = stopped_on_cli(&world, "call wrong");
    let printed = world.cli(&["quarantine", "adopt", &second, "--json"]).json();
    assert_eq!(printed["id"], json!(second));
    for (answer, code) in [
        ("{\"other\":false}", 0),
        ("{\"answers\":[2]}", 0),
        ("{\"answer\":1}", 0),
        ("{\"n\":1}", 1),
    ] {
        world.write_program("contracts/wrong.sh", &format!("#!/bin/sh\necho '{answer}'\n"));
        assert_eq!(world.cli("call wrong").code, code, "{answer}");
    }
    assert_eq!(runs(&world), 2);
}

#[test]
fn what_no_schema_would_let_pass_is_not_adopted() {
    let world = closed();
    crate::command(&world, "garbage", "echo no JSON", "");
    let id = stopped_on_cli(&world, "call garbage");
    world.cli(&["quarantine", "adopt", &id]).exits(2).stderr_has("no schema can accept");
    assert!(!world.has("overlays"));
}

#[tokio::test]
async fn a_built_in_tool_keeps_its_contract() {
    let world = closed();
    let id = stopped_on_cli(&world, "call wrong");
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
        world.cli(&["quarantine", "adopt", &id]).exits(2).stderr_has(expected);
    }
    assert!(!world.has("overlays"));
}

#[test]
fn a_mistake_in_an_overlay_is_shown_in_its_place() {
    let world = closed();
    for (text, expected) in [
        ("tool: other\noutput_schema: {}\n", "the overlay of `wrong`"),
        ("tool: wrong\noutput_schema: { type: nonsense }\n", "the schema"),
        ("tool: wrong\noutput_shema: {}\n", "did you mean `output_schema`?"),
        ("", "the document is empty"),
        ("tool: wrong\neffects: read\n", "`effects` is only for tools of upstreams"),
    ] {
        world.write("overlays/commands/wrong.yaml", text);
        world.cli("call wrong").exits(2).stderr_has(expected).stderr_has("wrong.yaml");
    }
}
