//! Responses in the shapes of REST.

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{IntoResponse, Response},
};
use contract::{
    Contract,
    codes::{self, StandardCode},
};
use gate::{Failure, StoreError};
use serde::Serialize;
use serde_json::{Value, json};

use crate::http::body;

pub(crate) fn json(status: u16, value: &impl Serialize) -> Response {
    body::json_response(status, serde_json::to_vec(value).unwrap_or_default())
}

/// An error outside a tool call.
pub(crate) fn error(code: StandardCode, message: &str, details: Option<Value>) -> Response {
    failure(&Failure { details, ..Failure::new(code, message) })
}

/// A failure outside a tool call.
pub(crate) fn failure(failure: &Failure) -> Response {
    let mut error = json!({ "code": failure.code, "message": failure.message });
    if let Some(details) = &failure.details {
        error["details"] = details.clone();
    }
    let mut response = json(failure.http_status, &json!({ "error": error }));
    retry_after(&mut response, failure.retry_after);
    response
}

/// A response that ends a handler early: `?` turns failures of any kind into one.
pub(crate) struct ErrorResponse(Box<Response>);

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        *self.0
    }
}

impl From<Response> for ErrorResponse {
    fn from(response: Response) -> Self {
        Self(Box::new(response))
    }
}

impl From<Box<Failure>> for ErrorResponse {
    fn from(failure: Box<Failure>) -> Self {
        self::failure(&failure).into()
    }
}

impl From<StoreError> for ErrorResponse {
    fn from(error: StoreError) -> Self {
        tracing::error!(%error, "the store failed");
        let mut failure = Failure::new(codes::UNAVAILABLE, error.to_string());
        failure.retry_after = Some(5);
        self::failure(&failure).into()
    }
}

/// Says after how many seconds a retry makes sense.
pub(crate) fn retry_after(response: &mut Response, seconds: Option<u32>) {
    if let Some(seconds) = seconds {
        response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// Says that a tool is deprecated, and what comes after it.
pub(crate) fn deprecation(response: &mut Response, contract: &Contract) {
    for (name, value) in contract::render::deprecation::headers(contract) {
        set(response, HeaderName::from_static(name), &value);
    }
}

/// Sets a header whose value is made of plain characters.
pub(crate) fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
