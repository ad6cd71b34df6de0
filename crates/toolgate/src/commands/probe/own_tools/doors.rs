//! Calls through each door: the code that a caller gets, and the whole response.

use std::{sync::Arc, time::Duration};

use anyhow::{Context, anyhow, bail};
use contract::parameter_headers;
use gate::{Caller, Gate, Recording, RequestId};
use guard::net;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use upstream::connection::{Connection, RequestError, RequestOptions};

use super::open_doors::{OpenDoors, ProbedTool};

/// A door to probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbedDoor {
    /// `POST /v1/tools/{name}`.
    Simple,
    /// `POST /v1/tools/execute`.
    Execute,
    /// `POST /v1/jobs`, waited for.
    Job,
    /// Modern MCP over HTTP.
    McpModern,
    /// Legacy MCP over HTTP.
    McpLegacy,
    /// MCP over stdio.
    McpStdio,
    /// The command line.
    Cli,
}

/// All doors.
pub const DOORS: [ProbedDoor; 7] = [
    ProbedDoor::Simple,
    ProbedDoor::Execute,
    ProbedDoor::Job,
    ProbedDoor::McpModern,
    ProbedDoor::McpLegacy,
    ProbedDoor::McpStdio,
    ProbedDoor::Cli,
];

impl ProbedDoor {
    pub fn name(self) -> &'static str {
        match self {
            ProbedDoor::Simple => "the simple envelope",
            ProbedDoor::Execute => "execute",
            ProbedDoor::Job => "jobs",
            ProbedDoor::McpModern => "MCP (modern, HTTP)",
            ProbedDoor::McpLegacy => "MCP (legacy, HTTP)",
            ProbedDoor::McpStdio => "MCP (stdio)",
            ProbedDoor::Cli => "the command line",
        }
    }

    /// Calls a tool.
    pub async fn call(
        self,
        doors: &OpenDoors,
        tool: &ProbedTool,
        input: &Value,
    ) -> anyhow::Result<DoorResponse> {
        let name = &*tool.contract.name;
        let called = async {
            match self {
                ProbedDoor::Simple => simple(doors, name, input).await,
                ProbedDoor::Execute => execute(doors, name, input).await,
                ProbedDoor::Job => job(doors, name, input).await,
                ProbedDoor::McpModern => mcp(&doors.modern, tool, input, doors.timeout).await,
                ProbedDoor::McpLegacy => mcp(&doors.legacy, tool, input, doors.timeout).await,
                ProbedDoor::McpStdio => stdio(doors, name, input).await,
                ProbedDoor::Cli => cli(&doors.gate, name, input).await,
            }
        };
        let late = || anyhow!("no response within {} ms (timeout_ms)", doors.timeout.as_millis());
        tokio::time::timeout(doors.timeout, called).await.unwrap_or_else(|_| Err(late()))
    }
}

/// The response that a caller gets.
pub struct DoorResponse {
    /// `ok`, or the code of the error.
    pub code: String,
    /// The whole response.
    pub text: String,
}

async fn simple(doors: &OpenDoors, tool: &str, input: &Value) -> anyhow::Result<DoorResponse> {
    let (text, answer) =
        post(doors, &format!("/v1/tools/{tool}"), &json!({ "args": input })).await?;
    let code = match answer["ok"].as_bool() {
        Some(true) => "ok",
        _ => answer["code"].as_str().context("the response has no code")?,
    };
    Ok(DoorResponse { code: code.to_owned(), text })
}

async fn execute(doors: &OpenDoors, tool: &str, input: &Value) -> anyhow::Result<DoorResponse> {
    let body = json!({ "tool": tool, "input": input });
    let (text, answer) = post(doors, "/v1/tools/execute", &body).await?;
    Ok(DoorResponse { code: code_of_tool_result(&answer)?, text })
}

async fn job(doors: &OpenDoors, tool: &str, input: &Value) -> anyhow::Result<DoorResponse> {
    let wait = u64::try_from(doors.timeout.as_millis()).unwrap_or(u64::MAX).min(60_000);
    let body = json!({ "tool": tool, "input": input, "mode": "sync", "wait_ms": wait });
    let (text, answer) = post(doors, "/v1/jobs", &body).await?;
    let code = match &answer["job"]["result"] {
        result @ Value::Object(_) => code_of_tool_result(result)?,
        _ => {
            let code = answer["error"]["code"].as_str().context("the job has no result")?;
            code.to_owned()
        }
    };
    Ok(DoorResponse { code, text })
}

fn code_of_tool_result(result: &Value) -> anyhow::Result<String> {
    let code = match result["status"].as_str() {
        Some("ok") => "ok",
        _ => result["metrics"]["error_code"].as_str().context("the result has no code")?,
    };
    Ok(code.to_owned())
}

/// Sends a request; returns the response as text and as JSON.
async fn post(doors: &OpenDoors, path: &str, body: &Value) -> anyhow::Result<(String, Value)> {
    let url = format!("{}{path}", doors.base);
    let limits = net::RequestLimits { max_body_bytes: MAX_RESPONSE_BYTES, total: doors.timeout };
    let request = net::HttpRequest::post_json(url, body.to_string()).within(limits);
    let answer = doors.client.send(request, &CancellationToken::new()).await?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    // Headers are part of the response.
    let head: String =
        answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}\n")).collect();
    let value = serde_json::from_str(&text).context("the response is not JSON")?;
    Ok((head + &text, value))
}

/// The largest response that is read, in bytes.
const MAX_RESPONSE_BYTES: usize = 67_108_864;

async fn mcp(
    connection: &Connection,
    tool: &ProbedTool,
    input: &Value,
    timeout: Duration,
) -> anyhow::Result<DoorResponse> {
    let name = &*tool.contract.name;
    let params = json!({ "name": name, "arguments": input }).to_string();
    let declared = parameter_headers::declared(&tool.contract.input_schema).unwrap_or_default();
    let headers = input
        .as_object()
        .map(|input| upstream::mirror_headers(&declared, input))
        .unwrap_or_default();
    let options = RequestOptions { name: Some(name), headers, ..RequestOptions::new(timeout) };
    match connection.request("tools/call", &params, options).await {
        Ok(response) => {
            let result: Value = serde_json::from_str(response.json())?;
            Ok(DoorResponse {
                code: code_of_mcp_result(&result)?,
                text: response.json().to_owned(),
            })
        }
        Err(RequestError::Rpc(error)) => {
            let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
            Ok(DoorResponse {
                code: format!("rpc {}", error.code),
                text: format!("{error} {data}"),
            })
        }
        Err(error) => Err(anyhow!(error)),
    }
}

async fn stdio(doors: &OpenDoors, tool: &str, input: &Value) -> anyhow::Result<DoorResponse> {
    let params = json!({ "name": tool, "arguments": input });
    let answer = doors.pipe.lock().await.request("tools/call", &params).await?;
    let code = match answer["error"]["code"].as_i64() {
        Some(code) => format!("rpc {code}"),
        None => code_of_mcp_result(&answer["result"])?,
    };
    Ok(DoorResponse { code, text: answer.to_string() })
}

fn code_of_mcp_result(result: &Value) -> anyhow::Result<String> {
    match result["isError"].as_bool() {
        Some(false) => Ok("ok".to_owned()),
        Some(true) => {
            let code = result["_meta"]["toolgate/error"]["code"].as_str();
            Ok(code.context("the result has no code")?.to_owned())
        }
        None => bail!("the result has no `isError`"),
    }
}

async fn cli(gate: &Arc<Gate>, tool: &str, input: &Value) -> anyhow::Result<DoorResponse> {
    let (caller, request_id) = (Caller::named("cli"), RequestId::new(gate.clock().now()));
    let call = gate::Call::new(tool, input.clone(), gate::Door::Cli, caller, request_id);
    let outcome = gate.call(call.recording(Recording::Always)).await;
    let text = outcome.tool_result().get().to_owned();
    Ok(DoorResponse { code: outcome.code().to_owned(), text })
}
