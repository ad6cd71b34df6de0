//! All pages of a listing, within limits.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use gate::secrets;
use mcp::{ListingPage, Response};
use serde_json::{Value, json};

use super::{Connection, ConnectionLimits, RequestError, RequestOptions};

/// The longest cursor, in bytes.
const MAX_CURSOR_BYTES: usize = 64 * 1_024;
/// The factor by which a listing may take longer than one request.
const LISTING_TIMEOUT_FACTOR: u32 = 4;

/// The listing of a server.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// The items, as the server wrote them; null where one could not be read.
    pub items: Vec<Value>,
    /// The time for which it stays true, in milliseconds, where the server says so.
    pub ttl_ms: Option<u64>,
    /// The limit that was reached, where there is more that was not read.
    pub cut: Option<String>,
}

impl Connection {
    /// Reads all pages of a listing. `key` is the name of the list in each result.
    pub async fn list(
        &self,
        method: &'static str,
        key: &'static str,
    ) -> Result<Listing, RequestError> {
        self.list_within(method, key, self.limits().request_timeout).await
    }

    /// Reads all pages of a listing, each of which may take so long.
    pub async fn list_within(
        &self,
        method: &'static str,
        key: &'static str,
        timeout: Duration,
    ) -> Result<Listing, RequestError> {
        let total = timeout.saturating_mul(LISTING_TIMEOUT_FACTOR);
        let mut reader = ListingReader::new(self.limits(), total);
        let mut params = "{}".to_owned();
        loop {
            let options = RequestOptions::new(timeout);
            let response = self.request(method, &params, options).await?;
            match reader.page(&response, key).map_err(RequestError::Protocol)? {
                Some(cursor) => params = json!({ "cursor": cursor }).to_string(),
                None => return Ok(reader.listing),
            }
        }
    }
}

/// Reads a listing page by page.
struct ListingReader {
    listing: Listing,
    max_listed: usize,
    max_pages: usize,
    max_bytes: usize,
    began: Instant,
    timeout: Duration,
    pages: usize,
    bytes: usize,
    cursors: HashSet<String>,
}

impl ListingReader {
    fn new(limits: &ConnectionLimits, timeout: Duration) -> Self {
        Self {
            listing: Listing::default(),
            max_listed: limits.max_listed,
            max_pages: limits.max_pages,
            max_bytes: limits.max_listing_bytes,
            began: Instant::now(),
            timeout,
            pages: 0,
            bytes: 0,
            cursors: HashSet::new(),
        }
    }

    /// Takes a page; the cursor of the next one.
    fn page(&mut self, response: &Response, key: &'static str) -> Result<Option<String>, String> {
        self.pages += 1;
        self.bytes += response.as_bytes().len();
        let room = self.max_listed - self.listing.items.len();
        let mut page = ListingPage::read(response.json(), key, room)?;
        page.items.iter_mut().for_each(secrets::redact_value);
        self.listing.items.extend(page.items);
        self.listing.ttl_ms = match (self.listing.ttl_ms, page.ttl_ms) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        // Some servers write an empty cursor where there is none.
        let cursor = page.cursor.filter(|cursor| !cursor.is_empty());
        self.listing.cut = self.limit(page.more, cursor.as_deref());
        if self.listing.cut.is_some() {
            return Ok(None);
        }
        if let Some(cursor) = &cursor {
            self.cursors.insert(cursor.clone());
        }
        Ok(cursor)
    }

    /// The limit that ends the reading.
    fn limit(&self, more: bool, cursor: Option<&str>) -> Option<String> {
        if more {
            return Some(format!("more than {} are listed (max_listed)", self.max_listed));
        }
        let cursor = cursor?;
        if self.listing.items.len() == self.max_listed {
            Some(format!("more than {} are listed (max_listed)", self.max_listed))
        } else if self.cursors.contains(cursor) {
            Some(format!("a cursor repeats after {} pages", self.pages))
        } else if self.pages == self.max_pages {
            Some(format!("there are more than {} pages (max_pages)", self.max_pages))
        } else if self.bytes > self.max_bytes {
            Some(format!("the listing has more than {} bytes (max_listing_bytes)", self.max_bytes))
        } else if cursor.len() > MAX_CURSOR_BYTES {
            Some(format!("a cursor is longer than {MAX_CURSOR_BYTES} bytes"))
        } else if self.began.elapsed() > self.timeout {
            let timeout = self.timeout.as_millis();
            Some(format!("the listing took longer than {timeout} ms"))
        } else {
            None
        }
    }
}

#[cfg(test)]
#[path = "listing/tests.rs"]
mod tests;
