//! `toolgate approvals` and `toolgate call --approval`.

use serde_json::{Value, json};

use super::{ask, closed, events, open, runs, status};

fn json_of(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_call_of_the_command_line_says_what_to_do_next() {
    let world = closed("");
    let (code, stdout, stderr) = world.cli(&["call", "marks", "value=x"]);
    assert_eq!((code, stdout.as_str()), (1, ""));
    let (_, listed, _) = world.cli(&["approvals", "--json"]);
    let id = json_of(&listed)["approvals"][0]["id"].as_str().unwrap().to_owned();
    assert!(stderr.contains(&format!("repeat the call with --approval {id}")), "{stderr}");
    let (code, stdout, _) = world.cli(&["approvals", "approve", &id, "--reason", "fine"]);
    assert_eq!((code, stdout), (0, format!("approved: {id}, marks for cli\n")));
    let named = ["call", "marks", "value=x", "--approval", &id];
    let (code, stdout, stderr) = world.cli(&named);
    assert_eq!(code, 0, "{stderr}");
    assert!(stdout.contains("\"answer\": 1"), "{stdout}");
    let (code, _, stderr) = world.cli(&named);
    assert_eq!((code, runs(&world)), (1, 1));
    assert!(stderr.contains("was used already"), "{stderr}");
    assert_eq!(world.cli(&["call", "marks", "--approval", "apr_x"]).0, 2);
    assert_eq!(events(&world), ["requested", "approved", "used", "requested"]);
    let by = world.journal().into_iter().find(|line| line["event"] == "approval_approved").unwrap();
    assert_eq!((&by["by"], &by["reason"]), (&json!("operator (terminal)"), &json!("fine")));
}

#[tokio::test]
async fn lists_shows_and_decides() {
    let world = open("").await;
    let (code, stdout, stderr) = world.cli(&["approvals"]);
    assert_eq!((code, &*stdout, &*stderr), (0, "", "no call is waiting for approval\n"));
    let none = json!({ "approvals": [], "next_cursor": null });
    assert_eq!(json_of(&world.cli(&["approvals", "--json"]).1), none);
    let id = ask(&world, json!("é".repeat(100))).await;
    let (code, stdout, _) = world.cli(&["approvals"]);
    assert_eq!(code, 0);
    let lines: Vec<_> = stdout.lines().collect();
    assert!(lines[0].starts_with("APPROVAL") && lines[1].starts_with(&id), "{stdout}");
    assert!(lines[1].contains("waiting") && lines[1].ends_with('…'), "{stdout}");
    let (code, stdout, _) = world.cli(&["approvals", "show", &id]);
    assert_eq!(code, 0);
    for words in [&id, "marks", "local (rest)", &"é".repeat(100), "waiting"] {
        assert!(stdout.contains(words), "no {words}: {stdout}");
    }
    let shown = json_of(&world.cli(&["approvals", "show", &id, "--json"]).1);
    assert_eq!((&shown["id"], &shown["status"]), (&json!(id), &json!("waiting")));
    let refuse =
        ["approvals", "refuse", &id, "--reason", "no\u{1b}[2J\nstatus     approved", "--json"];
    let (code, stdout, _) = world.cli(&refuse);
    assert_eq!((code, &json_of(&stdout)["status"]), (0, &json!("refused")));
    assert_eq!(status(&world, &id).await, "refused");
    // What somebody wrote is shown in its one line.
    let (_, stdout, _) = world.cli(&["approvals", "show", &id]);
    assert!(!stdout.contains('\u{1b}') && !stdout.contains("\nstatus     approved"), "{stdout}");
    assert_eq!(world.cli(&["approvals"]).1, "");
    assert!(world.cli(&["approvals", "--all"]).1.contains(&id));
    for decision in ["approve", "refuse"] {
        let (code, _, stderr) = world.cli(&["approvals", decision, &id]);
        assert_eq!(code, 1, "{stderr}");
        assert_eq!(stderr, format!("{id} is already refused\n"));
    }
    let unknown = "apr_00000000000000000000000000";
    for verb in ["show", "approve", "refuse"] {
        let (code, _, stderr) = world.cli(&["approvals", verb, unknown]);
        assert_eq!((code, stderr), (1, format!("there is no approval {unknown}\n")));
        let (code, _, stderr) = world.cli(&["approvals", verb, "x; DROP TABLE approvals"]);
        assert_eq!(code, 2, "{stderr}");
    }
}

#[tokio::test]
async fn a_database_that_another_process_holds_is_told() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    let path = world.folder().join("data/toolgate.db");
    let script = "import sqlite3, sys, time; c = sqlite3.connect(sys.argv[1]); \
                  c.execute('BEGIN IMMEDIATE'); print('held', flush=True); time.sleep(600)";
    #[allow(clippy::disallowed_types)] // Somebody else's program.
    let mut holder = std::process::Command::new("python3")
        .args(["-c", script])
        .arg(&path)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let output = holder.stdout.take().unwrap();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
    let (code, _, stderr) = world.cli(&["approvals", "approve", &id]);
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(code, 2, "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert_eq!(status(&world, &id).await, "waiting");
    super::approve(&world, &id);
}

#[tokio::test]
async fn a_contract_with_a_mistake_keeps_nobody_from_deciding() {
    let world = open("").await;
    let id = ask(&world, json!(1)).await;
    world.write("contracts/broken.yaml", "toolgate: [");
    assert_ne!(world.cli(&["tools"]).0, 0);
    let long = "é".repeat(501);
    let (code, _, stderr) = world.cli(&["approvals", "refuse", &id, "--reason", &long]);
    assert!(code == 2 && stderr.contains("longer than 500 characters"), "{code} {stderr}");
    assert_eq!(world.cli(&["approvals", "refuse", &id, "--reason", &long[2..]]).0, 0);
    assert_eq!(status(&world, &id).await, "refused");
}
