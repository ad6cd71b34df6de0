//! The methods, by protocol version, and the file that answers each.

use gate::{BoxFuture, Gate};
use mcp::{
    ProtocolVersion, Request, RpcError, TASKS_EXTENSION,
    params::{self, Params, RequestMeta},
};
use serde_json::{Map, Value, json, value::RawValue};

use super::{
    Library, call, completion,
    context::{self, McpContext, RpcResult},
    listing::{self, RenderedKind},
    prompts, resources, subscriptions, tasks,
};

/// The outcome of a method, or the work that leads to it.
pub(crate) enum Dispatched {
    Ready(RpcResult),
    Pending(BoxFuture<'static, RpcResult>),
}

impl From<Result<BoxFuture<'static, RpcResult>, RpcError>> for Dispatched {
    fn from(begun: Result<BoxFuture<'static, RpcResult>, RpcError>) -> Self {
        match begun {
            Ok(later) => Dispatched::Pending(later),
            Err(error) => Dispatched::Ready(Err(error)),
        }
    }
}

/// The parameters of a request, taken apart as far as all methods need.
pub(crate) fn read<'a>(request: &Request<'a>) -> Result<(Params<'a>, RequestMeta<'a>), RpcError> {
    let params = Params::read(request.params)?;
    let meta = params.meta()?;
    Ok((params, meta))
}

/// An object that may be there, read strictly.
pub(crate) fn object(raw: Option<&RawValue>, name: &str) -> Result<Map<String, Value>, RpcError> {
    let Some(raw) = raw else { return Ok(Map::new()) };
    let bytes = raw.get().as_bytes();
    match gate::beside_runtime(bytes.len(), || contract::json::parse(bytes)) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(RpcError::invalid_params(format!("`{name}` must be an object"))),
        Err(error) => Err(RpcError::invalid_params(format!("`{name}`: {error}"))),
    }
}

/// Begins to answer a request. Nothing borrowed outlives this: what takes a while is owned.
pub(crate) fn begin(
    context: McpContext,
    method: &str,
    params: &Params<'_>,
    meta: &RequestMeta<'_>,
) -> Dispatched {
    let has_prompts = || has_prompts(&context.app.gate, &*context.library());
    match (method, context.client.is_modern()) {
        ("tools/call", _) => call::begin(context, params, meta).into(),
        ("tools/list", _) => list(context, params, |context, cursor| {
            listing::page(context, RenderedKind::Tools, cursor)
        }),
        ("resources/list", _) => list(context, params, |context, cursor| {
            listing::page(context, RenderedKind::Resources, cursor)
        }),
        ("resources/templates/list", _) => list(context, params, resources::templates),
        ("resources/read", _) => resources::read(context, params, meta).into(),
        ("completion/complete", _) => completion::begin(context, params, meta).into(),
        ("prompts/list", _) if has_prompts() => list(context, params, |context, cursor| {
            listing::small(context, "prompts", &context.library().prompts(), cursor)
        }),
        ("prompts/get", _) if has_prompts() => prompts::get(context, params, meta).into(),
        ("server/discover", true) => Dispatched::Ready(Ok(discover(&context))),
        ("subscriptions/listen", true) => subscriptions::listen(context, params).into(),
        ("tasks/get" | "tasks/update" | "tasks/cancel", true) => {
            task(context, method, params).into()
        }
        ("ping", false) => Dispatched::Ready(Ok(empty())),
        ("logging/setLevel", false) => Dispatched::Ready(set_level(&context, params)),
        ("resources/subscribe", false) => Dispatched::Ready(watch(&context, params, true)),
        ("resources/unsubscribe", false) => Dispatched::Ready(watch(&context, params, false)),
        _ => Dispatched::Ready(Err(RpcError::method_not_found(method))),
    }
}

/// Answers with a listing. One that is asked for while upstreams are being started waits for them: many clients list
/// once.
fn list(
    context: McpContext,
    params: &Params<'_>,
    page: impl FnOnce(&McpContext, Option<&RawValue>) -> RpcResult + Send + 'static,
) -> Dispatched {
    if !context.app.gate.is_starting() {
        return Dispatched::Ready(page(&context, params.cursor));
    }
    let cursor = params.cursor.map(ToOwned::to_owned);
    Dispatched::Pending(Box::pin(async move {
        tokio::select! {
            () = context.app.gate.started() => page(&context, cursor.as_deref()),
            () = context.stop.cancelled() => Err(RpcError::internal("cancelled")),
        }
    }))
}

/// True if there are prompts, or may be soon.
fn has_prompts(gate: &Gate, library: &dyn Library) -> bool {
    gate.is_starting() || !library.prompts().is_empty()
}

fn task(
    context: McpContext,
    method: &str,
    params: &Params<'_>,
) -> Result<BoxFuture<'static, RpcResult>, RpcError> {
    if !context.client.tasks {
        return Err(tasks::not_declared());
    }
    let id = tasks::named(params)?;
    Ok(match method {
        "tasks/get" => Box::pin(tasks::get(context, id)),
        "tasks/cancel" => Box::pin(tasks::cancel(context, id)),
        _ => {
            let replies = object(params.input_responses, "inputResponses")?;
            Box::pin(tasks::update(context, id, replies))
        }
    })
}

fn set_level(context: &McpContext, params: &Params<'_>) -> RpcResult {
    let raw = params.level.ok_or_else(|| RpcError::invalid_params("params must have `level`"))?;
    let level = context::log_level(raw)?;
    if let Some(session) = &context.session {
        session.set_level(level);
    }
    Ok(empty())
}

fn watch(context: &McpContext, params: &Params<'_>, on: bool) -> RpcResult {
    let uri = params::required(params.uri, "uri")?;
    let Some(session) = &context.session else { return Ok(empty()) };
    if !on {
        session.unwatch(&uri);
    } else if !session.watch(&uri) {
        return Err(RpcError::internal("too many resources are subscribed to"));
    }
    Ok(empty())
}

/// The capabilities of the server.
pub(crate) fn capabilities(gate: &Gate, library: &dyn Library, version: ProtocolVersion) -> Value {
    let mut can = json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "completions": {},
        "logging": {},
    });
    if has_prompts(gate, library) {
        can["prompts"] = json!({ "listChanged": library.prompt_changes().is_some() });
    }
    if version.is_modern() {
        can["extensions"] = json!({ TASKS_EXTENSION: {} });
    }
    can
}

/// The instructions for the model of a client.
pub(crate) const INSTRUCTIONS: &str = "Every call is checked against the contract of its tool: \
    the arguments before it runs, the result before you see it. A refused call names every \
    mistake by JSON pointer; correct the arguments and call again. Files that a call leaves are \
    linked as resources.";

fn discover(context: &McpContext) -> mcp::Response {
    let mut result = Map::new();
    result.insert("supportedVersions".into(), json!(ProtocolVersion::MODERN));
    result.insert(
        "capabilities".into(),
        capabilities(&context.app.gate, &*context.library(), context.client.version),
    );
    result.insert("instructions".into(), json!(INSTRUCTIONS));
    context.cacheable(result)
}

/// The result of a method that has nothing to say.
fn empty() -> mcp::Response {
    bytes::Bytes::from_static(b"{}").into()
}
