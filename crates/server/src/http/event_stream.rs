//! A response of server-sent events.

use std::{convert::Infallible, time::Duration};

use axum::{
    http::{HeaderName, HeaderValue, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{Stream, StreamExt};

/// The comment that is sent after a long silence.
pub(crate) const HEARTBEAT: &str = "still here";

/// The events as they come, with a heartbeat after so long a silence.
pub(crate) fn respond(
    events: impl Stream<Item = Event> + Send + 'static,
    keep_alive: Duration,
) -> Response {
    let keep_alive = KeepAlive::new().interval(keep_alive).text(HEARTBEAT);
    let mut response =
        Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies that hold events back would turn a stream into a wait.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}
