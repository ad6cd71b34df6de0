//! From settings to whoever answers questions, behind `/v1/ask` and on the command line.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use ask::{Answered, Ask, Event, NotAsked, Place, Request, Trace, Watch};
use contract::codes;
use gate::{BoxFuture, Failure, Gate, Recording};
use guard::files::Folder;
use serde::Serialize;
use serde_json::{Value, json};
use server::{AskReply, AskRequest, AskService};
use store::DataFolder;
use tokio::sync::mpsc::UnboundedSender;

use super::{BoundTool, exists};
use crate::{server_settings::OPERATOR_TOKEN, settings::Loaded};

/// Whoever answers questions through this gate.
pub fn ask(loaded: &Loaded, gate: &Arc<Gate>, data: &DataFolder) -> anyhow::Result<Ask> {
    let llm = loaded.tools().llm;
    let model = llm::Model::new(&llm).context("llm")?;
    let settings = loaded.settings.ask.clone();
    let ask = Ask::new(gate.clone(), model, settings);
    Ok(ask.with_model_name(llm.model.clone()).with_secrets(secrets(loaded, data)))
}

/// What must not stand in a trace: the keys that are ours.
fn secrets(loaded: &Loaded, data: &DataFolder) -> Vec<String> {
    let settings = &loaded.settings;
    let names = settings.server.tokens.iter().map(|token| &token.token_env);
    let names = names.chain(&settings.llm.api_key_env).chain(&settings.tools.search.api_key_env);
    let mut secrets: Vec<_> = names.filter_map(|name| std::env::var(name).ok()).collect();
    secrets.extend(data.token(OPERATOR_TOKEN));
    secrets
}

/// A name in `ask.allow` that nobody has would let nothing in, and somebody meant something. What upstreams offer is not known yet.
pub fn check_allowed(loaded: &Loaded, bound: &[BoundTool]) -> anyhow::Result<()> {
    for (index, name) in loaded.settings.ask.allow.iter().enumerate() {
        let id = name.split_once("__").or_else(|| name.split_once('.')).map(|(id, _)| id);
        let is_upstreams = id.is_some_and(|id| loaded.settings.upstreams.contains_key(id));
        let is_it = |one: &BoundTool| {
            *name == one.contract.name
                || *name == format!("{}.{}", one.contract.toolset, one.contract.name)
        };
        if is_upstreams || bound.iter().any(is_it) {
            continue;
        }
        let known = bound.iter().map(|one| one.contract.name.as_str());
        exists(format!("/ask/allow/{index}"), "tool", name, known)?;
    }
    Ok(())
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
    pub fn new(loaded: &Loaded, gate: &Arc<Gate>, data: &DataFolder) -> anyhow::Result<Self> {
        let settings = &loaded.settings.ask;
        let traces = settings.trace_dir.as_ref().map(|folder| {
            let folder = loaded.path(folder);
            Traces::open(&folder, settings.max_traces)
                .with_context(|| format!("ask.trace_dir: cannot use `{}`", folder.display()))
        });
        Ok(Self { ask: ask(loaded, gate, data)?, traces: traces.transpose()?.map(Arc::new) })
    }

    async fn answer(
        &self,
        place: Place,
        request: Request,
        events: Option<UnboundedSender<(String, Value)>>,
        with_trace: bool,
    ) -> AskReply {
        let answered = match &events {
            Some(events) => self.ask.run_at(place, request, &Sending(events)).await,
            None => self.ask.run_at(place, request, &()).await,
        };
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
        let retry_after = match &answered.answer {
            ask::Answer::Blocked { retry_after, .. } => *retry_after,
            _ => None,
        };
        // Texts, numbers and printed JSON: there is nothing in it that cannot be printed.
        let body = serde_json::value::to_raw_value(&told).unwrap_or_default();
        AskReply { status: answered.answer.http_status(), body, retry_after }
    }
}

impl AskService for Asking {
    fn ask(self: Arc<Self>, asked: AskRequest) -> Result<BoxFuture<'static, AskReply>, Failure> {
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
        let place = self.ask.admit(&request).map_err(|why| not_asked(&why))?;
        Ok(Box::pin(async move { self.answer(place, request, events, with_trace).await }))
    }

    fn metrics(&self) -> String {
        self.ask.metrics()
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
    path: PathBuf,
    max: usize,
}

impl Traces {
    fn open(path: &Path, max: usize) -> std::io::Result<Self> {
        Folder::open_or_create(path)?;
        Ok(Self { path: path.to_owned(), max })
    }

    /// Keeps a trace, and lets go of the oldest.
    fn keep(&self, trace: &Trace) -> std::io::Result<()> {
        let text = serde_json::to_vec_pretty(trace)?;
        // Somebody may have cleared it away since.
        let folder = Folder::open_or_create(&self.path)?;
        folder.replace(&trace.file_name(), &text)?;
        let entries = folder.entries()?;
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        // Their names sort by time, and so do the entries.
        let ours: Vec<_> = names.filter(|name| Trace::is_file_name(name)).collect();
        for old in ours.iter().take(ours.len().saturating_sub(self.max)) {
            // Another run may have been faster.
            if let Err(error) = folder.remove_file(old)
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(error);
            }
        }
        Ok(())
    }
}
