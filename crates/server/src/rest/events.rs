//! `GET /v1/jobs/{id}/events`: the events of a job, as server-sent events.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::{
    StreamExt,
    stream::{self, Stream},
};
use gate::{JobEvent, JobId, LiveJob};
use serde_json::json;

use crate::{
    App,
    rest::{jobs, path::PathName, response::ErrorResponse},
};

/// The longest silence of a stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The same within `server.idle_timeout_ms`, after which a silent connection is closed.
fn keep_alive(app: &App) -> Duration {
    KEEP_ALIVE.min(app.settings.idle_timeout / 2).max(Duration::from_millis(50))
}

pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    PathName(id): PathName<String>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    // A client that comes back says which event it has seen last.
    let seen = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    if let Some(live) = JobId::parse(&id).and_then(|id| app.gate.live(&id)) {
        return Ok(respond(&app, live_events(live, seen)));
    }
    let job = jobs::find(&app, &id).await?;
    // A client that comes back after the end need not come back again.
    if job.state.is_final() && seen > 0 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let data = json!({ "job_id": job.id, "status": job.state });
    let only = JobEvent { number: seen.saturating_add(1), kind: "state", data };
    Ok(respond(&app, stream::iter([event(&only)])))
}

/// The events of a job after the one of that number, until the job is over.
fn live_events(live: Arc<LiveJob>, seen: u64) -> impl Stream<Item = Event> {
    let batches = stream::unfold(Some((live, seen)), async |state| {
        let (live, seen) = state?;
        let (fresh, over) = live.events_after(seen).await;
        let last = fresh.last().map_or(seen, |event| event.number);
        Some((stream::iter(fresh), (!over).then_some((live, last))))
    });
    batches.flatten().map(|fresh| event(&fresh))
}

fn event(event: &JobEvent) -> Event {
    let id = event.number.to_string();
    Event::default().id(id).event(event.kind).data(event.data.to_string())
}

/// A response of server-sent events.
pub(super) fn respond<S>(app: &App, events: S) -> Response
where
    S: Stream<Item = Event> + Send + 'static,
{
    let keep_alive = KeepAlive::new().interval(keep_alive(app)).text("still here");
    let mut response =
        Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(keep_alive).into_response();
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
