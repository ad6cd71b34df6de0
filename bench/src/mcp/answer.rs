//! The response of a server, and whether it is good.

use anyhow::{Context, ensure};
use serde_json::Value;

use super::message::{FIRST_ID, McpVersion};
use crate::http::{Answer, find};

/// The one message that answers a request: the body, or the event in it that has an id.
pub fn message(answer: &Answer<'_>) -> anyhow::Result<Value> {
    let text = std::str::from_utf8(answer.body)?;
    ensure!(answer.status == 200, "answered with {}: {text}", answer.status);
    let kind = answer.header("content-type").unwrap_or_default();
    if kind.starts_with("text/event-stream") {
        return event(text).with_context(|| format!("no answer among the events: {text}"));
    }
    serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))
}

/// A stream may begin with an event without data, for those who want to resume it, and
/// notifications may come before the answer.
fn event(text: &str) -> Option<Value> {
    text.split("\n\n")
        .map(|event| {
            let data = event.lines().filter_map(|line| line.strip_prefix("data:"));
            data.map(str::trim).collect::<Vec<_>>().join("\n")
        })
        .filter_map(|data| serde_json::from_str::<Value>(&data).ok())
        .find(|message| message.get("id").is_some())
}

/// The result in a message that answers a request with this id.
pub fn result(message: &Value, id: u64) -> anyhow::Result<&Value> {
    ensure!(message["id"] == id, "not the answer to {id}: {message}");
    message.get("result").with_context(|| format!("no result: {message}"))
}

/// The version that `initialize` led to, which must be the one that is measured.
pub fn expect_version(message: &Value) -> anyhow::Result<&'static str> {
    let wanted = McpVersion::Legacy.version();
    let result = result(message, FIRST_ID)?;
    ensure!(result["protocolVersion"] == wanted, "another version was chosen: {message}");
    Ok(wanted)
}

/// Refuses what is not the echo.
pub fn expect_echo(message: &Value, id: u64) -> anyhow::Result<()> {
    let result = result(message, id)?;
    ensure!(result["isError"] != true, "the tool failed: {message}");
    ensure!(result["structuredContent"]["message"] == "hello", "not the echo: {message}");
    Ok(())
}

/// The same by a look at the bytes, so that the client's own work does not count much.
pub fn looks_like_the_echo(body: &[u8], id: &[u8]) -> bool {
    find(body, id).is_some()
        && find(body, br#""structuredContent""#).is_some()
        && find(body, br#""isError":true"#).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_answer_among_events() {
        let text = "id: 0\nretry: 3000\ndata:\n\n\
                    data: {\"method\":\"notifications/progress\"}\n\n\
                    event: message\nid: 1\ndata: {\"id\":7,\ndata: \"result\":{}}\n\n";
        let message = event(text).unwrap();
        assert!(result(&message, 7).is_ok());
        assert!(result(&message, 8).is_err());
    }

    #[test]
    fn knows_an_echo_from_an_error() {
        let good = br#"{"id":12,"result":{"structuredContent":{}}}"#;
        assert!(looks_like_the_echo(good, b"12"));
        assert!(!looks_like_the_echo(good, b"13"));
        let failed = br#"{"id":12,"result":{"structuredContent":{},"isError":true}}"#;
        assert!(!looks_like_the_echo(failed, b"12"));
        assert!(!looks_like_the_echo(br#"{"id":12,"error":{"code":-32602}}"#, b"12"));
    }
}
