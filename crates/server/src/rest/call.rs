//! `POST /v1/tools/{tool}`: the simple envelope, for a tool or for a toolset.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Extension,
    extract::{FromRequestParts, Path, Request, State},
    http::request::Parts,
    response::Response,
};
use contract::codes;
use gate::{Call, Door, Failure, Outcome};
use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};

use crate::{
    App,
    http::{
        body,
        identity::{RejectedRequest, RequestContext},
    },
    rest::{execute, response},
};

/// The route.
pub(crate) const PATH: &str = "/v1/tools/{tool}";

/// The name of the tool in the path. Bytes that are no text are the name of no tool, and the gate
/// says so.
pub(crate) struct ToolName(pub String);

impl<S: Send + Sync> FromRequestParts<S> for ToolName {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Infallible> {
        Ok(Self(match Path::from_request_parts(parts, state).await {
            Ok(Path(name)) => name,
            Err(_) => parts.uri.path().rsplit('/').next().unwrap_or_default().to_owned(),
        }))
    }
}

/// The name in a path that is [`PATH`] and needs no decoding.
pub(crate) fn name_in(path: &str) -> Option<&str> {
    let name = path.strip_prefix("/v1/tools/")?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    (!name.is_empty() && name.bytes().all(is_plain)).then_some(name)
}

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    ToolName(name): ToolName,
    request: Request,
) -> Response {
    answer(&app, context, name, request).await
}

/// Answers a request of this route.
pub(crate) async fn answer(
    app: &App,
    context: RequestContext,
    name: String,
    request: Request,
) -> Response {
    let request_id = context.request_id.clone();
    let outcome = match read(app, &name, context, request).await {
        Ok(call) => app.gate.call(call).await,
        Err(failure) => Outcome::refused(&name, request_id, *failure),
    };
    render(&name, &outcome)
}

/// Refuses a request whose sender was not accepted.
pub(crate) async fn refuse(
    Extension(rejected): Extension<RejectedRequest>,
    ToolName(name): ToolName,
) -> Response {
    render(&name, &Outcome::refused(&name, rejected.request_id, rejected.failure))
}

/// The call that a request asks for.
async fn read(
    app: &App,
    name: &str,
    context: RequestContext,
    request: Request,
) -> Result<Call, Box<Failure>> {
    let (head, body) = request.into_parts();
    let mut request = body::require_object(app, &head.headers, body).await?;
    let idempotency_key = execute::idempotency_key(&head.headers)?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    let args = request.remove("args").unwrap_or_else(|| Value::Object(Map::new()));
    let approval = execute::approval(request.remove("approval_id"))?;
    if let Some(key) = request.keys().next() {
        let shown: String = key.chars().take(64).collect();
        return Err(invalid(format!("`{shown}` is not a known key; the arguments go into `args`")));
    }
    if !args.is_object() {
        return Err(invalid("`args` must be an object".into()));
    }
    let call = Call::new(name, args, Door::Rest, context.caller, context.request_id)
        .or_toolset()
        .idempotency_key(idempotency_key)
        .approval(approval);
    Ok(call)
}

#[derive(Serialize)]
struct CallSuccess<'a> {
    tool: &'a str,
    ok: bool,
    result: &'a RawValue,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    artifacts: &'a [gate::Artifact],
    #[serde(skip_serializing_if = "Option::is_none")]
    job_id: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    spilled: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    released: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    quarantine_id: Option<&'a str>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    contract_warnings: &'a [gate::ContractWarning],
}

#[derive(Serialize)]
struct CallFailure<'a> {
    tool: &'a str,
    ok: bool,
    error: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
}

/// The outcome in the simple envelope.
pub(crate) fn render(name: &str, outcome: &Outcome) -> Response {
    let tool: String = name.chars().take(64).collect();
    let mut response = match &outcome.result {
        Ok(output) => response::json(
            outcome.http_status(),
            &CallSuccess {
                tool: &tool,
                ok: true,
                result: &output.json,
                artifacts: &outcome.artifacts,
                job_id: outcome.job_id.as_ref().map(gate::JobId::as_str),
                spilled: outcome.flags.spilled,
                released: outcome.flags.released.is_some(),
                quarantine_id: outcome.flags.released.as_deref(),
                contract_warnings: &outcome.flags.warnings,
            },
        ),
        Err(failure) => response::json(
            failure.http_status,
            &CallFailure {
                tool: &tool,
                ok: false,
                error: &failure.message,
                code: &failure.code,
                details: failure.details.as_ref(),
            },
        ),
    };
    execute::headers(&mut response, outcome);
    response
}
