//! `GET /v1/tools`: what can be called.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::Response,
};
use contract::{Stability, codes};
use serde_json::json;

use crate::{
    App,
    http::body,
    rest::{self, documents::Rendered, path::PathName, response},
};

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri, headers: HeaderMap) -> Response {
    app.gate.started().await;
    let documents = app.documents();
    if uri.query().is_none_or(str::is_empty) {
        return tagged(documents.listing(), &headers);
    }
    let query = rest::query(&uri);
    let folded = |name: &str| query.get(name).map(|value| value.trim().to_lowercase());
    let stability = folded("stability").filter(|value| !value.is_empty());
    let accepted = Stability::ALL.map(Stability::word);
    if stability.as_ref().is_some_and(|given| !accepted.contains(&given.as_str())) {
        return rest::bad_query("stability", "Invalid stability query value.", json!(accepted));
    }
    let tags: Vec<String> = folded("tags")
        .unwrap_or_default()
        .split(',')
        .map(|tag| tag.trim().to_owned())
        .filter(|tag| !tag.is_empty())
        .collect();
    let toolset = folded("toolset").filter(|value| !value.is_empty());
    let matching = documents.catalogue().tools().filter(|tool| {
        let contract = &tool.contract;
        stability.as_ref().is_none_or(|given| contract.stability.word() == given)
            && toolset.as_ref().is_none_or(|given| contract.toolset.to_lowercase() == *given)
            && (tags.is_empty()
                || contract.tags.iter().any(|tag| tags.contains(&tag.to_lowercase())))
    });
    let listing = rest::documents::listing(matching.map(|tool| tool.descriptor().get()));
    tagged(&Rendered::new(listing), &headers)
}

pub(crate) async fn one(
    State(app): State<Arc<App>>,
    PathName(name): PathName<String>,
    headers: HeaderMap,
) -> Response {
    if app.gate.catalogue().find(&name).is_none() {
        app.gate.started().await;
    }
    match app.gate.catalogue().find(&name) {
        Some(tool) => {
            let rendered = Rendered::new(tool.descriptor().get().to_owned());
            let mut response = tagged(&rendered, &headers);
            response::deprecation(&mut response, &tool.contract);
            response
        }
        None if app.gate.catalogue().toolset(&name).is_some() => only_called(&name),
        None => {
            let shown: String = name.chars().take(64).collect();
            let near =
                app.gate.catalogue().nearest(&name).map(|near| json!({ "did_you_mean": near }));
            response::error(codes::UNKNOWN_TOOL, &format!("Unknown tool: {shown}."), near)
        }
    }
}

/// A toolset has no contract to show. Its path is there to be called.
fn only_called(toolset: &str) -> Response {
    let message = format!(
        "{toolset} is a toolset: call it with POST, or list it with GET /v1/tools?toolset={toolset}."
    );
    let mut response = response::error(codes::METHOD_NOT_ALLOWED, &message, None);
    response::set(&mut response, header::ALLOW, "POST");
    response
}

/// Refuses other methods. Which ones there are, the router adds; for a toolset they are fewer than
/// for a tool.
pub(crate) async fn no_such_method(
    State(app): State<Arc<App>>,
    PathName(name): PathName<String>,
) -> Response {
    let catalogue = app.gate.catalogue();
    if catalogue.find(&name).is_none() && catalogue.toolset(&name).is_some() {
        return only_called(&name);
    }
    rest::no_such_method()
}

/// The document, or nothing where the client has it already.
pub(crate) fn tagged(rendered: &Rendered, headers: &HeaderMap) -> Response {
    let known = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    let mut response = if known.is_some_and(|tags| matches_tag(tags, &rendered.etag)) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        body::json_response(200, rendered.bytes.clone())
    };
    response::set(&mut response, header::ETAG, &rendered.etag);
    response::set(&mut response, header::CACHE_CONTROL, "no-cache");
    response
}

/// True if a list of tags names this one, or any.
pub(crate) fn matches_tag(tags: &str, etag: &str) -> bool {
    tags.split(',')
        .map(|tag| tag.trim().trim_start_matches("W/"))
        .any(|tag| tag == "*" || tag == etag)
}
