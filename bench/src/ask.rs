//! The time that the gates of `ask` add to the model and to the tool.
//!
//! The model is an endpoint in this process that answers at once; the tool answers from memory. What a run takes beside the two of
//! them, as the run itself has measured it, is what the gates cost.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::ensure;
use ask::{Ask, AskOutcome, AskRequest, AskSettings};
use contract::{Contract, Limits};
use gate::{
    BoxFuture, Caller, Catalogue, Gate, GateParts, Journal, Provider, Recording, RequestId,
    RunningCall, SystemClock, Timestamp, Tool, ToolError, ToolOutput,
};
use serde_json::{Map, Value, json};
use store::{Durability, LocalBlobs, Sqlite};
use tokio::{io::AsyncWriteExt, net::TcpListener};
use tokio_util::sync::CancellationToken;

use crate::transcript_model::question;

const RUNS: usize = 1_000;
const QUESTION: &str = "Summarize policy-002: what does it say about log retention?";
const POLICY: &str = "# Data Retention Policy\n- Retain logs for 30 days\n- Retain audit events for 180 days\n- Never log secrets\n";

pub async fn report() -> anyhow::Result<()> {
    println!(
        "\n{:<24} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "ask", "run ms", "model ms", "tool ms", "gates ms", "p99 ms", "gates"
    );
    for (tools, summarize) in [(6, false), (6, true), (1_000, false), (1_000, true)] {
        measure(tools, summarize).await?;
    }
    Ok(())
}

async fn measure(tools: usize, summarize: bool) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let model = tokio::spawn(serve(listener));
    let path = folder.path();
    let gate = Arc::new(Gate::new(GateParts {
        catalogue: catalogue(tools)?,
        store: Arc::new(Sqlite::open(&path.join("toolgate.db"), Durability::Process)?),
        blobs: Arc::new(LocalBlobs::open(path, &[path.join("work")], Durability::Process)?),
        journal: Journal::open(&path.join("journal.jsonl"), 1 << 30, 1)?,
        clock: Arc::new(SystemClock),
        max_concurrency: 64,
        settings: gate::GateSettings::default(),
    }));
    let llm = llm::LlmSettings {
        base_url: Some(format!("http://127.0.0.1:{port}")),
        ..llm::LlmSettings::default()
    };
    let ask = Ask::new(gate, llm::Model::new(&llm)?, AskSettings::default());
    let began = Instant::now();
    run(&ask, summarize).await?;
    let first = began.elapsed();
    let mut runs = Vec::with_capacity(RUNS);
    for _ in 0..RUNS {
        runs.push(run(&ask, summarize).await?.timing);
    }
    let middle = |time: fn(&ask::AskTiming) -> Duration, at: usize| {
        let mut times: Vec<_> = runs.iter().map(time).collect();
        times.sort();
        times[(times.len() * at / 100).min(times.len() - 1)].as_secs_f64() * 1e3
    };
    let whole = middle(|one| one.whole, 50);
    let gates = middle(ask::AskTiming::gates, 50);
    let name = format!("{tools} tools{}", if summarize { ", summary" } else { "" });
    println!(
        "{name:<24} {whole:>9.3} {:>9.3} {:>9.3} {gates:>9.3} {:>9.3} {:>8.1}%   (the first run: {:.1} ms)",
        middle(|one| one.model, 50),
        middle(|one| one.tool, 50),
        middle(ask::AskTiming::gates, 99),
        100.0 * gates / whole,
        first.as_secs_f64() * 1e3,
    );
    model.abort();
    Ok(())
}

async fn run(ask: &Ask, summarize: bool) -> anyhow::Result<AskOutcome> {
    let request = AskRequest {
        question: QUESTION.into(),
        tool: None,
        args: Map::new(),
        summarize: Some(summarize),
        plan_only: false,
        caller: Caller::local(),
        request_id: RequestId::new(Timestamp(1)),
        recording: Recording::WhenNeeded,
        stop: CancellationToken::new(),
    };
    let answered = ask.run(request, &()).await?;
    let wanted = if summarize { "tool_result_with_summary" } else { "tool_result" };
    ensure!(answered.response.kind() == wanted, "{:?}", answered.response);
    Ok(answered)
}

struct Policies;

impl Provider for Policies {
    fn run<'a>(&'a self, call: &'a RunningCall) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let id = &call.input["policy_id"];
        Box::pin(async move { Ok(ToolOutput::new(json!({ "policy_id": id, "content": POLICY }))) })
    }
}

/// Servers of many tools that read, one of which is meant.
fn catalogue(tools: usize) -> anyhow::Result<Catalogue> {
    let text = |about: &str| json!({ "type": "string", "description": about });
    let contract = |number: usize| -> anyhow::Result<Contract> {
        let name = match number {
            0 => "kb__fetch_policy_entry".to_owned(),
            other => format!("kb__fetch_thing_{other}"),
        };
        let about = match number {
            0 => "Fetch a policy by id and return its content.".to_owned(),
            other => {
                format!("Fetch the thing of kind {other}, with all that belongs to it, by its id.")
            }
        };
        Ok(serde_json::from_value(json!({
            "name": name, "description": about, "version": "1", "stability": "stable", "toolset": "kb", "effects": "read",
            "input_schema": { "type": "object", "properties": { "policy_id": text("An id, as in policy-001.") }, "required": ["policy_id"], "additionalProperties": false },
            "output_schema": { "type": "object", "properties": { "policy_id": text("Its id."), "content": text("Its text.") }, "required": ["policy_id", "content"], "additionalProperties": false },
        }))?)
    };
    let mut all = Vec::with_capacity(tools);
    for number in 0..tools {
        all.push(Tool::new(contract(number)?, Arc::new(Policies), &Limits::default())?);
    }
    Ok(Catalogue::new(all))
}

/// A model that knows the answers.
async fn serve(listener: TcpListener) {
    let plan = json!({ "type": "call_tool", "server": "kb", "tool": "fetch_policy_entry", "args": { "policy_id": "policy-002" } });
    let bullets: Vec<_> =
        ["Retain logs for 30 days", "Retain audit events for 180 days", "Never log secrets"]
            .map(|line| json!({ "evidence": line, "claim": line }))
            .into();
    let summary = json!({ "type": "summary", "bullets": bullets });
    let answers = Arc::new([plan.to_string(), summary.to_string()]);
    while let Ok((mut stream, _)) = listener.accept().await {
        let answers = answers.clone();
        tokio::spawn(async move {
            let _ = stream.set_nodelay(true);
            let Ok(asked) = question(&mut stream).await else { return };
            let is_summary = asked["messages"][1]["content"]
                .as_str()
                .is_some_and(|user| user.contains("<source>"));
            let message = json!({ "choices": [{ "message": { "content": answers[usize::from(is_summary)] }, "finish_reason": "stop" }] });
            let body = Value::to_string(&message);
            let head = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
        });
    }
}
