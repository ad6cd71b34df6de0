//! MCP messages that are refused. The codes of many more are in `bad_messages.rs` and `bad_lines.rs`.

use serde_json::{Value, json};
use testkit::mcp::{Piped, meta};

use super::{Messages, steady, world};

/// Lines to a server on stdin and stdout. `META` stands for what a modern client says of itself.
const LINES: &[&str] = &[
    "{",
    "5",
    r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":1}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    // Before `initialize`.
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{META}}"#,
    // Methods and parameters.
    r#"{"jsonrpc":"2.0","id":1,"method":"no/such","params":{META}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":5}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{META,"cursor":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2027-01-01"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":5}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"helo"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"hello","arguments":5}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"hello","arguments":{"nmae":"Ada"}}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{META,"uri":"toolgate://nobody"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{META}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{META,"name":"nobody"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{META}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{META,"taskId":"x"}}"#,
    // Calls that fail.
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"broken"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"garbage"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"guarded"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{META,"name":"a__tool"}}"#,
];

/// Headers of a request over HTTP, each with the same good request.
const HEADERS: &[(&str, &[(&str, &str)])] = &[
    ("POST", &[("content-type", "text/plain")]),
    ("POST", &[("content-type", "application/json"), ("host", "evil.example")]),
    ("POST", &[("content-type", "application/json"), ("origin", "http://evil.example")]),
    ("POST", &[("content-type", "application/json")]),
    ("POST", &[("content-type", "application/json"), ("mcp-session-id", "nope")]),
    ("POST", &[("content-type", "application/json"), ("mcp-protocol-version", "2026-07-28")]),
    ("POST", &[("content-type", "application/json"), ("mcp-protocol-version", "2027-01-01")]),
    ("GET", &[("accept", "application/json")]),
    ("GET", &[("accept", "text/event-stream")]),
    ("DELETE", &[]),
];

#[tokio::test]
async fn mcp() {
    let mut messages = Messages::default();
    let mut world = world("");
    let mut server = Piped::start(&world, &[]);
    let meta = format!(r#""_meta":{}"#, meta(&json!({})));
    for line in LINES {
        server.send(format!("{}\n", line.replace("META", &meta)));
        messages.add(line, &steady(&world, &printed(&server.heard())));
    }
    world.run().await;
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (method, headers) in HEADERS {
        let body = Some(list.as_bytes().to_vec()).filter(|_| *method == "POST");
        let answer = world.send(method, "/mcp", headers, body).await;
        let told: String =
            headers.iter().map(|(name, value)| format!("{name}: {value}\n")).collect();
        let said = format!("{}\n{}", answer.status, printed(&answer.json()));
        messages.add(&format!("{method} /mcp\n{told}"), &steady(&world, &said));
    }
    let answer = world.post("/mcp/nobody", list).await;
    messages.add("POST /mcp/nobody", &format!("{}\n{}", answer.status, printed(&answer.json())));
    messages.check("mcp");
}

fn printed(value: &Value) -> String {
    value.to_string()
}
