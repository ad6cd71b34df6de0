//! Resources, prompts and completions of upstreams: calls like any other, with approval, limits and a record.

use serde_json::{Value, json};
use testkit::{
    eventually,
    mcp::{ACCEPT, JSON, Legacy, Modern, cancelled, extended, frame, meta, request},
    peak_bytes, texts,
};

use super::{Upstreams, one, said};

/// A client of either protocol version.
enum Client<'a> {
    Old(Legacy<'a>),
    New(Modern<'a>),
}

impl Client<'_> {
    async fn both(world: &Upstreams) -> [Client<'_>; 2] {
        [Client::Old(Legacy::open(world).await), Client::New(Modern::new(world))]
    }

    async fn ask(&self, method: &str, params: &Value) -> Value {
        match self {
            Client::Old(client) => client.ask(method, params).await,
            Client::New(client) => {
                let mut params = params.clone();
                let own = params["_meta"].take();
                let own = if own.is_null() { json!({}) } else { own };
                params["_meta"] = extended(meta(&json!({})), &own);
                client.ask(method, params).await
            }
        }
    }
}

const URI: &str = "db://run/DROP";

fn read() -> (&'static str, Value) {
    ("resources/read", json!({ "uri": URI }))
}

fn get() -> (&'static str, Value) {
    ("prompts/get", json!({ "name": "db__greet", "arguments": { "who": "Ada" } }))
}

fn complete() -> (&'static str, Value) {
    let reference = json!({ "type": "ref/resource", "uri": "db://run/{sql}" });
    let argument = json!({ "name": "sql", "value": "D" });
    ("completion/complete", json!({ "ref": reference, "argument": argument }))
}

/// An upstream with a tool, a prompt and resources, that says this when one is read.
fn database(contents: &Value) -> Value {
    let mut script = one("act", &said("fine"));
    script["initialize"] = json!({ "capabilities": {
        "tools": {}, "prompts": {}, "resources": {}, "completions": {} } });
    let text = json!({ "type": "text", "text": "hello", "odd": 1 });
    script["methods"] = json!({
        "prompts/list": { "prompts": [{ "name": "greet" }] },
        "prompts/get": { "odd": 1, "messages": [{ "role": "user", "content": text, "odd": 1 }] },
        "resources/templates/list": { "resourceTemplates": [
            { "uriTemplate": "db://run/{sql}", "name": "run" }] },
        "resources/read": contents,
        "completion/complete": { "completion": { "values": ["DROP"] } },
    });
    script
}

fn dropped() -> Value {
    json!({ "contents": [{ "uri": "$uri", "text": "dropped" }] })
}

/// The error of a response, as a tool's result would have it.
fn code(response: &Value) -> &str {
    response["error"]["data"]["code"].as_str().unwrap_or_else(|| panic!("{response}"))
}

fn asked(world: &Upstreams, method: &str) -> usize {
    if !world.has("servers/asked") {
        return 0;
    }
    world.read("servers/asked").lines().filter(|line| *line == method).count()
}

/// The codes of a tool's lines in the journal.
fn journal(world: &Upstreams, tool: &str) -> Vec<String> {
    let mut lines = world.journal();
    lines.retain(|line| line["event"] == "tool_call" && line["tool"] == tool);
    texts(&json!(lines), "code")
}

#[tokio::test]
async fn a_rule_for_the_toolset_holds_for_resources_and_prompts() {
    for rule in ["toolset: db", "effects: write", "tool: \"db__resources/read\""] {
        let rules = format!("policy: {{ approval: [{{ {rule}, require: always }}] }}\n");
        let world = Upstreams::new(&[("db", database(&dropped()))], &rules).started().await;
        for client in Client::both(&world).await {
            for (method, params) in [read(), get()] {
                let before = asked(&world, method);
                let refused = client.ask(method, &params).await;
                if rule.starts_with("tool:") && method == "prompts/get" {
                    assert!(refused["result"]["messages"].is_array(), "{refused}");
                    continue;
                }
                assert_eq!(code(&refused), "approval_required", "{rule} {method}");
                assert_eq!(asked(&world, method), before, "it has run: {rule} {method}");
                let details = &refused["error"]["data"]["details"];
                let id = details["approval_id"].as_str().unwrap();
                let shown = world.cli(&["approvals", "show", id]).stdout;
                assert!(shown.contains(&format!("db__{method}")), "{shown}");
                let named = json!({ "_meta": { "toolgate/approval": id } });
                let named = extended(params.clone(), &named);
                world.cli(&["approvals", "approve", id]).exits(0);
                let done = client.ask(method, &named).await;
                assert!(done["result"].is_object(), "{done}");
                assert_eq!(asked(&world, method), before + 1);
                assert_eq!(code(&client.ask(method, &named).await), "approval_required", "once");
                assert_eq!(asked(&world, method), before + 1, "it has run twice: {method}");
            }
            // Nobody is asked at every key that is pressed, and nothing is sent.
            let (method, params) = complete();
            let completed = client.ask(method, &params).await;
            let none = if rule.starts_with("tool:") { json!(["DROP"]) } else { json!([]) };
            assert_eq!(completed["result"]["completion"]["values"], none, "{completed}");
        }
    }
}

#[tokio::test]
async fn what_an_operator_calls_a_read_is_one() {
    let rules = "policy: { approval: [{ effects: write, require: always }] }\n";
    let own = "resources: { effects: read }, prompts: { effects: read, approval: required }";
    let world = Upstreams::with(&[("db", database(&dropped()), own)], rules).started().await;
    for client in Client::both(&world).await {
        let (method, params) = read();
        let done = client.ask(method, &params).await;
        assert_eq!(done["result"]["contents"][0]["text"], "dropped", "{done}");
        let (method, params) = get();
        assert_eq!(code(&client.ask(method, &params).await), "approval_required");
    }
}

#[tokio::test]
async fn a_rule_that_names_a_method_is_known() {
    let rules =
        |name: &str| format!("policy: {{ approval: [{{ tool: \"{name}\", require: always }}] }}\n");
    let good = Upstreams::new(&[("db", database(&dropped()))], &rules("db__prompts/get")).pinned();
    good.cli("config check").exits(0);
    assert!(!good.cli("upstream list").stdout.contains("matches nothing"));
    let bad = Upstreams::new(&[("db", database(&dropped()))], &rules("db__prompts/gt")).pinned();
    bad.cli("config check").exits(1).stderr_has("did you mean `db__prompts/get`?");
}

#[tokio::test]
async fn every_request_is_in_the_journal_and_the_metrics_and_in_no_listing() {
    let world = Upstreams::new(&[("db", database(&dropped()))], "").started().await;
    let calls = [read(), get(), complete()];
    for client in Client::both(&world).await {
        for (method, params) in &calls {
            let done = client.ask(method, params).await;
            assert!(done["result"].is_object(), "{done}");
        }
    }
    let metrics = world.get("/metrics").await.text();
    for (method, _) in &calls {
        let tool = format!("db__{method}");
        assert_eq!(journal(&world, &tool), ["ok", "ok"], "{tool}");
        let counted = format!("toolgate_calls_total{{tool=\"{tool}\",code=\"ok\"}} 2\n");
        assert!(metrics.contains(&counted), "{metrics}");
        // It is no tool: nobody sees it, and no door calls it by name.
        let refused = world.execute(&json!({ "tool": tool, "input": {} })).await.json();
        assert_eq!(refused["metrics"]["error_code"], "unknown_tool", "{refused}");
        let refused = Modern::new(&world).ask("tools/call", json!({ "name": tool })).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        world.cli(&["call", &tool]).exits(1);
    }
    assert_eq!(world.listed().await, ["db__act"]);
}

/// A server's own tool of that name is another one.
#[tokio::test]
async fn a_tool_cannot_take_the_name_of_a_method() {
    let mut script = database(&dropped());
    for name in ["resources/read", "resources_read"] {
        script["tools"].as_array_mut().unwrap().push(super::tool(name));
    }
    let rules = "policy: { approval: [{ tool: \"db__resources/read\", require: always }] }\n";
    let world = Upstreams::new(&[("db", script)], rules).started().await;
    let listed = world.listed().await;
    assert_eq!(listed.len(), 3, "{listed:?}");
    assert!(!listed.iter().any(|name| name.contains('/')), "{listed:?}");
    let (method, params) = read();
    assert_eq!(code(&Modern::new(&world).ask(method, params).await), "approval_required");
}

#[tokio::test]
async fn a_result_that_breaks_the_contract_is_quarantined() {
    let text = |uri: &str| json!({ "contents": [{ "uri": uri, "text": "secret" }] });
    for (contents, reason) in [
        (text("db://run/SELECT"), "not the one that was asked for"),
        (text("toolgate://jobs/1"), "not the one that was asked for"),
        (json!({ "contents": [{ "uri": "$uri", "secret": 1 }] }), "either `text` or `blob`"),
        (json!({ "contents": "secret" }), "not a `resources/read` result"),
        (json!({ "secret": 1 }), "not a `resources/read` result"),
    ] {
        let own = "mode: off";
        let world = Upstreams::with(&[("db", database(&contents), own)], "").started().await;
        for client in Client::both(&world).await {
            let (method, params) = read();
            let refused = client.ask(method, &params).await;
            assert_eq!(code(&refused), "invalid_output", "{refused}");
            assert!(!refused.to_string().contains("secret"), "{refused}");
        }
        let kept = world.get("/v1/quarantine").await.json();
        let kept = &kept["entries"][0];
        assert_eq!(kept["tool"], "db__resources/read", "{kept}");
        assert!(kept["reason"].as_str().unwrap().contains(reason), "{kept}");
    }
}

#[tokio::test]
async fn unknown_fields_are_not_passed_on() {
    let contents = json!({ "odd": 1, "_meta": { "odd": 1 }, "ttlMs": 1, "contents": [
        { "uri": "$uri", "mimeType": "text/plain", "text": "a", "odd": 1, "_meta": { "odd": 1 } }] });
    let world = Upstreams::new(&[("db", database(&contents))], "").started().await;
    for client in Client::both(&world).await {
        let (method, params) = read();
        let done = client.ask(method, &params).await;
        let known = json!([{ "uri": URI, "mimeType": "text/plain", "text": "a" }]);
        assert_eq!(done["result"]["contents"], known);
        assert!(!done.to_string().contains("odd") && done["result"]["ttlMs"] != 1, "{done}");
        let (method, params) = get();
        let done = client.ask(method, &params).await;
        let text = json!({ "type": "text", "text": "hello" });
        let known = json!([{ "role": "user", "content": text }]);
        assert_eq!(done["result"]["messages"], known);
        assert!(!done.to_string().contains("odd"), "{done}");
    }
}

/// What a collection returns may lie below it; a URI in another form is the one that was asked for.
#[tokio::test]
async fn a_collection_returns_what_lies_below_it() {
    let contents = json!({ "contents": [
        { "uri": "db://run/DROP/1", "text": "a" }, { "uri": "$uri", "text": "b" }] });
    let world = Upstreams::new(&[("db", database(&contents))], "").started().await;
    let (method, params) = read();
    let done = Modern::new(&world).ask(method, params).await;
    assert_eq!(texts(&done["result"]["contents"], "uri"), ["db://run/DROP/1", URI], "{done}");
}

#[tokio::test]
async fn a_large_resource_is_refused_at_its_limit() {
    let own = "resources: { limits: { max_output_bytes: 1000 } }";
    for (bytes, code_wanted) in
        [(500, None), (2_000, Some("invalid_output")), (200_000, Some("invalid_output"))]
    {
        let text = "x".repeat(bytes);
        let contents = json!({ "contents": [{ "uri": "$uri", "text": text }] });
        let world = Upstreams::with(&[("db", database(&contents), own)], "").started().await;
        for client in Client::both(&world).await {
            let (method, params) = read();
            let got = client.ask(method, &params).await;
            match code_wanted {
                None => assert_eq!(got["result"]["contents"][0]["text"], text),
                Some(wanted) => {
                    assert_eq!(code(&got), wanted, "{got}");
                    let kept = world.get("/v1/quarantine").await.text();
                    assert!(kept.contains("max_output_bytes"), "{kept}");
                }
            }
        }
    }
}

#[tokio::test]
async fn many_large_resources_that_nobody_reads_take_no_memory() {
    const READS: usize = 60;
    let long = json!({ "contents": [{ "uri": "$uri", "text": "$long" }] });
    let world = Upstreams::new(&[("db", database(&long))], "").started().await;
    let params = json!({ "uri": URI, "_meta": meta(&json!({})) });
    let headers = [
        JSON,
        ACCEPT,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/read"),
        ("mcp-name", URI),
    ];
    let body = request(1, "resources/read", &params).to_string();
    let mut deaf = Vec::new();
    for _ in 0..READS {
        deaf.push(world.sent(frame("POST", "/mcp", &headers, &body)).await);
    }
    eventually("all are over", async || journal(&world, "db__resources/read").len() == READS).await;
    let codes = journal(&world, "db__resources/read");
    assert!(codes.iter().all(|code| code == "invalid_output"), "{codes:?}");
    let most = peak_bytes(world.pid());
    assert!(most < 200 * 1_024 * 1_024, "the server took {most} bytes");
}

#[tokio::test]
async fn reads_count_for_the_calls_that_run_at_once() {
    let hangs = json!({ "do": "until_cancelled" });
    let more = "server: { max_concurrency: 1 }\n";
    let world = Upstreams::new(&[("db", database(&hangs))], more).started().await;
    let (method, params) = read();
    let legacy = Legacy::open(&world).await;
    let stream = legacy.stream(&request(7, method, &params)).await;
    world.wait_for_file("began").await;
    for client in Client::both(&world).await {
        for (method, params) in [read(), get()] {
            assert_eq!(code(&client.ask(method, &params).await), "too_many_requests");
        }
    }
    // Its client does not want it any more: the upstream is told, and the place is free again.
    assert_eq!(legacy.post(&cancelled(&json!(7)).to_string()).await.status, 202);
    world.wait_for_file("cancelled").await;
    eventually("it is over", async || {
        journal(&world, "db__resources/read").contains(&"cancelled".to_owned())
    })
    .await;
    let (method, params) = get();
    let done = Modern::new(&world).ask(method, params).await;
    assert!(done["result"].is_object(), "{done}");
    drop(stream);
}

#[tokio::test]
async fn a_modern_client_cancels_by_closing_its_connection() {
    let hangs = json!({ "do": "until_cancelled" });
    let world = Upstreams::new(&[("db", database(&hangs))], "").started().await;
    let params = json!({ "uri": URI, "_meta": meta(&json!({})) });
    let headers = [
        JSON,
        ACCEPT,
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "resources/read"),
        ("mcp-name", URI),
    ];
    let body = request(1, "resources/read", &params).to_string();
    let connection = world.sent(frame("POST", "/mcp", &headers, &body)).await;
    world.wait_for_file("began").await;
    drop(connection);
    world.wait_for_file("cancelled").await;
    eventually("it is recorded", async || journal(&world, "db__resources/read") == ["cancelled"])
        .await;
}

#[tokio::test]
async fn a_read_that_takes_too_long_is_ended() {
    let hangs = json!({ "do": "hang" });
    let own = "resources: { limits: { timeout_ms: 300 } }";
    let world = Upstreams::with(&[("db", database(&hangs), own)], "").started().await;
    for client in Client::both(&world).await {
        let (method, params) = read();
        assert_eq!(code(&client.ask(method, &params).await), "timeout");
    }
}

/// A released result is given to who asks again, as what it is: it is no result of the method.
#[tokio::test]
async fn a_released_result_is_handed_out_once() {
    let contents = json!({ "contents": [{ "uri": "db://other", "text": "held" }] });
    let world = Upstreams::new(&[("db", database(&contents))], "").started().await;
    let client = Modern::new(&world);
    let (method, params) = read();
    assert_eq!(code(&client.ask(method, params.clone()).await), "invalid_output");
    let kept = world.get("/v1/quarantine").await.json();
    let id = kept["entries"][0]["id"].as_str().unwrap();
    world.cli(&["quarantine", "adopt", id]).exits(2).stderr_has("no schema can accept");
    world.cli(&["quarantine", "release", id]).exits(0);
    let given = eventually("it is given", async || {
        let given = client.ask(method, params.clone()).await;
        given["error"]["data"].get("toolgate/released").is_some().then_some(given)
    })
    .await;
    assert!(given["error"]["data"]["output"].to_string().contains("held"), "{given}");
    assert_eq!(code(&client.ask(method, params).await), "invalid_output");
}

#[tokio::test]
async fn an_upstream_may_ask_before_it_hands_out_a_resource() {
    let form = json!({ "mode": "form", "message": "Who?", "requestedSchema": { "type": "object",
        "properties": { "name": { "type": "string" } }, "required": ["name"] } });
    let mut script = database(&json!({ "do": ["ask_again", "elicitation/create", form] }));
    script["modern"] = json!(true);
    script["discovered"] = json!({ "tools": {}, "prompts": {}, "resources": {} });
    let world = Upstreams::with(&[("db", script, "questions: true")], "").started().await;
    let client = Modern::new(&world).able(json!({ "elicitation": {} }));
    let (method, params) = read();
    let asked = client.ask(method, params.clone()).await["result"].clone();
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let (name, question) = asked["inputRequests"].as_object().unwrap().iter().next().unwrap();
    assert!(question["params"]["message"].as_str().unwrap().contains("Who?"), "{asked}");
    let reply = json!({ "action": "accept", "content": { "name": "Ada" } });
    let more = json!({ "inputResponses": { name: reply }, "requestState": asked["requestState"] });
    let done = client.ask(method, extended(params, &more)).await;
    // It hears the reply, and its own state. What it makes of them is no resource.
    assert_eq!(code(&done), "invalid_output", "{done}");
    let kept = world.get("/v1/quarantine").await.json();
    let id = kept["entries"][0]["id"].as_str().unwrap();
    let kept = world.get(&format!("/v1/quarantine/{id}")).await.text();
    assert!(kept.contains("Ada") && kept.contains("opaque"), "{kept}");
}
