//! `POST /v1/ask`: a question, at most one call, and a response with quotes.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, header},
    response::{Response, sse::Event},
};
use contract::{Violation, codes};
use futures_util::stream::{self, Stream};
use gate::Failure;
use serde_json::{Map, Value};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    App, AskServiceRequest, AskServiceResponse, MAX_QUEUED_EVENTS,
    http::{body, event_stream, identity::RequestContext},
    rest::response,
};

const KEYS: [&str; 6] = ["question", "tool", "args", "summarize", "plan_only", "trace"];

pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Response {
    let wants_events = wants_events(request.headers());
    let mut request = match read(&app, context, request).await {
        Ok(request) => request,
        Err(failure) => return response::failure(&failure),
    };
    // A client that closes its connection ends the run, which is recorded all the same.
    let guard = request.stop.clone().drop_guard();
    let events = wants_events.then(|| {
        let (sender, receiver) = mpsc::channel(MAX_QUEUED_EVENTS);
        request.events = Some(sender);
        receiver
    });
    let run = match app.asks.clone().ask(request) {
        Ok(run) => tokio::spawn(run),
        Err(failure) => return response::failure(&failure),
    };
    if let Some(events) = events {
        let events = events_of(WatchedRun { events, run: Some(run), guard });
        return event_stream::respond(events, app.settings.mcp.keep_alive);
    }
    match run.await {
        Ok(reply) => {
            let mut response = response::json(reply.status, &reply.body);
            response::retry_after(&mut response, reply.retry_after);
            response
        }
        Err(_) => response::error(codes::INTERNAL, "the run ended without an answer", None),
    }
}

/// True if the client reads a stream of events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut kinds = accepts.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/event-stream")
}

/// A run whose events a client reads.
struct WatchedRun {
    events: mpsc::Receiver<(String, Value)>,
    /// Nothing once its result was sent.
    run: Option<JoinHandle<AskServiceResponse>>,
    #[allow(dead_code, reason = "ends the run when it is dropped")]
    guard: DropGuard,
}

/// All events of a run, in order, and its result last.
fn events_of(run: WatchedRun) -> impl Stream<Item = Event> {
    stream::unfold(run, async |mut watched| {
        let run = watched.run.as_mut()?;
        let event = tokio::select! {
            biased;
            Some((name, data)) = watched.events.recv() => {
                Event::default().event(name).data(data.to_string())
            }
            response = run => {
                watched.run = None;
                Event::default().event("result").data(response.ok()?.body.get())
            }
        };
        Some((event, watched))
    })
}

async fn read(
    app: &App,
    context: RequestContext,
    request: Request,
) -> Result<AskServiceRequest, Box<Failure>> {
    let (head, body) = request.into_parts();
    app.gate.started().await;
    let mut parsed = body::require_object(app, &head.headers, body).await?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if let Some(key) = parsed.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let violation = Violation::unknown_key("", key, KEYS.into_iter());
        return Err(invalid(violation.to_string()));
    }
    let mut text = |name: &str| match parsed.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(invalid(format!("`{name}` must be a string"))),
    };
    let question = text("question")?.ok_or_else(|| invalid("`question` is required".into()))?;
    let tool = text("tool")?;
    let mut flag = |name: &str| match parsed.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(flag)),
        Some(_) => Err(invalid(format!("`{name}` must be true or false"))),
    };
    let (summarize, plan_only, trace) = (flag("summarize")?, flag("plan_only")?, flag("trace")?);
    let args = match parsed.remove("args") {
        None | Some(Value::Null) => Map::new(),
        Some(Value::Object(args)) => args,
        Some(_) => return Err(invalid("`args` must be an object".into())),
    };
    if tool.is_none() && !args.is_empty() {
        return Err(invalid("`args` are those of a `tool`, and none is named".into()));
    }
    Ok(AskServiceRequest {
        question,
        tool,
        args,
        summarize,
        plan_only: plan_only.unwrap_or(false),
        with_trace: trace.unwrap_or(false),
        caller: context.caller,
        request_id: context.request_id,
        stop: CancellationToken::new(),
        events: None,
    })
}
