//! `/v1/config`: the settings in force, and the last reload.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use serde_json::{Value, json};

use crate::{
    App,
    http::identity::RequestContext,
    rest::{
        self,
        response::{self, ErrorResponse},
    },
};

/// The state of the settings. Errors quote the operator's files, so that only the operator reads them.
pub(crate) async fn status(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    rest::only_operator(&app, &context, "see the state of the settings")?;
    Ok(response::json(200, &json!(app.settings.reloads.report())))
}

/// What `/readyz` says of a reload that failed: anybody may read it.
pub(crate) fn failure_for_anybody(app: &App) -> Option<Value> {
    let failed = app.settings.reloads.report().failed?;
    let hint = "`toolgate config status` shows the errors";
    Some(json!({ "status": "failed", "at": failed.at, "reason": failed.place, "hint": hint }))
}
