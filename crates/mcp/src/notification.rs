//! Notifications that mean something to the one who gets them.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::{Value, json, value::RawValue};

use crate::{
    Id,
    message::{bounded_value, encode_notification, is_object},
};

/// As much of the message of a progress notification as is kept, in characters.
const MAX_MESSAGE_CHARS: usize = 4_096;
/// The largest log message, in bytes of JSON. More is left out.
const MAX_LOG_BYTES: usize = 64 * 1_024;
/// The longest name of a log level, in characters.
const MAX_LEVEL_CHARS: usize = 32;

/// A notification, within bounds.
#[derive(Debug)]
pub enum Notification {
    /// A request has come further. The token is the number that we gave with the request.
    Progress(u64, Progress),
    /// A log message, which does not say which request it belongs to.
    Log(LogMessage),
    /// A listing may have changed.
    ListChanged(ListKind),
    /// The peer does not want the response to a request of its own any more.
    Cancelled(Id),
    /// Any other.
    Other,
}

/// The progress of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Progress {
    /// Grows with each notification.
    pub progress: f64,
    /// The value that it grows to, where that is known.
    pub total: Option<f64>,
    /// A text for people.
    pub message: Option<String>,
}

/// A log message of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct LogMessage {
    /// The level, in the word of the protocol.
    pub level: String,
    /// Any JSON value.
    pub data: Value,
}

/// A listing that may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// `tools/list`.
    Tools,
    /// `prompts/list`.
    Prompts,
    /// `resources/list`.
    Resources,
}

impl ListKind {
    /// All of them.
    pub const ALL: [ListKind; 3] = [ListKind::Tools, ListKind::Prompts, ListKind::Resources];

    /// The method of the notification.
    pub const fn changed_method(self) -> &'static str {
        match self {
            ListKind::Tools => "notifications/tools/list_changed",
            ListKind::Prompts => "notifications/prompts/list_changed",
            ListKind::Resources => "notifications/resources/list_changed",
        }
    }

    /// The name of the capability, and of the list in a listing.
    pub const fn name(self) -> &'static str {
        match self {
            ListKind::Tools => "tools",
            ListKind::Prompts => "prompts",
            ListKind::Resources => "resources",
        }
    }

    /// The name of its filter in `subscriptions/listen`.
    pub const fn subscription(self) -> &'static str {
        match self {
            ListKind::Tools => "toolsListChanged",
            ListKind::Prompts => "promptsListChanged",
            ListKind::Resources => "resourcesListChanged",
        }
    }
}

impl Notification {
    pub fn read(method: &str, params: Option<&str>) -> Self {
        let read = match method {
            "notifications/progress" => params.and_then(progress),
            "notifications/message" => params.and_then(log_message).map(Self::Log),
            CANCELLED => params.and_then(cancelled_id).map(Self::Cancelled),
            _ => {
                let list = ListKind::ALL.into_iter().find(|list| list.changed_method() == method);
                list.map(Self::ListChanged)
            }
        };
        read.unwrap_or(Self::Other)
    }
}

const CANCELLED: &str = "notifications/cancelled";

/// The fields of an object.
fn fields<'a, T: Deserialize<'a>>(json: &'a str) -> Option<T> {
    is_object(json).then(|| serde_json::from_str(json).ok())?
}

fn progress(params: &str) -> Option<Notification> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct ProgressFields<'a> {
        #[serde(borrow)]
        progress_token: &'a RawValue,
        progress: f64,
        total: Option<f64>,
        message: Option<Cow<'a, str>>,
    }
    let fields: ProgressFields<'_> = fields(params)?;
    let message = fields.message.map(|text| text.chars().take(MAX_MESSAGE_CHARS).collect());
    let progress = Progress { progress: fields.progress, total: fields.total, message };
    Some(Notification::Progress(fields.progress_token.get().parse().ok()?, progress))
}

fn log_message(params: &str) -> Option<LogMessage> {
    #[derive(Deserialize)]
    struct LogFields<'a> {
        #[serde(borrow)]
        level: Cow<'a, str>,
        #[serde(borrow)]
        data: Option<&'a RawValue>,
    }
    let fields: LogFields<'_> = fields(params)?;
    let data = match fields.data.map(RawValue::get) {
        None => Value::Null,
        Some(data) => bounded_value(data, MAX_LOG_BYTES).unwrap_or_else(|| {
            Value::from(format!("a log message of {} bytes was left out", data.len()))
        }),
    };
    Some(LogMessage { level: fields.level.chars().take(MAX_LEVEL_CHARS).collect(), data })
}

fn cancelled_id(params: &str) -> Option<Id> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct CancelledFields<'a> {
        #[serde(borrow)]
        request_id: &'a RawValue,
    }
    Id::read(fields::<CancelledFields<'_>>(params)?.request_id.get())
}

/// The message that cancels a request of ours.
pub fn cancelled(id: u64, reason: &str) -> Vec<u8> {
    encode_notification(CANCELLED, Some(&json!({ "requestId": id, "reason": reason })))
}

impl Progress {
    /// The message for the request with this token.
    pub fn encode(&self, token: &Value) -> Vec<u8> {
        let mut params = json!({ "progressToken": token, "progress": self.progress });
        if let Some(total) = self.total {
            // Often 100, which is an integer to every reader.
            #[allow(clippy::cast_possible_truncation, reason = "compared with what it was")]
            let whole = total as i64;
            #[allow(clippy::cast_precision_loss, reason = "compared with what it was")]
            let is_whole = (whole as f64).to_bits() == total.to_bits();
            params["total"] = if is_whole { json!(whole) } else { json!(total) };
        }
        if let Some(message) = &self.message {
            params["message"] = json!(message);
        }
        encode_notification("notifications/progress", Some(&params))
    }
}

impl LogMessage {
    /// The message, with the name of its source.
    pub fn encode(&self, logger: &str) -> Vec<u8> {
        let params = json!({ "level": self.level, "logger": logger, "data": self.data });
        encode_notification("notifications/message", Some(&params))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(method: &str, params: &str) -> Notification {
        Notification::read(method, Some(params))
    }

    #[test]
    fn notifications_that_mean_something_are_known() {
        let progress = r#"{"progressToken":7,"progress":1,"total":2.5,"message":"half"}"#;
        let Notification::Progress(7, progress) = read("notifications/progress", progress) else {
            panic!("not read");
        };
        let expected =
            Progress { progress: 1.0, total: Some(2.5), message: Some("half".to_owned()) };
        assert_eq!(progress, expected);
        let log = r#"{"level":"info","logger":"x","data":{"a":1}}"#;
        assert!(matches!(
            read("notifications/message", log),
            Notification::Log(LogMessage { level, data }) if level == "info" && data["a"] == 1
        ));
        for list in ListKind::ALL {
            assert!(matches!(
                Notification::read(list.changed_method(), None),
                Notification::ListChanged(changed) if changed == list
            ));
        }
        assert!(matches!(
            read("notifications/cancelled", r#"{"requestId":"a"}"#),
            Notification::Cancelled(id) if id.to_string() == "\"a\""
        ));
    }

    #[test]
    fn notifications_that_cannot_be_read_mean_nothing() {
        for params in ["{}", "[]", "1", r#"{"progressToken":"x","progress":1}"#, "[7,1,null,null]"]
        {
            let read = read("notifications/progress", params);
            assert!(matches!(read, Notification::Other), "{params}");
        }
        for (method, params) in [
            ("notifications/progress", None),
            ("notifications/message", Some("{}")),
            ("notifications/cancelled", Some(r#"{"requestId":{}}"#)),
            ("notifications/whatever", Some("{}")),
        ] {
            assert!(matches!(Notification::read(method, params), Notification::Other), "{method}");
        }
    }

    #[test]
    fn what_is_too_large_is_cut_or_left_out() {
        let long = "ä".repeat(100_000);
        let text = format!(r#"{{"progressToken":1,"progress":1,"message":"{long}"}}"#);
        let Notification::Progress(_, progress) = read("notifications/progress", &text) else {
            panic!("not read");
        };
        assert_eq!(progress.message.unwrap().chars().count(), MAX_MESSAGE_CHARS);
        let text = format!(r#"{{"level":"info","data":"{long}"}}"#);
        assert!(matches!(
            read("notifications/message", &text),
            Notification::Log(LogMessage { data: Value::String(text), .. }) if text.contains("left out")
        ));
    }

    #[test]
    fn what_is_written_is_read_the_same() {
        let told = Progress { progress: 1.0, total: None, message: Some("a\nb".to_owned()) };
        let line = String::from_utf8(told.encode(&json!(3))).unwrap();
        let Ok(crate::Message::Notification { method, params }) =
            crate::Message::read(line.as_bytes())
        else {
            panic!("{line}");
        };
        assert!(matches!(
            Notification::read(&method, params),
            Notification::Progress(3, read) if read == told
        ));
        let line = cancelled(3, "no\none");
        assert_eq!(
            String::from_utf8(line).unwrap(),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"no\none"}}"#
        );
    }
}
