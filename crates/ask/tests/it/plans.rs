//! Plans with something wrong in them, by the thousand.

use ask::{
    candidates::Candidates,
    plan::{self, CheckedPlan},
};
use serde_json::{Value, json};
use testkit::Peer;

use crate::hall::{FETCH, Hall, Plan, QUESTION, request, saying, told};

/// Numbers that are the same every time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % below.max(1) as u64).unwrap()
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.roll(all.len())]
    }
}

const SERVERS: [&str; 8] = [
    "mcp-policy-kb",
    "mcp-sharepoint",
    "mcp-payroll",
    "mcp-unknown",
    "",
    "MCP-POLICY-KB",
    "mcp-policy-kb ",
    "../x",
];
const TOOLS: [&str; 14] = [
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

fn value(dice: &mut Dice, depth: usize) -> Value {
    match dice.roll(if depth > 3 { 9 } else { 11 }) {
        0 => json!("policy-002"),
        1 => json!("policy-001"),
        2 => json!("'; DROP TABLE policies; --"),
        3 => json!("http://169.254.169.254/latest"),
        4 => json!(dice.roll(1_000)),
        5 => json!(null),
        6 => json!(true),
        7 => json!(-1.5e300),
        8 => json!("log retention"),
        9 => json!([value(dice, depth + 1), value(dice, depth + 1)]),
        _ => json!({ "policy_id": value(dice, depth + 1) }),
    }
}

/// A plan with something about it changed.
fn mutated(dice: &mut Dice) -> String {
    let mut plan: Value = serde_json::from_str(FETCH).unwrap();
    for _ in 0..=dice.roll(3) {
        match dice.roll(9) {
            0 => plan["server"] = json!(*dice.pick(&SERVERS)),
            1 => plan["tool"] = json!(*dice.pick(&TOOLS)),
            2 => plan["args"] = value(dice, 0),
            3 => {
                let name = *dice.pick(&[
                    "policy_id",
                    "doc_id",
                    "query",
                    "top_k",
                    "__proto__",
                    "",
                    "server",
                ]);
                let value = value(dice, 0);
                if let Some(args) = plan["args"].as_object_mut() {
                    args.insert(name.into(), value);
                }
            }
            4 => {
                let key = *dice.pick(&["type", "server", "tool", "args"]);
                plan.as_object_mut().unwrap().remove(key);
            }
            5 => {
                let key = *dice.pick(&["answer", "needs_more_info", "approval_id", "tools", "x"]);
                plan[key] = value(dice, 0);
            }
            6 => {
                plan["type"] = json!(*dice.pick(&[
                    "call_tool",
                    "final_answer",
                    "call_tools",
                    "CALL_TOOL",
                    ""
                ]));
            }
            7 => {
                let answer = match dice.roll(2) {
                    0 => json!("Which policy do you mean?"),
                    _ => value(dice, 0),
                };
                plan = json!({ "type": "final_answer", "answer": answer, "needs_more_info": dice.roll(2) == 0 });
                if dice.roll(2) == 0 {
                    plan["tool"] = json!(*dice.pick(&TOOLS));
                }
            }
            _ => {}
        }
        if !plan.is_object() {
            break;
        }
    }
    let mut text = plan.to_string();
    match dice.roll(8) {
        0 => text = format!("{text}{text}"),
        1 => text = format!("Sure:\n{text}"),
        2 => text = format!("```json\n{text}\n```"),
        3 => {
            let end =
                (0..=dice.roll(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap();
            text.truncate(end);
        }
        4 => text = text.replacen('{', "{\"tool\":\"delete_sharepoint_doc\",", 1),
        5 => {
            let mut bytes = text.into_bytes();
            let place = dice.roll(bytes.len());
            bytes[place] = u8::try_from(dice.roll(128)).unwrap();
            text = String::from_utf8_lossy(&bytes).into_owned();
        }
        _ => {}
    }
    text
}

/// A plan that passed is one that could have been asked for.
fn is_fair(tool: &str, args: &Value) -> bool {
    let texts = args.as_object().unwrap().iter().filter(|(name, _)| *name != "top_k");
    let fair = |(_, value): (&String, &Value)| {
        value.as_str().is_some_and(|text| QUESTION.contains(text) || text.is_empty())
    };
    [
        "mcp-policy-kb__fetch_policy_entry",
        "mcp-policy-kb__search_policy_kb",
        "mcp-sharepoint__fetch_sharepoint_doc",
    ]
    .contains(&tool)
        && texts.into_iter().all(fair)
}

#[tokio::test]
async fn ten_thousand_mutated_plans_reach_nothing_that_they_should_not() {
    let peer = Peer::start(|_| vec![saying("")]).await;
    let hall = Plan::new(&peer).build();
    let candidates = Candidates::new(hall.gate.catalogue_owned(), &[]);
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut passed, mut asked_back) = (0, 0);
    for _ in 0..10_000 {
        let text = mutated(&mut dice);
        let Ok(plan) = plan::read(&text) else { continue };
        match plan::check(&plan, &candidates, Some(QUESTION)) {
            Ok(CheckedPlan::Call(candidate)) => {
                let ask::Plan::CallTool { args, .. } = &plan else { panic!("{text}") };
                let args = Value::Object(args.clone());
                assert!(is_fair(&candidate.tool.contract.name, &args), "{text}");
                assert!(!candidate.tool.contract.effects.changes_the_world(), "{text}");
                passed += 1;
            }
            Ok(CheckedPlan::Clarify(text)) => {
                assert!(!text.contains("DROP") && !text.contains("169.254"), "{text}");
                asked_back += 1;
            }
            Err(_) => {}
        }
    }
    // The test is about something: many pass, and most do not.
    assert!((100..5_000).contains(&passed) && asked_back > 10, "{passed} {asked_back}");
}

#[tokio::test]
async fn whole_runs_of_mutated_plans_make_one_call_at_most() {
    let dice = std::sync::Mutex::new(Dice(42));
    let (hall, _) = Hall::saying(move |_| vec![saying(&mutated(&mut dice.lock().unwrap()))]).await;
    let (mut called, mut blocked) = (0, 0);
    for number in 0..1_000 {
        let before = hall.calls.count();
        let mut asked = request(QUESTION);
        asked.summarize = Some(number % 2 == 0);
        let answer = told(&hall.run(asked).await.unwrap());
        let made = hall.calls.count() - before;
        assert!(made <= 1, "{answer}");
        match answer["type"].as_str().unwrap() {
            "tool_result" => called += 1,
            "blocked" | "final_answer" => {
                blocked += 1;
                assert_eq!(made, 0, "{answer}");
            }
            other => panic!("{other}"),
        }
    }
    for (tool, args) in hall.calls.all() {
        let args = args.as_object().unwrap().iter().filter(|(name, _)| *name != "top_k");
        let args = Value::Object(args.map(|(name, value)| (name.clone(), value.clone())).collect());
        assert!(is_fair(&tool, &args), "{tool} {args}");
    }
    assert!(called > 20 && blocked > 300, "{called} {blocked}");
}
