//! `/v1/quarantine`: answers that broke their contract, for people and programs.

use std::sync::Arc;

use axum::{extract::State, http::Uri, response::Response};
use contract::codes;
use serde_json::json;

use crate::{
    App,
    http::answer,
    rest::{self, named::Named},
};

pub(crate) async fn list(State(app): State<Arc<App>>, uri: Uri) -> Response {
    let query = rest::query(&uri);
    let limit = match rest::page_limit(query.get("limit")) {
        Ok(limit) => limit,
        Err(response) => return *response,
    };
    let cursor = query.get("cursor").cloned();
    match app.gate.store().all_quarantined(cursor, limit + 1).await {
        Ok(mut entries) => {
            let more = entries.len() > limit;
            entries.truncate(limit);
            let next = entries.last().filter(|_| more).map(|entry| entry.id.clone());
            answer::json(200, &json!({ "entries": entries, "next_cursor": next }))
        }
        Err(error) => rest::store_failed(&error),
    }
}

pub(crate) async fn one(State(app): State<Arc<App>>, Named(id): Named<String>) -> Response {
    match app.gate.store().quarantined(&id).await {
        Ok(Some(entry)) => answer::json(200, &entry),
        Ok(None) => {
            let shown: String = id.chars().take(64).collect();
            let details = Some(json!({ "id": shown }));
            answer::error(codes::NOT_FOUND, "Nothing is quarantined under that id.", details)
        }
        Err(error) => rest::store_failed(&error),
    }
}
