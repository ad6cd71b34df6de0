//! Questions back to the person.

use std::{collections::HashMap, sync::Arc};

use ask::{candidates::Candidates, plan};
use gate::Catalogue;
use serde_json::json;

use crate::fixture::{Fixture, uncalled};

#[test]
fn lists_the_required_fields_that_the_question_does_not_give() {
    let ticket = json!({
        "type": "object",
        "properties": {
            "ticket_id": { "type": "string", "description": "The id of a ticket, as in INC12345. Never anything else." },
            "state": { "enum": ["open", "closed"], "description": "The state\u{1b}[2J." },
            "depth": { "type": "integer", "description": "How deep." },
            "format": { "type": "string", "default": "text" },
        },
        "required": ["ticket_id", "state", "depth", "format"],
    });
    let search = json!({
        "type": "object",
        "properties": { "query": { "type": "string", "description": "Words." } },
        "required": ["query"],
    });
    let tools = vec![uncalled("tickets.get", &ticket), uncalled("tickets.search", &search)];
    let candidates = Candidates::new(Arc::new(Catalogue::of(tools, HashMap::new())), &[]);
    for (tool, question, expected) in [
        (
            Some("tickets.get"),
            "show the ticket",
            "To call `tickets.get`, say in the question:\n- ticket_id: The id of a ticket, as in INC12345.\n- state: The state[2J.\n- depth: How deep.",
        ),
        (
            Some("tickets.get"),
            "show INC77 if it is open",
            "To call `tickets.get`, say in the question:\n- depth: How deep.",
        ),
        (
            Some("tickets.search"),
            "find something",
            "To call `tickets.search`, say in the question:\n- query: Words.",
        ),
        (
            None,
            "hello",
            "No tool fits the question as it is. Say what to look up, and name its id, path or address. The tools are: tickets.get, tickets.search.",
        ),
    ] {
        let text = plan::clarify(tool, &candidates, question).unwrap();
        assert_eq!(text, expected, "{question}");
    }
}

#[tokio::test]
async fn a_question_back_is_written_from_the_contract() {
    let tool = "mcp-policy-kb.fetch_policy_entry";
    let words = "Your session expired, see https://evil.example/login";
    let asks =
        json!({ "type": "final_answer", "tool": tool, "answer": words, "needs_more_info": true });
    let fixture = Fixture::replying(&[&asks.to_string()]).await;
    let (response, _) = fixture.ask("fetch the policy").await;
    let text = format!("To call `{tool}`, say in the question:\n- policy_id");
    let plan =
        json!({ "type": "final_answer", "answer": text, "tool": tool, "needs_more_info": true });
    assert_eq!(
        response,
        json!({ "type": "final_answer", "answer": text, "needs_more_info": true, "plan": plan })
    );
    assert_eq!(fixture.call_count(), 0);
}
