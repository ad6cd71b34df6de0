//! A tool asks, and whoever sits at the client answers: on stdio, in both protocol versions and as a task.

use serde_json::{Value, json};
use testkit::mcp::{Piped, TASKS, extended, meta, with_tasks};

#[allow(clippy::disallowed_types)] // As a client starts it.
fn fixture() -> Piped {
    let program = env!("CARGO_BIN_EXE_conformance-fixture");
    let mut command = std::process::Command::new(program);
    // It is killed, and what it made stays: below `target`.
    let mut piped = Piped::of(command.arg("--stdio").env("TMPDIR", env!("CARGO_TARGET_TMPDIR")));
    piped.listen();
    piped
}

fn call(tool: &str, more: &Value, capabilities: &Value) -> Value {
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta(capabilities) });
    extended(params, more)
}

#[test]
fn a_legacy_client_is_asked_and_answers() {
    let mut client = fixture();
    client.initialize(&json!({ "elicitation": {} }));
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let asked = client.ask(1, "tools/call", &params);
    assert_eq!(asked["method"], "elicitation/create");
    assert_eq!(asked["params"]["message"], "Who?");
    let content = json!({ "username": "ada", "email": "ada@example.com" });
    let reply = json!({ "action": "accept", "content": content });
    let answer = client.respond(&asked, &reply);
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(false)));
    assert!(answer["result"]["content"][0]["text"].as_str().unwrap().contains("ada@example.com"));
}

#[test]
fn an_answer_that_does_not_fit_a_refusal_and_a_client_that_cannot_be_asked() {
    let mut client = fixture();
    client.initialize(&json!({ "elicitation": {} }));
    let params = json!({ "name": "test_elicitation", "arguments": { "message": "Who?" } });
    let asked = client.ask(1, "tools/call", &params);
    let reply = json!({ "action": "accept", "content": { "username": 1 } });
    let answer = client.respond(&asked, &reply);
    assert_eq!(answer["result"]["_meta"]["toolgate/error"]["code"], "input_required");
    // What nobody asked changes nothing.
    client.tell(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    let asked = client.ask(2, "tools/call", &params);
    let error = json!({ "code": -32603, "message": "no window" });
    client.tell(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error }));
    let answer = client.heard();
    let words = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(words.contains("no window"), "{words}");

    let mut silent = fixture();
    silent.initialize(&json!({}));
    let answer = silent.ask(1, "tools/call", &params);
    assert_eq!(answer["result"]["_meta"]["toolgate/error"]["code"], "input_required");
}

#[test]
fn a_modern_client_calls_again_with_its_answer() {
    let mut client = fixture();
    let able = json!({ "elicitation": {} });
    let tool = "test_input_required_result_multi_round";
    let first = client.ask(1, "tools/call", &call(tool, &json!({}), &able))["result"].clone();
    assert_eq!(first["resultType"], "input_required");
    let reply = |content: Value| json!({ "action": "accept", "content": content });
    let more = json!({ "inputResponses": { "step1": reply(json!({ "name": "Ada" })) },
        "requestState": first["requestState"] });
    let second = client.ask(2, "tools/call", &call(tool, &more, &able))["result"].clone();
    assert_eq!(second["inputRequests"].as_object().unwrap().keys().next().unwrap(), "step2");
    let more = json!({ "inputResponses": { "step2": reply(json!({ "color": "blue" })) },
        "requestState": second["requestState"] });
    let third = client.ask(3, "tools/call", &call(tool, &more, &able))["result"].clone();
    assert_eq!((&third["resultType"], &third["isError"]), (&json!("complete"), &json!(false)));
    // What was answered once is not answered for every later call.
    let again = client.ask(4, "tools/call", &call(tool, &more, &able));
    assert_eq!(again["error"]["code"], -32602);
    let mute = client.ask(5, "tools/call", &call(tool, &json!({}), &json!({})));
    assert_eq!(mute["error"]["code"], -32021);
    assert_eq!(mute["error"]["data"]["requiredCapabilities"], json!({ "elicitation": {} }));
}

#[test]
fn a_task_waits_for_its_answer() {
    let mut client = fixture();
    let able = json!({ "elicitation": {}, "extensions": { TASKS: {} } });
    let mut params = call("confirm_delete", &json!({}), &able);
    params["arguments"] = json!({ "filename": "a.txt" });
    let task = client.ask(1, "tools/call", &params)["result"].clone();
    let id = task["taskId"].clone();
    let get = json!({ "taskId": id, "_meta": meta(&able) });
    let asks = poll(&mut client, &get, "input_required");
    let name = asks["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let reply = json!({ "action": "accept", "content": { "confirm": true } });
    let update = json!({ "taskId": id, "inputResponses": { name: reply }, "_meta": meta(&able) });
    assert_eq!(client.ask(2, "tasks/update", &update)["result"]["resultType"], "complete");
    let ended = poll(&mut client, &get, "completed");
    assert_eq!(ended["result"]["isError"], false);
}

#[test]
fn a_call_that_became_a_task_can_still_ask() {
    let mut client = fixture();
    let able = json!({ "elicitation": {}, "extensions": { TASKS: {} } });
    let mute = with_tasks();
    // Also for a client that cannot ask by itself: the arguments are those of the first round.
    let task = client.ask(1, "tools/call", &call("late_question", &greeting(), &mute));
    assert_eq!(task["result"]["resultType"], "task", "{task}");
    let id = task["result"]["taskId"].clone();
    let get = json!({ "taskId": id, "_meta": meta(&able) });
    let asks = poll(&mut client, &get, "input_required");
    assert_eq!(asks["inputRequests"]["user_name"]["method"], "elicitation/create");
    // Whoever cannot ask a person is not given the question.
    let refused = client.ask(2, "tasks/get", &json!({ "taskId": id, "_meta": meta(&mute) }));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    let reply = json!({ "action": "accept", "content": { "name": "Ada" } });
    let update =
        json!({ "taskId": id, "inputResponses": { "user_name": reply }, "_meta": meta(&able) });
    client.ask(3, "tasks/update", &update);
    let ended = poll(&mut client, &get, "completed");
    assert_eq!(ended["result"]["content"][0]["text"], "Hello, Ada!");
}

#[test]
fn a_task_that_waits_for_an_answer_can_be_cancelled() {
    let mut client = fixture();
    let able = json!({ "elicitation": {}, "extensions": { TASKS: {} } });
    let task = client.ask(1, "tools/call", &call("late_question", &greeting(), &able));
    let get = json!({ "taskId": task["result"]["taskId"], "_meta": meta(&able) });
    poll(&mut client, &get, "input_required");
    client.ask(2, "tasks/cancel", &get);
    let ended = poll(&mut client, &get, "cancelled");
    assert_eq!(ended.get("inputRequests"), None);
}

fn greeting() -> Value {
    json!({ "arguments": { "greeting": "Hello" } })
}

fn poll(client: &mut Piped, get: &Value, status: &str) -> Value {
    testkit::until(&format!("the task is {status}"), || {
        let task = client.ask(9, "tasks/get", get)["result"].clone();
        (task["status"] == status).then_some(task)
    })
}
