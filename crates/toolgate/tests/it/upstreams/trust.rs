//! What an upstream may not do with the trust that it has: run what was not looked at, answer another
//! one's caller, be told what is not for it.

use serde_json::{Value, json};
use testkit::{
    mcp::{Modern, meta},
    texts,
};

use super::{Upstreams, one, said, tool};

const TOOL: &str = "up__act";

fn args() -> Value {
    json!({ "text": "a" })
}

fn asking() -> Value {
    json!({ "do": ["ask", "elicitation/create", { "mode": "form", "message": "Sure?",
        "requestedSchema": { "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "properties": { "name": { "type": "string" } },
            "required": ["name"] } }] })
}

fn able(arguments: &Value) -> Value {
    let able = json!({ "elicitation": {} });
    json!({ "name": TOOL, "arguments": arguments, "_meta": meta(&able) })
}

/// A lazy server that was pinned and says something else now, which nobody knows before it is started.
async fn changed_while_it_rested() -> Upstreams {
    let world = Upstreams::with(&[("up", one("act", &said("fine")), "start: lazy")], "").pinned();
    let mut other = one("act", &said("fine"));
    other["tools"][0]["description"] = json!("Does act, and something else.");
    world.script("up", &other);
    world.started().await
}

/// A lazy server is started by the very call: what it lists then is looked at first.
#[tokio::test]
async fn what_changed_before_the_server_was_started_is_not_run() {
    let world = changed_while_it_rested().await;
    for _ in 0..2 {
        world.call(TOOL, &args()).await.fails(409, "contract_changed");
    }
}

/// The same after it died: a call that waits for it to come back does not run what it came back with.
#[tokio::test]
async fn what_changed_while_the_server_was_away_is_not_run() {
    let world = Upstreams::new(&[("up", one("act", &json!({ "do": "kill" })))], "")
        .pinned()
        .started()
        .await;
    let mut other = one("act", &said("fine"));
    other["tools"][0]["description"] = json!("Does act, and something else.");
    other["silent"] = json!(true);
    world.script("up", &other);
    for pid in world.children() {
        testkit::signal(pid, "-KILL");
    }
    testkit::eventually("it is back, and not as it was", async || {
        let answer = world.call(TOOL, &args()).await;
        assert_ne!(answer.status, 200, "{}", answer.text());
        answer.json()["code"] == "contract_changed"
    })
    .await;
}

/// With two calls under way nobody knows whose question it is.
#[tokio::test]
async fn a_question_reaches_the_call_that_it_belongs_to_or_nobody() {
    let mut script = json!({ "tools": [tool("act")], "answers": { "act": {} } });
    script["answers"]["act"] =
        json!({ "slow": { "do": ["sleep", 3, said("slow")] }, "asks": asking() });
    let world = Upstreams::with(&[("up", script, "questions: true")], "").started().await;
    let client = Modern::new(&world);
    let slow = client.ask("tools/call", able(&json!({ "text": "slow" })));
    let asks = async {
        world.wait_for_file("sleeps").await;
        client.ask("tools/call", able(&json!({ "text": "asks" }))).await
    };
    let (slow, asks) = tokio::join!(slow, asks);
    assert_eq!(slow["result"]["structuredContent"]["text"], "slow", "{slow}");
    let told = asks["result"]["structuredContent"]["text"].as_str().unwrap_or_default();
    assert!(told.contains("-32601"), "the server is told that nobody can be asked: {asks}");
    // Alone, it is asked.
    let asks = client.ask("tools/call", able(&json!({ "text": "asks" }))).await;
    assert_eq!(asks["result"]["resultType"], "input_required", "{asks}");
}

/// An open question belongs to its own call, and does not hold a place for ever.
#[tokio::test]
async fn a_question_is_answered_by_its_own_call_and_waits_for_a_while() {
    let mut script = one("act", &asking());
    script["answers"]["act"]["b"] = said("fine");
    let own = "questions: true, max_concurrency: 1, question_timeout_ms: 1500";
    let world = Upstreams::with(&[("up", script, own)], "").started().await;
    let client = Modern::new(&world);
    let asked = client.ask("tools/call", able(&args())).await["result"].clone();
    let (name, _) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let with = |arguments: Value, reply: Value| {
        let mut params = able(&arguments);
        params["inputResponses"] = json!({ name: reply });
        params["requestState"] = asked["requestState"].clone();
        params
    };
    let accept = json!({ "action": "accept", "content": { "name": "Ada" } });
    let other = client.ask("tools/call", with(json!({ "text": "other" }), accept.clone())).await;
    let refused = other["result"]["isError"] == true || other.get("error").is_some();
    assert!(refused, "other arguments are another call: {other}");
    // Its place is held for as long as it waits, and then no more.
    world.call(TOOL, &json!({ "text": "b" })).await.ok();
    let late = client.ask("tools/call", with(args(), accept)).await;
    let refused = late["result"]["isError"] == true || late.get("error").is_some();
    assert!(refused, "nobody waits for that any more: {late}");
}

/// A server that does one thing at a time is not lost because it does not list meanwhile.
#[tokio::test]
async fn a_busy_server_is_left_to_its_work() {
    let mut script = one("act", &json!({ "do": ["sleep", 4, said("fine")] }));
    script["lists_once"] = json!(true);
    let own = "refresh_interval_ms: 300, connect_timeout_ms: 1200";
    let world = Upstreams::with(&[("up", script, own)], "").started().await;
    let answer = world.call(TOOL, &args()).await.ok();
    assert_eq!(answer["result"]["text"], "fine");
}

#[tokio::test]
async fn what_is_no_result_passes_in_no_mode() {
    let odd = json!({ "result": { "isError": "true", "structuredContent": { "text": "x" } } });
    for mode in ["enforce", "warn", "off"] {
        let own = format!("mode: {mode}");
        let world = Upstreams::with(&[("up", one("act", &odd), &own)], "").started().await;
        world.call(TOOL, &args()).await.fails(502, "invalid_output");
    }
}

/// What a server prints is for whoever looks after it.
#[tokio::test]
async fn a_caller_reads_nothing_of_what_a_server_printed() {
    let secret = "Authorization: Bearer sk-SECRET-123";
    let world = Upstreams::new(&[("up", one("act", &json!({ "do": ["cry", secret] })))], "")
        .started()
        .await;
    let answer = world.call(TOOL, &args()).await.fails(503, "unavailable");
    assert!(!answer.to_string().contains("SECRET"), "{answer}");
    let words = answer["error"].to_string();
    assert!(words.contains("may or may not have taken effect"), "{answer}");
}

#[tokio::test]
async fn a_call_that_ran_out_of_time_may_have_had_its_effect_and_counts_as_a_failure() {
    let own = "timeout_ms: 300, breaker_failures: 2, breaker_open_ms: 60000";
    let world =
        Upstreams::with(&[("up", one("act", &json!({ "do": "hang" })), own)], "").started().await;
    for _ in 0..2 {
        let answer = world.call(TOOL, &args()).await.fails(504, "timeout");
        assert!(answer.to_string().contains("may or may not have taken effect"), "{answer}");
    }
    let answer = world.call(TOOL, &args()).await.fails(503, "unavailable");
    assert!(answer.to_string().contains("circuit breaker is open"), "{answer}");
}

/// An upstream with a tool, a prompt and a resource; `any` is a template that takes every address.
fn shelf(id: &str, any: bool) -> Value {
    let mut script = one("act", &said("fine"));
    script["initialize"] = json!({ "capabilities": {
        "tools": {}, "prompts": {}, "resources": {}, "completions": {} } });
    let template = if any { "{any}".to_owned() } else { format!("{id}://items/{{item}}") };
    script["methods"] = json!({
        "prompts/list": { "prompts": [{ "name": "greet" }] },
        "prompts/get": { "messages": [{ "role": "user", "content": { "type": "text", "text": id } }] },
        "resources/list": { "resources": [{ "uri": format!("{id}://one"), "name": "one" },
            { "uri": "shared://one", "name": "shared" },
            { "uri": if any { "two://items/9" } else { "two://own" }, "name": "item" }] },
        "resources/templates/list": { "resourceTemplates": [{ "uriTemplate": template, "name": "any" }] },
        "resources/read": { "contents": [{ "uri": "$uri", "text": id }] },
        "completion/complete": { "completion": { "values": [id] } },
    });
    script
}

#[tokio::test]
async fn prompts_and_resources_are_handed_out_where_they_belong() {
    let scripts = [
        ("one", shelf("one", true)),
        ("two", shelf("two", false)),
        ("plain", one("act", &said("fine"))),
    ];
    let world = Upstreams::new(&scripts, "").started().await;
    let all = Modern::new(&world);
    let two = Modern::new(&world).at("/mcp/two");
    let names = async |client: &Modern, method: &str, list: &str, key: &str| {
        texts(&client.ask(method, json!({})).await["result"][list], key)
    };
    assert_eq!(names(&all, "prompts/list", "prompts", "name").await, ["one__greet", "two__greet"]);
    assert_eq!(names(&two, "prompts/list", "prompts", "name").await, ["two__greet"]);
    let templates = "resources/templates/list";
    let listed = names(&all, templates, "resourceTemplates", "uriTemplate").await;
    assert!(listed.contains(&"two://items/{item}".to_owned()), "{listed:?}");
    assert!(!listed.contains(&"{any}".to_owned()), "{listed:?}");
    let plain = Modern::new(&world).at("/mcp/plain");
    let can = plain.ask("server/discover", json!({})).await["result"]["capabilities"].clone();
    assert!(can.get("prompts").is_none(), "what it does not have it does not say: {can}");
    let got = all.ask("prompts/get", json!({ "name": "two__greet" })).await;
    assert_eq!(got["result"]["messages"][0]["content"]["text"], "two", "{got}");
    let got = two.ask("prompts/get", json!({ "name": "one__greet" })).await;
    assert!(got.get("error").is_some(), "{got}");
    let read = async |client: &Modern, uri: &str| {
        let read = client.ask("resources/read", json!({ "uri": uri })).await;
        read["result"]["contents"][0]["text"].as_str().map(ToOwned::to_owned)
    };
    assert_eq!(read(&all, "one://one").await.as_deref(), Some("one"));
    assert_eq!(read(&all, "two://items/7").await.as_deref(), Some("two"));
    assert_eq!(read(&two, "one://one").await, None, "it is not of this toolset");
    assert_eq!(read(&all, "secret://other?token=1").await, None, "nobody says that it has that");
    assert_eq!(read(&all, "shared://one").await, None, "two of them say that it is theirs");
    assert_eq!(read(&two, "shared://one").await.as_deref(), Some("two"));
    // A template is a claim too: another one does not get what it lists out of it.
    assert_eq!(read(&all, "two://items/9").await, None);
    assert_eq!(read(&two, "two://items/9").await.as_deref(), Some("two"));
    let refused = all.ask("resources/read", json!({ "uri": "two://items/9" })).await;
    assert!(refused.to_string().contains("2 upstreams have this resource"), "{refused}");
    let told = "2 resources are of `one` and of `two`, and read from neither at /mcp, such as `shared://one`";
    world.cli("upstream list").exits(0).stdout_has(told);
    let argument = json!({ "name": "who", "value": "A" });
    let reference = json!({ "type": "ref/prompt", "name": "two__greet" });
    let completed =
        all.ask("completion/complete", json!({ "ref": reference, "argument": argument })).await;
    assert_eq!(completed["result"]["completion"]["values"], json!(["two"]), "{completed}");
}

/// An allowlist names tools: what it does not allow as a whole hands out nothing else.
#[tokio::test]
async fn prompts_and_resources_are_behind_the_allowlist_and_the_lock() {
    let allowlist = "allowlist: { one: [act], two: \"*\" }\n";
    let world =
        Upstreams::new(&[("one", shelf("one", false)), ("two", shelf("two", false))], allowlist)
            .pinned();
    let mut other = shelf("two", false);
    other["methods"]["resources/list"]["resources"][0]["description"] = json!("Another one.");
    world.script("two", &other);
    let world = world.started().await;
    let client = Modern::new(&world);
    let listed = client.ask("resources/list", json!({})).await.to_string();
    assert!(!listed.contains("one://one") && !listed.contains("two://one"), "{listed}");
    assert!(listed.contains("shared://one"), "that one is as it was pinned: {listed}");
    let prompts = client.ask("prompts/list", json!({})).await.to_string();
    assert!(!prompts.contains("one__greet") && prompts.contains("two__greet"), "{prompts}");
}

/// One that answers nothing, and one that answers nonsense. What cannot be listed is not taken for gone.
#[tokio::test]
async fn a_server_whose_prompts_cannot_be_listed_has_its_tools_all_the_same() {
    let listing = json!({ "prompts": [{ "name": "greet" }] });
    let mut script = one("act", &said("fine"));
    script["initialize"] = json!({ "capabilities": { "tools": {}, "prompts": {} } });
    script["methods"] = json!({ "prompts/list": listing });
    for odd in [json!(null), json!({ "prompts": 7 })] {
        let own = "connect_timeout_ms: 5000";
        let world = Upstreams::with(&[("up", script.clone(), own)], "").pinned();
        let mut broken = script.clone();
        broken["methods"]["prompts/list"] = odd;
        world.script("up", &broken);
        world.cli("lock diff").exits(2).stderr_has("cannot read all of its listings: prompts/list");
        let world = world.started().await;
        assert_eq!(world.call(TOOL, &args()).await.status, 200);
        world.cli("upstream list").exits(0).stdout_has("prompts/list");
    }
}

/// What a server that nobody uses would offer is what is pinned, also when that changes.
#[tokio::test]
async fn a_lazy_server_follows_the_lock_while_it_rests() {
    let world = changed_while_it_rested().await;
    world.cli("lock accept up").exits(0);
    testkit::eventually("it is followed", async || world.call(TOOL, &args()).await.status == 200)
        .await;
}

/// A change that the policy takes keeps nobody from calling, however the server is started.
#[tokio::test]
async fn what_the_policy_takes_can_be_called_at_once() {
    let own = "start: lazy, changes: accept-compatible";
    let world = Upstreams::with(&[("up", one("act", &said("fine")), own)], "").pinned();
    let mut wider = one("act", &said("fine"));
    wider["tools"][0]["inputSchema"].as_object_mut().unwrap().remove("required");
    world.script("up", &wider);
    world.cli(&["call", TOOL, "text=a"]).exits(0);
    let world = world.started().await;
    world.call(TOOL, &args()).await.ok();
}

/// Who gives a server no time says nothing about it.
#[tokio::test]
async fn a_caller_in_a_hurry_closes_a_server_for_nobody() {
    let script = one("act", &json!({ "do": ["sleep", 0.3, said("fine")] }));
    let own = "breaker_failures: 2, breaker_open_ms: 60000";
    let world = Upstreams::with(&[("up", script, own)], "").started().await;
    let hurried =
        json!({ "tool": TOOL, "input": args(), "context": { "limits": { "timeout_ms": 20 } } });
    for _ in 0..4 {
        let answer = world.execute(&hurried).await;
        assert_eq!(answer.json()["metrics"]["error_code"], "timeout", "{}", answer.json());
    }
    assert_eq!(world.call(TOOL, &args()).await.status, 200);
}
