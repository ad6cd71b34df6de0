//! Plans with something wrong in them, by the thousand.

use ask::AskRequest;
use proptest::{
    prelude::*,
    sample::{Index, select},
    strategy::ValueTree,
    test_runner::TestRunner,
};
use serde_json::{Value, json};

use crate::fixture::{Fixture, QUESTION, request};

const SERVERS: &[&str] = &[
    "mcp-policy-kb",
    "mcp-sharepoint",
    "mcp-payroll",
    "mcp-unknown",
    "",
    "MCP-POLICY-KB",
    "mcp-policy-kb ",
    "../x",
];
const TOOLS: &[&str] = &[
    "fetch_policy_entry",
    "search_policy_kb",
    "delete_policy_entry",
    "fetch_sharepoint_doc",
    "delete_sharepoint_doc",
    "append_note",
    "get_salary",
    "execute",
    "",
    "fetch_policy_entry\0",
    "Fetch_Policy_Entry",
    "mcp-sharepoint__append_note",
    "mcp-policy-kb__fetch_policy_entry",
    "delete_sharepoint_d\u{43e}c",
];
const TYPES: &[&str] = &["call_tool", "final_answer", "call_tools", "CALL_TOOL", ""];
const ARGS: &[&str] = &["policy_id", "doc_id", "query", "top_k", "__proto__", "", "server"];
const TEXTS: &[&str] = &[
    "policy-002",
    "policy-001",
    "'; DROP TABLE policies; --",
    "http://169.254.169.254/latest",
    "log retention",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        5 => select(TEXTS).prop_map(Value::from),
        1 => (0..1_000).prop_map(Value::from),
        1 => select(vec![json!(null), json!(true), json!(-1.5e300)]),
    ];
    leaf.prop_recursive(3, 8, 2, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 2).prop_map(Value::from),
            inner.prop_map(|value| json!({ "policy_id": value })),
        ]
    })
}

/// Mostly this, or one of these.
fn mostly(usual: &'static str, all: &'static [&'static str]) -> impl Strategy<Value = Value> {
    prop_oneof![3 => Just(usual), 1 => select(all)].prop_map(Value::from)
}

/// A call or a question back, with something about it changed.
fn plans() -> impl Strategy<Value = Value> {
    let usual = json!({ "policy_id": "policy-002" });
    let args = prop_oneof![
        3 => Just(usual.clone()),
        1 => value(),
        1 => (select(ARGS), value()).prop_map(move |(name, value)| {
            let mut args = usual.clone();
            args[name] = value;
            args
        }),
        1 => (select(ARGS), value()).prop_map(|(name, value)| json!({ name: value })),
    ];
    let names = (mostly("mcp-policy-kb", SERVERS), mostly("fetch_policy_entry", TOOLS));
    let call = (mostly("call_tool", TYPES), names, args).prop_map(
        |(kind, (server, tool), args)| json!({ "type": kind, "server": server, "tool": tool, "args": args }),
    );
    let answer = prop_oneof![Just(json!("Which policy do you mean?")), value()];
    let back = (answer, any::<bool>(), prop::option::of(select(TOOLS))).prop_map(
        |(answer, more, tool)| json!({ "type": "final_answer", "answer": answer, "needs_more_info": more, "tool": tool }),
    );
    let extra = select(&["answer", "needs_more_info", "approval_id", "tools", "x"][..]);
    let removed = prop::option::weighted(0.2, select(&["type", "server", "tool", "args"][..]));
    let added = prop::option::weighted(0.2, (extra, value()));
    (prop_oneof![4 => call, 1 => back], removed, added).prop_map(|(mut plan, removed, added)| {
        if let Some(key) = removed {
            plan.as_object_mut().unwrap().remove(key);
        }
        if let Some((key, value)) = added {
            plan[key] = value;
        }
        plan
    })
}

/// A plan as a model writes it: mostly nothing else, or with something around it or changed in it.
fn replies() -> impl Strategy<Value = String> {
    (plans(), 0..8, any::<Index>(), 0..128_u8).prop_map(|(plan, change, at, byte)| {
        let text = plan.to_string();
        let at = text.floor_char_boundary(at.index(text.len()));
        match change {
            0 => format!("{text}{text}"),
            1 => format!("Sure:\n{text}"),
            2 => format!("```json\n{text}\n```"),
            3 => text[..at].to_owned(),
            4 => text.replacen('{', "{\"tool\":\"delete_sharepoint_doc\",", 1),
            5 => {
                let mut bytes = text.into_bytes();
                bytes[at] = byte;
                String::from_utf8_lossy(&bytes).into_owned()
            }
            _ => text,
        }
    })
}

/// Replies that are the same every time.
fn generated(count: usize) -> Vec<String> {
    let (mut runner, replies) = (TestRunner::deterministic(), replies());
    (0..count).map(|_| replies.new_tree(&mut runner).unwrap().current()).collect()
}

/// A call that passed is one that could have been asked for.
fn is_fair(tool: &str, args: &Value) -> bool {
    let tools = [
        "mcp-policy-kb__fetch_policy_entry",
        "mcp-policy-kb__search_policy_kb",
        "mcp-sharepoint__fetch_sharepoint_doc",
    ];
    let mut texts = args.as_object().unwrap().iter().filter(|(name, _)| *name != "top_k");
    let fair = |(_, value): (&String, &Value)| {
        value.as_str().is_some_and(|text| QUESTION.contains(text) || text.is_empty())
    };
    tools.contains(&tool) && texts.all(fair)
}

#[tokio::test]
async fn whole_runs_of_mutated_plans_make_one_call_at_most() {
    // A run asks at most four times: a plan and a summary, each with one repair.
    let texts = generated(6_000);
    let fixture = Fixture::replying(&texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let (mut called, mut blocked, mut asked_back) = (0, 0, 0);
    for number in 0..1_500 {
        let before = fixture.call_count();
        let asked = AskRequest { summarize: Some(number % 2 == 0), ..request(QUESTION) };
        let (response, _) = fixture.run(asked).await;
        let made = fixture.call_count() - before;
        assert!(made <= 1, "{response}");
        match response["type"].as_str().unwrap() {
            "tool_result" => called += 1,
            kind @ ("blocked" | "final_answer") => {
                assert_eq!(made, 0, "{response}");
                // Of what the model made up nothing is asked back.
                let text = response["answer"].as_str().unwrap_or_default();
                assert!(!text.contains("DROP") && !text.contains("169.254"), "{text}");
                asked_back += usize::from(kind == "final_answer");
                blocked += 1;
            }
            other => panic!("{other}"),
        }
    }
    for (tool, args) in fixture.calls.lock().unwrap().iter() {
        assert!(is_fair(tool, args), "{tool} {args}");
    }
    // The test is about something: many pass, and most do not.
    assert!(called > 20 && blocked > 300 && asked_back > 10, "{called} {blocked} {asked_back}");
}
