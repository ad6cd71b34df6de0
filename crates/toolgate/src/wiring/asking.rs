//! From settings to whoever answers questions, behind `/v1/ask` and on the command line.

use std::{path::Path, sync::Arc};

use anyhow::Context;
use ask::{Answered, Ask, Event, NotAsked, Request, Trace, Watch};
use contract::codes;
use gate::{BoxFuture, Failure, Gate, Recording};
use guard::files::Folder;
use serde::Serialize;
use serde_json::{Value, json};
use server::{Asked, Asks, Reply};
use tokio::sync::mpsc::UnboundedSender;

use crate::settings::Loaded;

/// Whoever answers questions through this gate.
pub fn ask(loaded: &Loaded, gate: &Arc<Gate>) -> anyhow::Result<Ask> {
    let llm = loaded.tools().llm;
    let model = llm::Model::new(&llm).context("llm")?;
    let settings = loaded.settings.ask.clone();
    Ok(Ask::new(gate.clone(), model, &llm, settings))
}

/// An answer as it is told: what came of it, and the name of its trace.
#[derive(Serialize)]
pub struct Told<'a> {
    #[serde(flatten)]
    answer: &'a ask::Answer,
    trace_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
}

impl<'a> Told<'a> {
    /// The answer, and where its trace is.
    pub fn new(answered: &'a Answered, trace_path: Option<String>) -> Self {
        let trace_id = &answered.trace.trace_id;
        Self { answer: &answered.answer, trace_id, trace_path, trace: None }
    }
}

/// Answers the questions of requests.
pub struct Asking {
    ask: Ask,
    traces: Option<Arc<Traces>>,
}

impl Asking {
    /// By this gate, as the settings say.
    pub fn new(loaded: &Loaded, gate: &Arc<Gate>) -> anyhow::Result<Self> {
        let settings = &loaded.settings.ask;
        let traces = settings.trace_dir.as_ref().map(|folder| {
            let folder = loaded.path(folder);
            Traces::open(&folder, settings.max_traces)
                .with_context(|| format!("ask.trace_dir: cannot use `{}`", folder.display()))
        });
        Ok(Self { ask: ask(loaded, gate)?, traces: traces.transpose()?.map(Arc::new) })
    }

    async fn answer(&self, asked: Asked) -> Result<Reply, Failure> {
        let (with_trace, events) = (asked.with_trace, asked.events);
        let request = Request {
            question: asked.question,
            tool: asked.tool,
            args: asked.args,
            summarize: asked.summarize,
            plan_only: asked.plan_only,
            caller: asked.caller,
            request_id: asked.request_id,
            recording: Recording::WhenNeeded,
            stop: asked.stop,
        };
        let answered = match &events {
            Some(events) => self.ask.run(request, &Sending(events)).await,
            None => self.ask.run(request, &()).await,
        };
        let answered = answered.map_err(|why| not_asked(&why))?;
        let mut told = Told::new(&answered, None);
        if let Some(traces) = &self.traces {
            let (traces, trace) = (traces.clone(), answered.trace.clone());
            let kept = tokio::task::spawn_blocking(move || traces.keep(&trace)).await;
            match kept.map_err(std::io::Error::other).and_then(|kept| kept) {
                Ok(()) => told.trace_path = Some(answered.trace.file_name()),
                Err(error) => tracing::error!(%error, "a trace could not be kept (ask.trace_dir)"),
            }
        }
        told.trace = with_trace.then_some(&answered.trace);
        let body = serde_json::value::to_raw_value(&told).map_err(|error| {
            Failure::new(codes::INTERNAL, "the answer cannot be printed")
                .operator(error.to_string())
        })?;
        let retry_after = match &answered.answer {
            ask::Answer::Blocked { retry_after, .. } => *retry_after,
            _ => None,
        };
        Ok(Reply { status: answered.answer.http_status(), body, retry_after })
    }
}

impl Asks for Asking {
    fn ask(&self, asked: Asked) -> BoxFuture<'_, Result<Reply, Failure>> {
        Box::pin(self.answer(asked))
    }
}

/// Why a question was not looked at, as the doors say it.
fn not_asked(why: &NotAsked) -> Failure {
    let code = match why {
        NotAsked::NoQuestion(ask::NoQuestion::TooLarge { .. }) => codes::TOO_LARGE,
        NotAsked::NoQuestion(_) => codes::INVALID_REQUEST,
        NotAsked::Busy { .. } => codes::TOO_MANY_REQUESTS,
    };
    let mut failure = Failure::new(code, why.to_string());
    if matches!(why, NotAsked::Busy { .. }) {
        failure.retry_after = Some(1);
    }
    failure
}

/// Tells a client what happens.
struct Sending<'a>(&'a UnboundedSender<(String, Value)>);

impl Watch for Sending<'_> {
    fn event(&self, event: &Event) {
        // Whoever listened may have gone; the run ends by itself then.
        let data = json!({ "ts_ms": event.ts_ms, "payload": event.payload });
        let _ = self.0.send((event.name.clone(), data));
    }
}

/// The folder of traces.
struct Traces {
    folder: Folder,
    max: usize,
}

impl Traces {
    fn open(path: &Path, max: usize) -> std::io::Result<Self> {
        Ok(Self { folder: Folder::open_or_create(path)?, max })
    }

    /// Keeps a trace, and lets go of the oldest.
    fn keep(&self, trace: &Trace) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(trace)?;
        self.folder.replace(&trace.file_name(), &text)?;
        let entries = self.folder.entries()?;
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        // Their names sort by time, and so do the entries.
        let ours: Vec<_> =
            names.filter(|name| name.starts_with("trace_") && name.ends_with(".json")).collect();
        for old in ours.iter().take(ours.len().saturating_sub(self.max)) {
            self.folder.remove_file(old)?;
        }
        Ok(())
    }
}
