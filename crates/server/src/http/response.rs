//! Responses in the shapes of the doors.

use axum::{
    body::Body,
    http::{HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use contract::codes::{self, StandardCode};
use gate::{Failure, StoreError};
use serde::Serialize;
use serde_json::{Value, json};

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// An answer with a body of that type.
pub(crate) fn with_type(status: u16, kind: HeaderValue, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response
}

/// JSON that is already printed.
pub(crate) fn printed(status: u16, body: impl Into<Bytes>) -> Response {
    with_type(status, JSON, body)
}

/// A value as JSON.
pub(crate) fn json(status: u16, value: &impl Serialize) -> Response {
    printed(status, serde_json::to_vec(value).unwrap_or_default())
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

/// Says that a bearer token is needed.
pub(crate) fn ask_for_token(response: &mut Response) {
    response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
}

/// Sets a header whose value is made of plain characters.
pub(crate) fn set(response: &mut Response, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        response.headers_mut().insert(name, value);
    }
}
