use std::{collections::BTreeSet, fmt::Write};

use serde_json::{Map, Value, json};

use contract::{Contract, Limits, Schema, read, render::descriptor::descriptor};

use super::{OpenApiSettings, document};

const SETTINGS: OpenApiSettings = OpenApiSettings {
    version: "1.0",
    max_body_bytes: 2_000_000,
    server_url: None,
    bearer: false,
    ceilings: Limits::default_ceilings(),
};

/// Three tools that are served, not sorted, and one that is only planned: the fixtures of `contract::render`.
fn contracts() -> Vec<Contract> {
    macro_rules! fixture {
        ($name:literal) => {
            include_str!(concat!("../../../../contract/src/render/fixtures/", $name, ".yaml"))
        };
    }
    let clock = fixture!("clock");
    let planned = clock.replace("name: clock", "name: calendar\nstatus: planned");
    [fixture!("search"), fixture!("note"), clock, &planned]
        .map(|text| read::trusted(text).unwrap())
        .into()
}

fn named(name: &str) -> Contract {
    contracts().into_iter().find(|contract| contract.name == name).unwrap()
}

/// The value that a reference of the form `#/…` leads to.
fn target<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = percent_encoding::percent_decode_str(reference.strip_prefix('#')?);
    document.pointer(&pointer.decode_utf8().ok()?)
}

fn built() -> Value {
    build(&SETTINGS)
}

fn build(settings: &OpenApiSettings) -> Value {
    let contracts = contracts();
    document(&contracts.iter().collect::<Vec<_>>(), settings)
}

/// Every operation with its path and method.
fn operations(document: &Value) -> Vec<(String, Value)> {
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if method != "parameters" {
                operations.push((format!("{method} {path}"), operation.clone()));
            }
        }
    }
    operations
}

fn operation(document: &Value, method: &str, path: &str) -> Value {
    document["paths"][path][method].clone()
}

/// The value itself, or what it refers to.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => target(document, reference).unwrap(),
        None => value,
    }
}

fn compiled(document: &Value, schema: &Value) -> Schema {
    let bundle = json!({ "allOf": [schema], "components": document["components"] });
    Schema::compile(&bundle).unwrap_or_else(|error| panic!("{}: {error}", error.pointer))
}

/// The schema of an operation's response.
fn answer(document: &Value, path: &str, method: &str, status: &str) -> Schema {
    let operation = operation(document, method, path);
    let response = resolved(document, &operation["responses"][status]);
    compiled(document, &response["content"]["application/json"]["schema"])
}

fn request(document: &Value, path: &str) -> Schema {
    let operation = operation(document, "post", path);
    compiled(document, &operation["requestBody"]["content"]["application/json"]["schema"])
}

fn statuses(document: &Value, method: &str, path: &str) -> String {
    let operation = operation(document, method, path);
    let statuses: Vec<_> = operation["responses"].as_object().unwrap().keys().cloned().collect();
    statuses.join(" ")
}

fn references(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                match value {
                    Value::String(reference) if key == "$ref" => found.push(reference.clone()),
                    value => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

#[test]
fn components_are_used_and_valid_and_references_lead_somewhere() {
    let document = built();
    let mut found = Vec::new();
    references(&document, &mut found);
    // The fixture holds one piece of data that only looks like a reference.
    found.retain(|reference| reference != "#nowhere");
    for reference in [
        "#/components/schemas/search.web.input/$defs/language",
        "#/components/schemas/search_web.output/$defs/entry",
    ] {
        assert!(found.iter().any(|one| one == reference), "{reference}");
    }
    for reference in &found {
        assert!(target(&document, reference).is_some(), "{reference}");
    }
    for (kind, parts) in document["components"].as_object().unwrap() {
        for name in parts.as_object().unwrap().keys() {
            let reference = format!("#/components/{kind}/{name}");
            // Security schemes are named, not referred to.
            assert!(kind == "securitySchemes" || found.contains(&reference), "{reference}");
            if kind == "schemas" {
                compiled(&document, &json!({ "$ref": reference }));
            }
        }
    }
}

#[test]
fn operations_have_names_of_their_own() {
    let document = built();
    let operations = operations(&document);
    let names: BTreeSet<_> =
        operations.iter().map(|(_, one)| one["operationId"].as_str().unwrap()).collect();
    assert_eq!(names.len(), operations.len());
    let name = |path| operation(&document, "post", path)["operationId"].clone();
    assert_eq!(name("/v1/tools/search.web"), "call_search_web");
    assert_eq!(name("/v1/tools/search_web"), "call_search_web_2");
}

#[test]
fn every_response_has_the_request_id_and_every_operation_refuses_foreign_hosts() {
    let document = build(&OpenApiSettings { bearer: true, ..SETTINGS });
    for (name, operation) in operations(&document) {
        assert!(operation["responses"].get("403").is_some(), "{name}");
        for (status, response) in operation["responses"].as_object().unwrap() {
            let headers = &resolved(&document, response)["headers"];
            assert!(headers.get("X-Request-Id").is_some(), "{name} {status}");
            let later = matches!(status.as_str(), "429" | "503") && !name.ends_with("/readyz");
            assert_eq!(headers.get("Retry-After").is_some(), later, "{name} {status}");
        }
    }
    for (path, item) in document["paths"].as_object().unwrap() {
        assert_eq!(
            item["parameters"],
            json!([{ "$ref": "#/components/parameters/RequestId" }]),
            "{path}"
        );
    }
}

#[test]
fn the_routes_are_these() {
    let document = built();
    let mut shown = String::new();
    for (name, operation) in operations(&document) {
        let (method, path) = name.split_once(' ').unwrap();
        let statuses = statuses(&document, method, path);
        let id = operation["operationId"].as_str().unwrap();
        let _ = writeln!(shown, "{name} ({id}): {statuses}");
    }
    insta::assert_snapshot!(shown, @r"
    get /healthz (health): 200 403
    get /readyz (ready): 200 403 503
    get /metrics (metrics): 200 403
    get /openapi.json (openapi_json): 200 304 403
    get /openapi.yaml (openapi_yaml): 200 304 403
    get /docs (docs): 200 304 403
    get /v1/tools (list_tools): 200 304 400 403
    get /v1/tools/{tool} (describe_tool): 200 304 403 404 405
    post /v1/tools/{tool} (call_tool): 200 203 400 403 404 409 413 418 429 500 502 503 504
    post /v1/tools/execute (execute): 200 203 400 403 404 409 413 418 429 500 502 503 504
    get /v1/tools/clock (describe_clock): 200 304 403 404
    post /v1/tools/clock (call_clock): 200 203 400 403 404 409 413 429 500 502 503 504
    get /v1/tools/search.web (describe_search_web): 200 304 403 404
    post /v1/tools/search.web (call_search_web): 200 203 400 403 404 409 413 418 429 500 502 503 504
    get /v1/tools/search_web (describe_search_web_2): 200 304 403 404
    post /v1/tools/search_web (call_search_web_2): 200 203 400 403 404 409 413 429 500 502 503 504
    post /v1/tools/notes (call_notes): 200 203 400 403 404 409 413 429 500 502 503 504
    post /v1/tools/web (call_web): 200 203 400 403 404 409 413 418 429 500 502 503 504
    post /v1/jobs (create_job): 200 202 400 403 404 409 413 429 503
    get /v1/jobs (list_jobs): 200 400 403 503
    get /v1/jobs/{id} (get_job): 200 403 404 503
    delete /v1/jobs/{id} (cancel_job): 200 202 403 404 409 503
    get /v1/jobs/{id}/events (job_events): 200 204 403 404 503
    get /v1/jobs/{id}/artifacts (list_artifacts): 200 403 404 503
    get /v1/jobs/{id}/artifacts/{name} (get_artifact): 200 206 304 403 404 416 503
    get /v1/quarantine (list_quarantine): 200 400 403 503
    get /v1/quarantine/{id} (get_quarantine_entry): 200 403 404 503
    post /v1/quarantine/{id}/release (release_quarantine_entry): 200 400 401 403 404 409 413 503
    get /v1/approvals (list_approvals): 200 400 401 403 503
    get /v1/approvals/{id} (get_approval): 200 403 404 503
    post /v1/approvals/{id} (decide_approval): 200 400 401 403 404 409 413 503
    post /v1/ask (ask): 200 400 403 413 429 502 503 504
    get /v1/upstreams (list_upstreams): 200 401 403
    get /v1/config (config_status): 200 401 403
    ");
}

#[test]
fn the_order_of_the_contracts_does_not_matter() {
    let contracts = contracts();
    let forward: Vec<&Contract> = contracts.iter().collect();
    let backward: Vec<&Contract> = contracts.iter().rev().collect();
    assert_eq!(
        document(&forward, &SETTINGS).to_string(),
        document(&backward, &SETTINGS).to_string()
    );
}

#[test]
fn a_token_is_asked_for_where_the_server_wants_one() {
    let open = built();
    assert_eq!((open.get("security"), open.get("servers")), (None, None));
    assert_eq!(statuses(&open, "get", "/metrics"), "200 403");
    let mut operators = Vec::new();
    for (name, operation) in operations(&open) {
        let is_operators = is_the_operators(&operation);
        assert_eq!(operation["responses"].get("401").is_some(), is_operators, "{name}");
        operators.extend(is_operators.then_some(name));
    }
    assert_eq!(
        operators,
        [
            "post /v1/quarantine/{id}/release",
            "get /v1/approvals",
            "post /v1/approvals/{id}",
            "get /v1/upstreams",
            "get /v1/config",
        ]
    );

    let closed = build(&OpenApiSettings {
        bearer: true,
        server_url: Some("https://tools.example"),
        ..SETTINGS
    });
    assert_eq!(closed["security"], json!([{ "bearer": [] }]));
    assert_eq!(closed["servers"], json!([{ "url": "https://tools.example" }]));
    assert_eq!(closed["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
    for (name, operation) in operations(&closed) {
        let is_open = name.ends_with("/healthz") || name.ends_with("/readyz");
        let own = is_open || is_the_operators(&operation);
        assert_eq!(operation.get("security").is_some(), own, "{name}");
        assert_eq!(operation["responses"].get("401").is_none(), is_open, "{name}");
    }
    // Whoever lacks it is told how to show it.
    let refused = resolved(&closed, &closed["paths"]["/v1/jobs"]["get"]["responses"]["401"]);
    assert!(refused["headers"].get("WWW-Authenticate").is_some());
}

fn is_the_operators(operation: &Value) -> bool {
    operation["security"] == json!([{ "operator": [] }])
}

#[test]
fn links_lead_to_operations() {
    let document = built();
    let operations = operations(&document);
    let known: Vec<_> = operations.iter().map(|(_, one)| &one["operationId"]).collect();
    let mut seen = 0;
    for (name, operation) in &operations {
        for response in operation["responses"].as_object().unwrap().values() {
            let Some(links) = response.get("links").and_then(Value::as_object) else { continue };
            for link in links.values() {
                assert!(known.contains(&&link["operationId"]), "{name}: {link}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 19);
}

#[test]
fn a_call_that_must_be_approved_leads_to_its_approval() {
    let document = built();
    let links = |path: &str| {
        let operation = operation(&document, "post", path);
        let refused = resolved(&document, &operation["responses"]["403"]);
        refused["links"].as_object().cloned().unwrap_or_default()
    };
    // One tool asks, and with it its toolset and the path of any tool.
    for path in ["/v1/tools/search_web", "/v1/tools/notes", "/v1/tools/{tool}"] {
        let links = links(path);
        for next in ["get_approval", "decide_approval"] {
            let id = &links[next]["parameters"]["id"];
            assert_eq!(*id, "$response.body#/details/approval_id", "{path} {next}");
        }
    }
    for path in ["/v1/tools/search.web", "/v1/tools/web"] {
        assert_eq!(links(path).len(), 0, "{path}");
    }
}

#[test]
fn a_request_may_ask_for_what_the_server_allows() {
    let contracts = contracts();
    let contracts: Vec<&Contract> = contracts.iter().collect();
    let ceilings = Limits { timeout_ms: 100, ..Limits::default_ceilings() };
    let document = document(&contracts, &OpenApiSettings { ceilings, ..SETTINGS });
    let body = request(&document, "/v1/tools/execute");
    let asks =
        |timeout: u64| json!({ "tool": "x", "context": { "limits": { "timeout_ms": timeout } } });
    assert!(body.is_valid(&asks(100)));
    assert!(!body.is_valid(&asks(101)));
    // A contract is not bound by it.
    let schema = answer(&document, "/v1/tools/{tool}", "get", "200");
    for contract in contracts {
        assert_eq!(schema.violations(&descriptor(contract)), [], "{}", contract.name);
    }
}

#[test]
fn a_call_is_described_by_its_contract() {
    let document = built();
    let call = operation(&document, "post", "/v1/tools/search.web");
    assert_eq!(call["tags"], json!(["web"]));
    assert_eq!(call["summary"], "Web search");
    assert_eq!(operation(&document, "post", "/v1/tools/search_web")["deprecated"], true);
    // A tool wins over a toolset of the same name, which can be called and not shown.
    assert_eq!(operation(&document, "post", "/v1/tools/clock")["description"], "Tells the time.");
    assert_eq!(document["paths"]["/v1/tools/web"].get("get"), None);
    let shown = &document["paths"]["/v1/tools/{tool}"]["get"]["responses"]["405"];
    assert!(resolved(&document, shown)["headers"].get("Allow").is_some());
    let done = answer(&document, "/v1/tools/search.web", "post", "200");
    for (result, fits) in [
        (json!({ "tool": "search.web", "ok": true, "result": { "results": [] } }), true),
        (json!({ "tool": "search.web", "ok": true, "result": {} }), false),
        (json!({ "tool": "other", "ok": true, "result": { "results": [] } }), false),
    ] {
        assert_eq!(done.is_valid(&result), fits, "{result}");
    }
}

#[test]
fn request_bodies_are_described_as_they_are_read() {
    let document = built();
    let limits = |limits: Value| json!({ "tool": "x", "context": { "limits": limits } });
    for (path, body, fits) in [
        ("/v1/tools/search.web", json!({ "args": { "query": "x" } }), true),
        ("/v1/tools/search.web", json!({}), false),
        ("/v1/tools/search.web", json!({ "args": { "query": "x" }, "limits": {} }), false),
        (
            "/v1/tools/search.web",
            json!({ "args": { "query": "x", "filter": { "all": [{ "word": "X" }] } } }),
            false,
        ),
        ("/v1/tools/clock", json!({}), true),
        ("/v1/tools/web", json!({ "args": { "query": "x" } }), true),
        // The default tool needs arguments.
        ("/v1/tools/web", json!({}), false),
        ("/v1/tools/notes", json!({ "args": {} }), false),
        ("/v1/tools/notes", json!({ "args": { "command": "search_web", "a": 1 } }), true),
        ("/v1/tools/notes", json!({ "args": { "command": "clock" } }), false),
        (
            "/v1/tools/execute",
            json!({ "tool": "x", "input": {},
                "context": { "limits": { "timeout_ms": 1, "max_summary_characters": 16 } } }),
            true,
        ),
        ("/v1/tools/execute", json!({}), false),
        ("/v1/tools/execute", json!({ "tool": "" }), false),
        ("/v1/tools/execute", json!({ "tool": "  " }), false),
        ("/v1/tools/execute", limits(json!({ "timeout_ms": 0 })), false),
        ("/v1/tools/execute", limits(json!({ "max_summary_characters": 15 })), false),
        ("/v1/tools/execute", limits(json!({ "other": 1 })), false),
        ("/v1/tools/execute", json!({ "tool": "x", "context": { "other": 1 } }), false),
        ("/v1/tools/execute", json!({ "tool": "x", "args": {} }), false),
        ("/v1/jobs", json!({ "tool": "x", "mode": "sync", "wait_ms": 120_000 }), true),
        ("/v1/jobs", json!({ "tool_name": "x", "limits": { "timeout_ms": 5 } }), true),
        ("/v1/jobs", json!({ "mode": "sync" }), false),
        ("/v1/jobs", json!({ "tool": "x", "tool_name": "x" }), false),
        ("/v1/jobs", json!({ "tool": "x", "wait_ms": 120_001 }), false),
    ] {
        assert_eq!(request(&document, path).is_valid(&body), fits, "{path} {body}");
    }
}

/// Checks which error codes a response of a tool may have.
fn check_codes(document: &Value, cases: &[(&str, &str, &str, bool)]) {
    for (path, status, code, fits) in cases {
        let failed = json!({ "tool": "x", "ok": false, "error": "no", "code": code });
        let schema = answer(document, path, "post", status);
        assert_eq!(schema.is_valid(&failed), *fits, "{path} {status} {code}");
    }
}

#[test]
fn an_error_has_a_code_of_its_status() {
    let document = built();
    check_codes(
        &document,
        &[
            ("/v1/tools/search.web", "502", "search_failed", true),
            ("/v1/tools/search.web", "502", "invalid_output", true),
            ("/v1/tools/search.web", "502", "invalid_input", false),
            ("/v1/tools/search.web", "418", "teapot", true),
            ("/v1/tools/search.web", "429", "rate_limited", true),
            ("/v1/tools/web", "418", "teapot", true),
            ("/v1/tools/search_web", "429", "rate_limited", false),
            ("/v1/tools/search_web", "400", "invalid_input", true),
        ],
    );
    // What no contract adds to is written once.
    let responses = &document["paths"]["/v1/tools/search_web"]["post"]["responses"];
    assert_eq!(responses["400"], json!({ "$ref": "#/components/responses/CallError400" }));
    // A contract may have a code of its own for invalid arguments.
    let mut clock = named("clock");
    clock.errors = serde_json::from_value(json!([
        { "code": "invalid_zone", "http_status": 422, "replaces": "invalid_input" },
    ]))
    .unwrap();
    assert_eq!(descriptor(&clock)["errors"][0]["replaces"], "invalid_input");
    let others = contracts();
    let mut contracts: Vec<_> = others.iter().filter(|one| one.name != "clock").collect();
    contracts.push(&clock);
    check_codes(
        &super::document(&contracts, &SETTINGS),
        &[
            ("/v1/tools/clock", "422", "invalid_zone", true),
            ("/v1/tools/clock", "400", "invalid_input", false),
            ("/v1/tools/clock", "400", "invalid_request", true),
            // Other tools still have it.
            ("/v1/tools/search.web", "400", "invalid_input", true),
            ("/v1/tools/{tool}", "400", "invalid_input", true),
            ("/v1/tools/{tool}", "422", "invalid_zone", true),
        ],
    );
}

#[test]
fn examples_match_what_they_illustrate() {
    let document = built();
    let mut seen = 0;
    for (name, operation) in operations(&document) {
        let contents = [
            &operation["requestBody"]["content"]["application/json"],
            &operation["responses"]["200"]["content"]["application/json"],
        ];
        for content in contents {
            let Some(examples) = content.get("examples").and_then(Value::as_object) else {
                continue;
            };
            let schema = compiled(&document, &content["schema"]);
            for example in examples.values() {
                assert_eq!(schema.violations(&example["value"]), [], "{name}");
                seen += 1;
            }
        }
    }
    assert_eq!(seen, 20);
    let call = operation(&document, "post", "/v1/tools/search.web");
    let examples = &call["requestBody"]["content"]["application/json"]["examples"];
    assert_eq!(
        examples["two_results"],
        json!({
            "summary": "two results",
            "description": "The order is the service's.",
            "value": { "args": { "query": "rust", "count": 2 } },
        })
    );
}

#[test]
fn a_tool_cannot_take_the_place_of_a_route() {
    let mut contract = named("clock");
    contract.name = "execute".into();
    let document = document(&[&contract], &SETTINGS);
    assert_eq!(operation(&document, "post", "/v1/tools/execute")["operationId"], "execute");
    assert_eq!(document["paths"]["/v1/tools/execute"].get("get"), None);
}

fn tool_result() -> Value {
    json!({
        "status": "ok", "solver": "clock", "summary": "", "stdout": "", "stderr": "",
        "exit_code": 0, "artifacts": [{ "name": "a", "path": "b", "mime_type": "c", "bytes": 0 }],
        "metrics": { "any": 1 }, "output": null,
    })
}

#[test]
fn execute_always_answers_with_a_tool_result() {
    let document = built();
    let path = "/v1/tools/execute";
    assert_eq!(
        statuses(&document, "post", path),
        "200 203 400 403 404 409 413 418 429 500 502 503 504"
    );
    for status in statuses(&document, "post", path).split(' ') {
        assert!(answer(&document, path, "post", status).is_valid(&tool_result()), "{status}");
    }
}

#[test]
fn jobs_have_the_shapes_of_the_interface() {
    let document = built();
    let id = "job_01ARZ3NDEKTSV4RRFFQ69G5FAV";
    let time = "2024-01-01T00:00:00Z";
    let job = json!({
        "id": id, "tool": "clock", "status": "running", "caller": "local", "request_id": "r",
        "created_at": time, "started_at": time, "finished_at": null, "error_code": null,
        "summary": null, "input": {}, "artifacts": [], "result": null,
        "approval_id": null, "released": null,
    });
    let shown = answer(&document, "/v1/jobs/{id}", "get", "200");
    assert_eq!(shown.violations(&job), []);
    let mut ended = job.clone();
    ended["result"] = tool_result();
    assert_eq!(shown.violations(&ended), []);
    let mut short: Map<String, Value> = job.as_object().unwrap().clone();
    short.remove("result");
    assert!(!shown.is_valid(&json!(short)));
    let page = answer(&document, "/v1/jobs", "get", "200");
    assert_eq!(page.violations(&json!({ "jobs": [job], "next_cursor": id })), []);
}

#[test]
fn only_one_entry_of_the_quarantine_shows_its_payload() {
    let document = built();
    let mut entry = json!({
        "id": "q_01ARZ3NDEKTSV4RRFFQ69G5FAV", "status": "held", "tool": "clock", "caller": "ada",
        "request_id": "r", "job_id": null, "input_sha256": "", "created_at": "2024-01-01T00:00:00Z",
        "whole": true, "decided_at": null, "decided_by": null, "decision_reason": null,
        "expires_at": null, "delivered_at": null, "reason": "no",
        "violations": [{ "pointer": "/a", "keyword": "type", "message": "must be a string" }],
    });
    let list = answer(&document, "/v1/quarantine", "get", "200");
    let one = answer(&document, "/v1/quarantine/{id}", "get", "200");
    assert_eq!(list.violations(&json!({ "entries": [entry], "next_cursor": null })), []);
    assert!(!one.is_valid(&entry));
    entry["payload"] = json!([1]);
    assert!(one.is_valid(&entry));
    assert!(!list.is_valid(&json!({ "entries": [entry], "next_cursor": null })));
}
