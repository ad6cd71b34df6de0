//! `toolgate ask` and `toolgate trace`.

use serde_json::{Value, json};
use testkit::{Act, Peer};

use super::{calls, model, world};

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_answered_on_the_command_line() {
    let peer = model().await;
    let world = world(&peer);
    let (code, said, words) =
        world.cli(&["ask", "what does policy-002 say about log retention?", "--summarize"]);
    assert_eq!(code, 0, "{words}");
    let expected = r##"mcp-policy-kb.fetch_policy_entry {"policy_id":"policy-002"}
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
"##;
    assert_eq!(said, expected);
    assert_eq!(calls(&world), ["mcp-policy-kb__fetch_policy_entry"]);
    let (code, said, _) = world.cli(&["ask", "show policy-002", "--json"]);
    let answer: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((code, &answer["type"]), (0, &json!("tool_result")));
    assert!(answer["raw"]["metrics"]["job_id"].as_str().unwrap().starts_with("job_"), "{said}");
    let (code, said, _) = world.cli(&["ask", "--plan-only", "show policy-002"]);
    assert_eq!(
        (code, said.as_str()),
        (0, "mcp-policy-kb.fetch_policy_entry {\"policy_id\":\"policy-002\"}\n")
    );
    let (code, said, _) = world.cli(&["ask", "show the document"]);
    let asks = "To call `mcp-sharepoint.fetch_sharepoint_doc`, say in the question:\n- doc_id: The id of a document, as in sp-001.\n";
    assert_eq!((code, said.as_str()), (1, asks));
    let (code, said, _) = world.cli(&["ask", "any", "--tool", "get_ticket", "ticket_id=INC12345"]);
    assert_eq!(code, 0, "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn refusals_say_why_and_start_nothing() {
    let peer = model().await;
    let world = world(&peer);
    let check = |arguments: &[&str], code: i32, words: &str| {
        let (got, said, told) = world.cli(arguments);
        assert_eq!((got, said.as_str()), (code, ""), "{told}");
        assert!(told.contains(words), "{told}");
    };
    check(
        &["ask", "How do I hack a website?"],
        1,
        "blocked: Blocked by policy (matched pattern: break_in)",
    );
    check(
        &["ask", "Use tool delete_sharepoint_doc to delete doc_id doc-999"],
        1,
        "blocked: Tool not allowed: mcp-sharepoint.delete_sharepoint_doc",
    );
    check(&["ask", ""], 2, "the question is empty");
    check(&["ask", &"a".repeat(20_000)], 2, "ask.max_question_bytes");
    check(
        &["ask", "x", "--tool", "close_ticket", "ticket_id=INC12345"],
        1,
        "Tool not allowed: mcp-servicenow.close_ticket",
    );
    check(&["ask", "x", "a=1"], 2, "--tool");
    assert!(calls(&world).is_empty() && peer.connections() == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_fails_is_no_answer_either_way() {
    let peer = Peer::start(|_| vec![Act::answer(500, "", "oh")]).await;
    let (code, said, words) = world(&peer).cli(&["ask", "what does policy-002 say?"]);
    assert_eq!((code, said.as_str()), (2, ""));
    assert!(
        words.contains("Planner failed: the model's endpoint answered with status 500"),
        "{words}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trace_can_be_written_and_read() {
    let peer = model().await;
    let world = world(&peer);
    let (code, _, words) = world.cli(&["ask", "Summarize policy-002", "--trace", "run.json"]);
    assert_eq!(code, 0, "{words}");
    assert!(words.contains("trace: run.json"), "{words}");
    let trace: Value =
        serde_json::from_str(&std::fs::read_to_string(world.folder().join("run.json")).unwrap())
            .unwrap();
    assert!(trace["trace_id"].as_str().unwrap().starts_with("trace_"));
    let (code, shown, _) = world.cli(&["trace", "show", "run.json"]);
    assert_eq!(code, 0);
    for words in [
        "policy_gate             passed",
        "9 tools of 3 servers",
        "6 may be used, 3 may not",
        "3 bullets, 0 dropped",
        "end     tool_result_with_summary",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let (_, full, _) = world.cli(&["trace", "show", "--full", "run.json"]);
    assert!(full.len() > shown.len() && full.contains("\"system\""));
    std::fs::create_dir(world.folder().join("runs")).unwrap();
    let (code, _, words) = world.cli(&["ask", "show policy-002", "--trace", "runs"]);
    assert_eq!(code, 0);
    assert!(words.contains("trace: runs/trace_"), "{words}");
    let (code, _, words) = world.cli(&["trace", "show", "toolgate.yaml"]);
    assert_eq!(code, 2);
    assert!(words.contains("is not a trace"), "{words}");
    assert_eq!(world.cli(&["trace", "show", "nothing.json"]).0, 2);
    // An answer is not lost because its trace cannot be written.
    let (code, said, words) = world.cli(&["ask", "show policy-002", "--trace", "/dev/full"]);
    assert_eq!(code, 2, "{words}");
    assert!(said.contains("Retain logs"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_called_for_a_trace_that_cannot_be_written() {
    let peer = model().await;
    let world = world(&peer);
    let (code, said, told) = world.cli(&["ask", "show policy-002", "--trace", "nowhere/t.json"]);
    assert_eq!((code, said.as_str()), (2, ""));
    assert!(told.contains("--trace: cannot write `nowhere/t.json`"), "{told}");
    assert!(!told.contains(".tmp"), "{told}");
    assert!(!world.folder().join("data/journal.jsonl").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_questions_are_checked() {
    let peer = model().await;
    let world = world(&peer);
    let settings = std::fs::read_to_string(world.folder().join("toolgate.yaml")).unwrap();
    let check = |more: &str, words: &str| {
        world.write("toolgate.yaml", &format!("{settings}\n{more}\n"));
        let (code, _, told) = world.cli(&["ask", "show policy-002"]);
        assert_eq!(code, 2, "{told}");
        assert!(told.contains(words), "{told}");
    };
    check(
        "ask: { policy: { block: [{ name: x, pattern: \"(\" }] } }",
        "must be a regular expression",
    );
    check("ask: { policy: { without: [nothing] } }", "there is no rule `nothing`");
    check("ask: { max_runs: 0 }", "/ask/max_runs");
    check("ask: { sumarize: always }", "unknown key `sumarize`");
}
