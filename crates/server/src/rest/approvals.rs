//! `/v1/approvals`: calls that wait for a person's word, and the word.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::codes;
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
    },
    rest::{
        self,
        page::PageQuery,
        path::PathName,
        response::{self, ErrorResponse},
    },
};

const DECIDE: &str = "see and decide approvals";

pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    uri: Uri,
) -> Result<Response, ErrorResponse> {
    rest::only_operator(&app, &context, DECIDE)?;
    let page = PageQuery::read(&uri)?;
    let filter = ApprovalFilter {
        state: page.status(&ApprovalState::ALL, ApprovalState::word)?,
        cursor: page.cursor(ApprovalId::parse, "an approval id")?,
        oldest_first: false,
        limit: page.lookahead(),
    };
    let approvals = app.gate.store().approvals(filter, app.gate.clock().now()).await?;
    Ok(page.render("approvals", approvals, |approval| approval.id.clone()))
}

/// The operator sees all of it; whoever asked for it sees how it stands.
pub(crate) async fn one(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
) -> Result<Response, ErrorResponse> {
    let known = parse(&id)?;
    match app.gate.store().approval(&known, app.gate.clock().now()).await? {
        Some(approval) if context.operator => Ok(response::json(200, &approval)),
        Some(approval) if approval.caller == context.caller.name() => {
            Ok(response::json(200, &status(&approval)))
        }
        _ => Err(unknown(&id)),
    }
}

/// The part of an approval that its caller sees.
fn status(approval: &Approval) -> Value {
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
) -> Result<Response, ErrorResponse> {
    rest::only_operator(&app, &context, DECIDE)?;
    let decision = read(&app, request).await?;
    match app.gate.decide(&parse(&id)?, decision).await? {
        DecisionResult::Done(approval) => Ok(response::json(200, &approval)),
        DecisionResult::TooLate(approval) => {
            let (id, word) = (&approval.id, approval.state.word());
            let message = format!("{id} is {word} and can no more be decided.");
            let details = Some(json!({ "status": approval.state }));
            Err(response::error(codes::CONFLICT, &message, details).into())
        }
        DecisionResult::Unknown => Err(unknown(&id)),
    }
}

/// Reads `{"decision": "approve" | "refuse", "reason": "…"}`.
async fn read(app: &App, request: Request) -> Result<ApprovalDecision, Box<Failure>> {
    let (head, body) = request.into_parts();
    let mut body = body::require_object(app, &head.headers, body).await?;
    let approve = match body.remove("decision").as_ref().and_then(Value::as_str) {
        Some("approve") => true,
        Some("refuse") => false,
        _ => {
            let message = "`decision` must be `approve` or `refuse`";
            return Err(Box::new(Failure::new(codes::INVALID_REQUEST, message)));
        }
    };
    let reason = rest::reason(&mut body)?;
    rest::no_more_keys(&body, &["decision", "reason"])?;
    Ok(ApprovalDecision { approve, by: OPERATOR.into(), reason })
}

fn parse(id: &str) -> Result<ApprovalId, ErrorResponse> {
    ApprovalId::parse(id).ok_or_else(|| unknown(id))
}

fn unknown(id: &str) -> ErrorResponse {
    rest::not_found("Approval not found: {id}.", "approval_id", id).into()
}
