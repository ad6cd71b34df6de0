//! `/v1/quarantine`: outputs that broke their contract, for people and programs.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::codes;
use gate::{
    Failure,
    quarantine::{
        QuarantineFilter, QuarantineState, QuarantineSummary, ReleaseDecision, ReleaseResult,
    },
};
use serde_json::json;

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

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, ErrorResponse> {
    let page = PageQuery::read(&uri)?;
    let id = |text: &str| QuarantineSummary::is_id(text).then(|| text.to_owned());
    let filter = QuarantineFilter {
        state: page.status(&QuarantineState::ALL, QuarantineState::word)?,
        tool: page.field("tool"),
        caller: page.field("caller"),
        cursor: page.cursor(id, "the id of a quarantine entry")?,
        limit: page.lookahead(),
    };
    let entries = app.gate.store().all_quarantined(filter, app.gate.clock().now()).await?;
    Ok(page.render("entries", entries, |entry| entry.id.clone()))
}

pub(crate) async fn one(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
) -> Result<Response, ErrorResponse> {
    let entry = app.gate.store().quarantined(&id, app.gate.clock().now()).await?;
    entry.map(|entry| response::json(200, &entry)).ok_or_else(|| unknown(&id))
}

/// The operator lets the caller of the call have the output.
pub(crate) async fn release(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
    request: Request,
) -> Result<Response, ErrorResponse> {
    rest::only_operator(&app, &context, "release what is quarantined")?;
    let decision = read(&app, request).await?;
    match app.gate.release(&id, decision).await? {
        ReleaseResult::Done(entry) => Ok(response::json(200, &entry)),
        ReleaseResult::Refused(entry, why) => {
            let message = format!("{} cannot be released: {why}.", entry.id);
            let details = Some(json!({ "status": entry.state }));
            Err(response::error(codes::CONFLICT, &message, details).into())
        }
        ReleaseResult::Unknown => Err(unknown(&id)),
    }
}

/// Reads `{"reason": "…"}`, or nothing.
async fn read(app: &App, request: Request) -> Result<ReleaseDecision, Box<Failure>> {
    let (head, body) = request.into_parts();
    let mut body = body::read_object(app, &head.headers, body).await?.unwrap_or_default();
    let reason = rest::reason(&mut body)?;
    rest::no_more_keys(&body, &["reason"])?;
    Ok(ReleaseDecision { by: OPERATOR.into(), reason })
}

fn unknown(id: &str) -> ErrorResponse {
    rest::not_found("Nothing is quarantined under that id.", "id", id).into()
}
