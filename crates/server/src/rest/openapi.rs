//! `/openapi.json`, `/openapi.yaml`: the contracts for programs that speak HTTP.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::Response,
};

use crate::{App, rest::tools::tagged};

pub(crate) async fn json(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    tagged(&app.documents().openapi().0, &headers)
}

pub(crate) async fn yaml(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let mut response = tagged(&app.documents().openapi().1, &headers);
    let kind = HeaderValue::from_static("application/yaml");
    if response.headers().contains_key(header::CONTENT_TYPE) {
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
    }
    response
}
