//! `POST /v1/ask`: a question, at most one call, and an answer with quotes.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, header},
    response::Response,
};
use bytes::Bytes;
use contract::{Violation, codes};
use futures_util::stream;
use gate::Failure;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    App, Asked, Reply,
    http::{answer, body, front::Context},
    rest::{events, execute},
};

const KEYS: [&str; 6] = ["question", "tool", "args", "summarize", "plan_only", "trace"];

pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Context>,
    request: Request,
) -> Response {
    let wants_events = wants_events(request.headers());
    let mut asked = match read(&app, context, request).await {
        Ok(asked) => asked,
        Err(failure) => return answer::failure(&failure),
    };
    if wants_events {
        let (sender, receiver) = mpsc::unbounded_channel();
        asked.events = Some(sender);
        return stream_of(app, asked, receiver);
    }
    match app.asks.ask(asked).await {
        Ok(reply) => {
            let mut response = answer::json(reply.status, &reply.body);
            answer::retry_after(&mut response, reply.retry_after);
            response
        }
        Err(failure) => answer::failure(&failure),
    }
}

/// Whether the client reads a stream of events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut kinds = accepts.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/event-stream")
}

/// What happens, as it happens, and then the answer.
fn stream_of(
    app: Arc<App>,
    asked: Asked,
    events: mpsc::UnboundedReceiver<(String, Value)>,
) -> Response {
    // Who stops to read has lost interest.
    let guard = asked.stop.clone().drop_guard();
    let (end, result) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        let reply = app.asks.ask(asked).await;
        let data = match reply {
            Ok(Reply { body, .. }) => serde_json::from_str(body.get()).unwrap_or_default(),
            Err(failure) => {
                json!({ "error": { "code": failure.code, "message": failure.message } })
            }
        };
        let _ = end.send(("result".to_owned(), data));
    });
    let state = Stream { events, result, guard, is_over: false };
    let next = stream::unfold(state, async |mut state| {
        let bytes = state.next().await?;
        Some((Ok::<_, Infallible>(bytes), state))
    });
    events::events(Body::from_stream(next))
}

struct Stream {
    events: mpsc::UnboundedReceiver<(String, Value)>,
    result: mpsc::UnboundedReceiver<(String, Value)>,
    #[allow(dead_code, reason = "cancels the run when it is dropped")]
    guard: DropGuard,
    is_over: bool,
}

impl Stream {
    /// All events, in order, and the result last.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        let next = tokio::select! {
            biased;
            Some(event) = self.events.recv() => Some(event),
            result = self.result.recv() => {
                self.is_over = true;
                result
            }
            () = tokio::time::sleep(events::KEEP_ALIVE) => {
                return Some(Bytes::from_static(b": still here\n\n"));
            }
        };
        let (name, data) = next?;
        Some(Bytes::from(format!("event: {name}\ndata: {data}\n\n")))
    }
}

async fn read(app: &App, context: Context, request: Request) -> Result<Asked, Box<Failure>> {
    let (head, body) = request.into_parts();
    let settings = &app.settings;
    let bytes = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| execute::unread(error, settings.max_body_bytes))?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if bytes.is_empty() {
        return Err(invalid("the request is missing a JSON body".into()));
    }
    let parsed = contract::json::parse(&bytes)
        .map_err(|error| invalid(format!("the request body is invalid JSON: {error}")))?;
    let Value::Object(mut parsed) = parsed else {
        return Err(invalid("the request body must be an object with a `question`".into()));
    };
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
    Ok(Asked {
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
