//! The doors, as their callers see them: the code of a call, and all that was said.

use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use contract::parameter_headers;
use gate::{Caller, Gate, Recording, RequestId};
use guard::net;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use upstream::connection::{RequestError, RequestOptions};

use super::stage::{Actor, Stage};

/// A door.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// `POST /v1/tools/{name}`.
    Simple,
    /// `POST /v1/tools/execute`.
    Execute,
    /// `POST /v1/jobs`, waited for.
    Job,
    /// MCP of 2026-07-28 over HTTP.
    McpModern,
    /// MCP of 2025-11-25 over HTTP.
    McpLegacy,
    /// MCP on a pipe.
    McpStdio,
    /// The command line.
    Cli,
}

/// All of them.
pub const DOORS: [Door; 7] = [
    Door::Simple,
    Door::Execute,
    Door::Job,
    Door::McpModern,
    Door::McpLegacy,
    Door::McpStdio,
    Door::Cli,
];

impl Door {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Door::Simple => "the simple envelope",
            Door::Execute => "execute",
            Door::Job => "jobs",
            Door::McpModern => "MCP (modern, HTTP)",
            Door::McpLegacy => "MCP (legacy, HTTP)",
            Door::McpStdio => "MCP (stdio)",
            Door::Cli => "the command line",
        }
    }

    /// Calls a tool through it.
    pub async fn call(self, stage: &Stage, actor: &Actor, input: &Value) -> anyhow::Result<Seen> {
        let tool = &*actor.contract.name;
        let called = async {
            match self {
                Door::Simple => simple(stage, tool, input).await,
                Door::Execute => execute(stage, tool, input).await,
                Door::Job => job(stage, tool, input).await,
                Door::McpModern => mcp(stage, Door::McpModern, actor, input).await,
                Door::McpLegacy => mcp(stage, Door::McpLegacy, actor, input).await,
                Door::McpStdio => piped(stage, tool, input).await,
                Door::Cli => cli(&stage.gate, tool, input).await,
            }
        };
        let late = || anyhow!("no answer within {} ms (timeout_ms)", stage.patience.as_millis());
        tokio::time::timeout(stage.patience, called).await.unwrap_or_else(|_| Err(late()))
    }
}

/// What a caller sees of a call.
pub struct Seen {
    /// `ok`, or the code of the error.
    pub code: String,
    /// All that was said.
    pub text: String,
}

async fn simple(stage: &Stage, tool: &str, input: &Value) -> anyhow::Result<Seen> {
    let (text, answer) =
        post(stage, &format!("/v1/tools/{tool}"), &json!({ "args": input })).await?;
    let code = match answer["ok"].as_bool() {
        Some(true) => "ok",
        _ => answer["code"].as_str().context("the answer has no code")?,
    };
    Ok(Seen { code: code.to_owned(), text })
}

async fn execute(stage: &Stage, tool: &str, input: &Value) -> anyhow::Result<Seen> {
    let body = json!({ "tool": tool, "input": input });
    let (text, answer) = post(stage, "/v1/tools/execute", &body).await?;
    Ok(Seen { code: code_of_tool_result(&answer)?, text })
}

async fn job(stage: &Stage, tool: &str, input: &Value) -> anyhow::Result<Seen> {
    let wait = u64::try_from(stage.patience.as_millis()).unwrap_or(u64::MAX).min(60_000);
    let body = json!({ "tool": tool, "input": input, "mode": "sync", "wait_ms": wait });
    let (text, answer) = post(stage, "/v1/jobs", &body).await?;
    let code = match &answer["job"]["result"] {
        result @ Value::Object(_) => code_of_tool_result(result)?,
        _ => {
            let code = answer["error"]["code"].as_str().context("the job has no result")?;
            code.to_owned()
        }
    };
    Ok(Seen { code, text })
}

fn code_of_tool_result(result: &Value) -> anyhow::Result<String> {
    let code = match result["status"].as_str() {
        Some("ok") => "ok",
        _ => result["metrics"]["error_code"].as_str().context("the result has no code")?,
    };
    Ok(code.to_owned())
}

/// The answer to a request, as it came and as a value.
async fn post(stage: &Stage, path: &str, body: &Value) -> anyhow::Result<(String, Value)> {
    let url = format!("{}{path}", stage.base);
    let limits = net::RequestLimits { max_body_bytes: MAX_ANSWER_BYTES, total: stage.patience };
    let request = net::HttpRequest::post_json(url, body.to_string()).within(limits);
    let answer = stage.client.send(request, &CancellationToken::new()).await?;
    let text = String::from_utf8_lossy(&answer.body).into_owned();
    // What is in the head is said as well.
    let head: String =
        answer.headers.iter().map(|(name, value)| format!("{name}: {value:?}\n")).collect();
    let value = serde_json::from_str(&text).context("the answer is no JSON")?;
    Ok((head + &text, value))
}

/// The largest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 67_108_864;

async fn mcp(stage: &Stage, door: Door, actor: &Actor, input: &Value) -> anyhow::Result<Seen> {
    let connection = match door {
        Door::McpModern => &stage.modern,
        _ => &stage.legacy,
    };
    let tool = &*actor.contract.name;
    let params = json!({ "name": tool, "arguments": input }).to_string();
    let nothing = Map::new();
    let headers = headers(&actor.contract.input_schema, input.as_object().unwrap_or(&nothing));
    let options =
        RequestOptions { name: Some(tool), headers, ..RequestOptions::new(stage.patience) };
    match connection.request("tools/call", &params, options).await {
        Ok(response) => {
            let result: Value = serde_json::from_str(response.json())?;
            Ok(Seen { code: code_of_mcp_result(&result)?, text: response.json().to_owned() })
        }
        Err(RequestError::Rpc(error)) => {
            let data = error.data.as_ref().map(ToString::to_string).unwrap_or_default();
            Ok(Seen { code: format!("rpc {}", error.code), text: format!("{error} {data}") })
        }
        Err(error) => Err(anyhow!(error)),
    }
}

/// Arguments that are repeated in the head.
fn headers(schema: &Value, arguments: &Map<String, Value>) -> Vec<(String, String)> {
    let shown = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mirrors = parameter_headers::declared(schema).unwrap_or_default();
    let mirrored = mirrors
        .iter()
        .filter_map(|mirror| Some((mirror.header.clone(), shown(mirror.value(arguments)?))));
    mirrored.collect()
}

async fn piped(stage: &Stage, tool: &str, input: &Value) -> anyhow::Result<Seen> {
    let params = json!({ "name": tool, "arguments": input });
    let answer = stage.pipe.lock().await.ask("tools/call", &params).await?;
    let code = match answer["error"]["code"].as_i64() {
        Some(code) => format!("rpc {code}"),
        None => code_of_mcp_result(&answer["result"])?,
    };
    Ok(Seen { code, text: answer.to_string() })
}

fn code_of_mcp_result(result: &Value) -> anyhow::Result<String> {
    match result["isError"].as_bool() {
        Some(false) => Ok("ok".to_owned()),
        Some(true) => {
            let code = result["_meta"]["toolgate/error"]["code"].as_str();
            Ok(code.context("the result has no code")?.to_owned())
        }
        None => bail!("the result does not say `isError`"),
    }
}

async fn cli(gate: &Arc<Gate>, tool: &str, input: &Value) -> anyhow::Result<Seen> {
    let (caller, request_id) = (Caller::named("cli"), RequestId::new(gate.clock().now()));
    let call = gate::Call::new(tool, input.clone(), gate::Door::Cli, caller, request_id);
    let outcome = gate.call(call.recording(Recording::Always)).await;
    let text = outcome.tool_result().get().to_owned();
    Ok(Seen { code: outcome.code().to_owned(), text })
}
