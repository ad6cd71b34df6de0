//! MCP on stdin and stdout: the person in front of the client is asked, where it can ask.

use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Piped, TASKS, extended, meta, with_tasks},
};

use super::{closed, events, runs};

fn able() -> Value {
    json!({ "elicitation": {} })
}

fn legacy(world: &World, capabilities: &Value) -> Piped {
    let mut client = Piped::start(world, &[]);
    client.initialize(capabilities);
    client
}

fn marks(value: &Value) -> Value {
    json!({ "name": "marks", "arguments": { "value": value } })
}

fn code(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["toolgate/error"]["code"]
}

fn ok(answer: &Value) {
    assert_eq!(answer["result"]["isError"], false, "{answer}");
}

/// The approvals, as the operator sees them.
fn approvals(world: &World) -> Vec<Value> {
    let all = world.cli("approvals --all --json").exits(0).json();
    all["approvals"].as_array().unwrap().clone()
}

#[test]
fn a_legacy_client_asks_and_a_yes_runs_it_once() {
    let world = closed("");
    let mut client = legacy(&world, &able());
    let asked = client.ask(1, "tools/call", &marks(&json!(1)));
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("Allow one call of `marks` (toolset commands,"), "{message}");
    assert!(message.contains("\"value\": 1"), "{message}");
    assert_eq!(runs(&world), 0);
    let reply = json!({ "action": "accept", "content": { "approve": true } });
    ok(&client.respond(&asked, &reply));
    assert_eq!(runs(&world), 1);
    // The next call is asked about again.
    let asked = client.ask(2, "tools/call", &marks(&json!(1)));
    assert_eq!((&asked["method"], runs(&world)), (&json!("elicitation/create"), 1));
    assert_eq!(events(&world), ["requested", "approved", "used", "requested"]);
    let line = world.journal().into_iter().find(|line| line["event"] == "approval_approved");
    assert_eq!(line.unwrap()["by"], "the person in front of `stdio`");
}

#[test]
fn a_legacy_client_that_says_anything_else_runs_nothing() {
    let world = closed("");
    let mut client = legacy(&world, &able());
    let accept = |content: Value| json!({ "action": "accept", "content": content });
    let replies = [
        (json!({ "action": "decline" }), "not_allowed"),
        (json!({ "action": "cancel" }), "not_allowed"),
        (accept(json!({ "approve": false, "reason": "not today" })), "not_allowed"),
        (accept(json!({ "approve": "yes" })), "input_required"),
        (accept(json!({})), "input_required"),
        (json!({}), "input_required"),
    ];
    for (number, (reply, expected)) in replies.into_iter().enumerate() {
        let asked = client.ask(number, "tools/call", &marks(&json!(number)));
        let answer = client.respond(&asked, &reply);
        assert_eq!(code(&answer), expected, "{reply}: {answer}");
        if reply["content"]["reason"].is_string() {
            let text = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(text.contains("a person refused this call: not today"), "{text}");
        }
    }
    let asked = client.ask(9, "tools/call", &marks(&json!(9)));
    let error = json!({ "code": -32603, "message": "no window" });
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
    assert_eq!(client.heard()["result"]["isError"], true);
    assert_eq!(runs(&world), 0);
}

#[test]
fn a_client_that_cannot_ask_or_may_not_has_to_wait_for_the_operator() {
    for (settings, capabilities) in
        [("", json!({})), ("policy: { stdio_clients_ask: false }\n", able())]
    {
        let world = closed(settings);
        let mut client = legacy(&world, &capabilities);
        let answer = client.ask(1, "tools/call", &marks(&json!(1)));
        assert_eq!(code(&answer), "approval_required", "{answer}");
        let details = &answer["result"]["_meta"]["toolgate/error"]["details"];
        let id = details["approval_id"].as_str().unwrap().to_owned();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&id), "{text}");
        super::approve(&world, &id);
        let mut named = marks(&json!(1));
        named["_meta"] = json!({ "toolgate/approval": id });
        ok(&client.ask(2, "tools/call", &named));
        assert_eq!(code(&client.ask(3, "tools/call", &named)), "approval_required");
        assert_eq!(runs(&world), 1);
        named["_meta"] = json!({ "toolgate/approval": "yes" });
        assert_eq!(client.ask(4, "tools/call", &named)["error"]["code"], -32602);
    }
}

fn modern(value: &Value, more: &Value, capabilities: &Value) -> Value {
    let mut params = marks(value);
    params["_meta"] = meta(capabilities);
    extended(params, more)
}

/// Makes a call, up to its question: the name and the state.
fn question(client: &mut Piped, value: &Value) -> (String, Value) {
    let asked = client.ask(1, "tools/call", &modern(value, &json!({}), &able()))["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let requests = asked["inputRequests"].as_object().unwrap();
    let name = requests.keys().next().unwrap().clone();
    assert!(name.starts_with("approve_apr_") && requests.len() == 1, "{asked}");
    (name, asked["requestState"].clone())
}

fn yes(name: &str) -> Value {
    json!({ name: { "action": "accept", "content": { "approve": true } } })
}

#[test]
fn a_modern_client_calls_again_with_a_yes_and_it_is_good_once() {
    let world = closed("");
    let mut client = Piped::start(&world, &[]);
    let (name, state) = question(&mut client, &json!(1));
    let reply = json!({ "inputResponses": yes(&name), "requestState": state });
    let params = modern(&json!(1), &reply, &able());
    ok(&client.ask(2, "tools/call", &params));
    assert_eq!(runs(&world), 1);
    let again = client.ask(3, "tools/call", &params);
    assert_eq!(again["error"]["code"], -32602, "{again}");
    // Nor in another process, which cannot know that the state was used.
    let mut other = Piped::start(&world, &[]);
    let again = other.ask(1, "tools/call", &params);
    assert_ne!(again["result"]["isError"], false, "{again}");
    assert_eq!(runs(&world), 1);
}

#[test]
fn a_modern_client_that_forges_runs_nothing() {
    let world = closed("");
    let mut client = Piped::start(&world, &[]);
    let (name, state) = question(&mut client, &json!(1));
    let (other, _) = question(&mut client, &json!(2));
    let reply =
        |names: Value, state: &Value| json!({ "inputResponses": names, "requestState": state });
    let mut ask = |value: u8, more: &Value| {
        let answer = client.ask(2, "tools/call", &modern(&json!(value), more, &able()));
        assert_ne!(answer["result"]["isError"], false, "{more}: {answer}");
        assert_eq!(runs(&world), 0, "{more}");
        answer
    };
    // The state of one call with the reply to another, or for other arguments.
    ask(1, &reply(yes(&other), &state));
    ask(2, &reply(yes(&other), &state));
    ask(3, &reply(yes(&name), &state));
    // Names that nobody asked.
    for forged in ["approve_apr_00000000000000000000000000", "approve", "approve_", "*", ""] {
        ask(1, &json!({ "inputResponses": yes(forged) }));
    }
    ask(1, &reply(yes(&name), &json!("forged")));
    // The reply to another call's question does not answer this one.
    ask(3, &json!({ "inputResponses": yes(&name) }));
    let waiting = approvals(&world);
    assert!(waiting.iter().all(|one| one["status"] == "waiting"), "{waiting:?}");
}

#[test]
fn a_reply_without_a_state_is_for_the_question_it_names() {
    let world = closed("");
    let mut client = Piped::start(&world, &[]);
    let (name, _) = question(&mut client, &json!(1));
    let reply = modern(&json!(1), &json!({ "inputResponses": yes(&name) }), &able());
    ok(&client.ask(2, "tools/call", &reply));
    let again = client.ask(3, "tools/call", &reply);
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    assert_eq!(runs(&world), 1);
}

#[test]
fn a_modern_client_that_declines_or_cannot_ask() {
    let world = closed("");
    let mut client = Piped::start(&world, &[]);
    let (name, state) = question(&mut client, &json!(1));
    let no = json!({ "inputResponses": { name: { "action": "decline" } }, "requestState": state });
    let answer = client.ask(2, "tools/call", &modern(&json!(1), &no, &able()));
    assert_eq!(code(&answer), "not_allowed", "{answer}");
    let answer = client.ask(3, "tools/call", &modern(&json!(2), &json!({}), &json!({})));
    assert_eq!(code(&answer), "approval_required", "{answer}");
    assert_eq!(runs(&world), 0);
}

#[test]
fn a_client_that_leaves_while_it_is_asked_has_said_nothing() {
    let world = closed("");
    let mut client = legacy(&world, &able());
    let asked = client.ask(1, "tools/call", &marks(&json!(1)));
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(client.close().0, 0);
    assert_eq!((runs(&world), &approvals(&world)[0]["status"]), (0, &json!("waiting")));
}

/// The task, once it is no longer working.
fn ended(client: &mut Piped, id: &Value) -> Value {
    let get = json!({ "taskId": id, "_meta": meta(&with_tasks()) });
    testkit::until("the task ends", || {
        let task = client.ask(9, "tasks/get", &get)["result"].clone();
        (task["status"] != "working").then_some(task)
    })
}

/// A world whose `marks` is always a task.
fn with_task() -> World {
    let more = "approval: required\ntasks: always";
    crate::with_counted("", "marks", r#"{"answer":1}"#, more)
}

#[tokio::test]
async fn a_task_waits_and_goes_on() {
    // With and without a server on the same folder, which may be the one to go on with it.
    for served in [false, true] {
        let mut world = with_task();
        if served {
            world.run().await;
        }
        let mut client = Piped::start(&world, &[]);
        let tasks = json!({ "elicitation": {}, "extensions": { TASKS: {} } });
        for round in 1..=3 {
            let params = modern(&json!(round), &json!({}), &tasks);
            let task = client.ask(1, "tools/call", &params)["result"].clone();
            assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
            let id = waits(&world);
            let get = json!({ "taskId": task["taskId"], "_meta": meta(&tasks) });
            assert_eq!(client.ask(2, "tasks/get", &get)["result"]["status"], "working");
            super::approve(&world, &id);
            let task = ended(&mut client, &task["taskId"]);
            assert_eq!((&task["status"], runs(&world)), (&json!("completed"), round), "{task}");
            assert_eq!(task["result"]["isError"], false);
        }
        let task = client.ask(1, "tools/call", &modern(&json!(9), &json!({}), &tasks));
        let id = waits(&world);
        world.cli(&["approvals", "refuse", &id, "--reason", "no"]).exits(0);
        let task = ended(&mut client, &task["result"]["taskId"]);
        let error = &task["result"]["_meta"]["toolgate/error"];
        assert_eq!((&error["code"], runs(&world)), (&json!("not_allowed"), 3), "{task}");
    }
}

#[test]
fn a_task_of_a_client_that_is_gone_asks_no_more() {
    let world = with_task();
    let mut client = Piped::start(&world, &[]);
    let tasks = with_tasks();
    client.ask(1, "tools/call", &modern(&json!(1), &json!({}), &tasks));
    let id = waits(&world);
    assert_eq!(client.close().0, 0);
    world.cli(&["approvals", "approve", &id]).exits(1);
    assert_eq!((runs(&world), events(&world)), (0, vec!["requested".into(), "cancelled".into()]));
}

/// The approval that waits.
fn waits(world: &World) -> String {
    testkit::until("an approval waits", || {
        let all = approvals(world);
        let one = all.iter().find(|one| one["status"] == "waiting")?;
        Some(one["id"].as_str().unwrap().to_owned())
    })
}
