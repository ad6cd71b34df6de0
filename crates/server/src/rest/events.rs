//! `GET /v1/jobs/{id}/events`: the events of a job, as server-sent events.

use std::sync::Arc;

use axum::{
    Extension,
    extract::State,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response, sse::Event},
};
use futures_util::{
    StreamExt,
    stream::{self, Stream},
};
use gate::{JobEvent, JobId, LiveJob};
use serde_json::json;

use crate::{
    App,
    http::{event_stream, identity::RequestContext},
    rest::{jobs, path::PathName, response::ErrorResponse},
};

pub(crate) async fn watch(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
    headers: HeaderMap,
) -> Result<Response, ErrorResponse> {
    // A client that comes back says which event it has seen last.
    let seen = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or(0);
    if let Some(live) = JobId::parse(&id).and_then(|id| app.gate.live(&id)) {
        let keep_alive = app.settings.mcp.keep_alive;
        let locked_out = Box::pin(async move { app.is_locked_out(&context.caller).await });
        let events = live_events(live, seen).take_until(locked_out);
        return Ok(event_stream::respond(events, keep_alive));
    }
    let job = jobs::find(&app, &id).await?;
    // A client that comes back after the end need not come back again.
    if job.state.is_final() && seen > 0 {
        return Ok(StatusCode::NO_CONTENT.into_response());
    }
    let data = json!({ "job_id": job.id, "status": job.state });
    let only = JobEvent { number: seen.saturating_add(1), kind: "state", data };
    Ok(event_stream::respond(stream::iter([event(&only)]), app.settings.mcp.keep_alive))
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
