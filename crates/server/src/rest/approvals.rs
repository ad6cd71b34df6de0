//! `/v1/approvals`: calls that wait for a person's word, and the word.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::{Violation, codes};
use gate::{
    Approval, ApprovalId, ApprovalState, Failure,
    approvals::{ApprovalDecision, ApprovalFilter, DecisionResult},
};
use serde_json::{Value, json};

use crate::{
    App,
    http::{
        body,
        identity::{OPERATOR, RequestContext},
        response,
    },
    rest::{self, execute, path::PathName},
};

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    uri: Uri,
) -> Response {
    if let Err(response) = rest::only_operator(&app, &context, "see and decide approvals") {
        return *response;
    }
    let query = rest::query(&uri);
    let limit = match rest::page_limit(query.get("limit")) {
        Ok(limit) => limit,
        Err(response) => return *response,
    };
    let state = match query.get("status").map(|word| ApprovalState::parse(word.trim())) {
        None => None,
        Some(Some(state)) => Some(state),
        Some(None) => {
            let accepted = json!(ApprovalState::ALL.map(ApprovalState::word));
            return rest::bad_query("status", "Invalid status query value.", accepted);
        }
    };
    let cursor = match query.get("cursor").map(|id| ApprovalId::parse(id)) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => {
            return rest::bad_query("cursor", "cursor must be an approval id.", Value::Null);
        }
    };
    let filter = ApprovalFilter { state, cursor, oldest_first: false, limit: limit + 1 };
    let gate = &app.gate;
    match gate.store().approvals(filter, gate.clock().now()).await {
        Ok(mut approvals) => {
            let more = approvals.len() > limit;
            approvals.truncate(limit);
            let next = approvals.last().filter(|_| more).map(|approval| approval.id.clone());
            response::json(200, &json!({ "approvals": approvals, "next_cursor": next }))
        }
        Err(error) => rest::store_failed(&error),
    }
}

/// The operator sees all of it; whoever asked for it sees how it stands.
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
) -> Response {
    let Some(known) = ApprovalId::parse(&id) else { return unknown(&id) };
    let gate = &app.gate;
    match gate.store().approval(&known, gate.clock().now()).await {
        Ok(Some(approval)) if context.operator => response::json(200, &approval),
        Ok(Some(approval)) if approval.caller == context.caller.name() => {
            response::json(200, &standing(&approval))
        }
        Ok(_) => unknown(&id),
        Err(error) => rest::store_failed(&error),
    }
}

fn standing(approval: &Approval) -> Value {
    json!({
        "id": approval.id,
        "status": approval.state,
        "tool": approval.tool,
        "job_id": approval.job_id,
        "input_sha256": approval.input_sha256,
        "created_at": approval.created_at,
        "expires_at": approval.expires_at,
        "decided_at": approval.decided_at,
        "reason": approval.reason,
    })
}

pub(crate) async fn decide(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
    request: Request,
) -> Response {
    if let Err(response) = rest::only_operator(&app, &context, "see and decide approvals") {
        return *response;
    }
    let verdict = match read(&app, request).await {
        Ok(verdict) => verdict,
        Err(failure) => return response::failure(&failure),
    };
    let Some(known) = ApprovalId::parse(&id) else { return unknown(&id) };
    match app.gate.decide(&known, verdict).await {
        Ok(DecisionResult::Done(approval)) => response::json(200, &approval),
        Ok(DecisionResult::TooLate(approval)) => {
            let (id, word) = (&approval.id, approval.state.word());
            let message = format!("{id} is {word} and can no more be decided.");
            response::error(codes::CONFLICT, &message, Some(json!({ "status": approval.state })))
        }
        Ok(DecisionResult::Unknown) => unknown(&id),
        Err(error) => rest::store_failed(&error),
    }
}

/// What the operator says: `{"decision": "approve" | "refuse", "reason": "…"}`.
async fn read(app: &App, request: Request) -> Result<ApprovalDecision, Box<Failure>> {
    let (head, body) = request.into_parts();
    let settings = &app.settings;
    let bytes = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| execute::unread(error, settings.max_body_bytes))?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    let parsed = contract::json::parse(&bytes)
        .map_err(|error| invalid(format!("the request body is invalid JSON: {error}")))?;
    let Value::Object(mut parsed) = parsed else {
        return Err(invalid("the request body must be an object with `decision`".into()));
    };
    let approve = match parsed.remove("decision").as_ref().and_then(Value::as_str) {
        Some("approve") => true,
        Some("refuse") => false,
        _ => return Err(invalid("`decision` must be `approve` or `refuse`".into())),
    };
    let reason = rest::reason(&mut parsed)?;
    if let Some(key) = parsed.keys().next() {
        let violation = Violation::unknown_key("", key, ["decision", "reason"].into_iter());
        return Err(invalid(violation.to_string()));
    }
    Ok(ApprovalDecision { approve, by: OPERATOR.into(), reason })
}

fn unknown(id: &str) -> Response {
    let shown: String = id.chars().take(64).collect();
    let details = Some(json!({ "approval_id": shown }));
    response::error(codes::NOT_FOUND, &format!("Approval not found: {shown}."), details)
}
