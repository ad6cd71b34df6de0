//! `POST /v1/tools/{tool}`: the simple envelope, for a tool or for a toolset.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Path, Request, State, rejection::PathRejection},
    response::Response,
};
use contract::codes;
use gate::{ApprovalId, Call, Catalogue, Door, Failure, Outcome, Recording};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};
use tokio_util::sync::CancellationToken;

use crate::{
    App,
    http::{answer, body, front::Context},
    rest::execute,
};

/// What comes before the name of the tool.
pub(crate) const PREFIX: &str = "/v1/tools/";

pub(crate) async fn call(
    State(app): State<Arc<App>>,
    Extension(context): Extension<Context>,
    tool: Result<Path<String>, PathRejection>,
    request: Request,
) -> Response {
    let Path(asked) = match tool {
        Ok(name) => name,
        // Bytes that are no text are the name of no tool, and the gate says so.
        Err(_) => Path(request.uri().path().trim_start_matches(PREFIX).to_owned()),
    };
    match read(&app, &asked, request).await {
        Ok(Read { tool, input, idempotency_key, approval }) => {
            let outcome = app
                .gate
                .call(Call {
                    tool,
                    toolset: None,
                    meant: None,
                    input: Value::Object(input),
                    limits: contract::LimitOverrides::default(),
                    caller: context.caller,
                    door: Door::Rest,
                    request_id: context.request_id,
                    recording: Recording::WhenNeeded,
                    idempotency_key,
                    approval,
                    channel: gate::CallChannel::default(),
                    stop: CancellationToken::new(),
                })
                .await;
            render(&asked, &outcome)
        }
        Err(failure) => render(&asked, &Outcome::refused(&asked, context.request_id, *failure)),
    }
}

/// The tool that is meant, its arguments, and what comes with the call.
struct Read {
    tool: String,
    input: Map<String, Value>,
    idempotency_key: Option<String>,
    approval: Option<ApprovalId>,
}

async fn read(app: &App, asked: &str, request: Request) -> Result<Read, Box<Failure>> {
    let (head, body) = request.into_parts();
    let settings = &app.settings;
    let bytes = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| execute::unread(error, settings.max_body_bytes))?;
    let idempotency_key = execute::idempotency_key(&head.headers)?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if bytes.is_empty() {
        return Err(invalid("the request is missing a JSON body".into()));
    }
    let request = contract::json::parse(&bytes)
        .map_err(|error| invalid(format!("the request body is invalid JSON: {error}")))?;
    let Value::Object(mut request) = request else {
        return Err(invalid("the request body must be an object with `args`".into()));
    };
    let args = request.remove("args").unwrap_or_else(|| Value::Object(Map::new()));
    let approval = execute::approval(request.remove("approval_id"))?;
    if let Some(key) = request.keys().next() {
        let shown: String = key.chars().take(64).collect();
        return Err(invalid(format!("`{shown}` is not a known key; the arguments go into `args`")));
    }
    let Value::Object(mut input) = args else {
        return Err(invalid("`args` must be an object".into()));
    };
    let tool = choose(&app.gate.catalogue(), asked, &mut input)?;
    Ok(Read { tool, input, idempotency_key, approval })
}

/// The tool of that name; or of the toolset of that name the one that `command` picks,
/// or its default.
fn choose(
    catalogue: &Catalogue,
    asked: &str,
    args: &mut Map<String, Value>,
) -> Result<String, Box<Failure>> {
    if catalogue.find(asked).is_some() {
        return Ok(asked.to_owned());
    }
    let Some(toolset) = catalogue.toolset(asked) else {
        // The gate says that there is no such tool.
        return Ok(asked.to_owned());
    };
    let refuse = |code, message: String| {
        Box::new(Failure::new(code, message).details(json!({ "commands": toolset.tools })))
    };
    let commands = toolset.tools.join(", ");
    match (args.get("command"), &toolset.default) {
        (Some(Value::String(command)), _) if toolset.tools.contains(command) => {
            let command = command.clone();
            args.remove("command");
            Ok(command)
        }
        (Some(Value::String(command)), _) => {
            let shown: String = command.chars().take(64).collect();
            let message = format!("`{asked}` has no command `{shown}`; it has {commands}");
            Err(refuse(codes::UNKNOWN_TOOL, message))
        }
        (Some(_), _) => Err(refuse(codes::INVALID_REQUEST, "`command` must be a string".into())),
        (None, Some(default)) => Ok(default.clone()),
        (None, None) => {
            let message = format!("`command` is required: one of {commands}");
            Err(refuse(codes::INVALID_REQUEST, message))
        }
    }
}

#[derive(Serialize)]
struct Succeeded<'a> {
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
struct Failed<'a> {
    tool: &'a str,
    ok: bool,
    error: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<&'a Value>,
}

/// The outcome in the simple envelope.
pub(crate) fn render(asked: &str, outcome: &Outcome) -> Response {
    let tool: String = asked.chars().take(64).collect();
    let mut response = match &outcome.result {
        Ok(output) => answer::json(
            outcome.http_status(),
            &Succeeded {
                tool: &tool,
                ok: true,
                result: &output.json,
                artifacts: &outcome.artifacts,
                job_id: outcome.job_id.as_ref().map(gate::JobId::as_str),
                spilled: outcome.marks.spilled,
                released: outcome.marks.released.is_some(),
                quarantine_id: outcome.marks.released.as_deref(),
                contract_warnings: &outcome.marks.warnings,
            },
        ),
        Err(failure) => answer::json(
            failure.http_status,
            &Failed {
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
