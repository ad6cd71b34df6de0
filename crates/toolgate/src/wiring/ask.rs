//! The wiring of `ask`, behind `/v1/ask` and on the command line.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::Context;
use ask::{Ask, AskOutcome, AskRejection, AskRequest, AskSlot, Trace, TraceEvent, TraceWatcher};
use contract::codes;
use gate::{BoxFuture, Failure, Gate, Recording};
use guard::files::Folder;
use serde::Serialize;
use serde_json::{Value, json};
use server::{AskService, AskServiceRequest, AskServiceResponse};
use tokio::sync::mpsc::Sender;

use super::{BoundTool, absent_tools::AbsentTools, exists};
use crate::settings::LoadedSettings;

/// Makes the `Ask` that answers questions through this gate.
pub fn ask(loaded: &LoadedSettings, gate: &Arc<Gate>) -> anyhow::Result<Ask> {
    let model = llm::Model::new(&loaded.tools().llm).context("llm")?;
    let settings = loaded.settings.ask.clone();
    Ok(Ask::new(gate.clone(), model, settings))
}

/// A name in `ask.allow` that nobody has would let nothing in, and somebody meant something. What upstreams offer is not known yet.
pub fn check_allowed(
    loaded: &LoadedSettings,
    bound: &[BoundTool],
    absent: &AbsentTools,
) -> anyhow::Result<()> {
    for (index, name) in loaded.settings.ask.allow.iter().enumerate() {
        let id = name.split_once("__").or_else(|| name.split_once('.')).map(|(id, _)| id);
        let is_upstreams = id.is_some_and(|id| loaded.settings.upstreams.contains_key(id));
        let is_it = |one: &BoundTool| {
            *name == one.contract.name
                || *name == format!("{}.{}", one.contract.toolset, one.contract.name)
        };
        // One that is left out may have that name: a list of what is allowed lets nothing else in for it.
        if is_upstreams || !absent.left_out.is_empty() || bound.iter().any(is_it) {
            continue;
        }
        let known = bound.iter().map(|one| one.contract.name.as_str());
        exists(format!("/ask/allow/{index}"), "tool", name, known)?;
    }
    Ok(())
}

/// A response as it is sent: with the id of its trace.
#[derive(Serialize)]
pub struct TracedResponse<'a> {
    #[serde(flatten)]
    response: &'a ask::AskResponse,
    trace_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<&'a Trace>,
}

impl<'a> TracedResponse<'a> {
    /// The response of a run, and the path of its trace.
    pub fn new(outcome: &'a AskOutcome, trace_path: Option<String>) -> Self {
        let trace_id = &outcome.trace.trace_id;
        Self { response: &outcome.response, trace_id, trace_path, trace: None }
    }
}

/// Answers the questions of requests.
pub struct AskDoor {
    ask: Ask,
    traces: Option<Arc<TraceFolder>>,
}

impl AskDoor {
    /// By this gate, as the settings say.
    pub fn new(loaded: &LoadedSettings, gate: &Arc<Gate>) -> anyhow::Result<Self> {
        let settings = &loaded.settings.ask;
        let traces = settings.trace_dir.as_ref().map(|folder| {
            let folder = loaded.path(folder);
            TraceFolder::open(&folder, settings.max_traces)
                .with_context(|| format!("ask.trace_dir: cannot use `{}`", folder.display()))
        });
        Ok(Self { ask: ask(loaded, gate)?, traces: traces.transpose()?.map(Arc::new) })
    }

    /// The same, counting on where another has come to.
    pub fn continuing(self, before: &Self) -> Self {
        Self { ask: self.ask.continuing(&before.ask), ..self }
    }

    async fn answer(
        &self,
        slot: AskSlot,
        request: AskRequest,
        events: Option<Sender<(String, Value)>>,
        with_trace: bool,
    ) -> AskServiceResponse {
        let outcome = match &events {
            Some(events) => self.ask.run_in(slot, request, &EventSender(events)).await,
            None => self.ask.run_in(slot, request, &()).await,
        };
        let mut response = TracedResponse::new(&outcome, None);
        if let Some(traces) = &self.traces {
            let (traces, trace) = (traces.clone(), outcome.trace.clone());
            let kept = tokio::task::spawn_blocking(move || traces.keep(&trace)).await;
            match kept.map_err(std::io::Error::other).and_then(|kept| kept) {
                Ok(()) => response.trace_path = Some(outcome.trace.file_name()),
                Err(error) => tracing::error!(%error, "a trace could not be kept (ask.trace_dir)"),
            }
        }
        response.trace = with_trace.then_some(&outcome.trace);
        let retry_after = outcome.response.blocked().and_then(|blocked| blocked.retry_after);
        // Texts, numbers and printed JSON: there is nothing in it that cannot be printed.
        let body = serde_json::value::to_raw_value(&response).unwrap_or_default();
        AskServiceResponse { status: outcome.response.http_status(), body, retry_after }
    }
}

impl AskService for AskDoor {
    fn ask(
        self: Arc<Self>,
        question: AskServiceRequest,
    ) -> Result<BoxFuture<'static, AskServiceResponse>, Failure> {
        let (with_trace, events) = (question.with_trace, question.events);
        let request = AskRequest {
            question: question.question,
            tool: question.tool,
            args: question.args,
            summarize: question.summarize,
            plan_only: question.plan_only,
            caller: question.caller,
            request_id: question.request_id,
            recording: Recording::WhenNeeded,
            stop: question.stop,
        };
        let slot = self.ask.admit(&request).map_err(|why| rejection(&why))?;
        Ok(Box::pin(async move { self.answer(slot, request, events, with_trace).await }))
    }

    fn metrics(&self) -> String {
        self.ask.metrics()
    }
}

/// The failure of a question that was not looked at.
fn rejection(why: &AskRejection) -> Failure {
    let code = match why {
        AskRejection::InvalidQuestion(ask::InvalidQuestion::TooLarge { .. }) => codes::TOO_LARGE,
        AskRejection::InvalidQuestion(_) => codes::INVALID_REQUEST,
        AskRejection::Busy { .. } => codes::TOO_MANY_REQUESTS,
    };
    let mut failure = Failure::new(code, why.to_string());
    if matches!(why, AskRejection::Busy { .. }) {
        failure.retry_after = Some(1);
    }
    failure
}

/// Sends the events of a run to a client.
struct EventSender<'a>(&'a Sender<(String, Value)>);

impl TraceWatcher for EventSender<'_> {
    fn event(&self, event: &TraceEvent) {
        // A client that has gone ends the run; one that reads too slowly misses an event.
        let data = json!({ "ts_ms": event.ts_ms, "payload": event.payload });
        let _ = self.0.try_send((event.name.clone(), data));
    }
}

/// The folder of traces.
struct TraceFolder {
    path: PathBuf,
    max: usize,
}

impl TraceFolder {
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
