//! `GET /v1/jobs/{id}/events`: what happens to a job, as server-sent events.

use std::{convert::Infallible, fmt::Write, sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use bytes::Bytes;
use futures_util::stream;
use gate::{JobEvent, JobId, LiveJob};
use serde_json::json;

use crate::{
    App,
    rest::{jobs, path::PathName},
};

/// How often a quiet stream says that it is still there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The same, often enough not to be taken for dead.
pub(super) fn keep_alive(app: &App) -> Duration {
    KEEP_ALIVE.min(app.settings.idle_timeout / 2).max(Duration::from_millis(50))
}

pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
    headers: HeaderMap,
) -> Response {
    // Whoever comes back says what it has seen.
    let seen = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    let live = JobId::parse(&id).and_then(|id| app.gate.live(&id));
    if let Some(live) = live {
        return stream_of(live, seen, keep_alive(&app));
    }
    match jobs::find(&app, &id).await {
        // Whoever comes back after the end need not come back again.
        Ok(job) if job.state.is_final() && seen > 0 => {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NO_CONTENT;
            response
        }
        Ok(job) => {
            let data = json!({ "job_id": job.id, "status": job.state });
            let only = print(&[JobEvent { number: seen.saturating_add(1), kind: "state", data }]);
            events(Body::from(only))
        }
        Err(response) => *response,
    }
}

fn stream_of(live: Arc<LiveJob>, seen: u64, keep_alive: Duration) -> Response {
    let next =
        stream::unfold(Some((live, seen)), move |state: Option<(Arc<LiveJob>, u64)>| async move {
            let (live, seen) = state?;
            match tokio::time::timeout(keep_alive, live.events_after(seen)).await {
                Err(_) => Some((Ok(Bytes::from_static(b": still here\n\n")), Some((live, seen)))),
                Ok((fresh, over)) => {
                    let last = fresh.last().map_or(seen, |event| event.number);
                    let rest = (!over).then_some((live, last));
                    Some((Ok::<_, Infallible>(Bytes::from(print(&fresh))), rest))
                }
            }
        });
    events(Body::from_stream(next))
}

fn print(events: &[JobEvent]) -> String {
    let mut text = String::new();
    for event in events {
        let _ =
            write!(text, "id: {}\nevent: {}\ndata: {}\n\n", event.number, event.kind, event.data);
    }
    text
}

/// A stream of events.
pub(super) fn events(body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
