//! Bodies: of a request, read up to a limit, and of a response.

use std::{
    future::{Future, poll_fn},
    task::Poll,
    time::Duration,
};

use axum::{
    body::{Body, HttpBody},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::{Bytes, BytesMut};
use contract::codes;
use gate::Failure;
use http_body_util::BodyExt;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use crate::App;

/// The part of a refused body that is thrown away so that the refusal can be read: a client
/// that is cut off while it sends often never looks at what it was told.
const MAX_DISCARDED_BYTES: u64 = 256 * 1_024 * 1_024;
/// And for how long.
const DISCARD_TIME: Duration = Duration::from_secs(2);

/// The reason why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyError {
    /// Larger than the limit.
    TooLarge,
    /// It did not come in time, or not whole.
    Incomplete,
}

impl BodyError {
    /// The failure that the caller is told.
    pub(crate) fn into_failure(self, max_bytes: usize) -> Box<Failure> {
        Box::new(match self {
            BodyError::TooLarge => {
                let message = format!("Request body exceeds max size ({max_bytes} bytes).");
                Failure::new(codes::PAYLOAD_TOO_LARGE, message)
                    .stderr(codes::PAYLOAD_TOO_LARGE.code)
                    .details(json!({ "max_body_bytes": max_bytes }))
            }
            BodyError::Incomplete => {
                let message = "the request body did not arrive whole";
                Failure::new(codes::INVALID_REQUEST, message)
                    .summary("Tool execution request is invalid.")
            }
        })
    }
}

/// The JSON object that the body of a request holds; nothing where the body is empty.
pub(crate) async fn read_object(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<Option<Map<String, Value>>, Box<Failure>> {
    let settings = &app.settings;
    let bytes = read(headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| error.into_failure(settings.max_body_bytes))?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    if bytes.is_empty() {
        return Ok(None);
    }
    match gate::beside_runtime(bytes.len(), || contract::json::parse(&bytes)) {
        Ok(Value::Object(object)) => Ok(Some(object)),
        Ok(_) => Err(invalid("the request body must be an object".into())),
        Err(error) => Err(invalid(format!("the request body is invalid JSON: {error}"))),
    }
}

/// The same where there must be a body.
pub(crate) async fn require_object(
    app: &App,
    headers: &HeaderMap,
    body: Body,
) -> Result<Map<String, Value>, Box<Failure>> {
    let object = read_object(app, headers, body).await?;
    object.ok_or_else(|| {
        Box::new(Failure::new(codes::INVALID_REQUEST, "the request is missing a JSON body"))
    })
}

/// The whole body, if it is within the limit. One that says that it is larger is
/// refused before it is read, one that turns out to be larger as soon as it does.
pub(crate) async fn read(
    headers: &HeaderMap,
    mut body: Body,
    max_bytes: usize,
    time: Duration,
) -> Result<Bytes, BodyError> {
    let announced = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|length| length > max_bytes as u64) {
        discard(body);
        return Err(BodyError::TooLarge);
    }
    let result = {
        let mut whole = std::pin::pin!(collect(&mut body, max_bytes));
        // Mostly it is there already, and then no clock has to be set for it.
        match poll_fn(|context| Poll::Ready(whole.as_mut().poll(context))).await {
            Poll::Ready(result) => result,
            Poll::Pending => timeout(time, whole).await.unwrap_or(Err(BodyError::Incomplete)),
        }
    };
    if result == Err(BodyError::TooLarge) {
        discard(body);
    }
    result
}

async fn collect(body: &mut Body, max_bytes: usize) -> Result<Bytes, BodyError> {
    let mut first: Option<Bytes> = None;
    let mut rest = BytesMut::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| BodyError::Incomplete)?;
        let Ok(data) = frame.into_data() else { continue };
        let length = first.as_ref().map_or(0, Bytes::len).max(rest.len()) + data.len();
        if length > max_bytes {
            return Err(BodyError::TooLarge);
        }
        // Most bodies come in one piece, which then needs no copy.
        match first.take() {
            None if rest.is_empty() => first = Some(data),
            Some(begin) => {
                rest.extend_from_slice(&begin);
                rest.extend_from_slice(&data);
            }
            None => rest.extend_from_slice(&data),
        }
    }
    Ok(first.unwrap_or_else(|| rest.freeze()))
}

/// Reads on and keeps nothing, beside the answer that is already on its way.
fn discard(mut body: Body) {
    if body.is_end_stream() {
        return;
    }
    tokio::spawn(timeout(DISCARD_TIME, async move {
        let mut discarded = 0;
        while let Some(Ok(frame)) = body.frame().await {
            discarded += frame.data_ref().map_or(0, |data| data.len() as u64);
            if discarded > MAX_DISCARDED_BYTES {
                break;
            }
        }
    }));
}

pub(crate) fn response(status: u16, content_type: HeaderValue, body: impl Into<Bytes>) -> Response {
    let mut response = Response::new(Body::from(body.into()));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(header::CONTENT_TYPE, content_type);
    response
}

/// A response with JSON that is already printed.
pub(crate) fn json_response(status: u16, body: impl Into<Bytes>) -> Response {
    response(status, HeaderValue::from_static("application/json"), body)
}
