//! `POST /v1/tools/execute`: a call that is always recorded and always answered in the
//! same shape, whatever went wrong.

use std::sync::Arc;

use axum::{
    Extension,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderName},
    response::Response,
};
use bytes::Bytes;
use contract::{LimitOverrides, Violation, codes};
use gate::{ApprovalId, Call, Door, Failure, Gate, Outcome, Recording};
use serde_json::{Map, Value, json};

use crate::{
    App,
    http::{
        body,
        identity::{RejectedRequest, RequestContext},
    },
    rest::response,
};

/// The route.
pub(crate) const PATH: &str = "/v1/tools/execute";

/// The longest idempotency key, in bytes.
const MAX_KEY_BYTES: usize = 255;

pub(crate) async fn execute(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    request: Request,
) -> Response {
    answer(&app, context, request).await
}

/// Answers a request of this route.
pub(crate) async fn answer(app: &App, context: RequestContext, request: Request) -> Response {
    let request = match read(app, request).await {
        Ok(request) => request,
        Err(refused) => {
            let (tool, failure) = *refused;
            return render(Outcome::refused(&tool, context.request_id, failure));
        }
    };
    let call = request.into_call(Door::Rest, context);
    render(app.gate.call(call).await)
}

/// Refuses a request whose sender was not accepted.
pub(crate) async fn refuse(Extension(rejected): Extension<RejectedRequest>) -> Response {
    render(Outcome::refused("unknown", rejected.request_id, rejected.failure))
}

/// The outcome as a `ToolResult`.
pub(crate) fn render(outcome: Outcome) -> Response {
    let mut response = body::json_response(outcome.http_status(), Bytes::new());
    headers(&mut response, &outcome);
    // The text that was recorded is the text that is sent, without a copy.
    let text: Box<str> = outcome.into_tool_result().into();
    *response.body_mut() = Body::from(String::from(text));
    response
}

/// Adds the headers of an outcome.
pub(crate) fn headers(response: &mut Response, outcome: &Outcome) {
    if let Err(failure) = &outcome.result {
        response::retry_after(response, failure.retry_after);
    }
    if outcome.replayed {
        response::set(response, HeaderName::from_static("idempotency-replayed"), "true");
    }
    if let Some(contract) = &outcome.deprecated {
        response::deprecation(response, contract);
    }
}

/// The body of a call.
pub(crate) struct Execution {
    pub tool: String,
    pub input: Value,
    pub limits: LimitOverrides,
    pub idempotency_key: Option<String>,
    pub approval: Option<ApprovalId>,
    /// The other keys, for doors that know more.
    pub rest: Map<String, Value>,
}

impl Execution {
    /// The call that the body asks for.
    pub(crate) fn into_call(self, door: Door, context: RequestContext) -> Call {
        Call::new(self.tool, self.input, door, context.caller, context.request_id)
            .limits(self.limits)
            .recording(Recording::Always)
            .idempotency_key(self.idempotency_key)
            .approval(self.approval)
    }
}

/// A refusal and the name that it is told under.
pub(crate) type RefusedExecution = Box<(String, Failure)>;

async fn read(app: &App, request: Request) -> Result<Execution, RefusedExecution> {
    let request = parse(app, request, &["tool"]).await?;
    match request.rest.keys().next() {
        None => Ok(request),
        Some(key) => {
            let known = ["tool", "input", "context"];
            let violation = Violation::unknown_key("", key, known.into_iter());
            Err(Box::new((request.tool, bad_request(&violation.to_string()))))
        }
    }
}

/// Reads the body of a call, which names the tool under one of these keys; what it does not
/// know it leaves in `rest`.
pub(crate) async fn parse(
    app: &App,
    request: Request,
    tool_keys: &[&str],
) -> Result<Execution, RefusedExecution> {
    let (head, body) = request.into_parts();
    let unknown = |failure: Failure| Box::new(("unknown".to_owned(), failure));
    let settings = &app.settings;
    let bytes = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| unknown(*error.into_failure(settings.max_body_bytes)))?;
    if bytes.is_empty() {
        return Err(unknown(
            Failure::new(codes::INVALID_REQUEST, "Tool execution request is missing a JSON body.")
                .stderr("Missing request body."),
        ));
    }
    let whole = gate::beside_runtime(bytes.len(), || contract::json::parse(&bytes));
    let whole = whole.map_err(|error| {
        unknown(
            Failure::new(codes::INVALID_REQUEST, "Tool execution request body is invalid JSON.")
                .stderr("Failed to decode request JSON.")
                .details(json!({ "reason": error.to_string() })),
        )
    })?;
    let Value::Object(mut rest) = whole else {
        return Err(unknown(bad_request("the body must be an object")));
    };
    let tool = match tool_keys.iter().find_map(|key| rest.remove(*key)) {
        Some(Value::String(tool)) if !tool.trim().is_empty() => tool.trim().to_owned(),
        _ => {
            return Err(unknown(
                Failure::new(codes::INVALID_REQUEST, "tool must be a non-empty string.")
                    .stderr("Missing required field: tool."),
            ));
        }
    };
    let refuse = |failure: Failure| Box::new((tool.chars().take(64).collect(), failure));
    let idempotency_key = idempotency_key(&head.headers).map_err(|failure| refuse(*failure))?;
    let input = rest.remove("input").unwrap_or_else(|| Value::Object(Map::new()));
    if !input.is_object() {
        return Err(refuse(bad_request("`input` must be an object")));
    }
    let (limits, approval) = match rest.remove("context") {
        None => (None, None),
        Some(Value::Object(mut context)) => {
            let (limits, approval) = (context.remove("limits"), context.remove("approval_id"));
            if let Some(key) = context.keys().next() {
                let known = ["limits", "approval_id"];
                let violation = Violation::unknown_key("/context", key, known.into_iter());
                return Err(refuse(bad_request(&violation.to_string())));
            }
            (limits, approval)
        }
        Some(_) => return Err(refuse(bad_request("`context` must be an object"))),
    };
    let approval = self::approval(approval).map_err(|failure| refuse(*failure))?;
    let limits = read_limits(limits.as_ref(), &app.gate).map_err(|failure| refuse(*failure))?;
    Ok(Execution { tool: tool.clone(), input, limits, idempotency_key, approval, rest })
}

/// The limits that a request sets.
pub(crate) fn read_limits(
    given: Option<&Value>,
    gate: &Gate,
) -> Result<LimitOverrides, Box<Failure>> {
    let Some(given) = given else { return Ok(LimitOverrides::default()) };
    LimitOverrides::from_request(given, &gate.ceilings()).map_err(|violations| {
        let failure = bad_request(&format!("limits: {}", Violation::list(&violations)));
        Box::new(failure.details(json!({ "violations": violations })))
    })
}

pub(crate) fn bad_request(message: &str) -> Failure {
    Failure::new(codes::INVALID_REQUEST, message).summary("Tool execution request is invalid.")
}

/// The approval that the caller has for this call.
pub(crate) fn approval(given: Option<Value>) -> Result<Option<ApprovalId>, Box<Failure>> {
    match given {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_str().and_then(ApprovalId::parse) {
            Some(id) => Ok(Some(id)),
            None => Err(Box::new(bad_request("`approval_id` must be the id of an approval"))),
        },
    }
}

/// The caller's key for this call.
pub(crate) fn idempotency_key(headers: &HeaderMap) -> Result<Option<String>, Box<Failure>> {
    let mut values = headers.get_all("idempotency-key").iter();
    let Some(value) = values.next() else { return Ok(None) };
    // Of two keys, something on the way may have gone by the other.
    if values.next().is_some() {
        return Err(Box::new(bad_request(
            "a request must have at most one Idempotency-Key header",
        )));
    }
    let key = value.to_str().unwrap_or_default().trim();
    let printable = key.bytes().all(|byte| byte.is_ascii_graphic());
    if key.is_empty() || key.len() > MAX_KEY_BYTES || !printable {
        let message =
            format!("Idempotency-Key must be 1 to {MAX_KEY_BYTES} visible ASCII characters");
        return Err(Box::new(bad_request(&message)));
    }
    Ok(Some(key.to_owned()))
}
