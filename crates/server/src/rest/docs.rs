//! `/docs`: the API for people, without anything from outside.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    response::Response,
};
use contract::codes;

use crate::{App, http::answer};

pub(crate) async fn page(State(app): State<Arc<App>>) -> Response {
    let bytes = app.documents().page(|_| String::from("<!doctype html>"));
    answer::with_type(200, axum::http::HeaderValue::from_static("text/html; charset=utf-8"), bytes)
}

pub(crate) async fn file(Path(_): Path<String>) -> Response {
    answer::error(codes::NOT_FOUND, "Unknown route.", None)
}
