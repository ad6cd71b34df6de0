//! Messages of a server, taken apart once. A result is not looked into, and not copied.

use std::{borrow::Cow, ops::Range};

use bytes::Bytes;
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, SeqAccess, Visitor},
};
use serde_json::{Value, value::RawValue};

use super::{Event, Happening, Reply, RpcError};

/// The longest id of a server's own request, in bytes.
const MAX_ID_BYTES: usize = 1_024;
/// As much of the text of an error as is kept, in characters.
const MAX_ERROR_CHARS: usize = 4_096;
/// The largest `data` of an error, and the largest line of a log, in bytes of JSON. More is left out.
const MAX_DATA_BYTES: usize = 64 * 1_024;
/// As much of the words of a progress note as is kept, in characters.
const MAX_NOTE_CHARS: usize = 4_096;
/// How many messages of one batch are read (2025-03-26).
const MAX_BATCH: usize = 1_000;

/// What a message is.
#[derive(Debug)]
pub(crate) enum Incoming<'a> {
    /// The answer to a request of ours.
    Response {
        /// The number of the request; nothing where it is none that we could have given.
        id: Option<u64>,
        /// Where in the message the result stands, or the error.
        outcome: Result<Range<usize>, RpcError>,
    },
    /// The server asks, and waits for an answer.
    Request {
        /// As it was written, to be sent back.
        id: Box<str>,
        /// What is asked.
        method: Cow<'a, str>,
        /// Not looked into.
        params: Option<&'a RawValue>,
    },
    /// The server tells.
    Notification {
        /// What is told.
        method: Cow<'a, str>,
        /// Not looked into.
        params: Option<&'a RawValue>,
    },
}

/// The fields of any message, not looked into.
#[derive(Deserialize)]
struct Fields<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    result: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    error: Option<&'a RawValue>,
}

/// A field that is null is there all the same.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

/// The one message that the bytes spell, or why they spell none.
pub(crate) fn read(bytes: &[u8]) -> Result<Incoming<'_>, String> {
    // Where fields are read by name, a list of them in order would be taken as well.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err("it is no JSON object".to_owned());
    }
    let fields: Fields<'_> = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    if fields.jsonrpc.map(RawValue::get) != Some("\"2.0\"") {
        return Err("`jsonrpc` is not \"2.0\"".to_owned());
    }
    let Some(method) = fields.method else {
        return response(bytes, &fields);
    };
    let method = text(method).ok_or("`method` is no text")?;
    match fields.id {
        Some(id) => {
            let id = given_id(id).ok_or("`id` is neither a text nor a whole number")?;
            Ok(Incoming::Request { id, method, params: fields.params })
        }
        None => Ok(Incoming::Notification { method, params: fields.params }),
    }
}

/// The messages of a batch, which servers of 2025-03-26 may send. Nothing where the bytes are no list.
pub(crate) fn batch(message: &Bytes) -> Option<Vec<Bytes>> {
    if !message.trim_ascii_start().starts_with(b"[") {
        return None;
    }
    let Items(items) = serde_json::from_slice(message).ok()?;
    Some(items.iter().map(|item| message.slice(place(message, item.get()))).collect())
}

/// The first items of a list, none of which is looked into.
struct Items<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct First;
        impl<'de> Visitor<'de> for First {
            type Value = Items<'de>;

            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut items = Vec::new();
                while items.len() < MAX_BATCH
                    && let Some(item) = list.next_element()?
                {
                    items.push(item);
                }
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Items(items))
            }
        }
        deserializer.deserialize_seq(First)
    }
}

fn response<'a>(bytes: &'a [u8], fields: &Fields<'a>) -> Result<Incoming<'a>, String> {
    let id = fields.id.ok_or("it has neither `method` nor `id`")?;
    let id = id.get().parse().ok();
    // Some servers write the other of the two as null.
    let outcome = match (fields.result, fields.error.filter(|error| error.get() != "null")) {
        (Some(result), None) => Ok(place(bytes, result.get())),
        (_, Some(error)) => Err(rpc_error(error)),
        (None, None) => return Err("it has neither `method`, `result` nor `error`".to_owned()),
    };
    Ok(Incoming::Response { id, outcome })
}

/// Where a part of the text stands in the whole.
fn place(whole: &[u8], part: &str) -> Range<usize> {
    let start = part.as_ptr().addr() - whole.as_ptr().addr();
    start..start + part.len()
}

fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    // Borrowed unless something in it is escaped.
    match serde_json::from_str::<&str>(raw.get()) {
        Ok(text) => Some(Cow::Borrowed(text)),
        Err(_) => serde_json::from_str(raw.get()).map(Cow::Owned).ok(),
    }
}

fn given_id(raw: &RawValue) -> Option<Box<str>> {
    let text = raw.get();
    let digits = text.strip_prefix('-').unwrap_or(text);
    let whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    ((whole || text.starts_with('"')) && text.len() <= MAX_ID_BYTES).then(|| text.into())
}

/// An error of a server; one that is malformed is told as well as it can be.
fn rpc_error(raw: &RawValue) -> RpcError {
    #[derive(Deserialize)]
    struct Fields<'a> {
        code: Option<f64>,
        #[serde(borrow)]
        message: Option<&'a RawValue>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    const UNREADABLE: &str = "the server answered with an error that cannot be read";
    let error = |code, message: &str, data| RpcError {
        code,
        message: message.chars().take(MAX_ERROR_CHARS).collect(),
        data,
        status: None,
    };
    let Some(fields) =
        is_object(raw).then(|| serde_json::from_str::<Fields<'_>>(raw.get()).ok()).flatten()
    else {
        let text = text(raw).unwrap_or(Cow::Borrowed(UNREADABLE));
        return error(INTERNAL_ERROR, &text, None);
    };
    let message = fields.message.and_then(text).unwrap_or(Cow::Borrowed(UNREADABLE));
    #[allow(clippy::cast_possible_truncation, reason = "a number out of range ends at its edge")]
    let code = fields.code.map_or(INTERNAL_ERROR, |code| code as i64);
    error(code, &message, fields.data.and_then(|data| value(data, MAX_DATA_BYTES)))
}

/// JSON-RPC's number for an error that has no other.
const INTERNAL_ERROR: i64 = -32_603;

fn is_object(raw: &RawValue) -> bool {
    raw.get().starts_with('{')
}

/// The value, unless it is larger than so many bytes of JSON or holds what no value can.
pub(crate) fn value(raw: &RawValue, max_bytes: usize) -> Option<Value> {
    if raw.get().len() > max_bytes {
        return None;
    }
    serde_json::from_str(raw.get()).ok()
}

/// A notification that means something to us.
#[derive(Debug)]
pub(crate) enum Notice {
    /// A request has come further. The token is the one that we gave: the number of the request.
    Progress {
        /// The number of the request.
        token: u64,
        /// What is told to who waits for it.
        note: Happening,
    },
    /// A line of the log, which says nothing about which request it belongs to.
    Log(Happening),
    /// Something may have changed.
    Changed(Event),
    /// The server no longer wants the answer to a request of its own, whose id this is.
    Cancelled(Box<str>),
    /// Anything else.
    Other,
}

/// What a notification tells.
pub(crate) fn notice(method: &str, params: Option<&RawValue>) -> Notice {
    let notice = match method {
        "notifications/progress" => params.and_then(progress),
        "notifications/message" => params.and_then(log).map(Notice::Log),
        "notifications/cancelled" => params.and_then(cancelled),
        "notifications/tools/list_changed" => Some(Notice::Changed(Event::ToolsChanged)),
        "notifications/prompts/list_changed" => Some(Notice::Changed(Event::PromptsChanged)),
        "notifications/resources/list_changed" => Some(Notice::Changed(Event::ResourcesChanged)),
        _ => None,
    };
    notice.unwrap_or(Notice::Other)
}

fn progress(params: &RawValue) -> Option<Notice> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Fields<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
        progress: f64,
        total: Option<f64>,
        message: Option<Cow<'a, str>>,
    }
    let fields: Fields<'_> =
        is_object(params).then(|| serde_json::from_str(params.get()).ok())??;
    let message = fields.message.map(|text| text.chars().take(MAX_NOTE_CHARS).collect());
    let note = Happening::Progress { progress: fields.progress, total: fields.total, message };
    Some(Notice::Progress { token: fields.progress_token.get().parse().ok()?, note })
}

fn log(params: &RawValue) -> Option<Happening> {
    #[derive(Deserialize)]
    struct Fields<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    /// The longest word for a level, in characters.
    const MAX_LEVEL_CHARS: usize = 32;
    let fields: Fields<'_> =
        is_object(params).then(|| serde_json::from_str(params.get()).ok())??;
    let level = fields.level.chars().take(MAX_LEVEL_CHARS).collect();
    let data = match fields.data {
        None => Value::Null,
        Some(data) => value(data, MAX_DATA_BYTES).unwrap_or_else(|| {
            Value::from(format!("a line of {} bytes that was left out", data.get().len()))
        }),
    };
    Some(Happening::Log { level, data })
}

fn cancelled(params: &RawValue) -> Option<Notice> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Fields<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    let fields: Fields<'_> =
        is_object(params).then(|| serde_json::from_str(params.get()).ok())??;
    given_id(fields.request_id).map(Notice::Cancelled)
}

/// What a request ends with: its result in the message that carried it, or the error.
pub(crate) fn reply(
    message: &Bytes,
    outcome: Result<Range<usize>, RpcError>,
) -> Result<Reply, super::RequestError> {
    let place = outcome.map_err(super::RequestError::Rpc)?;
    Reply::new(message.clone(), place)
        .ok_or_else(|| super::RequestError::Protocol("the answer is no text".to_owned()))
}

#[cfg(test)]
#[path = "incoming/tests.rs"]
mod tests;
