//! `toolgate approvals` and `toolgate call --approval`.

use serde_json::{Value, json};

use super::{ask, closed, events, open, runs, status};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_call_of_the_command_line_says_what_to_do_next() {
    let world = closed("");
    let stderr = world.cli("call marks value=x").exits(1).stdout_is("").stderr;
    let listed = world.cli("approvals --json").stdout;
    let id = json_of(&listed)["approvals"][0]["id"].as_str().unwrap().to_owned();
    assert!(stderr.contains(&format!("repeat the call with --approval {id}")), "{stderr}");
    let output = world.cli(&["approvals", "approve", &id, "--reason", "fine"]).exits(0);
    output.stdout_is(format!("approved: {id}, marks for cli\n"));
    let named = ["call", "marks", "value=x", "--approval", &id];
    world.cli(&named).exits(0).stdout_has("\"answer\": 1");
    world.cli(&named).exits(1).stderr_has("was used already");
    assert_eq!(runs(&world), 1);
    world.cli("call marks --approval apr_x").exits(2);
    assert_eq!(events(&world), ["requested", "approved", "used", "requested"]);
    let by = world.journal().into_iter().find(|line| line["event"] == "approval_approved").unwrap();
    assert_eq!((&by["by"], &by["reason"]), (&json!("operator (terminal)"), &json!("fine")));
}

#[tokio::test]
async fn lists_shows_and_decides() {
    let world = open("").await;
    world.cli("approvals").exits(0).stdout_is("").stderr_is("no call is waiting for approval\n");
    let none = json!({ "approvals": [], "next_cursor": null });
    assert_eq!(world.cli("approvals --json").json(), none);
    let id = ask(&world, json!("é".repeat(100))).await;
    let stdout = world.cli("approvals").exits(0).stdout;
    let lines: Vec<_> = stdout.lines().collect();
    assert!(lines[0].starts_with("APPROVAL") && lines[1].starts_with(&id), "{stdout}");
    assert!(lines[1].contains("waiting") && lines[1].ends_with("…(+62)"), "{stdout}");
    world.cli(&["approvals", "show", &id]).exits(0).stdout_has_all([
        &id,
        "marks",
        "local (rest)",
        &"é".repeat(100),
        "waiting",
    ]);
    let shown = world.cli(&["approvals", "show", &id, "--json"]).json();
    assert_eq!((&shown["id"], &shown["status"]), (&json!(id), &json!("waiting")));
    let refuse =
        ["approvals", "refuse", &id, "--reason", "no\u{1b}[2J\nstatus     approved", "--json"];
    assert_eq!(world.cli(&refuse).exits(0).json()["status"], "refused");
    assert_eq!(status(&world, &id).await, "refused");
    // What somebody wrote is shown in its one line.
    let shown = world.cli(&["approvals", "show", &id]);
    shown.stdout_lacks("\u{1b}").stdout_lacks("\nstatus     approved");
    world.cli("approvals").stdout_is("");
    world.cli("approvals --all").stdout_has(&id);
    for decision in ["approve", "refuse"] {
        let stderr = world.cli(&["approvals", decision, &id]).exits(1).stderr;
        assert_eq!(stderr, format!("{id} is already refused\n"));
    }
    let unknown = "apr_00000000000000000000000000";
    for verb in ["show", "approve", "refuse"] {
        let output = world.cli(&["approvals", verb, unknown]).exits(1);
        output.stderr_is(format!("there is no approval {unknown}\n"));
        world.cli(&["approvals", verb, "x; DROP TABLE approvals"]).exits(2);
    }
}

#[tokio::test]
async fn a_database_that_another_process_holds_is_told() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let mut holder = crate::lock_database(&world, 600);
    let decided = world.cli(&["approvals", "approve", &id]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    decided.exits(2).stderr_lacks("panicked");
    assert_eq!(status(&world, &id).await, "waiting");
    super::approve(&world, &id);
}

#[tokio::test]
async fn a_contract_with_a_mistake_keeps_nobody_from_deciding() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    world.write("contracts/broken.yaml", "toolgate: [");
    world.cli("tools").exits(0).stderr_has("is left out");
    let long = "é".repeat(501);
    let output = world.cli(&["approvals", "refuse", &id, "--reason", &long]).exits(2);
    output.stderr_has("longer than 500 characters");
    world.cli(&["approvals", "refuse", &id, "--reason", &long[2..]]).exits(0);
    assert_eq!(status(&world, &id).await, "refused");
}
