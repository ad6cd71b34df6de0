//! One page of a listing: `tools/list`, `prompts/list`, `resources/list` and their like.

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor},
};
use serde_json::{Value, json, value::RawValue};

use crate::unreadable;

/// The largest item, in bytes of JSON. Of a larger one only the name is kept.
pub const MAX_ITEM_BYTES: usize = 262_144;
/// The field that such an item has in place of the rest.
pub const TOO_LARGE: &str = "toolgate/too_large";

#[derive(Debug, Default)]
pub struct ListingPage {
    /// The items, as the server wrote them; null where one could not be read.
    pub items: Vec<Value>,
    /// True if there were more of them than there was room for.
    pub more: bool,
    /// The beginning of the next page.
    pub cursor: Option<String>,
    /// The time for which the listing stays true, in milliseconds.
    pub ttl_ms: Option<u64>,
}

impl ListingPage {
    /// Reads at most `room` items of the list `key`.
    pub fn read(json: &str, key: &'static str, room: usize) -> Result<Self, String> {
        let mut page = Self::default();
        let visitor = PageVisitor { page: &mut page, key, room, found: false };
        let found = serde_json::Deserializer::from_str(json)
            .deserialize_map(visitor)
            .map_err(|error| format!("the listing cannot be read: {}", unreadable(&error)))?;
        if found { Ok(page) } else { Err(format!("the result has no list `{key}`")) }
    }
}

struct PageVisitor<'a> {
    page: &'a mut ListingPage,
    key: &'static str,
    room: usize,
    found: bool,
}

impl<'de> Visitor<'de> for PageVisitor<'_> {
    type Value = bool;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<bool, A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match &*name {
                name if name == self.key => {
                    map.next_value_seed(ItemsVisitor { page: &mut *self.page, room: self.room })?;
                    self.found = true;
                }
                "nextCursor" => self.page.cursor = map.next_value()?,
                // A hint; one that is not a number hints at nothing.
                "ttlMs" => self.page.ttl_ms = map.next_value::<&RawValue>()?.get().parse().ok(),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(self.found)
    }
}

/// Reads as many items as there is room for.
struct ItemsVisitor<'a> {
    page: &'a mut ListingPage,
    room: usize,
}

impl<'de> DeserializeSeed<'de> for ItemsVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ItemsVisitor<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        // One by one: an item that cannot be read does not take the others along.
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
    struct NamedItem {
        name: String,
    }
    if raw.get().len() <= MAX_ITEM_BYTES {
        return Value::deserialize(raw).unwrap_or_default();
    }
    match NamedItem::deserialize(raw) {
        Ok(NamedItem { name }) if name.len() <= MAX_ITEM_BYTES / 64 => {
            json!({ "name": name, TOO_LARGE: true })
        }
        _ => Value::Null,
    }
}
