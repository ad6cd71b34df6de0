//! What a message says in its head.

use base64::{Engine, engine::general_purpose::STANDARD};
use guard::net::{HeaderName, HeaderValue};

use super::super::{Era, Prepared};

/// The revision that is spoken.
pub(super) const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
/// The session that a message belongs to (legacy era).
pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The last event that was seen of a stream that broke off (legacy era).
pub(super) const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");

/// The revision of a request by which a server is asked which ones it speaks.
const FIRST_MODERN: HeaderValue = HeaderValue::from_static("2026-07-28");

/// How a value that no header can have is written.
const BEGIN: &str = "=?base64?";
const END: &str = "?=";

/// The headers that one request has beside those of all.
pub(super) fn of(
    request: &Prepared,
    era: Option<Era>,
) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    let mut headers = Vec::with_capacity(2 + request.headers.len());
    let modern = match era {
        Some(era) => era == Era::Modern,
        // Whoever does not know yet asks in the modern way, or opens a session.
        None => request.method != "initialize",
    };
    if modern {
        if era.is_none() {
            headers.push((VERSION, FIRST_MODERN));
        }
        headers.push((METHOD, HeaderValue::from_static(request.method)));
        if let Some(name) = &request.name {
            headers.push((NAME, value(name)?));
        }
    }
    for (name, text) in &request.headers {
        let name = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| "an argument is mirrored into what is no header".to_owned())?;
        headers.push((name, value(text)?));
    }
    Ok(headers)
}

/// The headers of a notification.
pub(super) fn of_notification(
    method: &str,
    era: Option<Era>,
) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
    if era == Some(Era::Modern) { Ok(vec![(METHOD, value(method)?)]) } else { Ok(Vec::new()) }
}

/// A text as the value of a header: as it is where that says the same, and encoded otherwise.
fn value(text: &str) -> Result<HeaderValue, String> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let looks_encoded = text.starts_with(BEGIN) && text.ends_with(END);
    let value = if printable && text.trim().len() == text.len() && !looks_encoded {
        HeaderValue::from_str(text)
    } else {
        HeaderValue::from_str(&format!("{BEGIN}{}{END}", STANDARD.encode(text)))
    };
    value.map_err(|_| "a name or an argument is too large for a header".to_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bytes::Bytes;

    use super::*;

    #[test]
    fn texts_that_no_header_can_have_are_encoded() {
        for (text, expected) in [
            ("echo", "echo"),
            ("two words", "two words"),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            (" echo", "=?base64?IGVjaG8=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?SGVsbG8=?=", "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?="),
            ("=?base64?x", "=?base64?x"),
            ("", ""),
        ] {
            assert_eq!(value(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_modern_request_repeats_what_it_says() {
        let request = |method| Prepared {
            id: 1,
            method,
            name: Some("echo".to_owned()),
            body: Bytes::new(),
            headers: vec![("Mcp-Param-City".to_owned(), "Köln".to_owned())],
            timeout: Duration::from_secs(1),
        };
        let names = |method, era| -> Vec<String> {
            let headers = of(&request(method), era).unwrap();
            headers.iter().map(|(name, _)| name.to_string()).collect()
        };
        assert_eq!(
            names("tools/call", Some(Era::Modern)),
            ["mcp-method", "mcp-name", "mcp-param-city"]
        );
        assert_eq!(names("tools/call", Some(Era::Legacy)), ["mcp-param-city"]);
        assert_eq!(names("initialize", None), ["mcp-param-city"]);
        assert_eq!(names("server/discover", None)[..2], ["mcp-protocol-version", "mcp-method"]);
    }
}
