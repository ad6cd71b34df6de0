//! Everything that a server lists, page by page, within limits.

use std::{
    collections::HashSet,
    time::{Duration, Instant},
};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use super::{Connection, Limits, Reply, Request, RequestError};

/// The largest item, in bytes of JSON. Of a larger one only the name is kept.
pub const MAX_ITEM_BYTES: usize = 262_144;
/// What such an item has instead of the rest.
pub const TOO_LARGE: &str = "toolgate/too_large";
/// The longest mark of a page, in bytes.
const MAX_CURSOR_BYTES: usize = 64 * 1_024;
/// How much longer a whole listing may take than one request.
const LISTING_PATIENCE: u32 = 4;

/// What a server lists.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// Everything, as the server wrote it; null where one could not be read.
    pub items: Vec<Value>,
    /// How long it stays true, in milliseconds, where the server says so.
    pub ttl_ms: Option<u64>,
    /// Why there is more that was not read: the limit that was met. Nothing where this is all.
    pub cut: Option<String>,
}

impl Connection {
    /// Asks for all pages of a listing. `key` is the name of the list in each answer.
    pub async fn list(
        &self,
        method: &'static str,
        key: &'static str,
    ) -> Result<Listing, RequestError> {
        self.list_within(method, key, self.limits().request_timeout).await
    }

    /// Asks for all pages of a listing, each of which may take so long.
    pub async fn list_within(
        &self,
        method: &'static str,
        key: &'static str,
        patience: Duration,
    ) -> Result<Listing, RequestError> {
        let mut reading = Reading::new(self.limits(), patience.saturating_mul(LISTING_PATIENCE));
        let mut params = "{}".to_owned();
        loop {
            let reply = self.request(Request::new(method, &params, patience)).await?;
            match reading.page(&reply, key).map_err(RequestError::Protocol)? {
                Some(cursor) => params = json!({ "cursor": cursor }).to_string(),
                None => return Ok(reading.listing),
            }
        }
    }
}

/// A listing that is being read.
struct Reading {
    listing: Listing,
    max_listed: usize,
    max_pages: usize,
    max_bytes: usize,
    began: Instant,
    patience: Duration,
    pages: usize,
    bytes: usize,
    cursors: HashSet<String>,
}

impl Reading {
    fn new(limits: &Limits, patience: Duration) -> Reading {
        Reading {
            listing: Listing::default(),
            max_listed: limits.max_listed,
            max_pages: limits.max_pages,
            max_bytes: limits.max_listing_bytes,
            began: Instant::now(),
            patience,
            pages: 0,
            bytes: 0,
            cursors: HashSet::new(),
        }
    }

    /// Takes a page, and says where the next one begins.
    fn page(&mut self, reply: &Reply, key: &'static str) -> Result<Option<String>, String> {
        self.pages += 1;
        self.bytes += reply.json().len();
        let room = self.max_listed - self.listing.items.len();
        let page = Page::read(reply.json(), key, room)?;
        self.listing.items.extend(page.items);
        self.listing.ttl_ms = match (self.listing.ttl_ms, page.ttl_ms) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        // Some servers write an empty one where there is none.
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

    /// The limit that keeps us from reading on.
    fn limit(&self, more: bool, cursor: Option<&str>) -> Option<String> {
        if more {
            return Some(format!("more than {} are listed (max_listed)", self.max_listed));
        }
        let cursor = cursor?;
        if self.listing.items.len() == self.max_listed {
            Some(format!("more than {} are listed (max_listed)", self.max_listed))
        } else if self.cursors.contains(cursor) {
            Some(format!("the pages go in a circle, after {} of them", self.pages))
        } else if self.pages == self.max_pages {
            Some(format!("there are more than {} pages (max_pages)", self.max_pages))
        } else if self.bytes > self.max_bytes {
            Some(format!("the listing has more than {} bytes (max_listing_bytes)", self.max_bytes))
        } else if cursor.len() > MAX_CURSOR_BYTES {
            Some(format!("the mark of a page is longer than {MAX_CURSOR_BYTES} bytes"))
        } else if self.began.elapsed() > self.patience {
            let patience = self.patience.as_millis();
            Some(format!("the listing took longer than {patience} ms"))
        } else {
            None
        }
    }
}

/// One page.
#[derive(Default)]
struct Page {
    items: Vec<Value>,
    /// There were more than there was room for.
    more: bool,
    cursor: Option<String>,
    ttl_ms: Option<u64>,
}

impl Page {
    fn read(json: &str, key: &'static str, room: usize) -> Result<Page, String> {
        let mut page = Page::default();
        let fields = Fields { page: &mut page, key, room, found: false };
        let found = serde_json::Deserializer::from_str(json)
            .deserialize_map(fields)
            .map_err(|error| format!("the listing cannot be read: {error}"))?;
        if found { Ok(page) } else { Err(format!("the answer has no list `{key}`")) }
    }
}

/// The fields of a page.
struct Fields<'a> {
    page: &'a mut Page,
    key: &'static str,
    room: usize,
    found: bool,
}

impl<'de> Visitor<'de> for Fields<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match &*name {
                name if name == self.key => {
                    let items = Items { page: &mut *self.page, room: self.room };
                    map.next_value_seed(items)?;
                    self.found = true;
                }
                "nextCursor" => self.page.cursor = map.next_value()?,
                // A hint; one that is no number hints at nothing.
                "ttlMs" => self.page.ttl_ms = map.next_value::<&RawValue>()?.get().parse().ok(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(self.found)
    }
}

/// The items of a page, as many as there is room for.
struct Items<'a> {
    page: &'a mut Page,
    room: usize,
}

impl<'de> DeserializeSeed<'de> for Items<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Items<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        // One by one: what cannot be read in one of them does not take the others along.
        while let Some(raw) = items.next_element::<&RawValue>()? {
            if self.page.items.len() == self.room {
                self.page.more = true;
            } else {
                self.page.items.push(item(raw));
            }
        }
        Ok(())
    }
}

fn item(raw: &RawValue) -> Value {
    #[derive(Deserialize)]
    struct Named {
        name: String,
    }
    if raw.get().len() <= MAX_ITEM_BYTES {
        return Value::deserialize(raw).unwrap_or_default();
    }
    match Named::deserialize(raw) {
        Ok(Named { name }) if name.len() <= MAX_ITEM_BYTES / 64 => {
            json!({ "name": name, TOO_LARGE: true })
        }
        _ => Value::Null,
    }
}

#[cfg(test)]
#[path = "listing/tests.rs"]
mod tests;
