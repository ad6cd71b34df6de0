//! `/v1/quarantine`: answers that broke their contract, for people and programs.

use std::sync::Arc;

use axum::{
    Extension,
    extract::{Request, State},
    http::Uri,
    response::Response,
};
use contract::{Violation, codes};
use gate::{
    Failure,
    quarantine::{self, QuarantineFilter, QuarantineSummary, ReleaseDecision, ReleaseResult},
};
use serde_json::{Map, Value, json};

use crate::{
    App,
    http::{
        body,
        identity::{OPERATOR, RequestContext},
        response,
    },
    rest::{self, execute, path::PathName},
};

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let query = rest::query(&uri);
    let limit = match rest::page_limit(query.get("limit")) {
        Ok(limit) => limit,
        Err(response) => return *response,
    };
    let state =
        match query.get("status").map(|word| quarantine::QuarantineState::parse(word.trim())) {
            None => None,
            Some(Some(state)) => Some(state),
            Some(None) => {
                let accepted =
                    json!(quarantine::QuarantineState::ALL.map(quarantine::QuarantineState::word));
                return rest::bad_query("status", "Invalid status query value.", accepted);
            }
        };
    let cursor = query.get("cursor").cloned();
    if cursor.as_ref().is_some_and(|cursor| !QuarantineSummary::is_id(cursor)) {
        let message = "cursor must be the id of a quarantine entry.";
        return rest::bad_query("cursor", message, Value::Null);
    }
    let (tool, caller) = (query.get("tool").cloned(), query.get("caller").cloned());
    // One more than asked for tells whether there is a next page.
    let filter = QuarantineFilter { state, tool, caller, cursor, limit: limit + 1 };
    let gate = &app.gate;
    match gate.store().all_quarantined(filter, gate.clock().now()).await {
        Ok(mut entries) => {
            let more = entries.len() > limit;
            entries.truncate(limit);
            let next = entries.last().filter(|_| more).map(|entry| entry.id.clone());
            response::json(200, &json!({ "entries": entries, "next_cursor": next }))
        }
        Err(error) => rest::store_failed(&error),
    }
}

pub(crate) async fn one(State(app): State<Arc<App>>, PathName(id): PathName<String>) -> Response {
    let gate = &app.gate;
    match gate.store().quarantined(&id, gate.clock().now()).await {
        Ok(Some(entry)) => response::json(200, &entry),
        Ok(None) => unknown(&id),
        Err(error) => rest::store_failed(&error),
    }
}

/// The operator lets the caller of the call have the answer.
pub(crate) async fn release(
    State(app): State<Arc<App>>,
    Extension(context): Extension<RequestContext>,
    PathName(id): PathName<String>,
    request: Request,
) -> Response {
    if let Err(response) = rest::only_operator(&app, &context, "release what is quarantined") {
        return *response;
    }
    let decision = match read(&app, request).await {
        Ok(decision) => decision,
        Err(failure) => return response::failure(&failure),
    };
    match app.gate.release(&id, decision).await {
        Ok(ReleaseResult::Done(entry)) => response::json(200, &entry),
        Ok(ReleaseResult::Refused(entry, why)) => {
            let message = format!("{} cannot be released: {why}.", entry.id);
            response::error(codes::CONFLICT, &message, Some(json!({ "status": entry.state })))
        }
        Ok(ReleaseResult::Unknown) => unknown(&id),
        Err(error) => rest::store_failed(&error),
    }
}

/// What the operator says: `{"reason": "…"}`, or nothing.
async fn read(app: &App, request: Request) -> Result<ReleaseDecision, Box<Failure>> {
    let (head, body) = request.into_parts();
    let settings = &app.settings;
    let bytes = body::read(&head.headers, body, settings.max_body_bytes, settings.body_timeout)
        .await
        .map_err(|error| execute::unread(error, settings.max_body_bytes))?;
    let invalid = |message: String| Box::new(Failure::new(codes::INVALID_REQUEST, message));
    let mut parsed = if bytes.is_empty() {
        Map::new()
    } else {
        match contract::json::parse(&bytes) {
            Ok(Value::Object(parsed)) => parsed,
            Ok(_) => return Err(invalid("the request body must be an object".into())),
            Err(error) => {
                return Err(invalid(format!("the request body is invalid JSON: {error}")));
            }
        }
    };
    let reason = rest::reason(&mut parsed)?;
    if let Some(key) = parsed.keys().next() {
        let violation = Violation::unknown_key("", key, ["reason"].into_iter());
        return Err(invalid(violation.to_string()));
    }
    Ok(ReleaseDecision { by: OPERATOR.into(), reason })
}

fn unknown(id: &str) -> Response {
    let shown: String = id.chars().take(64).collect();
    let details = Some(json!({ "id": shown }));
    response::error(codes::NOT_FOUND, "Nothing is quarantined under that id.", details)
}
