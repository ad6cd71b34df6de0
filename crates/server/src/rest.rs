//! The REST doors, a file for every noun.

mod approvals;
mod artifacts;
mod ask;
pub(crate) mod call;
mod config;
pub(crate) mod docs;
pub(crate) mod documents;
mod events;
pub(crate) mod execute;
mod health;
mod jobs;
pub mod openapi;
mod page;
mod path;
mod quarantine;
pub(crate) mod response;
mod tools;
mod upstreams;

use std::sync::Arc;

use axum::{
    Extension, Router,
    extract::{Query, rejection::PathRejection},
    response::Response,
    routing::{any, get, post},
};
use contract::{Violation, codes};
use gate::{Failure, approvals::MAX_REASON_CHARACTERS};
use serde_json::{Map, Value, json};

use self::response::ErrorResponse;
use crate::{
    App,
    http::identity::{self, RejectedRequest, RequestContext},
    mcp,
};

/// Every route.
pub(crate) fn routes(app: Arc<App>) -> Router {
    Router::new()
        .route("/", get(docs::root))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::json))
        .route("/openapi.yaml", get(openapi::yaml))
        .route("/docs", get(docs::page))
        // A session of a browser reads only what is below the page.
        .route("/docs/openapi.json", get(openapi::json))
        .route("/docs/openapi.yaml", get(openapi::yaml))
        .route("/docs/{file}", get(docs::file))
        .route("/v1/tools", get(tools::list))
        .route(execute::PATH, post(execute::execute))
        .route(call::PATH, get(tools::one).post(call::call).fallback(tools::no_such_method))
        .route("/v1/jobs", get(jobs::list).post(jobs::submit))
        .route("/v1/jobs/{id}", get(jobs::one).delete(jobs::cancel))
        .route("/v1/jobs/{id}/events", get(events::watch))
        .route("/v1/jobs/{id}/artifacts", get(artifacts::list))
        .route("/v1/jobs/{id}/artifacts/{name}", get(artifacts::download))
        .route("/v1/quarantine", get(quarantine::list))
        .route("/v1/quarantine/{id}", get(quarantine::one))
        .route("/v1/quarantine/{id}/release", post(quarantine::release))
        .route("/v1/ask", post(ask::ask))
        .route("/v1/upstreams", get(upstreams::list))
        .route("/v1/config", get(config::status))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/{id}", get(approvals::one).post(approvals::decide))
        .merge(mcp::http::routes())
        .fallback(async || response::error(codes::NOT_FOUND, "Unknown route.", None))
        .method_not_allowed_fallback(async || no_such_method())
        .with_state(app)
}

/// Refusals of requests whose sender was not accepted, in the shape of each route.
pub(crate) fn refusals() -> Router {
    let plain = async |Extension(rejected): Extension<RejectedRequest>| {
        response::failure(&rejected.failure)
    };
    Router::new()
        .route(execute::PATH, any(plain).post(execute::refuse))
        .route(call::PATH, any(plain).post(call::refuse))
        .merge(mcp::http::refusals())
        .fallback(plain)
}

fn no_such_method() -> Response {
    response::error(codes::METHOD_NOT_ALLOWED, "The route has no such method.", None)
}

/// Only who shows the operator's credential may do this.
fn only_operator(app: &App, context: &RequestContext, what: &str) -> Result<(), ErrorResponse> {
    if context.operator {
        return Ok(());
    }
    let message = format!(
        "only the operator may {what}: send the token of `operator.token` in the data folder as a \
         bearer token"
    );
    // Somebody who is known and may not is told something else than somebody who is not known.
    let code =
        if app.settings.tokens.is_empty() { codes::UNAUTHORIZED } else { codes::NOT_ALLOWED };
    let mut response = response::error(code, &message, None);
    if code == codes::UNAUTHORIZED {
        identity::ask_for_token(&mut response);
    }
    Err(response.into())
}

/// The reason of a person's decision, taken out of the body of a request.
fn reason(body: &mut Map<String, Value>) -> Result<Option<String>, Box<Failure>> {
    match body.remove("reason") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(words)) if words.chars().count() <= MAX_REASON_CHARACTERS => {
            Ok(Some(words.trim().to_owned()).filter(|words| !words.is_empty()))
        }
        Some(_) => {
            let message =
                format!("`reason` must be a text of at most {MAX_REASON_CHARACTERS} characters");
            Err(Box::new(Failure::new(codes::INVALID_REQUEST, message)))
        }
    }
}

/// Refuses an id that names nothing.
fn not_found(message: &str, field: &str, id: &str) -> Response {
    let shown: String = id.chars().take(64).collect();
    let message = message.replace("{id}", &shown);
    response::error(codes::NOT_FOUND, &message, Some(json!({ field: shown })))
}

/// Refuses what a body says beside the keys that are known.
fn no_more_keys(body: &Map<String, Value>, known: &[&'static str]) -> Result<(), Box<Failure>> {
    let Some(key) = body.keys().next() else { return Ok(()) };
    let violation = Violation::unknown_key("", key, known.iter().copied());
    Err(Box::new(Failure::new(codes::INVALID_REQUEST, violation.to_string())))
}

/// A part of a path that is no text names nothing.
fn unreadable_path(_: &PathRejection) -> Response {
    response::error(codes::NOT_FOUND, "Unknown route.", None)
}

/// The fields of a query. The last one wins where a name comes twice, and one without a
/// value is as good as none: forms send those.
fn query(uri: &axum::http::Uri) -> std::collections::HashMap<String, String> {
    let fields: Query<Vec<(String, String)>> = Query::try_from_uri(uri).unwrap_or_default();
    fields.0.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// Refuses a value of a query.
fn bad_query(field: &str, message: &str, accepted: Value) -> Response {
    let mut details = json!({ "field": field });
    if !accepted.is_null() {
        details["accepted"] = accepted;
    }
    response::error(codes::INVALID_REQUEST, message, Some(details))
}
