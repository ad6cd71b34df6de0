//! The methods: which there are in which era, and who answers them.

use contract::render::mcp::Era;
use gate::BoxFuture;
use serde_json::{Map, Value, json};

use super::{
    Library, call, client, completion,
    context::{Context, Reply},
    listing::{self, Kind},
    params::{self, Meta, Params},
    prompts, resources,
    rpc::{Request, RpcError},
    subscriptions, tasks,
    version::Version,
};

/// An answer, or the way to one.
pub(crate) enum Work {
    Now(Reply),
    Later(BoxFuture<'static, Reply>),
}

impl From<Result<BoxFuture<'static, Reply>, RpcError>> for Work {
    fn from(begun: Result<BoxFuture<'static, Reply>, RpcError>) -> Self {
        match begun {
            Ok(later) => Work::Later(later),
            Err(error) => Work::Now(Err(error)),
        }
    }
}

/// The parameters of a request, taken apart as far as all methods need.
pub(crate) fn read<'a>(request: &Request<'a>) -> Result<(Params<'a>, Meta<'a>), RpcError> {
    let params = Params::read(request.params)?;
    let meta = params.meta()?;
    Ok((params, meta))
}

/// Checks what a tool's caller repeats in the head of its request.
pub(crate) type HeadCheck<'a> = &'a dyn Fn(&call::Asked) -> Result<(), RpcError>;

/// Begins to answer a request. Nothing borrowed outlives this: what takes a while is owned.
pub(crate) fn begin(
    context: Context,
    method: &str,
    params: &Params<'_>,
    meta: &Meta<'_>,
    check: Option<HeadCheck<'_>>,
) -> Work {
    let has_prompts = || !context.library().prompts().is_empty();
    match (method, context.client.era()) {
        ("tools/call", _) => begin_call(context, params, meta, check).into(),
        ("tools/list", _) => Work::Now(listing::page(&context, Kind::Tools, params.cursor)),
        ("resources/list", _) => Work::Now(listing::page(&context, Kind::Resources, params.cursor)),
        ("resources/templates/list", _) => Work::Now(resources::templates(&context, params.cursor)),
        ("resources/read", _) => resource(context, params).into(),
        ("completion/complete", _) => completion::read(params)
            .map(|given| -> BoxFuture<'static, Reply> {
                Box::pin(completion::complete(context, given))
            })
            .into(),
        ("prompts/list", _) if has_prompts() => {
            let entries = context.library().prompts();
            Work::Now(listing::small(&context, "prompts", &entries, params.cursor))
        }
        ("prompts/get", _) if has_prompts() => {
            let begun = prompts::get(context, params);
            begun.map(|later| -> BoxFuture<'static, Reply> { Box::pin(later) }).into()
        }
        ("server/discover", Era::Modern) => Work::Now(Ok(discover(&context))),
        ("subscriptions/listen", Era::Modern) => subscriptions::listen(context, params).into(),
        ("tasks/get" | "tasks/update" | "tasks/cancel", Era::Modern) => {
            task(context, method, params).into()
        }
        ("ping", Era::Legacy) => Work::Now(Ok(b"{}".to_vec())),
        ("logging/setLevel", Era::Legacy) => Work::Now(set_level(&context, params)),
        ("resources/subscribe", Era::Legacy) => Work::Now(watch(&context, params, true)),
        ("resources/unsubscribe", Era::Legacy) => Work::Now(watch(&context, params, false)),
        _ => Work::Now(Err(RpcError::unknown_method(method))),
    }
}

fn begin_call(
    context: Context,
    params: &Params<'_>,
    meta: &Meta<'_>,
    check: Option<HeadCheck<'_>>,
) -> Result<BoxFuture<'static, Reply>, RpcError> {
    let asked = call::read(context, params, meta)?;
    if let Some(check) = check {
        check(&asked)?;
    }
    Ok(Box::pin(asked.answer()))
}

fn resource(context: Context, params: &Params<'_>) -> Result<BoxFuture<'static, Reply>, RpcError> {
    let uri = params::required(params.uri, "uri")?;
    Ok(Box::pin(resources::read(context, uri)))
}

fn task(
    context: Context,
    method: &str,
    params: &Params<'_>,
) -> Result<BoxFuture<'static, Reply>, RpcError> {
    if !context.client.tasks {
        return Err(tasks::not_declared());
    }
    let id = tasks::named(params)?;
    Ok(match method {
        "tasks/get" => Box::pin(tasks::get(context, id)),
        "tasks/cancel" => Box::pin(tasks::cancel(context, id)),
        _ => {
            let replies = params::object(params.input_responses, "inputResponses")?;
            Box::pin(tasks::update(context, id, replies))
        }
    })
}

fn set_level(context: &Context, params: &Params<'_>) -> Reply {
    let raw = params.level.ok_or_else(|| RpcError::malformed("params must have `level`"))?;
    let level = params::level(raw)?;
    if let Some(session) = &context.session {
        session.set_level(level);
    }
    Ok(b"{}".to_vec())
}

fn watch(context: &Context, params: &Params<'_>, on: bool) -> Reply {
    let uri = params::required(params.uri, "uri")?;
    let Some(session) = &context.session else { return Ok(b"{}".to_vec()) };
    if !on {
        session.unwatch(&uri);
    } else if !session.watch(&uri) {
        return Err(RpcError::internal("too many resources are watched"));
    }
    Ok(b"{}".to_vec())
}

/// What the server can do.
pub(crate) fn capabilities(library: &dyn Library, era: Era) -> Value {
    let mut can = json!({
        "tools": { "listChanged": true },
        "resources": { "listChanged": true, "subscribe": true },
        "completions": {},
        "logging": {},
    });
    if !library.prompts().is_empty() {
        can["prompts"] = json!({ "listChanged": library.prompt_changes().is_some() });
    }
    if era == Era::Modern {
        can["extensions"] = json!({ client::TASKS: {} });
    }
    can
}

/// What a model should know about every tool here.
pub(crate) const INSTRUCTIONS: &str = "Every call is checked against the contract of its tool: \
    the arguments before it runs, the result before you see it. A refused call names every \
    mistake by JSON pointer; correct the arguments and call again. Files that a call leaves are \
    linked as resources.";

fn discover(context: &Context) -> Vec<u8> {
    let mut result = Map::new();
    result.insert("supportedVersions".into(), json!(Version::MODERN));
    result.insert("capabilities".into(), capabilities(&*context.library(), Era::Modern));
    result.insert("instructions".into(), json!(INSTRUCTIONS));
    context.cacheable(result)
}
