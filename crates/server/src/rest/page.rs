//! One page of a listing: the fields of the query, and the shape of the response.

use std::{collections::HashMap, fmt::Display};

use axum::{http::Uri, response::Response};
use serde::Serialize;
use serde_json::{Value, json};

use crate::rest::{
    self,
    response::{self, ErrorResponse},
};

const DEFAULT_LIMIT: usize = 50;
const MAX_LIMIT: usize = 200;

/// The query of a listing.
pub(super) struct PageQuery {
    fields: HashMap<String, String>,
    limit: usize,
}

impl PageQuery {
    pub(super) fn read(uri: &Uri) -> Result<Self, ErrorResponse> {
        let fields = rest::query(uri);
        let limit = match fields.get("limit").map(|text| text.trim().parse::<usize>()) {
            None => DEFAULT_LIMIT,
            Some(Ok(limit)) if (1..=MAX_LIMIT).contains(&limit) => limit,
            Some(_) => {
                let message = format!("limit must be a whole number from 1 to {MAX_LIMIT}.");
                return Err(rest::bad_query("limit", &message, Value::Null).into());
            }
        };
        Ok(Self { fields, limit })
    }

    /// The field `status`, which is one of these words.
    pub(super) fn status<T: Copy>(
        &self,
        states: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Result<Option<T>, ErrorResponse> {
        let given = self.fields.get("status").map(|word| word.trim().to_lowercase());
        let Some(given) = given.filter(|word| !word.is_empty()) else { return Ok(None) };
        let state = states.iter().copied().find(|state| word(*state) == given);
        state.map(Some).ok_or_else(|| {
            let accepted = json!(states.iter().map(|state| word(*state)).collect::<Vec<_>>());
            rest::bad_query("status", "Invalid status query value.", accepted).into()
        })
    }

    /// The field `cursor`: the id of the last entry of the page before.
    pub(super) fn cursor<T>(
        &self,
        parse: impl Fn(&str) -> Option<T>,
        kind: &str,
    ) -> Result<Option<T>, ErrorResponse> {
        let Some(cursor) = self.fields.get("cursor") else { return Ok(None) };
        parse(cursor).map(Some).ok_or_else(|| {
            rest::bad_query("cursor", &format!("cursor must be {kind}."), Value::Null).into()
        })
    }

    /// Any other field.
    pub(super) fn field(&self, name: &str) -> Option<String> {
        self.fields.get(name).cloned()
    }

    /// The number of entries to look for: one more than fit tells whether there is a next page.
    pub(super) fn lookahead(&self) -> usize {
        self.limit + 1
    }

    /// The page, under the name of its entries.
    pub(super) fn render<T: Serialize, Id: Display>(
        &self,
        name: &str,
        mut entries: Vec<T>,
        id: impl Fn(&T) -> Id,
    ) -> Response {
        let more = entries.len() > self.limit;
        entries.truncate(self.limit);
        let next = entries.last().filter(|_| more).map(|entry| id(entry).to_string());
        response::json(200, &json!({ name: entries, "next_cursor": next }))
    }
}
