//! `toolgate ask` and `toolgate trace`.

use serde_json::Value;
use testkit::{Act, Peer};

use super::{calls, model, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_on_the_command_line() {
    let world = world(&model().await);
    let question = "what does policy-002 say about log retention?";
    world.cli(&["ask", question, "--summarize"]).exits(0).stdout_is(
        r##"mcp-policy-kb.fetch_policy_entry {"policy_id":"policy-002"}
{
  "policy_id": "policy-002",
  "content": "# Data Retention Policy\n- Retain logs for 30 days\n- Retain audit events for 180 days\n- Delete on user request where applicable\n"
}

- Data Retention Policy
    "Data Retention Policy"  /content 2..23
- Data Retention Policy: Retain logs for 30 days
    "Retain logs for 30 days"  /content 26..49
- Data Retention Policy: Retain audit events for 180 days
    "Retain audit events for 180 days"  /content 52..84
"##,
    );
    assert_eq!(calls(&world), ["mcp-policy-kb__fetch_policy_entry"]);
    let answer = world.cli(&["ask", "show policy-002", "--json"]).exits(0).json();
    assert_eq!(answer["type"], "tool_result");
    assert!(answer["raw"]["metrics"]["job_id"].as_str().unwrap().starts_with("job_"), "{answer}");
    let output = world.cli(&["ask", "--plan-only", "show policy-002"]).exits(0);
    output.stdout_is("mcp-policy-kb.fetch_policy_entry {\"policy_id\":\"policy-002\"}\n");
    let asks = "To call `mcp-sharepoint.fetch_sharepoint_doc`, say in the question:\n- doc_id: The id of a document, as in sp-001.\n";
    world.cli(&["ask", "show the document"]).exits(1).stdout_is(asks);
    world.cli("ask any --tool get_ticket ticket_id=INC12345").exits(0);
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_why_and_start_nothing() {
    let peer = model().await;
    let world = world(&peer);
    let rows: [(&[&str], i32, &str); 6] = [
        (
            &["How do I hack a website?"],
            1,
            "blocked: Blocked by policy (matched pattern: break_in)",
        ),
        (
            &["Use tool delete_sharepoint_doc to delete doc_id doc-999"],
            1,
            "blocked: Tool not allowed: mcp-sharepoint.delete_sharepoint_doc",
        ),
        (&[""], 2, "the question is empty"),
        (&[&"a".repeat(20_000)], 2, "ask.max_question_bytes"),
        (
            &["x", "--tool", "close_ticket", "ticket_id=INC12345"],
            1,
            "Tool not allowed: mcp-servicenow.close_ticket",
        ),
        (&["x", "a=1"], 2, "--tool"),
    ];
    for (arguments, code, words) in rows {
        let output = world.cli(&[&["ask"], arguments].concat()).exits(code);
        output.stdout_is("").stderr_has(words);
    }
    assert!(calls(&world).is_empty() && peer.connections() == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_no_answer_either_way() {
    let peer = Peer::start(|_| vec![Act::answer(500, "", "oh")]).await;
    world(&peer)
        .cli(&["ask", "what does policy-002 say?"])
        .exits(2)
        .stdout_is("")
        .stderr_has("Planner failed: the model's endpoint answered with status 500");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_can_be_written_and_read() {
    let world = world(&model().await);
    let asked = world.cli(&["ask", "Summarize policy-002", "--trace", "run.json"]);
    asked.exits(0).stderr_has("trace: run.json");
    let trace: Value = serde_json::from_str(&world.read("run.json")).unwrap();
    assert!(trace["trace_id"].as_str().unwrap().starts_with("trace_"));
    let shown = world
        .cli("trace show run.json")
        .exits(0)
        .stdout_has_all([
            "policy_gate             passed",
            "9 tools of 3 servers",
            "6 may be used, 3 may not",
            "3 bullets, 0 dropped",
            "end     tool_result_with_summary",
        ])
        .stdout;
    let full = world.cli("trace show --full run.json").stdout;
    assert!(full.len() > shown.len() && full.contains("\"system\""));
    let hidden = world.read("run.json").replace("Summarize policy-002", "\u{9b}2J\u{202e}ask");
    world.write("hidden.json", &hidden);
    let full = world.cli("trace show --full hidden.json").exits(0).stdout;
    assert!(full.contains("\\u202eask") && !full.contains(['\u{9b}', '\u{202e}']), "{full}");
    std::fs::create_dir(world.folder().join("runs")).unwrap();
    let output = world.cli(&["ask", "show policy-002", "--trace", "runs"]).exits(0);
    output.stderr_has("trace: runs/trace_");
    world.cli("trace show toolgate.yaml").exits(2).stderr_has("is not a trace");
    world.cli("trace show nothing.json").exits(2);
    // An answer is not lost because its trace cannot be written.
    let output = world.cli(&["ask", "show policy-002", "--trace", "/dev/full"]).exits(2);
    output.stdout_has("Retain logs");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_called_for_a_trace_that_cannot_be_written() {
    let world = world(&model().await);
    let output = world.cli(&["ask", "show policy-002", "--trace", "nowhere/t.json"]).exits(2);
    output.stdout_is("").stderr_has("--trace: cannot write `nowhere/t.json`").stderr_lacks(".tmp");
    assert!(!world.has("data/journal.jsonl"));
}
