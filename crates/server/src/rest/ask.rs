//! `POST /v1/ask`: a question, at most one call, and an answer with quotes.

use std::{convert::Infallible, sync::Arc, time::Duration};

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
use serde_json::{Map, Value};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    App, AskReply, AskRequest,
    http::{body, identity::RequestContext, response},
    rest::{events, execute},
};

const KEYS: [&str; 6] = ["question", "tool", "args", "summarize", "plan_only", "trace"];

pub(crate) async fn ask(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Response {
    let wants_events = wants_events(request.headers());
    let mut asked = match read(&app, context, request).await {
        Ok(asked) => asked,
        Err(failure) => return response::failure(&failure),
    };
    // Who stops to wait has lost interest. The run ends then by itself and is written down, whatever becomes of the connection.
    let guard = asked.stop.clone().drop_guard();
    let events = wants_events.then(|| {
        let (sender, receiver) = mpsc::unbounded_channel();
        asked.events = Some(sender);
        receiver
    });
    let answering = match app.asks.clone().ask(asked) {
        Ok(answering) => tokio::spawn(answering),
        Err(failure) => return response::failure(&failure),
    };
    if let Some(events) = events {
        let keep_alive = events::keep_alive(&app);
        return stream_of(Stream { events, answering, guard, keep_alive, is_over: false });
    }
    match answering.await {
        Ok(reply) => {
            let mut response = response::json(reply.status, &reply.body);
            response::retry_after(&mut response, reply.retry_after);
            response
        }
        Err(_) => response::error(codes::INTERNAL, "the run ended without an answer", None),
    }
}

/// Whether the client reads a stream of events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepts = headers.get_all(header::ACCEPT).iter();
    let mut kinds = accepts.filter_map(|value| value.to_str().ok()).flat_map(|all| all.split(','));
    kinds.any(|kind| kind.split(';').next().unwrap_or_default().trim() == "text/event-stream")
}

/// What happens, as it happens, and then the answer.
fn stream_of(stream: Stream) -> Response {
    let next = stream::unfold(stream, async |mut stream| {
        let bytes = stream.next().await?;
        Some((Ok::<_, Infallible>(bytes), stream))
    });
    events::events(Body::from_stream(next))
}

struct Stream {
    events: mpsc::UnboundedReceiver<(String, Value)>,
    answering: JoinHandle<AskReply>,
    #[allow(dead_code, reason = "ends the run when it is dropped")]
    guard: DropGuard,
    keep_alive: Duration,
    is_over: bool,
}

impl Stream {
    /// All events, in order, and the result last.
    async fn next(&mut self) -> Option<Bytes> {
        if self.is_over {
            return None;
        }
        tokio::select! {
            biased;
            Some((name, data)) = self.events.recv() => Some(event(&name, &data.to_string())),
            reply = &mut self.answering => {
                self.is_over = true;
                reply.ok().map(|reply| event("result", reply.body.get()))
            }
            () = tokio::time::sleep(self.keep_alive) => Some(Bytes::from_static(b": still here\n\n")),
        }
    }
}

fn event(name: &str, data: &str) -> Bytes {
    Bytes::from(format!("event: {name}\ndata: {data}\n\n"))
}

async fn read(
    app: &App,
    context: RequestContext,
    request: Request,
) -> Result<AskRequest, Box<Failure>> {
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
    Ok(AskRequest {
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
