//! The same call through every door has the same output and the same code.

use serde_json::{Value, json};
use testkit::{
    World,
    mcp::{Legacy, Modern, Piped, with_tasks},
    texts,
};

/// Code and output of a call through a door.
type Seen = (String, Value);

async fn simple(world: &World, tool: &str, input: &Value) -> Seen {
    let body = json!({ "args": input }).to_string();
    let answer = world.post(&format!("/v1/tools/{tool}"), &body).await;
    let json = answer.json();
    match json["ok"].as_bool() {
        Some(true) => ("ok".into(), json["result"].clone()),
        _ => (json["code"].as_str().unwrap().into(), Value::Null),
    }
}

fn tool_result(result: &Value) -> Seen {
    match result["status"].as_str() {
        Some("ok") => ("ok".into(), result["output"].clone()),
        _ => (result["metrics"]["error_code"].as_str().unwrap().into(), Value::Null),
    }
}

async fn execute(world: &World, tool: &str, input: &Value) -> Seen {
    tool_result(&world.execute(&json!({ "tool": tool, "input": input })).await.json())
}

async fn job(world: &World, tool: &str, input: &Value) -> Seen {
    let body = json!({ "tool": tool, "input": input, "mode": "sync", "wait_ms": 10_000 });
    let answer = world.post("/v1/jobs", &body).await.json();
    if answer["job"]["result"].is_object() {
        tool_result(&answer["job"]["result"])
    } else {
        (answer["error"]["code"].as_str().unwrap().into(), Value::Null)
    }
}

fn cli(world: &World, tool: &str, input: &Value) -> Seen {
    let words: Vec<String> =
        input.as_object().unwrap().iter().map(|(name, value)| format!("{name}:={value}")).collect();
    let mut arguments = vec!["call", tool, "--json"];
    arguments.extend(words.iter().map(String::as_str));
    let output = world.cli(&arguments);
    let seen = tool_result(&output.json());
    assert_eq!(output.code == 0, seen.0 == "ok", "{output}");
    seen
}

/// Code and output of an MCP result.
fn mcp_result(answer: &Value) -> Seen {
    if answer["error"]["code"] == -32602 {
        return ("unknown_tool".into(), Value::Null);
    }
    let result = &answer["result"];
    match result["isError"].as_bool() {
        Some(false) => {
            let text = result["content"][0]["text"].as_str().unwrap();
            let said: Value = serde_json::from_str(text).unwrap();
            assert_eq!(said, result["structuredContent"]);
            ("ok".into(), result["structuredContent"].clone())
        }
        Some(true) => {
            (result["_meta"]["toolgate/error"]["code"].as_str().unwrap().into(), Value::Null)
        }
        None => panic!("isError is missing: {answer}"),
    }
}

/// Clients of every door that is called and answers at once.
struct DoorClients<'a> {
    world: &'a World,
    legacy: Legacy<'a>,
    stdio: Piped,
}

impl<'a> DoorClients<'a> {
    async fn open(world: &'a World) -> Self {
        let legacy = Legacy::open(world).await;
        let mut stdio = Piped::start(world, &[]);
        stdio.initialize(&json!({}));
        Self { world, legacy, stdio }
    }

    /// What a call comes to at each of them.
    async fn call(&mut self, tool: &str, input: &Value) -> [(&'static str, Seen); 7] {
        let world = self.world;
        let params = json!({ "name": tool, "arguments": input });
        let modern = Modern::new(world).ask("tools/call", params.clone()).await;
        let knows_tasks = Modern::new(world).able(with_tasks());
        let knows_tasks = knows_tasks.ask("tools/call", params.clone()).await;
        let legacy = self.legacy.ask("tools/call", &params).await;
        [
            ("simple", simple(world, tool, input).await),
            ("execute", execute(world, tool, input).await),
            ("cli", cli(world, tool, input)),
            ("mcp modern", mcp_result(&modern)),
            ("mcp modern with tasks", mcp_result(&knows_tasks)),
            ("mcp legacy", mcp_result(&legacy)),
            ("mcp stdio", mcp_result(&self.stdio.ask(1, "tools/call", &params))),
        ]
    }
}

/// Values of every kind, from a fixed seed, so that a failure can be repeated.
fn values(count: usize) -> Vec<Value> {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let words = ["", " ", "hello", "é\u{0}", "a/b", "note.txt", "..", "😀", "x\ny"];
    (0..count)
        .map(|_| match next(7) {
            0 => Value::Null,
            1 => json!(next(2) == 0),
            2 => json!(next(100)),
            3 => json!(-1.5),
            4 => json!([next(3)]),
            5 => json!({ "a": next(3) }),
            _ => json!(words[usize::try_from(next(9)).unwrap()]),
        })
        .collect()
}

#[tokio::test]
async fn doors_agree() {
    let world = crate::start("").await;
    let mut doors = DoorClients::open(&world).await;
    let values = values(217);
    let mut value = values.iter().cycle();
    let mut any = || value.next().unwrap().clone();
    let mut calls = vec![
        ("echo_json", json!({ "message": "hello", "n": 2 })),
        ("echo_json", json!({})),
        ("hello", json!({ "name": "Ada" })),
        ("write_text_artifact", json!({ "text": "x", "filename": "a b.txt" })),
        ("no_such_tool", json!({})),
    ];
    for _ in 0..65 {
        calls.push(("echo_json", json!({ "message": any(), "n": any() })));
        calls.push(("hello", json!({ "name": any() })));
        calls.push(("write_text_artifact", json!({ "text": any(), "filename": any() })));
    }
    let mut count = 0;
    for (tool, input) in calls {
        count += 1;
        let expected = job(&world, tool, &input).await;
        for (door, seen) in doors.call(tool, &input).await {
            assert_eq!(seen, expected, "{door}: {tool} {input}");
        }
    }
    assert_eq!(count, 200);
}

#[tokio::test]
async fn doors_agree_on_what_a_person_must_approve() {
    let world = crate::start("policy: { approval: [ { tool: hello, require: always } ] }\n").await;
    let mut doors = DoorClients::open(&world).await;
    let mut all_say = async |input: &Value, code: &str| {
        for (door, seen) in doors.call("hello", input).await {
            assert_eq!(seen, (code.into(), Value::Null), "{door}");
        }
    };
    // What does not fit is refused before anybody is asked.
    all_say(&json!({ "name": 1 }), "invalid_input").await;
    let input = json!({ "name": "Ada" });
    all_say(&input, "approval_required").await;
    // One request for each caller, however many doors it came by.
    let listed = world.cli("approvals --json").json();
    let waiting = listed["approvals"].as_array().unwrap();
    let mut callers = texts(&listed["approvals"], "caller");
    callers.sort();
    assert_eq!(callers, ["cli", "local", "stdio"]);
    for one in waiting {
        world.cli(&["approvals", "refuse", one["id"].as_str().unwrap()]).exits(0);
    }
    all_say(&input, "not_allowed").await;
    // A job asks for itself, and its answer is the same in the end.
    let body = json!({ "tool": "hello", "input": input, "mode": "sync", "wait_ms": 10_000 });
    let (client, url) = (world.client.clone(), world.url("/v1/jobs"));
    let job = tokio::spawn(async move {
        client.post(url).body(body.to_string()).send().await.unwrap().json::<Value>().await.unwrap()
    });
    let id = testkit::eventually("the job asks", async || {
        let listed = world.cli("approvals --json").json();
        listed["approvals"][0]["id"].as_str().map(str::to_owned)
    })
    .await;
    world.cli(&["approvals", "refuse", &id]).exits(0);
    let answer = job.await.unwrap();
    assert_eq!(tool_result(&answer["job"]["result"]), ("not_allowed".into(), Value::Null));
}

#[tokio::test]
async fn tokens_are_asked_for_and_name_the_caller() {
    let settings = "server: { tokens: [ { name: ada, token_env: ADA_TOKEN } ] }\n";
    let world = World::new(crate::BINARY, settings)
        .with_env("ADA_TOKEN", "a-long-enough-secret")
        .started()
        .await;
    assert_eq!(world.get("/healthz").await.status, 200);
    let refused = world.get("/v1/tools").await;
    assert_eq!((refused.status, refused.header("www-authenticate")), (401, "Bearer"));
    let refused = world.execute(&json!({ "tool": "hello", "input": { "name": "x" } })).await;
    assert_eq!(refused.json()["metrics"]["error_code"], "unauthorized");
    let wrong = [("authorization", "Bearer a-long-enough-secreT")];
    assert_eq!(world.send("GET", "/v1/tools", &wrong, None).await.status, 401);
    // Of two tokens, something on the way may have looked at the other.
    let two = "GET /v1/tools HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer a-long-enough-secret\r\n\
               authorization: Bearer other\r\n\r\n";
    let refused = world.sent(two).await.answer().await;
    assert_eq!(refused.status, 400, "{}", refused.text());
    assert!(refused.text().contains("at most one Authorization header"), "{}", refused.text());
    let right = [("authorization", "Bearer a-long-enough-secret")];
    let body = br#"{"args":{"name":"x"}}"#.to_vec();
    assert_eq!(world.send("POST", "/v1/tools/hello", &right, Some(body)).await.status, 200);
    assert_eq!(world.journal().last().unwrap()["caller"], "ada");
    let journal = world.read("data/journal.jsonl");
    assert!(!journal.contains("a-long-enough-secret"));
}
