//! Requests to the REST routes that are refused.

use testkit::World;

use super::{Messages, steady, world};

const EXECUTE: &str = "/v1/tools/execute";
const JOBS: &str = "/v1/jobs";

/// Method, path, headers and body.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str);

const CASES: &[Case<'_>] = &[
    // Routes and methods.
    ("GET", "/v1/job", &[], ""),
    ("DELETE", JOBS, &[], ""),
    ("GET", "/mcp", &[], ""),
    ("GET", "/v1/tools/nobody", &[], ""),
    ("GET", "/v1/tools/autosage", &[], ""),
    ("GET", "/v1/tools?stability=steady", &[], ""),
    // Who calls.
    ("GET", JOBS, &[("host", "evil.example")], ""),
    ("GET", JOBS, &[("origin", "http://evil.example")], ""),
    ("GET", "/v1/approvals", &[], ""),
    ("GET", "/v1/approvals", &[("authorization", "Bearer wrong")], ""),
    // Bodies.
    ("POST", EXECUTE, &[], ""),
    ("POST", "/v1/tools/hello", &[], ""),
    ("POST", JOBS, &[], ""),
    ("POST", EXECUTE, &[], "{"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"tool\":\"hello\"}"),
    ("POST", EXECUTE, &[], "[]"),
    ("POST", EXECUTE, &[], "{}"),
    ("POST", EXECUTE, &[], "{\"tool\":5}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"input\":5}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"inputs\":{}}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"context\":{\"limit\":{}}}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"context\":{\"limits\":5}}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"hello\",\"context\":{\"limits\":{\"timeout_ms\":0}}}"),
    (
        "POST",
        EXECUTE,
        &[],
        "{\"tool\":\"hello\",\"context\":{\"limits\":{\"timeout_ms\":999999999999}}}",
    ),
    ("POST", EXECUTE, &[], "{\"tool\":\"helo\"}"),
    ("POST", "/v1/tools/helo", &[], "{}"),
    ("POST", "/v1/tools/hello", &[], "{\"args\":5}"),
    ("POST", "/v1/tools/hello", &[], "{\"name\":\"Ada\"}"),
    ("POST", "/v1/tools/file-io", &[], "{\"args\":{\"command\":\"fly\"}}"),
    ("POST", JOBS, &[], "{\"tool\":\"hello\",\"mode\":\"later\"}"),
    ("POST", JOBS, &[], "{\"tool\":\"hello\",\"wait_ms\":0}"),
    ("POST", JOBS, &[], "{\"tool\":\"hello\",\"wait\":5}"),
    // Arguments.
    ("POST", "/v1/tools/hello", &[], "{\"args\":{}}"),
    ("POST", "/v1/tools/echo_json", &[], "{\"args\":{\"mesage\":\"a\",\"n\":\"2\"}}"),
    ("POST", "/v1/tools/echo_json", &[], "{\"args\":{\"message\":null,\"n\":1.5}}"),
    ("POST", EXECUTE, &[], "{\"tool\":\"echo_json\",\"input\":{\"message\":5,\"n\":0}}"),
    (
        "POST",
        EXECUTE,
        &[("idempotency-key", "two words")],
        "{\"tool\":\"hello\",\"input\":{\"name\":\"Ada\"}}",
    ),
    ("POST", "/v1/tools/echo_json", &[("idempotency-key", "k")], "{\"args\":{\"message\":\"a\"}}"),
    ("POST", "/v1/tools/echo_json", &[("idempotency-key", "k")], "{\"args\":{\"message\":\"b\"}}"),
    // Calls that fail.
    ("POST", "/v1/tools/broken", &[], "{}"),
    ("POST", "/v1/tools/garbage", &[], "{}"),
    ("POST", "/v1/tools/guarded", &[], "{}"),
    ("POST", "/v1/tools/guarded", &[], "{\"args\":{},\"approval_id\":\"x\"}"),
    (
        "POST",
        "/v1/tools/guarded",
        &[],
        "{\"args\":{},\"approval_id\":\"apr_00000000000000000000000000\"}",
    ),
    ("POST", EXECUTE, &[], "{\"tool\":\"slow\",\"context\":{\"limits\":{\"timeout_ms\":50}}}"),
    ("POST", "/v1/tools/a__tool", &[], "{}"),
    // Jobs, artifacts, quarantine, questions.
    ("GET", "/v1/jobs/nope", &[], ""),
    ("DELETE", "/v1/jobs/job_00000000000000000000000000", &[], ""),
    ("GET", "/v1/jobs/job_00000000000000000000000000/artifacts/a", &[], ""),
    ("GET", "/v1/jobs?limit=0", &[], ""),
    ("GET", "/v1/jobs?status=lost", &[], ""),
    ("GET", "/v1/quarantine/q_00000000000000000000000000", &[], ""),
    ("POST", "/v1/ask", &[], "{}"),
    ("POST", "/v1/ask", &[], "{\"question\":\"What?\"}"),
];

#[tokio::test]
async fn rest() {
    let mut world = world("server: { max_body_bytes: 2000 }\n");
    world.run().await;
    let mut messages = Messages::default();
    for case in CASES {
        add(&world, *case, &mut messages).await;
    }
    let large = format!("{{\"tool\":\"{}\"}}", "x".repeat(3_000));
    let answer = world.post(EXECUTE, &large).await;
    messages.add("POST /v1/tools/execute\n(3000 bytes)", &shown(&world, &answer));
    let token = world.read("data/operator.token");
    let operator = format!("Bearer {}", token.trim());
    let operator = &[("authorization", &*operator)][..];
    for (method, path, body) in [
        ("GET", "/v1/approvals/nope", ""),
        ("POST", "/v1/approvals/apr_00000000000000000000000000", "{\"decision\":\"approve\"}"),
        ("POST", "/v1/approvals/apr_00000000000000000000000000", "{\"decision\":\"perhaps\"}"),
        ("POST", "/v1/quarantine/q_00000000000000000000000000/release", "{}"),
    ] {
        add(&world, (method, path, operator, body), &mut messages).await;
    }
    messages.check("rest");
}

async fn add(world: &World, (method, path, headers, body): Case<'_>, messages: &mut Messages) {
    let sent = Some(body.as_bytes().to_vec()).filter(|bytes| !bytes.is_empty());
    let answer = world.send(method, path, headers, sent).await;
    let told = headers.iter().map(|(name, value)| {
        let value = if value.len() > 40 { "Bearer [operator]" } else { value };
        format!("{name}: {value}\n")
    });
    let case = format!("{method} {path}\n{}{body}", told.collect::<String>());
    messages.add(&case, &shown(world, &answer));
}

/// Status and body, with figures that differ in every run left out.
fn shown(world: &World, answer: &testkit::Answer) -> String {
    let body = match serde_json::from_slice::<serde_json::Value>(&answer.body) {
        Ok(mut json) => {
            if let Some(metrics) = json.get_mut("metrics").and_then(|one| one.as_object_mut()) {
                metrics.retain(|name, _| {
                    !["duration_ms", "started_at", "finished_at"].contains(&&**name)
                });
            }
            json.to_string()
        }
        Err(_) => String::from_utf8_lossy(&answer.body).into_owned(),
    };
    steady(world, &format!("{}\n{body}", answer.status))
}
