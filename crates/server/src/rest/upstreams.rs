//! `/v1/upstreams`: other people's MCP servers, and how they are.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};
use serde_json::json;

use crate::{
    App,
    http::identity::RequestContext,
    rest::{
        self,
        response::{self, ErrorResponse},
    },
};

/// All of them. What a server prints may hold anything, so that only the operator reads it.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
) -> Result<Response, ErrorResponse> {
    rest::only_operator(&app, &context, "see how upstreams are")?;
    Ok(response::json(200, &json!({ "upstreams": app.library.upstreams() })))
}
