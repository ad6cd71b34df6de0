//! The HTTP headers of MCP, and how a value that no header can have is written in one.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};

/// The protocol version of a request.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The session that a request belongs to (legacy).
pub const SESSION_ID: &str = "mcp-session-id";
/// The last event that was received of a stream that broke off (legacy).
pub const LAST_EVENT_ID: &str = "last-event-id";
/// The method of a request (modern).
pub const METHOD: &str = "mcp-method";
/// The tool, prompt or resource that a request names (modern).
pub const NAME: &str = "mcp-name";

const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// A text as the value of a header: as it is where it can stand in one, and in Base64 otherwise.
pub fn encode(text: &str) -> Cow<'_, str> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let looks_encoded = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    if printable && text.trim().len() == text.len() && !looks_encoded {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(format!("{PREFIX}{}{SUFFIX}", STANDARD.encode(text)))
    }
}

/// The text that a header stands for; nothing where it is not Base64 of a text.
pub fn decode(value: &str) -> Option<Cow<'_, str>> {
    let Some(encoded) = value.strip_prefix(PREFIX).and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Some(Cow::Borrowed(value));
    };
    let bytes = STANDARD.decode(encoded).ok()?;
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_no_header_can_have_are_encoded_and_decoded() {
        for (text, value) in [
            ("echo", "echo"),
            ("two words", "two words"),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            (" echo", "=?base64?IGVjaG8=?="),
            ("a\nb", "=?base64?YQpi?="),
            ("a\tb", "=?base64?YQli?="),
            ("=?base64?SGVsbG8=?=", "=?base64?PT9iYXNlNjQ/U0dWc2JHOD0/PQ==?="),
            ("=?base64?x", "=?base64?x"),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
            ("", ""),
        ] {
            assert_eq!(encode(text), value, "{text}");
            assert_eq!(decode(value).as_deref(), Some(text), "{value}");
        }
        for broken in ["=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?=", "=?base64?/w==?="] {
            assert_eq!(decode(broken), None, "{broken}");
        }
    }
}
